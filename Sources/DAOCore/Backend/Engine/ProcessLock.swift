import Foundation

/// A lock of this process on bytes of a file, which other processes see (POSIX record locks).
///
/// A process loses its locks on a file when it closes any descriptor of the file. The functions that take a descriptor
/// are therefore given one that is open for other reasons.
package enum ProcessLock {
    /// Whether another process has locked a part of a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. This process must not have it open: closing it releases the locks of the process.
    ///   - range: The positions of the bytes.
    package static func isHeldElsewhere(_ path: String, in range: Range<Int>) -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return isHeldElsewhere(descriptor, in: range) ?? false
    }

    /// Whether another process has locked a part of an open file; nil when it cannot be told.
    package static func isHeldElsewhere(_ descriptor: Int32, in range: Range<Int>) -> Bool? {
        var lock = record(F_WRLCK, range)
        return fcntl(descriptor, F_GETLK, &lock) == 0 ? lock.l_type != Int16(F_UNLCK) : nil
    }

    /// Locks a part of an open file, without waiting. A lock that this process has on it is replaced.
    ///
    /// - Parameter isShared: Whether other processes may have such a lock too.
    /// - Returns: Whether no other process has locked it in another way.
    package static func acquire(_ descriptor: Int32, in range: Range<Int>, isShared: Bool) -> Bool {
        var lock = record(isShared ? F_RDLCK : F_WRLCK, range)
        return fcntl(descriptor, F_SETLK, &lock) == 0
    }

    /// Returns a description of a lock for `fcntl`.
    package static func record(_ type: Int32, _ range: Range<Int>) -> Foundation.flock {
        var lock = Foundation.flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(range.lowerBound)
        lock.l_len = off_t(range.count)
        return lock
    }
}
