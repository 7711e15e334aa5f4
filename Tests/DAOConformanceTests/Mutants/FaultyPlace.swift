import DAOCore
import Foundation
import Synchronization

/// What faulty databases of one name have in common.
final class FaultyPlace: Sendable {
    /// Held by writers, and by readers that should not wait for them.
    let lock = NSRecursiveLock()
    /// How many writes are running.
    let writes = Atomic(0)
    let announcer = Announcer()
    private let kept = Mutex<[ArrayDatabase]>([])
    private let first = Mutex<EngineState?>(nil)

    private static let places = Mutex<[String: FaultyPlace]>([:])

    /// The place of a name.
    static func of(_ name: String) -> FaultyPlace {
        places.withLock { places in
            let place = places[name] ?? FaultyPlace()
            places[name] = place
            return place
        }
    }

    /// Every database of the name that is kept.
    var handles: [ArrayDatabase] { kept.withLock { $0 } }

    func add(_ database: ArrayDatabase, isKept: Bool) {
        if isKept { kept.withLock { $0.append(database) } }
    }

    /// The state of the first engine of the name.
    func firstState(or state: EngineState) -> EngineState {
        first.withLock { first in
            first = first ?? state
            return first ?? state
        }
    }
}

/// Tells those who observe of commits, in the working database's stead.
final class Announcer: Sendable {
    let state = EngineState(name: "announcer")
    var hub: ObservationHub { state.observations }
    private let entities = Mutex<Set<String>>([])
    private let reads = NSCondition()
    private let count = Atomic(0)

    /// Takes note of an entity that a transaction writes.
    func add(_ entity: String) { entities.withLock { _ = $0.insert(entity) } }

    /// Forgets what was noted.
    func forget() { entities.withLock { $0 = [] } }

    /// Announces what was noted.
    func announce(onlyOne: Bool = false) {
        let noted = entities.withLock { $0.sorted() }
        forget()
        hub.didCommit(Set(onlyOne ? Array(noted.prefix(1)) : noted))
    }

    /// Announces what was noted, and gives those who listen the time to look.
    func announceAndWait() {
        let before = count.load(ordering: .sequentiallyConsistent)
        announce()
        guard hub.isObserved else { return }
        let deadline = Date(timeIntervalSinceNow: 0.05)
        reads.lock()
        defer { reads.unlock() }
        while count.load(ordering: .sequentiallyConsistent) == before, reads.wait(until: deadline) {}
    }

    /// Takes note of a read.
    func didRead() {
        reads.lock()
        count.add(1, ordering: .sequentiallyConsistent)
        reads.broadcast()
        reads.unlock()
    }
}

extension Fault {
    /// Whether commits are announced by an ``Announcer``.
    var announcesItself: Bool {
        switch self {
        case .observersHearNothing, .observersHearTooEarly, .observersMissErasures, .observersHearOneEntity,
            .observersMissOtherHandles, .observersOutliveDatabase:
            true
        default: false
        }
    }
}
