import DAOCore
import DAOSearch
import Foundation

extension Command.Parameter {
    static let url = Command.Parameter(name: "URL", help: "the database, such as sqlite:app.db, or the path of its file")
    static let entity = Command.Parameter(name: "ENTITY", help: "the name of an entity; 'dao inspect URL' lists them")
    static let predicate = Command.Parameter(
        name: "PREDICATE", isOptional: true, help: "a condition in one word, such as 'age > 30 AND name BEGINSWITH \"A\"'")
    static let key = Command.Parameter(name: "KEY", help: "the primary key of a row")
}

extension Command.Option {
    static let json = Command.Option(name: "json", help: "writes JSON")
    static let order = Command.Option(
        name: "order", value: "TERMS",
        help: "sorts by these terms, such as 'last done == true, -date nil last, name[c]'; a dash means descending")
    static let limit = Command.Option(name: "limit", value: "N", help: "gives at most N rows")
    static let offset = Command.Option(name: "offset", value: "N", help: "leaves out the first N rows")
    static let search = Command.Option(
        name: "search", value: "TEXT", help: "gives the rows in whose searchable fields this text is found, the best first")
}

extension Arguments {
    /// The query that the words describe.
    fileprivate func query() throws -> RowQuery {
        RowQuery(
            where: optionalWord("PREDICATE").map { TextPredicate($0) },
            orderedBy: RowQuery.Order.terms(value(of: "order") ?? ""),
            limit: try count(of: "limit"), offset: try count(of: "offset") ?? 0)
    }

    /// Opens the database for reading.
    fileprivate func reading<Result>(_ body: (any Database) async throws -> Result) async throws -> Result {
        try await Databases.using(self, .reads, body)
    }

    /// Opens the entity for reading.
    fileprivate func rows<Result>(_ body: (EntityRows) async throws -> Result) async throws -> Result {
        try await Databases.reading(self) { try await body($0.rows(of: word("ENTITY"))) }
    }
}

extension RowQuery.Order {
    /// The terms of a text, separated by commas. A term is a field, after a dash when it descends, with `[c]`, `[d]` or `[cd]` for text
    /// without case or diacritics, and with `nil first` or `nil last`; or `first` or `last` and a condition.
    static func terms(_ text: String) -> [RowQuery.Order] { pieces(of: text).map(term) }

    private static func term(_ text: String) -> RowQuery.Order {
        for (word, make) in [("first", RowQuery.Order.first), ("last", RowQuery.Order.last)] {
            guard text.hasPrefix(word + " ") || text.hasPrefix(word + "(") else { continue }
            let condition = String(text.dropFirst(word.count)).trimming
            // A field can have such a name.
            if condition != "nil first", condition != "nil last" { return make(TextPredicate(condition)) }
        }
        var (field, nils): (String, NilPlacement?) = (text, nil)
        for placement in NilPlacement.allCases where field.hasSuffix(" nil \(placement)") {
            (field, nils) = (String(field.dropLast(" nil \(placement)".count)).trimming, placement)
        }
        var options: TextOptions = []
        for (letters, ignored) in [
            ("[c]", .caseInsensitive), ("[d]", .diacriticInsensitive), ("[cd]", [.caseInsensitive, .diacriticInsensitive]),
        ] as [(String, TextOptions)] where field.hasSuffix(letters) {
            (field, options) = (String(field.dropLast(letters.count)), ignored)
        }
        if field.hasPrefix("-") { return .descending(String(field.dropFirst()).trimming, options, nils: nils ?? .last) }
        return .ascending(field, options, nils: nils ?? .first)
    }

