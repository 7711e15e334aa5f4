import DAOCore
import Foundation

extension Command {
    static let migrate = Command(
        name: "migrate", summary: "tells what another build of the application would change in a database",
        parameters: [.url],
        options: [
            Option(name: "dry-run", help: "is required: only the application itself can migrate"),
            Option(name: "like", value: "URL", help: "a database that the other build has made, without rows or with them"),
            Option(name: "renamed", value: "FIELDS", help: "what that build declares as renamed, such as book.title=headline"),
            Option(name: "dropped", value: "FIELDS", help: "what that build declares as dropped, such as book.stars"), .json,
        ],
        discussion: """
            Nothing is written. The exit code is 1 when opening the database would be refused. The names of what is renamed or
            dropped are in no database, so they are options. What the steps of a migration do, only the application knows.
            """
    ) { arguments in
        guard arguments.has("dry-run") else {
            throw UsageError("the application migrates a database when it opens it; add --dry-run to see what it would do")
        }
        guard let url = arguments.value(of: "like") else { throw UsageError("--like is missing: a database of the other build") }
        let (renamed, dropped) = (try arguments.list(of: "renamed").map(Renaming.init), arguments.list(of: "dropped"))
        let wanted = try await Databases.using(Databases.configuration(of: url), .reads) { database in
            (entities: try database.entities().filter { !$0.isOwn }, version: try database.schemaVersion)
        }
        let outlook = try await Databases.using(arguments, .reads) { database in
            try database.snapshot {
                let stored = try database.entities().filter { !$0.isOwn }
                var outlook = Outlook(from: try database.schemaVersion, to: wanted.version)
                for declaration in try declarations(of: wanted.entities, over: stored, renamed, dropped) {
                    outlook.entities.append(try Outlook.Entity(declaration, in: stored, of: database))
                }
                for entity in stored where !wanted.entities.contains(where: { $0.name == entity.name }) {
                    outlook.entities.append(try Outlook.Entity(undeclared: entity, of: database))
                }
                return outlook
            }
        }
        try Output.write(arguments.has("json") ? outlook.json : outlook.text)
        return outlook.isRefused ? 1 : 0
    }

    /// What the other build declares.
    private static func declarations(
        of wanted: [EntityDescription], over stored: [EntityDescription], _ renamed: [Renaming], _ dropped: [String]
    ) throws(UsageError) -> [EntityDeclaration] {
        func requireField(_ entity: String, _ field: String, in entities: [EntityDescription], _ whose: String) throws(UsageError)
        {
            guard let entity = entities.first(where: { $0.name == entity }) else {
                throw UsageError("\(whose) has no entity '\(entity)'; it has: \(entities.map(\.name).joined(separator: ", "))")
            }
            guard entity.index(of: field) != nil else {
                let known = entity.fields.map(\.name).joined(separator: ", ")
                throw UsageError("'\(entity.name)' of \(whose) has no field '\(field)'; it has: \(known)")
            }
        }
        for each in renamed {
            try requireField(each.entity, each.old, in: stored, "the database")
            try requireField(each.entity, each.new, in: wanted, "the other build")
        }
        var names: [String: [String]] = [:]
        for word in dropped {
            let parts = word.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw UsageError("--dropped needs names such as book.stars, not '\(word)'") }
            try requireField(parts[0], parts[1], in: stored, "the database")
            names[parts[0], default: []].append(parts[1])
        }
        return wanted.map { entity in
            EntityDeclaration(
                entity,
                earlierNames: entity.fields.map { field in
                    renamed.filter { $0.entity == entity.name && $0.new == field.name }.map(\.old)
                }, dropped: names[entity.name] ?? [])
        }
    }
}

/// A field that another build calls differently.
private struct Renaming {
    let entity: String
    let old: String
    let new: String

    /// Reads `entity.old=new`.
    init(_ word: String) throws(UsageError) {
        guard let match = word.wholeMatch(of: /([^.=]+)\.([^=]+)=(.+)/) else {
            throw UsageError("--renamed needs names such as book.title=headline, not '\(word)'")
        }
        (entity, old, new) = (String(match.output.1), String(match.output.2), String(match.output.3))
    }
}

/// What opening a database with another build would do.
private struct Outlook {
    var from: Int
    var to: Int
    var entities: [Entity] = []

