import DAOCore
import Foundation

extension Command {
    static let log = Command(
        name: "log", summary: "writes the logged changes of a database, in order",
        parameters: [.url, Parameter(name: "ENTITY", isOptional: true, help: "one of the entities; all when missing")],
        options: [
            Option(name: "after", value: "POSITION", help: "begins after a change, whose position is the first word of its line"),
            .limit, Option(name: "follow", help: "goes on with the changes of every commit, until Ctrl-C"), .json,
        ],
        discussion: """
            Entities are logged whose models say .logged(). Each line has the position, the date, what happened, the entity and the key, and
            the values that the log keeps.
            """
    ) { arguments in
        let (limit, entity) = (try arguments.count(of: "limit"), arguments.optionalWord("ENTITY"))
        let after = try arguments.value(of: "after").map { word in
            guard let position = LogPosition(word) else {
                throw UsageError("--after needs a position as 'dao log' writes it, not '\(word)'")
            }
            return position
        }
        if arguments.has("follow"), limit != nil { throw UsageError("--limit is for a log that is not followed") }
        return try await Databases.using(arguments, .reads) { database in
            let entities = try database.entities()
            if let entity, !entities.contains(where: { $0.name == entity }) { _ = try database.rows(of: entity) }
            guard try entities.contains(where: { $0.log != nil }) || !database.changes(limit: 1).isEmpty else {
                Program.complain("no entity is logged; its model says .logged()")
                return 1
            }
            let chosen = entity.map { Set([$0]) }
            guard arguments.has("follow") else {
                var (last, rest) = (after, limit ?? .max)
                while rest > 0, case let changes = try database.changes(after: last, limit: min(rest, 1000), of: chosen),
                    !changes.isEmpty
                {
                    for change in changes { try write(change, arguments) }
                    (last, rest) = (changes.last?.position, rest - changes.count)
                }
                return 0
            }
            for try await changes in database.followChanges(after: after, of: chosen) {
                for change in changes { try write(change, arguments) }
                try Output.flush()
            }
            return 0
        }
    }

    private static func write(_ change: Change, _ arguments: Arguments) throws {
        if arguments.has("json") {
            return try Output.write(
                JSON.object([
                    "position": JSON.text("\(change.position)"), "transaction": "\(change.transaction)",
                    "date": Value.date(change.date).json(.date), "change": JSON.text("\(change.kind)"),
                    "entity": JSON.text(change.entity), "key": JSON.text(change.key.rawValue),
                    "before": json(change.before), "after": json(change.after),
                    "lists": object(change.lists, json), "origin": change.origin.map(JSON.text) ?? "null",
                ]))
        }
        let values = (change.after ?? change.before ?? [:]).sorted { $0.key < $1.key }.map {
            "\($0.key)=\($0.value.json($0.value.kind))"
        }
        let words =
            ["\(change.position)", change.date.text, "\(change.kind)", change.entity, change.key.rawValue] + values
            + change.lists.keys.sorted()
        try Output.write(words.joined(separator: "  "))
    }

    private static func json(_ list: Change.List) -> String {
        func json(_ keys: [UniqueID]?) -> String { keys.map { JSON.list($0.map { JSON.text($0.rawValue) }) } ?? "null" }
        return JSON.object(["before": json(list.before), "after": json(list.after)])
    }

    private static func json(_ values: [String: Value]?) -> String {
        values.map { object($0) { $0.json($0.kind) } } ?? "null"
    }

    private static func object<Member>(_ members: [String: Member], _ text: (Member) -> String) -> String {
        "{\(members.sorted { $0.key < $1.key }.map { "\(JSON.text($0.key)): \(text($0.value))" }.joined(separator: ", "))}"
    }
}

/// What a database says of its log of changes.
struct LogFacts {
    private let changes: Int
    private let oldest: Date?
    private let consumers: [LogConsumer]

    /// Reads the facts; nil without a log.
    init?(of database: any Database) throws {
        guard try database.entities().contains(where: { $0.name == Self.entity }) else { return nil }
        changes = try database.rows(of: Self.entity).count()
        oldest = try database.changes(limit: 1).first?.date
        consumers = try database.logConsumers()
    }

    private static let entity = "dao_changes"

    var text: String {
        let since = oldest.map { " since \($0.text)" } ?? ""
        let lines = consumers.map {
            $0.position == .beginning
                ? "  \($0.name)  has seen none" : "  \($0.name)  has seen those up to \($0.position), at \($0.date.text)"
        }
        return (["log of changes, \(counted(changes, "change"))\(since)"] + lines).joined(separator: "\n")
    }

    var json: String {
        JSON.object([
            "changes": "\(changes)", "oldest": oldest.map { Value.date($0).json(.date) } ?? "null",
            "consumers": JSON.list(
                consumers.map {
                    JSON.object([
                        "name": JSON.text($0.name), "position": JSON.text("\($0.position)"),
                        "date": Value.date($0.date).json(.date),
                    ])
                }),
        ])
    }
}

extension Value {
    /// The kind of field that has such a value.
    fileprivate var kind: ValueKind {
        switch self {
        case .null, .string: .string
        case .bool: .bool
        case .integer: .int64
        case .unsigned: .uint64
        case .double: .double
        case .decimal: .decimal
        case .data: .data
        case .uuid: .uuid
        case .date: .date
        }
    }
}
