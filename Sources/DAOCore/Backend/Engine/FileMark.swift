import Foundation

/// A lock that says which file a process uses together with another one, such as a log or a lock file.
///
/// Engines find the file beside a database by its path. When the database was replaced while a process has the old one open,
/// that file still belongs to the old one. Every process therefore locks a byte of it whose position is the inode of its
/// database, far behind any data, and an opener looks for the marks of others.
///
/// The lock belongs to the open file, not to the process: the locks of engines are independent of it, and two marks in one
/// process see each other. Programs without this library leave no marks.
package final class FileMark: Sendable {
    private static let places = 1 << 40..<1 << 61
    private let descriptor: CInt
    private let place: Int

    /// Prepares a mark, which is not set yet.
    ///
    /// - Parameters:
    ///   - descriptor: The file that carries the mark. This object closes it, which releases all locks that belong to the
    ///     process on it, those of an engine included.
    ///   - identity: The file that the process uses with it.
    package init(_ descriptor: CInt, of identity: FileIdentity) {
        self.descriptor = descriptor
        place = Self.places.lowerBound + Int(identity.inode % UInt64(Self.places.count))
    }

    deinit { close(descriptor) }

    /// Sets the mark.
    ///
    /// - Returns: False on a file system without such locks.
    package func set() -> Bool { lock(F_RDLCK, at: place) }

    /// Whether anybody uses the file that carries the mark with another file than this one.
    ///
    /// A process that starts a program has a twin for a moment, which keeps every descriptor, and so a mark that was just given
    /// up, until it runs the program. A mark is looked at again for 0.2 seconds.
    package var isOfOthers: Bool {
        let deadline = ContinuousClock.now + .milliseconds(200)
        while isMarked(Self.places.lowerBound..<place) || isMarked(place + 1..<Self.places.upperBound) {
            if .now > deadline { return true }
            usleep(2000)
        }
        return false
    }

    /// Whether a path leads to the file that carries the mark.
    package func isAt(_ path: String) -> Bool { FileIdentity(path) == FileIdentity(descriptor: descriptor) }

    /// Locks or unlocks one byte, without waiting. `errno` says why it could not be.
    package func lock(_ type: CInt, at place: Int) -> Bool {
        OpenFileLock.set(type, on: descriptor, at: place)
    }

    private func isMarked(_ range: Range<Int>) -> Bool {
        !range.isEmpty && OpenFileLock.isHeldElsewhere(descriptor, in: range)
    }

    /// Syncs the file that carries the mark, if a path leads to it.
    ///
    /// - Returns: 0, or the error number; nil when the path leads elsewhere.
    package func sync(_ path: String, _ fileSync: FileSync, for purpose: FileSync.Purpose) -> Int32? {
        isAt(path) ? fileSync.sync(descriptor, for: purpose) : nil
    }
}

/// A lock of an open file, whichever process has it open (open file description locks). Closing another descriptor of the file, as
/// a process loses its own locks by, does not release it.
package enum OpenFileLock {
    #if os(Linux)
        private static let (getLock, setLock): (CInt, CInt) = (36, 37)
    #else
        private static let (getLock, setLock): (CInt, CInt) = (92, 90)
    #endif

    /// Locks or unlocks one byte, without waiting. `errno` says why it could not be.
    package static func set(_ type: CInt, on descriptor: CInt, at place: Int) -> Bool {
        var lock = ProcessLock.record(type, place..<place + 1)
        return fcntl(descriptor, setLock, &lock) == 0
    }

    /// Whether another open file has locked a part of the file.
    static func isHeldElsewhere(_ descriptor: CInt, in range: Range<Int>) -> Bool {
        var lock = ProcessLock.record(F_WRLCK, range)
        return fcntl(descriptor, getLock, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }
}
