import DAOCore
import DAOSQLite
import DAOTransport
import Foundation

/// How the values of a file are written.
struct TextForm: Sendable {
    /// How dates are written; nil for ISO 8601, as in text predicates.
    var dateFormat: DateFormat?
    /// The zone of dates without one; nil for UTC.
    var timeZone: TimeZone?
    /// Whether numbers have a comma where others have a point.
    var hasDecimalComma = false
    /// What stands between the thousands of numbers; nil for nothing.
    var thousands: Character?

    /// A date that ISO 8601 cannot give exactly ends with this.
    fileprivate static let exactDate = " seconds since 2001"

    /// A number in the notation of others, where a zero may be missing before the point; nil when it is none.
    func number(_ text: String) -> String? {
        guard var text = ungrouped(text) else { return nil }
        if hasDecimalComma {
            guard !text.contains(".") else { return nil }
            text = text.replacing(",", with: ".")
        }
        return text.hasPrefix(".") ? "0" + text : text.hasPrefix("-.") ? "-0" + text.dropFirst() : text
    }

    /// The number without what stands between its thousands; nil where that does not stand between three digits each.
    private func ungrouped(_ text: String) -> String? {
        guard let thousands, text.contains(thousands) else { return text }
        let end = text.firstIndex(of: hasDecimalComma ? "," : ".") ?? text.endIndex
        let sign = text.prefix { $0 == "-" }
        let groups = text[sign.endIndex..<end].split(separator: thousands, omittingEmptySubsequences: false)
        func isGroup(_ group: Substring) -> Bool { group.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } }
        guard groups.allSatisfy(isGroup), groups.dropFirst().allSatisfy({ $0.utf8.count == 3 }),
            let first = groups.first, 1...3 ~= first.utf8.count, !text[end...].contains(thousands)
        else { return nil }
        return sign + groups.joined() + text[end...]
    }

    fileprivate func date(_ text: String) -> Date? {
        if text.hasSuffix(Self.exactDate) {
            return Double(strictText: String(text.dropLast(Self.exactDate.count))).map(Date.init(timeIntervalSinceReferenceDate:))
        }
        guard let dateFormat else { return StoredForm.date(of: text, in: timeZone) }
        return dateFormat.date(of: text, in: timeZone)
    }
}

extension FieldDescription {
    /// The kind of value in a row: a to-one relationship is the key of the related row.
    var storedKind: ValueKind { relation.flatMap { type.kind == .toOne ? $0.keyKind : nil } ?? type.kind }

    /// What is expected of a value, for people.
    var expectation: String {
        let kind = storedKind
        return switch kind {
        case .bool: "true or false"
        case .uint64: "an integer from 0 to \(UInt64.max)"
        case .decimal: "a decimal number of at most 38 digits, as in 12.50"
        case .float, .double: "a number, as in 12.5"
        case .date: "a date, as in 2024-05-31 or 2024-05-31T18:30:00Z; --date-format says another form"
        case .data: "bytes in Base64"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .embedded: content.map { $0 == .value ? "JSON" : "the JSON of \($0)" } ?? "JSON"
        default: kind.integerRange.map { "an integer from \($0.lowerBound) to \($0.upperBound)" } ?? "a text"
        }
    }
}

extension Value {
    /// The value as JSON that ``init(_:of:_:)-(Json,_,_)`` reads back, bit for bit.
    func exactJSON(_ field: FieldDescription) -> String {
        let kind = field.storedKind
        switch self {
        case .string(let text) where kind == .embedded: return Self.isPlainJSON(text) ? JSON.embedded(text) : JSON.text(text)
        case .date: return JSON.text(exactText(field))
        default: return json(kind)
        }
    }

    /// The value as a cell that ``init(_:of:_:)-(String,_,_)`` reads back, bit for bit.
    func exactCell(_ field: FieldDescription) -> String {
        self == .string("") ? "\"\"" : CSV.cell(exactText(field))
    }

