import DAOCore
import Foundation

/// The mark on the log beside a file for as long as the file is open (see ``/DAOCore/FileMark``), and what makes a full commit in that
/// log durable. All connections of an engine share it.
final class MarkedLog: Sendable {
    private let mark = Lock<FileMark?>(nil)
    private let fileSync = FileSync.current

    /// Whether SQLite is to sync with the strongest call that it has, and the log is synced once more after a full commit: Apple's
    /// SQLite answers `fullfsync` with a call that keeps the order of writes, and does not wait for the medium.
    var isSyncedAfterCommit: Bool { fileSync.call(for: .commit) != nil }

    /// Marks the log as that of a file.
    ///
    /// - Throws: `busy` when others use the log with another file.
    func set(for file: DatabaseFile) throws {
        try mark.withLock { mark in
            if let mark, mark.isAt(file.resolved + "-wal") { return }
            mark = try file.markLog() ?? mark
        }
    }

    /// Removes the mark.
    func release() { mark.withLock { $0 = nil } }

    /// Waits until the medium has the log.
    ///
    /// - Parameter path: The path of the log.
    /// - Returns: 0, or the error number.
    func sync(_ path: String) -> Int32 {
        // Nobody waits for the drive to mark the log.
        if let code = mark.withLock({ $0 })?.sync(path, fileSync, for: .commit) { return code }
        // There is no mark where the file system has no such locks. SQLite has no locks on the log that closing it could release.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        return fileSync.sync(descriptor, for: .commit)
    }
}
