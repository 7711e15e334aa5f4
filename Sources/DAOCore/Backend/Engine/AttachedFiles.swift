import Foundation

/// Whether a database was found to be detached from its files. That is final, until it is closed and opened again: what other
/// programs have done meanwhile to files that have their names back is not known (contract L8).
package final class Detachment: Sendable {
    private let isFound = Atomic(false)
    private let error = Lock<StorageError?>(nil)

    package init() {}

    /// Throws the error with which the database was found to be detached.
    package func check() throws {
        if isFound.load(ordering: .acquiring), let error = error.withLock({ $0 }) { throw error }
    }

    fileprivate func become(_ new: StorageError) -> StorageError {
        let first = error.withLock { error in
            error = error ?? new
            return error ?? new
        }
        isFound.store(true, ordering: .releasing)
        return first
    }
}

/// The files that an open database uses, each with the path that led to it when it was opened.
///
/// A file can be moved, removed or replaced while it is open: the process continues to use it, and nobody finds
/// what is written to it. A database therefore looks at its paths before each write transaction.
package struct AttachedFiles: Sendable {
    private let files: [(path: String, identity: FileIdentity)]
    private let detachment: Detachment

    /// Notes the files that paths lead to. A path without a file is not observed.
    ///
    /// - Parameters:
    ///   - paths: Absolute paths.
    ///   - detachment: Whether the database is detached, which all of its connections share.
    package init(_ paths: [String], _ detachment: Detachment) {
        files = paths.compactMap { path in FileIdentity(path).map { (path, $0) } }
        self.detachment = detachment
    }

    /// Returns whether a path still leads to its file.
    package func isAttached(_ path: String) -> Bool {
        files.contains { $0.path == path && FileIdentity(path) == $0.identity }
    }

    /// Throws `.detached` when a path no longer leads to its file, or did not once, and `.io` when the operating system cannot tell.
    ///
    /// - Parameter path: The path of the database, for the error.
    package func check(_ path: String?) throws {
        try detachment.check()
        for file in files {
            var status = stat()
            let isFound = stat(file.path, &status) == 0
            let code = errno
            if isFound, FileIdentity(status) == file.identity { continue }
            let what = isFound ? "replaced by another" : "moved or removed"
            let name = URL(fileURLWithPath: file.path).lastPathComponent
            guard isFound || [ENOENT, ENOTDIR, EACCES, ELOOP].contains(code) else {
                throw StorageError(
                    .io, "the operating system cannot look at the file '\(name)', and nothing was written; try again",
                    path: path, engineCode: Int(code), engineMessage: String(cString: strerror(code)))
            }
            throw detachment.become(.detached(path, "the file '\(name)' was \(what)"))
        }
    }
}
