import DAOCore
import DAOKeyValue
import Foundation

/// An ordered key-value store in one file, kept by LMDB.
///
/// Beside the file stands a lock file, whose name has `-lock` added. Several processes may have the file open at once; within
/// a process all stores on a file share one environment, by whatever path they were opened.
///
/// ```swift
/// let store = try LMDBStore(path: "/var/lib/app.lmdb")
/// let reader = try store.begin(.read)
/// defer { reader.abort() }
/// let value = try reader.get(key)
/// ```
public final class LMDBStore: OrderedKeyValueStore {

    /// What the store keeps to, and the path it was opened with.
    public let traits: KeyValueStoreTraits

    /// What the file is known by, whatever the text of its path.
    var identity: String { "\(environment.identity.device):\(environment.identity.inode)" }

    private let environment: LMDBEnvironment
    private let user = EnvironmentUser()

    /// Opens a file, and creates it if the options allow that.
    ///
    /// The file is looked at before it is used. What is not a database is left as it is.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - options: How to open it.
    /// - Throws: `StorageError` with the path, of kind `notFound`, `notADatabase` (also for a directory or a device),
    ///   `corrupted`, `schemaIsNewer`, `readOnly`, `outOfSpace`, `invalidConfiguration`, `busy` or `io`.
    public init(path: String, options: LMDBOptions = LMDBOptions()) throws {
        environment = try EnvironmentRegistry.shared.environment(path: path, options: options, user: user)
        traits = KeyValueStoreTraits(
            name: "LMDB", path: path, isPersistent: true, isMultiProcess: true, isReadOnly: options.isReadOnly,
            underlyingType: UnderlyingType(LMDBHandle.self))
    }

    deinit { close() }

    /// Begins a transaction.
    ///
    /// A write transaction waits for that of another thread or process, as long as the options say.
    ///
    /// - Parameter access: Whether it only reads.
    /// - Returns: The running transaction.
    /// - Throws: `StorageError`, for instance of kind `busy`, `readOnly` or `closed`.
    public func begin(_ access: KeyValueAccess) throws -> any KeyValueTransaction {
        switch access {
        case .read:
            return try environment.beginReading(user)
        case .write:
            return try beginWriting(within: nil)
        }
    }

    /// Begins the transaction that writes, waiting so long for that of another thread or process.
    public func beginWriting(waiting busyTimeout: Duration) throws -> any KeyValueTransaction {
        try beginWriting(within: busyTimeout / .seconds(1))
    }

    private func beginWriting(within seconds: Double?) throws -> any KeyValueTransaction {
        guard !traits.isReadOnly else {
            throw StorageError.readOnly(traits.path)
        }
        return try environment.beginWriting(user, within: seconds)
    }

    /// The number of the last commit, which LMDB keeps beside its locks.
    public func commitCount() throws -> UInt64? {
        let reader = try environment.beginReading(user)
        defer { reader.abort() }
        return reader.number
    }

    /// What LMDB syncs before a commit returns.
    package var syncing: LMDBSyncing { environment.syncing }

    /// Closes the file, unless another store of this process has it open.
    public func close() {
        EnvironmentRegistry.shared.close(environment, user: user)
    }
}

/// What LMDB syncs before a commit returns.
package enum LMDBSyncing: Sendable {
    /// The data, then the page that points to it.
    case everything
    /// The data; the page that points to it is written, and synced by the system in its time.
    case dataOnly
    /// Less than what any durability promises.
    case less
}