    /// The parts of a text between commas, except those in quotes or in parentheses.
    private static func pieces(of text: String) -> [String] {
        var pieces = [""]
        var (depth, quote): (Int, Character?) = (0, nil)
        var isEscaped = false
        for character in text {
            if isEscaped {
                isEscaped = false
            } else if let open = quote {
                if character == "\\" { isEscaped = true }
                if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == "(" || character == "{" {
                depth += 1
            } else if character == ")" || character == "}" {
                depth -= 1
            } else if character == ",", depth == 0 {
                pieces.append("")
                continue
            }
            pieces[pieces.count - 1].append(character)
        }
        return pieces.map(\.trimming).filter { !$0.isEmpty }
    }
}

extension String {
    /// The text without spaces around it.
    fileprivate var trimming: String { String(trimmingPrefix(" ").reversed().trimmingPrefix(" ").reversed()) }
}

extension Command {
    static let inspect = Command(
        name: "inspect", summary: "shows the entities of a database: their fields, indexes and numbers of rows",
        parameters: [.url, Parameter(name: "ENTITY", isOptional: true, help: "one of the entities; all when missing")],
        options: [.mapping, .zone, .json],
        discussion: """
            Of an SQLite file that another program has made, it shows the tables and views, what each would become, and what stays
            behind. 'dao move' moves the rows.
            """
    ) { arguments in
        let url = try Databases.configuration(of: arguments.word("URL"))
        return try await arguments.reading { database in
            if let file = try ForeignFile(database, arguments.word("URL")) {
                return try file.inspect(arguments, only: arguments.optionalWord("ENTITY"))
            }
            let (entities, counts, version, log) = try database.snapshot {
                var entities = try database.entities().filter { !$0.isOwn }
                if let name = arguments.optionalWord("ENTITY") {
                    _ = try database.rows(of: name)
                    entities.removeAll { $0.name != name }
                }
                return (
                    entities, try entities.map { try database.rows(of: $0.name).count() }, try database.schemaVersion,
                    try LogFacts(of: database)
                )
            }
            if arguments.has("json") {
                let described = zip(entities, counts).map { "\n    " + $0.json(count: $1) }
                try Output.write("{\(JSON.text("engine")): \(JSON.text(database.capabilities.engine)),")
                try Output.write(" \(JSON.text("url")): \(JSON.text("\(url)")),")
                let size = Databases.size(of: database).map { "\($0)" } ?? "null"
                try Output.write(" \(JSON.text("bytes")): \(size), \(JSON.text("version")): \(version),")
                try Output.write(" \(JSON.text("log")): \(log?.json ?? "null"),")
                try Output.write(" \(JSON.text("entities")): [\(described.joined(separator: ","))]}")
                return 0
            }
            let facts =
                [database.capabilities.engine] + (Databases.size(of: database).map { [bytes($0)] } ?? [])
                + ["version \(version)", counted(entities.count, "entity", "entities")]
            try Output.write("\(url)\n\(facts.joined(separator: ", "))")
            for (entity, count) in zip(entities, counts) {
                let kept =
                    (entity.log.map { $0 == .values ? ", logged with values" : ", logged" } ?? "")
                    + (entity.textIndex.map { ", searches \($0.fields.joined(separator: ", "))" } ?? "")
                try Output.write("\n\(entity.name), \(counted(count, "row"))\(kept)\n\(entity.table)")
            }
            if let log, arguments.optionalWord("ENTITY") == nil { try Output.write("\n\(log.text)") }
            if arguments.optionalWord("ENTITY") == nil,
                let others = try ForeignFile.others(beside: database, arguments.word("URL"))
            {
                try Output.write("\n\(others)")
            }
            if entities.isEmpty, let size = Databases.size(of: database) {
                try Output.write(size == 0 ? "\nThe file is empty." : "\nThe file has no tables\(ForeignFile.missingLog).")
            }
            return 0
        }
    }

    static let query = Command(
        name: "query", summary: "writes the rows of an entity that meet a condition",
        parameters: [.url, .entity, .predicate],
        options: [
            .order, .limit, .offset, .search,
            Option(name: "fields", value: "FIELDS", help: "writes these fields only, such as id,title"),
            Option(name: "format", value: "FORMAT", help: "table (the default), json or csv"), .json,
        ],
        discussion: """
            The predicate has the grammar of NSPredicate: ==, !=, <, <=, >, >=, BETWEEN {1, 5}, IN {1, 2}, BEGINSWITH, ENDSWITH,
            CONTAINS, LIKE 'a*' (with [c] and [d]), AND, OR, NOT, nil, author.name == 'Ada', ANY comments.id == 7,
            comments.@count > 3. A date is '2024-05-31' or '2024-05-31T18:30:00Z', in UTC without a zone. A table shortens long
            texts; json and csv have all of them. --search takes what an application's search field takes, such as
            'red OR "old wine" -rose win*'; it gives 20 rows unless --limit says how many, and has an order of its own.
            """
    ) { arguments in
        let format: Format? = try arguments.choice(of: "format")
        let query = try arguments.query()
        return try await arguments.rows { rows in
            var printer: RowPrinter?
            func begin(_ entity: EntityDescription) throws -> RowPrinter {
                try RowPrinter(entity, arguments.list(of: "fields"), arguments.has("json") ? .json : format ?? .table)
            }
            func add(_ row: EntityRow) throws {
                if printer == nil { printer = try begin(row.entity) }
                try printer?.add(row)
            }
            // An error of the query comes before anything is written.
            if let text = arguments.value(of: "search") {
                if arguments.has("order") || arguments.has("offset") {
                    throw UsageError("--search has an order of its own; leave --order and --offset out")
                }
                for hit in try rows.search(text, limit: query.limit ?? 20, where: query.predicate) { try add(hit.value) }
            } else {
                try rows.forEach(query, add)
            }
            if printer == nil { printer = try begin(rows.entity) }
            try printer?.end()
            return 0
        }
    }