    /// The value as text that ``init(_:of:_:)-(String,_,_)`` reads back, bit for bit; nothing for nil.
    func exactText(_ field: FieldDescription) -> String {
        if case .date(let date) = self {
            return date.exactISOText ?? "\(date.timeIntervalSinceReferenceDate)\(TextForm.exactDate)"
        }
        return text(field.storedKind)
    }

    /// Whether JSON is written again as it is, and is no text: a text stands for the JSON that it contains.
    private static func isPlainJSON(_ text: String) -> Bool {
        guard let json = try? Json(parsing: text), json.serialized() == text else { return false }
        if case .string = json { return false }
        return json != .null
    }

    /// Reads a value of a field as a whole; nil when the text is none, or one that the field cannot hold.
    init?(_ text: String, of field: FieldDescription, _ form: TextForm = TextForm()) {
        let kind = field.storedKind
        let value: Value? =
            switch kind {
            case .bool: Self.bool(text)
            case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64:
                form.number(text).flatMap { Self.integer($0, kind) }
            case .float: form.number(text).flatMap { Float(strictText: $0) }.map { .double(Double($0)) }
            case .double: form.number(text).flatMap { Double(strictText: $0) }.map { .double($0) }
            case .decimal:
                form.number(text).flatMap { Decimal(strictText: $0) ?? Json.Number(text: $0)?.decimal }.map { .decimal($0) }
            case .string: .string(text)
            case .url: URL(string: text).map { _ in .string(text) }
            case .embedded: (field.content ?? .value).canonical(text).map { .string($0) }
            case .data: Data(base64Encoded: text).map { .data($0) }
            case .uuid: UUID(uuidString: text).map { .uuid($0) }
            case .date: form.date(text).map { .date($0) }
            case .toOne, .toMany: nil
            }
        guard let value else { return nil }
        self = value
    }

    /// The words of `dao export`, Python, spreadsheets, SQLite and PostgreSQL's COPY.
    private static func bool(_ text: String) -> Value? {
        switch text.lowercased() {
        case "true", "t", "1": .bool(true)
        case "false", "f", "0": .bool(false)
        default: nil
        }
    }

    private static func integer(_ text: String, _ kind: ValueKind) -> Value? {
        // `1.0` is one.
        let number = Json.Number(text: text)
        if let integer = Int64(text) ?? number?.integer(as: Int64.self) {
            return kind.integerRange?.contains(integer) == true ? .integer(integer) : nil
        }
        return kind == .uint64 ? (UInt64(text) ?? number?.integer(as: UInt64.self)).map { .unsigned($0) } : nil
    }

    /// Reads a value of a field as a whole; nil when the JSON is none, or one that the field cannot hold.
    init?(_ json: Json, of field: FieldDescription, _ form: TextForm = TextForm()) {
        // A number of JSON has a point.
        let form = TextForm(dateFormat: form.dateFormat, timeZone: form.timeZone)
        let kind = field.storedKind
        let value: Value? =
            switch json {
            case .null: .null
            case .bool(let value) where kind == .bool: .bool(value)
            case .number(let number) where kind.isNumeric || kind == .bool: Value(number.text, of: field, form)
            case .number(let number) where kind == .date && form.dateFormat?.isOfNumbers == true:
                Value(number.text, of: field, form)
            case .string(let text) where kind != .bool: Value(text, of: field, form)
            case .bool, .number, .array, .object: kind == .embedded ? Value(json.serialized(), of: field) : nil
            case .string: nil
            }
        guard let value else { return nil }
        self = value
    }
}

extension Date {
    /// The date in UTC by ISO 8601, with as many digits of a second as are needed to read it back; nil when nine do not suffice.
    fileprivate var exactISOText: String? {
        if Date(isoText: text) == self { return text }
        let seconds = timeIntervalSinceReferenceDate
        let whole = seconds.rounded(.down)
        let start = Date(timeIntervalSinceReferenceDate: whole).text.dropLast()
        return (3...9).lazy.map { "\(start)\(String(format: "%.\($0)f", seconds - whole).dropFirst())Z" }
            .first { Date(isoText: $0) == self }
    }
}
