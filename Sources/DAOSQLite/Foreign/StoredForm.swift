import DAOCore
import DAOSystemSQLite
import Foundation

/// How another program stores a date, or a binary value.
public enum StoredForm: String, Codable, Sendable, CaseIterable {
    /// A text of ISO 8601 with its zone.
    case text
    /// A text of ISO 8601 without a zone, whose zone is that of the mapping.
    case localText
    /// The seconds since 1970.
    case seconds1970
    /// The seconds since 2001, as in Core Data.
    case seconds2001
    /// The milliseconds since 1970, as in Java and JavaScript.
    case milliseconds1970
    /// The microseconds since 1970.
    case microseconds1970
    /// The microseconds since 1601, as in the databases of Chromium.
    case microseconds1601
    /// Julian days.
    case julianDays
    /// A binary value of Core Data that may be stored in a file beside the database.
    case externalData

    /// Reads the name of a form.
    ///
    /// - Throws: `DecodingError` with the names of all forms.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let name = try container.decode(String.self)
        guard let form = Self(rawValue: name) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "'\(name)' is no form; use one of \(Self.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self = form
    }

    /// The seconds from 1970 to 2001.
    private static let epoch = 978_307_200.0

    /// Returns the date of a number, in seconds since 2001; nil for a form that has none.
    package func seconds(of number: Double) -> Double? {
        switch self {
        case .seconds1970: number - Self.epoch
        case .seconds2001: number
        case .milliseconds1970: number / 1e3 - Self.epoch
        case .microseconds1970: number / 1e6 - Self.epoch
        case .microseconds1601: number / 1e6 - 11_644_473_600 - Self.epoch
        // The digits of a Julian day end at some 40 microseconds.
        case .julianDays: ((number - 2_451_910.5) * 86_400_000).rounded() / 1e3
        case .text, .localText, .externalData: nil
        }
    }

    /// Returns the exact date of an integer, which a `Double` may not hold.
    package func seconds(of number: Int64) -> Double? {
        let (epoch, unit): (Int64, Double)
        switch self {
        case .milliseconds1970: (epoch, unit) = (978_307_200_000, 1e3)
        case .microseconds1970: (epoch, unit) = (978_307_200_000_000, 1e6)
        case .microseconds1601: (epoch, unit) = (12_622_780_800_000_000, 1e6)
        default: return seconds(of: Double(number))
        }
        let (sum, overflows) = number.subtractingReportingOverflow(epoch)
        return overflows ? seconds(of: Double(number)) : Double(sum) / unit
    }

    /// Returns the date of a text; nil when it is none.
    package static func date(of text: String, in zone: TimeZone?) -> Date? {
        guard let date = Date(isoText: text) else { return nil }
        guard let zone, Date(isoText: text, needsZone: true) == nil else { return date }
        // The clock of the zone shows the text. Near a change of the clock, the offset of the result counts.
        let first = date.addingTimeInterval(-Double(zone.secondsFromGMT(for: date)))
        return date.addingTimeInterval(-Double(zone.secondsFromGMT(for: first)))
    }
}

/// A value that another program has stored.
struct ForeignValue {
    let statement: OpaquePointer
    let column: Int32

    /// SQLite's type of the value.
    var type: Int32 { sqlite3_column_type(statement, column) }
    var integer: Int64 { sqlite3_column_int64(statement, column) }
    var double: Double { sqlite3_column_double(statement, column) }
    var isNull: Bool { type == SQLITE_NULL }

