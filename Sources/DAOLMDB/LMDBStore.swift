import DAOCore
import DAOKeyValue
import Foundation

/// An ordered key-value store in an LMDB file.
///
/// Next to the file is a lock file with the suffix `-lock`. Several processes can have the file open at the
/// same time. In a process, all stores on a file share an environment, by any path.
///
/// ```swift
/// let store = try LMDBStore(path: "/var/lib/app.lmdb")
/// let reader = try store.begin(.read)
/// defer { reader.abort() }
/// let value = try reader.get(key)
/// ```
public final class LMDBStore: OrderedKeyValueStore {

    /// The traits of the store, with its path.
    public let traits: KeyValueStoreTraits

    /// The open file, which all stores on it share.
    let environment: LMDBEnvironment
    private let user = EnvironmentUser()

    /// Opens a file, and creates it if the options allow that.
    ///
    /// The file is inspected before it is used. A file that is not a database stays unchanged.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - options: How to open it.
    /// - Throws: `StorageError` with the path, of kind `notFound`, `notADatabase` (also for a directory or a
    ///   device), `corrupted`, `schemaIsNewer`, `readOnly`, `outOfSpace`, `invalidConfiguration`, `busy` or
    ///   `io`.
    public init(path: String, options: LMDBOptions = LMDBOptions()) throws {
        let path = try FilePath.absolute(path)
        environment = try EnvironmentRegistry.shared.environment(path: path, options: options, user: user)
        traits = KeyValueStoreTraits(
            name: "LMDB", path: path, isPersistent: true, isMultiProcess: true,
            isReadOnly: options.isReadOnly || environment.isInReadOnlyPlace, hasBackup: true,
            underlyingType: UnderlyingType(LMDBHandle.self))
    }

    deinit { close() }

    /// Begins a transaction.
    ///
    /// A write transaction waits for the write transaction of another thread or process, up to the timeout of
    /// the options.
    ///
    /// - Parameter access: Whether it only reads.
    /// - Returns: The running transaction.
    /// - Throws: `StorageError`, for instance of kind `busy`, `readOnly` or `closed`.
    public func begin(_ access: KeyValueAccess) throws -> any KeyValueTransaction {
        switch access {
        case .read:
            return try LMDBReadTransaction(environment, user)
        case .write:
            return try beginWriting(within: nil)
        }
    }

    /// Begins a write transaction. Waits up to the given time for the write transaction of another thread or
    /// process.
    public func beginWriting(waiting busyTimeout: Duration) throws -> any KeyValueTransaction {
        try beginWriting(within: busyTimeout / .seconds(1))
    }

    private func beginWriting(within seconds: Double?) throws -> any KeyValueTransaction {
        guard !traits.isReadOnly else {
            throw StorageError.readOnly(traits.path)
        }
        return try environment.beginWriting(user, within: seconds)
    }

    /// The number of the last commit, which LMDB keeps in its lock file.
    public func commitCount() throws -> UInt64? {
        let reader = try environment.takeReader(user)
        defer { environment.leaveReader(reader) }
        return reader.number
    }

    /// Checks every page of the newest snapshot.
    public func verify() throws {
        // The reader prevents the growth of the map.
        let reader = try environment.takeReader(user)
        defer { environment.leaveReader(reader) }
        try environment.checkPages()
    }

    /// Replaces the file by a copy without unused pages.
    public func compact(waiting busyTimeout: Duration) throws -> CompactionReport {
        guard !traits.isReadOnly else { throw StorageError.readOnly(traits.path) }
        return try environment.compact(user, within: busyTimeout / .seconds(1))
    }

    /// Copies the newest snapshot into a file, without its unused pages.
    public func writeBackup(to path: String, onProgress: (BackupProgress) throws -> Void) throws {
        let held = try Self.content(of: environment, user)
        let reader = try environment.takeReader(user)
        defer { environment.leaveReader(reader) }
        try BackupFile.replace(
            path, of: environment.errors.path, with: held, isOpen: LMDBDatabase.isOpen, isDatabase: FileMeta.isDatabase,
            content: Self.content
        ) { _, descriptor in
            try environment.copy(into: descriptor, at: path, as: "backup", onProgress)
        }
    }

    private static func content(of environment: LMDBEnvironment, _ user: EnvironmentUser) throws -> BackupFile.Content {
        let transaction = try LMDBReadTransaction(environment, user)
        defer { transaction.abort() }
        return try BackupFile.Content(of: transaction, path: environment.errors.path)
    }

    /// What the file at a path has, which nobody has open. No lock file is made for it.
    private static func content(at path: String) throws -> BackupFile.Content {
        let errors = LMDBErrors(path: path)
        let options = LMDBOptions(isReadOnly: true, createIfMissing: false)
        let user = EnvironmentUser()
        do {
            var found = try EnvironmentOpening.find(path: path, options: options, errors: errors)
            found.isAlone = true
            guard let environment = try EnvironmentOpening.open(found, options: options, errors: errors) else {
                throw StorageError.busy(path)
            }
            try environment.join(user, options)
            defer { _ = environment.leave(user) }
            return try content(of: environment, user)
        } catch let error as StorageError where error.kind == .notADatabase {
            return .other
        }
    }

    /// The data that LMDB syncs before a commit returns.
    package var syncing: LMDBSyncing { environment.syncing }

    /// Closes the file, unless another store of this process has it open.
    public func close() {
        EnvironmentRegistry.shared.close(environment, user: user)
    }
}

/// The data that LMDB syncs before a commit returns.
package enum LMDBSyncing: Sendable {
    /// The data, then the meta page.
    case everything
    /// The data. The meta page is written, and the system syncs it later.
    case dataOnly
    /// Less than any durability requires.
    case less
}
