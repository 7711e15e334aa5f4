import DAOCore
import DAOLMDB
import DAOPostgres
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
    static let drivers = DatabaseDrivers(.sqlite, .lmdb, .postgres)

    /// The configuration of a URL, or of the path of a file that is there, whose first bytes say which database has made it.
    static func configuration(of text: String) throws -> DatabaseConfiguration {
        let isURL = drivers.schemes.contains { text.lowercased().hasPrefix("\($0):") }
        if !isURL, FileManager.default.fileExists(atPath: text) {
            let head = FileHandle(forReadingAtPath: text)?.readData(ofLength: 20) ?? Data()
            // The mark of LMDB, in the byte order of the machine.
            let isLMDB = head.dropFirst(16).elementsEqual(withUnsafeBytes(of: UInt32(0xBEEF_C0DE), Array.init))
            return DatabaseConfiguration(scheme: isLMDB ? DatabaseDriver.lmdb.scheme : DatabaseDriver.sqlite.scheme, path: text)
        }
        if text.contains(":") { return try DatabaseConfiguration(url: text) }
        throw StorageError(
            .notFound,
            "there is no file '\(text)'; before the path of a database that is to be made stands its kind, as in sqlite:\(text)",
            path: text)
    }

    /// Opens the database of a command's word for a closure, with the key that its options give, and closes it.
    static func using<Result>(
        _ arguments: Arguments, _ access: Access, word: String = "URL", _ body: (any Database) async throws -> Result
    ) async throws -> Result {
        try await using(arguments.configuration(word), access) { database in
            if access != .reads { try refuseForeign(database, arguments.word(word)) }
            return try await body(database)
        }
    }

    /// Refuses to write to another program's file, and says what to do instead.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - url: Its URL as somebody has typed it.
    static func refuseForeign(_ database: any Database, _ url: String) throws {
        guard database.capabilities.isReadOnly, let file = try ForeignFile(database, url) else { return }
        throw StorageError(
            .readOnly,
            "another program has made the file, so that nothing is written to it; 'dao move \(file.path) URL' moves its "
                + "\(file.contents) into a database that can be written, and adopt=true in the URL makes this file one. "
                + "Nothing was changed")
    }

    /// Opens a database for a closure, and closes it.
    static func using<Result>(
        _ configuration: DatabaseConfiguration, _ access: Access, _ body: (any Database) async throws -> Result
    ) async throws -> Result {
        var configuration = configuration
        if access == .reads { configuration.isReadOnly = true }
        if access != .creates { configuration.createsIfMissing = false }
        if access != .creates, let path = configuration.file, !FileManager.default.fileExists(atPath: path) {
            throw StorageError(.notFound, "there is no database at the path '\(path)'; check the URL", path: path)
        }
        let database = try open(configuration, access)
        defer { try? database.close() }
        return try await body(database)
    }

    /// Opens a database for reading. The tables of another program's SQLite file are read as the entities that they would become,
    /// from a copy that is removed afterwards.
    static func reading<Result>(
        _ arguments: Arguments, _ body: (any Database) async throws -> Result
    ) async throws -> Result {
        try await using(arguments, .reads) { database in
            guard let file = try ForeignFile(database, arguments.word("URL")) else { return try await body(database) }
            let mapping = try file.mapping()
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent("dao-\(UUID().uuidString)")
            // Nobody else reads what the file of somebody has, and Ctrl-C leaves nothing.
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            Program.leftovers.withLock { $0 = directory }
            defer { Program.removeLeftovers() }
            var configuration = DatabaseConfiguration(
                scheme: "sqlite",
                path: directory.appendingPathComponent(URL(fileURLWithPath: database.configuration.path).lastPathComponent).path)
            // What is sealed stays so.
            configuration.encryption = database.configuration.encryption
            let copy = try SQLiteDatabase(configuration)
            defer { try? copy.close() }
            let progress = Progress()
            defer { progress.end() }
            let report = try file.database.move(by: mapping, to: copy) {
                try Task.checkCancellation()
                progress.show($0.entity, $0.rows, of: $0.total, "rows")
            }
            progress.end()
            Program.complain(
                "another program has made the file, and its tables are read as the entities that they would become; "
                    + (report.problemCount == 0 ? "" : "\(counted(report.problemCount, "value")) could not be read; ")
                    + "'dao inspect \(file.url)' lists them")
            return try await body(copy)
        }
    }

    private static func open(_ configuration: DatabaseConfiguration, _ access: Access) throws -> any Database {
        do {
            return try drivers.open(configuration)
        } catch let error as StorageError where error.kind == .notFound && error.engineMessage == nil && access != .creates {
            // The words for a file would not help.
            guard configuration.file == nil else { throw error }
            throw StorageError(
                .notFound, "there is no database at '\(configuration)'; check the URL, and its option 'schema'")
        }
    }

    /// The number of bytes of a database's files; nil for one on a server.
    static func size(of database: any Database) -> Int? {
        guard let path = database.configuration.file else { return nil }
        return [path, path + "-wal"].reduce(0) { sum, path in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
        }
    }
}

extension DatabaseConfiguration {
    /// The path of the database's file; nil for a database on a server.
    var file: String? { scheme == "postgres" || path.isEmpty ? nil : path }

    /// Throws for a database on a server.
    ///
    /// - Parameters:
    ///   - what: What cannot be done without a file.
    ///   - advice: What to use.
    func requireFile(_ what: String, _ advice: String) throws {
        guard scheme == "postgres" else { return }
        throw StorageError(.unsupported, "a database on a server has no file \(what); use \(advice)")
    }
}
