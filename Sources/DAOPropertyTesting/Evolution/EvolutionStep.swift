import DAOCore

/// One step in the life of a database whose application changes.
public enum EvolutionStep: Sendable, Hashable {
    /// Asks for the storage of a version of a model, in the open database or after opening it again.
    case open(PropertyTesting.GeneratedEntity, reopens: Bool)
    /// Stores rows of the model that was opened last.
    case persist([[Value]])
    /// Stores rows through a part of the model that was opened last, with the fields of these names, and reads them.
    case part([String], [[Value]])
    /// Erases rows of the model that was opened last, by their keys.
    case erase([Value])
    /// Evolves the database to a version, with migrations and a model. This model is then the one that was
    /// opened last.
    case evolve(version: Int, [PropertyTesting.GeneratedMigration], model: PropertyTesting.GeneratedEntity?)
    /// Copies the database into a new one, in batches. The copy is interrupted after some batches and
    /// continued.
    case copy(rowsAtOnce: Int, interruptedAfter: Int?)
}

extension PropertyTesting {
    /// A migration, as plain data.
    public struct GeneratedMigration: Sendable, Hashable {
        /// One change of a migration. A change of the primary key or of a field of another type is left out.
        public enum Action: Sendable, Hashable {
            /// Changes a field's type, by exact conversion.
            case changeType(of: String, in: String, from: GeneratedType, to: GeneratedType)
            /// Gives a field another name.
            case renameField(String, of: String, to: String)
            /// Adds a field, with its default in older rows.
            case addField(GeneratedField, to: String)
            /// Drops a field.
            case dropField(String, of: String)
            /// Sets whether a field has an index, and whether it is unique.
            case setIndex(on: String, of: String, isIndexed: Bool, isUnique: Bool)
            /// Makes another field the key, if its type can be a key and it has no index.
            case changeKey(of: String, to: String)
            /// Removes an entity.
            case dropEntity(String)
            /// Gives an entity another name.
            case renameEntity(String, to: String)
            /// Sets a field in every row.
            case set(String, of: String, to: Value)
            /// Erases every n-th row, beginning with the first.
            case erase(every: Int, of: String)
            /// Fails.
            case fail
        }

        /// The version after the migration.
        var version: Int
        /// The changes of the migration.
        var actions: [Action]

        /// Describes a migration.
        public init(to version: Int, _ actions: [Action]) { (self.version, self.actions) = (version, actions) }

        /// The name of the migration in plans.
        var name: String { "to \(version)" }
    }
}

// MARK: As Swift

extension EvolutionStep: ReplayedStep {}

extension PropertyTesting.GeneratedEntity: SwiftSource {
    /// The model as Swift.
    var source: String {
        let kept = kept.isEmpty ? "" : ", kept: \(kept.sorted())"
        let names = dropped.map(SwiftLiteral.string).joined(separator: ", ")
        let dropped = dropped.isEmpty ? "" : ", dropped: [\(names)]"
        let indexes = indexes.isEmpty ? "" : ", indexes: \(SwiftLiteral.source(indexes))"
        return ".init(\(SwiftLiteral.source(name)), \(SwiftLiteral.source(fields))\(kept)\(dropped)\(indexes))"
    }
}

extension IndexDescription: SwiftSource {
    /// The index as Swift.
    var source: String {
        let condition = condition.map { ", condition: \(SwiftLiteral.source($0))" } ?? ""
        return ".init(\(SwiftLiteral.source(fields))\(isUnique ? ", isUnique: true" : "")\(condition))"
    }
}

extension IndexedField: SwiftSource {
    /// The field of an index as Swift.
    var source: String {
        let options = isAscending ? "" : ", isAscending: false"
        let type = elements.map { ", elements: .init(.\($0.kind)\($0.isOptional ? ", isOptional: true" : ""))" } ?? ""
        return ".init(\(SwiftLiteral.string(name))\(options)\(type))"
    }
}

extension EmbeddedMember: SwiftSource {
    /// The member as Swift. Only one type of scripts has members.
    var source: String {
        "PropertyTesting.Shape.members[\(PropertyTesting.Shape.members.firstIndex(of: self) ?? PropertyTesting.Shape.members.count)]"
    }
}

extension FieldType: SwiftSource {
    /// The type as Swift.
    var source: String { "FieldType(.\(kind.rawValue)\(isOptional ? ", isOptional: true" : ""))" }
}

extension PropertyTesting.GeneratedField: SwiftSource {
    /// The field as Swift.
    var source: String {
        var parts = [SwiftLiteral.string(name), ".\(type)"]
        let flags = [("isOptional", isOptional), ("isKey", isKey), ("isIndexed", isIndexed), ("isUnique", isUnique)]
        for (flag, isSet) in flags where isSet { parts.append("\(flag): true") }
        if let defaultValue { parts.append("defaultValue: \(SwiftLiteral.source(defaultValue))") }
        if !earlierNames.isEmpty { parts.append("earlierNames: \(SwiftLiteral.source(earlierNames))") }
        return ".init(\(parts.joined(separator: ", ")))"
    }
}

extension PropertyTesting.GeneratedMigration: SwiftSource {
    /// The migration as Swift.
    var source: String { ".init(to: \(version), \(SwiftLiteral.source(actions)))" }
}
