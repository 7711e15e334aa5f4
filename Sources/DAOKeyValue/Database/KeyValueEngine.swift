import DAOCore
import Synchronization

/// One open store with its transactions and its catalog, shared by all databases of the process that are on it.
package final class KeyValueEngine: Sendable {
    /// The store.
    package let store: any OrderedKeyValueStore
    let coordinator: TransactionCoordinator<KeyValueHandle>
    private let tables: SharedTables
    /// Links whose catalog entries are committed, by their relationship's name.
    private let links = SharedLinks()

    /// Tables whose catalog entries are committed, by entity name.
    private final class SharedTables: Sendable {
        let byName = Mutex<[String: Table]>([:])

        func add(_ tables: [Table]) {
            byName.withLock { byName in
                for table in tables { byName[table.description.name] = table }
            }
        }
    }

    /// Links whose catalog entries are committed, by their relationship's name.
    private final class SharedLinks: Sendable {
        let byName = Mutex<[String: LinkTable]>([:])

        func add(_ links: [LinkTable]) {
            byName.withLock { byName in
                for table in links { byName[table.name] = table }
            }
        }
    }

    /// Takes a store and looks whether its format is one that this library reads.
    ///
    /// - Throws: `.schemaIsNewer`, `.notADatabase`, `.corrupted`, or what the store throws. The store is not closed then.
    package init(_ store: any OrderedKeyValueStore) throws {
        let tables = SharedTables()
        let links = links
        self.store = store
        self.tables = tables
        coordinator = TransactionCoordinator(
            beginWriting: {
                KeyValueHandle(
                    try store.begin(.write), canWrite: true, publish: { tables.add($0) }, publishLinks: { links.add($0) })
            },
            beginReading: {
                KeyValueHandle(try store.begin(.read), canWrite: false, publish: { _ in }, publishLinks: { _ in })
            })
        try coordinator.read { _ = try Catalog($0.transaction, path: store.traits.path).format() }
    }

    /// The committed table of an entity, as far as this process has met it.
    func knownTable(named name: String) -> Table? { tables.byName.withLock { $0[name] } }

    /// The table of an entity as a transaction sees it; nil when the database does not have it.
    ///
    /// - Throws: `.schemaMismatch` when what is stored differs.
    func table(for description: EntityDescription, in handle: KeyValueHandle) throws -> Table? {
        if let table = knownTable(named: description.name) ?? handle.newTable(named: description.name) {
            try check(description, against: table.description)
            return table
        }
        guard let stored = try Catalog(handle.transaction, path: store.traits.path).entity(named: description.name) else {
            return nil
        }
        try check(description, against: stored.description)
        let table = try Table(stored, state: .stored, path: store.traits.path)
        tables.add([table])
        return table
    }

    /// The table of an entity; what is missing is added by the transaction.
    func makeTable(for description: EntityDescription, in handle: KeyValueHandle) throws -> Table {
        if let table = try table(for: description, in: handle) { return table }
        handle.writeCount += 1
        let path = store.traits.path
        let table = try Table(Catalog(handle.transaction, path: path).add(description), state: .provisional, path: path)
        handle.add(table)
        return table
    }

    /// Where the links of a relationship are, as a transaction sees it; nil when the database does not have any yet.
    ///
    /// - Throws: `.schemaMismatch` when they were stored between other kinds of keys.
    func links(of relation: RelationDescription, in handle: KeyValueHandle) throws -> LinkTable? {
        let name = StoredLinks.name(of: relation)
        if let table = links.byName.withLock({ $0[name] }) ?? handle.newLinks(named: name) {
            try table.check(relation)
            return table
        }
        let path = store.traits.path
        guard let stored = try Catalog(handle.transaction, path: path).links(of: relation) else { return nil }
        let table = try LinkTable(stored, name: name, path: path)
        try table.check(relation)
        links.add([table])
        return table
    }

    /// Where the links of a relationship are; what is missing is added by the transaction.
    func makeLinks(of relation: RelationDescription, in handle: KeyValueHandle) throws -> LinkTable {
        if let table = try links(of: relation, in: handle) { return table }
        handle.writeCount += 1
        let path = store.traits.path
        let table = try LinkTable(
            Catalog(handle.transaction, path: path).add(relation), name: StoredLinks.name(of: relation), path: path)
        handle.add(table)
        return table
    }

    private func check(_ description: EntityDescription, against stored: EntityDescription) throws {
        guard description != stored else { return }
        let differences = description.differences(from: stored)
        throw StorageError(
            .schemaMismatch,
            "the stored '\(description.name)' differs from the declared one: \(differences.joined(separator: "; ")). Nothing was changed",
            entity: description.name, path: store.traits.path)
    }
}
