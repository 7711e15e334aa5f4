extension EntityDescription {
    /// Checks that the name of a new entity is unique. Names that differ only in case are the same name, as
    /// in fields, because SQL engines compare them so.
    ///
    /// - Parameters:
    ///   - stored: The stored entities.
    ///   - path: The path of the database's file, for the error.
    /// - Throws: `.schemaMismatch` when a stored entity has the same name in another case.
    public func checkName(among stored: [EntityDescription], path: String?) throws {
        let lowercased = name.lowercased()
        guard let twin = stored.first(where: { $0.name.lowercased() == lowercased }) else { return }
        let difference = twin.name.hasSameBytes(as: name) ? "" : ", whose name differs from '\(name)' in case only"
        throw StorageError(
            .schemaMismatch, "the database has an entity '\(twin.name)' already\(difference)", entity: name, path: path)
    }
}
