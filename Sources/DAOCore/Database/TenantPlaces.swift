import Foundation

/// Which databases of a ``DatabaseSet`` are open, and who waits for which. It opens and closes nothing itself: its methods return
/// what is to be done, outside of the lock around it.
struct TenantPlaces: Sendable {
    /// What is to be done after a change.
    enum Action: Sendable {
        case open(String, TenantOpening)
        case close(String, any Database)
        case answer(TenantCall, Result<any Database, any Error>)
    }

    private enum Stage: Sendable {
        case opening([TenantCall])
        case open(any Database, users: Int, unusedSince: ContinuousClock.Instant)
        case closing
    }

    private struct Place: Sendable {
        let connections: Int
        let server: String?
        var stage: Stage
        /// Whether the tenant's database is another one by now: who comes waits until this one is closed.
        var isRetired = false
    }

    private let limit: Int
    private var places: [String: Place] = [:]
    /// The calls without a place, first come first.
    private var waiting: [TenantCall] = []
    /// What all places take of the limit, and what those take that are being closed.
    private var taken = 0
    private var closing = 0
    /// What is being opened of each server. One that does not answer must not take all places.
    private var opening: [String: Int] = [:]
    private var isClosed = false
    /// Whether unused databases will be closed later.
    private var isWatched = false

    init(limit: Int) { self.limit = limit }

    var tenants: [String] {
        places.filter { if case .closing = $0.value.stage { false } else { true } }.keys.sorted()
    }

    /// Returns the database of a tenant, if it is open.
    mutating func take(_ tenant: String) throws -> (any Database)? {
        if isClosed { throw StorageError.closed(nil) }
        guard let place = places[tenant], !place.isRetired, case .open(let database, let users, let since) = place.stage else {
            return nil
        }
        places[tenant]?.stage = .open(database, users: users + 1, unusedSince: since)
        return database
    }

    /// Adds a call, which is answered in a result of this or a later change.
    mutating func add(_ call: TenantCall) -> [Action] {
        if isClosed { return [.answer(call, .failure(StorageError.closed(nil)))] }
        waiting.append(call)
        return advance()
    }

    /// Lets nobody begin to use the database of a tenant, which is another one by now, and closes it when nobody uses it any more.
    mutating func retire(_ tenant: String, for new: TenantOpening) -> [Action] {
        for call in waiting where call.tenant == tenant { call.openLater(new) }
        guard let place = places[tenant] else { return [] }
        places[tenant]?.isRetired = true
        if case .open(_, users: 0, _) = place.stage { return close(tenant).map { [$0] } ?? [] }
        return []
    }

    /// Whether a call has no place.
    func isWaiting(_ call: TenantCall) -> Bool { waiting.contains { $0 === call } }

