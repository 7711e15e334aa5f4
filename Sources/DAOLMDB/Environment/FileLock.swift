import DAOCore
import DAOSystemLMDB
import Foundation

/// A lock on the database file that a writer holds.
///
/// LMDB has a writer lock too, but a wait for it has no timeout. This lock is taken first: it can be tried,
/// and the system releases it when a process is killed. It is a lock on the open file, independent of LMDB's
/// locks on its lock file. The file is open a second time for it: the child of a process that is killed can have
/// inherited LMDB's descriptor, and would go on holding the lock.
enum FileLock {

    private static let shortestPause: UInt32 = 50
    private static let longestPause: UInt32 = 2_000

    /// Waits for the lock, which is released with the file at the latest.
    ///
    /// - Parameter isShared: Whether others may share the lock. A reader that cannot write LMDB's lock file takes it so:
    ///   no writer knows of the reader otherwise, and one would reuse the pages that it reads.
    /// - Throws: `busy` when the deadline has passed.
    static func acquire(_ file: DatabaseFile, isShared: Bool = false, deadline: Date, errors: LMDBErrors) throws {
        try wait(until: deadline, errors) {
            if flock(file.descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 { return true }
            let code = errno
            // On a file system without such locks, only LMDB's lock is used.
            if code == EOPNOTSUPP || code == ENOLCK || code == EINVAL { return true }
            guard code == EWOULDBLOCK || code == EINTR else { throw errors.error(code, "locking the database") }
            return false
        }
    }

    /// Releases the lock.
    static func release(_ file: DatabaseFile) { flock(file.descriptor, LOCK_UN) }

    /// Waits until nobody has locked the lock file whole, as LMDB does for a moment when it opens the file first. LMDB
    /// itself would wait without a timeout.
    ///
    /// - Parameter path: The path of the lock file. This process does not have it open.
    static func waitForLockFile(_ path: String, deadline: Date, errors: LMDBErrors) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        try wait(until: deadline, errors) {
            var lock = flock()
            (lock.l_type, lock.l_whence, lock.l_start, lock.l_len) = (Int16(F_RDLCK), Int16(SEEK_SET), 0, 1)
            return fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == Int16(F_UNLCK)
        }
    }

    /// Waits until a closure returns true.
    ///
    /// - Throws: `busy` when the deadline has passed.
    static func wait(until deadline: Date, _ errors: LMDBErrors, _ isFree: () throws -> Bool) throws {
        var pause = shortestPause
        while try !isFree() {
            guard Date() < deadline else {
                throw StorageError.busy(
                    errors.path, engineCode: Int(EWOULDBLOCK), engineMessage: String(cString: strerror(EWOULDBLOCK)))
            }
            usleep(pause)
            pause = min(pause * 2, longestPause)
        }
    }
}
