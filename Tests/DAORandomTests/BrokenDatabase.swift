import DAOCore
import Foundation
import Synchronization

/// A good database with one fault put in front of it.
final class BrokenDatabase: Database {
    private let base: any Database
    private let fault: Fault
    /// How many transactions are around the running code; a script has one writing thread.
    private let depth = Mutex(0)

    init(_ base: any Database, _ fault: Fault) {
        self.base = base
        self.fault = fault
    }

    var configuration: DatabaseConfiguration { base.configuration }
    var capabilities: Capabilities { base.capabilities }
    var executor: DatabaseExecutor { base.executor }
    var observations: ObservationHub { base.observations }
    func entities() throws -> [EntityDescription] { try base.entities() }
    func close() throws { if fault != .neverCloses { try base.close() } }

    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        BrokenStorage(base: try base.makeStorage(for: model), database: self, fault: fault)
    }

    func makeLinks(for relation: RelationDescription) throws -> any LinkStorage {
        BrokenLinks(base: try base.makeLinks(for: relation), fault: fault)
    }

    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        let level = depth.withLock { depth in
            depth += 1
            return depth
        }
        defer { depth.withLock { $0 -= 1 } }
        guard fault == .rollbackLost || (fault == .savepointLost && level > 1) else { return try base.transaction(body) }
        return try base.transaction { Swift.Result { try body() } }.get()
    }

    func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        fault == .snapshotIsLive ? try body() : try base.snapshot(body)
    }
}
