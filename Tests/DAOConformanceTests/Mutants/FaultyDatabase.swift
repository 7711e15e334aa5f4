import DAOCore
import Foundation

@testable import DAOConformance
@testable import DAOCore

/// A working database with one planted fault.
class FaultyDatabase: Database, @unchecked Sendable {
    // Sendable because all properties are constants of Sendable types, and the subclass has none.

    let base: any Database
    let fault: Fault
    private let location: ConformanceTarget.Location
    private let wasClosed = Atomic(false)
    private let hasFailedInside = Atomic(false)
    let everIndexed = Lock<Set<String>>([])
    let place: FaultyPlace
    private let announcer: Announcer?
    private let made = Atomic(0)

    convenience init(_ location: ConformanceTarget.Location, _ fault: Fault) throws {
        let home: ConformanceTarget.Location =
            switch fault {
            case .sharesNothing: try location.appending(UUID().uuidString.lowercased())
            case .sharesEverything where location.name.hasSuffix("-other"):
                ConformanceTarget.Location(
                    name: location.name.replacing("-other", with: ""), directory: location.directory.deletingLastPathComponent())
            case .tenantsAreMixed where location.name.hasSuffix("-tenant-3"):
                ConformanceTarget.Location(
                    name: location.name.replacing("-tenant-3", with: "-tenant-2"),
                    directory: location.directory.deletingLastPathComponent().appendingPathComponent("tenant-2"))
            default: location
            }
        try self.init(home, fault, on: FaultyBase.of(fault).open(home))
    }

    /// Wraps a working database.
    init(_ location: ConformanceTarget.Location, _ fault: Fault, on base: any Database) throws {
        self.location = location
        self.fault = fault
        self.base = base
        place = FaultyPlace.of(location.name)
        announcer = fault.announcesItself ? (fault == .observersMissOtherHandles ? Announcer() : place.announcer) : nil
        place.add(base, isKept: fault == .closesEveryHandle)
    }

    static func target(_ fault: Fault) -> ConformanceTarget {
        if fault.isOfFiles { return FaultyFile.target(fault) }
        let base = FaultyBase.of(fault)
        var target = ConformanceTarget(name: fault.rawValue) {
            try fault == .translatesOutside || fault == .dropsContendedWrites || fault.chapter == .search
                ? UnaskedDatabase($0, fault) : FaultyDatabase($0, fault)
        }
        if fault.chapter != .servers { return target }
        if let start = base.startProcess { target = target.withProcesses(start) }
        guard let make = base.makeNetwork else { return target }
        return target.withNetwork { FaultyNetwork(base: try make($0), fault, at: $0) }
    }

    private static let openings = Atomic(0)

    var configuration: DatabaseConfiguration { base.configuration }
    /// The state of no engine.
    private let stranger = EngineState(name: "stranger")
    var engineState: EngineState {
        if fault == .transactionsSpanTenants { return stranger }
        return fault == .observersMissReopening ? place.firstState(or: base.engineState) : announcer?.state ?? base.engineState
    }
    var isInside: Bool { AmbientTransaction.isInside(base.engineState) }

