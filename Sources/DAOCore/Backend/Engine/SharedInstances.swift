import Foundation

/// The engines that are open in this process. Databases with the same identity share an engine (contract C3).
///
/// An identity is the ``FileIdentity`` of a file, or a name.
public final class SharedInstances<Identity: Hashable & Sendable, Instance: AnyObject & Sendable>: Sendable {
    private struct Entry: Sendable {
        let instance: Instance
        var users: Int
    }

    private let entries = Lock<[Identity: Entry]>([:])

    /// Creates an empty registry.
    public init() {}

    /// How long an opener waits for the end of a failed instance: a database that was dropped ends with the last call that holds it,
    /// perhaps a moment later and on another thread.
    private static var patience: Duration { .seconds(1) }

    /// Returns the instance with an identity, or opens it. ``release(_:close:)`` must follow.
    ///
    /// - Parameters:
    ///   - identity: The identity of the instance, such as the ``FileIdentity`` of a file.
    ///   - isFailed: Whether every call of an instance fails until it is opened anew. Its end is then waited for, for a second; while
    ///     another database keeps it open, that is the instance.
    ///   - open: A closure that opens the instance. It runs while the registry is locked and must not use the
    ///     registry.
    public func acquire(
        _ identity: Identity, isFailed: (Instance) -> Bool = { _ in false }, open: () throws -> Instance
    ) throws -> Instance {
        var deadline: ContinuousClock.Instant?
        while true {
            let found: Instance? = try entries.withLock { entries in
                if let entry = entries[identity] {
                    if isFailed(entry.instance), deadline.map({ $0 > .now }) ?? true { return nil }
                    entries[identity]?.users += 1
                    return entry.instance
                }
                let instance = try open()
                entries[identity] = Entry(instance: instance, users: 1)
                return instance
            }
            if let found { return found }
            deadline = deadline ?? .now + Self.patience
            usleep(2000)
        }
    }

    /// Whether an instance with an identity is open.
    public func contains(_ identity: Identity) -> Bool { entries.withLock { $0[identity] != nil } }

    /// Runs a closure unless an instance with an identity is open. It runs while the registry is locked and must not use the
    /// registry.
    ///
    /// - Returns: The result of the closure; nil when an instance is open.
    public func unlessOpen<Result>(_ identity: Identity, _ body: () throws -> Result) rethrows -> Result? {
        try entries.withLock { try $0[identity] == nil ? body() : nil }
    }

    /// Releases one use of an instance.
    ///
    /// - Parameters:
    ///   - identity: The identity that the instance was acquired with.
    ///   - close: A closure that closes the instance after its last use. It runs while the registry is
    ///     locked.
    public func release(_ identity: Identity, close: (Instance) -> Void) {
        entries.withLock { entries in
            guard var entry = entries[identity] else { return }
            entry.users -= 1
            if entry.users == 0 {
                entries[identity] = nil
                close(entry.instance)
            } else {
                entries[identity] = entry
            }
        }
    }
}
