import Foundation
import Synchronization

/// The engines that are open in this process. Databases with the same identity share an engine (contract C3).
///
/// An identity is the ``FileIdentity`` of a file, or a name.
public final class SharedInstances<Identity: Hashable & Sendable, Instance: AnyObject & Sendable>: Sendable {
    private struct Entry: Sendable {
        let instance: Instance
        var users: Int
    }

    private let entries = Mutex<[Identity: Entry]>([:])

    /// Creates an empty registry.
    public init() {}

    /// Returns the instance with an identity, or opens it. ``release(_:close:)`` must follow.
    ///
    /// - Parameters:
    ///   - identity: The identity of the instance, such as the ``FileIdentity`` of a file.
    ///   - open: A closure that opens the instance. It runs while the registry is locked and must not use the
    ///     registry.
    public func acquire(_ identity: Identity, open: () throws -> Instance) throws -> Instance {
        try entries.withLock { entries in
            if let entry = entries[identity] {
                entries[identity]?.users += 1
                return entry.instance
            }
            let instance = try open()
            entries[identity] = Entry(instance: instance, users: 1)
            return instance
        }
    }

    /// Whether an instance with an identity is open.
    public func contains(_ identity: Identity) -> Bool { entries.withLock { $0[identity] != nil } }

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
