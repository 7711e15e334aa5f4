import DAOCore
import DAOSQLite
import Foundation

/// An SQLite file that another program has made, and in which this library has nothing.
struct ForeignFile {
    let database: SQLiteDatabase
    /// The tables and views.
    let tables: [ForeignTableSummary]
    /// The URL as somebody has typed it.
    private let typed: String

    /// Looks into a database; nil for one that has entities, or is of another kind.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - url: Its URL as somebody has typed it.
    init?(_ database: any Database, _ url: String) throws {
        guard try database.entities().isEmpty else { return nil }
        try self.init(tablesOf: database, url)
    }

    /// Looks for tables of another program, also in a file that has entities; nil when there are none.
    init?(tablesOf database: any Database, _ url: String) throws {
        guard let database = database as? SQLiteDatabase else { return nil }
        let tables = try database.foreignTables()
        if tables.isEmpty { return nil }
        (self.database, self.tables, typed) = (database, tables, url)
    }

    /// The tables of another program beside the entities of a database, in a sentence; nil when there are none.
    static func others(beside database: any Database, _ url: String) throws -> String? {
        guard try !database.entities().isEmpty, let file = try ForeignFile(tablesOf: database, url) else { return nil }
        return "\(file.contents) of another program in the file: "
            + file.tables.map { "\($0.name) (\($0.rows.map { counted($0, "row") } ?? $0.kind))" }.joined(separator: ", ")
            + "; 'dao move \(file.path) URL' moves the rows"
    }

    /// Why a file that was copied by hand can have no tables.
    static let missingLog = "; where a file with the same name and '-wal' belongs to it, copy that, too"

    /// The URL as a word of a command.
    var url: String { Self.word(typed) }
    /// The path as a word of a command.
    var path: String {
        let path = typed.hasPrefix("sqlite:") ? typed.dropFirst("sqlite:".count) : typed[...]
        return Self.word(String(path.prefix { $0 != "?" }))
    }

