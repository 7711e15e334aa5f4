import DAOCore
import Foundation

extension Command {
    static let export = Command(
        name: "export", summary: "writes the rows of an entity without losing a bit, for import",
        parameters: [.url, .entity, .predicate], options: [.fileFormat],
        discussion: """
            Lists of related rows are not written. A date that ISO 8601 cannot give exactly is a text such as '0.1 seconds since 2001'.
            In CSV an empty cell is nil, and an empty text stands in quotes.
            """
    ) { arguments in
        let format: FileFormat = try arguments.choice(of: "format") ?? .jsonl
        let predicate = arguments.optionalWord("PREDICATE").map { TextPredicate($0) }
        return try await Databases.reading(arguments) { database in
            let rows = try database.rows(of: arguments.word("ENTITY"))
            let progress = Progress()
            defer { progress.end() }
            let total = try rows.count(where: predicate)
            let fields = try rows.entity.fields.enumerated().filter { $1.type.kind != .toMany }
            if format == .csv { try Output.write(fields.map { CSV.cell($0.element.name) }.joined(separator: ","), isExact: true) }
            var count = 0
            try rows.forEach(RowQuery(where: predicate)) { row in
                switch format {
                case .jsonl:
                    let members = fields.map { "\(JSON.text($1.name)):\(row.values[$0].exactJSON($1))" }
                    try Output.write("{\(members.joined(separator: ","))}")
                case .csv: try Output.write(fields.map { row.values[$0].exactCell($1) }.joined(separator: ","), isExact: true)
                }
                count += 1
                if count % 1000 == 0 { progress.show(rows.name, count, of: total, "rows") }
            }
            return 0
        }
    }

