import Foundation
import Synchronization

@testable import DAOConformance
@testable import DAOCore

/// A working database with one planted fault.
final class FaultyDatabase: Database {
    let base: ArrayDatabase
    let fault: Fault
    private let name: String
    private let wasClosed = Atomic(false)
    private let hasFailedInside = Atomic(false)
    let everIndexed = Mutex<Set<String>>([])
    let place: FaultyPlace
    private let announcer: Announcer?

    init(_ location: ConformanceTarget.Location, _ fault: Fault) throws {
        name =
            switch fault {
            case .sharesNothing: location.name + UUID().uuidString
            case .sharesEverything: location.name.replacing("-other", with: "")
            default: location.name
            }
        self.fault = fault
        base = try ArrayDatabase(name, limits: fault.limits)
        place = FaultyPlace.of(name)
        announcer = fault.announcesItself ? (fault == .observersMissOtherHandles ? Announcer() : place.announcer) : nil
        place.add(base, isKept: fault == .closesEveryHandle)
    }

    static func target(_ fault: Fault) -> ConformanceTarget {
        ConformanceTarget(name: fault.rawValue) { try FaultyDatabase($0, fault) }
    }

    private static let openings = Atomic(0)

    var configuration: DatabaseConfiguration { base.configuration }
    var engineState: EngineState {
        fault == .observersMissReopening ? place.firstState(or: base.engineState) : announcer?.state ?? base.engineState
    }
    var isInside: Bool { base.engine.coordinator.isInside }

