import DAOCore
import DAOSQLite
import DAOTransport
import Foundation

/// The fields that the columns of a file become when there is no entity yet: typed by every value, so that none is changed.
struct ColumnTypes {
    private struct Column {
        var name: String
        /// The kinds that all values so far can have, in the order of preference.
        var kinds: [ValueKind] = [.bool, .int64, .decimal, .double, .date, .uuid]
        /// The number of rows with a value.
        var values = 0
        /// The number of empty cells.
        var blanks = 0
        /// What JSON's values are; nil before the first.
        var family: Family?
        /// The first value that was not of the kind of those before it, where they could have several.
        var misfit: (kind: ValueKind, rows: Int, line: Int, text: String)?
        /// The notations in which all values are numbers.
        var notations = ColumnTypes.notations
    }

    /// Notations of numbers that have to be said, and the options that say them.
    private static let notations: [(form: TextForm, options: String)] = [
        (TextForm(thousands: ","), "--thousands ','"), (TextForm(hasDecimalComma: true), "--decimal-comma"),
        (TextForm(hasDecimalComma: true, thousands: "."), "--decimal-comma --thousands ."),
    ]

    /// What a value of JSON is.
    private enum Family: String {
        case text = "a text", number = "a number", bool = "true or false", nested = "an object or an array"
    }

    private let options: ImportOptions
    private var columns: [Column] = []
    private var positions: [String: Int] = [:]
    /// The number of rows.
    private(set) var rows = 0

    /// Reads a file.
    ///
    /// - Throws: ``ImportError``.
    init(_ file: RowFile, _ options: ImportOptions, _ onRow: (Int) throws -> Void) throws {
        self.options = options
        if options.format == .csv, file.header == nil {
            throw ImportError(file.name, "it is empty; expected a line with the names of the columns, and a line for each row")
        }
        var file = file
        for (index, name) in (file.header ?? []).enumerated() {
            if positions[name] != nil, options.columns[name] != "" {
                throw ImportError(
                    file.name, line: 1, column: "column \(index + 1) ('\(name)')", "expected a name that no other column has")
            }
            add(name)
        }
        while let row = try file.next() {
            rows += 1
            for (name, value) in zip(row.names, row.values) { try add(value.value, of: name, at: value.line, file.name) }
            try onRow(rows)
        }
    }

    @discardableResult private mutating func add(_ name: String) -> Int {
        if let position = positions[name] { return position }
        positions[name] = columns.count
        columns.append(Column(name: name))
        return columns.count - 1
    }

    private mutating func add(_ value: FileRow.Value, of name: String, at line: Int, _ file: String) throws {
        let position = add(name)
        if options.columns[name] == "" { return }
        let form = options.form
        func keep(_ text: String, _ known: (ValueKind) -> Bool) {
            // A text or a zero that is padded is of no other kind.
            if columns[position].kinds.isEmpty, columns[position].notations.isEmpty { return }
            let before = columns[position].kinds.first
            defer {
                if let before, columns[position].kinds.isEmpty, columns[position].values > 2 {
                    columns[position].misfit = (before, columns[position].values, line, text)
                }
                columns[position].notations.removeAll { Self.isExact(text, .double, $0.form) == false }
            }
            // What is an integer is a decimal number too, and a double.
            var isNumber = false
            columns[position].kinds = columns[position].kinds.filter { kind in
                let isKept = known(kind) && (isNumber && kind.isNumeric || Self.isExact(text, kind, form))
                if isKept, kind.isNumeric { isNumber = true }
                return isKept
            }
        }
        func expect(_ family: Family) throws {
            if let first = columns[position].family, first != family {
                throw ImportError(file, line: line, column: "'\(name)'", "expected \(first.rawValue), as in the rows before it")
            }
            columns[position].family = family
        }
        switch value {
        case .text("", isQuoted: false):
            columns[position].blanks += 1
            return
        case .json(.null): return
        case .text(let text, _): keep(text) { _ in true }
        case .json(.string(let text)):
            try expect(.text)
            keep(text) { $0 == .date || $0 == .uuid }
        case .json(.bool):
            try expect(.bool)
            columns[position].kinds = [.bool]
        case .json(.number(let number)):
            try expect(.number)
            keep(number.text) { $0.isNumeric || $0 == .date && form.dateFormat?.isOfNumbers == true }
            if columns[position].kinds.isEmpty {
                throw ImportError(file, line: line, column: "'\(name)'", "expected a number that a double or a decimal can hold")
            }
        case .json(.array), .json(.object): try expect(.nested)
        }
        columns[position].values += 1
    }

