import DAOCore
import Foundation

/// What changes when a file is written: its identity, length and time of modification.
struct FileVersion: Equatable, Sendable {
    private var identity: FileIdentity
    private var modified: [Int]

    /// Reads the version of a file; nil when there is none.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        identity = FileIdentity(status)
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        modified = [Int(status.st_size), time.tv_sec, time.tv_nsec]
    }

    /// A number that is another one when the file is written, or begins to be.
    static func count(_ path: String) -> UInt64 {
        var hasher = Hasher()
        for suffix in ["", "-wal"] { hasher.combine(FileVersion(path + suffix)?.modified) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

/// A file that is read without locks, because none of the files that SQLite locks can be created beside it.
///
/// A process that may write the directory can begin to write the file. It then creates the index of its log beside
/// the file, and a new connection uses that. Pages come into the file later; whoever read without locks until then
/// notices by the time of the file.
final class UnlockedFile: Sendable {
    private let path: String
    private let version: FileVersion?

    /// Waits until a further write would give the file another time.
    init(_ path: String) {
        self.path = path
        usleep(20_000)
        version = FileVersion(path)
    }

    /// Whether the file can still be read without locks.
    var isUnchanged: Bool { FileVersion(path) == version }

    /// Whether a process that writes has the file open.
    var isShared: Bool { access(path + "-shm", F_OK) == 0 }

    /// Throws `.busy` when the file was written since it was opened.
    func check() throws {
        if isUnchanged { return }
        throw StorageError(
            .busy, "another process wrote to the database while it was read without locks; try again", path: path)
    }
}
