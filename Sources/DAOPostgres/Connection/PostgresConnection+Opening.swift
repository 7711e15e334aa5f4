import DAOCore
import DAOSystemPostgres
import Foundation

extension PostgresConnection {
    /// The oldest version of the server that can be used.
    private static let oldestVersion: Int32 = 130_000

    /// Connects to a server.
    ///
    /// - Returns: libpq's connection, which the caller sets up and closes.
    static func connect(_ settings: PostgresSettings) throws -> OpaquePointer {
        let connection = try start(settings)
        do {
            try check(connection, settings)
            PQsetNoticeProcessor(connection, { _, _ in }, nil)
            if PQsetnonblocking(connection, 1) != 0 || PQenterPipelineMode(connection) != 1 {
                throw failure(connection, settings)
            }
            return connection
        } catch {
            PQfinish(connection)
            throw error
        }
    }

    private static func start(_ settings: PostgresSettings) throws -> OpaquePointer {
        let names = settings.parameters.keys.sorted()
        var keywords = names.map { UnsafePointer(strdup($0)) } + [nil]
        var values = names.map { UnsafePointer(strdup(settings.parameters[$0] ?? "")) } + [nil]
        defer { for text in keywords + values { free(UnsafeMutablePointer(mutating: text)) } }
        // With several servers libpq knows when to try the next one. It does not then give the code of an error.
        if settings.hostCount > 1 {
            guard let connection = PQconnectdbParams(&keywords, &values, 0) else { throw outOfMemory(settings) }
            if PQstatus(connection) == CONNECTION_OK { return connection }
            defer { PQfinish(connection) }
            throw failure(connection, settings)
        }
        guard let connection = PQconnectStartParams(&keywords, &values, 0) else { throw outOfMemory(settings) }
        // The code of an error is then part of its text.
        PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        let deadline = ContinuousClock.now + .seconds(settings.connectTimeout)
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            if PQstatus(connection) == CONNECTION_BAD { state = PGRES_POLLING_FAILED }
            let remaining = (deadline - .now) / .milliseconds(1)
            if state == PGRES_POLLING_FAILED || remaining <= 0 {
                defer { PQfinish(connection) }
                throw failure(connection, settings)
            }
            var request = pollfd(
                fd: PQsocket(connection), events: Int16(state == PGRES_POLLING_READING ? POLLIN : POLLOUT), revents: 0)
            if poll(&request, 1, Int32(clamping: Int(remaining.rounded(.up)))) > 0 { state = PQconnectPoll(connection) }
        }
        PQsetErrorVerbosity(connection, PQERRORS_DEFAULT)
        return connection
    }

    private static func check(_ connection: OpaquePointer, _ settings: PostgresSettings) throws {
        if PQserverVersion(connection) < oldestVersion {
            throw StorageError(
                .unsupported, "the server is older than PostgreSQL 13; use a newer server", path: settings.path,
                engineCode: Int(PQserverVersion(connection)))
        }
        let encoding = PQparameterStatus(connection, "server_encoding").map { String(cString: $0) } ?? ""
        if encoding != "UTF8" {
            throw StorageError(
                .unsupported, "the database has the encoding \(encoding); create it with the encoding UTF8", path: settings.path)
        }
    }

    /// Returns the error of a connection that could not be opened.
    private static func failure(_ connection: OpaquePointer, _ settings: PostgresSettings) -> StorageError {
        let text = String(cString: PQerrorMessage(connection))
        var state = text.firstMatch(of: /[A-Z]+: +([0-9A-Z]{5}):/).map { String($0.1) } ?? ""
        // libpq checks the server's identity, and asks for the password.
        if state.isEmpty, text.contains("password") { state = "28P01" }
        if state.isEmpty, text.contains("certificate") || text.contains("SSL") || text.contains("root.crt") {
            return StorageError(
                .notPermitted,
                "no trusted connection to the server could be made; check sslmode, sslrootcert and its certificate",
                path: settings.path, engineMessage: text.split(separator: "\n").first.map(String.init))
        }
        if state.isEmpty, text.contains("does not exist"), text.contains("database") { state = "3D000" }
        // The first line is about the error, the others about its place in the server.
        let message = text.split(separator: "\n").first.map(String.init) ?? "no answer in time"
        return ServerError(state: state, message: message).storageError(path: settings.path)
    }

    private static func outOfMemory(_ settings: PostgresSettings) -> StorageError {
        StorageError(.outOfSpace, "there is not enough memory; free some memory and try again", path: settings.path)
    }
}