    /// The text; nil when it is not UTF-8. SQLite writes 15 digits of a floating-point number; these are all.
    var text: String? {
        if type == SQLITE_FLOAT { return "\(double)" }
        guard let start = sqlite3_column_text(statement, column) else { return nil }
        return String(checking: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    var data: Data {
        if type == SQLITE_FLOAT { return Data("\(double)".utf8) }
        guard let start = sqlite3_column_blob(statement, column) else { return Data() }
        return Data(bytes: start, count: Int(sqlite3_column_bytes(statement, column)))
    }

    /// Why a value cannot be one of a field.
    struct Refusal: Error {
        let reason: String
        /// Whether the value is not in the database, but in a file that is not there.
        var isMissingFile = false
        init(_ reason: String, isMissingFile: Bool = false) { (self.reason, self.isMissingFile) = (reason, isMissingFile) }
    }

    /// Returns the value of a field.
    ///
    /// - Parameters:
    ///   - kind: The kind of the field's values.
    ///   - field: The field.
    ///   - place: Where dates without a zone and files beside the database are.
    /// - Throws: ``Refusal``.
    func value(as kind: ValueKind, of field: TableMapping.Field, _ place: ForeignPlace) throws -> Value {
        if isNull { return .null }
        if let names = field.names {
            guard type == SQLITE_INTEGER, let name = names["\(integer)"] else { throw Refusal("a number without a name") }
            return .string(name)
        }
        let value: Value? =
            switch kind {
            case .bool: bool.map { .bool($0) }
            case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64:
                exactInteger.flatMap { kind.integerRange?.contains($0) == true ? .integer($0) : nil }
            case .double: number.map { .double($0) }
            case .float: number.flatMap { Double(Float($0)) == $0 ? .double($0) : nil }
            case .decimal: decimal.map { .decimal($0) }
            case .string: type == SQLITE_BLOB ? nil : text.map { .string($0) }
            case .url: type == SQLITE_TEXT ? text.flatMap { text in URL(string: text).map { _ in .string(text) } } : nil
            // Programs write an empty text for no value.
            case .embedded: type == SQLITE_TEXT ? text.flatMap { $0.isEmpty ? .null : isJSON($0) ? .string($0) : nil } : nil
            case .data: try .data(field.form == .externalData ? place.external(data) : data)
            case .uuid: uuid.map { .uuid($0) }
            case .date: date(field.form, place.timeZone).map { .date($0) }
            case .toOne, .toMany: nil
            }
        guard let value else {
            throw Refusal("\(Self.name(of: type)) that is no \(kind == .embedded ? "JSON" : kind.rawValue)")
        }
        return value
    }

    private static func name(of type: Int32) -> String {
        switch type {
        case SQLITE_INTEGER: "an integer"
        case SQLITE_FLOAT: "a floating-point number"
        case SQLITE_TEXT: "a text"
        case SQLITE_BLOB: "bytes"
        default: "NULL"
        }
    }

    private func isJSON(_ text: String) -> Bool { CanonicalJSON.text(text) != nil }

    /// The words of true and false that programs write.
    private static let words = [
        "true": true, "false": false, "t": true, "f": false, "yes": true, "no": false, "1": true, "0": false,
    ]

    var bool: Bool? {
        switch type {
        case SQLITE_INTEGER: integer == 0 ? false : integer == 1 ? true : nil
        case SQLITE_TEXT: text.flatMap { Self.words[$0.lowercased()] }
        default: nil
        }
    }

    var exactInteger: Int64? {
        switch type {
        case SQLITE_INTEGER: integer
        case SQLITE_FLOAT: Int64(exactly: double)
        case SQLITE_TEXT: text.flatMap { Int64($0) }
        default: nil
        }
    }

    var number: Double? {
        switch type {
        case SQLITE_INTEGER: Double(exactly: integer)
        case SQLITE_FLOAT: double
        case SQLITE_TEXT: text.flatMap { Double(strictText: $0) }
        default: nil
        }
    }

    var decimal: Decimal? {
        switch type {
        case SQLITE_INTEGER: Decimal(integer)
        // The shortest text that is this number is what was written.
        case SQLITE_FLOAT: double.isFinite ? Decimal(string: "\(double)", locale: Locale(identifier: "en_US_POSIX")) : nil
        case SQLITE_TEXT: text.flatMap { Decimal(strictText: $0) }
        default: nil
        }
    }

    var uuid: UUID? {
        switch type {
        case SQLITE_BLOB:
            let bytes = Array(data)
            guard bytes.count == 16 else { return nil }
            return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        case SQLITE_TEXT: return text.flatMap(Self.uuid)
        default: return nil
        }
    }

    /// Reads a UUID with or without its dashes.
    static func uuid(_ text: String) -> UUID? {
        if text.utf8.count == 36 { return UUID(uuidString: text) }
        guard text.utf8.count == 32, text.allSatisfy(\.isHexDigit) else { return nil }
        var dashed = text
        for place in [20, 16, 12, 8] { dashed.insert("-", at: dashed.index(dashed.startIndex, offsetBy: place)) }
        return UUID(uuidString: dashed)
    }

    private func date(_ form: StoredForm?, _ zone: TimeZone?) -> Date? {
        switch (type, form ?? .text) {
        case (SQLITE_TEXT, .text), (SQLITE_TEXT, .localText): text.flatMap { StoredForm.date(of: $0, in: zone) }
        case (SQLITE_INTEGER, let form):
            form.seconds(of: integer).map { Date(timeIntervalSinceReferenceDate: $0) }
        case (SQLITE_FLOAT, let form): form.seconds(of: double).map { Date(timeIntervalSinceReferenceDate: $0) }
        default: nil
        }
    }
}

/// Where a file is, for values that are not in it as a whole.
struct ForeignPlace {
    /// The zone of dates that are stored without one.
    var timeZone: TimeZone?
    /// The folder of Core Data's external values.
    var folder: URL

    init(path: String, timeZone: TimeZone?) {
        let file = URL(fileURLWithPath: path)
        folder = file.deletingLastPathComponent()
            .appendingPathComponent(".\(file.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
        self.timeZone = timeZone
    }

    /// The bytes that Core Data stores with 1 in front of them, or in the file that is named after a 2.
    func external(_ data: Data) throws -> Data {
        switch data.first {
        case 1: return Data(data.dropFirst())
        case 2:
            let name = String(decoding: data.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != "..",
                let bytes = try? Data(contentsOf: folder.appendingPathComponent(name))
            else {
                throw ForeignValue.Refusal(
                    "bytes in the file '\(folder.deletingLastPathComponent().lastPathComponent)/\(folder.lastPathComponent)/\(name)' beside the database, which is missing",
                    isMissingFile: true)
            }
            return bytes
        default: throw ForeignValue.Refusal("bytes that Core Data has not written")
        }
    }
}
