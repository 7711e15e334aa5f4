import DAOCore
import DAOSQL
import Foundation

/// The SQL dialect of SQLite.
struct SQLiteDialect: SQLDialect {
    /// The name of the collation that orders decimal numbers stored as text.
    static let decimalCollation = "dao_decimal"
    /// The name of the function that matches text with a pattern.
    static let matchFunction = "dao_match"
    /// The name of the function that runs a filter on its column arguments.
    static let filterFunction = "dao_filter"
    /// The name of the function that gives a text without what options ignore.
    static let foldFunction = "dao_fold"
    /// The name of the function that gives the canonical JSON of an embedded value.
    static let jsonFunction = "dao_json"
    /// The name of the table-valued function that lists the values of a set.
    static let listFunction = "dao_values"

    func quoted(_ name: String) -> String { name.quotedIdentifier }

    func placeholder(_ position: Int) -> String { "?" }

    func columnType(of field: FieldDescription) -> String {
        switch field.type.kind {
        case .bool: "BOOLEAN"
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: "INTEGER"
        // Integer affinity, but never an alias of the row id, which cannot hold values beyond Int64.max.
        case .uint64: "UNSIGNED BIG INT"
        case .float, .double, .date: "REAL"
        case .decimal, .string, .url, .embedded: "TEXT"
        case .data, .uuid: "BLOB"
        case .toOne, .toMany: ""
        }
    }

    /// The affinity of a declared type, by SQLite's rules.
    func storedType(_ type: String) -> String {
        let bytes = type.utf8.map { (97...122).contains($0) ? $0 - 32 : $0 }
        func has(_ part: StaticString) -> Bool {
            let length = part.utf8CodeUnitCount
            return bytes.count >= length
                && (0...bytes.count - length).contains { start in
                    (0..<length).allSatisfy { bytes[start + $0] == part.utf8Start[$0] }
                }
        }
        if has("INT") { return "INTEGER" }
        if has("CHAR") || has("CLOB") || has("TEXT") { return "TEXT" }
        if has("BLOB") || bytes.isEmpty { return "BLOB" }
        if has("REAL") || has("FLOA") || has("DOUB") { return "REAL" }
        return "NUMERIC"
    }

    func literal(_ value: Value) -> String? {
        switch value {
        case .null: "NULL"
        case .bool(let flag): flag ? "1" : "0"
        // The smallest integer has no literal, since the minus sign is an operator.
        case .integer(let number): number == .min ? nil : String(number)
        case .double(let number): literal(number)
        case .date(let date): literal(date.timeIntervalSinceReferenceDate)
        case .decimal(let number): "'\(number.storedText)'"
        case .string(let text):
            text.utf8.count > 1000 || text.utf8.contains(0) ? nil : text.quotedLiteral
        case .uuid, .data, .unsigned: nil
        }
    }

    /// Numbers with a fraction, decimals and data have several forms in JSON, and a text ends at a null character.
    ///
    /// Entries are removed by the key alone, so that a row whose text is no JSON can be changed and erased. No trigger calls
    /// `json_valid`, which SQLite before 3.41 refuses in the triggers of a file that is not trusted.
    func create(_ elements: ElementTable) -> [String]? {
        guard
            elements.kind == .string || elements.kind == .url || elements.kind == .uuid || elements.kind == .bool
                || elements.kind.integerRange != nil
        else { return nil }
        let name = quoted(elements.name)
        let (element, key) = (ElementTable.element, ElementTable.key)
        func trigger(_ number: Int, _ event: String, _ body: String) -> String {
            "CREATE TRIGGER \(quoted("\(elements.name).\(ElementTable.triggers[number])")) AFTER \(event) ON \(elements.rows) "
                + body
        }
        let value = value(of: elements)
        func delete(_ row: String) -> String { "DELETE FROM \(name) WHERE \(key) = \(row).\(elements.keyColumn); " }
        let insert =
            "INSERT INTO \(name) SELECT DISTINCT NEW.\(elements.keyColumn), \(value) "
            + "FROM json_each(NEW.\(elements.array)) AS \(Self.each) WHERE \(Self.each).value IS NOT NULL; "
        let changes = [elements.array, elements.keyColumn].map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR ")
        return [
            "CREATE TABLE \(name) (\(key) \(elements.keyType) NOT NULL, \(element) NOT NULL, PRIMARY KEY (\(key), \(element))) WITHOUT ROWID",
            "INSERT INTO \(name) SELECT DISTINCT \(entries(of: elements))",
            "CREATE INDEX \(quoted(elements.indexName)) ON \(name) (\(element), \(key))",
            trigger(0, "INSERT", "BEGIN \(delete("NEW"))\(insert)END"),
            trigger(
                1, "UPDATE OF \(elements.array), \(elements.keyColumn)", "WHEN \(changes) BEGIN \(delete("OLD"))\(insert)END"),
            trigger(2, "DELETE", "BEGIN \(delete("OLD"))END"),
        ]
    }

    func missing(in elements: ElementTable) -> String {
        "SELECT DISTINCT \(entries(of: elements)) EXCEPT "
            + "SELECT \(ElementTable.key), \(ElementTable.element) FROM \(quoted(elements.name))"
    }

    /// The elements of all rows with their keys. A text that is no JSON has none.
    private func entries(of elements: ElementTable) -> String {
        let array = "\(elements.rows).\(elements.array)"
        return "\(elements.rows).\(elements.keyColumn), \(value(of: elements)) FROM \(elements.rows), "
            + "json_each(CASE WHEN json_valid(\(array)) THEN \(array) END) AS \(Self.each) WHERE \(Self.each).value IS NOT NULL"
    }

