import Foundation

/// The databases of many tenants, of which a limited number is open at a time (contract C6).
///
/// ```swift
/// let shops = DatabaseSet(drivers, limit: 64) { tenant in
///     guard tenant.wholeMatch(of: /[a-z0-9]+/) != nil else { throw StorageError(.notFound, "there is no such shop") }
///     return DatabaseConfiguration(scheme: "sqlite", path: "/var/lib/shops/\(tenant).db")
/// }
/// let open = try shops.with("books") { database in
///     try DAO(storage: database.storage(for: Order.self)).count { !$0.isPaid }
/// }
/// ```
///
/// A tenant's database is opened when it is first used. When the limit is reached, the database that was not used for the
/// longest time is closed; one that is in use never is. Where all are in use, a caller waits. Callers that need a database
/// which is being opened wait for that, and all others go on: a server that does not answer stops its own tenants only.
///
/// What counts is what the driver says: a file is one, a database on a server as many as its connections, the option `pool`, and one
/// where databases share connections (`pooler=process`). With `limit: 64` and `pool=2`, 32 schemas are open at a time.
///
/// Use the database in the closure only: it can be closed afterwards. No transaction spans two tenants. Writing to the database of a
/// second tenant inside a transaction of the first is `.unsupported`.
public final class DatabaseSet: Sendable {
    private static let lastNumber = Atomic(0)

    private let number = DatabaseSet.lastNumber.add(1, ordering: .relaxed).newValue
    private let limit: Int
    private let timeout: Duration
    private let idle: Duration
    private let prepare: @Sendable (String) throws -> TenantOpening
    private let state: Lock<TenantPlaces>
    /// Ends waits, and closes what is not used any more.
    private let timers = DispatchQueue(label: "dao.set")

    /// Creates a set. Nothing is opened.
    ///
    /// - Parameters:
    ///   - drivers: The drivers that open the databases.
    ///   - limit: The maximum number of open files and of connections to servers, those that are being opened and closed included.
    ///   - timeout: How long a caller waits for a place.
    ///   - idle: How long a database stays open that nobody uses.
    ///   - configuration: A closure that returns the configuration of a tenant's database. It makes sure that the name is one of a
    ///     tenant before it puts it into a path: a name such as `../other` leads elsewhere. It can be called at any time and on any
    ///     thread, and its errors are those of the caller.
    public convenience init(
        _ drivers: DatabaseDrivers, limit: Int, timeout: Duration = .seconds(5), idle: Duration = .seconds(60),
        configuration: @escaping @Sendable (_ tenant: String) throws -> DatabaseConfiguration
    ) {
        self.init(limit: limit, timeout: timeout, idle: idle) { tenant in
            let configuration = try configuration(tenant)
            let driver = try drivers.driver(of: configuration)
            return TenantOpening(connections: driver.connections(of: configuration), server: configuration.server) {
                try driver.open(configuration)
            }
        }
    }

    /// Creates a set whose databases a closure opens.
    package init(
        limit: Int, timeout: Duration = .seconds(5), idle: Duration = .seconds(60),
        prepare: @escaping @Sendable (String) throws -> TenantOpening
    ) {
        self.limit = limit
        self.timeout = timeout
        self.idle = idle
        self.prepare = prepare
        state = Lock(TenantPlaces(limit: limit))
    }

    /// Calls a closure with the database of a tenant, which stays open as long as the closure runs.
    ///
    /// - Parameters:
    ///   - tenant: The name of the tenant.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    /// - Throws: `.busy` when there was no place for the database in time; the errors of opening it, which every caller gets that
    ///   has waited for this opening; `.invalidConfiguration` when another tenant has the same database open, and when the database
    ///   takes more than the limit; `.closed`; any error of the closure, and of that which makes the configuration.
    public func with<Result>(_ tenant: String, _ body: (any Database) throws -> Result) throws -> Result {
        let database = try take(tenant) ?? waitFor(tenant)
        defer { leave(tenant) }
        return try body(database)
    }

