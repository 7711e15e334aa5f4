import DAOCore
import DAOSQL
import DAOSystemPostgres
import Foundation

/// One connection to the server. Commands are sent together, in libpq's pipeline mode, so that a call costs few round trips.
final class PostgresConnection: @unchecked Sendable {
    // Sendable because one thread uses it at a time: that of its session, or that which counts commits.

    /// A command of a round trip.
    enum Command {
        /// A statement without parameters.
        case text(String)
        /// A statement with parameters of given types.
        case typed(String, [UInt32], Parameters)
        /// A prepared statement.
        case run(String, Parameters)
        /// Prepares a statement, by name and text.
        case prepare(String, String)
        /// Asks for the types of a prepared statement.
        case describe(String)

        /// Whether it runs a prepared statement.
        var isPrepared: Bool { if case .run = self { true } else { false } }
    }

    let settings: PostgresSettings
    /// The connection that carries its commands. One that is shared with other databases is here for a transaction only.
    private var carrier: ServerConnection?
    /// libpq's connection; nil while there is none, which libpq takes for one that is lost.
    var pointer: OpaquePointer? { carrier?.pointer }
    /// Changes when prepared statements have to be prepared again.
    private(set) var epoch = 0

    /// The statements that begin and end its transactions.
    private let statements: TransactionStatements

    /// The number of the server's process for this connection.
    private var process: Int64 = 0

    /// Whether a transaction was begun and not ended.
    private(set) var isInTransaction = false
    /// Whether the transaction writes.
    private(set) var isWriting = false
    /// The error that has ended the transaction.
    var fault: (any Error)?
    /// What begins the transaction, until it is sent with the first command.
    private var beginning: [Command] = []
    /// How many shared connections had been lost when this one got its last one.
    private var knownLosses = 0
    /// What precedes the next command: savepoints.
    private var pending: [String] = []
    /// Whether the transaction is one call, whose commit nobody observes.
    private var isOneCall = false
    /// Whether `COMMIT` is sent with the last commands of the write that runs.
    private var endsWithWrite = false
    /// Whether that write has ended it.
    private(set) var hasCommitted = false
    /// Whether the next transaction must look at the schema before anything else.
    private var beginsAtOnce = false
    /// Whether the statements of each transaction are prepared.
    private var isPrepared = false
    /// Whether the command that ran last was to be cancelled.
    private var wasCancelled = false
    /// How often the transaction has changed the catalog, or undone a change of it.
    private var catalogChanges: UInt64 = 0
    private var hasChangedCatalog: Bool { catalogChanges > 0 }
    /// Whether other write transactions may run beside this one.
    private var isShared = false
    /// Whether no snapshot is read beside it, because it changes tables.
    private var isAlone = false
    /// The number of rows that the transaction has written; for a statement whose rows are not known, one.
    private var written = 0
    /// The row of this client in the table of tokens; nil until it has one.
    var client: UUID?
    /// The number in the last token. It never goes back, not even for a new client.
    private var lastToken: UInt64 = 0
    /// The position in the log that this connection saw last, and whether its server was the primary.
    private(set) var position: UInt64 = 0
    private(set) var isOfPrimary = false
    /// The required position that its server is known to have.
    var reached: UInt64 {
        get { carrier?.reached ?? 0 }
        set { carrier?.reached = newValue }
    }
    /// The version of the schema at the beginning of the write transaction.
    private var version: UInt64 = 0

    /// The batch that holds rows back.
    weak var holding: PostgresRowBatch?
    /// Counts the statements that write rows whose keys are not known.
    private(set) var unknownWrites = 0
    /// Counts the rows that were written one by one, and keeps the last number of each in an entity whose keys were announced.
    private(set) var writes = 0
    private var writesByKey: [String: [Key: Int]] = [:]
    /// The names of prepared statements that are no longer used.
    private var unused: [String] = []
    private var lastName = 0

    var path: String { settings.path }

    /// The version of the server, such as 15.4.
    private(set) var serverVersion = ""

    init(_ settings: PostgresSettings) throws {
        self.settings = settings
        statements = TransactionStatements(settings)
        try take()
        try setUp()
    }

