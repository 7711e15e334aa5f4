import Foundation

/// Replaces the file of a backup. A backend writes the new file under a temporary name.
///
/// ```swift
/// try BackupFile.replace(
///     path, of: databasePath, with: .database(identity: identity), isOpen: { _, _ in false },
///     isDatabase: { $0.starts(with: signature) }, content: readContent
/// ) { temporaryPath, descriptor in
///     try writeDatabase(descriptor)
/// }
/// ```
public enum BackupFile {
    /// What a file of an engine has, which decides whether a backup may replace it.
    public enum Content: Sendable, Equatable {
        /// No entity, and nothing of another program.
        case nothing
        /// A database of this library. Its identity was made with it, and a backup has the same; it is nil for a database that
        /// an earlier version of the library has made.
        case database(identity: String?)
        /// Something that another program has made.
        case other
    }

    /// The number of bytes of an existing file that are passed to `isDatabase`.
    static let headLength = 64

    /// Writes a file and replaces the file at a path with it, durably.
    ///
    /// - Parameters:
    ///   - path: The path of the backup. Symbolic links are followed.
    ///   - source: The path of the database's file. The backup gets its permissions.
    ///   - held: What the database has. A file that has something else is not replaced.
    ///   - isOpen: A closure that returns whether any process has a file open as a database. It gets the path of the file,
    ///     and its identity. When this process has the file open, nobody may even look
    ///     into it: closing it would release the locks of the process.
    ///   - isDatabase: A closure that returns whether the first bytes of a file are those of a database of this kind.
    ///   - content: A closure that returns what the file at a path has, without changing it or a file beside it.
    ///   - write: A closure that writes the new file. It gets the temporary path and a descriptor of the empty file.
    /// - Throws: The errors of `backup(to:)`; any error of `write`. The path is then unchanged, and there is no temporary file.
    public static func replace(
        _ path: String, of source: String, with held: Content, isOpen: (_ path: String, _ identity: FileIdentity) -> Bool,
        isDatabase: ([UInt8]) -> Bool, content: (_ path: String) throws -> Content,
        _ write: (String, Int32) throws -> Void
    ) throws {
        let path = try FilePath.absolute(path)
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        var sourceStatus = stat()
        guard stat(source, &sourceStatus) == 0 else { throw failure(errno, source) }
        func check() throws { try self.check(target.path, sourceStatus, held, isOpen, isDatabase, content) }
        try check()

        let file = try TemporaryFile(beside: target.path, reporting: path, as: "backup")
        try write(file.path, file.descriptor)
        try file.sync(mode: sourceStatus.st_mode)
        // What is at the path can have changed during a long backup.
        try check()
        try file.replaceTarget()
    }

    /// Checks that a path has no file, or one that may be replaced.
    private static func check(
        _ path: String, _ source: stat, _ held: Content, _ isOpen: (String, FileIdentity) -> Bool,
        _ isDatabase: ([UInt8]) -> Bool, _ content: (String) throws -> Content
    ) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw failure(errno, path)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError.notADatabase(path, status.st_mode & S_IFMT == S_IFDIR ? "a directory" : "not a regular file")
        }
        if FileIdentity(status) == FileIdentity(source) {
            throw StorageError(
                .invalidConfiguration, "the path of the backup leads to the database itself; use another path", path: path)
        }
        if isOpen(path, FileIdentity(status)) { throw inUse(path) }
        // The log of a database that is open, or whose process was killed. It would be applied to the backup.
        for suffix in ["-wal", "-journal"] {
            var log = stat()
            if stat(path + suffix, &log) == 0, log.st_size > 0 { throw inUse(path) }
        }
        if status.st_size == 0 { return }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(errno, path) }
        defer { close(descriptor) }
        var head = [UInt8](repeating: 0, count: headLength)
        let count = head.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw failure(errno, path) }
        guard isDatabase(Array(head.prefix(count))) else { throw StorageError.notADatabase(path, "another file") }
        switch try found(path, content) {
        case .nothing: return
        case .other:
            throw StorageError(
                .notADatabase,
                "the file at the path belongs to another program, and is no backup; use another path. Nothing was changed",
                path: path)
        case let there where there == held: return
        case .database:
            throw StorageError(
                .invalidConfiguration,
                "the file at the path is another database, and no backup of this one; use another path, or remove the file if "
                    + "nobody needs it. Nothing was changed", path: path)
        }
    }

    /// What the file at a path has.
    private static func found(_ path: String, _ content: (String) throws -> Content) throws -> Content {
        do {
            return try content(path)
        } catch let error as StorageError where error.isDamage || error.kind == .notADatabase {
            throw StorageError(
                .corrupted,
                "the file at the path is damaged, so that nobody knows whether it is a backup of this database; remove it, or use "
                    + "another path. Nothing was changed", path: path, engineCode: error.engineCode,
                engineMessage: error.engineMessage)
        }
    }

    private static func inUse(_ path: String) -> StorageError {
        StorageError(
            .busy,
            "the file at the path of the backup is open, or was not closed; close it, or use another path. Nothing was changed",
            path: path)
    }

    /// Returns the error for an error number of the operating system.
    public static func failure(_ code: Int32, _ path: String) -> StorageError {
        TemporaryFile.failure(code, path, as: "backup")
    }
}
