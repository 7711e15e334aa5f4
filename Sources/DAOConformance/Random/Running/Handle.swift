import DAOCore

/// One open database with the storages it vended, each kept for as long as the database.
final class Handle {
    let database: any Database
    private var daos: [String: Any] = [:]

    /// Asks for every storage at once: the first time makes tables, which waits for whoever writes.
    init(_ database: any Database) throws {
        self.database = database
        for entity in Entity.allCases { try prepare(entity.type) }
    }

    private func prepare<Record: RandomRecord>(_ type: Record.Type) throws { _ = try dao(type) }

    /// The DAO of a model, with the translator that replaces.
    func dao<Record: RandomRecord>(_ type: Record.Type) throws -> DAO<IdentityTranslator<Record>> {
        let name = Record.schema.description.name
        if let dao = daos[name] as? DAO<IdentityTranslator<Record>> { return dao }
        let dao = DAO(storage: try database.storage(for: type))
        daos[name] = dao
        return dao
    }
}