    deinit { giveBack() }

    /// Gets the connection that carries the next commands: a new one, or one that is shared with other databases.
    private func take() throws {
        guard carrier == nil else { return }
        let new =
            if let shared = settings.shared {
                try shared.take(waiting: settings.busyTimeout, path: path) { try Self.connect(settings) }
            } else {
                ServerConnection(try Self.connect(settings))
            }
        let version = PQserverVersion(new.pointer)
        serverVersion = "\(version / 10_000).\(version % 10_000)"
        carrier = new
        if let losses = settings.shared?.losses, losses != knownLosses {
            knownLosses = losses
            epoch += 1
        }
    }

    /// Lets other databases have the connection, when they share it.
    private func giveBack() {
        guard let shared = settings.shared, let carrier else { return }
        self.carrier = nil
        shared.put(carrier)
    }

    /// Lets other databases have the connection, unless a transaction needs it.
    private func giveBackIfUnused() {
        guard settings.shared != nil, !isInTransaction else { return }
        switch PQtransactionStatus(pointer) {
        case PQTRANS_INTRANS, PQTRANS_INERROR: break
        default: giveBack()
        }
    }

    /// Connects again when the connection was lost while nobody used it.
    func revive() throws {
        try take()
        var request = pollfd(fd: PQsocket(pointer), events: Int16(POLLIN), revents: 0)
        // A message of the server precedes the end of the connection.
        while PQstatus(pointer) == CONNECTION_OK, poll(&request, 1, 0) > 0, PQconsumeInput(pointer) == 1 {}
        if PQstatus(pointer) != CONNECTION_OK { try reconnect() }
        do {
            try reachRequiredPosition()
        } catch {
            giveBackIfUnused()
            throw error
        }
    }

    /// Replaces a connection that was lost while nobody used it, before a call looks for its prepared statements: those of the
    /// old connection are gone.
    func willUsePrepared() throws {
        // Another standby can be behind the one that was asked whether it has caught up.
        if !isInTransaction, !settings.isOfStandby { try revive() }
    }

    /// Replaces the connection.
    func reconnect() throws {
        try take()
        do {
            try carrier?.replace(Self.connect(settings))
        } catch {
            giveBack()
            throw error
        }
        unused = []
        pending = []
        isPrepared = false
        epoch += 1
        position = 0
        try setUp()
    }

    /// Makes the settings of a new connection. Behind a pooler each transaction makes its own.
    private func setUp() throws {
        if settings.pooled != nil { return }
        do {
            let results = try send(
                (statements.setUp + [Self.askProcess]).map(Command.text), 0, Patience(.seconds(settings.connectTimeout)))
            process = results.last?.integer(0, 0) ?? 0
        } catch {
            abandon()
            throw (error as? ServerError)?.storageError(path: path) ?? error
        }
    }

    private static let askProcess = "SELECT pg_catalog.pg_backend_pid()"

    /// Checks that a pooler that is in front of the server gives a connection of the server to one client as long as that is
    /// connected, or with `pooler=transaction` for a transaction. All that a connection remembers, such as prepared statements and
    /// the schema, is otherwise another client's.
    func checkPooler() throws {
        if settings.pooled != nil {
            // In statement mode, a pooler ends a connection whose transaction lasts for more than one answer.
            do {
                defer { giveBackIfUnused() }
                for statement in ["BEGIN", "ROLLBACK"] { _ = try send([.text(statement)], 0) }
                return
            } catch let error as ServerError {
                throw error.storageError(path: path)
            }
        }
        // A pooler has numbers of its own.
        if process == Int64(PQbackendPID(pointer)) { return }
        let other = try PostgresConnection(settings)
        for connection in [self, other, self, other] {
            let process = try connection.rows(Self.askProcess).first?.integer(0)
            // A shared connection goes from client to client.
            if process != connection.process || self.process == other.process { throw sharedConnection }
        }
    }

    private var sharedConnection: StorageError {
        StorageError(
            .unsupported,
            "a pooler shares the server's connections between transactions; open the database with pooler=transaction, use the "
                + "pooler's session mode, or connect to the server",
            path: path)
    }

