extension EntityDescription {
    /// Checks that a new entity has a name of its own. Names that differ in the case of A to Z only are one name: SQL engines compare them so.
    ///
    /// - Parameters:
    ///   - stored: The entities there are.
    ///   - path: The database's file, for the error.
    /// - Throws: `.schemaMismatch`.
    package func checkName(among stored: [EntityDescription], path: String?) throws {
        let folded = Self.folded(name)
        guard let twin = stored.first(where: { Self.folded($0.name) == folded }) else { return }
        let difference = twin.name.hasSameBytes(as: name) ? "" : ", whose name differs from '\(name)' in case only"
        throw StorageError(
            .schemaMismatch, "the database has an entity '\(twin.name)' already\(difference)", entity: name, path: path)
    }

    private static func folded(_ name: String) -> [UInt8] {
        name.utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
    }
}