    struct Entity {
        let name: String
        /// The number of stored rows; nil for an entity that is made.
        let rows: Int?
        /// What changes by itself.
        var changes: [String] = []
        /// What stays, although it is not declared.
        var notes: [String] = []
        /// What needs a step of a migration.
        var obstacles: [String] = []
    }

    private var hasSteps: Bool { from < to }
    private var isNewer: Bool { from > to }
    /// Whether it is certain that the database cannot be opened.
    var isRefused: Bool { isNewer || !hasSteps && entities.contains { !$0.obstacles.isEmpty } }

    var text: String {
        var lines: [String] = []
        if hasSteps {
            lines.append("from version \(from) to \(to); steps of the application run first, and may change what follows")
        }
        if isNewer { lines.append("refused: the database has version \(from), and the other build has \(to)") }
        for entity in entities {
            let details =
                entity.changes + entity.notes + entity.obstacles.map { (hasSteps ? "left to the steps: " : "refused: ") + $0 }
            let heading = entity.rows.map { "\(entity.name), \(counted($0, "row"))" } ?? "\(entity.name) is made"
            lines.append(heading + (details.isEmpty && entity.rows != nil ? ", stays as it is" : ""))
            lines += details.map { "  \($0)" }
        }
        return lines.isEmpty ? "nothing is stored, and nothing declared" : lines.joined(separator: "\n")
    }

    var json: String {
        let described = entities.map { entity in
            JSON.object([
                "name": JSON.text(entity.name), "rows": entity.rows.map { "\($0)" } ?? "null",
                "changes": JSON.list(entity.changes.map(JSON.text)), "notes": JSON.list(entity.notes.map(JSON.text)),
                "obstacles": JSON.list(entity.obstacles.map(JSON.text)),
            ])
        }
        return JSON.object(["from": "\(from)", "to": "\(to)", "isRefused": "\(isRefused)", "entities": JSON.list(described)])
    }
}

extension Outlook.Entity {
    /// Compares a declaration with what is stored.
    init(_ declaration: EntityDeclaration, in entities: [EntityDescription], of database: any Database) throws {
        let wanted = declaration.description
        guard let stored = entities.first(where: { $0.name == wanted.name }) else {
            self.init(name: wanted.name, rows: nil)
            return
        }
        let rows = try database.rows(of: stored.name)
        let change = EntityChange(from: stored, to: declaration)
        self.init(name: stored.name, rows: try rows.count(), changes: change.steps, obstacles: change.obstacles)
        let known = Set(declaration.earlierNames.joined() + declaration.dropped + wanted.fields.map(\.name))
        let retired = stored.fields.map(\.name).filter { name in
            !known.contains(name) && !obstacles.contains { $0.hasPrefix("'\(name)' ") }
        }
        notes = retired.map { "'\($0)' is not declared; its values stay" }
        // A change of another kind is refused before any row is read.
        guard obstacles.isEmpty else { return }
        for (index, origin) in change.indexSources where index.isUnique && origin?.isUnique != true {
            if let (first, second) = try Self.equalRows(rows, change, index) {
                obstacles.append(
                    "rows \(first) and \(second) have the same values in '\(index.fieldNames)', which becomes unique")
            }
        }
    }

    /// An entity that the other build does not know.
    init(undeclared entity: EntityDescription, of database: any Database) throws {
        self.init(
            name: entity.name, rows: try database.rows(of: entity.name).count(), notes: ["is not declared; its rows stay"])
    }

    /// The keys of two rows that a new unique index would refuse; nil when there are none.
    private static func equalRows(
        _ rows: EntityRows, _ change: EntityChange, _ index: IndexDescription
    ) throws -> (UniqueID, UniqueID)? {
        /// The keys of the rows that were read, by their values.
        var seen: [[Value]: UniqueID] = [:]
        var found: (UniqueID, UniqueID)?
        let positions = change.wanted.positions(of: index)
        try rows.forEach { row in
            try Task.checkCancellation()
            if found != nil { return }
            // A row lacks the relationships whose entities are gone.
            let changed = change.row(change.stored.fields.map { row[$0.name] ?? .null })
            let values = positions.map { changed[$0] }
            if values.contains(where: \.isNull) { return }
            if let other = seen.updateValue(row.key, forKey: values) { found = (other, row.key) }
        }
        return found
    }
}