    /// Removes a call that has no place.
    ///
    /// - Returns: Whether it was there.
    mutating func removeWaiting(_ call: TenantCall) -> Bool {
        guard let index = waiting.firstIndex(where: { $0 === call }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Removes a call that waits for a place or an opening, which goes on.
    mutating func removeCall(_ ticket: UUID) -> TenantCall? {
        if let index = waiting.firstIndex(where: { $0.ticket == ticket }) { return waiting.remove(at: index) }
        for (tenant, place) in places {
            guard case .opening(var calls) = place.stage, let index = calls.firstIndex(where: { $0.ticket == ticket }) else {
                continue
            }
            let call = calls.remove(at: index)
            places[tenant]?.stage = .opening(calls)
            return call
        }
        return nil
    }

    /// Gives places to calls that wait, in their order.
    mutating func advance() -> [Action] {
        var actions: [Action] = []
        var rest: [TenantCall] = []
        // A place that the first one waits for is taken by none of those behind it.
        var isFull = false
        for call in waiting {
            if places[call.tenant]?.isRetired == true {
                rest.append(call)
                continue
            }
            switch places[call.tenant]?.stage {
            case .open(let database, let users, let since):
                places[call.tenant]?.stage = .open(database, users: users + 1, unusedSince: since)
                actions.append(.answer(call, .success(database)))
            case .opening(let calls): places[call.tenant]?.stage = .opening(calls + [call])
            case .closing: rest.append(call)
            case nil:
                if isFull || isTooSlow(call.opening) {
                    rest.append(call)
                } else if taken + call.opening.connections <= limit {
                    actions.append(open(call))
                } else {
                    isFull = true
                    rest.append(call)
                    // What is being closed already is for it, too.
                    while taken - closing + call.opening.connections > limit, let unused = longestUnused {
                        if let action = close(unused) { actions.append(action) }
                    }
                }
            }
        }
        waiting = rest
        return actions
    }

    /// Whether a quarter of the limit is being opened at a server already.
    private func isTooSlow(_ new: TenantOpening) -> Bool {
        guard let server = new.server, let others = opening[server] else { return false }
        return others + new.connections > limit / 4
    }

    private mutating func open(_ call: TenantCall) -> Action {
        let new = call.opening
        taken += new.connections
        if let server = new.server { opening[server, default: 0] += new.connections }
        places[call.tenant] = Place(connections: new.connections, server: new.server, stage: .opening([call]))
        return .open(call.tenant, new)
    }

    mutating func didOpen(_ tenant: String, _ result: Result<any Database, any Error>) -> [Action] {
        guard let place = places[tenant], case .opening(let calls) = place.stage else { return [] }
        if let server = place.server {
            let others = opening[server, default: 0] - place.connections
            opening[server] = others > 0 ? others : nil
        }
        var actions: [Action] = []
        switch result {
        case .failure:
            places[tenant] = nil
            taken -= place.connections
            actions = calls.map { .answer($0, result) }
        case .success(let database):
            places[tenant]?.stage = .open(database, users: 0, unusedSince: .now)
            if isClosed {
                if let action = close(tenant) { actions.append(action) }
            } else if let other = otherTenant(of: database.engineState, than: tenant) {
                let error = StorageError(
                    .invalidConfiguration,
                    "the tenants '\(tenant)' and '\(other)' have the same database; give each its own file or schema",
                    path: database.configuration.path)
                actions = calls.map { .answer($0, .failure(error)) }
                if let action = close(tenant) { actions.append(action) }
            } else {
                places[tenant]?.stage = .open(database, users: calls.count, unusedSince: .now)
                actions = calls.map { .answer($0, result) }
                if calls.isEmpty, place.isRetired, let action = close(tenant) { actions.append(action) }
            }
        }
        return actions + advance()
    }

    private func otherTenant(of engine: EngineState, than tenant: String) -> String? {
        places.first { entry in
            guard entry.key != tenant, case .open(let database, _, _) = entry.value.stage else { return false }
            return database.engineState === engine
        }?.key
    }

    mutating func didClose(_ tenant: String) -> [Action] {
        guard let place = places.removeValue(forKey: tenant) else { return [] }
        taken -= place.connections
        closing -= place.connections
        return advance()
    }

    /// Ends a use of a tenant's database.
    ///
    /// - Returns: What is to be done, and whether somebody has to look later for databases that nobody uses.
    mutating func leave(_ tenant: String) -> (actions: [Action], isUnused: Bool) {
        guard case .open(let database, let users, _) = places[tenant]?.stage else { return ([], false) }
        places[tenant]?.stage = .open(database, users: users - 1, unusedSince: .now)
        if users > 1 { return ([], false) }
        if isClosed || places[tenant]?.isRetired == true { return (close(tenant).map { [$0] } ?? [], false) }
        defer { isWatched = true }
        return (waiting.isEmpty ? [] : advance(), !isWatched)
    }

    /// Whether somebody has to look later for databases that nobody uses.
    mutating func beginWatching() -> Bool {
        if isWatched || longestUnused == nil { return false }
        isWatched = true
        return true
    }

    /// Closes what nobody has used for a time.
    ///
    /// - Returns: What is to be done, and after which time to look again; nil when nothing is unused.
    mutating func closeUnused(for idle: Duration) -> (actions: [Action], next: Duration?) {
        var actions: [Action] = []
        let now = ContinuousClock.now
        while let oldest = longestUnused, let since = unusedSince(oldest), since + idle <= now {
            if let action = close(oldest) { actions.append(action) }
        }
        let next = longestUnused.flatMap(unusedSince).map { $0 + idle - now }
        isWatched = next != nil
        return (actions, next)
    }

    /// Closes all, and refuses what comes.
    mutating func close() -> [Action] {
        isClosed = true
        var calls = waiting
        waiting = []
        for (tenant, place) in places {
            guard case .opening(let more) = place.stage else { continue }
            calls += more
            places[tenant]?.stage = .opening([])
        }
        var actions: [Action] = calls.map { .answer($0, .failure(StorageError.closed(nil))) }
        while let unused = longestUnused, let action = close(unused) { actions.append(action) }
        return actions
    }

    // MARK: Unused databases

    private var longestUnused: String? {
        var oldest: (tenant: String, since: ContinuousClock.Instant)?
        for tenant in places.keys {
            if let since = unusedSince(tenant), oldest.map({ since < $0.since }) ?? true { oldest = (tenant, since) }
        }
        return oldest?.tenant
    }

    /// Since when nobody uses the database of a tenant; nil where somebody does.
    private func unusedSince(_ tenant: String) -> ContinuousClock.Instant? {
        guard case .open(_, users: 0, let since) = places[tenant]?.stage else { return nil }
        return since
    }

    private mutating func close(_ tenant: String) -> Action? {
        guard let place = places[tenant], case .open(let database, _, _) = place.stage else { return nil }
        closing += place.connections
        places[tenant]?.stage = .closing
        return .close(tenant, database)
    }
}
