import DAOCore

/// One open database with the storages it vended, each kept for as long as the database.
final class Handle {
    let database: any Database
    private var daos: [String: Any] = [:]

    init(_ database: any Database) { self.database = database }

    /// The DAO of a model, with the translator that replaces.
    func dao<Record: RandomRecord>(_ type: Record.Type) throws -> DAO<IdentityTranslator<Record>> {
        let name = Record.schema.description.name
        if let dao = daos[name] as? DAO<IdentityTranslator<Record>> { return dao }
        let dao = DAO(storage: try database.storage(for: type))
        daos[name] = dao
        return dao
    }
}