    /// Calls an asynchronous closure with the database of a tenant, which stays open until the closure returns. It does not block the
    /// thread of the calling task.
    ///
    /// - Parameters:
    ///   - tenant: The name of the tenant.
    ///   - isolation: The actor of the caller, on which the closure runs.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    /// - Throws: The errors of the synchronous form; `CancellationError` when the task is cancelled while it waits.
    public func with<Result>(
        _ tenant: String, isolation: isolated (any Actor)? = #isolation, _ body: (any Database) async throws -> Result
    ) async throws -> Result {
        let database: any Database = if let open = try take(tenant) { open } else { try await waitFor(tenant) }
        defer { leave(tenant) }
        return try await body(database)
    }

    /// Calls a closure with the database of a tenant, for which it waits without blocking the thread of the calling task.
    ///
    /// The closure runs on the actor of the caller; see the form with an asynchronous closure.
    public func with<Result>(
        _ tenant: String, isolation: isolated (any Actor)? = #isolation, _ body: (any Database) throws -> Result
    ) async throws -> Result {
        // Without this form, a closure that awaits nothing would choose the synchronous one, which waits on the task's thread.
        let database: any Database = if let open = try take(tenant) { open } else { try await waitFor(tenant) }
        defer { leave(tenant) }
        return try body(database)
    }

    /// Moves the rows of a tenant into another database of any kind, beside callers that read and write, and uses that one from then on
    /// (contract C6, D6).
    ///
    /// ```swift
    /// let server = try drivers.open("postgres://app@db/app?schema=books")
    /// try shops.move("books", into: server) { try places.set("books", to: "postgres://app@db/app?schema=books") }
    /// ```
    ///
    /// The target follows the tenant's database, which hands over when the target is caught up (`follow(into:)`). Then
    /// `noting` says to the closure of the set, for example by a row of a table, that the tenant has another configuration, and the next
    /// callers get the target. Those that are in their closures go on reading the old database; their writes are `.detached`: they call
    /// `with` again. So do those of other processes, whose sets learn of the configuration by their own closures. It blocks its thread.
    ///
    /// - Parameters:
    ///   - tenant: The name of the tenant.
    ///   - target: The other database, which nobody else writes to.
    ///   - onProgress: A closure that is called after each batch of rows and of changes, and says what happens next.
    ///   - noting: A closure that notes the tenant's configuration. When it throws, the old database has handed over all the same: note
    ///     it by hand.
    /// - Returns: What was copied. Its pause is nil when `onProgress` has stopped: the next call goes on.
    /// - Throws: The errors of `with` and of `follow`; any error of `noting`.
    @discardableResult public func move(
        _ tenant: String, into target: any Database,
        onProgress: (FollowProgress) throws -> FollowStep = { $0.isCaughtUp ? .handOver : .goOn }, noting: () throws -> Void
    ) throws -> FollowReport {
        let report = try with(tenant) { try $0.follow(into: target, onProgress: onProgress) }
        if report.pause == nil { return report }
        try noting()
        let new = try opening(of: tenant)
        run(state.withLock { $0.retire(tenant, for: new) })
        return report
    }

    /// The names of the tenants whose databases are open or being opened, sorted.
    public var openTenants: [String] { state.withLock { $0.tenants } }

    /// Closes the databases, those in use when their closures return. It does not wait for these. Later calls throw `.closed`, and so
    /// do those that wait.
    public func close() { run(state.withLock { $0.close() }) }

    // MARK: Places

    /// Returns the database of a tenant, if it is open.
    private func take(_ tenant: String) throws -> (any Database)? { try state.withLock { try $0.take(tenant) } }

    private func waitFor(_ tenant: String) throws -> any Database {
        let call = TenantCall(tenant, try opening(of: tenant), nil)
        run(state.withLock { $0.add(call) })
        return try call.answer(within: timeout) { expire(call) }
    }

