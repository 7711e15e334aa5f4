import Foundation

/// A file beside another one, which it replaces when it is complete. It is removed when it does not.
///
/// ```swift
/// let file = try TemporaryFile(beside: path, reporting: path, as: "backup")
/// try write(file.descriptor)
/// try file.sync(mode: 0o600)
/// try file.replaceTarget()
/// ```
package final class TemporaryFile {
    /// The path of the temporary file.
    package let path: String
    /// The descriptor of the temporary file, for reading and writing.
    package let descriptor: Int32
    private let target: String
    private let reportedPath: String
    private let purpose: String
    private let fileSync = FileSync.current
    private var isRenamed = false

    /// Creates an empty file, and locks it against others that replace the same file.
    ///
    /// The file is always a new one, which only this user can read and write: nothing that somebody else has put at the path is
    /// opened for writing. What a killed process has left there is removed.
    ///
    /// - Parameters:
    ///   - target: The path of the file that it will replace, without symbolic links.
    ///   - reportedPath: The path in errors.
    ///   - purpose: What the file is, for errors: "backup".
    /// - Throws: `.busy` when another one is being written; the errors of ``failure(_:_:as:)``.
    package init(beside target: String, reporting reportedPath: String, as purpose: String) throws {
        path = Self.path(beside: target, as: purpose)
        descriptor = try Self.create(path, reportedPath, purpose)
        self.target = target
        self.reportedPath = reportedPath
        self.purpose = purpose
    }

    /// The path of the temporary file beside a file. It is the same every time, so that the next one removes what a killed process
    /// has left.
    package static func path(beside target: String, as purpose: String) -> String {
        "\(directory(of: target))/.dao-\(purpose)-"
            + String(Self.fingerprint(URL(fileURLWithPath: target).lastPathComponent), radix: 36)
    }

    /// The path of the directory that a file is in.
    ///
    /// A combining mark after a slash is a character with it, and `NSString`'s functions for paths end the process at some texts
    /// (swift-corelibs-foundation 6.3), so paths are taken apart by `URL`.
    package static func directory(of path: String) -> String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    deinit {
        if !isRenamed { unlink(path) }
        close(descriptor)
    }

    /// Makes the content durable, and sets the permissions.
    package func sync(mode: mode_t) throws {
        guard fchmod(descriptor, mode & 0o777) == 0 else { throw failure() }
        let code = fileSync.sync(descriptor, for: .replacement)
        if code != 0 { throw Self.failure(code, reportedPath, as: purpose) }
    }

    /// Replaces the target, durably.
    package func replaceTarget() throws {
        // Where others may rename files, something else can be at the path.
        guard Self.isFile(path, descriptor) else { throw Self.failure(EIO, reportedPath, as: purpose) }
        guard rename(path, target) == 0 else { throw failure() }
        isRenamed = true
        Self.syncDirectory(Self.directory(of: target), fileSync)
    }

    /// Returns the error for the last error number of the operating system.
    package func failure() -> StorageError { Self.failure(errno, reportedPath, as: purpose) }

    /// The byte that a process locks while it writes the file. Engines lock other bytes of it, and Apple's systems would let a lock on the
    /// whole file (`flock`) stand in their way.
    private static let lockedByte = 1 << 62

    private static func create(_ path: String, _ reportedPath: String, _ purpose: String) throws -> Int32 {
        func failure() -> StorageError { self.failure(errno, reportedPath, as: purpose) }
        // Others can create and remove the file meanwhile.
        for _ in 0..<100 {
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor >= 0 {
                if OpenFileLock.set(F_WRLCK, on: descriptor, at: lockedByte), isFile(path, descriptor) { return descriptor }
                // Somebody has taken it for a file that was left, and removes it.
                close(descriptor)
                continue
            }
            guard errno == EEXIST else { throw failure() }
            guard try removeLeft(path, failure) else { break }
        }
        throw StorageError(.busy, "another \(purpose) to the path is running; wait for its end", path: reportedPath)
    }

    /// Removes what is at the path of a temporary file; false when a process is writing it. Nothing is written into it, and a file
    /// with other names keeps them.
    private static func removeLeft(_ path: String, _ failure: () -> StorageError) throws -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return true }
            throw failure()
        }
        // A file that was left has one name. Another one is not opened: closing it would release the locks of this process on it.
        let isLeft = status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
        let flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        var (descriptor, type) = (isLeft ? open(path, O_RDWR | flags) : -1, F_WRLCK)
        // A file that was left when it was complete can have permissions for reading alone.
        if isLeft, descriptor < 0 { (descriptor, type) = (open(path, O_RDONLY | flags), F_RDLCK) }
        defer { if descriptor >= 0 { close(descriptor) } }
        if descriptor >= 0 {
            guard OpenFileLock.set(type, on: descriptor, at: lockedByte) else {
                if errno == EAGAIN || errno == EACCES { return false }
                throw failure()
            }
            // Another one has removed it, and perhaps created the next.
            if !isFile(path, descriptor) { return true }
        }
        guard unlink(path) == 0 || errno == ENOENT else { throw failure() }
        return true
    }

    /// Whether a path is a name of an open file.
    private static func isFile(_ path: String, _ descriptor: Int32) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        return FileIdentity(status) == FileIdentity(descriptor: descriptor)
    }

    /// The FNV-1a hash of a name.
    private static func fingerprint(_ name: String) -> UInt64 {
        name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Makes new names in a directory survive a power loss. Some file systems do not support this; that is not an error.
    package static func syncDirectory(_ path: String, _ fileSync: FileSync = .current) {
        let directory = open(path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        _ = fileSync.sync(directory, for: .names)
        close(directory)
    }

    /// Returns the error for an error number of the operating system.
    ///
    /// - Parameters:
    ///   - path: The path in the error.
    ///   - purpose: What could not be written.
    package static func failure(_ code: Int32, _ path: String, as purpose: String) -> StorageError {
        let text = String(cString: strerror(code))
        let (kind, message): (StorageError.Kind, String)
        switch code {
        case ENOENT, ENOTDIR: return .directoryNotFound(path, engineCode: Int(code), engineMessage: text)
        case EACCES, EPERM: return .notPermitted(path, engineCode: Int(code), engineMessage: text)
        case EROFS: (kind, message) = (.readOnly, "the \(purpose) cannot be written, because its directory can only be read")
        case ENOSPC, EDQUOT:
            (kind, message) = (.outOfSpace, "there is no space for the \(purpose); free some space and try again")
        default: (kind, message) = (.io, "the \(purpose) could not be written; check the path and the disk")
        }
        return StorageError(kind, message, path: path, engineCode: Int(code), engineMessage: text)
    }
}
