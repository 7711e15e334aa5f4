import DAOCore
import Foundation

/// The environments that are open in this process, one a file.
///
/// LMDB breaks when a process opens a file twice. So whoever opens a file that is open, by whatever spelling of its path,
/// shares the environment; the last to close it closes it.
final class EnvironmentRegistry: @unchecked Sendable {
    // Unchecked because of `open`: `lock` guards every access to it.

    /// The one of the process.
    static let shared = EnvironmentRegistry()

    private let lock = NSLock()
    private var open: [DatabaseFile.Identity: LMDBEnvironment] = [:]

    private init() {}

    /// The environment of a file, opened unless it is already.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - options: How to open it.
    ///   - user: Who opens it, and closes it again.
    func environment(path: String, options: LMDBOptions, user: EnvironmentUser) throws -> LMDBEnvironment {
        // Held while the file is opened, so that nobody opens it a second time meanwhile.
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

    /// Gives an environment back; the last one to do so closes it. Doing so again changes nothing.
    func close(_ environment: LMDBEnvironment, user: EnvironmentUser) {
        lock.lock()
        defer { lock.unlock() }
        if environment.leave(user) { open[environment.identity] = nil }
    }
}

/// Somebody who has an environment open.
final class EnvironmentUser: @unchecked Sendable {
    // Unchecked because of `isOpen`, which is only touched with the environment's `state` locked.

    /// Whether the environment may be used.
    @exclusivity(unchecked) var isOpen = false
}
