import Foundation

/// Replaces the file of a backup. A backend writes the new file under a temporary name.
///
/// ```swift
/// try BackupFile.replace(path, of: databasePath, isOpen: { _, _ in false }, isDatabase: { $0.starts(with: signature) }) {
///     temporaryPath, descriptor in
///     try writeDatabase(descriptor)
/// }
/// ```
public enum BackupFile {
    /// The number of bytes of an existing file that are passed to `isDatabase`.
    static let headLength = 64

    /// Writes a file and replaces the file at a path with it, durably.
    ///
    /// - Parameters:
    ///   - path: The path of the backup. Symbolic links are followed.
    ///   - source: The path of the database's file. The backup gets its permissions.
    ///   - isOpen: A closure that returns whether any process has a file open as a database. It gets the path of the file,
    ///     and its identity. When this process has the file open, nobody may even look
    ///     into it: closing it would release the locks of the process.
    ///   - isDatabase: A closure that returns whether the first bytes of a file are those of a database of this kind.
    ///   - write: A closure that writes the new file. It gets the temporary path and a descriptor of the empty file.
    /// - Throws: The errors of `backup(to:)`; any error of `write`. The path is then unchanged, and there is no temporary file.
    public static func replace(
        _ path: String, of source: String, isOpen: (_ path: String, _ identity: FileIdentity) -> Bool,
        isDatabase: ([UInt8]) -> Bool,
        _ write: (String, Int32) throws -> Void
    ) throws {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw StorageError.invalidPath(path) }
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let directory = target.deletingLastPathComponent().path
        var sourceStatus = stat()
        guard stat(source, &sourceStatus) == 0 else { throw failure(errno, source) }
        try check(target.path, sourceStatus, isOpen, isDatabase)

        // The name is the same for every backup to the path, so that the next one removes what a killed process has left.
        let temporary = directory + "/.dao-backup-" + String(fingerprint(target.lastPathComponent), radix: 36)
        let descriptor = try lock(temporary, path)
        var isRenamed = false
        defer {
            if !isRenamed { unlink(temporary) }
            close(descriptor)
        }
        guard ftruncate(descriptor, 0) == 0 else { throw failure(errno, path) }
        try write(temporary, descriptor)
        guard fchmod(descriptor, sourceStatus.st_mode & 0o777) == 0, fsync(descriptor) == 0 else { throw failure(errno, path) }
        // What is at the path can have changed during a long backup.
        try check(target.path, sourceStatus, isOpen, isDatabase)
        guard rename(temporary, target.path) == 0 else { throw failure(errno, path) }
        isRenamed = true
        syncDirectory(directory)
    }

    /// Checks that a path has no file, or one that may be replaced.
    private static func check(
        _ path: String, _ source: stat, _ isOpen: (String, FileIdentity) -> Bool, _ isDatabase: ([UInt8]) -> Bool
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
    }

    /// Opens the temporary file, and locks it against other backups to the same path.
    private static func lock(_ temporary: String, _ path: String) throws -> Int32 {
        // Another backup can rename the file between opening and locking.
        for _ in 0..<100 {
            let descriptor = open(temporary, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw failure(errno, path) }
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
                close(descriptor)
                break
            }
            if let named = FileIdentity(temporary), named == FileIdentity(descriptor: descriptor) { return descriptor }
            close(descriptor)
        }
        throw StorageError(.busy, "another backup to the path is running; wait for its end", path: path)
    }

    private static func inUse(_ path: String) -> StorageError {
        StorageError(
            .busy,
            "the file at the path of the backup is open, or was not closed; close it, or use another path. Nothing was changed",
            path: path)
    }

    /// The FNV-1a hash of a name.
    private static func fingerprint(_ name: String) -> UInt64 {
        name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Makes new names in a directory survive a power loss. Some file systems do not support this; that is not an error.
    package static func syncDirectory(_ path: String) {
        let directory = open(path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    /// Returns the error for an error number of the operating system.
    public static func failure(_ code: Int32, _ path: String) -> StorageError {
        let text = String(cString: strerror(code))
        let (kind, message): (StorageError.Kind, String)
        switch code {
        case ENOENT, ENOTDIR: return .directoryNotFound(path, engineCode: Int(code), engineMessage: text)
        case EACCES, EPERM: return .notPermitted(path, engineCode: Int(code), engineMessage: text)
        case EROFS:
            (kind, message) = (
                .readOnly, "the backup cannot be written, because its directory can only be read; use another path"
            )
        case ENOSPC, EDQUOT: (kind, message) = (.outOfSpace, "there is no space for the backup; free some space and try again")
        default: (kind, message) = (.io, "the backup could not be written; check the path and the disk")
        }
        return StorageError(kind, message, path: path, engineCode: Int(code), engineMessage: text)
    }
}
