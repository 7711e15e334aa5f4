import Foundation

/// Paths of files. A database, and every call that takes a path, makes it absolute once, at its beginning: the working
/// directory may be another one later.
public enum FilePath {
    /// Returns a path as it leads from the root, by the working directory as it is now.
    ///
    /// ```swift
    /// try FilePath.absolute("app.db")        // "/var/lib/app.db", in /var/lib
    /// ```
    ///
    /// - Parameter path: The path of a file. Symbolic links in it stay.
    /// - Throws: `.invalidConfiguration` for a path that is empty or has a NUL character; `.notFound` when the working directory
    ///   is gone.
    public static func absolute(_ path: String) throws -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw StorageError.invalidPath(path) }
        if path.utf8.first == UInt8(ascii: "/") { return path }
        guard let directory = getcwd(nil, 0) else {
            let code = errno
            throw StorageError(
                .notFound, "the path is relative, and the working directory is gone; use an absolute path", path: path,
                engineCode: Int(code), engineMessage: String(cString: strerror(code)))
        }
        defer { free(directory) }
        let start = String(cString: directory)
        return start == "/" ? start + path : start + "/" + path
    }
}

extension DatabaseConfiguration {
    /// The configuration of a database in a file, with the absolute path of the file.
    ///
    /// A driver of such databases calls it first, so that the database, its errors and its description keep their meaning in another
    /// working directory.
    ///
    /// - Throws: The errors of ``FilePath/absolute(_:)``.
    public func withAbsolutePath() throws -> DatabaseConfiguration {
        var configuration = self
        configuration.path = try FilePath.absolute(path)
        return configuration
    }
}
