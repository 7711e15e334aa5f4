import DAOCore
import DAOSQLite

/// Which field of an entity each column of a file goes to, and the values that the fields get.
struct FieldMapping {
    private let entity: EntityDescription
    private let options: ImportOptions
    /// The fields of the columns that were seen; nil for a column that is left out.
    private var known: [String: FieldDescription?] = [:]
    /// The last number of a row; nil when rows are not numbered.
    private var number: Int64?

    private var keyField: FieldDescription { entity.fields[entity.keyIndex] }

    /// - Parameters:
    ///   - entity: The entity.
    ///   - options: What is said about the file.
    ///   - file: The file. The columns of a CSV file are checked at once.
    ///   - number: The number after which rows are numbered, if they are.
    init(_ entity: EntityDescription, _ options: ImportOptions, _ file: RowFile, after number: Int64) throws {
        (self.entity, self.options, self.number) = (entity, options, options.isNumbered ? number : nil)
        if options.isNumbered, keyField.type.kind.integerRange == nil {
            throw UsageError("--number needs a key that is an integer, and that of '\(entity.name)' is \(keyField.type)")
        }
        guard let header = file.header else { return }
        let row = FileRow(line: 1, names: header, values: header.map { _ in (.text("", isQuoted: false), 1) })
        var taken: Set<String> = []
        for index in header.indices {
            guard let field = try field(of: index, row, file) else { continue }
            if !taken.insert(field.name).inserted { throw twice(index, field, row, file) }
        }
        try checkOptions(file)
    }

    /// Checks that the options name columns that the file has.
    func checkOptions(_ file: RowFile) throws {
        let named =
            options.columns.map { ("--columns", $0.key) } + options.types.map { ("--types", $0.key) }
            + (options.key.map { [("--key", $0)] } ?? [])
        guard let (option, name) = named.sorted(by: { $0.1 < $1.1 }).first(where: { known[$0.1] == nil && $0.1 != "" }) else {
            return
        }
        let names = known.keys.sorted()
        throw ImportError(
            file.name,
            "\(option) names '\(name)', and the file has: \(names.joined(separator: ", "))\(RowFile.delimiterAdvice(names))")
    }

    /// Returns the values of a row by the names of its fields, and its key as text.
    ///
    /// - Throws: ``ImportError`` for a value that its field cannot hold.
    mutating func values(of row: FileRow, in file: RowFile) throws -> (values: [String: Value], key: String) {
        var values: [String: Value] = [:]
        if let last = number {
            let (next, overflows) = last.addingReportingOverflow(1)
            guard !overflows, keyField.type.kind.integerRange?.contains(next) == true else {
                throw ImportError(file.name, line: row.line, "expected no more rows than '\(keyField.name)' has numbers for")
            }
            number = next
            values[keyField.name] = .integer(next)
        }
        for (index, (raw, line)) in row.values.enumerated() {
            guard let field = try field(of: index, row, file) else { continue }
            let value: Value? =
                switch raw {
                case .text("", isQuoted: false) where !(options.hasEmptyTexts && field.type.kind == .string): .null
                case .text(let text, _): Value(text, of: field, options.form)
                case .json(let json): Value(json, of: field, options.form)
                }
            guard let value else {
                throw ImportError(file.name, line: line, column: file.place(index, of: row), "expected \(field.expectation)")
            }
            if value.isNull, !field.type.isOptional, field.type.kind != .toOne {
                let advice =
                    field.type.kind == .string && file.header != nil
                    ? "; an empty text stands in quotes, or say --empty-text" : ""
                throw ImportError(
                    file.name, line: line, column: file.place(index, of: row),
                    "expected \(field.isPrimaryKey ? "a key" : "a value, which '\(field.name)' cannot be without")\(advice)")
            }
            if values.updateValue(value, forKey: field.name) != nil { throw twice(index, field, row, file) }
        }
        guard let key = Key(values[keyField.name] ?? .null, of: entity.keyKind) else {
            throw ImportError(
                file.name, line: row.line,
                "expected a key in '\(keyField.name)'; say its column with --key, or number the rows with --number")
        }
        if case .string(let text) = key, text.utf8.count > Key.maximumLength {
            throw ImportError(file.name, line: row.line, "expected a key of at most \(counted(Key.maximumLength, "byte"))")
        }
        return (values, UniqueID(key).rawValue)
    }

    /// The field that a column goes to: the one that an option says, or that of the same name, or of the name as Swift writes it.
    private mutating func field(of index: Int, _ row: FileRow, _ file: RowFile) throws -> FieldDescription? {
        let name = row.names[index]
        if let field = known[name] { return field }
        let found = try find(name) { what in ImportError(file.name, line: row.line, column: file.place(index, of: row), what) }
        known[name] = .some(found)
        return found
    }

    private func find(_ name: String, _ problem: (String) -> ImportError) throws -> FieldDescription? {
        let wanted = options.columns[name]
        if wanted == "" { return nil }
        let position =
            wanted == nil && options.key == name
            ? entity.keyIndex
            : entity.index(of: wanted ?? name) ?? (wanted == nil ? entity.index(of: MappingGuess.name(name, or: "")) : nil)
        guard let position else {
            let fields = entity.fields.filter { $0.type.kind != .toMany }.map(\.name).joined(separator: ", ")
            throw problem(
                "'\(entity.name)' has no field '\(wanted ?? name)', it has: \(fields); say the field with --columns '\(name)=FIELD', or "
                    + "leave the column out with --columns '\(name)='"
                    + RowFile.delimiterAdvice([name]))
        }
        if entity.fields[position].type.kind == .toMany {
            throw problem(
                "'\(entity.fields[position].name)' is a list of rows, which cannot be set; leave it out with --columns '\(name)='"
            )
        }
        return entity.fields[position]
    }

    private func twice(_ index: Int, _ field: FieldDescription, _ row: FileRow, _ file: RowFile) -> ImportError {
        ImportError(
            file.name, line: row.line, column: file.place(index, of: row),
            "expected one column for the field '\(field.name)', and there are two; leave one out with --columns 'NAME='"
                + (options.isNumbered && field.isPrimaryKey ? ", or --number" : ""))
    }
}
