import DAOCore
import Foundation

/// The open environments of this process, one for each file.
///
/// LMDB does not support opening a file twice in a process. All stores on a file therefore share an
/// environment, by any spelling of its path. The last store that closes it closes the environment.
final class EnvironmentRegistry: @unchecked Sendable {
    // Unchecked because of `open`: every access to it holds `lock`.

    /// The registry of the process.
    static let shared = EnvironmentRegistry()

    private let lock = NSLock()
    private var open: [DatabaseFile.Identity: LMDBEnvironment] = [:]

    private init() {}

    /// Returns the environment of a file, and opens it unless it is already open.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - options: How to open it.
    ///   - user: The user that opens the environment and closes it later.
    func environment(path: String, options: LMDBOptions, user: EnvironmentUser) throws -> LMDBEnvironment {
        // Held while the file is opened, so that no other thread opens it at the same time.
        lock.lock()
        defer { lock.unlock() }
        let errors = LMDBErrors(path: path)
        let found = try EnvironmentOpening.find(path: path, options: options, errors: errors)
        let identity = found.file.identity
        let environment = try open[identity] ?? EnvironmentOpening.open(found, options: options, errors: errors)
        try environment.join(user, options)
        open[identity] = environment
        return environment
    }

    /// Ends the use of an environment. The last user closes it. A second call has no effect.
    func close(_ environment: LMDBEnvironment, user: EnvironmentUser) {
        lock.lock()
        defer { lock.unlock() }
        if environment.leave(user) { open[environment.identity] = nil }
    }
}

/// A user of an open environment.
final class EnvironmentUser: @unchecked Sendable {
    // Unchecked because of `isOpen`: every access to it holds the lock of the environment's `state`.

    /// Whether the user may use the environment.
    @exclusivity(unchecked) var isOpen = false
}
