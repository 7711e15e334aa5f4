import DAOCore
import DAOSystemPostgres
import Foundation

/// The mark that a write transaction leaves in its client's row of a small table, so that a client whose `COMMIT` was not
/// answered finds out whether it is stored.
struct CommitToken {
    /// The table. Its rows have the last token of each client.
    static let table = "\"dao_commit\""
    /// How long the row of a client that does not write any more is kept, as PostgreSQL writes it.
    static let retention = "30 days"

    /// The row of the client.
    let client: UUID
    /// The mark of the transaction.
    let token: UUID

    init(client: UUID, token: UUID) { (self.client, self.token) = (client, token) }

    /// Parses ``text``.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { UUID(uuidString: String($0)) }
        guard parts.count == 2, let client = parts[0], let token = parts[1] else { return nil }
        self.init(client: client, token: token)
    }

    /// The token as errors have it.
    var text: String { "\(client)/\(token)".lowercased() }

    /// The statement that stores the token, the last one before `COMMIT`.
    var storing: String { Self.storing("'\(client)'", "'\(token)'") }

    static func storing(_ client: String, _ token: String) -> String {
        "\(insert) (\(client), \(token)) \(onConflict), token = EXCLUDED.token"
    }

    /// The statement that makes the row of a new client, or returns the last token of an old one.
    ///
    /// It waits for a transaction that is storing its token. One that stores it later is refused by the server, since the row
    /// has then changed after its snapshot.
    static func settling(_ client: UUID) -> String { "\(insert) ('\(client)', NULL) \(onConflict) RETURNING token" }

    /// The same for a client that may be forgotten, of which there is no row then.
    static func settlingKnown(_ client: UUID) -> String {
        "UPDATE \(table) SET time = pg_catalog.now() WHERE client = '\(client)' RETURNING token"
    }

    private static let insert = "INSERT INTO \(table) (client, token) VALUES"
    private static let onConflict = "ON CONFLICT (client) DO UPDATE SET time = EXCLUDED.time"
}

// MARK: Lost answers

extension PostgresConnection {
    /// Makes a row for this client, and removes those of clients that are long gone.
    func register() throws {
        let new = UUID()
        try settle([
            CommitToken.settling(new),
            """
            DELETE FROM \(CommitToken.table) WHERE client IN (
              SELECT client FROM \(CommitToken.table) WHERE time < pg_catalog.now() - INTERVAL '\(CommitToken.retention)'
              LIMIT 1000 FOR UPDATE SKIP LOCKED
            )
            """,
        ])
        client = new
    }

    /// Runs statements on the table of tokens in a transaction, and returns the first row of the first one.
    @discardableResult private func settle(_ texts: [String], within wait: Duration? = nil) throws -> CatalogRow? {
        // The server waits for a synchronous standby as long as that is missing.
        let limit = wait ?? settings.busyTimeout + .seconds(settings.connectTimeout)
        do {
            let result = try commitAlone(texts, waiting: wait ?? settings.busyTimeout, within: limit + .milliseconds(200)).first
            return result.flatMap { $0.count > 0 ? CatalogRow(result: $0, row: 0) : nil }
        } catch let error as ServerError {
            throw error.ofBeginning.storageError(path: path)
        }
    }

    /// Asks a server whether a transaction is stored whose `COMMIT` was not answered.
    ///
    /// It connects again until the time for connecting is over. When it returns false, the transaction will never be stored.
    ///
    /// - Parameter loss: What happened to the connection.
    /// - Throws: `.outcomeUnknown` when no server can be asked.
    func isStored(_ token: CommitToken, after loss: ServerError) throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(settings.connectTimeout)
        repeat {
            do {
                try reconnect()
                let row = try settle([CommitToken.settling(token.client)], within: max(deadline - .now, .zero))
                return row?.uuid(0) == token.token
            } catch {
                usleep(50_000)
            }
        } while ContinuousClock.now < deadline
        // The row keeps the token until it is asked for.
        client = nil
        var error = StorageError(
            .outcomeUnknown,
            "the connection was lost during a commit, and no server could be asked whether it is stored; ask for "
                + "the outcome of the error's token later, or look for what the transaction wrote",
            path: path, engineMessage: loss.message)
        error.commitToken = token.text
        throw error
    }

    /// Returns whether a transaction is stored; nil when its client is not known to the server.
    func isStored(_ token: CommitToken) throws -> Bool? {
        try settle([CommitToken.settlingKnown(token.client)]).map { $0.uuid(0) == token.token }
    }
}
