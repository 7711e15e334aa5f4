import DAOCore
import DAOSQL

/// The SQL dialect of SQLite.
struct SQLiteDialect: SQLDialect {
    /// The name of the collation that orders decimal numbers stored as text.
    static let decimalCollation = "dao_decimal"
    /// The name of the function that matches text with a pattern.
    static let matchFunction = "dao_match"
    /// The name of the function that runs a filter on its column arguments.
    static let filterFunction = "dao_filter"
    /// The name of the table-valued function that lists the values of a set.
    static let listFunction = "dao_values"

    func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

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
        let type = type.uppercased()
        if type.contains("INT") { return "INTEGER" }
        if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") { return "TEXT" }
        if type.contains("BLOB") || type.isEmpty { return "BLOB" }
        if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") { return "REAL" }
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
            text.utf8.count > 1000 || text.utf8.contains(0) ? nil : "'\(text.replacing("'", with: "''"))'"
        case .uuid, .data, .unsigned: nil
        }
    }

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

    func tableOptions(for entity: EntityDescription) -> String {
        columnType(of: entity.fields[entity.keyIndex]) == "INTEGER" ? "" : " WITHOUT ROWID"
    }

    var orderedTableOptions: String { " WITHOUT ROWID" }

    func comparable(_ column: String, _ kind: ValueKind) -> String {
        kind == .decimal ? "\(column) COLLATE \(Self.decimalCollation)" : column
    }

    func canCompare(_ left: ValueKind, with right: ValueKind) -> Bool {
        if left == right { return true }
        if left == .decimal || right == .decimal { return false }
        // An integer beyond Int64.max is a blob, which SQLite orders after every number.
        let isFloating = [left, right].contains { $0 == .float || $0 == .double }
        return !(isFloating && (left == .uint64 || right == .uint64))
    }

    func isSame(_ left: String, _ right: String, isNegated: Bool) -> String { left + (isNegated ? " IS NOT " : " IS ") + right }

    func sortTerm(_ column: String, isAscending: Bool, isOptional: Bool) -> String { column + (isAscending ? "" : " DESC") }

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
