import DAOCore
import DAOTestSupport

/// A row with a list of rows and a Reference, all of whose changes are logged with values.
public struct Crate: Plain, Model, Equatable {
    var id: Int
    var parcels: [Parcel]?
    var porter: Reference<Porter>?

    /// The declaration of the model.
    public static let schema = Schema(
        "crate", Self.init,
        Field("id", \.id, .primaryKey), Field("parcels", \.parcels, .cascade), Field("porter", \.porter)
    ).logged(values: true)
}

/// A row of a list, with a unique field.
public struct Parcel: Plain, Model, Equatable {
    var id: Int
    var rank: Int
    var note: String?

    /// The declaration of the model.
    public static let schema = Schema(
        "parcel", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank, .unique), Field("note", \.note)
    ).logged(values: true)
}

/// A row that others refer to.
public struct Porter: Plain, Model, Equatable {
    var id: Int
    var name: String

    /// The declaration of the model.
    public static let schema = Schema(
        "porter", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name)
    ).logged(values: true)
}

/// A database of rows that several processes change, and whose log others follow.
public struct Depot: Sendable {
    /// The database.
    public let database: any Database
    private let crates: DAO<Crate>
    private let parcels: DAO<Parcel>
    private let porters: DAO<Porter>

    /// Opens the database, and creates it when it is missing.
    public init(_ url: String) throws {
        database = try drivers.open(url)
        porters = DAO(storage: try database.storage(for: Porter.self))
        parcels = DAO(storage: try database.storage(for: Parcel.self))
        crates = DAO(storage: try database.storage(for: Crate.self))
    }

    /// All rows with what they lead to.
    public struct Content: Equatable {
        let crates: [Crate]
        let parcels: [Parcel]
        let porters: [Porter]
        /// The number of rows.
        public var count: Int { crates.count + parcels.count + porters.count }
    }

    /// Returns all rows, of one state.
    public func content() throws -> Content {
        try database.snapshot {
            Content(crates: try crates.read(), parcels: try parcels.read(), porters: try porters.read())
        }
    }

    private struct Undone: Error {}

    /// Makes a call that the generator chooses. What a rule of the database refuses changes nothing.
    package func act(_ random: inout SeededGenerator) throws {
        do {
            if Int.random(in: 0..<5, using: &random) > 0 { return try call(&random) }
            try database.transaction {
                try call(&random)
                let isUndone = Bool.random(using: &random)
                do {
                    try database.transaction {
                        try call(&random)
                        if isUndone { throw Undone() }
                    }
                } catch is Undone {}
                try call(&random)
            }
        } catch let error as StorageError {
            switch error.kind {
            case .uniqueViolation, .referenceViolation, .duplicateKey, .notFound: break
            default: throw error
            }
        }
    }

    private func parcel(_ random: inout SeededGenerator) -> Parcel {
        Parcel(
            id: .random(in: 0..<90, using: &random), rank: .random(in: 0..<400, using: &random),
            note: Bool.random(using: &random) ? "\(Int.random(in: 0..<9, using: &random))" : nil)
    }

    private func call(_ random: inout SeededGenerator) throws {
        let id = Int.random(in: 0..<30, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2:
            let porter = Int.random(in: 0..<9, using: &random)
            let count = Int.random(in: 0...3, using: &random)
            let inside = (0..<count).map { _ in parcel(&random) }
            try crates.persist(
                Crate(id: id, parcels: inside, porter: porters.exists(byPrimaryKey: porter) ? Reference(porter) : nil))
        case 3: try crates.erase(byPrimaryKey: id)
        case 4, 5: try parcels.persist(parcel(&random))
        case 6: try parcels.erase(byPrimaryKey: id * 3)
        case 7: try parcels.set(\.note, to: "set \(id)", where: Condition { $0.id > id * 2 && $0.id < id * 2 + 20 })
        case 8: try parcels.update(where: Condition { $0.rank < id }) { $0.rank += 400 }
        case 9: try parcels.erase(where: Condition { $0.rank > 390 })
        case 10: try porters.persist(Porter(id: id % 9, name: "porter \(Int.random(in: 0..<99, using: &random))"))
        default: try porters.erase(byPrimaryKey: id % 9)
        }
    }
}