    static let get = Command(
        name: "get", summary: "writes one row with all its fields", parameters: [.url, .entity, .key],
        options: [
            Option(name: "related", value: "FIELD", help: "writes the rows that this relationship leads to instead"),
            .limit, .offset, .json,
        ],
        discussion: "The exit code is 1 when there is no such row. --limit and --offset are for the rows of --related."
    ) { arguments in
        let (limit, offset) = (try arguments.count(of: "limit"), try arguments.count(of: "offset") ?? 0)
        guard arguments.has("related") || limit == nil && offset == 0 else {
            throw UsageError("--limit and --offset are for the rows of --related")
        }
        return try await arguments.rows { rows in
            let key = UniqueID(arguments.word("KEY"))
            guard let row = try rows.read(byPrimaryKey: key) else {
                Program.complain("'\(rows.name)' has no row with the key \(key)")
                return 1
            }
            if let field = arguments.value(of: "related") {
                let related = try rows.related(field, of: key, limit: limit, offset: offset)
                if related.isEmpty, arguments.has("json") { try Output.write("[]") }
                guard let entity = related.first?.entity else { return 0 }
                var printer = try RowPrinter(entity, [], arguments.has("json") ? .json : .table)
                for row in related { try printer.add(row) }
                try printer.end()
            } else if arguments.has("json") {
                try Output.write(row.json)
            } else {
                let fields = row.entity.fields
                let width = fields.map(\.name.count).max() ?? 0
                for (field, value) in zip(fields, row.values) {
                    let text =
                        field.type.kind == .toMany
                        ? "(list: --related \(field.name))" : value.lines(field.type.kind)
                    try Output.write("\(field.name.padding(to: width))  \(text)")
                }
            }
            return 0
        }
    }

    static let count = Command(
        name: "count", summary: "writes the number of rows of an entity that meet a condition",
        parameters: [.url, .entity, .predicate], options: [.search, .json]
    ) { arguments in
        try await arguments.rows { rows in
            let predicate = try arguments.query().predicate
            let count =
                try arguments.value(of: "search").map { try rows.searchCount($0, where: predicate) }
                ?? rows.count(where: predicate)
            try Output.write(arguments.has("json") ? JSON.object(["count": "\(count)"]) : "\(count)")
            return 0
        }
    }

    static let explain = Command(
        name: "explain", summary: "tells how a query finds its rows", parameters: [.url, .entity, .predicate],
        options: [.order, .limit, .offset, .json]
    ) { arguments in
        let query = try arguments.query()
        return try await arguments.rows { rows in
            let plan = try rows.explain(query)
            if arguments.has("json") {
                try Output.write(
                    JSON.object([
                        "plan": JSON.text("\(plan)"), "filters": "\(plan.filtersRows)", "sorts": "\(plan.sortsRows)",
                        "details": JSON.list(plan.details.map(JSON.text)),
                    ]))
            } else {
                try Output.write(([plan.description] + plan.details.map { "  \($0)" }).joined(separator: "\n"))
            }
            return 0
        }
    }

    static let erase = Command(
        name: "erase", summary: "erases the rows of an entity that meet a condition",
        parameters: [
            .url, .entity,
            Parameter(name: "PREDICATE", help: "the condition; TRUEPREDICATE for all rows"),
        ],
        options: [Option(name: "write", help: "erases; otherwise the rows are only counted"), .json],
        discussion: """
            All of them are erased, or none. Lists lose them, rows that cascade are erased with them, and a row that another one
            may not be without is refused, as the application's models say.
            """
    ) { arguments in
        let predicate = TextPredicate(arguments.word("PREDICATE"))
        let writes = arguments.has("write")
        return try await Databases.using(arguments, writes ? .writes : .reads) { database in
            let rows = try database.rows(of: arguments.word("ENTITY"))
            let count = try writes ? rows.erase(where: predicate) : rows.count(where: predicate)
            if arguments.has("json") {
                try Output.report(JSON.object(["rows": "\(count)", "erased": "\(writes)"]))
            } else {
                try Output.report(counted(count, "row") + (writes ? " erased" : " would be erased; add --write to erase"))
            }
            return 0
        }
    }

