import DAOCore
import DAOPostgres
import DAOSQLite
import DAOSystemPostgres
import Foundation

/// The speed of copying a SQLite database to a PostgreSQL server, compared with COPY of the same rows as ready-made text into a
/// table with the same indexes.
enum PostgresCopyBench {
    /// Prints the median times of both, and how much of COPY's rate the copy has.
    ///
    /// - Parameters:
    ///   - data: The rows.
    ///   - url: The server, without options.
    ///   - repetitions: How often both are measured.
    ///   - directory: The place of the SQLite file.
    static func run(_ data: Dataset<Message>, _ url: String, repetitions: Int, in directory: URL) throws {
        let source = try DatabaseDrivers(.sqlite).open("sqlite:\(directory.path)/source.db")
        defer { try? source.close() }
        try source.storage(for: Message.self).insert(data.records)
        let schema = "bench-\(UUID().uuidString.lowercased())"
        let target = "\(url)?schema=\(schema)"
        defer { try? PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: target)) }
        let raw = try RawCopy(url, schema)
        var (copies, texts): ([Double], [Double]) = ([], [])
        // The first round is a warm-up, and makes the text.
        for round in 0...repetitions {
            let copy = try milliseconds {
                let database = try DatabaseDrivers(.postgres).open(target)
                defer { try? database.close() }
                _ = try source.copy(to: database)
            }
            if round == 0 { try raw.readText(of: "message") }
            try raw.run("TRUNCATE message")
            let text = try milliseconds { try raw.writeText(to: "message") }
            if round > 0 {
                copies.append(copy)
                texts.append(text)
            }
            try PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: target))
        }
        print(
            "copy of \(data.records.count) rows from SQLite, verified by checksum: "
                + String(
                    format: "%.0f ms; COPY of ready-made text: %.0f ms; %.0f %% of its rate", median(copies), median(texts),
                    median(texts) / median(copies) * 100))
    }

    private static func milliseconds(_ work: () throws -> Void) rethrows -> Double {
        try ContinuousClock().measure(work) / .milliseconds(1)
    }
}

/// A connection of libpq.
private final class RawCopy {
    private let connection: OpaquePointer
    private var text: [[UInt8]] = []

    init(_ url: String, _ schema: String) throws {
        guard let connection = PQconnectdb(url) else { throw BenchError("libpq has no memory") }
        self.connection = connection
        guard PQstatus(connection) == CONNECTION_OK else { throw failure }
        try run("SET search_path = \"\(schema)\"")
    }

    deinit { PQfinish(connection) }

    private var failure: BenchError { BenchError(String(cString: PQerrorMessage(connection))) }

    func run(_ sql: String, _ status: ExecStatusType = PGRES_COMMAND_OK) throws {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard PQresultStatus(result) == status else { throw failure }
    }

    /// Reads the rows of a table in the form of COPY, in messages of a million bytes.
    func readText(of table: String) throws {
        try run("COPY \(table) TO STDOUT", PGRES_COPY_OUT)
        var message: [UInt8] = []
        while true {
            var row: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(connection, &row, 0)
            guard count >= 0, let row else { break }
            message += UnsafeRawBufferPointer(start: row, count: Int(count))
            PQfreemem(row)
            if message.count < 1 << 20 { continue }
            text.append(message)
            message = []
        }
        text.append(message)
        try end()
    }

    /// Writes the rows.
    func writeText(to table: String) throws {
        try run("COPY \(table) FROM STDIN", PGRES_COPY_IN)
        for message in text {
            let isSent = message.withUnsafeBytes {
                PQputCopyData(connection, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
            }
            guard isSent == 1 else { throw failure }
        }
        guard PQputCopyEnd(connection, nil) == 1 else { throw failure }
        try end()
    }

    private func end() throws {
        var isDone = true
        while let result = PQgetResult(connection) {
            if PQresultStatus(result) != PGRES_COMMAND_OK { isDone = false }
            PQclear(result)
        }
        guard isDone else { throw failure }
    }
}
