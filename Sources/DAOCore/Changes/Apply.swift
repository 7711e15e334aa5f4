import Foundation

/// How far the changes of another database were applied, as a row of an entity (contract D5).
struct OriginRow: OwnModel {
    /// The name of the other database.
    var name: String
    /// The position of the last change that was applied.
    var number: Int64
    /// Its mark.
    var mark: UUID
    /// When it was applied.
    var date: Date

    static let schema = Schema(
        "dao_origins", Self.init,
        Field("name", \.name, .primaryKey), Field("number", \.number), Field("mark", \.mark), Field("date", \.date))

    var position: LogPosition { LogPosition(number: number, mark: mark) }
}

extension Database {
    /// Makes changes that another database has logged, in one transaction: all of them or none (contract D5).
    ///
    /// ```swift
    /// let last = try replica.appliedPosition(of: "main")
    /// try replica.apply(main.changes(after: last, limit: 10_000), origin: "main")
    /// ```
    ///
    /// Each row gets the state after its last change. What erasing or writing it meant for others is in the log of their entities, and is
    /// not done again: log every entity that refers to a logged one. Changes up to the last one that was applied are left out. Where this
    /// database logs the entities, its log has the origin, by which whoever copies in both directions knows its own changes.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order of the log, of entities that are logged with values.
    ///   - origin: The name of the other database.
    /// - Returns: The number of changes that were not applied before.
    /// - Throws: With the entity and the key: `.unsupported` for a change without its values; `.schemaMismatch` for an entity or a field
    ///   that this database does not have; `.notFound` for an update of a row that is not here; `.uniqueViolation`; `.referenceViolation`
    ///   when a row would lead to one that is not here. `.snapshotTooOld` when the changes are of another history than those that were
    ///   applied.
    @discardableResult public func apply(_ changes: [Change], origin: String) throws -> Int {
        try ChangeOrigin.$current.withValue(origin) {
            try transaction {
                let origins = try makeStorage(for: OriginRow.self)
                var changes = changes
                if let known = try origins.read(key: .string(origin)) {
                    if changes.contains(where: { $0.position.number == known.number && $0.position.mark != known.mark }) {
                        throw StorageError.behindLog(known.position)
                    }
                    changes.removeAll { $0.position.number <= known.number }
                }
                guard let last = changes.map(\.position).max() else { return 0 }
                var states = RowStates()
                for change in changes { try states.add(change) }
                try states.write(to: AllUntypedRows(self))
                try origins.upsert([OriginRow(name: origin, number: last.number, mark: last.mark, date: Date())])
                return changes.count
            }
        }
    }

    /// Returns the position of the last change of another database that was applied here; nil before the first (contract D5).
    ///
    /// - Parameter origin: The name of the other database, as in ``apply(_:origin:)``.
    public func appliedPosition(of origin: String) throws -> LogPosition? {
        try snapshot {
            try storedRows(of: OriginRow.self)?.read(key: .string(origin))?.position
        }
    }
}

/// What becomes of rows of several entities.
struct RowStates {
    /// What becomes of a row.
    struct State {
        /// Whether the row is erased, or is another one that was inserted after that.
        var isErased = false
        /// Whether the row is there at the end.
        var isStored = true
        /// Whether the values are all of them, and not those that change.
        var isWhole = false
        var values: [String: Value] = [:]
        /// The keys of the rows of lists.
        var lists: [String: [UniqueID]] = [:]
        /// What the log does not have.
        var missing: String?
    }

    private(set) var states: [String: [UniqueID: State]] = [:]

    /// Sets what becomes of a row.
    subscript(entity: String, key: UniqueID) -> State? {
        get { states[entity]?[key] }
        set { states[entity, default: [:]][key] = newValue }
    }

    /// Adds a change of a row.
    mutating func add(_ change: Change) throws {
        var state = self[change.entity, change.key] ?? State()
        switch change.kind {
        case .inserted:
            state = State(isErased: state.isErased, isWhole: true, values: change.after ?? [:])
            if change.after == nil { state.missing = "the values of a new row" }
        case .updated:
            state.values.merge(change.after ?? [:]) { $1 }
            for (name, list) in change.lists {
                state.lists[name] = list.after
                if list.after == nil { state.missing = "the rows of the list '\(name)'" }
            }
        case .erased: state = State(isErased: true, isStored: false)
        }
        self[change.entity, change.key] = state
    }

    /// Gives the rows of a database these states. It runs in a transaction.
    ///
    /// - Parameter checks: Whether links to rows that are not there are refused.
    func write(to target: AllUntypedRows, checks: Bool = true) throws {
        var entities: [Changed] = []
        for (name, states) in states.sorted(by: { $0.key < $1.key }) {
            guard let rows = try target.rows(of: name) else {
                throw StorageError(
                    .schemaMismatch,
                    "the changes are of an entity '\(name)', which this database does not have; open its model first",
                    entity: name)
            }
            entities.append(try Changed(rows, states, target))
        }
        for entity in entities { try entity.erase() }
        for entity in entities { try entity.store() }
        for entity in entities { try entity.link() }
        if checks { for entity in entities { try entity.check(target) } }
    }
}