    /// Ends the connection. The next call that is in no transaction connects again.
    func abandon() {
        shutdown(PQsocket(pointer), Int32(SHUT_RDWR))
        while PQstatus(pointer) == CONNECTION_OK, PQconsumeInput(pointer) == 1 {}
    }

    /// A new name for a prepared statement or a cursor.
    func newName() -> String {
        lastName += 1
        return "dao_\(lastName)"
    }

    /// Lets a prepared statement be removed with a later command.
    func discard(_ name: String, _ epoch: Int) {
        if epoch == self.epoch, settings.pooled == nil { unused.append(name) }
    }

    // MARK: Round trips

    /// Sends commands in one message.
    ///
    /// - Parameters:
    ///   - commands: The commands.
    ///   - isCancellable: Whether the cancellation of the task cancels the running one.
    ///   - limit: How long nothing may come; nil for as long as the server may work on a statement.
    ///   - commits: Whether the last one ends the transaction.
    /// - Returns: Their results, in order.
    /// - Throws: ``ServerError`` of the first one that failed. Those after it had no effect.
    func exchange(
        _ commands: [Command], isCancellable: Bool = true, within limit: Duration? = nil, commits: Bool = false
    ) throws -> [PostgresResult] {
        // Prepared statements are of the connection for which ``willUsePrepared()`` was called.
        if !commands.contains(where: \.isPrepared) { try willUsePrepared() }
        let asksPosition = settings.seen != nil && (commits || !isInTransaction || !beginning.isEmpty)
        let first = beginning + pending.map(Command.text)
        beginning = []
        pending = []
        defer { giveBackIfUnused() }
        var results = try send(
            first + commands + (asksPosition ? [.text(SeenPosition.query)] : []), first.count,
            Patience(limit ?? settings.patience, isCancellable: isCancellable && CallCancellation.isPossible))
        if asksPosition { note(results.removeLast()) }
        results.removeFirst(first.count)
        return results
    }

    /// Remembers the position that the server has answered.
    private func note(_ result: PostgresResult) {
        guard let log = result.logPosition else { return }
        position = log
        isOfPrimary = result.integer(0, 1) == 0
        settings.seen?.note(position)
    }

