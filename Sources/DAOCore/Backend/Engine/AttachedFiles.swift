import Foundation

/// The files that an open database uses, each with the path that led to it when it was opened.
///
/// A file can be moved, removed or replaced while it is open: the process continues to use it, and nobody finds
/// what is written to it. A database therefore looks at its paths before each write transaction.
package struct AttachedFiles: Sendable {
    private let files: [(path: String, identity: FileIdentity)]

    /// Notes the files that paths lead to. A path without a file is not observed.
    package init(_ paths: [String]) { files = paths.compactMap { path in FileIdentity(path).map { (path, $0) } } }

    /// Returns whether a path still leads to its file.
    package func isAttached(_ path: String) -> Bool {
        files.contains { $0.path == path && FileIdentity(path) == $0.identity }
    }

    /// Throws `.detached` when a path no longer leads to its file, and `.io` when the operating system cannot tell.
    ///
    /// - Parameter path: The path of the database, for the error.
    package func check(_ path: String?) throws {
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
            throw StorageError(
                .detached,
                "the file '\(name)' was \(what) while the database was open, and nothing was written; close the database, and open "
                    + "it again", path: path)
        }
    }
}