    /// An element of a row of `json_each`.
    private func value(of elements: ElementTable) -> String {
        elements.kind == .uuid ? "upper(\(Self.each).value)" : "\(Self.each).value"
    }

    /// The name of the rows of `json_each` in statements.
    private static let each = "\".each\""

    /// Only whole numbers are certain to be read exactly as they were written.
    private func literal(_ number: Double) -> String? {
        guard let whole = Int32(exactly: number) else { return nil }
        return "\(whole).0"
    }

    func constant(_ value: Value) -> String? {
        switch value {
        case .integer(.min): "(-9223372036854775807 - 1)"
        case .unsigned(let number): withUnsafeBytes(of: number.bigEndian) { blob($0) }
        case .double(let number): constant(number)
        case .date(let date): constant(date.timeIntervalSinceReferenceDate)
        case .string(let text): literal(value) ?? "CAST(\(blob(Array(text.utf8))) AS TEXT)"
        case .data(let data): blob(data)
        case .uuid(let id): withUnsafeBytes(of: id.uuid) { blob($0) }
        case .null, .bool, .integer, .decimal: literal(value)
        }
    }

    private func blob(_ bytes: some Sequence<UInt8>) -> String {
        "X'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
    }

    /// SQLite does not read every decimal number exactly, but it reads integers and multiplies with powers of two exactly.
    private func constant(_ number: Double) -> String {
        if let literal = literal(number) { return literal }
        if number.isNaN { return withUnsafeBytes(of: Bind.nan) { blob($0) } }
        if number.isInfinite { return number < 0 ? "-9e999" : "9e999" }
        // The number is an integer of 53 bits times a power of two.
        var exponent = max(number.exponent, Double.leastNormalMagnitude.exponent) - Double.significandBitCount
        let whole = number.isNormal ? number.significand * 0x1p52 : number.magnitude / .leastNonzeroMagnitude
        let integer = Int64(number < 0 ? -whole : whole)
        var text = "CAST(\(integer) AS REAL)"
        while exponent != 0 {
            let step = min(abs(exponent), 62)
            text += exponent < 0 ? " / \(1 << step)" : " * \(1 << step)"
            exponent += exponent < 0 ? step : -step
        }
        return "(\(text))"
    }

    /// A column takes values of every storage class, so one of a class that the field does not use collides with none.
    func parkedValue(of field: FieldDescription) -> Value? {
        columnType(of: field) == "BLOB" ? .string(UUID().uuidString) : .data(withUnsafeBytes(of: UUID().uuid) { Data($0) + [0] })
    }

    func tableOptions(for entity: EntityDescription) -> String {
        columnType(of: entity.fields[entity.keyIndex]) == "INTEGER" ? "" : " WITHOUT ROWID"
    }

    var orderedTableOptions: String { " WITHOUT ROWID" }

    func comparable(_ column: String, _ field: FieldDescription) -> String {
        switch field.type.kind {
        case .decimal: "\(column) COLLATE \(Self.decimalCollation)"
        case .embedded: "\(Self.jsonFunction)(\(column), \(content(of: field)))"
        default: column
        }
    }

    /// What an embedded field contains, as the function reads it.
    private func content(of field: FieldDescription) -> String {
        // One text, so that SQLite's statement is found again.
        constant(.string((try? CanonicalEncoder.json(of: field.content ?? .value)) ?? "")) ?? "''"
    }

    func comparedByBytes(_ column: String) -> String { "\(column) COLLATE BINARY" }

    /// A table of another program can say `ON CONFLICT REPLACE` or `IGNORE`.
    var insertHead: String { "INSERT OR ABORT INTO" }
    var updateHead: String { "UPDATE OR ABORT" }

    func canCompare(_ left: ValueKind, with right: ValueKind) -> Bool {
        if left == right { return true }
        if left == .decimal || right == .decimal { return false }
        // An integer beyond Int64.max is a blob, which SQLite orders after every number.
        let isFloating = [left, right].contains { $0 == .float || $0 == .double }
        return !(isFloating && (left == .uint64 || right == .uint64))
    }

    func isSame(_ left: String, _ right: String, isNegated: Bool) -> String { left + (isNegated ? " IS NOT " : " IS ") + right }

    func sortTerm(_ column: String, isAscending: Bool, nilsFirst: Bool?) -> String {
        let term = column + (isAscending ? "" : " DESC")
        // Null is less than every value.
        guard let nilsFirst, nilsFirst != isAscending else { return term }
        return term + (nilsFirst ? " NULLS FIRST" : " NULLS LAST")
    }

    func folded(_ column: String, _ options: TextOptions) -> String? { "\(Self.foldFunction)(\(column), \(options.rawValue))" }

    func contains(_ column: String, _ placeholder: String) -> String { "instr(\(column), \(placeholder)) > 0" }

    func matches(_ column: String, _ placeholder: String) -> String { "\(Self.matchFunction)(\(placeholder), \(column))" }

    func isIn(_ column: String, _ placeholder: String) -> String {
        "\(column) IN (SELECT value FROM \(Self.listFunction)(\(placeholder)))"
    }

    func list(_ placeholder: String, of kind: ValueKind) -> String { "\(Self.listFunction)(\(placeholder))" }

    /// SQLite does not reorder a `CROSS JOIN`. Its loops walk a list, and a partly bound key, from first to
    /// last. With an `ORDER BY` across tables it would sort the rows all the same.
    func nestedOrder(_ terms: [String]) -> String { "" }

    func matchesFilter(_ columns: [String], _ placeholder: String) -> String {
        "\(Self.filterFunction)(\(([placeholder] + columns).joined(separator: ", ")))"
    }
}