    func send(_ commands: [Command], _ preceding: Int, _ patience: Patience? = nil) throws -> [PostgresResult] {
        let patience = patience ?? Patience(settings.patience)
        var sent = 0
        for command in commands {
            if send(command) == 0 { break }
            sent += 1
        }
        let isSent = sent == commands.count && PQpipelineSync(pointer) == 1
        guard isSent else {
            throw ServerError(state: "", message: String(cString: PQerrorMessage(pointer)))
        }
        for _ in 0..<(carrier?.unread ?? 0) {
            while let result = nextResult(patience) { PQclear(result) }
            if let sync = nextResult(patience) { PQclear(sync) }
        }
        carrier?.unread = 0
        var results: [PostgresResult] = []
        var failure: ServerError?
        for number in 0..<commands.count {
            guard let result = nextResult(patience) else { break }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: results.append(PostgresResult(result))
            case PGRES_PIPELINE_ABORTED: PQclear(result)
            default:
                if failure == nil {
                    failure = ServerError(result)
                    failure?.number = number - preceding
                }
                PQclear(result)
            }
            // The end of the results of the command.
            while let rest = nextResult(patience) { PQclear(rest) }
            if PQstatus(pointer) != CONNECTION_OK { break }
        }
        if PQstatus(pointer) == CONNECTION_OK, let sync = nextResult(patience) { PQclear(sync) }
        wasCancelled = patience.hasCancelled
        // A cancellation that is still under way would hit a later command.
        if !patience.endCancelling() { abandon() }
        if var failure {
            if failure.isOutdated { settings.pooled?.removeAll() }
            failure.isCancelled = patience.hasCancelled && failure.state == "57014"
            throw failure
        }
        guard results.count == commands.count else {
            throw ServerError(
                state: "",
                message: patience.isOver ? "the server has stopped answering" : String(cString: PQerrorMessage(pointer)))
        }
        return results
    }

    /// Waits for the next result; nil at the end of the results of a command, and when the connection is lost.
    func nextResult(_ patience: Patience) -> OpaquePointer? {
        while true {
            let isUnsent = PQflush(pointer) == 1
            if PQisBusy(pointer) == 0 { return PQgetResult(pointer) }
            if patience.isOver {
                abandon()
                return nil
            }
            var request = pollfd(
                fd: PQsocket(pointer), events: Int16(isUnsent ? POLLIN | POLLOUT : POLLIN), revents: 0)
            if poll(&request, 1, patience.nextWait) > 0 {
                if request.revents & ~Int16(POLLOUT) != 0 { _ = PQconsumeInput(pointer) }
                patience.restart()
            } else {
                patience.didWait(for: pointer)
            }
        }
    }

    private func send(_ command: Command) -> Int32 {
        switch command {
        case .text(let text): return PQsendQueryParams(pointer, text, 0, nil, nil, nil, nil, 1)
        case .prepare(let name, let text): return PQsendPrepare(pointer, name, text, 0, nil)
        case .describe(let name): return PQsendDescribePrepared(pointer, name)
        case .typed(let text, let types, let parameters):
            return withValues(of: parameters) { values, lengths, formats in
                PQsendQueryParams(pointer, text, Int32(parameters.count), types, values, lengths, formats, 1)
            }
        case .run(let name, let parameters):
            return withValues(of: parameters) { values, lengths, formats in
                PQsendQueryPrepared(pointer, name, Int32(parameters.count), values, lengths, formats, 1)
            }
        }
    }

    /// Calls a closure with the addresses, lengths and forms of values, as libpq wants them.
    private func withValues(
        of parameters: Parameters, _ body: ([UnsafePointer<CChar>?], [Int32], [Int32]) -> Int32
    ) -> Int32 {
        // libpq copies the values before it returns. An empty array may have no address, which would mean null.
        (parameters.bytes.isEmpty ? [0] : parameters.bytes).withUnsafeBytes { bytes in
            let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let places = parameters.places
            return body(
                places.map { place in place.flatMap { base?.advanced(by: $0.lowerBound) } },
                places.map { Int32($0?.count ?? 0) }, Array(repeating: 1, count: places.count))
        }
    }

    /// Sends commands in one message. In a transaction a failed command undoes only what they have done.
    ///
    /// - Parameters:
    ///   - commands: The commands.
    ///   - texts: Describes them to instruments.
    ///   - entity: The entity of the statement, for errors.
    func run(_ commands: [Command], _ text: @autoclosure () -> String, entity: String) throws -> [PostgresResult] {
        do {
            return try protected(commands, text())
        } catch let error as ServerError {
            if error.isOutdated { epoch += 1 }
            throw error.failure(path: path, entity: entity)
        }
    }

    /// Lets all statements be prepared again.
    func forgetStatements() {
        epoch += 1
        settings.pooled?.removeAll()
    }

    /// Sends commands that read outside of a transaction. Behind a pooler they get one of their own, in the same message.
    private func runAlone(_ commands: [Command]) throws -> [PostgresResult] {
        guard settings.pooled != nil else { return try exchange(commands) }
        return try run(commands, between: statements.reading, and: "ROLLBACK")
    }

    /// Sends statements in a transaction of their own that commits.
    ///
    /// - Parameters:
    ///   - texts: The statements.
    ///   - wait: How long to wait for locks.
    ///   - limit: How long nothing may come; nil for as long as the server may work on a statement.
    /// - Returns: Their results, in order.
    /// - Throws: ``ServerError`` of the first one that failed. Nothing of the transaction is stored.
    func commitAlone(_ texts: [String], waiting wait: Duration, within limit: Duration? = nil) throws -> [PostgresResult] {
        let beginning = statements.writingOnce + ["SET LOCAL lock_timeout = \(max(wait.milliseconds, 1))"]
        return try run(
            texts.map(Command.text), between: beginning.map(Command.text), and: TransactionStatements.commit,
            isCancellable: false,
            within: limit)
    }

    /// Sends commands in a transaction of their own, in one message.
    ///
    /// - Throws: ``ServerError`` of the first one that failed, with its number among the commands.
    private func run(
        _ commands: [Command], between beginning: [Command], and end: String, isCancellable: Bool = true,
        within limit: Duration? = nil
    ) throws -> [PostgresResult] {
        do {
            return try exchange(beginning + commands + [.text(end)], isCancellable: isCancellable, within: limit)
                .dropFirst(beginning.count).dropLast()
        } catch var error as ServerError {
            // A pooler gives the connection away when the transaction has ended.
            if PQstatus(pointer) == CONNECTION_OK { _ = try? send([.text("ROLLBACK")], 0) }
            giveBackIfUnused()
            error.number -= beginning.count
            throw error
        }
    }

    /// Sends commands as ``run(_:_:entity:)`` does.
    ///
    /// - Parameters:
    ///   - isLast: Whether they are the last ones of a write that needs no results. Where the transaction is that write, `COMMIT` is
    ///     sent with them.
    ///   - goesOn: Whether the write goes on when one of them fails.
    /// - Throws: ``ServerError``; any other error when the transaction has ended.
    @discardableResult func protected(
        _ commands: [Command], _ text: @autoclosure () -> String, isLast: Bool = false, goesOn: Bool = false
    ) throws -> [PostgresResult] {
        if let fault { throw fault }
        let timer = StatementTimer.isUsed ? StatementTimer.begin() : nil
        defer { timer?.end(text(), runs: 1) }
        let (beginning, savepoints) = (beginning, pending)
        pending = unused.map { "DEALLOCATE \($0)" } + pending
        unused = []
        guard isInTransaction else { return try runAlone(commands) }
        let commits = isLast && endsWithWrite
        let (ending, token) = commits ? ending() : ([], nil)
        // A transaction in which nothing was done can begin again.
        let isFirst = !beginning.isEmpty
        // One that ends with its only row has nothing to keep: what the error has to say is read in a new one.
        let isOnly = commits && written == 1 && commands.count == 1 && !goesOn
        let isWhole = isFirst || isOnly
        let all = isWhole ? commands : [.text("SAVEPOINT dao_call")] + commands + [.text("RELEASE dao_call")]
        do {
            let results = try exchange(all + ending, commits: commits)
            if commits {
                // The server does not wait for its standby any more when a commit is cancelled.
                if wasCancelled, let token { _ = try isStored(token, after: ServerError(state: "57014", message: "")) }
                forget()
                hasCommitted = true
            }
            return isWhole ? Array(results.prefix(commands.count)) : Array(results[1...commands.count])
        } catch var error as ServerError {
            if commits, error.isLoss || error.number >= all.count {
                try didFailToCommit(error, number: error.number - all.count, of: ending.count, token)
                hasCommitted = true
                return []
            }
            if error.number < 0 { throw failureToBegin(error) }
            if !isWhole { error.number -= 1 }
            do {
                _ = try send(isWhole ? [.text("ROLLBACK")] : [.text("ROLLBACK TO dao_call"), .text("RELEASE dao_call")], 0)
                if isFirst {
                    (self.beginning, pending) = (beginning, savepoints)
                } else if isOnly {
                    self.beginning = statements.snapshot
                    endsWithWrite = false
                }
            } catch {
                fault = fault ?? (error as? ServerError)?.storageError(path: path) ?? error
            }
            throw error
        }
    }

    /// Sends what waits for the next command, and reads the answers that nobody has waited for.
    func sendPending() throws {
        if let fault { throw fault }
        if !beginning.isEmpty || !pending.isEmpty || carrier?.unread ?? 0 > 0 {
            _ = try protected([.text("SELECT 1")], "SELECT 1")
        }
    }

    /// Writes the rows that a batch holds back.
    func sendHeld() throws {
        let batch = holding
        holding = nil
        try batch?.send()
    }

    // MARK: Written rows

    func didWrite(_ key: Key?, of entity: String) {
        written += 1
        guard let key else { return unknownWrites += 1 }
        writes += 1
        writesByKey[entity]?[key] = writes
    }

    /// Begins to remember which rows are written, before keys are announced.
    func willPrefetch(_ entity: String) { writesByKey[entity] = writesByKey[entity] ?? [:] }

    /// Whether a row was written one by one after the first writes.
    func hasWritten(_ key: Key, of entity: String, after writes: Int) -> Bool { writesByKey[entity]?[key] ?? 0 > writes }
}

