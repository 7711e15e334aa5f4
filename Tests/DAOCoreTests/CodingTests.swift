import DAOCore
import Foundation
import Testing

private struct Address: Codable, FieldValue, Equatable { var street: String; var ratio: Double; var at: Date? }
private enum Status: String, FieldValue, Codable { case open, closed }
private struct Wrapped: RawRepresentable, FieldValue, Equatable { let rawValue: UInt16 }

private struct Everything: Model, Equatable {
    var id: Int
    var integers: [Int64]
    var unsigned: [UInt64]
    var doubles: [Double]
    var floats: [Float]
    var strings: [String]
    var dates: [Date]
    var datas: [Data]
    var uuids: [UUID]
    var decimals: [Decimal]
    var duration: Duration
    var flags: [Bool]
    var holes: [Int?]
    var nested: [[String]]
    var address: Address
    var optionalAddress: Address?
    var twice: Int??
    var status: Status
    var wrapped: Wrapped?
    var statuses: [Status]

    static let schema = Schema(
        "everything", Self.init, Field("id", \.id, .primaryKey), Field("integers", \.integers), Field("unsigned", \.unsigned),
        Field("doubles", \.doubles),
        Field("floats", \.floats), Field("strings", \.strings), Field("dates", \.dates), Field("datas", \.datas),
        Field("uuids", \.uuids),
        Field("decimals", \.decimals), Field("duration", \.duration), Field("flags", \.flags), Field("holes", \.holes),
        Field("nested", \.nested),
        Field("address", \.address),
        Field("optionalAddress", \.optionalAddress), Field("twice", \.twice), Field("status", \.status),
        Field("wrapped", \.wrapped),
        Field("statuses", \.statuses))
}

@Suite("V1, V3, V4 · Written values read back equal")
struct CodingTests {
    private func full(twice: Int??) -> Everything {
        Everything(
            id: 1, integers: [.min, -1, 0, .max], unsigned: [0, UInt64(Int64.max) + 1, .max],
            doubles: [
                0, 5, 0.1, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity, 1e18, 9.2e18, 0x1p63, 0x1p64,
                1e300, 1e-300,
            ],
            floats: [0.1, .greatestFiniteMagnitude, .infinity, 16_777_216],
            strings: ["", "null", "1", "NaN", "a\0b", "\"\\/", "e\u{301}", "👨‍👩‍👧", "\u{2028}"],
            dates: [Date(timeIntervalSinceReferenceDate: 0.1), .distantPast, .distantFuture], datas: [Data(), Data([0, 255])],
            uuids: [.zero, UUID()],
            decimals: [0, Decimal(sign: .plus, exponent: -10, significand: 12345), -Decimal.greatestFiniteMagnitude],
            duration: .seconds(-1), flags: [true, false],
            holes: [1, nil, -1], nested: [[], ["a"], ["", "b"]],
            address: Address(street: "Ü \"1\"", ratio: .infinity, at: Date(timeIntervalSinceReferenceDate: 1.25)),
            optionalAddress: Address(street: "", ratio: -0.1, at: nil), twice: twice, status: .closed,
            wrapped: Wrapped(rawValue: 65535),
            statuses: [.open, .closed])
    }

    private func copied(_ record: Everything) throws -> Everything {
        let writer = ValueRowWriter(count: Everything.schema.description.fields.count)
        try Everything.schema.encode(record, to: writer)
        return try Everything.schema.decode(ValueRowReader(entity: Everything.schema.description, values: writer.values))
    }

    @Test func embeddedValuesRoundTrip() throws {
        let empty = Everything(
            id: 2, integers: [], unsigned: [], doubles: [], floats: [], strings: [], dates: [], datas: [], uuids: [],
            decimals: [], duration: .zero, flags: [], holes: [], nested: [],
            address: Address(street: "", ratio: 0, at: nil), optionalAddress: nil, twice: nil, status: .open, wrapped: nil,
            statuses: [])
        for record in [full(twice: .some(.some(5))), full(twice: .some(nil)), full(twice: nil), empty] {
            let copy = try copied(record)
            #expect(copy == record)
            #expect(copy.strings.map { Array($0.utf8) } == record.strings.map { Array($0.utf8) })
        }
    }

