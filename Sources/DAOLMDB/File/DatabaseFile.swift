import DAOCore
import DAOSystemLMDB
import Foundation

/// A file that may not be a database. It is inspected with plain reads before any of it is mapped or trusted.
///
/// Reads use a separate descriptor. LMDB's locks are on the lock file, so closing this descriptor releases
/// none of them.
final class DatabaseFile {

    /// The descriptor, as long as this object exists.
    let descriptor: CInt
    private let errors: LMDBErrors

    /// The status of the file when it was opened.
    let status: stat
    /// The identity of the file.
    var identity: FileIdentity { FileIdentity(status) }

    /// Opens a file for inspection.
    ///
    /// - Throws: `notFound`, `notADatabase` when it is not a regular file, `notPermitted`, or `io`.
    init(path: String, errors: LMDBErrors) throws {
        self.errors = errors
        // Without O_NONBLOCK, opening a FIFO blocks until a process writes to it.
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.openingError(errno, errors) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            Foundation.close(descriptor)
            throw errors.error(code, "looking at the file")
        }
        self.status = status
        // From here on `deinit` closes it, also when this throws: another thread's file may have its number after a second close.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError.notADatabase(
                errors.path, status.st_mode & S_IFMT == S_IFDIR ? "a directory" : "not a regular file")
        }
    }

    deinit { Foundation.close(descriptor) }

    private static func openingError(_ code: CInt, _ errors: LMDBErrors) -> StorageError {
        // A missing permission to read is not the same as a read-only permission.
        guard code == EACCES || code == EPERM else { return errors.error(code, "opening the file") }
        return errors.notPermitted(code)
    }

    /// The current length in bytes.
    func length() throws -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw errors.error(errno, "looking at the file") }
        return Int(status.st_size)
    }

    /// Reads bytes from an offset on.
    ///
    /// - Returns: The number of bytes read; fewer than requested only at the end of the file.
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

    // MARK: Metas

    /// Returns whether nothing was ever stored in the file: it is empty, or LMDB has created it and no transaction has
    /// written to it. LMDB creates such a file when another one is moved away while it is being opened.
    ///
    /// - Throws: The errors of ``checkMetas()``.
    func isNew() throws -> Bool {
        if try length() == 0 { return true }
        return try checkMetas()?.allSatisfy { $0.transaction == 0 && $0.main.root == FileMeta.Tree.noRoot } ?? false
    }

    /// Reads both meta pages and checks that mapping the file is safe.
    ///
    /// LMDB uses the page of the newer transaction, and its next commit overwrites the other. When the write of a meta
    /// page fails, LMDB puts the old number back, and other fields can be of the transaction that failed. The older
    /// page may therefore be unsound.
    ///
    /// - Returns: The two meta pages, or nil on machines with an unknown file layout.
    /// - Throws: `notADatabase`, `corrupted` or `schemaIsNewer`.
    @discardableResult
    func checkMetas() throws -> [FileMeta]? {
        guard FileMeta.isLayoutKnown else { return nil }
        var metas = try readMetas()
        while true {
            do {
                return try check(metas.first, metas.second)
            } catch {
                // Another process can have committed between the two reads. Only a defect that persists
                // unchanged is damage.
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
        let newest = first.transaction < second.transaction ? 1 : 0
        for (number, meta) in [first, second].enumerated() {
            let defect = meta.headerDefect(asPage: number) ?? (number == newest ? meta.defect(length: length) : nil)
            if let defect { throw damaged(defect) }
        }
        guard first.pageSize == second.pageSize else { throw damaged("its meta pages disagree about the page size") }
        // Commits alternate between the two pages: even numbers write the first page, odd numbers the second.
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

    /// The second meta page, at the position in the first, or at any valid page size if that position is
    /// invalid.
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

    /// The error for a file that is not recognised as a database: damaged if its bytes could be the beginning
    /// of a database.
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

    /// The error for a damaged or incomplete database.
    func damaged(_ what: String) -> StorageError {
        errors.error(.corrupted, "the database is damaged: \(what); restore it from a backup")
    }
}