// MARK: Transactions

extension PostgresConnection: SQLConnection {
    func beginReading() throws {
        if isInTransaction { return }
        // A standby was asked whether it has caught up.
        if !settings.isOfStandby { try revive() }
        beginning = statements.snapshot
        isInTransaction = true
    }

    func beginSnapshot() throws {
        if isInTransaction { return }
        // The first query takes the snapshot.
        try begin(statements.snapshot + [.text("SELECT 1")])
    }

    func beginWriting(_ write: SQLWrite) throws {
        if isInTransaction { return }
        if client == nil { try register() }
        let wait = write.settings.busyTimeout
        // Those that run side by side share the gate. Who changes tables, and who knows of one writer only, has it alone.
        let isShared = settings.writers > 1 && !write.changesTables
        var texts = statements.writing(isShared)
        if wait != settings.busyTimeout { texts.append("SET LOCAL lock_timeout = \(max(wait.milliseconds, 1))") }
        // A transaction that reads all of a small table would meet every other one that writes to it.
        if isShared { texts.append("SET LOCAL enable_seqscan = off") }
        if write.settings.durability == .relaxed { texts.append("SET LOCAL synchronous_commit = off") }
        // The snapshot is taken after the lock, by the last statement.
        texts.append(statements.lock(isShared) + (wait == .zero ? " NOWAIT" : ""))
        if let known = write.knownVersion, !beginsAtOnce {
            try revive()
            try prepareTransactions()
            var parameters = Parameters()
            try parameters.append(Int64(bitPattern: known), as: TypeID.int8)
            if settings.pooled == nil {
                try parameters.append(process, as: TypeID.int8)
                beginning = texts.map(command) + [.run(Self.checkVersion, parameters)]
            } else {
                beginning = texts.map(Command.text) + [.typed(checkPooledVersion, [TypeID.int8], parameters)]
            }
            isInTransaction = true
            version = known
            isOneCall = !write.isObserved
            endsWithWrite = isOneCall && write.scope != .any
        } else {
            texts.append("SELECT version, pg_catalog.pg_backend_pid() FROM \(settings.gate)")
            let results = try begin(texts.map(Command.text))
            beginsAtOnce = false
            if settings.pooled == nil, let process = results.last?.integer(0, 1), process != self.process {
                end()
                throw sharedConnection
            }
            version = UInt64(bitPattern: results.last?.integer(0, 0) ?? 0)
        }
        isWriting = true
        self.isShared = isShared
    }