    static let drop = Command(
        name: "drop", summary: "drops an entity with all its rows",
        parameters: [.url, .entity],
        options: [Option(name: "write", help: "drops; otherwise the rows are only counted"), .json],
        discussion: """
            The links of its rows go with them. It is refused while a field of another entity leads to it. An application whose models have
            the entity makes it again, without rows, when it opens the database.
            """
    ) { arguments in
        let writes = arguments.has("write")
        return try await Databases.using(arguments, writes ? .writes : .reads) { database in
            let rows = try database.rows(of: arguments.word("ENTITY"))
            let count = try writes ? rows.drop() : rows.count()
            if arguments.has("json") {
                try Output.report(JSON.object(["rows": "\(count)", "dropped": "\(writes)"]))
            } else {
                try Output.report(
                    "'\(rows.name)' with \(counted(count, "row"))"
                        + (writes ? " dropped" : " would be dropped; add --write to drop it"))
            }
            return 0
        }
    }

    static let watch = Command(
        name: "watch", summary: "writes the changes of an entity as they are committed, until Ctrl-C",
        parameters: [.url, .entity, .predicate], options: [.order, .limit, .json],
        discussion: """
            Each line begins with the change: inserted, updated or erased. It compares the rows that meet the condition with
            those of the last commit, and keeps them in memory.
            """
    ) { arguments in
        let query = try arguments.query()
        return try await arguments.reading { database in
            if let file = try ForeignFile(database, arguments.word("URL")) {
                throw StorageError(
                    .unsupported,
                    "another program has made the file, and its commits cannot be followed; 'dao query \(file.url)' reads its rows, and "
                        + "'dao move \(file.path) URL' moves them")
            }
            let rows = try database.rows(of: arguments.word("ENTITY"))
            var last: [UniqueID: EntityRow]?
            for try await found in rows.database.observe({ try rows.read(query) }) {
                let now = Dictionary(found.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
                if let last {
                    for row in found where last[row.key] != row { try report(last[row.key] == nil ? "inserted" : "updated", row) }
                    for row in last.values.filter({ now[$0.key] == nil }).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                        try report("erased", row)
                    }
                } else {
                    Program.complain("watching \(counted(found.count, "row")) of '\(rows.name)'; press Ctrl-C to end")
                }
                last = now
            }
            return 0

            func report(_ change: String, _ row: EntityRow) throws {
                try Output.write(
                    arguments.has("json")
                        ? JSON.object(["change": JSON.text(change), "row": row.json]) : "\(change) \(row.key)  \(row.json)")
                try Output.flush()
            }
        }
    }
}

extension EntityDescription {
    /// A line for each field, then one for each index over several fields.
    var table: String {
        let width = fields.map(\.name.count).max() ?? 0
        let lines = fields.map { field in
            var words =
                field.relation.map { "→ " + (field.type.kind == .toMany ? "[\($0.entity)]" : $0.entity) } ?? "\(field.type)"
            if field.isPrimaryKey { words += ", key" }
            if field.isUnique { words += ", unique" } else if field.isIndexed { words += ", indexed" }
            if let value = field.defaultValue, !value.isNull { words += ", default \(value.cell(field.type.kind))" }
            return "  \(field.name.padding(to: width))  \(words)"
        }
        return (lines + indexes.map { "  \($0.isUnique ? "unique index" : "index") on \($0)" }).joined(separator: "\n")
    }

    /// The description as JSON in one line.
    func json(count: Int) -> String {
        let described = fields.map { field in
            var members = ["\"name\": \(JSON.text(field.name))", "\"type\": \(JSON.text(field.type.description))"]
            if field.isPrimaryKey { members.append("\"key\": true") }
            if field.isIndexed { members.append("\"indexed\": true") }
            if field.isUnique { members.append("\"unique\": true") }
            if let relation = field.relation { members.append("\"target\": \(JSON.text(relation.entity))") }
            return "{\(members.joined(separator: ", "))}"
        }
        return JSON.object([
            "name": JSON.text(name), "rows": "\(count)", "fields": JSON.list(described),
            "indexes": JSON.list(indexes.map { JSON.text("\($0)") }),
            // All that the catalog says, for programs that decode an EntityDescription.
            "catalog": (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null",
        ])
    }
}