    private func waitFor(_ tenant: String) async throws -> any Database {
        let opening = try opening(of: tenant)
        let ticket = UUID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let call = TenantCall(tenant, opening, continuation, ticket)
                let (actions, waits) = state.withLock { ($0.add(call), $0.isWaiting(call)) }
                run(actions)
                // A task that was cancelled before the call was there has looked for it in vain.
                if Task.isCancelled { cancel(ticket) }
                if waits {
                    timers.asyncAfter(deadline: .now() + .milliseconds(Int(timeout.milliseconds))) { [weak self] in
                        self?.expire(call)
                    }
                }
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    private func opening(of tenant: String) throws -> TenantOpening {
        let opening = try prepare(tenant)
        if opening.connections > limit {
            throw StorageError(
                .invalidConfiguration,
                "the database of a tenant takes \(opening.connections) connections, and the limit of the set is \(limit); raise the "
                    + "limit, or lower the option 'pool'")
        }
        return opening
    }

    private func expire(_ call: TenantCall) {
        let isWaiting = state.withLock { $0.removeWaiting(call) }
        guard isWaiting else { return }
        call.end(
            .failure(
                StorageError(
                    .busy, "the databases of other tenants took all \(limit) places for too long; try again, or raise the limit"))
        )
        // It may have stood in the way of others.
        run(state.withLock { $0.advance() })
    }

    private func cancel(_ ticket: UUID) {
        guard let call = state.withLock({ $0.removeCall(ticket) }) else { return }
        call.end(.failure(CancellationError()))
        run(state.withLock { $0.advance() })
    }

    private func leave(_ tenant: String) {
        let (actions, isUnused) = state.withLock { $0.leave(tenant) }
        run(actions)
        if isUnused { closeUnusedLater(after: idle) }
    }

    private func closeUnusedLater(after delay: Duration) {
        timers.asyncAfter(deadline: .now() + .milliseconds(Int(delay.milliseconds))) { [weak self] in
            guard let self else { return }
            let (actions, next) = state.withLock { $0.closeUnused(for: self.idle) }
            run(actions)
            if let next { closeUnusedLater(after: next) }
        }
    }

    /// Does what a change of the places asks for. Opening and closing have threads of their own: neither Dispatch's threads nor the
    /// caller are held by a server that does not answer.
    private func run(_ actions: [TenantPlaces.Action]) {
        for action in actions {
            switch action {
            case .answer(let call, let result): call.end(result)
            case .open(let tenant, let opening):
                Thread.detachNewThread { [self] in
                    let result = Result { try opening.open() }
                    if case .success(let database) = result {
                        database.engineState.join(set: number)
                    }
                    run(state.withLock { $0.didOpen(tenant, result) })
                    // The calls that have asked for it may be cancelled.
                    if state.withLock({ $0.beginWatching() }) { closeUnusedLater(after: idle) }
                }
            case .close(let tenant, let database):
                Thread.detachNewThread { [self] in
                    // What it could not write at its end was told to the calls that have written.
                    try? database.close()
                    run(state.withLock { $0.didClose(tenant) })
                }
            }
        }
    }
}

/// How the database of a tenant is opened.
package struct TenantOpening: Sendable {
    /// What it takes of the limit.
    let connections: Int
    /// Its server; nil for a database in a file.
    let server: String?
    let open: @Sendable () throws -> any Database

    package init(connections: Int = 1, server: String? = nil, open: @escaping @Sendable () throws -> any Database) {
        self.connections = connections
        self.server = server
        self.open = open
    }
}

/// A call that waits for the database of its tenant.
final class TenantCall: Sendable {
    let tenant: String
    let ticket: UUID
    private let prepared: Lock<TenantOpening>
    private let continuation: CheckedContinuation<any Database, any Error>?
    private let result = Lock<Result<any Database, any Error>?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init(
        _ tenant: String, _ opening: TenantOpening, _ continuation: CheckedContinuation<any Database, any Error>?,
        _ ticket: UUID = UUID()
    ) {
        self.tenant = tenant
        prepared = Lock(opening)
        self.continuation = continuation
        self.ticket = ticket
    }

    /// How the database is opened.
    var opening: TenantOpening { prepared.withLock { $0 } }

    /// Opens another database: the tenant has moved while the call waits.
    func openLater(_ opening: TenantOpening) { prepared.withLock { $0 = opening } }

    /// Ends the call. Whoever has removed it from the places calls it, once.
    func end(_ new: Result<any Database, any Error>) {
        if let continuation { return continuation.resume(with: new) }
        result.withLock { $0 = new }
        ended.signal()
    }

    /// Waits for the end of a synchronous call.
    func answer(within timeout: Duration, _ expire: () -> Void) throws -> any Database {
        if ended.wait(timeout: .now() + .milliseconds(Int(timeout.milliseconds))) == .timedOut {
            // An opening that runs has its own end.
            expire()
            ended.wait()
        }
        return try (result.withLock { $0 } ?? .failure(CancellationError())).get()
    }
}