    static let `import` = Command(
        name: "import", summary: "stores the rows of a file in an entity: all of them, or none",
        parameters: [
            .url, .entity,
            Parameter(
                name: "FILE",
                help: "a file of CSV, of JSON Lines, or of an array of JSON objects; - for the standard input stream"),
        ],
        options: [
            .fileFormat,
            Option(name: "key", value: "COLUMN", help: "the column with the key of the entity"),
            Option(name: "number", help: "numbers the rows, after those that are there, as their key"),
            Option(
                name: "columns", value: "NAMES",
                help: "the fields of columns, as in 'Order ID=id,Note='; nothing for a column that is left out"),
            Option(
                name: "types", value: "TYPES",
                help: "the types of columns of an entity that is made, as in 'Zip=string,Price=decimal'"),
            Option(name: "delimiter", value: "CHARACTER", help: "what separates the cells of CSV, as in ';', or the word tab"),
            Option(name: "empty-text", help: "an empty cell of a text is an empty text, and not nil"),
            Option(name: "decimal-comma", help: "numbers of CSV have a comma where others have a point"),
            Option(name: "thousands", value: "CHARACTER", help: "what stands between thousands in numbers of CSV, as in ','"),
            Option(
                name: "date-format", value: "FORMAT", help: "how dates are written, as in 'dd.MM.yyyy HH:mm', or seconds1970"),
            .zone, .json,
        ],
        discussion: """
            A row with the key of a stored row changes the fields that the file names, and no other. A row that another one of the file
            refers to stands before it. With --key or --number an entity that is missing is made, and so is a database: its fields are
            typed by the values, and written with what was unclear; 'dao drop' takes the entity away again. The format is csv for a file whose name ends with .csv or .tsv, otherwise jsonl. CSV is UTF-8 by RFC 4180;
            an empty cell is nil, and an empty text stands in quotes. Dates are those of ISO 8601, in UTC where they have no zone.
            """
    ) { arguments in
        let options = try ImportOptions(arguments)
        let (name, path) = (arguments.word("ENTITY"), arguments.word("FILE"))
        let file = try RowFile(path, options.format, delimiter: options.delimiter)
        let progress = Progress()
        defer { progress.end() }
        func types() throws -> ColumnTypes {
            guard path != "-" else { throw UsageError("a new entity needs a file, which is read twice, and no stream") }
            return try ColumnTypes(RowFile(path, options.format, delimiter: options.delimiter), options) { count in
                guard count % 1000 == 0 else { return }
                try Task.checkCancellation()
                progress.show(name, 0, of: count, "rows")
            }
        }
        // No database is made for a file that is wrong.
        let configuration = try arguments.configuration("URL")
        let isMissing = configuration.file.map { !FileManager.default.fileExists(atPath: $0) } ?? false
        let first = try options.makesEntity && isMissing ? types() : nil
        let made = try first?.entity(name, path)
        return try await Databases.using(configuration, options.makesEntity ? .creates : .writes) { database in
            try Databases.refuseForeign(database, arguments.word("URL"))
            guard try options.makesEntity && !database.entities().contains(where: { $0.name == name }) else {
                guard options.types.isEmpty else {
                    throw UsageError(
                        "--types is for an entity that is made, and '\(name)' is there; 'dao inspect' says its types")
                }
                return try store(file, options, name, nil, database, progress, arguments)
            }
            let seen = try first ?? types()
            let entity = try made ?? seen.entity(name, path)
            try database.withEntityStore(.write) { try $0.create(entity) }
            do {
                return try store(file, options, name, (entity, seen), database, progress, arguments)
            } catch {
                // After Ctrl-C the task is cancelled, and so is whatever it begins: another thread drops the entity.
                let isDropped = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    try? database.withEntityStore(.write) { try $0.drop(name) }
                    isDropped.signal()
                }
                isDropped.wait()
                throw error
            }
        }
    }

    /// Stores the rows of a file in one transaction.
    ///
    /// - Parameter made: The entity that was made for the file, and what was found in its columns; nil for one that was there.
    private static func store(
        _ file: RowFile, _ options: ImportOptions, _ name: String, _ made: (entity: EntityDescription, columns: ColumnTypes)?,
        _ database: any Database, _ progress: Progress, _ arguments: Arguments
    ) throws -> Int32 {
        let rows = try database.rows(of: name)
        var count = 0
        try database.transaction {
            var file = file
            let stored = try rows.count()
            let entity = try rows.entity
            var last: Int64 = 0
            if options.isNumbered, stored > 0 {
                let order = RowQuery.Order.descending(entity.fields[entity.keyIndex].name)
                let row = try rows.read(RowQuery(orderedBy: [order], limit: 1)).first
                if case .integer(let number)? = row?.values[entity.keyIndex] { last = max(0, number) }
                if case .unsigned? = row?.values[entity.keyIndex] { last = .max }
            }
            var mapping = try FieldMapping(entity, options, file, after: last)
            var isAtEnd = false
            while !isAtEnd {
                try Task.checkCancellation()
                var (batch, lines): ([[String: Value]], [String: Int]) = ([], [:])
                while batch.count < 1000 {
                    guard let row = try file.next() else {
                        isAtEnd = true
                        break
                    }
                    let (values, key) = try mapping.values(of: row, in: file)
                    if stored == 0, let other = lines[key] {
                        throw ImportError(
                            file.name, line: row.line, "expected a key that no other row has, and line \(other) has the same")
                    }
                    lines[key] = row.line
                    batch.append(values)
                }
                do {
                    try rows.persist(batch)
                } catch let error as StorageError {
                    guard let line = error.key.flatMap({ lines[$0.rawValue] }) else { throw error }
                    throw ImportError(file.name, line: line, error.line)
                }
                count += batch.count
                progress.show(rows.name, count, of: count, "rows")
            }
            if count > 0 { try mapping.checkOptions(file) }
            if let made, made.columns.rows != count { throw ImportError(file.name, "it was changed while it was read") }
            if stored == 0, case let found = try rows.count(), found != count {
                throw ImportError(
                    file.name,
                    "expected a key of its own for each row, and \(counted(count, "row")) have \(counted(found, "key"))")
            }
        }
        progress.end()
        guard let made else {
            try Output.report(arguments.has("json") ? JSON.object(["rows": "\(count)"]) : "\(counted(count, "row")) stored")
            return 0
        }
        if arguments.has("json") {
            let (entity, notes) = (made.entity.json(count: count), JSON.list(made.columns.notes.map(JSON.text)))
            try Output.report(JSON.object(["rows": "\(count)", "entity": entity, "notes": notes]))
        } else {
            try Output.report("\(counted(count, "row")) stored in the new entity '\(name)'\n\(made.entity.table)")
            for note in made.columns.notes { try Output.report(note) }
        }
        return 0
    }
}

extension Command.Option {
    fileprivate static let fileFormat = Command.Option(
        name: "format", value: "FORMAT", help: "jsonl (JSON Lines; an array is read too) or csv")
}
