/// The statements that begin and end the transactions of a connection, made once from its settings.
struct TransactionStatements {
    typealias Command = PostgresConnection.Command

    /// The statements that make the settings of a connection that belongs to one client.
    let setUp: [String]
    /// The commands that begin a transaction that reads tables: a snapshot.
    let snapshot: [Command]
    /// The commands that begin a transaction that reads what no change of a table touches.
    let reading: [Command]
    /// The names of the prepared statements without parameters, by their texts.
    let names: [String: String]

    static let commit = "COMMIT"

    private let gate: String
    /// What follows `BEGIN` in a transaction that writes.
    private let writersOwn: [String]

    init(_ settings: PostgresSettings) {
        // The settings that answers depend on.
        let own = [
            // A temporary table, which somebody else has made, does not stand for a table of the schema.
            "search_path = \(PostgresDialect().quoted(settings.schema)), pg_temp", "standard_conforming_strings = on",
            // Nobody waits for ever: neither this client for others, nor others for this one when its machine has vanished.
            "lock_timeout = \(max(settings.busyTimeout.milliseconds, 1))",
            "statement_timeout = \(settings.statementTimeout.milliseconds)",
        ]
        gate = settings.gate
        setUp = (own + ["tcp_keepalives_idle = 30", "tcp_keepalives_interval = 10", "tcp_keepalives_count = 3"]).map {
            "SET \($0)"
        }
        names = [
            Self.beginWriting(false): "dao_begin", Self.beginWriting(true): "dao_begin_shared",
            Self.lock(gate, false): "dao_lock", Self.lock(gate, true): "dao_lock_shared", Self.commit: "dao_commit",
        ]
        // Behind a pooler the connection may have the settings of any other client. A transaction takes none of them: what an answer
        // or a promise depends on has the server's value for this user, or ours, until the transaction ends. `SET LOCAL` takes no
        // snapshot, so that one taken after a lock is as young as that. A transaction that only reads is rolled back, and with it
        // `RESET ALL`; one that writes names the settings, for `COMMIT` would keep a reset.
        let ours = settings.pooled == nil ? [] : (own + ["client_encoding = 'UTF8'"]).map { "SET LOCAL \($0)" }
        let others = settings.pooled == nil ? [] : ["RESET ALL", "SET LOCAL role TO DEFAULT"]
        reading = (["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"] + others + ours).map(Command.text)
        writersOwn = (settings.pooled == nil ? [] : Self.writersSettings.map { "SET LOCAL \($0) TO DEFAULT" }) + ours
        // Changes of tables are no part of the server's snapshots: a table that is changed after the snapshot was taken would have
        // other columns in it, or no rows. So the gate is shared as long as a snapshot is read, and who changes or drops a table
        // takes it alone.
        snapshot = reading + [.text("LOCK TABLE \(gate) IN ACCESS SHARE MODE")]
    }

    /// The settings, other than our own, with which another client could change what a writing transaction does, or what its
    /// commit is worth. `BEGIN` says what `default_transaction_…` would.
    private static let writersSettings = [
        "role", "synchronous_commit", "row_security", "transform_null_equals", "DateStyle", "idle_in_transaction_session_timeout",
        // Without an index, a serializable transaction meets all others that write to the table.
        "enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan",
        "default_tablespace", "default_table_access_method",
    ]

    /// Returns the statements that begin a transaction that writes, beside others or alone.
    func writing(_ isShared: Bool) -> [String] { [Self.beginWriting(isShared)] + writersOwn }

    /// The statements that begin a transaction of statements that are sent in one message.
    var writingOnce: [String] { ["BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"] + writersOwn }

    /// Returns the statement that takes the gate, beside others or alone.
    func lock(_ isShared: Bool) -> String { Self.lock(gate, isShared) }

    private static func beginWriting(_ isShared: Bool) -> String {
        "BEGIN ISOLATION LEVEL \(isShared ? "SERIALIZABLE" : "REPEATABLE READ") READ WRITE"
    }

    private static func lock(_ gate: String, _ isShared: Bool) -> String {
        "LOCK TABLE \(gate) IN \(isShared ? "ROW SHARE" : "EXCLUSIVE") MODE"
    }
}
