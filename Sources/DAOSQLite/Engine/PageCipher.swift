import DAOCore
import DAOSystemSQLite
import Foundation

#if Encryption
    import DAOSQLiteCipher

    /// The key of the connections of an engine. A layer below SQLite seals all that they write with it (contract L14).
    ///
    /// Sendable: the layer's object has a lock of its own, and is released once, with the last user of this one.
    final class PageCipher: @unchecked Sendable {
        private let cipher: OpaquePointer

        /// Asks for the secret of a configuration. It must not hold a lock: the application is asked.
        init(_ encryption: Encryption, path: String) throws {
            let secret = try encryption.secret(path: path)
            let (format, salt): (dao_cipher_format, [UInt8]?) =
                switch encryption.format {
                case .authenticated: (dao_cipher_ours, nil)
                case .sqlCipher(let salt): (dao_cipher_sqlcipher, salt)
                }
            let made = secret.bytes.withUnsafeBufferPointer { bytes in
                dao_cipher_create(bytes.baseAddress, bytes.count, secret.isPassphrase ? 1 : 0, format, salt)
            }
            guard let made else {
                throw StorageError(.outOfSpace, "there is not enough memory; free some and try again", path: path)
            }
            cipher = made
        }

        deinit { dao_cipher_release(cipher) }

        /// Derives the key of a file before it is opened, since it takes long.
        ///
        /// - Parameter beginning: The first 32 bytes of the file and the last 24 of its first page; nil for a file without pages.
        func prepare(_ beginning: (header: [UInt8], tail: [UInt8])?) {
            dao_cipher_prepare(cipher, beginning?.header, beginning?.tail)
        }

        /// Looks what a file is to the key.
        ///
        /// - Returns: Whether the file has pages, which are encrypted with the key.
        /// - Throws: `.notPermitted` for another key and for a plain file, `.schemaIsNewer`, `.corrupted`, `.notADatabase`, `.io`.
        func look(_ database: Int32, log: Int32, journal: Int32, path: String) throws -> Bool {
            switch dao_cipher_look(cipher, database, log, journal) {
            case dao_cipher_empty: return false
            case dao_cipher_opens: return true
            case dao_cipher_plain: throw Self.plain(path)
            case dao_cipher_wrong_key: throw Self.wrongKey(path)
            case dao_cipher_newer:
                throw StorageError(
                    .schemaIsNewer, "the file was encrypted by a later version of this library; use that version", path: path)
            case dao_cipher_damaged: throw Self.error(page: 1, isInLog: false, path: path, entity: nil)
            case dao_cipher_unknown:
                // A file in our format says so. SQLCipher's looks like any random bytes.
                throw StorageError(
                    .notPermitted,
                    "the key opens nothing in the file: it is another key, or the file has other settings than SQLCipher 4 by default, "
                        + "or is damaged or no database, which cannot be told without its key; check the key and the path. Nothing was "
                        + "changed", path: path)
            case dao_cipher_needs_salt:
                throw StorageError(
                    .notPermitted,
                    "the file has the plain header of SQLCipher, and its salt elsewhere; give it as 'salt' of the format. Nothing was changed",
                    path: path)
            case dao_cipher_other: throw StorageError.notADatabase(path, "another file")
            default: throw StorageError(.io, "the operating system failed to read the file; check its disk", path: path)
            }
        }

        /// Opens a connection with the key.
        func open(_ path: String, _ handle: inout OpaquePointer?, _ flags: Int32) -> Int32 {
            dao_cipher_open(path, &handle, flags, cipher)
        }

        /// Opens a connection with the key to an empty file, which gets the format of another connection's file.
        func open(_ path: String, _ handle: inout OpaquePointer?, _ flags: Int32, like other: OpaquePointer) -> Int32 {
            let code = open(path, &handle, flags)
            if code == SQLITE_OK { dao_cipher_use_format(handle, other) }
            return code
        }

        /// Attaches an empty file to a connection that has opened no transaction, as a schema.
        ///
        /// - Parameter file: The URI of the file, without a query.
        func attach(_ file: String, as schema: String, to handle: OpaquePointer) -> Int32 {
            var code = dao_cipher_attach(handle, "ATTACH '\(file)?vfs=\(Self.layer)' AS \(schema)", cipher)
            if code == SQLITE_OK { code = dao_cipher_reserve(handle, schema) }
            return code
        }

        /// The name of the layer, as an SQLite VFS.
        private static let layer = String(cString: dao_cipher_layer())

        /// Whether a file could be an encrypted one that does not say so.
        static func looksEncrypted(_ descriptor: Int32) -> Bool { dao_cipher_looks_random(descriptor) != 0 }

        /// Whether two databases have the same key.
        func isSame(as other: PageCipher) -> Bool { dao_cipher_is_same(cipher, other.cipher) != 0 }

        /// Whether the beginning of a file is that of an encrypted one.
        static func isEncrypted(header: [UInt8], tail: [UInt8]) -> Bool {
            header.count >= 32 && tail.count == 24 && dao_cipher_is_ours(header, tail) != 0
        }
    }

    extension SQLiteConnection {
        /// Reserves the bytes of the format in each page of a file that is still empty.
        func reserveSeals() throws {
            let code = dao_cipher_reserve(handle, "main")
            if code != SQLITE_OK { throw failure(code) }
        }

        /// Returns the error for the last page that was not what was sealed; nil when all pages were.
        func brokenSeal(_ message: String, entity: String?) -> StorageError? {
            let damage = dao_cipher_damage(handle)
            if damage.page == 0 { return nil }
            if damage.is_foreign_log != 0 {
                movesLog = true
                return StorageError(
                    .busy,
                    "a program that writes SQLCipher's log in another way uses the file at the same time, and a power cut would lose "
                        + "commits; end that program, and try again. Nothing was written, and what the log had is in the file now",
                    entity: entity, path: path,
                    engineCode: Int(PageChecksums.mismatch), engineMessage: message)
            }
            return PageCipher.error(page: damage.page, isInLog: damage.is_in_log != 0, path: path, entity: entity)
        }
    }
