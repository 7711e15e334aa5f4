import DAOCore
import Foundation
import Synchronization

/// The state that faulty databases with the same name share.
final class FaultyPlace: Sendable {
    /// Held by writers, and by readers when the fault makes them wait.
    let lock = NSRecursiveLock()
    /// The number of running writes.
    let writes = Atomic(0)
    let announcer = Announcer()
    private let kept = Mutex<[ArrayDatabase]>([])
    private let first = Mutex<EngineState?>(nil)

    private static let places = Mutex<[String: FaultyPlace]>([:])

    /// Returns the state for a name.
    static func of(_ name: String) -> FaultyPlace {
        places.withLock { places in
            let place = places[name] ?? FaultyPlace()
            places[name] = place
            return place
        }
    }

    /// The databases of the name that are kept open.
    var handles: [ArrayDatabase] { kept.withLock { $0 } }

    func add(_ database: ArrayDatabase, isKept: Bool) {
        if isKept { kept.withLock { $0.append(database) } }
    }

    /// The state of the first engine with the name.
    func firstState(or state: EngineState) -> EngineState {
        first.withLock { first in
            first = first ?? state
            return first ?? state
        }
    }
}

/// Announces commits to observations, in place of the working database.
final class Announcer: Sendable {
    let state = EngineState(name: "announcer")
    var hub: ObservationHub { state.observations }
    private let entities = Mutex<Set<String>>([])
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
            .observersMissOtherHandles, .observersOutliveDatabase, .partsNotifyNobody:
            true
        default: false
        }
    }
}
