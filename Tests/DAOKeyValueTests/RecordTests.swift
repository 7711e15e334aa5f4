import DAOCore
import DAOTestSupport
import Foundation
import Testing

@testable import DAOKeyValue

/// A model with a field for every storage format of a value.
private struct Everything: Model, Equatable {
    var id: String
    var small: Int8
    var signed: Int?
    var unsigned: UInt64
    var flag: Bool
    var number: Double
    var date: Date?
    var text: String?
    var data: Data
    var uuid: UUID?
    var decimal: Decimal
    var list: [String]

    static let schema = Schema(
        "everything", Self.init,
        Field("id", \.id, .primaryKey), Field("small", \.small), Field("signed", \.signed), Field("unsigned", \.unsigned),
        Field("flag", \.flag), Field("number", \.number), Field("date", \.date), Field("text", \.text), Field("data", \.data),
        Field("uuid", \.uuid), Field("decimal", \.decimal), Field("list", \.list, .default(["none"])))

    static func random(_ generator: inout SeededGenerator) -> Everything {
        Everything(
            id: generator.text(), small: Int8(truncatingIfNeeded: generator.int()),
            signed: generator.chance(30) ? nil : generator.int(),
            unsigned: generator.next() >> UInt64.random(in: 0..<64, using: &generator), flag: generator.chance(50),
            number: Double(generator.int()),
            date: generator.chance(30) ? nil : Date(timeIntervalSinceReferenceDate: Double(generator.int())),
            text: generator.chance(30) ? nil : generator.text(), data: generator.data(),
            uuid: generator.chance(30) ? nil : generator.uuid(),
            decimal: Decimal(generator.int()), list: [generator.text()])
    }
}

@Suite struct RecordTests {
    private let key: [UInt8] = [1, 2, 3]

    private func table(slots: [Int]? = nil, count: Int? = nil) throws -> Table {
        var next: UInt32 = 0
        var entity = StoredEntity(Everything.schema.description) {
            next += 1
            return next
        }
        entity.slots = slots ?? entity.slots
        entity.slotCount = count ?? entity.slotCount
        return try Table(entity, state: .stored)
    }

    private func encode(_ row: Everything, _ table: Table, isChecked: Bool) throws -> [UInt8] {
        let writer = RecordWriter(table: table, isChecked: isChecked)
        writer.begin(table)
        try Everything.schema.encode(row, to: writer)
        return try key.withUnsafeBytes { Array(try writer.finish(key: $0)) }
    }

    private func decode(_ bytes: [UInt8], _ table: Table, verifies: Bool = true) throws -> Everything {
        let reader = RecordReader(table: table, verifies: verifies) { try Everything.schema.defaultRow() }
        // An exact copy on the heap, so that a sanitizer detects a read beyond it.
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        return try key.withUnsafeBytes { key in
            try reader.show(UnsafeRawBufferPointer(copy), key: key)
            return try Everything.schema.decode(reader)
        }
    }

    @Test(arguments: [true, false]) func rowsAreReadBackEqual(isChecked: Bool) throws {
        var generator = SeededGenerator(seed: 1)
        let table = try table()
        for _ in 0..<2000 {
            let row = Everything.random(&generator)
            #expect(try decode(encode(row, table, isChecked: isChecked), table) == row)
        }
    }

    @Test(arguments: [0, 0x7FFF - 200, 0x7FFF, 0x8000, 0x10000, 1 << 20]) func longRowsAreReadBackEqual(count: Int) throws {
        var generator = SeededGenerator(seed: 2)
        let table = try table()
        var row = Everything.random(&generator)
        for length in count..<count + 3 {
            row.text = String(repeating: "x", count: length)
            row.data = Data(repeating: 7, count: length / 2)
            #expect(try decode(encode(row, table, isChecked: true), table) == row)
            #expect(try decode(encode(row, table, isChecked: false), table) == row)
        }
    }

