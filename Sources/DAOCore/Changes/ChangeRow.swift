import Foundation

/// A change as a row of the entity that is the log (contract D1).
struct ChangeRow: OwnModel {
    /// The place in the log: greater than that of every change before it.
    var position: Int64
    /// The position of the first change that its transaction has logged.
    var first: Int64
    /// A random mark of its transaction. After a fail-over or a restored backup, a number can be that of another change.
    var mark: UUID
    /// When its transaction logged the first change.
    var date: Date
    /// Who has asked for it; nil for the application itself.
    var origin: String?
    var entity: String
    /// The text of the row's key.
    var key: String
    /// The raw value of its ``Change/Kind``.
    var kind: Int
    /// The values before it, as ``ChangedValues`` writes them; nil where the log does not keep them.
    var before: String?
    /// The values after it.
    var after: String?

    static let schema = Schema(
        "dao_changes", Self.init,
        Field("position", \.position, .primaryKey), Field("first", \.first), Field("mark", \.mark), Field("date", \.date),
        Field("origin", \.origin), Field("entity", \.entity), Field("key", \.key), Field("kind", \.kind),
        Field("before", \.before), Field("after", \.after))
}

/// How far a consumer of the log has come, as a row of an entity (contract D4).
struct ConsumerRow: OwnModel {
    var name: String
    /// The position of the last change that it has acknowledged.
    var number: Int64
    /// Its mark.
    var mark: UUID
    /// When it has acknowledged it.
    var date: Date

    static let schema = Schema(
        "dao_consumers", Self.init,
        Field("name", \.name, .primaryKey), Field("number", \.number), Field("mark", \.mark), Field("date", \.date))
}

/// The values of some fields as text: JSON of an object, in which a letter before the value says its kind.
enum ChangedValues {
    static func text(_ values: [(name: String, value: Value)]) -> String { text(values.map { ($0.name, word($0.value)) }) }

    /// The text of a list that has changed.
    static func text(list name: String, _ keys: [Key]?) -> String {
        guard let keys else { return text([(name, "l")]) }
        var array = "l["
        for (index, key) in keys.enumerated() {
            if index > 0 { array += "," }
            append(UniqueID(key).rawValue, to: &array)
        }
        return text([(name, array + "]")])
    }

    private static func text(_ words: [(name: String, word: String)]) -> String {
        var text = "{"
        for (index, (name, word)) in words.enumerated() {
            if index > 0 { text += "," }
            append(name, to: &text)
            text += ":"
            append(word, to: &text)
        }
        return text + "}"
    }

    /// The values, and the keys of the rows of lists.
    struct Contents {
        var values: [String: Value] = [:]
        var lists: [String: [UniqueID]?] = [:]
    }

    /// Reads the values.
    ///
    /// - Throws: `.corruptedValue` for a text that no log has.
    static func contents(_ text: String, of row: ChangeRow) throws -> Contents {
        func wrong() -> StorageError {
            StorageError(
                .corruptedValue, "a change in the log cannot be read; restore the database from a backup", entity: row.entity,
                key: UniqueID(row.key))
        }
        guard let words = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)) else { throw wrong() }
        var contents = Contents()
        for (name, word) in words {
            // A text can begin with a mark that combines with the letter before it.
            if word.utf8.first != UInt8(ascii: "l") {
                guard let value = value(word) else { throw wrong() }
                contents.values[name] = value
            } else if word.utf8.count == 1 {
                contents.lists[name] = .some(nil)
            } else {
                guard let keys = try? JSONDecoder().decode([String].self, from: Data(word.utf8.dropFirst())) else {
                    throw wrong()
                }
                contents.lists[name] = keys.map { UniqueID($0) }
            }
        }
        return contents
    }

    /// The value of a word; nil when it is none.
    private static func value(_ word: String) -> Value? {
        guard let kind = word.utf8.first else { return nil }
        let rest = String(decoding: word.utf8.dropFirst(), as: UTF8.self)
        switch Character(UnicodeScalar(kind)) {
        case "n": return .null
        case "f": return .bool(false)
        case "t": return .bool(true)
        case "i": if let value = Int64(rest) { return .integer(value) }
        case "u": if let value = UInt64(rest) { return .unsigned(value) }
        case "d": if let bits = UInt64(rest, radix: 16) { return .double(Double(bitPattern: bits)) }
        case "a":
            if let bits = UInt64(rest, radix: 16) {
                return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
            }
        case "m": if let value = Decimal(storedText: rest) { return .decimal(value) }
        case "s": return .string(rest)
        case "b": if let value = Data(base64Encoded: rest) { return .data(value) }
        case "g": if let value = UUID(uuidString: rest) { return .uuid(value) }
        default: break
        }
        return nil
    }

    private static func word(_ value: Value) -> String {
        switch value {
        case .null: "n"
        case .bool(let value): value ? "t" : "f"
        case .integer(let value): "i\(value)"
        case .unsigned(let value): "u\(value)"
        case .double(let value): "d" + String(value.bitPattern, radix: 16)
        case .date(let value): "a" + String(value.timeIntervalSinceReferenceDate.bitPattern, radix: 16)
        case .decimal(let value): "m" + value.storedText
        case .string(let value): "s" + value
        case .data(let value): "b" + value.base64EncodedString()
        case .uuid(let value): "g" + value.uuidString
        }
    }

    private static func append(_ word: String, to text: inout String) {
        text += "\""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                text += "\\"
                text.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1F}":
                let hex = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
