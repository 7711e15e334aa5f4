import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOCore

/// Contract C6: the databases of many tenants.
@Suite struct DatabaseSetTests {
    typealias Row = TenantWork.Row

    /// A set of files, or of databases in memory that others keep open. A caller waits long, since all tests share the processors.
    fileprivate static func set(
        _ place: Place, _ kind: String = "sqlite", limit: Int, timeout: Duration = .seconds(120), idle: Duration = .seconds(60)
    ) -> DatabaseSet {
        DatabaseSet(.init(.memory, .sqlite, .lmdb), limit: limit, timeout: timeout, idle: idle) { tenant in
            var configuration = DatabaseConfiguration(scheme: kind, path: kind == "memory" ? tenant : place.path(tenant))
            configuration.durability = .relaxed
            return configuration
        }
    }

    @Test func aSetThatMixesTenantsUpIsDetected() async throws {
        let place = Place()
        let work = TenantWork(tenants: 20)
        let set = DatabaseSet(limit: 4) { tenant in
            // One tenant gets the file of another.
            let file = tenant == "tenant-7" ? "tenant-8" : tenant
            return TenantOpening { try SQLiteDatabase(path: place.path(file)) }
        }
        await Self.onThread { work.run(on: set, threads: 4, calls: 50) }
        #expect(work.problems.contains { $0.contains("reads") || $0.contains("have the same database") })
        set.close()
    }

    /// Contract D6: a tenant's rows move while others read and write, and nothing that was acknowledged is missing.
    private final class Move: Sendable {
        let kinds = Lock<[String: String]>([:])
        let isOver = Lock(false)
        let stored = Lock(0)
        let refused = Lock(0)

        static func rows(_ database: any Database) throws -> DAO<Row> { DAO(storage: try database.storage(for: Row.self)) }
    }

    @Test(arguments: [("sqlite", "lmdb"), ("lmdb", "sqlite")]) func aTenantMovesBesideItsCallers(_ from: String, _ to: String)
        async throws
    {
        let place = Place()
        let move = Move()
        let drivers = DatabaseDrivers(.sqlite, .lmdb)
        let set = DatabaseSet(drivers, limit: 3, timeout: .seconds(120)) { tenant in
            let kind = move.kinds.withLock { $0[tenant] ?? from }
            var configuration = DatabaseConfiguration(scheme: kind, path: place.path("\(tenant).\(kind)"))
            configuration.durability = .relaxed
            return configuration
        }
        try await set.with("a") { try Move.rows($0).create((0..<2000).map { Row(id: $0, tenant: "a", calls: 0) }) }
        let writers = (1...3).map { thread in
            Task.detached {
                try await Self.onThread {
                    Result {
                        var id = thread * 100_000
                        while !move.isOver.withLock({ $0 }) {
                            do {
                                try set.with("a") { database in
                                    try Move.rows(database).create(Row(id: id, tenant: "a", calls: 0))
                                    _ = try Move.rows(database).count()
                                }
                                id += 1
                                move.stored.withLock { $0 += 1 }
                            } catch let error as StorageError where error.kind == .detached {
                                move.refused.withLock { $0 += 1 }
                            }
                        }
                    }
                }.get()
            }
        }
        let target = try drivers.open(
            DatabaseConfiguration(scheme: to, path: place.path("a.\(to)")))
        struct Down: Error {}
        // Stopped, it goes on with the next call.
        let begun = try await Self.onThread {
            Result { try set.move("a", into: target, onProgress: { _ in .stop }, noting: { Issue.record("it has not moved") }) }
        }.get()
        #expect(begun.pause == nil)
        let report = try await Self.onThread {
            Result { try set.move("a", into: target) { move.kinds.withLock { $0["a"] = to } } }
        }.get()
        #expect(report.pause != nil)
        try await Task.sleep(for: .milliseconds(100))
        move.isOver.withLock { $0 = true }
        for writer in writers { try await writer.value }
        try target.close()
        #expect(set.openTenants == ["a"])
        try await set.with("a") { database in
            #expect(database.configuration.scheme == to)
            let (count, isSound) = (try Move.rows(database).count(), try database.verify().isSound)
            #expect(isSound && count == 2000 + move.stored.withLock { $0 })
        }
        // The old one takes nothing more.
        let old = try drivers.open(DatabaseConfiguration(scheme: from, path: place.path("a.\(from)")))
        #expect(throws: StorageError.self) { try Move.rows(old).create(Row(id: -1, tenant: "a", calls: 0)) }
        try old.close()
        print(
            "\(from) to \(to): \(move.stored.withLock({ $0 })) rows while it moved, \(move.refused.withLock({ $0 })) writes were refused"
        )
        set.close()
    }

