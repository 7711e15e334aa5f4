import DAOCore
import DAOSystemLMDB
import Foundation

/// A lock on the database file that a writer holds.
///
/// LMDB has a writer lock too, but a wait for it has no timeout. This lock is taken first: it can be tried,
/// and the system releases it when a process is killed. It is a lock on the open file, independent of LMDB's
/// locks on its lock file.
enum FileLock {

    private static let shortestPause: UInt32 = 50
    private static let longestPause: UInt32 = 2_000

    /// Waits for the lock.
    ///
    /// - Throws: `busy` when the deadline has passed.
    static func acquire(_ environment: OpaquePointer, deadline: Date, errors: LMDBErrors) throws {
        var pause = shortestPause
        while flock(descriptor(environment), LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            // On a file system without such locks, only LMDB's lock is used.
            if code == EOPNOTSUPP || code == ENOLCK || code == EINVAL { return }
            guard code == EWOULDBLOCK || code == EINTR else { throw errors.error(code, "Locking the database for writing") }
            guard Date() < deadline else {
                throw errors.error(code, "Another process kept writing; locking the database")
            }
            usleep(pause)
            pause = min(pause * 2, longestPause)
        }
    }

    /// Releases the lock.
    static func release(_ environment: OpaquePointer) {
        flock(descriptor(environment), LOCK_UN)
    }

    /// LMDB's descriptor of the file; it stays open as long as the environment.
    private static func descriptor(_ environment: OpaquePointer) -> CInt {
        var descriptor: mdb_filehandle_t = -1
        mdb_env_get_fd(environment, &descriptor)
        return descriptor
    }
}
