import DAOCore
import DAOSystemLMDB
import Foundation

/// A file that may or may not be a database, looked at with plain reads before anything of it is mapped or trusted.
///
/// Reads go through a descriptor of its own. LMDB's locks are on the lock file, so closing this one gives none of them up.
final class DatabaseFile {

    /// A file, whatever its names are.
    struct Identity: Hashable, Sendable {
        var device: UInt64
        var inode: UInt64

        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    private let descriptor: CInt
    private let errors: LMDBErrors

    /// The file as it was when it was opened.
    let status: stat
    /// Which file it is.
    var identity: Identity { Identity(status) }

    /// Opens a file to be looked at.
    ///
    /// - Throws: `notFound`, `notADatabase` for what is not a plain file, or `io`.
    init(path: String, errors: LMDBErrors) throws {
        self.errors = errors
        // A FIFO would block the opening until somebody writes to it, had it not been asked not to.
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.openingError(errno, errors) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            Foundation.close(descriptor)
            throw errors.error(code, "looking at the file")
        }
        self.status = status
        guard status.st_mode & S_IFMT == S_IFREG else {
            Foundation.close(descriptor)
            throw StorageError.notADatabase(
                errors.path, status.st_mode & S_IFMT == S_IFDIR ? "a directory" : "not a regular file")
        }
    }

    deinit { Foundation.close(descriptor) }

    private static func openingError(_ code: CInt, _ errors: LMDBErrors) -> StorageError {
        // Not being allowed to read is not the same as being allowed to read only.
        guard code == EACCES || code == EPERM else { return errors.error(code, "opening the file") }
        return StorageError(
            .io, "the file may not be read; check its permissions", path: errors.path, engineCode: Int(code),
            engineMessage: mdb_strerror(code).map { String(cString: $0) })
    }

    /// The present length in bytes.
    func length() throws -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw errors.error(errno, "looking at the file") }
        return Int(status.st_size)
    }

    /// Reads bytes from an offset on.
    ///
    /// - Returns: How many were read; fewer than asked for only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
        var done = 0
        while done < buffer.count {
            let count = pread(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw errors.error(errno, "reading the file") }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Tries to keep others from doing the same with this file. Given up when the object goes.
    func lockExclusively() throws {
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw errors.error(errno, "locking the file") }
        }
    }

    // MARK: Metas

    /// Reads both meta pages and makes sure that mapping the file is safe.
    ///
    /// - Returns: The two metas, or nil where the layout of files is not known.
    /// - Throws: `notADatabase`, `corrupted` or `schemaIsNewer`.
    @discardableResult
    func checkMetas() throws -> [FileMeta]? {
        guard FileMeta.isLayoutKnown else { return nil }
        var metas = try readMetas()
        while true {
            do {
                return try check(metas.first, metas.second)
            } catch {
                // Somebody may have committed between the two reads. Only what is wrong and stays the same is damage.
                let again = try readMetas()
                guard again != metas else { throw error }
                metas = again
            }
        }
    }

    private func readMetas() throws -> (first: FileMeta?, second: FileMeta?) {
        let first = try meta(at: 0)
        return (first, try secondMeta(pageSize: first?.pageSize))
    }

    private func check(_ first: FileMeta?, _ second: FileMeta?) throws -> [FileMeta] {
        let hasMagic = first?.magic == FileMeta.magic
        guard hasMagic || second?.magic == FileMeta.magic else { throw try unrecognised() }
        guard let first, let second, hasMagic, second.magic == FileMeta.magic else {
            throw damaged("one of its two meta pages is unreadable")
        }
        guard first.version == FileMeta.knownVersion, second.version == FileMeta.knownVersion else {
            if first.version == second.version, first.version > FileMeta.knownVersion {
                throw errors.error(MDB_VERSION_MISMATCH, "opening the database")
            }
            throw damaged("a version of \(first.version) and \(second.version) cannot be")
        }
        let length = try length()
        for (number, meta) in [first, second].enumerated() {
            if let defect = meta.defect(asPage: UInt64(number), length: length) { throw damaged(defect) }
        }
        guard first.pageSize == second.pageSize else { throw damaged("its meta pages disagree about the page size") }
        // Commits write to the two pages in turn: even numbers to the first, odd ones to the second.
        let (low, high) = (min(first.transaction, second.transaction), max(first.transaction, second.transaction))
        guard high - low <= 1, first.transaction & 1 == 0, second.transaction & 1 == 1 || high == 0 else {
            throw damaged("the numbers of its last transactions cannot be")
        }
        return [first, second]
    }

    private func meta(at offset: Int) throws -> FileMeta? {
        try withUnsafeTemporaryAllocation(byteCount: FileMeta.byteCount, alignment: 8) { buffer in
            let count = try read(into: buffer, at: offset)
            return FileMeta(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// The second meta page, where the first says it is, or at any page size if that is nonsense.
    private func secondMeta(pageSize: UInt32?) throws -> FileMeta? {
        let usual = (9...16).map { UInt32(1) << $0 }
        let sizes = usual.contains(pageSize ?? 0) ? [pageSize ?? 0] : usual
        var found: FileMeta?
        for size in sizes {
            found = try meta(at: Int(size))
            if found?.magic == FileMeta.magic { break }
        }
        return found
    }

    /// The error for a file with no sign of being a database: damaged if it could be the first bytes of one.
    private func unrecognised() throws -> StorageError {
        let length = try length()
        guard length < FileMeta.byteCount else {
            return .notADatabase(errors.path, "another file")
        }
        let start = try withUnsafeTemporaryAllocation(byteCount: FileMeta.byteCount, alignment: 8) { buffer in
            [UInt8](buffer[..<(try read(into: buffer, at: 0))])
        }
        let expected: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0xDE, 0xC0, 0xEF, 0xBE]
        guard zip(start, expected).allSatisfy({ $0 == $1 }) else {
            return .notADatabase(errors.path, "another file")
        }
        return damaged("it ends after \(length) bytes")
    }

    /// The error for a file that is a database, but not a whole one.
    func damaged(_ what: String) -> StorageError {
        errors.error(.corrupted, "the database is damaged: \(what); restore it from a backup")
    }
}
