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

    /// How long an opener waits for the end of an environment whose calls all fail, in seconds. While another store keeps it open,
    /// that is the environment of the file.
    private static let patience = 1.0

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
        // In each iteration a compaction can have replaced the file since it was found.
        for _ in 0..<100 {
            let found = try EnvironmentOpening.find(path: path, options: options, errors: errors)
            if let environment = try environment(found, options, user, errors, deadline) { return environment }
        }
        throw errors.error(.busy, "something replaces the file again and again; stop it, or use another path")
    }

    private func environment(
        _ found: EnvironmentOpening.Found, _ options: LMDBOptions, _ user: EnvironmentUser, _ errors: LMDBErrors, _ deadline: Date
    ) throws -> LMDBEnvironment? {
        let identity = found.file.identity
        state.lock()
        defer { state.unlock() }
        // A failed environment ends with the last call of a database that was dropped, perhaps a moment later and on another thread.
        let patience = Date(timeIntervalSinceNow: Self.patience)
        while open[identity]?.hasFailed == true, state.wait(until: patience) {}
        while opening.contains(identity) {
            guard state.wait(until: deadline) else { throw StorageError.busy(errors.path) }
        }
        var environment = open[identity]
        if environment == nil, FileIdentity(found.path) == identity { environment = try openAlone(found, options, errors) }
        guard let environment else { return nil }
        try environment.join(user, options)
        open[identity] = environment
        return environment
    }

    /// Whether this process has a file open.
    func isOpen(_ identity: FileIdentity) -> Bool {
        state.lock()
        defer { state.unlock() }
        return open[identity] != nil || opening.contains(identity)
    }

    /// Replaces the file of an environment by another one. Nobody opens or closes a file meanwhile.
    ///
    /// - Parameters:
    ///   - identity: The identity of the other file.
    ///   - body: A closure that renames the other file to the path and opens it.
    func replaceFile(of environment: LMDBEnvironment, by identity: FileIdentity, _ body: () throws -> Void) throws {
        state.lock()
        defer { state.unlock() }
        try body()
        for (known, other) in open where other === environment { open[known] = nil }
        open[identity] = environment
    }

    /// Opens a file while no other thread opens it. Other files can be opened meanwhile. Called with `state` locked.
    private func openAlone(_ found: EnvironmentOpening.Found, _ options: LMDBOptions, _ errors: LMDBErrors) throws
        -> LMDBEnvironment?
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
        guard environment.leave(user) else { return }
        for (identity, other) in open where other === environment { open[identity] = nil }
        state.broadcast()
    }
}

/// A user of an open environment.
final class EnvironmentUser: Sendable {
    /// Whether the user may use the environment. It changes with the lock of the environment's `state`.
    let isOpen = Atomic(false)
}
