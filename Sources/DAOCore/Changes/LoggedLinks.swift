/// The links of a relationship, for writing. A change of a list is a change of its parent (contract D1).
struct LoggedLinks: LinkStorage {
    let base: any LinkStorage
    let relation: RelationDescription
    let database: any Database

    var isInRows: Bool { base.isInRows }
    func children(of parents: [Key]) throws -> LinkedKeys { try base.children(of: parents) }
    func parents(of children: [Key]) throws -> [Key] { try base.parents(of: children) }
    func counts() throws -> [(parent: Key, count: Int)] { try base.counts() }
    func children(of parents: [Key], limit: Int) throws -> LinkedKeys { try base.children(of: parents, limit: limit) }
    func parents(ofEach children: [Key], limit: Int?) throws -> LinkedKeys { try base.parents(ofEach: children, limit: limit) }
    func parentCounts() throws -> [(child: Key, count: Int)] { try base.parentCounts() }
    func linked(among children: [Key]) throws -> Set<Key> { try base.linked(among: children) }
    func forEachList<Child: Model>(
        of parents: [Key], in storage: any Storage<Child>, _ body: (Int, [Child]) throws -> Void
    ) throws { try base.forEachList(of: parents, in: storage, body) }

    func set(_ children: LinkedKeys, of parents: [Key]) throws {
        try write {
            try base.set(children, of: parents)
        } lists: {
            // The last list of a repeated parent counts.
            let last = Dictionary(zip(parents, children.lists.map(Array.init)), uniquingKeysWith: { $1 })
            let keys = last.keys.sorted()
            return zip(keys, try base.children(of: keys).lists).map { ($0, Array($1), last[$0] ?? []) }
        }
    }

    func remove(children: [Key]) throws {
        try write {
            try base.remove(children: children)
        } lists: {
            let (parents, gone) = (try base.parents(of: children), Set(children))
            return zip(parents, try base.children(of: parents).lists).map { ($0, Array($1), $1.filter { !gone.contains($0) }) }
        }
    }

    func remove(parents: [Key]) throws {
        try write {
            try base.remove(parents: parents)
        } lists: {
            let keys = Set(parents).sorted()
            return zip(keys, try base.children(of: keys).lists).map { ($0, Array($1), []) }
        }
    }

    /// Runs a write, and logs what it changes: parents with their children before and after it. Links are written inside the
    /// transaction of their rows, which knows whether these are logged.
    private func write(_ body: () throws -> Void, lists: () throws -> [(parent: Key, before: [Key], after: [Key])]) throws {
        guard let kept = try database.engineState.relations.relations(in: database).logs[relation.entity] else {
            return try body()
        }
        try database.runStep {
            let changed = try lists().filter { $0.before != $0.after }
            try AmbientTransaction.logging(in: database.engineState, body)
            try ChangeLog(database).add(
                changed.map { parent, before, after in
                    ChangeLog.Entry(
                        key: parent, kind: .updated, before: kept == .values ? text(before, isKept: true) : nil,
                        after: text(after, isKept: kept == .values))
                }, of: relation.entity)
        }
    }

    /// A link to one row is logged as its field, wherever it is stored.
    private func text(_ children: [Key], isKept: Bool) -> String {
        if relation.isToOne { return ChangedValues.text([(relation.field, children.first?.value ?? .null)]) }
        return ChangedValues.text(list: relation.field, isKept ? children : nil)
    }
}

extension Database {
    /// Returns the links of a relationship, whose changes are logged where the rows of its parents are.
    func makeLoggedLinks(for relation: RelationDescription) throws -> any LinkStorage {
        LoggedLinks(base: try makeLinks(for: relation), relation: relation, database: self)
    }
}