    /// Contract D6, C5: a copy that follows in a task ends with it, and the next call goes on.
    @Test func aFollowedCopyEndsWithItsTask() async throws {
        let place = Place()
        let source = try SQLiteDatabase(path: place.path("source"))
        let target = try DatabaseDrivers(.lmdb).open("lmdb:\(place.path("target"))")
        let rows = DAO(storage: try source.storage(for: Row.self))
        try await rows.create((0..<20_000).map { Row(id: $0, tenant: "a", calls: 0) })
        let batches = Lock(0)
        let task = Task {
            try await source.follow(into: target) { _ in
                batches.withLock { $0 += 1 }
                return .goOn
            }
        }
        while batches.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await rows.create(Row(id: 20_000, tenant: "a", calls: 0))
        let report = try await source.follow(into: target)
        #expect(report.pause != nil && report.rows == ["tenant": 20_001])
        #expect(try await DAO(storage: target.storage(for: Row.self)).count() == 20_001)
        #expect(await Self.kind { _ = try await rows.create(Row(id: 20_001, tenant: "a", calls: 0)) } == .detached)
    }

    @Test func callersShareAnOpeningAndItsError() async throws {
        let dead = Dead(hanging: .milliseconds(300))
        let set = DatabaseSet(.init(dead.driver), limit: 4) { DatabaseConfiguration(scheme: "dead", path: $0) }
        let calls = (0..<10).map { number in
            Task.detached {
                await Self.kind {
                    if number % 2 == 0 { return try await set.with("a") { _ in } }
                    try await Self.onThread { Result { try set.with("a") { _ in } } }.get()
                }
            }
        }
        for call in calls { #expect(await call.value == .unreachable) }
        #expect(dead.count == 1)
        // The next caller tries again.
        #expect(await Self.kind { try await set.with("a") { _ in } } == .unreachable)
        #expect(dead.count == 2)
    }

    @Test func theLeastRecentlyUsedIsClosedAndWhatIsUsedNever() async throws {
        let place = Place()
        let set = Self.set(place, limit: 2)
        for tenant in ["a", "b", "a", "c"] { try await set.with(tenant) { _ in } }
        #expect(set.openTenants == ["a", "c"])
        try await set.with("a") { database in
            try await set.with("c") { _ in
                // What is open needs no place.
                try await set.with("a") { _ in }
            }
            try await set.with("b") { _ in }
            #expect(set.openTenants == ["a", "b"])
            _ = try database.entities()
        }
        let waiting = try await set.with("a") { _ in
            await set.holding("b") {
                let task = Task.detached { try await set.with("c") { _ in } }
                try? await Task.sleep(for: .milliseconds(20))
                task.cancel()
                return await task.result
            }
        }
        #expect(throws: CancellationError.self) { try waiting.get() }
        set.close()
        #expect(await Self.kind { try await set.with("a") { _ in } } == .closed)
    }

    @Test func whoGetsNoPlaceIsTold() async throws {
        let place = Place()
        let set = Self.set(place, limit: 1, timeout: .milliseconds(100))
        try await set.with("a") { _ in
            #expect(await Self.kind { try await set.with("b") { _ in } } == .busy)
            #expect(set.openTenants == ["a"])
        }
        set.close()
    }

    @Test func whatNobodyUsesIsClosed() async throws {
        let place = Place()
        let set = Self.set(place, limit: 4, idle: .milliseconds(50))
        for tenant in ["a", "b"] { try await set.with(tenant) { _ in } }
        try await set.with("a") { database in
            let deadline = ContinuousClock.now + .seconds(120)
            while set.openTenants.contains("b"), .now < deadline { try await Task.sleep(for: .milliseconds(10)) }
            #expect(set.openTenants == ["a"])
            _ = try database.entities()
        }
    }

    @Test(arguments: ["sqlite", "lmdb", "memory"]) func noTransactionSpansTwoTenants(_ kind: String) throws {
        let place = Place()
        let set = Self.set(place, kind, limit: 4)
        let make = { (tenant: String) in Row(id: 1, tenant: tenant, calls: 0) }
        try set.with("a") { first in
            try set.with("b") { second in
                let (a, b) = (DAO(storage: try first.storage(for: Row.self)), DAO(storage: try second.storage(for: Row.self)))
                try first.transaction {
                    try a.create(make("a"))
                    let writes: [() throws -> Void] = [
                        { try b.create(make("b")) }, { try second.transaction {} },
                        { try set.with("c") { _ = try $0.storage(for: Row.self) } },
                    ]
                    for write in writes {
                        do {
                            try write()
                            Issue.record("a write was not refused")
                        } catch let error as StorageError {
                            #expect(error.kind == .unsupported)
                        }
                    }
                    #expect(try b.count() == 0)
                }
                #expect(try a.count() == 1)
                #expect(try b.count() == 0)
                // A snapshot holds nobody up.
                try first.snapshot { try b.create(a.read()) }
                #expect(try b.count() == 1)
            }
        }
        set.close()
    }

    @Test func tenantsOfOneDatabaseAreRefused() throws {
        let place = Place()
        let set = DatabaseSet(.init(.sqlite), limit: 4) { _ in DatabaseConfiguration(scheme: "sqlite", path: place.path("one")) }
        try set.with("a") { _ in
            do {
                try set.with("b") { _ in }
                Issue.record("two tenants have one database")
            } catch let error as StorageError {
                #expect(error.kind == .invalidConfiguration)
            }
        }
    }

    @Test func aDatabaseThatNeedsMoreThanTheLimitIsRefused() throws {
        let driver = DatabaseDriver(scheme: "wide", connections: { _ in 5 }) { _ in try MemoryDatabase.open() }
        let set = DatabaseSet(.init(driver), limit: 4) { DatabaseConfiguration(scheme: "wide", path: $0) }
        #expect(throws: StorageError.self) { try set.with("a") { _ in } }
        let two = DatabaseSet(.init(driver), limit: 10) { DatabaseConfiguration(scheme: "wide", path: $0) }
        for tenant in ["a", "b", "c"] { try two.with(tenant) { _ in } }
        #expect(two.openTenants == ["b", "c"])
    }

    @Test func whoWaitsBehindACancelledCallerGoesOn() async throws {
        let place = Place()
        let wide = DatabaseDriver(scheme: "wide", connections: { _ in 3 }) { _ in try MemoryDatabase.open() }
        let set = DatabaseSet(.init(.sqlite, wide), limit: 3, timeout: .seconds(120)) { tenant in
            DatabaseConfiguration(scheme: tenant == "wide" ? "wide" : "sqlite", path: place.path(tenant))
        }
        try await set.with("a") { _ in
            // It needs all places, and the next one needs one that is free.
            let first = Task.detached { try await set.with("wide") { _ in } }
            try await Task.sleep(for: .milliseconds(20))
            let second = Task.detached { await Self.kind { try await set.with("b") { _ in } } }
            try await Task.sleep(for: .milliseconds(20))
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            #expect(await second.value == nil)
            #expect(set.openTenants == ["a", "b"])
        }
        set.close()
    }

    @Test func evolvingReportsEachTenantAndGoesOn() async throws {
        let place = Place()
        let tenants = ["a", "b", "c", "d"]
        let set = Self.set(place, limit: 2)
        for tenant in tenants {
            try await set.with(tenant) { database in
                let rows = DAO(storage: try database.storage(for: Row.self))
                try await rows.create(Row(id: 1, tenant: tenant, calls: 1))
            }
        }
        let isBroken = Lock(true)
        let steps = Lock<[String]>([])
        let evolution = Evolution(
            version: 1,
            migrations: [
                Migration(to: 1, "count") { step in
                    try step.rewrite("tenant", as: step.entity("tenant")) { old, new in
                        guard case .string(let name) = old["tenant"] else { throw Broken() }
                        steps.withLock { $0.append(name) }
                        if name == "c", isBroken.withLock({ $0 }) { throw Broken() }
                        new["calls"] = .integer(2)
                    }
                }
            ])
        func outcomes(_ report: [TenantEvolution]) -> [String] {
            report.map { entry in
                switch entry.outcome {
                case .done: "\(entry.tenant) done"
                case .failed(let error): "\(entry.tenant) \(error is Broken)"
                case .notTried: "\(entry.tenant) not tried"
                }
            }
        }
        let first = await Self.onThread { set.evolve(tenants, to: evolution) }
        #expect(outcomes(first) == ["a done", "b done", "c true", "d not tried"])
        let all = await set.evolve(first.filter { !$0.isDone }.map(\.tenant), to: evolution, stopsAtFailure: false)
        #expect(outcomes(all) == ["c true", "d done"])
        #expect(try await set.with("c") { try DAO(storage: $0.storage(for: Row.self)).read().map(\.calls) } == [1])
        isBroken.withLock { $0 = false }
        let rest = await set.evolve(tenants, to: evolution)
        #expect(rest.allSatisfy { $0.isDone })
        #expect(steps.withLock { $0 } == ["a", "b", "c", "c", "d", "c"])
        let cancelled = Task { await set.evolve(tenants, to: evolution) }
        cancelled.cancel()
        #expect(await cancelled.value.count == 4)
        set.close()
    }

    // MARK: Helpers

    private struct Broken: Error {}

    /// A driver of a server that is down.
    fileprivate final class Dead: Sendable {
        private let hanging: Duration
        private let openings = Lock((count: 0, running: 0, most: 0))

        init(hanging: Duration) { self.hanging = hanging }

        var count: Int { openings.withLock { $0.count } }
        var mostAtOnce: Int { openings.withLock { $0.most } }

        var driver: DatabaseDriver {
            DatabaseDriver(scheme: "dead", optionNames: ["host"]) { [self] configuration in
                openings.withLock {
                    $0 = ($0.count + 1, $0.running + 1, max($0.most, $0.running + 1))
                }
                Thread.sleep(forTimeInterval: hanging / .seconds(1))
                openings.withLock { $0.running -= 1 }
                throw StorageError(.unreachable, "the server does not answer", path: configuration.path)
            }
        }

        func hasBegun() async { while count == 0 { try? await Task.sleep(for: .milliseconds(1)) } }
    }

    fileprivate static func kind(_ body: () async throws -> Void) async -> StorageError.Kind? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? StorageError)?.kind
        }
    }

    fileprivate static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in Thread.detachNewThread { continuation.resume(returning: body()) } }
    }
}