    var capabilities: Capabilities {
        var capabilities = base.capabilities
        switch fault {
        case .capabilitiesVary: capabilities.maximumValueLength = 1 << 40 + Self.openings.add(1, ordering: .relaxed).newValue
        case .keepsWhatIsForgotten: capabilities.isPersistent = false
        case .writersSideBySide: capabilities.hasConcurrentWriters = false
        case .promisesEveryHandle: capabilities.underlyingTypes = [UnderlyingType(UnknownHandle.self)]
        default: break
        }
        return capabilities
    }

    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        try bringUpToDate(Record.schema)
        made.add(1, ordering: .relaxed)
        if fault == .opensEveryDeclaration { engineState.declarations.forget([Record.schema.description.name]) }
        if fault == .rowsOpenDeclarations, model is any UntypedModel.Type { try engineState.declarations.open(model, in: self) }
        return FaultyStorage(base: try base.makeStorage(for: model), owner: self)
    }

    func makeLinks(for relation: RelationDescription) throws -> any LinkStorage {
        if fault.isOfReferences { return try base.makeLinks(for: relation) }
        // What evaluates conditions on models needs links beside the rows. Elsewhere, another database has its own.
        if FaultyBase.isChosen, fault.chapter != .predicates, fault.chapter != .queries, fault != .linksSurviveRollback {
            return FaultyLinks(base: try base.makeLinks(for: relation), fault: fault)
        }
        let database = try fault == .linksSurviveRollback ? FaultyBase.of(fault).open(location.appending("links")) : base
        var links = FaultyLinks(base: try database.makeHiddenLinks(for: relation), fault: fault)
        if fault == .cascadesSpareWhatListsHold, relation.isToOne, relation.targetErasure == .cascade {
            links.held = { keys in
                let entities = try database.entities()
                let lists = entities.flatMap { $0.relations(among: entities) }.filter {
                    !$0.isToOne && $0.target == relation.entity
                }
                return try Set(lists.flatMap { try database.makeHiddenLinks(for: $0).linked(among: keys) })
            }
        }
        return links
    }

    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        switch fault {
        case .noTransactions, .lostWritesStay: return try body()
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
            var written: UndoneRows.Rows = []
            do {
                return try base.transaction {
                    defer { written = (try? UndoneRows.all(in: base)) ?? [] }
                    return try body()
                }
            } catch {
                place.undone.add(written, without: try UndoneRows.all(in: base))
                throw error
            }
        case .undoneWritesReturn:
            place.undone.begin()
            let result = try base.transaction(body)
            place.undone.commit()
            return result
        case .failuresLoseTheNextWrite where !isInside:
            do {
                if !place.hasFailed.exchange(false, ordering: .relaxed) { return try base.transaction(body) }
                // It is undone like the one before it.
                var result: Result?
                do {
                    try base.transaction {
                        result = try body()
                        throw DeliberateError()
                    }
                } catch is DeliberateError where result != nil {}
                if let result { return result }
                throw StorageError(.io, "no result")
            } catch {
                place.hasFailed.store(true, ordering: .relaxed)
                throw error
            }
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
        case .observersMayWrite where isInside && !AmbientTransaction.isWriting, .ignoresCancellation where !isInside:
            return try elsewhere { try base.transaction(body) }
        case .idleLossShows where !isInside:
            try place.noticeLoss()
            return try base.transaction(body)
        case .lostBodiesRunAgain where !isInside, .conflictsRunAgain where !isInside:
            do {
                return try base.transaction(body)
            } catch let error as StorageError where error.kind == .unreachable || error.kind == .conflict {
                return try base.transaction(body)
            }
        case .lostCommitsCount where !isInside:
            var result: Result?
            do {
                return try base.transaction {
                    let value = try body()
                    result = value
                    return value
                }
            } catch let error as StorageError where error.kind == .unreachable {
                if let result { return result }
                throw error
            }
        case .lostAnswersFail where !isInside:
            let result = try base.transaction(body)
            if place.takeLostAnswer() { throw StorageError(.unreachable, "the connection was lost during a commit") }
            return result
        case .unknownIsUnreachable where !isInside:
            do {
                return try base.transaction(body)
            } catch let error as StorageError where error.kind == .outcomeUnknown {
                throw StorageError(.unreachable, error.message)
            }
        case .waitsOnAndOn where !isInside:
            do {
                return try base.transaction(body)
            } catch let error as StorageError where error.kind == .unreachable {
                Thread.sleep(forTimeInterval: 10)
                throw error
            }
        default:
            guard let announcer, !isInside else { return try base.transaction(body) }
            defer { announcer.forget() }
            let isHeard = announcer.hub.isObserved || fault != .observersMissRunningTransactions
            let result = try base.transaction(body)
            guard isHeard else { return result }
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
        fault == .snapshotIsLive || fault == .snapshotsMoveOn ? try body() : try base.snapshot(body)
    }

    func runReads<Result>(_ body: () throws -> Result) throws -> Result {
        fault == .snapshotIsLive || fault == .snapshotsMoveOn ? try body() : try base.runReads(body)
    }

    func entities() throws -> [EntityDescription] {
        if fault == .lossLooksLikeDamage {
            do {
                try place.noticeLoss()
            } catch let error as StorageError {
                throw StorageError(.corrupted, error.message)
            }
        }
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

    func catalogVersion() throws -> UInt64 {
        switch fault {
        case .remembersRelations: 0
        // As a database that counts what it makes, and not what comes by a migration or a copy.
        case .forgetsNewRelations: UInt64(made.load(ordering: .relaxed))
        default: try base.catalogVersion()
        }
    }

    func runCompaction() throws -> CompactionReport {
        if fault == .compactionLosesARow { try base.loseLastRows() }
        return try base.runCompaction()
    }

    func runSuspension() throws {
        if fault == .suspensionCloses { try base.close() }
        try base.runSuspension()
    }

    func runUnderlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities, _ body: (Handle) throws -> Result
    ) throws -> Result {
        try base.runUnderlying(as: type, touching: entities, body)
    }

    func outcome(of commitToken: String) throws -> CommitOutcome {
        let outcome = try base.outcome(of: commitToken)
        if fault != .outcomesAreReversed { return outcome }
        return outcome == .committed ? .rolledBack : .committed
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
            try? base.loseLastRows()
            try base.close()
        case .undoneWritesReturn:
            try? base.withEntityStore(.write) { store in
                for (entity, key, values) in place.undone.take() where try !store.missing([key], from: entity).isEmpty {
                    try store.store([values], in: entity, replaces: false)
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

extension Database {
    /// Erases the last row of every entity.
    func loseLastRows() throws {
        try withEntityStore(.write) { store in
            for entity in try store.entities() {
                var last: Key?
                try store.forEachRow(of: entity.name, after: nil) { key, _ in
                    last = key
                    return true
                }
                if let last { try store.erase([last], from: entity.name) }
            }
        }
    }
}

/// A database that is not asked before each write whether rows are logged: it would be asked in a transaction around the write, which
/// hides faults of single calls. It has indexes for searches.
private final class UnaskedDatabase: FaultyDatabase, LogAwareDatabase, @unchecked Sendable {}
