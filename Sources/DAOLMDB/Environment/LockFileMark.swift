import DAOCore
import DAOSystemLMDB
import Foundation

/// A mark in LMDB's lock file that says which file a process has open with it; see ``/DAOCore/FileMark``.
///
/// LMDB takes from the lock file the number of the last transaction and the readers of all processes. With the lock file of
/// another file, a commit would get a number that cannot be there, and damage the file. The opener of another file therefore
/// replaces a lock file with marks of others. Processes that have it open notice it before they write (`detached`), and read on.
enum LockFileMark {
    /// The byte that an opener locks while it looks at the marks.
    private static let guardByte = 1 << 62

    /// Marks the lock file of a file that is about to be opened. Replaces it when it belongs to another file.
    ///
    /// - Returns: The mark, to be released after LMDB has closed the lock file; nil on file systems without such locks.
    /// - Throws: `busy` when another process opens a file at the path until the deadline.
    static func make(for file: DatabaseFile, lock path: String, deadline: Date, errors: LMDBErrors) throws -> FileMark? {
        for _ in 0..<100 {
            // The lock file is never a link: LMDB would write into the file that somebody made it lead to.
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, file.status.st_mode & 0o666 | 0o600)
            guard descriptor >= 0 else {
                if errno == ELOOP {
                    throw errors.error(
                        .notPermitted, "the lock file '\(path)' is a symbolic link, which no database makes; remove it")
                }
                throw errors.error(errno, "opening the lock file")
            }
            let mark = FileMark(descriptor, of: file.identity)
            var isSupported = true
            try FileLock.wait(until: deadline, errors) {
                if mark.lock(F_WRLCK, at: guardByte) { return true }
                isSupported = errno == EAGAIN || errno == EACCES || errno == EINTR
                return !isSupported
            }
            guard isSupported else { return nil }
            // Another opener may have replaced the lock file.
            guard mark.isAt(path) else { continue }
            guard mark.isOfOthers else {
                guard mark.set() else { return nil }
                _ = mark.lock(F_UNLCK, at: guardByte)
                return mark
            }
            guard unlink(path) == 0 else { throw errors.error(errno, "replacing the lock file of a file that was here before") }
        }
        throw errors.error(.busy, "something replaces the lock file again and again; stop it, or use another path")
    }
}
