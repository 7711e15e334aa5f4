import DAOCore
import DAOSQLiteChecksums
import DAOSystemSQLite
import Foundation

/// The file of a database, checked before SQLite opens it. A file that is not a database gives a typed error
/// and stays unchanged.
struct DatabaseFile {
    /// The absolute path.
    let path: String
    /// The path without symbolic links. SQLite names the files beside the database after it.
    let resolved: String
    /// The identity of the file, independent of its path: its device and inode.
    let identity: FileIdentity
    /// Whether this process may write the file and create files beside it.
    let isWritable: Bool
    /// Whether this process may create files beside it.
    let isDirectoryWritable: Bool
    /// Whether the file was just created.
    let isNew: Bool

    /// Finds the file, or creates an empty file.
    ///
    /// An existing file is not opened: closing it again would release the locks that SQLite has on it in this
    /// process.
    ///
    /// - Throws: `.invalidConfiguration` for a path that names no file, `.notFound`, `.notADatabase`,
    ///   `.readOnly`, `.notPermitted`, `.io`.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, with an absolute path.
    ///   - mode: The permissions of a new file; nil for those that the process gives its files.
    init(_ configuration: DatabaseConfiguration, mode: UInt16?) throws {
        let path = configuration.path
        var status = stat()
        var isNew = false
        if stat(path, &status) != 0 {
            guard errno == ENOENT else { throw Self.systemError(errno, path) }
            guard configuration.createsIfMissing, !configuration.isReadOnly else {
                throw StorageError.notFound(path)
            }
            try Self.create(path, mode: mode.map { mode_t($0) })
            isNew = true
            guard stat(path, &status) == 0 else { throw Self.systemError(errno, path) }
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            let kind = status.st_mode & S_IFMT == S_IFDIR ? "a directory" : "not a regular file"
            throw StorageError.notADatabase(path, kind)
        }
        guard let resolved = realpath(path, nil) else { throw Self.systemError(errno, path) }
        defer { free(resolved) }
        self.path = path
        self.resolved = String(cString: resolved)
        self.isNew = isNew
        identity = FileIdentity(status)
        isDirectoryWritable = access(TemporaryFile.directory(of: self.resolved), W_OK) == 0
        isWritable = isDirectoryWritable && access(path, W_OK) == 0
    }

    private static func create(_ path: String, mode: mode_t?) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode ?? 0o644)
        guard descriptor >= 0 else {
            let code = errno
            // Another process has created it meanwhile.
            if code == EEXIST { return }
            if code == ENOENT {
                throw StorageError.directoryNotFound(
                    path, engineCode: Int(code), engineMessage: String(cString: strerror(code)))
            }
            throw systemError(code, path, isCreating: true)
        }
        defer { close(descriptor) }
        // Without the permissions that the process takes from its files. SQLite gives them to the files beside it.
        if let mode, fchmod(descriptor, mode) != 0 { throw systemError(errno, path, isCreating: true) }
    }

    private static func systemError(_ code: Int32, _ path: String, isCreating: Bool = false) -> StorageError {
        if code == EACCES || code == EPERM, !isCreating {
            return .notPermitted(path, engineCode: Int(code), engineMessage: String(cString: strerror(code)))
        }
        let (kind, message): (StorageError.Kind, String) =
            switch code {
            case EACCES, EPERM, EROFS:
                (.readOnly, "the database cannot be created, because its directory can only be read; change the permissions")
            case ELOOP: (.notADatabase, "the path is a loop of symbolic links; check the path")
            case EISDIR:
                (
                    .notADatabase,
                    "what is at the path is a directory, not a database of this kind; check the path. Nothing was changed"
                )
            case ENOSPC, EDQUOT: (.outOfSpace, "there is no space, and nothing was written; free some space and try again")
            case ENOTDIR: (.notFound, "a part of the path is not a directory; check the path")
            default: (.io, "the operating system refused access to the path; check its permissions")
            }
        return StorageError(kind, message, path: path, engineCode: Int(code), engineMessage: String(cString: strerror(code)))
    }
}