    var capabilities: Capabilities {
        var capabilities = base.capabilities
        switch fault {
        case .capabilitiesVary: capabilities.maximumValueLength = 1 << 40 + Self.openings.add(1, ordering: .relaxed).newValue
        case .keepsWhatIsForgotten: capabilities.isPersistent = false
        case .promisesEveryHandle: capabilities.underlyingTypes = [UnderlyingType(UnknownHandle.self)]
        default: break
        }
        return capabilities
    }

    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        try bringUpToDate(Record.schema)
        if fault == .opensEveryDeclaration { engineState.declarations.forget([Record.schema.description.name]) }
        if fault == .rowsOpenDeclarations, model is any UntypedModel.Type { try engineState.declarations.open(model, in: self) }
        return FaultyStorage(base: try base.makeStorage(for: model), owner: self)
    }

    func makeLinks(for relation: RelationDescription) throws -> any LinkStorage {
        if fault.isOfReferences { return try base.makeLinks(for: relation) }
        let database = try fault == .linksSurviveRollback ? ArrayDatabase(name + "-links") : base
        return FaultyLinks(base: try database.makeHiddenLinks(for: relation), fault: fault)
    }

    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        switch fault {
        case .noTransactions: return try body()
        case .losesSavepoints where isInside: return try body()
        case .refusesInner where isInside: throw StorageError(.unsupported, "no savepoints")
        case .innerFailureUndoesAll where isInside, .sharedCallsFailTogether where isInside:
            do {
                return try body()
            } catch {
                hasFailedInside.store(true, ordering: .relaxed)
                throw error
            }
        case .innerFailureUndoesAll, .sharedCallsFailTogether:
            return try base.transaction {
                hasFailedInside.store(false, ordering: .relaxed)
                let result = try body()
                if hasFailedInside.load(ordering: .relaxed) { throw StorageError(.invalidTransaction, "an inner one failed") }
                return result
            }
        case .forgetsRollback, .conflictsCommit:
            var failure: (any Error)?
            let result: Result? = try base.transaction {
                do {
                    return try body()
                } catch {
                    guard fault == .forgetsRollback || (error as? StorageError)?.kind == .conflict else { throw error }
                    failure = error
                    return nil
                }
            }
            if let result { return result }
            throw failure ?? StorageError(.io, "no result")
        case .undoneWritesReturn where isInside:
            var written: [String: ArrayTable] = [:]
            do {
                return try base.transaction {
                    defer { written = (try? base.read(\.tables)) ?? [:] }
                    return try body()
                }
            } catch {
                let kept = try base.read(\.tables)
                place.undone.add(written.mapValues(\.rows), without: kept.mapValues(\.rows))
                throw error
            }
        case .undoneWritesReturn:
            place.undone.begin()
            let result = try base.transaction(body)
            place.undone.commit()
            return result
        case .wrapsBodyErrors:
            do {
                return try base.transaction(body)
            } catch {
                throw StorageError(.io, "\(error)")
            }
        case .waitsInCircle:
            do {
                return try base.transaction(body)
            } catch let error as StorageError where error.kind == .busy {
                Thread.sleep(forTimeInterval: 2)
                throw error
            }
        case .readersWait:
            place.lock.lock()
            defer { place.lock.unlock() }
            return try base.transaction(body)
        case .runsBodyTwice:
            return try base.transaction {
                _ = try? base.transaction(body)
                return try body()
            }
        case .runsBodyElsewhere: return try elsewhere { try base.transaction(body) }
        case .observersMayWrite where isInside && !AmbientTransaction.isWriting:
            return try elsewhere { try base.transaction(body) }
        default:
            guard let announcer, !isInside else { return try base.transaction(body) }
            defer { announcer.forget() }
            let result = try base.transaction(body)
            announcer.announce(onlyOne: fault == .observersHearOneEntity)
            return result
        }
    }

    /// Remembers a write, for the observations.
    func didWrite(_ entity: String, isErasure: Bool = false) {
        guard let announcer, fault != .observersHearNothing, !(isErasure && fault == .observersMissErasures) else { return }
        announcer.add(entity)
        switch fault {
        case .observersHearTooEarly: announcer.announceAndWait()
        default: if !isInside { announcer.announce() }
        }
    }

    /// Remembers a read.
    func didRead() { announcer?.didRead() }

    func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        fault == .snapshotIsLive ? try body() : try base.snapshot(body)
    }

    func entities() throws -> [EntityDescription] {
        var entities = try base.entities()
        if fault == .forgetsEntities { entities = Array(entities.dropLast()) }
        if fault == .forgetsTargetErasures {
            for entity in entities.indices {
                for field in entities[entity].fields.indices { entities[entity].fields[field].relation?.targetErasure = .unlink }
            }
        }
        if fault == .forgetsLongIndexes { for entity in entities.indices { entities[entity].indexes = [] } }
        if fault == .forgetsIndexes {
            for entity in entities.indices {
                for field in entities[entity].fields.indices { entities[entity].fields[field].isIndexed = false }
            }
        }
        if fault == .keepsOldIndexes {
            everIndexed.withLock { ever in
                for entity in entities.indices {
                    for field in entities[entity].fields.indices {
                        let name = entities[entity].name + "." + entities[entity].fields[field].name
                        if entities[entity].fields[field].isIndexed { ever.insert(name) }
                        entities[entity].fields[field].isIndexed = ever.contains(name)
                    }
                }
            }
        }
        return entities
    }

    func runCompaction() throws -> CompactionReport {
        if fault == .compactionLosesARow { loseLastRows() }
        return try base.runCompaction()
    }

    func runSuspension() throws {
        if fault == .suspensionCloses { try base.close() }
        try base.runSuspension()
    }

    private func loseLastRows() {
        base.engine.committed.tables.withLock { tables in
            for name in tables.keys where tables[name]?.rows.isEmpty == false { tables[name]?.rows.removeLast() }
        }
    }

    func close() throws {
        switch fault {
        case .forgetsClose: break
        case .closesInside where isInside: break
        case .closeDoesNotWait:
            let base = base
            Thread { try? base.close() }.start()
        case .closesEveryHandle:
            for handle in place.handles { try handle.close() }
        case .closeTwiceThrows:
            if wasClosed.exchange(true, ordering: .relaxed) { throw StorageError(.closed, "closed already") }
            try base.close()
        case .losesLastRowOnClose:
            loseLastRows()
            try base.close()
        case .undoneWritesReturn:
            base.engine.committed.tables.withLock { tables in
                for (name, row) in place.undone.take() {
                    guard let position = tables[name]?.position(of: row.key), !position.isThere else { continue }
                    tables[name]?.rows.insert(row, at: position.index)
                }
            }
            try base.close()
        default:
            try base.close()
            if fault != .observersOutliveDatabase { announcer?.hub.wakeAll() }
        }
    }
}

/// Runs a closure on another thread, where no transaction is ambient, and waits for it.
func elsewhere<Result>(_ body: () throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    withoutActuallyEscaping(body) { body in
        let work = Work()
        work.run = { result = Swift.Result { try body() } }
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            work.run()
            work.run = {}
            done.signal()
        }
        thread.stackSize = 8 << 20
        thread.start()
        done.wait()
    }
    guard let result else { throw StorageError(.io, "the thread did not run") }
    return try result.get()
}

/// Sendable because the thread that creates it waits until the other thread has finished.
private final class Work: @unchecked Sendable {
    var run: () -> Void = {}
}