    /// Whether a text is a value of a kind, and nothing of the text is lost.
    private static func isExact(_ text: String, _ kind: ValueKind, _ form: TextForm) -> Bool {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        let isPadded = digits.hasPrefix("0") && digits.dropFirst().first?.isNumber == true
        switch kind {
        case .bool where !["true", "false"].contains(text.lowercased()): return false
        // A postal code is none.
        case .int64, .decimal, .double: if isPadded || text.hasPrefix("+") { return false }
        default: break
        }
        if kind == .int64 {
            guard let text = form.number(text) else { return false }
            return Int64(text).map { "\($0)" } == text
        }
        if kind == .decimal, text == "NaN" { return false }
        return Value(text, of: FieldDescription(name: "", type: FieldType(kind)), form) != nil
    }

    /// The entity with a field for each column.
    ///
    /// - Throws: ``ImportError`` when there is no column for the key; `.invalidSchema` for names that an entity cannot have.
    func entity(_ name: String, _ file: String) throws -> EntityDescription {
        var fields = columns.compactMap { column -> FieldDescription? in
            let target = options.columns[column.name]
            if target == "" { return nil }
            let isKey = options.key == column.name
            // A column that has only nil can get anything.
            var kind: ValueKind =
                column.family == .nested ? .embedded : column.values == 0 ? .string : column.kinds.first ?? .string
            if isKey, ![.int64, .uuid, .string].contains(kind) { kind = .string }
            if let said = options.types[column.name] { kind = said }
            let values = column.values + (options.hasEmptyTexts && kind == .string ? column.blanks : 0)
            let isOptional = !isKey && values < rows || rows == 0
            return FieldDescription(
                name: target ?? MappingGuess.name(column.name, or: "field"),
                type: FieldType(kind, isOptional: isOptional && !isKey),
                isPrimaryKey: isKey)
        }
        if options.isNumbered { fields.insert(FieldDescription(name: "id", type: FieldType(.int64), isPrimaryKey: true), at: 0) }
        guard fields.contains(where: \.isPrimaryKey) else {
            let names = columns.map(\.name)
            throw ImportError(
                file,
                "--key names '\(options.key ?? "")', and the file has: \(names.joined(separator: ", "))"
                    + RowFile.delimiterAdvice(names))
        }
        // The same checks as for the catalog of a file, before there is one.
        let entity = EntityDescription(name: name, fields: fields)
        return try JSONDecoder().decode(EntityDescription.self, from: JSONEncoder().encode(entity))
    }

    /// Why columns that look like something else have become texts, a line for each.
    var notes: [String] {
        columns.compactMap { column in
            guard column.values > 0, column.family == nil, column.kinds.isEmpty, options.columns[column.name] != "",
                options.types[column.name] == nil, column.name != options.key
            else { return nil }
            if let notation = column.notations.first {
                return "'\(column.name)' is text; its values are numbers with \(notation.options)"
            }
            return column.misfit.map { misfit in
                let text = misfit.text.count > 40 ? misfit.text.prefix(40) + "…" : misfit.text[...]
                let kind =
                    misfit.kind == .date
                    ? "a date" : misfit.kind == .uuid ? "a UUID" : misfit.kind == .bool ? "a Boolean" : "a number"
                return "'\(column.name)' is text, since '\(text)' in line \(misfit.line) is not \(kind), as the "
                    + "\(counted(misfit.rows, "value")) before it are"
            }
        }
    }
}