/// The rows of one entity that get other states.
private struct Changed {
    private let rows: any UntypedRows
    private let erased: [Key]
    private let gone: [Key]
    private let stored: [(key: Key, state: RowStates.State)]
    private let outgoing: [(relation: RelationDescription, links: any LinkStorage)]
    private let incoming: [(relation: RelationDescription, links: any LinkStorage)]

    private var entity: EntityDescription { rows.entity }

    init(_ rows: any UntypedRows, _ states: [UniqueID: RowStates.State], _ target: AllUntypedRows) throws {
        self.rows = rows
        let entity = rows.entity
        var sorted: [(key: Key, state: RowStates.State)] = []
        for (id, state) in states {
            if state.isStored, let missing = state.missing {
                throw StorageError(
                    .unsupported,
                    "the log does not keep \(missing); log '\(entity.name)' with 'logged(values: true)', or copy the rows",
                    entity: entity.name, key: id)
            }
            sorted.append((try id.key(as: entity.keyKind, entity: entity.name), state))
        }
        sorted.sort { $0.key < $1.key }
        erased = sorted.filter(\.state.isErased).map(\.key)
        gone = sorted.filter { !$0.state.isStored }.map(\.key)
        stored = sorted.filter(\.state.isStored)
        func links(_ relation: RelationDescription) throws -> (relation: RelationDescription, links: any LinkStorage) {
            (relation, try target.database.makeLoggedLinks(for: relation))
        }
        outgoing = try target.relations.from(entity.name).map(links)
        incoming = try target.relations.to(entity.name).map(links)
    }

    func erase() throws {
        if erased.isEmpty { return }
        for (_, links) in outgoing where !links.isInRows { try links.remove(parents: erased) }
        try rows.erase(erased)
    }

    func store() throws {
        let here = try rows.read(stored.filter { !$0.state.isWhole }.map(\.key))
        try rows.store(
            stored.map { key, state in
                var values: [Value]
                if state.isWhole {
                    values = entity.fields.map { $0.defaultValue ?? .null }
                } else if let row = here[key] {
                    values = row
                } else {
                    throw StorageError(
                        .notFound,
                        "a change is of a row of '\(entity.name)' that is not here; copy the rows before changes are applied",
                        entity: entity.name, key: UniqueID(key))
                }
                for (name, value) in state.values {
                    guard let position = entity.index(of: name) else { throw unknown(name, key) }
                    values[position] = try naming(key) { try entity.canonical(value, at: position) }
                }
                return values
            })
    }

    private func unknown(_ field: String, _ key: Key) -> StorageError {
        StorageError(
            .schemaMismatch,
            "a change is of a field '\(field)' that '\(entity.name)' does not have here; open its newer model first",
            entity: entity.name, key: UniqueID(key), field: field)
    }

    func link() throws {
        for (key, state) in stored {
            for name in state.lists.keys where !outgoing.contains(where: { $0.relation.field == name }) {
                throw unknown(name, key)
            }
        }
        for (relation, links) in outgoing where !links.isInRows {
            var (parents, lists): ([Key], LinkedKeys) = ([], LinkedKeys())
            for (key, state) in stored {
                let list: [Key]
                if relation.isToOne {
                    guard let value = state.values[relation.field] else { continue }
                    list = Key(value, of: relation.targetKeyKind).map { [$0] } ?? []
                } else {
                    guard let keys = state.lists[relation.field] else { continue }
                    list = try keys.map { try $0.key(as: relation.targetKeyKind, entity: relation.target) }
                }
                parents.append(key)
                lists.append(list)
            }
            if !parents.isEmpty { try links.set(lists, of: parents) }
        }
    }

    /// Refuses links to rows that are not there.
    func check(_ target: AllUntypedRows) throws {
        let keys = stored.map(\.key)
        for (relation, links) in outgoing where !keys.isEmpty {
            let linked = try links.children(of: keys)
            let known = try target.rows(of: relation.target)?.stored(Set(linked.keys).sorted()) ?? []
            for (key, list) in zip(keys, linked.lists) {
                if let missing = list.first(where: { !known.contains($0) }) {
                    throw StorageError.missingTarget(relation, key: key, target: missing)
                }
            }
        }
        for (relation, links) in incoming where !gone.isEmpty {
            for (key, parents) in zip(gone, try links.parents(ofEach: gone, limit: 1).lists) {
                if let parent = parents.first { throw StorageError.missingTarget(relation, key: parent, target: key) }
            }
        }
    }
}
