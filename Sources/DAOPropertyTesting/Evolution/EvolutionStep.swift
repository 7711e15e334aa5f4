import DAOCore

/// One step in the life of a database whose application changes.
public enum EvolutionStep: Sendable, Hashable {
    /// Asks for the storage of a version of a model, in the open database or after opening it again.
    case open(PropertyTesting.GeneratedEntity, reopens: Bool)
    /// Stores rows of the model that was opened last.
    case persist([[Value]])
    /// Erases rows of the model that was opened last, by their keys.
    case erase([Value])
    /// Brings the database to a version, by steps, and with a model that is then the one that was opened
    /// last.
    case evolve(version: Int, [PropertyTesting.GeneratedMigration], model: PropertyTesting.GeneratedEntity?)
    /// Copies everything into a new database, in batches, interrupted after some of them and taken up again.
    case copy(rowsAtOnce: Int, interruptedAfter: Int?)
}

extension PropertyTesting {
    /// A migration, as plain data.
    public struct GeneratedMigration: Sendable, Hashable {
        /// One thing that it does. What is about the primary key, or about a field of another type, is left
        /// out.
        public enum Action: Sendable, Hashable {
            /// Changes a field's type, by exact conversion.
            case changeType(of: String, in: String, from: GeneratedType, to: GeneratedType)
            /// Gives a field another name.
            case renameField(String, of: String, to: String)
            /// Adds a field, with its default in older rows.
            case addField(GeneratedField, to: String)
            /// Drops a field.
            case dropField(String, of: String)
            /// Says whether a field has an index, and whether it is unique.
            case setIndex(on: String, of: String, isIndexed: Bool, isUnique: Bool)
            /// Makes another field the key: one that can be and has no index.
            case changeKey(of: String, to: String)
            /// Removes an entity.
            case dropEntity(String)
            /// Gives an entity another name.
            case renameEntity(String, to: String)
            /// Sets a field in every row.
            case set(String, of: String, to: Value)
            /// Erases every so-manieth row, the first one first.
            case erase(every: Int, of: String)
            /// Fails.
            case fail
        }

        /// The version it leads to.
        var version: Int
        /// What it does.
        var actions: [Action]

        /// Describes a migration.
        public init(to version: Int, _ actions: [Action]) { (self.version, self.actions) = (version, actions) }

        /// What plans call it.
        var name: String { "to \(version)" }
    }
}

// MARK: As Swift

extension EvolutionStep: ReplayedStep {
    /// The step as Swift.
    var source: String {
        func values(_ values: [Value]) -> String { "[" + values.map(SwiftLiteral.tagged).joined(separator: ", ") + "]" }
        switch self {
        case .open(let entity, let reopens): return ".open(\(entity.source), reopens: \(reopens))"
        case .persist(let rows): return ".persist([\(rows.map(values).joined(separator: ", "))])"
        case .erase(let keys): return ".erase(\(values(keys)))"
        case .evolve(let version, let migrations, let model):
            return ".evolve(version: \(version), [\(migrations.map(\.source).joined(separator: ", "))], model: "
                + "\(model?.source ?? "nil"))"
        case .copy(let rows, let interruption):
            return ".copy(rowsAtOnce: \(rows), interruptedAfter: \(interruption.map(String.init) ?? "nil"))"
        }
    }
}

extension PropertyTesting.GeneratedEntity {
    /// The model as Swift.
    var source: String {
        let kept = kept.isEmpty ? "" : ", kept: [\(kept.sorted().map(String.init).joined(separator: ", "))]"
        let names = dropped.map(SwiftLiteral.string).joined(separator: ", ")
        let dropped = dropped.isEmpty ? "" : ", dropped: [\(names)]"
        return ".init(\(SwiftLiteral.string(name)), [\(fields.map(\.source).joined(separator: ", "))]\(kept)\(dropped))"
    }
}

extension PropertyTesting.GeneratedField {
    /// The field as Swift.
    var source: String {
        var parts = [SwiftLiteral.string(name), ".\(type)"]
        if isOptional { parts.append("isOptional: true") }
        if isKey { parts.append("isKey: true") }
        if isIndexed { parts.append("isIndexed: true") }
        if isUnique { parts.append("isUnique: true") }
        if let defaultValue { parts.append("defaultValue: \(SwiftLiteral.tagged(defaultValue))") }
        if !earlierNames.isEmpty {
            parts.append("earlierNames: [\(earlierNames.map(SwiftLiteral.string).joined(separator: ", "))]")
        }
        return ".init(\(parts.joined(separator: ", ")))"
    }
}

extension PropertyTesting.GeneratedMigration {
    /// The migration as Swift.
    fileprivate var source: String { ".init(to: \(version), [\(actions.map(\.source).joined(separator: ", "))])" }
}

extension PropertyTesting.GeneratedMigration.Action {
    /// The action as Swift.
    fileprivate var source: String {
        func text(_ name: String) -> String { SwiftLiteral.string(name) }
        switch self {
        case .changeType(let field, let entity, let old, let new):
            return ".changeType(of: \(text(field)), in: \(text(entity)), from: .\(old), to: .\(new))"
        case .renameField(let field, let entity, let name):
            return ".renameField(\(text(field)), of: \(text(entity)), to: \(text(name)))"
        case .addField(let field, let entity): return ".addField(\(field.source), to: \(text(entity)))"
        case .dropField(let field, let entity): return ".dropField(\(text(field)), of: \(text(entity)))"
        case .setIndex(let field, let entity, let isIndexed, let isUnique):
            return ".setIndex(on: \(text(field)), of: \(text(entity)), isIndexed: \(isIndexed), isUnique: \(isUnique))"
        case .changeKey(let entity, let field): return ".changeKey(of: \(text(entity)), to: \(text(field)))"
        case .dropEntity(let entity): return ".dropEntity(\(text(entity)))"
        case .renameEntity(let entity, let name): return ".renameEntity(\(text(entity)), to: \(text(name)))"
        case .set(let field, let entity, let value):
            return ".set(\(text(field)), of: \(text(entity)), to: \(SwiftLiteral.tagged(value)))"
        case .erase(let number, let entity): return ".erase(every: \(number), of: \(text(entity)))"
        case .fail: return ".fail"
        }
    }
}