/// Contract C6: a server that does not answer holds up its own tenants only.
@Suite struct DatabaseSetLatencyTests {
    private typealias Tests = DatabaseSetTests

    /// `TENANTS=…` is the number of tenants of a longer run.
    @Test(arguments: ["sqlite", "lmdb"]) func aThousandTenantsShareSixtyFourPlaces(_ kind: String) async throws {
        let number = ProcessInfo.processInfo.environment["TENANTS"].flatMap { Int($0) }
        let work = TenantWork(tenants: number ?? (kind == "sqlite" ? 1000 : 300))
        let place = Place()
        // The server of one tenant does not answer for five seconds.
        let dead = Tests.Dead(hanging: .seconds(5))
        let files = Tests.set(place, kind, limit: 64)
        let set = DatabaseSet(.init(.sqlite, .lmdb, dead.driver), limit: 64, timeout: .seconds(20)) { tenant in
            if tenant == "dead" { return DatabaseConfiguration(scheme: "dead", path: "") }
            var configuration = DatabaseConfiguration(scheme: kind, path: place.path(tenant))
            configuration.durability = .relaxed
            return configuration
        }
        let hanging = Task.detached { await Tests.kind { try await set.with("dead") { _ in } } }
        await dead.hasBegun()
        await Tests.onThread {
            // Every tenant once, and then in any order.
            work.run(on: set, threads: 16)
            #expect(set.openTenants.count <= 65)
            work.run(on: set, threads: 16, calls: max(work.tenants.count / 16, 50))
        }
        // Closing the set would be its end, too.
        #expect(await hanging.value == .unreachable)
        set.close()
        await Tests.onThread { work.verify(on: files) }
        #expect(work.problems.prefix(5) == [])
        #expect(work.longestCall < .seconds(5))
        files.close()
    }

