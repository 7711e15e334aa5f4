import DAOCore

/// What is different between a table and a model's schema, in words.
public enum SchemaDifference {

    /// The error for differences that there are.
    public static func error(_ differences: [String], entity: String) -> StorageError {
        StorageError(
            .schemaMismatch,
            "the stored '\(entity)' is not what the model declares: \(differences.joined(separator: "; ")). Nothing was changed",
            entity: entity)
    }
}
