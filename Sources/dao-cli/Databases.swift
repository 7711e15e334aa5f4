import DAOCore
import DAOLMDB
import DAOSQLite
import Foundation

/// How a command uses a database.
enum Access {
    /// It is there, and nothing is changed.
    case reads
    /// It is there.
    case writes
    /// It is made when it is missing.
    case creates
}

enum Databases {
    static let drivers = DatabaseDrivers(.sqlite, .lmdb)

    /// Opens a database for a closure, and closes it.
    static func using<Result>(
        _ url: String, _ access: Access, _ body: (any Database) async throws -> Result
    ) async throws -> Result {
        var configuration = try DatabaseConfiguration(url: url)
        if access == .reads { configuration.isReadOnly = true }
        if access != .creates { configuration.createsIfMissing = false }
        let path = configuration.path
        if access != .creates, !path.isEmpty, !FileManager.default.fileExists(atPath: path) {
            throw StorageError(.notFound, "there is no database at the path '\(path)'; check the URL", path: path)
        }
        let logs = access == .reads ? Logs(of: configuration) : nil
        let database = try drivers.open(configuration)
        defer {
            try? database.close()
            logs?.removeNew()
        }
        return try await body(database)
    }

    /// The number of bytes of a database's files.
    static func size(of database: any Database) -> Int {
        let path = database.configuration.path
        return [path, path + "-wal"].reduce(0) { sum, path in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
        }
    }
}

/// The log and its index beside an SQLite file. Somebody who may only read can make them, but not remove them.
private struct Logs {
    private let configuration: DatabaseConfiguration
    private let wereThere: Bool

    init(of configuration: DatabaseConfiguration) {
        self.configuration = configuration
        wereThere = Self.areThere(configuration.path)
    }

    private static func areThere(_ path: String) -> Bool {
        ["-wal", "-shm"].contains { FileManager.default.fileExists(atPath: path + $0) }
    }

    /// Removes the files when they were not there: SQLite does, when the last connection that may write is closed.
    func removeNew() {
        guard configuration.scheme == "sqlite", !wereThere, Self.areThere(configuration.path) else { return }
        var writing = configuration
        (writing.isReadOnly, writing.busyTimeout) = (false, .zero)
        try? Databases.drivers.open(writing).close()
    }
}