    func lastWriteFollows() { endsWithWrite = isOneCall }

    /// Lets the transaction end later than with the write that was taken for its last one.
    func moreWritesFollow() { endsWithWrite = false }

    /// The statement that begins to read, with which a call fails whose tables are not the stored ones, or whose connection to
    /// the server is shared with other clients.
    private static let checkVersion = "dao_version"
    private var checkVersionText: String {
        "SELECT 1 / (version = $1 AND pg_catalog.pg_backend_pid() = $2::int8)::int FROM \(settings.gate)"
    }
    private var checkPooledVersion: String { "SELECT 1 / (version = $1)::int FROM \(settings.gate)" }
    private static let storeToken = (name: "dao_token", text: CommitToken.storing("$1", "$2"))

    /// The command that runs a statement of a transaction that is one call.
    private func command(_ text: String) -> Command {
        guard settings.pooled == nil, let name = statements.names[text] else { return .text(text) }
        return .run(name, Parameters())
    }

    /// Prepares the statements of each transaction that is one call.
    private func prepareTransactions() throws {
        if isPrepared || settings.pooled != nil { return }
        let statements =
            [.prepare(Self.checkVersion, checkVersionText), .prepare(Self.storeToken.name, Self.storeToken.text)]
            + self.statements.names.map { Command.prepare($0.value, $0.key) }
        do {
            _ = try exchange([.text("DEALLOCATE ALL")] + statements)
        } catch let error as ServerError {
            throw error.failure(path: path)
        }
        epoch += 1
        isPrepared = true
    }

