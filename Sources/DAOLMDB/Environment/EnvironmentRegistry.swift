import DAOCore
import Foundation

/// The open environments of this process, one for each file.
///
/// LMDB does not support opening a file twice in a process. All stores on a file therefore share an
/// environment, by any spelling of its path. The last store that closes it closes the environment.
final class EnvironmentRegistry: @unchecked Sendable {
    // Unchecked because of the variables below: every access to them holds the lock of `state`.

    /// The registry of the process.
    static let shared = EnvironmentRegistry()

    // Wakes threads that wait for the end of an opening.
    private let state = NSCondition()
    private var opening: Set<FileIdentity> = []
    private var open: [FileIdentity: LMDBEnvironment] = [:]

    private init() {}

    /// Returns the environment of a file, and opens it unless it is already open.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - options: How to open it.
    ///   - user: The user that opens the environment and closes it later.
    func environment(path: String, options: LMDBOptions, user: EnvironmentUser) throws -> LMDBEnvironment {
        let errors = LMDBErrors(path: path)
        let deadline = Date(timeIntervalSinceNow: options.writeTimeout)
        let found = try EnvironmentOpening.find(path: path, options: options, errors: errors)
        let identity = found.file.identity
        state.lock()
        defer { state.unlock() }
        while opening.contains(identity) {
            guard state.wait(until: deadline) else { throw StorageError.busy(path) }
        }
        let environment = try open[identity] ?? openAlone(found, options, errors)
        try environment.join(user, options)
        open[identity] = environment
        return environment
    }

    /// Opens a file while no other thread opens it. Other files can be opened meanwhile. Called with `state` locked.
    private func openAlone(_ found: EnvironmentOpening.Found, _ options: LMDBOptions, _ errors: LMDBErrors) throws
        -> LMDBEnvironment
    {
        opening.insert(found.file.identity)
        state.unlock()
        defer {
            state.lock()
            opening.remove(found.file.identity)
            state.broadcast()
        }
        return try EnvironmentOpening.open(found, options: options, errors: errors)
    }

    /// Ends the use of an environment. The last user closes it. A second call has no effect.
    func close(_ environment: LMDBEnvironment, user: EnvironmentUser) {
        state.lock()
        defer { state.unlock() }
        if environment.leave(user) { open[environment.identity] = nil }
    }
}

/// A user of an open environment.
final class EnvironmentUser: @unchecked Sendable {
    // Unchecked because of `isOpen`: every access to it holds the lock of the environment's `state`.

    /// Whether the user may use the environment.
    @exclusivity(unchecked) var isOpen = false
}
