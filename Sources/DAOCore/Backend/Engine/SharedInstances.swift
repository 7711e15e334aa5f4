import Foundation
import Synchronization

/// Engines that are open in this process, so that databases with the same identity share one (contract C3).
public final class SharedInstances<Instance: AnyObject & Sendable>: Sendable {
    private struct Entry: Sendable {
        let instance: Instance
        var users: Int
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// Creates an empty registry.
    public init() {}

    /// The instance with an identity; opens one when there is none. ``release(_:)`` has to follow.
    ///
    /// - Parameters:
    ///   - identity: What the same instances have in common, such as the device and inode of a file.
    ///   - open: Makes the instance. It runs with the registry locked and must not use it.
    public func acquire(_ identity: String, open: () throws -> Instance) throws -> Instance {
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

    /// Takes one user away.
    ///
    /// - Parameters:
    ///   - identity: What the instance was acquired with.
    ///   - close: Closes the instance when that was its last user. It runs with the registry locked.
    public func release(_ identity: String, close: (Instance) -> Void) {
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