extension DatabaseFile {
    /// Removes the file if it was created for a database that could not be opened.
    func removeIfUnused() {
        var status = stat()
        if isNew, stat(path, &status) == 0, status.st_size == 0 { unlink(path) }
    }

    /// Reads the first 32 bytes of a file that is not open in this process, and the last 24 of its first page, which say how it
    /// is encrypted.
    ///
    /// - Returns: Both, the second empty where there are none; nothing for a file without pages.
    func beginning() throws -> [[UInt8]] { try Self.beginning(of: path) }

    private static func beginning(of path: String) throws -> [[UInt8]] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.systemError(errno, path) }
        defer { close(descriptor) }
        func bytes(_ count: Int, at offset: Int) throws -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(offset)) }
            // What was not read is not absent.
            if read < 0 { throw Self.systemError(errno, path) }
            return read == count ? bytes : nil
        }
        guard let header = try bytes(32, at: 0), header.contains(where: { $0 != 0 }) else { return [] }
        guard header.starts(with: magic), let length = pageSize(header) else { return [header, []] }
        return [header, try bytes(24, at: length - 24) ?? []]
    }

    /// Looks what an encrypted file is to a key. The file is not open in this process.
    ///
    /// - Returns: Whether its pages are encrypted with the key; nil when it has no pages yet.
    private func look(_ cipher: PageCipher) throws -> Bool? { try Self.look(at: resolved, reporting: path, cipher) ? true : nil }

    /// Refuses a file that says that it is encrypted, and is not open in this process.
    ///
    /// - Throws: `.notPermitted`.
    static func requirePlain(_ path: String) throws {
        if case let beginning = try beginning(of: path), beginning.count == 2,
            PageCipher.isEncrypted(header: beginning[0], tail: beginning[1])
        {
            throw PageCipher.missing(path)
        }
    }

    /// Looks what a file that is not open in this process is to a key.
    ///
    /// - Returns: Whether it has pages.
    /// - Throws: The errors of ``PageCipher/look(_:log:journal:path:)``.
    static func look(at path: String, reporting reported: String, _ cipher: PageCipher) throws -> Bool {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors where descriptor >= 0 { close(descriptor) } }
        for suffix in ["", "-wal", "-journal"] {
            let descriptor = open(path + suffix, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            // A log and a journal can be missing. Those that cannot be opened are not.
            if descriptor < 0, suffix.isEmpty || errno != ENOENT { throw systemError(errno, reported) }
            descriptors.append(descriptor)
        }
        return try cipher.look(descriptors[0], log: descriptors[1], journal: descriptors[2], path: reported)
    }

    /// Whether a file that a backup would replace can be one of the same kind.
    ///
    /// - Parameters:
    ///   - head: The first bytes of the file.
    ///   - cipher: The key of the backup; nil for a plain one.
    static func isDatabase(_ head: [UInt8], at path: String, _ cipher: PageCipher?) -> Bool {
        guard let cipher, !isDatabase(head) else { return isDatabase(head) }
        do {
            _ = try look(at: path, reporting: path, cipher)
        } catch let error as StorageError {
            return error.kind != .notADatabase
        } catch {}
        return true
    }

    /// Reads the header of a file that is not open in this process.
    ///
    /// - Parameters:
    ///   - cipher: The key of an encrypted file; nil for a plain one.
    ///   - writes: Whether the creation of an encrypted file that a power cut has torn may be undone.
    /// - Returns: Whether the pages of the file have checksums, or tags, which serve as such; nil when it has no pages yet.
    /// - Throws: `.notADatabase`, `.corrupted` for a truncated file, `.schemaIsNewer` for a later file
    ///   format, `.unsupported` for UTF-16, `.notPermitted` for a wrong key and a missing one.
    func checkHeader(_ cipher: PageCipher?, writes: Bool) throws -> Bool? {
        if let cipher {
            guard hasJournalOfCreation else { return try look(cipher) }
            if writes { undoCreation() }
            let hasPages = try look(cipher)
            // Another process creates it.
            return hasJournalOfCreation ? nil : hasPages
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.systemError(errno, path) }
        defer { close(descriptor) }
        var status = stat()
        var header = [UInt8](repeating: 0, count: 100)
        let count = header.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard fstat(descriptor, &status) == 0, count >= 0 else { throw Self.systemError(errno, path) }
        if count == 0 { return nil }
        header.removeLast(header.count - count)
        if isTornAtCreation(header) { return nil }
        if header.count > 20, header[20] == 64 { try Self.requirePlain(path) }
        let hasChecksums = header.starts(with: Self.magic) && header.count > 20 && header[20] == UInt8(DAO_CHECKSUM_LENGTH)
        // A header that does not say so, in a page with a checksum, is damaged.
        if !hasChecksums, isFirstPageSound(descriptor, header) == true { throw PageChecksums.error(page: 1, path: path) }
        do {
            try check(header, size: Int64(status.st_size))
        } catch {
            if (error as? StorageError)?.kind == .notADatabase, PageCipher.looksEncrypted(descriptor) {
                throw PageCipher.unmarked(path)
            }
            // The checksum tells damage from the file of another version.
            if hasChecksums, isFirstPageSound(descriptor, header) == false { throw PageChecksums.error(page: 1, path: path) }
            throw error
        }
        return hasChecksums
    }

    /// Whether the first page matches its checksum, if its header says that there are checksums; nil for a page that
    /// cannot be read.
    private func isFirstPageSound(_ descriptor: Int32, _ header: [UInt8]) -> Bool? {
        guard header.count == 100, let pageSize = Self.pageSize(header) else { return nil }
        var page = [UInt8](repeating: 0, count: pageSize)
        guard page.withUnsafeMutableBytes({ pread(descriptor, $0.baseAddress, $0.count, 0) }) == pageSize else { return nil }
        page.replaceSubrange(0..<Self.magic.count, with: Self.magic)
        page[20] = UInt8(DAO_CHECKSUM_LENGTH)
        return page.withUnsafeBytes { dao_checksum_matches($0.baseAddress!, $0.count) } != 0
    }

    /// The length of a page; nil when the header has none.
    private static func pageSize(_ header: [UInt8]) -> Int? {
        let stored = Int(header[16]) << 8 | Int(header[17])
        let pageSize = stored == 1 ? 65_536 : stored
        return pageSize >= 512 && pageSize & (pageSize - 1) == 0 ? pageSize : nil
    }

    private static let magic = Array("SQLite format 3\0".utf8)

    /// Whether the first bytes of a file are those of an SQLite file.
    static func isDatabase(_ head: [UInt8]) -> Bool { head.starts(with: magic) }

    private func check(_ header: [UInt8], size: Int64) throws {
        guard header.prefix(16) == Self.magic.prefix(header.count) else {
            throw Self.name(of: header, size: size).map { what, advice in
                StorageError(
                    .notADatabase, "what is at the path is \(what), not an SQLite database; \(advice). Nothing was changed",
                    path: path)
            } ?? StorageError.notADatabase(path, "another file")
        }
        func truncated() -> StorageError {
            .corrupted(path, "the database is damaged: its file is too short")
        }
        guard header.count == 100 else { throw truncated() }
        guard let pageSize = Self.pageSize(header).map(Int64.init) else {
            throw StorageError.corrupted(path, "the database is damaged: its header cannot be read")
        }
        guard header[19] <= 2, Self.number(header, 44) <= 4 else {
            throw StorageError(
                .schemaIsNewer, "the file has the format of a later SQLite; use that version of SQLite", path: path)
        }
        guard Self.number(header, 56) <= 1 else {
            throw StorageError(
                .unsupported, "the database stores text as UTF-16, which has another order; convert it to UTF-8", path: path)
        }
        // The page count is valid when its change counter equals that of the file. A log beside the file may
        // contain further pages.
        let isCountValid = Self.number(header, 24) == Self.number(header, 92)
        let pages = isCountValid ? max(Self.number(header, 28), 1) : 1
        if size < pages * pageSize, !hasLog { throw truncated() }
    }

    /// What a file is that is no SQLite database, and what to do with it; nil for a file that is not recognized.
    private static func name(of header: [UInt8], size: Int64) -> (what: String, advice: String)? {
        func has(_ bytes: [UInt8], at offset: Int) -> Bool {
            header.count >= offset + bytes.count && Array(header[offset..<offset + bytes.count]) == bytes
        }
        if has(Array("T-DB".utf8), at: 16) {
            return (
                "a Realm file", "write its objects as JSON with the program that has made it, and store them with 'dao import'"
            )
        }
        if has([0xDE, 0xC0, 0xEF, 0xBE], at: 16) { return ("an LMDB file", "open it with the scheme lmdb") }
        if has(Array("** This file contains an SQLite 2".utf8), at: 0) {
            return ("a file of SQLite 2", "convert it: sqlite .dump old.db | sqlite3 new.db")
        }
        if has(Array("PK\u{3}\u{4}".utf8), at: 0) || has([0x1F, 0x8B], at: 0) {
            return ("a compressed file", "decompress it first")
        }
        // Encrypted bytes are like random ones, and come in pages.
        let isRandom = header.count == 100 && Set(header).count >= 60 && header.count(where: { $0 >= 128 }) >= 30
        guard isRandom, size % 512 == 0 else { return nil }
        return (
            "a file that seems to be encrypted",
            "write an unencrypted copy with the program that has made it, as with 'sqlcipher_export' of SQLCipher"
        )
    }

    private static func number(_ header: [UInt8], _ offset: Int) -> Int64 {
        header[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Whether the index of a log is beside the file, as long as a process has the file open for writing.
    var isShared: Bool { access(resolved + "-shm", F_OK) == 0 }

    /// Marks the log beside the file as that of this file; see ``/DAOCore/FileMark``.
    ///
    /// - Returns: Nil without a log, and on a file system without such locks.
    /// - Throws: `busy` when others use the log with another file.
    func markLog() throws -> FileMark? {
        // SQLite has no locks on the log that closing it could release.
        let descriptor = open(resolved + "-wal", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == EACCES || errno == EPERM { return nil }
            throw Self.systemError(errno, path)
        }
        let mark = FileMark(descriptor, of: identity)
        let isSet = mark.set()
        guard mark.isOfOthers else { return isSet ? mark : nil }
        throw StorageError(
            .busy,
            "the file that was at the path before is still open, with the log that is beside it; close that database, in "
                + "whichever process it is, and try again. Nothing was changed", path: path)
    }

    /// Whether the file is on a file system that cannot be written.
    var isOnReadOnlyVolume: Bool {
        var status = statvfs()
        return statvfs(path, &status) == 0 && UInt(status.f_flag) & UInt(ST_RDONLY) != 0
    }

    /// Whether a power cut has torn the file while SQLite created it. The first transaction is in the journal beside
    /// the file, and SQLite undoes it.
    private func isTornAtCreation(_ header: [UInt8]) -> Bool {
        let isNew = header.prefix(16) == Self.magic.prefix(header.count) || header.allSatisfy { $0 == 0 }
        return isNew && hasJournalOfCreation
    }

    /// Undoes the creation of an encrypted file, of which SQLite with the key could read nothing: without one it makes the file empty, as
    /// the journal says. A process that creates the file now has locks, and is not disturbed.
    private func undoCreation() {
        var handle: OpaquePointer?
        if sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK {
            sqlite3_exec(handle, "PRAGMA schema_version", nil, nil, nil)
        }
        sqlite3_close_v2(handle)
    }

    /// Whether the journal beside the file is that of its first transaction.
    private var hasJournalOfCreation: Bool {
        guard let journal = FileHandle(forReadingAtPath: resolved + "-journal"),
            let start = try? journal.read(upToCount: 20), start.count == 20
        else { return false }
        // The mark of a journal, a number of pages, a random number, and the length of the file before, in pages.
        return start.prefix(8).elementsEqual([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
            && start.suffix(4).allSatisfy { $0 == 0 }
    }

    /// Whether a log or its index is beside the file, even an empty one.
    var isLogThere: Bool { isShared || access(resolved + "-wal", F_OK) == 0 }

    /// Whether there is a log or a journal beside the file that is not empty.
    var hasLog: Bool {
        ["-wal", "-journal"].contains { suffix in
            var status = stat()
            return stat(resolved + suffix, &status) == 0 && status.st_size > 32
        }
    }
}