#else
    /// What a program that was built without the trait `Encryption` has instead of a key: nothing can be made of it.
    final class PageCipher: Sendable {
        init(_ encryption: Encryption, path: String) throws {
            throw StorageError.encryptionUnsupported(
                "a file", "build the program with the trait 'Encryption' of the package swift-dao", path: path)
        }

        func prepare(_ beginning: (header: [UInt8], tail: [UInt8])?) {}
        func look(_ database: Int32, log: Int32, journal: Int32, path: String) throws -> Bool { throw Self.plain(path) }
        func open(_ path: String, _ handle: inout OpaquePointer?, _ flags: Int32, like other: OpaquePointer? = nil) -> Int32 {
            SQLITE_AUTH
        }
        func isSame(as other: PageCipher) -> Bool { false }
        func attach(_ file: String, as schema: String, to handle: OpaquePointer) -> Int32 { SQLITE_AUTH }
        static func looksEncrypted(_ descriptor: Int32) -> Bool { false }

        /// Whether the beginning of a file is that of an encrypted one: its mark, which such a program knows, too.
        static func isEncrypted(header: [UInt8], tail: [UInt8]) -> Bool {
            header.count >= 32 && header[20] == 64 && tail.count == 24 && tail[16] >= 1 && (1...2).contains(tail[17])
        }
    }

    extension SQLiteConnection {
        func reserveSeals() throws {}
        func brokenSeal(_ message: String, entity: String?) -> StorageError? { nil }
    }
#endif

extension PageCipher {
    static func plain(_ path: String) -> StorageError {
        StorageError(
            .notPermitted,
            "the file is not encrypted; open it without a key, or encrypt it with copy(to:) or 'dao encrypt'. Nothing was changed",
            path: path)
    }

    static func wrongKey(_ path: String) -> StorageError {
        StorageError(.notPermitted, "the file is encrypted with another key; give that key. Nothing was changed", path: path)
    }

    /// The error for a file that may be in SQLCipher's format, which does not say so.
    static func unmarked(_ path: String) -> StorageError {
        StorageError(
            .notPermitted,
            "the file is encrypted in the format of SQLCipher, or no database, which cannot be told without its key; give its key as "
                + "'encryption' of the configuration, or check the path. Nothing was changed", path: path)
    }

    static func missing(_ path: String) -> StorageError {
        StorageError(
            .notPermitted, "the file is encrypted; give its key as 'encryption' of the configuration. Nothing was changed",
            path: path)
    }

    /// Returns the error for a page that is not what was sealed.
    static func error(page: Int64, isInLog: Bool, path: String, entity: String?) -> StorageError {
        StorageError(
            .corrupted,
            "page \(page) of the \(isInLog ? "file's write-ahead log" : "file") is not what was encrypted: it is damaged, or another "
                + "program changed it; restore the file from a backup",
            entity: entity, path: path, engineCode: Int(PageChecksums.mismatch))
    }
}
