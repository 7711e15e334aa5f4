import DAOConformance
import DAOCore
import DAOSQLite
import Foundation

/// One thing that a database which several processes share gets wrong.
public enum SharingFault: String, CaseIterable, Sendable {
    /// Every process has a file of its own.
    case sharesNothing
    /// What should be a transaction is none.
    case hasNoTransactions
    /// Observers learn of the process's own commits only.
    case isDeafToOthers
    /// It does not wait for other processes, whatever is configured.
    case neverWaits
    /// It waits longer than is configured.
    case waitsTooLong
    /// It does not learn of relationships that other processes declare.
    case isDeafToRelations

    /// The cases that have to find it.
    public var finders: Set<String> {
        switch self {
        case .sharesNothing: ["C.peersSee", "C.peersCount", "L.killed"]
        case .hasNoTransactions: ["C.peersSee", "C.peersCount", "L.killedHolding"]
        case .isDeafToOthers: ["O.peer"]
        case .neverWaits, .waitsTooLong: ["C.peerHolds"]
        case .isDeafToRelations: ["R.peerDeclares", "R.peerDeclaresInside", "R.peerHoldsChild"]
        }
    }
}

/// An SQLite database with one fault.
public final class BrokenSharing: Database {
    private let base: SQLiteDatabase
    private let fault: SharingFault
    private let ownState = EngineState(name: "broken")

    /// Opens the database of a configuration, faultily.
    public init(_ configuration: DatabaseConfiguration, _ fault: SharingFault) throws {
        var configuration = configuration
        switch fault {
        case .sharesNothing: configuration.path += "-\(getpid())"
        case .neverWaits: configuration.busyTimeout = .zero
        case .waitsTooLong: configuration.busyTimeout += .seconds(30)
        default: break
        }
        base = try SQLiteDatabase(configuration)
        self.fault = fault
    }

    /// Opens databases with a fault.
    public static func driver(_ fault: SharingFault) -> DatabaseDriver {
        DatabaseDriver(scheme: "sqlite") { try BrokenSharing($0, fault) }
    }

    /// As of a good database, but for the fault.
    public var configuration: DatabaseConfiguration { base.configuration }
    /// As of a good database, but for the fault.
    public var capabilities: Capabilities { base.capabilities }
    /// As of a good database, but for the fault.
    public var engineState: EngineState { fault == .isDeafToOthers ? ownState : base.engineState }

    /// As of a good database, but for the fault.
    public func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        BrokenStorage(base: try base.makeStorage(for: model), owner: self)
    }

    /// As of a good database, but for the fault.
    public func makeLinks(for relation: RelationDescription) throws -> any LinkStorage { try base.makeLinks(for: relation) }

    /// As of a good database, but for the fault.
    public func catalogVersion() throws -> UInt64? { fault == .isDeafToRelations ? nil : try base.catalogVersion() }

    /// As of a good database, but for the fault.
    public func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        fault == .hasNoTransactions ? try body() : try base.transaction(body)
    }

    /// As of a good database, but for the fault.
    public func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result { try base.snapshot(body) }

    /// As of a good database, but for the fault.
    public func entities() throws -> [EntityDescription] { try base.entities() }

    /// As of a good database, but for the fault.
    public func close() throws { try base.close() }
}

/// A storage that belongs to a broken database.
private struct BrokenStorage<Record: Model>: Storage {
    let base: any Storage<Record>
    let owner: BrokenSharing

    var database: any Database { owner }

    func read(_ query: Query<Record>) throws -> [Record] { try base.read(query) }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        try base.read(keys: keys, includesSubentities: includesSubentities)
    }

    func insert(_ records: [Record]) throws { try base.insert(records) }
    func upsert(_ records: [Record]) throws { try base.upsert(records) }
    func erase(keys: [Key]) throws -> Int { try base.erase(keys: keys) }
}
