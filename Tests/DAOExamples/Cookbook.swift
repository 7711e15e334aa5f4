// The code of Docs/Cookbook.md, compiled and run.

import DAOCore
import Foundation

struct Todo: Plain, Model, Equatable {
    var id: UUID
    var title: String
    var list: String
    var position = 0
    var isDone = false
    var erasedAt: Date?
    var timesOpened = 0

    static let schema = Schema(
        "todo", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("list", \.list, .indexed), Field("position", \.position),
        Field("isDone", \.isDone), Field("erasedAt", \.erasedAt), Field("timesOpened", \.timesOpened, .default(0)))
}

struct Todos: Sendable {
    let database: any Database
    /// All of them, for writing and for the trash.
    let all: DAO<Todo>
    /// Those that are not in the trash.
    let shown: DAO<Todo>

    init(_ database: any Database) throws {
        self.database = database
        all = DAO(storage: try database.storage(for: Todo.self))
        shown = all.scoped { $0.erasedAt == nil }
    }

    // MARK: Trash

    /// Puts a todo into the trash.
    func trash(_ id: UUID, at now: Date) throws {
        try all.set(\.erasedAt, to: now) { $0.id == id }
    }

    /// Takes it out again.
    func restore(_ id: UUID) throws {
        try all.set(\.erasedAt, to: nil) { $0.id == id }
    }

    /// Erases what has been in the trash since before a date.
    func emptyTrash(before date: Date) throws {
        try all.erase { $0.erasedAt < date }
    }

    // MARK: Order by drag

    /// Adds a todo at the end of its list.
    func add(_ todo: Todo) throws -> Todo {
        try all.append(todo, by: \.position) { $0.list == todo.list }
    }

    /// Moves a todo to a place of its list; those in between move up or down by one.
    func move(_ id: UUID, to place: Int) throws {
        try database.transaction {
            guard let moved = try all.read(byPrimaryKey: id) else { return }
            let (list, from) = (moved.list, moved.position)
            if from < place {
                try all.update(.increase(\.position, by: -1)) { $0.list == list && $0.position > from && $0.position <= place }
            } else {
                try all.update(.increase(\.position, by: 1)) { $0.list == list && $0.position >= place && $0.position < from }
            }
            try all.set(\.position, to: place) { $0.id == id }
        }
    }

    // MARK: Sections and counts

    /// The lists with their first todos, as sections of a screen.
    func sections() throws -> [(String, [Todo])] {
        try shown.groups(by: \.list, first: 20, orderedBy: .ascending(\.position))
    }

    /// The lists with the number of all todos and of those that are open, the longest first.
    func sidebar() throws -> [(String, Int, Int)] {
        try shown.groups(by: \.list, totals: .count, .count { !$0.isDone }, orderedBy: .descending(.count))
    }

    // MARK: Counters

    /// Counts that a todo was opened. Two that count at once are both counted.
    func didOpen(_ id: UUID) throws {
        try all.update(.increase(\.timesOpened, by: 1)) { $0.id == id }
    }

    // MARK: Queues

    /// Takes the next todos of a list for whoever asks. Two that ask at once get different ones.
    func next(_ count: Int, of list: String) throws -> [Todo] {
        try all.update(orderedBy: .ascending(\.position), limit: count, where: { $0.list == list && !$0.isDone }) {
            $0.isDone = true
        }
    }

    // MARK: What a server sent

    /// Stores what a server sent for a list. What it no longer has is erased, and the keys of what is new are returned.
    func didFetch(_ fetched: [Todo], for list: String) throws -> [UniqueID] {
        try all.replace(where: { $0.list == list }, with: fetched).inserted
    }

    // MARK: Optional filters

    /// The todos that a screen with three controls shows. A control that is not set filters nothing.
    func found(list: String?, typed: String?, onlyOpen: Bool) throws -> [Todo] {
        let condition =
            Condition<Todo>(unlessNil: list) { $0.list == $1 }
            && Condition(unlessNil: typed) { $0.title.contains($1, [.caseInsensitive, .diacriticInsensitive]) }
            && Condition(unlessNil: onlyOpen ? false : nil) { $0.isDone == $1 }
        return try shown.read(orderedBy: .ascending(\.list), .ascending(\.position), where: condition)
    }

    // MARK: The first start

    /// Stores examples in a database that has nothing yet. Of two processes that start at once, one does.
    func seed(_ examples: [Todo]) throws {
        try database.transaction {
            if try !all.exists(where: .all) { try all.create(examples) }
        }
    }
}

/// Where the data is: the URL in an environment variable, otherwise a file. A path may have any characters.
func todosConfiguration(_ environment: [String: String], in directory: URL) throws -> DatabaseConfiguration {
    if let url = environment["TODOS_DATABASE"] { return try DatabaseConfiguration(url: url) }
    return DatabaseConfiguration(scheme: "sqlite", path: directory.appendingPathComponent("todos.db").path)
}
