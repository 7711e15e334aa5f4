extension EntityDescription {
    /// Checks that a new entity has a name of its own. Names that differ in case only are one name, as those of fields are: SQL engines compare them so.
    ///
    /// - Parameters:
    ///   - stored: The entities there are.
    ///   - path: The database's file, for the error.
    /// - Throws: `.schemaMismatch`.
    package func checkName(among stored: [EntityDescription], path: String?) throws {
        let lowercased = name.lowercased()
        guard let twin = stored.first(where: { $0.name.lowercased() == lowercased }) else { return }
        let difference = twin.name.hasSameBytes(as: name) ? "" : ", whose name differs from '\(name)' in case only"
        throw StorageError(
            .schemaMismatch, "the database has an entity '\(twin.name)' already\(difference)", entity: name, path: path)
    }
}