    /// Returns the error of a transaction that could not begin, and lets it end.
    private func failureToBegin(_ error: ServerError) -> any Error {
        var failure = error.ofBeginning.failure(path: path)
        if error.state == "22012" || error.state == "26000" {
            // The call is run again, and compares its tables with the stored ones first.
            beginsAtOnce = true
            isPrepared = error.state == "22012"
            var changed = error
            if error.state == "22012" { changed.state = "42704" }
            failure = SQLMissingTable(changed.storageError(path: path), isStatement: true)
        }
        fault = failure
        return failure
    }

    @discardableResult private func begin(_ commands: [Command]) throws -> [PostgresResult] {
        do {
            let results = try exchange(commands)
            isInTransaction = true
            return results
        } catch let error as ServerError {
            if PQstatus(pointer) == CONNECTION_OK { _ = try? send([.text("ROLLBACK")], 0) }
            giveBackIfUnused()
            throw error.ofBeginning.failure(path: path)
        }
    }

    func commit(isObserved: Bool) throws -> (before: UInt64, after: UInt64)? {
        hasCommitted = false
        guard isInTransaction else { return nil }
        do {
            try sendHeld()
        } catch {
            end()
            throw error
        }
        if let fault {
            end()
            throw fault
        }
        if !beginning.isEmpty {
            forget()
            return nil
        }
        // What it has set ends with it.
        if settings.pooled != nil, !isWriting {
            end()
            return nil
        }
        let (commands, token) = ending()
        do {
            let results = try exchange(commands, isCancellable: false, commits: true)
            let tag = results.last.map { String(cString: PQcmdStatus($0.pointer)) }
            isInTransaction = tag == "COMMIT"
            let isDone = isInTransaction
            forget()
            guard isDone else {
                throw StorageError(
                    .invalidTransaction, "the server has rolled the transaction back; run it again from its beginning", path: path
                )
            }
        } catch let error as ServerError {
            try didFailToCommit(error, number: error.number, of: commands.count, token)
        }
        return nil
    }

    /// The commands that end the transaction, and the token that they store when it has written anything.
    private func ending() -> (commands: [Command], token: CommitToken?) {
        var commands: [Command] = []
        if hasChangedCatalog { commands.append(.text("UPDATE \(settings.gate) SET version = version + 1")) }
        let token = written > 0 || hasChangedCatalog ? client.map(nextToken) : nil
        if let token {
            commands.append(
                isOneCall && settings.pooled == nil
                    ? .run(Self.storeToken.name, Parameters(token.client, token.token)) : .text(token.storing))
        }
        return (commands + [isOneCall ? command(TransactionStatements.commit) : .text(TransactionStatements.commit)], token)
    }

    /// Returns the mark of the next commit of a client: a number is enough, since the client's row is its own.
    private func nextToken(_ client: UUID) -> CommitToken {
        lastToken += 1
        let bytes = (UInt64.zero, lastToken.bigEndian)
        return CommitToken(client: client, token: UUID(uuid: unsafeBitCast(bytes, to: uuid_t.self)))
    }

    /// Ends a transaction whose `COMMIT` was not answered, or was refused.
    ///
    /// - Parameters:
    ///   - error: What happened.
    ///   - number: The number of the command that failed, among those that end the transaction.
    ///   - count: The number of these commands.
    ///   - token: The token that they store.
    /// - Throws: The error, unless the transaction is stored.
    private func didFailToCommit(_ error: ServerError, number: Int, of count: Int, _ token: CommitToken?) throws {
        // What fails after the commit does not undo it.
        let isLost = error.isLoss || number >= count
        end()
        guard isLost, let token, try isStored(token, after: error) else { throw error.storageError(path: path) }
    }

    func rollback() {
        hasCommitted = false
        end()
    }

