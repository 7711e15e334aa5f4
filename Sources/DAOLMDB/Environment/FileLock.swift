import DAOCore
import DAOSystemLMDB
import Foundation

/// A lock on the database's file that goes with the right to write.
///
/// LMDB has a lock of its own for that, which can only be waited for without end. This one is taken first: it can be tried,
/// and the system gives it up for a process that is killed. It is a lock of the open file, independent of the locks that
/// LMDB puts on its lock file.
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
            // A file system without such locks leaves the waiting to LMDB's own.
            if code == EOPNOTSUPP || code == ENOLCK || code == EINVAL { return }
            guard code == EWOULDBLOCK || code == EINTR else { throw errors.error(code, "locking the database for writing") }
            guard Date() < deadline else {
                throw StorageError.busy(
                    errors.path, engineCode: Int(code), engineMessage: String(cString: strerror(code)))
            }
            usleep(pause)
            pause = min(pause * 2, longestPause)
        }
    }

    /// Gives the lock up.
    static func release(_ environment: OpaquePointer) {
        flock(descriptor(environment), LOCK_UN)
    }

    /// The descriptor that LMDB has the file open with; it stays open as long as the environment.
    private static func descriptor(_ environment: OpaquePointer) -> CInt {
        var descriptor: mdb_filehandle_t = -1
        mdb_env_get_fd(environment, &descriptor)
        return descriptor
    }
}