    /// A word of a shell, in quotes where it needs them.
    private static func word(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || "/:._-%@=".contains($0) }
        return isPlain ? text : text.shellQuoted
    }

    /// Whether a table has rows, or rows that cannot be counted.
    var hasRows: Bool { tables.hasRows }

    /// The number of rows and tables.
    var contents: String { tables.contents }

    /// What the tables become: as a file says, if it is there, otherwise as it is found out, and written into that file.
    ///
    /// - Parameter arguments: The words of the command; nil for reading alone, where dates without a zone are taken for UTC.
    func mapping(_ arguments: Arguments? = nil) throws -> TableMapping {
        let zone = try arguments?.timeZone
        guard let file = arguments?.value(of: "mapping") else {
            return try database.tableMapping(timeZone: zone ?? (arguments == nil ? .gmt : nil))
        }
        if FileManager.default.fileExists(atPath: file) {
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw UsageError("--mapping '\(file)' is no text that can be read; name a mapping, or a file that is missing")
            }
            var mapping = try TableMapping(text: text)
            if let zone { mapping.timeZone = zone.identifier }
            // That of another database is refused.
            try database.check(mapping, needsZone: false)
            return mapping
        }
        let mapping = try database.tableMapping(timeZone: zone)
        do {
            try Data(mapping.text.utf8).write(to: URL(fileURLWithPath: file), options: .withoutOverwriting)
        } catch {
            throw UsageError("--mapping '\(file)' cannot be written; name a file in a folder that can be written to")
        }
        Program.complain("\(file) says what the tables become, and can be changed")
        return mapping
    }

    /// Shows the tables, and what each would become.
    ///
    /// - Parameter name: The only table that is shown, or what it would become; nil for all.
    func inspect(_ arguments: Arguments, only name: String? = nil) throws -> Int32 {
        let mapping = try mapping(arguments)
        let tables = tables.filter { table in
            name == nil || table.name == name || mapping.entities.contains { $0.table == table.name && $0.entity == name }
        }
        if let name, tables.isEmpty {
            throw UsageError("the file has no table '\(name)'; it has \(self.tables.map(\.name).joined(separator: ", "))")
        }
        let described = try mapping.descriptions()
        func entity(_ table: ForeignTableSummary) -> (TableMapping.Entity, EntityDescription)? {
            mapping.entities.first { $0.table == table.name }.flatMap { entity in
                described.first { $0.name == entity.entity }.map { (entity, $0) }
            }
        }
        let lists = mapping.entities.flatMap { entity in entity.fields.map { (entity: entity.entity, field: $0) } }
            .filter { $0.field.list != nil }
        if arguments.has("json") {
            try Output.write("{\(JSON.text("engine")): \(JSON.text(database.capabilities.engine)),")
            try Output.write(" \(JSON.text("url")): \(JSON.text(url)),")
            try Output.write(" \(JSON.text("bytes")): \(Databases.size(of: database) ?? 0), \(JSON.text("version")): 0,")
            let entities = tables.compactMap { table in entity(table).map { "\n    " + $0.1.json(count: table.rows ?? 0) } }
            try Output.write(" \(JSON.text("entities")): [\(entities.joined(separator: ","))],")
            let foreign = tables.map { table in
                JSON.object([
                    "name": JSON.text(table.name), "kind": JSON.text(table.kind), "rows": table.rows.map { "\($0)" } ?? "null",
                    "entity": entity(table).map { JSON.text($0.0.entity) } ?? "null",
                ])
            }
            try Output.write(" \(JSON.text("tables")): \(JSON.list(foreign)),")
            try Output.write(" \(JSON.text("mapping")): \(mapping.text.trimmingCharacters(in: .newlines))}")
            return 0
        }
        let facts =
            [database.capabilities.engine] + (Databases.size(of: database).map { [bytes($0)] } ?? [])
            + ["made by \(mapping.dialect ?? "another program")", contents]
        try Output.write("\(url)\n\(facts.joined(separator: ", "))")
        for table in tables {
            let what =
                "\(table.name), \(table.kind == "table" ? "" : table.kind + ", ")"
                + "\(table.rows.map { counted($0, "row") } ?? "rows that cannot be counted")"
            if let (entity, description) = entity(table) {
                try Output.write("\n\(what), would become '\(entity.entity)'\n\(Self.lines(entity, description, table))")
            } else if let list = lists.first(where: { $0.field.list?.table == table.name }) {
                try Output.write("\n\(what), would become the list '\(list.field.field)' of '\(list.entity)'")
            } else {
                let why = mapping.left.first { $0.table == table.name }?.why ?? "the mapping does not name it"
                try Output.write("\n\(what), would stay behind: \(why)")
            }
        }
        try Output.write("\n" + advice(mapping))
        return 0
    }

    /// Whether dates are stored without a zone, and nobody has said which it is.
    fileprivate static func needsZone(_ mapping: TableMapping) -> Bool {
        mapping.timeZone == nil && mapping.entities.contains { $0.fields.contains { $0.form == .localText } }
    }

    /// What to type next.
    private func advice(_ mapping: TableMapping) -> String {
        """
        Nothing of the file is changed. What to type next:
          dao browse \(url)
          dao move \(path) sqlite:new.db\(Self.needsZone(mapping) ? " --zone UTC    (or the zone of its dates, which have none)" : "")
          swift package generate-models --target App --from \(url)
        """
    }

    /// A line for each field: the column, its declared type, and what it becomes.
    private static func lines(
        _ entity: TableMapping.Entity, _ description: EntityDescription, _ table: ForeignTableSummary
    ) -> String {
        let rows = zip(entity.fields, description.fields).map { field, described in
            let type = table.columns.first { $0.name == field.column }?.type ?? ""
            let source =
                field.list.map { "(\($0.table))" } ?? field.column ?? field.columns?.joined(separator: " + ")
                ?? "(the number of the row)"
            var words =
                described.relation.map { "→ " + (field.list == nil ? $0.entity : "[\($0.entity)]") } ?? "\(described.type)"
            if let form = field.form { words += " (\(form.words))" }
            if field.key == true { words += ", key" }
            if field.unique == true { words += ", unique" } else if field.indexed == true { words += ", indexed" }
            if let note = field.note { words += "; \(note)" }
            return [source, type, field.field, words]
        }
        let indexes = description.indexes.map { "\n  \($0.isUnique ? "unique index" : "index") on \($0)" }
        let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            "  \(row[0].padding(to: widths[0]))  \(row[1].padding(to: widths[1]))  → \(row[2].padding(to: widths[2]))  \(row[3])"
        }.joined(separator: "\n") + indexes.joined()
    }
}

extension StoredForm {
    /// The form as people say it.
    fileprivate var words: String {
        switch self {
        case .text: "text"
        case .localText: "text without a zone"
        case .seconds1970: "seconds since 1970"
        case .seconds2001: "seconds since 2001"
        case .milliseconds1970: "milliseconds since 1970"
        case .microseconds1970: "microseconds since 1970"
        case .microseconds1601: "microseconds since 1601"
        case .julianDays: "Julian days"
        case .externalData: "also in files beside the database"
        }
    }
}

