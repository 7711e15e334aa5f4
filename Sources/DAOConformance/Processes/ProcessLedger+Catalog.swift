import DAOCore

/// A change of the catalog that a case lets any process make, when no model of the entities is open in that one.
enum CatalogChange: String, Sendable {
    /// Badges and passes are declared, and one of each is stored.
    case declare
    /// They no longer refer to people.
    case dropField
    /// They are gone.
    case dropEntity
    /// They have other names.
    case rename
    /// What the erasure of a person means for them is another thing.
    case loosen
    /// A number of a gauge has become a text.
    case retype

    /// Makes the change as a migration does, or by asking for storages.
    func run(_ database: any Database) throws {
        guard self != .declare else {
            try database.dao(Badge.self).create(Badge(id: 1, holder: Reference(1)))
            try database.dao(Pass.self).create(Pass(id: 2, holder: Reference(2)))
            return
        }
        try database.evolve(Evolution(version: 1, migrations: [Migration(to: 1, perform: step)], models: models))
    }

    /// The models whose declarations are changed.
    private var models: [any Model.Type] { self == .loosen ? [LooseBadge.self, LoosePass.self] : [] }

    @Sendable private func step(_ step: MigrationStep) throws {
        switch self {
        case .declare, .loosen: break
        case .dropField: for entity in ["badge", "pass"] { try step.dropField("holder", of: entity) }
        case .dropEntity: for entity in ["badge", "pass"] { try step.dropEntity(entity) }
        case .rename:
            try step.renameEntity("badge", to: "medal")
            try step.renameEntity("pass", to: "permit")
        case .retype: try step.changeType(of: "number", in: "gauge", to: FieldType(.string))
        }
    }
}

extension ProcessLedger {
    /// Changes the catalog.
    func change(_ change: CatalogChange) throws -> String {
        try change.run(database)
        return "done"
    }
}

/// What keeps its holder from being erased.
struct Badge: Plain, Model, Equatable {
    var id: Int
    var holder: Reference<Person>?
    static let schema = Schema("badge", Self.init, Field("id", \.id, .primaryKey), Field("holder", \.holder, .restricted))
}

/// What is erased with its holder.
struct Pass: Plain, Model, Equatable {
    var id: Int
    var holder: Reference<Person>?
    static let schema = Schema("pass", Self.init, Field("id", \.id, .primaryKey), Field("holder", \.holder, .cascade))
}

/// A badge that loses its holder.
private struct LooseBadge: Plain, Model {
    var id: Int
    var holder: Reference<Person>?
    static let schema = Schema("badge", Self.init, Field("id", \.id, .primaryKey), Field("holder", \.holder))
}

/// A pass that loses its holder.
private struct LoosePass: Plain, Model {
    var id: Int
    var holder: Reference<Person>?
    static let schema = Schema("pass", Self.init, Field("id", \.id, .primaryKey), Field("holder", \.holder))
}
