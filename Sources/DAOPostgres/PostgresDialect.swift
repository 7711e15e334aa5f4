import DAOCore
import DAOSQL
import Foundation

/// The SQL dialect of PostgreSQL.
struct PostgresDialect: SQLDialect {
    /// The name of the function that hashes long values in unique indexes.
    static let hashFunction = "dao_hash"
    /// The number of characters of a text, and a quarter of the number of bytes, that an index contains. An entry of an
    /// index with eight of them, and their hashes, is shorter than the 2,704 bytes that PostgreSQL allows.
    private static let prefixLength = 64
    /// The maximum number of bytes of a name.
    private static let longestName = 63
    /// The columns that every table has already.
    private static let systemColumns: Set = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    func quoted(_ name: String) -> String { storedName(name).quotedIdentifier }

    /// The names of models have no tilde, so a changed name is never that of another one.
    func storedName(_ name: String) -> String {
        if name.utf8.count <= Self.longestName {
            return Self.systemColumns.contains(name) || name.hasPrefix("pg_") ? "~" + name : name
        }
        let hash = String(name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 36)
        var start = name[...]
        while start.utf8.count > Self.longestName - 14 { start.removeLast() }
        return start + "~" + hash
    }

    func placeholder(_ position: Int) -> String { "$\(position)" }

    func columnType(of field: FieldDescription) -> String { columnType(of: field.type.kind) }

    private func columnType(of kind: ValueKind) -> String {
        switch kind {
        case .bool: "BOOLEAN"
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: "BIGINT"
        case .uint64: "NUMERIC(20,0)"
        case .float, .double, .date: "DOUBLE PRECISION"
        case .decimal: "NUMERIC"
        case .string, .url, .embedded: "TEXT COLLATE \"C\""
        case .data: "BYTEA"
        case .uuid: "UUID"
        case .toOne, .toMany: ""
        }
    }

    func storedType(_ type: String) -> String { type.replacing(" COLLATE \"C\"", with: "").lowercased() }

    func literal(_ value: Value) -> String? {
        switch value {
        case .null: "NULL"
        case .bool(let flag): flag ? "TRUE" : "FALSE"
        case .integer(let number): "'\(number)'"
        case .unsigned(let number): "'\(number)'"
        case .double(let number): literal(number)
        case .date(let date): literal(date.timeIntervalSinceReferenceDate)
        case .decimal(let number): "'\(number.storedText)'"
        case .string(let text):
            text.utf8.count > 1000 || text.utf8.contains { $0 <= 1 || $0 == UInt8(ascii: "\\") }
                ? nil : text.quotedLiteral
        case .uuid(let id): "'\(id)'"
        case .data: nil
        }
    }

    /// Only whole numbers are certain to be read exactly as they were written.
    private func literal(_ number: Double) -> String? { Int32(exactly: number).map { "'\($0)'" } }

    func constant(_ value: Value) -> String? {
        switch value {
        case .double(let number): constant(number)
        case .date(let date): constant(date.timeIntervalSinceReferenceDate)
        case .string(let text): constant(text)
        case .data(let data):
            "E'\\\\x" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
        case .null, .bool, .integer, .unsigned, .decimal, .uuid: literal(value)
        }
    }

    private func constant(_ text: String) -> String {
        var (text, bytes) = (text, [UInt8]())
        text.withUTF8 { TextEscape.append($0, to: &bytes) }
        let stored = String(decoding: bytes, as: UTF8.self)
        return "E\(stored.escaping("\\", with: "\\").quotedLiteral)"
    }

    /// PostgreSQL reads the shortest text of a number as exactly this number.
    private func constant(_ number: Double) -> String {
        number.isNaN ? "'NaN'" : number.isInfinite ? (number < 0 ? "'-Infinity'" : "'Infinity'") : "'\(number)'"
    }

    func parkedValue(of field: FieldDescription) -> Value? {
        switch field.type.kind {
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: .integer(.random(in: .min ... .max))
        case .uint64: .unsigned(.random(in: .min ... .max))
        case .float, .double, .date: .double(.random(in: 0x1p1000...0x1p1001))
        case .decimal: .decimal(Decimal(UInt64.random(in: .min ... .max)))
        case .string, .url, .embedded: .string(UUID().uuidString)
        case .data: .data(withUnsafeBytes(of: UUID().uuid) { Data($0) })
        case .uuid: .uuid(UUID())
        case .bool, .toOne, .toMany: nil
        }
    }

    func tableOptions(for entity: EntityDescription) -> String { "" }

    var orderedTableOptions: String { "" }

    func comparable(_ column: String, _ field: FieldDescription) -> String { column }

    func canCompare(_ left: ValueKind, with right: ValueKind) -> Bool {
        // A floating-point number and another one are compared as floating-point numbers, which is not exact.
        func isFloating(_ kind: ValueKind) -> Bool { kind == .float || kind == .double }
        return left == right || isFloating(left) == isFloating(right)
    }

    func isSame(_ left: String, _ right: String, isNegated: Bool) -> String {
        left + (isNegated ? " IS DISTINCT FROM " : " IS NOT DISTINCT FROM ") + right
    }

    func sortTerm(_ column: String, isAscending: Bool, nilsFirst: Bool?) -> String {
        column + (isAscending ? "" : " DESC") + (nilsFirst.map { $0 ? " NULLS FIRST" : " NULLS LAST" } ?? "")
    }

    func prefix(_ expression: String, _ kind: ValueKind) -> String? {
        switch kind {
        case .string, .url, .embedded: "left(\(expression), \(Self.prefixLength))"
        case .data: "substr(\(expression)\(expression.hasPrefix("$") ? "::bytea" : ""), 1, \(4 * Self.prefixLength))"
        default: nil
        }
    }

    func terms(of index: IndexDescription, in table: SQLTable) -> String {
        let fields = table.entity.positions(of: index).map { table.entity.fields[$0] }
        var terms = zip(fields, index.fields).map { field, indexed in
            let column = quoted(field.name)
            return sortTerm(
                prefix(column, field.type.kind) ?? column, isAscending: indexed.isAscending,
                nilsFirst: field.type.isOptional ? indexed.isAscending : nil)
        }
        // Values with equal beginnings differ in their hashes.
        if index.isUnique {
            terms += fields.filter { prefix("", $0.type.kind) != nil }.map { "\(Self.hashFunction)(\(quoted($0.name)))" }
        }
        return terms.joined(separator: ", ")
    }

    func contains(_ column: String, _ placeholder: String) -> String { "strpos(\(column), \(placeholder)) > 0" }

    /// The stored form of a control character is two characters, of which the second can begin what is looked for.
    func canContain(_ text: String) -> Bool { text.utf8.first.map { $0 > 2 } ?? true }

    var callsFunctions: Bool { false }

    /// Never used, as is ``matchesFilter(_:_:)``: PostgreSQL cannot call the suite.
    func matches(_ column: String, _ placeholder: String) -> String { "FALSE" }

    func matchesFilter(_ columns: [String], _ placeholder: String) -> String { "FALSE" }

    func isIn(_ column: String, _ placeholder: String) -> String { "\(column) = ANY(\(placeholder))" }

    func list(_ placeholder: String, of kind: ValueKind) -> String {
        let type = columnType(of: kind).replacing(" COLLATE \"C\"", with: "").replacing("(20,0)", with: "")
        return
            "(SELECT number - 1 AS number, value FROM unnest(\(placeholder)::\(type)[]) WITH ORDINALITY AS item(value, number))"
    }

    func nestedOrder(_ terms: [String]) -> String { " ORDER BY " + terms.joined(separator: ", ") }
}
