import DAOCore
import Foundation

/// The state that faulty databases with the same name share.
final class FaultyPlace: Sendable {
    /// Held by writers, and by readers when the fault makes them wait.
    let lock = NSRecursiveLock()
    /// The number of running writes.
    let writes = Atomic(0)
    let announcer = Announcer()
    /// Whether the last transaction failed.
    let hasFailed = Atomic(false)
    let undone = UndoneRows()
    private let kept = Lock<[any Database]>([])
    private let first = Lock<EngineState?>(nil)

    /// What a ``FaultyNetwork`` has disturbed.
    private let disturbed = Lock((isCut: false, hasLostAnswer: false))

    private static let places = Lock<[String: FaultyPlace]>([:])

    /// Returns the state for a name.
    static func of(_ name: String) -> FaultyPlace {
        places.withLock { places in
            let place = places[name] ?? FaultyPlace()
            places[name] = place
            return place
        }
    }

    /// The databases of the name that are kept open.
    var handles: [any Database] { kept.withLock { $0 } }

    func add(_ database: any Database, isKept: Bool) {
        if isKept { kept.withLock { $0.append(database) } }
    }

    func didCut() { disturbed.withLock { $0.isCut = true } }

    func didLoseAnswer() { disturbed.withLock { $0.hasLostAnswer = true } }

    /// Fails the first call after connections were cut.
    func noticeLoss() throws {
        let isCut = disturbed.withLock { state in
            defer { state.isCut = false }
            return state.isCut
        }
        if isCut { throw StorageError(.unreachable, "the connection was lost") }
    }

    /// Returns whether an answer was lost since the last time.
    func takeLostAnswer() -> Bool {
        disturbed.withLock { state in
            defer { state.hasLostAnswer = false }
            return state.hasLostAnswer
        }
    }

    /// The state of the first engine with the name.
    func firstState(or state: EngineState) -> EngineState {
        first.withLock { first in
            first = first ?? state
            return first ?? state
        }
    }
}

/// Rows that inner transactions stored before they failed. A log that is read again without its rollbacks has them.
final class UndoneRows: Sendable {
    typealias Rows = [(entity: String, key: Key, values: [Value])]
    private let rows = Lock<(pending: Rows, committed: Rows)>(([], []))

    /// Returns all rows, as the running transaction sees them.
    static func all(in database: any Database) throws -> Rows {
        try database.withEntityStore(.rows) { store in
            var rows: Rows = []
            for entity in try store.entities() {
                try store.forEachRow(of: entity.name, after: nil) { key, values in
                    rows.append((entity.name, key, values))
                    return true
                }
            }
            return rows
        }
    }

    /// Begins a transaction.
    func begin() { rows.withLock { $0.pending = [] } }

    /// Commits the transaction, and with it the rows of its failed inner transactions.
    func commit() { rows.withLock { $0 = ([], $0.committed + $0.pending) } }

    /// Adds the rows of a failed inner transaction.
    func add(_ written: Rows, without kept: Rows) {
        let keys = Dictionary(grouping: kept, by: \.entity).mapValues { Set($0.map(\.key)) }
        rows.withLock { $0.pending += written.filter { keys[$0.entity]?.contains($0.key) != true } }
    }

    /// Returns the rows of committed transactions, and forgets them.
    func take() -> Rows {
        rows.withLock { rows in
            defer { rows.committed = [] }
            return rows.committed
        }
    }
}

/// Announces commits to observations, in place of the working database.
final class Announcer: Sendable {
    let state = EngineState(name: "announcer")
    var hub: ObservationHub { state.observations }
    private let entities = Lock<Set<String>>([])
    private let reads = NSCondition()
    private let count = Atomic(0)

    /// Remembers an entity that a transaction writes.
    func add(_ entity: String) { entities.withLock { _ = $0.insert(entity) } }

    /// Forgets the remembered entities.
    func forget() { entities.withLock { $0 = [] } }

    /// Announces the remembered entities.
    func announce(onlyOne: Bool = false) {
        let noted = entities.withLock { $0.sorted() }
        forget()
        hub.didCommit(Set(onlyOne ? Array(noted.prefix(1)) : noted))
    }

    /// Announces the remembered entities, and gives the observations time to look.
    func announceAndWait() {
        let before = count.load(ordering: .sequentiallyConsistent)
        announce()
        guard hub.isObserved else { return }
        let deadline = Date(timeIntervalSinceNow: 0.05)
        reads.lock()
        defer { reads.unlock() }
        while count.load(ordering: .sequentiallyConsistent) == before, reads.wait(until: deadline) {}
    }

    /// Remembers a read.
    func didRead() {
        reads.lock()
        count.add(1, ordering: .sequentiallyConsistent)
        reads.broadcast()
        reads.unlock()
    }
}

extension Fault {
    /// Whether an ``Announcer`` announces the commits.
    var announcesItself: Bool {
        switch self {
        case .observersHearNothing, .observersHearTooEarly, .observersMissErasures, .observersHearOneEntity,
            .observersMissOtherHandles, .observersMissRunningTransactions, .observersOutliveDatabase, .partsNotifyNobody:
            true
        default: false
        }
    }
}