    /// Ends the transaction and discards its writes.
    private func end() {
        holding?.drop()
        holding = nil
        if isInTransaction, beginning.isEmpty, PQstatus(pointer) == CONNECTION_OK {
            // Nobody has to wait for the end of a read.
            if isWriting || fault != nil {
                _ = try? send([.text("ROLLBACK")], 0)
            } else if send(.text("ROLLBACK")) == 1, PQpipelineSync(pointer) == 1 {
                carrier?.unread += 1
                PQflush(pointer)
            }
        }
        if hasChangedCatalog { forgetStatements() }
        forget()
    }

    private func forget() {
        isInTransaction = false
        isWriting = false
        isShared = false
        isAlone = false
        isOneCall = false
        endsWithWrite = false
        fault = nil
        beginning = []
        pending = []
        catalogChanges = 0
        written = 0
        writesByKey = [:]
        giveBack()
    }

    func beginSavepoint() throws {
        try sendHeld()
        pending.append("SAVEPOINT dao")
    }

    func releaseSavepoint() throws {
        try sendHeld()
        if pending.last == "SAVEPOINT dao" { pending.removeLast() } else { pending.append("RELEASE dao") }
    }

    func rollbackSavepoint() throws {
        holding?.drop()
        holding = nil
        unknownWrites += 1
        if fault != nil { return }
        if pending.last == "SAVEPOINT dao" {
            pending.removeLast()
            return
        }
        do {
            _ = try exchange([.text("ROLLBACK TO dao"), .text("RELEASE dao")], isCancellable: false)
        } catch let error as ServerError {
            fault = error.storageError(path: path)
        }
        // A lock that was taken since is given up.
        isAlone = false
        if hasChangedCatalog {
            forgetStatements()
            catalogChanges += 1
        }
    }

    func checkTransaction() throws {
        if let fault { throw fault }
        guard isInTransaction, beginning.isEmpty, PQtransactionStatus(pointer) == PQTRANS_IDLE else { return }
        let error = StorageError(
            .invalidTransaction, "the transaction was ended through the handle of the engine; let the database end it",
            path: path)
        fault = error
        throw error
    }

    var underlyingHandle: (any UnderlyingHandle)? { PostgresHandle(self) }

    // MARK: Statements

    func prepare(_ text: String, entity: String) throws -> SQLStatement { PostgresStatement(text, self, entity: entity) }

    func batch(_ write: SQLRowWrite, of table: SQLTable) throws -> SQLRowBatch { PostgresRowBatch(write, of: table, self) }

    func execute(_ text: String) throws {
        try sendHeld()
        // It changes tables.
        if isShared {
            try lockGate("EXCLUSIVE")
            isShared = false
        }
        // Before it has a table for itself, for which a snapshot would wait.
        if !isAlone, !text.hasPrefix("CREATE") {
            try lockGate("ACCESS EXCLUSIVE")
            isAlone = true
        }
        _ = try run([.text(text)], text, entity: "")
        try catalogDidChange()
        forgetStatements()
        unknownWrites += 1
        written += 1
    }

    private func lockGate(_ mode: String) throws {
        _ = try run([.text("LOCK TABLE \(settings.gate) IN \(mode) MODE")], "LOCK TABLE", entity: "")
    }

    // MARK: Versions

    func schemaVersion() throws -> UInt64 {
        // What the transaction itself has changed gets its number when it commits.
        if isWriting { return hasChangedCatalog ? ~version &- catalogChanges : version }
        return UInt64(bitPattern: try rows("SELECT version FROM \(settings.gate)").first?.integer(0) ?? 0)
    }

    func catalogDidChange() throws { catalogChanges += 1 }

    // The full numbers, which do not wrap around.
    func transactionNumber() throws -> Int64? { try rows("SELECT pg_current_xact_id()::text::bigint").first?.integer(0) }

    func transactionHorizon() throws -> (ended: Int64, next: Int64)? {
        let bounds = try rows(
            "SELECT pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint FROM pg_current_snapshot() AS s")
        guard let ended = bounds.first?.integer(0), let next = bounds.first?.integer(1) else { return nil }
        return (ended, next)
    }
}
