import DAOCore

/// One open database with the storages it vended, each kept for as long as the database.
final class OpenDatabase {
    let database: any Database
    private var daos: [ObjectIdentifier: Any] = [:]

    /// Asks for every storage at once: the first time makes tables, which waits for whoever writes.
    init(_ database: any Database, _ entities: [Entity]) throws {
        self.database = database
        for entity in entities { try prepare(entity.type) }
    }

    private func prepare<Record: TestRecord>(_ type: Record.Type) throws { _ = try dao(type) }

    /// The DAO of a model, with the translator that replaces.
    func dao<Record: TestRecord>(_ type: Record.Type) throws -> DAO<IdentityTranslator<Record>> {
        if let dao = daos[ObjectIdentifier(type)] as? DAO<IdentityTranslator<Record>> { return dao }
        let dao = DAO(storage: try database.storage(for: type))
        daos[ObjectIdentifier(type)] = dao
        return dao
    }
}