    @Test func anotherTenantsOpeningHoldsNobodyUp() async throws {
        let place = Place()
        let dead = Tests.Dead(hanging: .seconds(4))
        let set = DatabaseSet(.init(.sqlite, dead.driver), limit: 8, timeout: .seconds(2)) { tenant in
            if !tenant.hasPrefix("dead") { return DatabaseConfiguration(scheme: "sqlite", path: place.path(tenant)) }
            var configuration = DatabaseConfiguration(scheme: "dead", path: tenant)
            configuration.options["host"] = "down"
            return configuration
        }
        // More tenants of the dead server than places.
        let calls = (0..<20).map { number in
            Task.detached { await Tests.kind { try await set.with("dead-\(number)") { _ in } } }
        }
        await dead.hasBegun()
        let start = ContinuousClock.now
        for number in 0..<20 { try await set.with("live-\(number)") { database in _ = try database.entities() } }
        #expect(.now - start < .seconds(4))
        #expect(dead.mostAtOnce <= 2)
        for call in calls { #expect([.unreachable, .busy].contains(await call.value)) }
        set.close()
    }
}

extension DatabaseSet {
    fileprivate func holding<Result>(_ tenant: String, _ body: () async -> Result) async -> Result {
        do {
            return try await with(tenant) { _ in await body() }
        } catch {
            Issue.record(error)
            return await body()
        }
    }
}