extension Arguments {
    /// The zone of dates that are stored without one; nil when it is not said.
    var timeZone: TimeZone? {
        get throws {
            try value(of: "zone").map { name in
                guard let zone = TimeZone(identifier: name) else {
                    throw UsageError("--zone needs a time zone as in UTC or Europe/Berlin, not '\(name)'")
                }
                return zone
            }
        }
    }
}

extension Command.Option {
    static let mapping = Command.Option(
        name: "mapping", value: "FILE", help: "what the tables become; the file is written when it is missing, and can be changed"
    )
    static let zone = Command.Option(
        name: "zone", value: "ZONE", help: "the time zone of dates that are stored without one, such as UTC or Europe/Berlin")
}

extension Command {
    static let move = Command(
        name: "move", summary: "moves the rows of another program's SQLite file into a database of any kind",
        parameters: [
            Parameter(name: "FILE", help: "the file, which is not changed"),
            Parameter(name: "TO", help: "the database that gets the rows; it is made when it is missing"),
        ],
        options: [.mapping, .zone, .json] + .toKey,
        discussion: """
            The rows are read from one snapshot, and compared with what was written. An interrupted move goes on when it is called
            again. Each row, link and reference that could not come is written with its reason; the exit code is 1 then.
            'dao inspect FILE' shows beforehand what the tables become.
            """
    ) { arguments in
        Program.patience.store(.max, ordering: .relaxed)
        let word = arguments.word("FILE")
        var configuration = try Databases.configuration(of: word)
        configuration.encryption = try Keys.encryption(arguments)
        return try await Databases.using(configuration, .reads) { source in
            guard let file = try ForeignFile(tablesOf: source, word) else {
                throw StorageError(
                    .invalidConfiguration,
                    try source.entities().isEmpty
                        ? "the file has no tables, so there is nothing to move\(ForeignFile.missingLog)"
                        : "the file is a database of this library alone; copy it with 'dao copy'", path: source.configuration.path
                )
            }
            let mapping = try file.mapping(arguments)
            if ForeignFile.needsZone(mapping) {
                throw UsageError(
                    "the file has dates that are stored without a time zone; say which it is, as in --zone Europe/Berlin")
            }
            // No target is made for a mapping that is wrong.
            try file.database.check(mapping)
            return try await Databases.using(arguments, .creates, word: "TO") { target in
                let progress = Progress()
                defer { progress.end() }
                let report = try await Program.goingOn {
                    try file.database.move(by: mapping, to: target) {
                        try Task.checkCancellation()
                        progress.show($0.entity, $0.rows, of: $0.total, "rows")
                    }
                }
                progress.end()
                return try write(report, arguments)
            }
        }
    }

    private static func write(_ report: MoveReport, _ arguments: Arguments) throws -> Int32 {
        let rows = report.rows.values.reduce(0, +)
        if arguments.has("json") {
            try Output.report(
                JSON.object([
                    "rows": "\(rows)", "written": "\(report.rowsWritten)", "entities": "\(report.rows.count)",
                    "rowsLeftOut": "\(report.rowsLeftOut)", "problemCount": "\(report.problemCount)",
                    "problems": JSON.list(report.problems.map { JSON.text("\($0)") }),
                    "left": JSON.list(report.left.map { JSON.object(["table": JSON.text($0.table), "why": JSON.text($0.why)]) }),
                ]))
        } else {
            try Output.report(
                "\(counted(rows, "row")) in \(counted(report.rows.count, "entity", "entities")) compared, \(report.rowsWritten) written"
                    + (report.rowsLeftOut == 0 ? "" : ", \(report.rowsLeftOut) left out"))
            for left in report.left { try Output.report("'\(left.table)' stays behind: \(left.why)") }
            // One reason can hold for every row of a table.
            var shown: [[String]: Int] = [:]
            for problem in report.problems {
                let count = shown[[problem.table, problem.column, problem.reason], default: 0] + 1
                shown[[problem.table, problem.column, problem.reason]] = count
                if count <= 10 { try Output.report("\(problem)") }
            }
            for (kind, count) in shown.filter({ $0.value > 10 }).sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                try Output.report(
                    "\(kind[0]), \(counted(count - 10, "more row")), \(kind[1]): \(kind[2]); --json writes \(count - 10 == 1 ? "it" : "them")"
                )
            }
            let more = report.problemCount - report.problems.count
            if more > 0 { try Output.report("and \(counted(more, "more problem"))") }
        }
        return report.problemCount == 0 && !report.left.contains { $0.unreadable == true } ? 0 : 1
    }
}
