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

extension Database {
    /// The rows of an entity of this library; nil while it is not stored, which reading alone does not change.
    func storedRows<Row: OwnModel>(of model: Row.Type) throws -> (any Storage<Row>)? {
        guard try entities().contains(where: { $0.name == Row.schema.description.name }) else { return nil }
        return try makeStorage(for: model)
    }
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
    static func text(_ values: [(name: String, value: Value)]) -> String {
        object(values) { append($1, to: &$0) }
    }

    /// The text of a list that has changed.
    static func text(list name: String, _ keys: [Key]?) -> String {
        object([(name, keys)]) { bytes, keys in
            bytes.append(UInt8(ascii: "l"))
            guard let keys else { return }
            var array = Array("[".utf8)
            for (index, key) in keys.enumerated() {
                if index > 0 { array.append(UInt8(ascii: ",")) }
                CanonicalJSON.append(UniqueID(key).rawValue, to: &array)
            }
            array.append(UInt8(ascii: "]"))
            CanonicalJSON.append(inside: String(decoding: array, as: UTF8.self), to: &bytes)
        }
    }

    private static func object<Member>(
        _ members: [(name: String, value: Member)], _ word: (inout [UInt8], Member) -> Void
    ) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(members.count * 32)
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            CanonicalJSON.append(member.name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(UInt8(ascii: "\""))
            word(&bytes, member.value)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ value: Value, to bytes: inout [UInt8]) {
        func append(_ kind: Unicode.Scalar, _ word: String = "") {
            bytes.append(UInt8(ascii: kind))
            bytes += word.utf8
        }
        func append(_ kind: Unicode.Scalar, bits: UInt64) {
            bytes.append(UInt8(ascii: kind))
            for shift in stride(from: 60, through: 0, by: -4) {
                let digit = UInt8(bits >> UInt64(shift) & 15)
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        switch value {
        case .null: append("n")
        case .bool(let value): append(value ? "t" : "f")
        case .integer(let value): append("i", "\(value)")
        case .unsigned(let value): append("u", "\(value)")
        case .double(let value): append("d", bits: value.bitPattern)
        case .date(let value): append("a", bits: value.timeIntervalSinceReferenceDate.bitPattern)
        case .decimal(let value): append("m", value.storedText)
        case .string(let value):
            append("s")
            CanonicalJSON.append(inside: value, to: &bytes)
        case .data(let value): append("b", value.base64EncodedString())
        case .uuid(let value): append("g", value.uuidString)
        }
    }

    /// The values, and the keys of the rows of lists.
    struct Contents {
        var values: [String: Value] = [:]
        var lists: [String: [UniqueID]?] = [:]
    }

    /// Reads the values.
    ///
    /// - Throws: `.corruptedValue` for a text that no log has.
    static func contents(_ text: String, entity: String, key: UniqueID) throws -> Contents {
        func wrong() -> StorageError {
            StorageError(
                .corruptedValue, "a change in the log cannot be read; restore the database from a backup", entity: entity,
                key: key)
        }
        if let contents = text.withBytes(plainContents) { return contents }
        guard let words = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)) else { throw wrong() }
        var contents = Contents()
        for (name, var word) in words {
            let isRead = word.withUTF8 { add(name, UnsafeRawBufferPointer($0), to: &contents) }
            if !isRead { throw wrong() }
        }
        return contents
    }

    /// Reads what has no escapes, as almost every text: Foundation's decoder takes ten times as long. Nil for any other text.
    private static func plainContents(_ bytes: UnsafeRawBufferPointer) -> Contents? {
        var contents = Contents()
        var rest = bytes[...]
        func string() -> Slice<UnsafeRawBufferPointer>? {
            guard rest.popFirst() == UInt8(ascii: "\""), let end = rest.firstIndex(where: { !$0.isPlainInJSON }),
                rest[end] == UInt8(ascii: "\"")
            else { return nil }
            defer { rest = rest[(end + 1)...] }
            return rest[..<end]
        }
        guard rest.popFirst() == UInt8(ascii: "{"), rest.popLast() == UInt8(ascii: "}") else { return nil }
        while !rest.isEmpty {
            guard let name = string(), rest.popFirst() == UInt8(ascii: ":"), let word = string(),
                add(String(decoding: name, as: UTF8.self), UnsafeRawBufferPointer(rebasing: word), to: &contents),
                rest.isEmpty || rest.popFirst() == UInt8(ascii: ",") && !rest.isEmpty
            else { return nil }
        }
        return contents
    }

    /// Adds the value of a word.
    ///
    /// - Returns: False when the word has none.
    private static func add(_ name: String, _ word: UnsafeRawBufferPointer, to contents: inout Contents) -> Bool {
        guard let kind = word.first else { return false }
        let bytes = UnsafeRawBufferPointer(rebasing: word.dropFirst())
        var rest: String { String(decoding: bytes, as: UTF8.self) }
        func bits() -> Double? { UInt64(rest, radix: 16).map { Double(bitPattern: $0) } }
        let value: Value?
        switch kind {
        case UInt8(ascii: "l"):
            if bytes.isEmpty {
                contents.lists[name] = .some(nil)
                return true
            }
            guard let keys = try? JSONDecoder().decode([String].self, from: Data(bytes)) else { return false }
            contents.lists[name] = keys.map { UniqueID($0) }
            return true
        case UInt8(ascii: "n"): value = .null
        case UInt8(ascii: "f"): value = .bool(false)
        case UInt8(ascii: "t"): value = .bool(true)
        case UInt8(ascii: "i"): value = Int64(rest).map(Value.integer)
        case UInt8(ascii: "u"): value = UInt64(rest).map(Value.unsigned)
        case UInt8(ascii: "d"): value = bits().map(Value.double)
        case UInt8(ascii: "a"): value = bits().map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case UInt8(ascii: "m"): value = Decimal(storedText: rest).map(Value.decimal)
        case UInt8(ascii: "s"): value = .string(rest)
        case UInt8(ascii: "b"): value = Data(base64Encoded: rest).map(Value.data)
        case UInt8(ascii: "g"): value = UUID(uuidString: rest).map(Value.uuid)
        default: value = nil
        }
        contents.values[name] = value
        return value != nil
    }
}
