import DAOConformance
import DAOCore

/// An open database and its storages, each kept for as long as the database.
final class OpenDatabase {
    let database: any Database
    private var daos: [ObjectIdentifier: Any] = [:]

    /// Opens every storage at once: the first time creates tables, which waits for running writes.
    ///
    /// - Throws: The error of a storage; a failure for a model with a field that scripts cannot print.
    init(_ database: any Database, _ entities: [Entity]) throws {
        self.database = database
        for entity in entities {
            guard entity.table.types.count == entity.fields.count else {
                throw fail("'\(entity.name)' has a field of another type")
            }
            try prepare(entity.type)
        }
    }

    private func prepare<Record: TestRecord>(_ type: Record.Type) throws { _ = try dao(type) }

    /// The DAO of a model, with the translator that replaces.
    func dao<Record: TestRecord>(_ type: Record.Type) throws -> DAO<Record> {
        if let dao = daos[ObjectIdentifier(type)] as? DAO<Record> { return dao }
        let dao = DAO(storage: try database.storage(for: type))
        daos[ObjectIdentifier(type)] = dao
        return dao
    }
}