    @Test func slotsMayHaveAnyOrder() throws {
        var generator = SeededGenerator(seed: 3)
        let table = try table(slots: [5, 0, 13, 1, 2, 12, 3, 4, 9, 8, 7, 6], count: 14)
        for _ in 0..<200 {
            let row = Everything.random(&generator)
            #expect(try decode(encode(row, table, isChecked: true), table) == row)
        }
    }

    @Test func fieldsMissingInARecordReadAsTheirDefaults() throws {
        var generator = SeededGenerator(seed: 4)
        let row = Everything.random(&generator)
        // Written by an entity with one slot fewer, before the list was added.
        var older = try encode(row, table(), isChecked: false)
        let count = Int(older[2])
        let listEnd = RecordFormat.headerLength + count * 2
        let end = Int(older[listEnd - 4]) | Int(older[listEnd - 3]) << 8
        older[2] -= 1
        older.removeSubrange(listEnd - 2..<listEnd)
        older.removeLast(older.count - (listEnd - 2) - (end & 0x7FFF))
        var expected = row
        expected.list = ["none"]
        #expect(try decode(older, table()) == expected)
    }

    @Test func everyFlippedBitIsDetected() throws {
        var generator = SeededGenerator(seed: 5)
        let table = try table()
        let bytes = try encode(.random(&generator), table, isChecked: true)
        for bit in 0..<bytes.count * 8 {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(errorKind { _ = try decode(damaged, table) } == .corrupted, "bit \(bit)")
        }
        for count in 0..<bytes.count { #expect(errorKind { _ = try decode(Array(bytes[..<count]), table) } == .corrupted) }
    }

    @Test(arguments: [true, false]) func damagedRecordsNeverTrap(verifies: Bool) throws {
        var generator = SeededGenerator(seed: 6)
        let table = try table()
        let filter = RowFilter(
            try Condition<Everything> {
                ($0.signed > 3 || $0.text.contains("a") || $0.number <= 2) && $0.uuid != nil && $0.decimal > 0
            }
            .node.filter(for: Everything.schema.description), table)
        let reader = RecordReader(table: table, verifies: verifies) { try Everything.schema.defaultRow() }
        let samples = try (0..<50).map { _ in try encode(.random(&generator), table, isChecked: generator.chance(50)) }
        for iteration in 0..<100_000 {
            var bytes = generator.pick(samples)
            if iteration % 4 == 0 {
                let head = bytes[0]
                bytes = (0..<Int.random(in: 0..<80, using: &generator)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
                if generator.chance(90), !bytes.isEmpty { bytes[0] = head }
                if generator.chance(80), bytes.count > 3 { (bytes[1], bytes[2], bytes[3]) = (0, 12, 0) }
            } else {
                for _ in 0..<Int.random(in: 1..<4, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                }
                if generator.chance(20) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
            }
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            defer { copy.deallocate() }
            copy.copyBytes(from: bytes)
            let arena = ByteArena()
            key.withUnsafeBytes { key in
                let kind = errorKind {
                    try reader.show(UnsafeRawBufferPointer(copy), key: key)
                    _ = try filter.matches(reader)
                    for field in Everything.schema.description.fields.indices {
                        try SortKeyPart(SortTerm(.field(field), isAscending: false), of: table)?.append(of: reader, to: arena)
                    }
                    _ = try Everything.schema.decode(reader)
                }
                #expect(kind == nil || kind == .corrupted || kind == .corruptedValue)
            }
        }
    }

    @Test func textThatIsNotUTF8IsCorruptedValue() throws {
        var generator = SeededGenerator(seed: 8)
        let table = try table()
        var row = Everything.random(&generator)
        row.text = "needle"
        var bytes = try encode(row, table, isChecked: false)
        let position = try #require(bytes.firstRange(of: Array("needle".utf8))).lowerBound
        bytes[position] = 0xFF
        do {
            _ = try decode(bytes, table)
            Issue.record("text that is not UTF-8 was read")
        } catch let error as StorageError {
            #expect(error.kind == .corruptedValue)
            #expect(error.field == "text")
            #expect(error.entity == "everything")
        }
    }
}
