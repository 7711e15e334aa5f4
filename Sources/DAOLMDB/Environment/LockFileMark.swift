import DAOCore
import DAOSystemLMDB
import Foundation

/// A mark in LMDB's lock file that says which file a process has open with it.
///
/// LMDB finds the lock file by the path, and takes from it the number of the last transaction and the readers of all
/// processes. When the file at the path was replaced while a process has the old one open, the lock file is that of the old
/// file: a commit to the new file would get a number that cannot be there, and damage it. Every process therefore locks a byte
/// of the lock file, far behind LMDB's data, whose position is the file's inode. The opener of another file replaces a lock file
/// with such marks of others. Processes that have it open notice it before they write (`detached`), and read on.
///
/// The locks belong to the open lock file, not to the process: LMDB's own locks there are independent of them. Programs that use
/// LMDB without this library leave no marks.
final class LockFileMark {
    private static let first = 1 << 40
    private static let last = 1 << 61
    /// The byte that an opener locks while it looks at the marks.
    private static let guardByte = 1 << 62

    #if os(Linux)
        private static let (getLock, setLock): (CInt, CInt) = (36, 37)
    #else
        private static let (getLock, setLock): (CInt, CInt) = (92, 90)
    #endif

    private let descriptor: CInt

    private init(_ descriptor: CInt) { self.descriptor = descriptor }

    /// Closes the lock file. LMDB must have closed it before: this releases all locks that the process has on it.
    deinit { close(descriptor) }

    /// Marks the lock file of a file that is about to be opened. Replaces it when it belongs to another file.
    ///
    /// - Returns: Nil on file systems without such locks.
    /// - Throws: `busy` when another process opens a file at the path until the deadline.
    static func make(for file: DatabaseFile, lock path: String, deadline: Date, errors: LMDBErrors) throws -> LockFileMark? {
        let place = first + Int(UInt64(file.status.st_ino) % UInt64(last - first))
        for _ in 0..<100 {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, file.status.st_mode & 0o666 | 0o600)
            guard descriptor >= 0 else { throw errors.error(errno, "opening the lock file") }
            let mark = LockFileMark(descriptor)
            var isSupported = true
            try FileLock.wait(until: deadline, errors) {
                if mark.lock(F_WRLCK, at: guardByte) { return true }
                isSupported = errno == EAGAIN || errno == EACCES || errno == EINTR
                return !isSupported
            }
            guard isSupported else { return nil }
            // Another opener may have replaced the lock file.
            guard FileIdentity(path) == FileIdentity(descriptor: descriptor) else { continue }
            guard mark.isMarked(in: first..<place) || mark.isMarked(in: place + 1..<last) else {
                guard mark.lock(F_RDLCK, at: place) else { return nil }
                _ = mark.lock(F_UNLCK, at: guardByte)
                return mark
            }
            guard unlink(path) == 0 else { throw errors.error(errno, "replacing the lock file of a file that was here before") }
        }
        throw errors.error(.busy, "something replaces the lock file again and again; stop it, or use another path")
    }

    private func lock(_ type: CInt, at place: Int) -> Bool {
        var lock = ProcessLock.record(type, place..<place + 1)
        return fcntl(descriptor, Self.setLock, &lock) == 0
    }

    /// Whether another opener has marked a range.
    private func isMarked(in range: Range<Int>) -> Bool {
        if range.isEmpty { return false }
        var lock = ProcessLock.record(F_WRLCK, range)
        return fcntl(descriptor, Self.getLock, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }
}
