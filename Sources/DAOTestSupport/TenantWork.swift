import DAOCore
import Foundation

/// The work of many threads on the databases of many tenants. Each answer is checked: a database has the rows of its tenant alone, and
/// all that were acknowledged.
package final class TenantWork: Sendable {
    /// The row of a tenant, which counts its calls.
    package struct Row: Plain, Model, Equatable {
        package var id: Int
        package var tenant: String
        package var calls: Int

        package init(id: Int, tenant: String, calls: Int) { (self.id, self.tenant, self.calls) = (id, tenant, calls) }

        package static let schema = Schema(
            "tenant", Self.init, Field("id", \.id, .primaryKey), Field("tenant", \.tenant), Field("calls", \.calls))
    }

    /// The names of the tenants.
    package let tenants: [String]
    /// The number of calls of each tenant that have returned.
    private let acknowledged: Lock<[Int]>
    private let found = Lock<[String]>([])
    private let longest = Lock(Duration.zero)

    /// What was wrong.
    package var problems: [String] { found.withLock { $0 } }
    /// The duration of the longest call.
    package var longestCall: Duration { longest.withLock { $0 } }

    package init(tenants count: Int) {
        tenants = (0..<count).map { "tenant-\($0)" }
        acknowledged = Lock(Array(repeating: 0, count: count))
    }

    /// Lets threads make calls for tenants in any order, and waits for them.
    ///
    /// - Parameters:
    ///   - set: The databases.
    ///   - threads: The number of threads.
    ///   - calls: The number of calls of each thread, or for each of all tenants one, if nil.
    package func run(on set: DatabaseSet, threads: Int, calls: Int? = nil) {
        let group = DispatchGroup()
        let next = Atomic(0)
        for thread in 0..<threads {
            group.enter()
            Thread.detachNewThread { [self] in
                defer { group.leave() }
                var random = SeededGenerator(seed: UInt64(thread) + 1)
                if let calls {
                    for _ in 0..<calls { call(Int.random(in: tenants.indices, using: &random), set) }
                } else {
                    while true {
                        let number = next.add(1, ordering: .relaxed).oldValue
                        guard number < tenants.count else { break }
                        call(number, set)
                    }
                }
            }
        }
        let limit = DispatchTime.now() + 300 + Double(tenants.count) / 10
        if group.wait(timeout: limit) == .timedOut { found.withLock { $0.append("the calls do not end") } }
    }

    private func call(_ number: Int, _ set: DatabaseSet) {
        let (tenant, before) = (tenants[number], acknowledged.withLock { $0[number] })
        let clock = ContinuousClock()
        let start = clock.now
        do {
            let rows = try set.with(tenant) { database in
                let rows = DAO(storage: try database.storage(for: Row.self))
                return try database.transaction {
                    let stored = try rows.read()
                    try rows.persist(Row(id: 1, tenant: tenant, calls: (stored.first?.calls ?? 0) + 1))
                    return stored
                }
            }
            acknowledged.withLock { $0[number] += 1 }
            check(rows, tenant)
            if rows.first?.calls ?? 0 < before { note("\(tenant) has lost calls: \(rows) after \(before)") }
        } catch {
            note("\(tenant): \(error)")
        }
        longest.withLock { $0 = max($0, clock.now - start) }
    }

    /// Looks whether each tenant has what was acknowledged.
    package func verify(on set: DatabaseSet) {
        for (number, tenant) in tenants.enumerated() {
            do {
                let rows = try set.with(tenant) { try DAO(storage: $0.storage(for: Row.self)).read() }
                check(rows, tenant)
                let count = acknowledged.withLock { $0[number] }
                if rows.first?.calls ?? 0 != count { note("\(tenant) has \(rows) after \(count) calls") }
            } catch {
                note("\(tenant): \(error)")
            }
        }
    }

    private func check(_ rows: [Row], _ tenant: String) {
        if rows.count > 1 || rows.contains(where: { $0.tenant != tenant }) { note("\(tenant) reads \(rows)") }
    }

    private func note(_ problem: String) { found.withLock { $0.append(problem) } }
}