    @Test func nilAndWrappedNilAreDistinct() throws {
        #expect(try copied(full(twice: nil)).twice == .none)
        let wrappedNil = try copied(full(twice: .some(nil))).twice
        #expect(wrappedNil != nil && wrappedNil == .some(nil))
    }

    @Test func nanRoundTripsInArrays() throws {
        var record = full(twice: nil)
        record.doubles = [.nan, 1, -0.0]
        let copy = try copied(record).doubles
        #expect(copy[0].isNaN && copy[1] == 1 && copy[2].sign == .plus)
    }

    /// A row that a storage has stored for another model can be shorter than the entity.
    @Test func rowsThatAreTooShortAreCorrupted() throws {
        let entity = Everything.schema.description
        let writer = ValueRowWriter(count: entity.fields.count)
        try Everything.schema.encode(full(twice: nil), to: writer)
        for count in writer.values.indices {
            let values = Array(writer.values.prefix(count))
            let error = try storageError { try Everything.schema.decode(ValueRowReader(entity: entity, values: values)) }
            #expect(error.kind == .corruptedValue && error.field == entity.fields[count].name, "\(count) values: \(error)")
            #expect((error.key == nil) == (count == 0))
            let layout = try #require(RowLayout(of: entity, for: Everything.schema.declaration))
            #expect(throws: StorageError.self) { try Everything.schema.decode(layout.reader(of: values)) }
        }
    }

    @Test func unreadableValuesNameTheField() throws {
        func read(_ name: String, _ value: Value) throws -> StorageError {
            let writer = ValueRowWriter(count: Everything.schema.description.fields.count)
            try Everything.schema.encode(full(twice: nil), to: writer)
            writer.values[try #require(Everything.schema.description.index(of: name))] = value
            return try storageError {
                try Everything.schema.decode(ValueRowReader(entity: Everything.schema.description, values: writer.values))
            }
        }
        for (name, value) in [
            ("status", Value.string("lost")), ("integers", .string("[1.5]")), ("integers", .string("{")),
            ("integers", .string("[\"1\"]")), ("uuids", .string("[\"x\"]")),
            ("address", .string("{}")), ("twice", .string("[]")), ("wrapped", .integer(65536)), ("flags", .string("[2]")),
            ("id", .string("1")),
            ("datas", .string("[\"*\"]")), ("decimals", .string("[\"1,5\"]")), ("strings", .integer(1)),
            ("duration", .string("NaN")), ("duration", .string("0.0000000000000000001")),
            ("duration", .string("170141183460469231731.687303715884105728")),
        ] {
            let error = try read(name, value)
            #expect(error.kind == .corruptedValue, "\(name)")
            #expect(error.field == name)
            #expect(error.entity == "everything")
        }
    }

    @Test func equalDecimalsHaveTheSamePlainText() throws {
        let rows = [
            ("1.500", "1.5"), ("1e3", "1000"), ("0.00", "0"), ("-0", "0"), ("-1.10", "-1.1"), ("1e-10", "0.0000000001"),
            ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
            ("-0.12345678901234567890123456789012345678", "-0.12345678901234567890123456789012345678"),
            ("1e30", "1000000000000000000000000000000"),
        ]
        for (source, text) in rows {
            #expect(try decimal(source).storedText == text)
            #expect(try #require(Decimal(storedText: text)) == decimal(source))
        }
        #expect(Decimal.nan.storedText == "NaN")
        #expect(Decimal(storedText: "NaN")?.isNaN == true)
        for extreme in [Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude] {
            #expect(Decimal(storedText: extreme.storedText) == extreme)
        }
        for bad in ["", "x", "+1", "1e5", " 1", ".5", "1,5", "--1", "1.2.3", "1-2"] {
            #expect(Decimal(storedText: bad) == nil, "\(bad)")
        }
    }
}
