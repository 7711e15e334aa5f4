import Foundation

/// The engines that are open in this process. Databases with the same identity share an engine (contract C3).
///
/// An identity is the ``FileIdentity`` of a file, or a name.
public final class SharedInstances<Identity: Hashable & Sendable, Instance: AnyObject & Sendable>: Sendable {
    private enum Entry: Sendable {
        case open(Instance, users: Int)
        /// One thread opens or closes the instance, or sees to it that nobody does; these threads wait for it.
        case taken(waiting: [DispatchSemaphore])
    }

    private enum Found: Sendable {
        case instance(Instance)
        case failed
        /// The calling thread has taken the identity. ``leave(_:_:)`` must follow.
        case nothing
        case taken(DispatchSemaphore)
    }

    private let entries = Lock<[Identity: Entry]>([:])

    /// Creates an empty registry.
    public init() {}

    /// How long an opener waits for the end of a failed instance: a database that was dropped ends with the last call that holds it,
    /// perhaps a moment later and on another thread.
    private static var patience: Duration { .seconds(1) }

    /// Returns the instance with an identity, or opens it. ``release(_:close:)`` must follow.
    ///
    /// Who opens the same instance meanwhile waits for the end of that. Nobody waits for the opening of another instance.
    ///
    /// - Parameters:
    ///   - identity: The identity of the instance, such as the ``FileIdentity`` of a file.
    ///   - isFailed: Whether every call of an instance fails until it is opened anew. Its end is then waited for, for a second; while
    ///     another database keeps it open, that is the instance.
    ///   - open: A closure that opens the instance. It must not use this identity of the registry.
    public func acquire(
        _ identity: Identity, isFailed: (Instance) -> Bool = { _ in false }, open: () throws -> Instance
    ) throws -> Instance {
        var deadline: ContinuousClock.Instant?
        while true {
            let found = find(identity) { isFailed($0) && deadline.map { $0 > .now } ?? true }
            switch found {
            case .instance(let instance): return instance
            case .taken(let end): end.wait()
            case .failed:
                deadline = deadline ?? .now + Self.patience
                usleep(2000)
            case .nothing:
                do {
                    let instance = try open()
                    leave(identity, .open(instance, users: 1))
                    return instance
                } catch {
                    leave(identity, nil)
                    throw error
                }
            }
        }
    }

    /// Whether an instance with an identity is open.
    public func contains(_ identity: Identity) -> Bool { unlessOpen(identity) {} == nil }

    /// Runs a closure unless an instance with an identity is open. Nobody opens it meanwhile; the closure must not use this identity
    /// of the registry.
    ///
    /// - Returns: The result of the closure; nil when an instance is open.
    public func unlessOpen<Result>(_ identity: Identity, _ body: () throws -> Result) rethrows -> Result? {
        while true {
            // An instance that is open is not used.
            switch find(identity, { _ in true }) {
            case .instance, .failed: return nil
            case .taken(let end): end.wait()
            case .nothing:
                defer { leave(identity, nil) }
                return try body()
            }
        }
    }

    /// Releases one use of an instance.
    ///
    /// - Parameters:
    ///   - identity: The identity that the instance was acquired with.
    ///   - close: A closure that closes the instance after its last use. It must not use this identity of the registry.
    public func release(_ identity: Identity, close: (Instance) -> Void) {
        let last: Instance? = entries.withLock { entries in
            guard case .open(let instance, let users) = entries[identity] else { return nil }
            entries[identity] = users > 1 ? .open(instance, users: users - 1) : .taken(waiting: [])
            return users > 1 ? nil : instance
        }
        guard let last else { return }
        close(last)
        leave(identity, nil)
    }

    /// Returns a further use of the instance with an identity, or takes the identity.
    private func find(_ identity: Identity, _ isFailed: (Instance) -> Bool) -> Found {
        entries.withLock { entries in
            switch entries[identity] {
            case .open(let instance, let users):
                if isFailed(instance) { return .failed }
                entries[identity] = .open(instance, users: users + 1)
                return .instance(instance)
            case .taken(let waiting):
                let end = DispatchSemaphore(value: 0)
                entries[identity] = .taken(waiting: waiting + [end])
                return .taken(end)
            case nil:
                entries[identity] = .taken(waiting: [])
                return .nothing
            }
        }
    }

    /// Leaves an identity that the calling thread has taken, and wakes who waits for it.
    private func leave(_ identity: Identity, _ entry: Entry?) {
        let waiting = entries.withLock { entries in
            let old = entries[identity]
            entries[identity] = entry
            return if case .taken(let waiting) = old { waiting } else { [DispatchSemaphore]() }
        }
        for end in waiting { end.signal() }
    }
}
