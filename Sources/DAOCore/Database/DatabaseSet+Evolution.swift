/// What became of a tenant's database when a set was evolved.
public struct TenantEvolution: Sendable {
    /// The possible ends.
    public enum Outcome: Sendable {
        /// The database has the version.
        case done
        /// The database is as it was.
        case failed(any Error)
        /// The database was not looked at, since an earlier one failed or the task was cancelled.
        case notTried
    }

    /// The name of the tenant.
    public let tenant: String
    /// What became of its database.
    public let outcome: Outcome

    /// Whether the database has the version.
    public var isDone: Bool { if case .done = outcome { true } else { false } }
}

extension DatabaseSet {
    /// Migrates the databases of tenants to a version of the application, one after another; see `Database.evolve(_:onProgress:)`.
    ///
    /// Each database is migrated whole or not at all. To go on after an error, call it again with the tenants that are not done. One
    /// that has the version already costs no more than opening it.
    ///
    /// ```swift
    /// let report = shops.evolve(tenants, to: evolution)
    /// for case .failed(let error) in report.map(\.outcome) { print(error) }
    /// let rest = report.filter { !$0.isDone }.map(\.tenant)     // for the next call
    /// ```
    ///
    /// - Parameters:
    ///   - tenants: The names of the tenants.
    ///   - evolution: The version and its migration steps.
    ///   - stopsAtFailure: Whether the first error ends it. Otherwise the other tenants are tried, too.
    ///   - onTenant: A closure that is called after each tenant that was tried.
    /// - Returns: An entry for each tenant, in the given order.
    public func evolve(
        _ tenants: some Sequence<String>, to evolution: Evolution, stopsAtFailure: Bool = true,
        onTenant: (TenantEvolution) -> Void = { _ in }
    ) -> [TenantEvolution] {
        var hasStopped = false
        return tenants.map { tenant in
            if hasStopped || CallCancellation.isRequested { return TenantEvolution(tenant: tenant, outcome: .notTried) }
            let result: TenantEvolution
            do {
                try with(tenant) { database in try database.evolve(evolution) }
                result = TenantEvolution(tenant: tenant, outcome: .done)
            } catch {
                hasStopped = stopsAtFailure
                result = TenantEvolution(tenant: tenant, outcome: .failed(error))
            }
            onTenant(result)
            return result
        }
    }

    /// Migrates the databases of tenants one after another, and does not block the thread of the calling task. A task that is cancelled
    /// stops: the tenants that are left are not tried.
    public func evolve(
        _ tenants: some Sequence<String>, to evolution: Evolution, stopsAtFailure: Bool = true,
        isolation: isolated (any Actor)? = #isolation, onTenant: (TenantEvolution) -> Void = { _ in }
    ) async -> [TenantEvolution] {
        var hasStopped = false
        var report: [TenantEvolution] = []
        for tenant in tenants {
            if hasStopped || Task.isCancelled {
                report.append(TenantEvolution(tenant: tenant, outcome: .notTried))
                continue
            }
            let result: TenantEvolution
            do {
                try await with(tenant) { database in try await database.evolve(evolution) }
                result = TenantEvolution(tenant: tenant, outcome: .done)
            } catch {
                hasStopped = stopsAtFailure
                result = TenantEvolution(tenant: tenant, outcome: .failed(error))
            }
            onTenant(result)
            report.append(result)
        }
        return report
    }
}
