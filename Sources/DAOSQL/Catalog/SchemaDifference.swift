import DAOCore

/// What is different between a stored entity and a model's schema, in words.
public enum SchemaDifference {

    /// The differences, one sentence each; none when the two are the same.
    ///
    /// - Parameters:
    ///   - stored: The entity as the database has it.
    ///   - wanted: The entity as the model declares it.
    public static func between(_ stored: EntityDescription, and wanted: EntityDescription) -> [String] {
        var differences: [String] = []
        for field in wanted.fields {
            guard let old = stored.fields.first(where: { $0.name == field.name }) else {
                differences.append("the field '\(field.name)' is not stored")
                continue
            }
            if old.type != field.type {
                differences.append("the field '\(field.name)' is stored as \(old.type), the model has \(field.type)")
            }
            if old.isPrimaryKey != field.isPrimaryKey {
                differences.append("the field '\(field.name)' is \(old.isPrimaryKey ? "" : "not ")the stored primary key")
            }
            if old.isUnique != field.isUnique {
                differences.append("the field '\(field.name)' is \(old.isUnique ? "" : "not ")stored as unique")
            } else if old.isIndexed != field.isIndexed {
                differences.append("the field '\(field.name)' is \(old.isIndexed ? "" : "not ")stored with an index")
            }
        }
        for field in stored.fields where !wanted.fields.contains(where: { $0.name == field.name }) {
            differences.append("the stored field '\(field.name)' is not in the model")
        }
        return differences
    }

    /// The error for differences that there are.
    public static func error(_ differences: [String], entity: String) -> StorageError {
        StorageError(
            .schemaMismatch,
            "the stored '\(entity)' is not what the model declares: \(differences.joined(separator: "; ")). Nothing was changed",
            entity: entity)
    }
}
