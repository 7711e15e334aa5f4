import DAOConformance
import DAOCore
import DAOSQLite
import Foundation

/// A planted fault of a database that several processes share.
public enum SharingFault: String, CaseIterable, Sendable {
    /// Every process has a separate file.
    case sharesNothing
    /// A transaction runs as separate calls.
    case hasNoTransactions
    /// Observers are notified only of commits of the same process.
    case missesOtherCommits
    /// A writer does not wait for other processes, despite the configuration.
    case neverWaits
    /// A writer waits longer than the configuration says.
    case waitsTooLong
    /// Relationships that other processes declare are not detected.
    case missesOtherRelationships
    /// Reads that follow each other give the rows of the first.
    case readsOldSnapshots
    /// Writes go on after the file was moved or replaced.
    case writesToMovedFiles
    /// A backup replaces a file that another process has open.
    case replacesOpenBackups

    /// The conformance cases that must detect the fault.
    public var finders: Set<String> {
        switch self {
        case .sharesNothing: ["C.processesSeeCommits", "C.processesIncrement", "L.killed"]
        case .hasNoTransactions: ["C.processesSeeCommits", "C.processesIncrement", "L.killedHolding"]
        case .missesOtherCommits: ["O.otherProcess"]
        case .neverWaits, .waitsTooLong: ["C.processHoldsLock"]
        case .missesOtherRelationships: ["R.processDeclares", "R.processDeclaresInside", "R.processHoldsChild"]
        case .readsOldSnapshots: ["C.freshReads"]
        case .writesToMovedFiles: ["L.fileMoved", "L.fileRemoved", "L.fileReplaced"]
        case .replacesOpenBackups: ["L.backupOpenElsewhere"]
        }
    }
}

/// An SQLite database with a planted fault.
public final class BrokenSharing: Database {
    private let base: SQLiteDatabase
    private let fault: SharingFault
    private let ownState = EngineState(name: "broken")

    /// Opens the database of a configuration with a fault.
    public init(_ configuration: DatabaseConfiguration, _ fault: SharingFault) throws {
        var configuration = configuration
        switch fault {
        case .sharesNothing: configuration.path += "-\(getpid())"
        case .neverWaits: configuration.busyTimeout = .zero
        case .waitsTooLong: configuration.busyTimeout += .seconds(30)
        case .writesToMovedFiles:
            // Another name of the same file, which nobody moves.
            try SQLiteDatabase(configuration).close()
            let name = configuration.path + "-name"
            unlink(name)
            link(configuration.path, name)
            configuration.path = name
        default: break
        }
        base = try SQLiteDatabase(configuration)
        self.fault = fault
    }

    /// Returns a driver of databases with a fault.
    public static func driver(_ fault: SharingFault) -> DatabaseDriver {
        DatabaseDriver(scheme: "sqlite") { try BrokenSharing($0, fault) }
    }

    /// Delegates to the database without the fault.
    public var configuration: DatabaseConfiguration { base.configuration }
    /// Delegates to the database without the fault.
    public var capabilities: Capabilities { base.capabilities }
    /// Delegates to the database without the fault.
    public var engineState: EngineState { fault == .missesOtherCommits ? ownState : base.engineState }

    /// Delegates to the database without the fault.
    public func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        BrokenStorage(base: try base.makeStorage(for: model), owner: self, readsOldSnapshots: fault == .readsOldSnapshots)
    }

    /// Delegates to the database without the fault.
    public func makeLinks(for relation: RelationDescription) throws -> any LinkStorage { try base.makeLinks(for: relation) }

    /// Delegates to the database without the fault.
    public func catalogVersion() throws -> UInt64 { fault == .missesOtherRelationships ? 0 : try base.catalogVersion() }

    /// Delegates to the database without the fault.
    public func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        fault == .hasNoTransactions ? try body() : try base.transaction(body)
    }

    /// Delegates to the database without the fault.
    public func runBackup(to path: String, onProgress: (BackupProgress) throws -> Void) throws {
        if fault == .replacesOpenBackups { unlink(path) }
        try base.runBackup(to: path, onProgress: onProgress)
    }

    /// Delegates to the database without the fault.
    public func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result { try base.snapshot(body) }

    /// Delegates to the database without the fault.
    public func entities() throws -> [EntityDescription] { try base.entities() }

    /// Delegates to the database without the fault.
    public func close() throws { try base.close() }
}

/// A storage of a database with a fault.
private struct BrokenStorage<Record: Model>: Storage {
    let base: any Storage<Record>
    let owner: BrokenSharing
    let readsOldSnapshots: Bool
    private let last = LastRead<Record>()

    var database: any Database { owner }

    func read(_ query: Query<Record>) throws -> [Record] { try base.read(query) }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        if readsOldSnapshots, let last = last.rows.withLock({ $0 }), last.keys == keys, last.end > .now { return last.rows }
        let rows = try base.read(keys: keys, includesSubentities: includesSubentities)
        last.rows.withLock { $0 = (keys, rows, .now + .milliseconds(50)) }
        return rows
    }

    func insert(_ records: [Record]) throws {
        last.rows.withLock { $0 = nil }
        try base.insert(records)
    }
    func upsert(_ records: [Record]) throws {
        last.rows.withLock { $0 = nil }
        try base.upsert(records)
    }
    func erase(keys: [Key]) throws -> Int { try base.erase(keys: keys) }
}

/// The rows of the last read by keys, and until when they count.
private final class LastRead<Record: Model>: Sendable {
    let rows = Lock<(keys: [Key], rows: [Record], end: ContinuousClock.Instant)?>(nil)
}
