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
    private var isRenamed = false

    /// Creates an empty file, and locks it against others that replace the same file.
    ///
    /// - Parameters:
    ///   - target: The path of the file that it will replace, without symbolic links.
    ///   - reportedPath: The path in errors.
    ///   - purpose: What the file is, for errors: "backup".
    /// - Throws: `.busy` when another one is being written; the errors of ``failure(_:_:as:)``.
    package init(beside target: String, reporting reportedPath: String, as purpose: String) throws {
        let url = URL(fileURLWithPath: target)
        // The name is the same every time, so that the next one removes what a killed process has left.
        path =
            url.deletingLastPathComponent().path + "/.dao-\(purpose)-"
            + String(Self.fingerprint(url.lastPathComponent), radix: 36)
        descriptor = try Self.lock(path, reportedPath, purpose)
        self.target = target
        self.reportedPath = reportedPath
        self.purpose = purpose
        guard ftruncate(descriptor, 0) == 0 else { throw failure() }
    }

    deinit {
        if !isRenamed { unlink(path) }
        close(descriptor)
    }

    /// Makes the content durable, and sets the permissions.
    package func sync(mode: mode_t) throws {
        guard fchmod(descriptor, mode & 0o777) == 0, fsync(descriptor) == 0 else { throw failure() }
    }

    /// Replaces the target, durably.
    package func replaceTarget() throws {
        guard rename(path, target) == 0 else { throw failure() }
        isRenamed = true
        Self.syncDirectory(URL(fileURLWithPath: target).deletingLastPathComponent().path)
    }

    /// Returns the error for the last error number of the operating system.
    package func failure() -> StorageError { Self.failure(errno, reportedPath, as: purpose) }

    private static func lock(_ path: String, _ reportedPath: String, _ purpose: String) throws -> Int32 {
        // Another process can rename the file between opening and locking.
        for _ in 0..<100 {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw failure(errno, reportedPath, as: purpose) }
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
                close(descriptor)
                break
            }
            if let named = FileIdentity(path), named == FileIdentity(descriptor: descriptor) { return descriptor }
            close(descriptor)
        }
        throw StorageError(.busy, "another \(purpose) to the path is running; wait for its end", path: reportedPath)
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
