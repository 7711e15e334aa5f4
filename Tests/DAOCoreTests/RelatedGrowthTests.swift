import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import Foundation
import Testing

private struct Account: Model, Plain {
    var id: Int
    static let orders = Inverse(\Order.account)
    static let schema = Schema("account", Self.init, Field("id", \.id, .primaryKey))
}

private struct Order: Model, Plain {
    var id: Int
    var account: Reference<Account>
    var status: Int
    var tags: [String]
    var placed: Int
    static let schema = Schema(
        "order", Self.init, Field("id", \.id, .primaryKey), Field("account", \.account, .restricted),
        Field("status", \.status, .indexed), Field("tags", \.tags), Field("placed", \.placed),
        indexes: [Index(elements: \.tags), Index(orderedBy: .ascending(\.account), .descending(\.placed))])
}

private struct Line: Model, Plain {
    var id: Int
    var order: Reference<Order>
    var sku: Int
    static let schema = Schema(
        "line", Self.init, Field("id", \.id, .primaryKey), Field("order", \.order, .cascade), Field("sku", \.sku, .indexed))
}

/// What calls with an answer of a fixed size look at, on ten times the rows. One account has half of the orders.
@Suite struct RelatedGrowthTests {
    private static let accounts = 199
    private static func account(of order: Int) -> Int { order % 2 == 0 ? 0 : order / 2 % accounts }

    @Test(arguments: ["memory", "lmdb", "sqlite"]) func workFollowsTheAnswer(_ scheme: String) async throws {
        var work: [[String: Int]] = []
        for count in [6_000, 60_000] { work.append(try await measured(scheme, count)) }
        for (call, before) in work[0] {
            let after = work[1][call] ?? 0
            #expect(after <= before * 2 + 2_000, "\(call): \(before), then \(after)")
        }
    }

    /// Returns the rows that each call looks at; the steps on SQLite.
    private func measured(_ scheme: String, _ count: Int) async throws -> [String: Int] {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("growth-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let work = Lock(0)
        var configuration = DatabaseConfiguration(
            scheme: scheme, path: scheme == "memory" ? "" : directory.appendingPathComponent("growth.db").path)
        configuration.instrument = Instrument { call in
            work.withLock { $0 += call.statements.reduce(0) { $0 + ($1.steps ?? $1.rowsLookedAt ?? 0) } }
        }
        let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(configuration)
        defer { try? database.close() }
        let accounts = DAO(storage: try database.storage(for: Account.self))
        let orders = DAO(storage: try database.storage(for: Order.self))
        let lines = DAO(storage: try database.storage(for: Line.self))
        try await accounts.create((0..<Self.accounts).map { Account(id: $0) })
        try await orders.create(
            (0..<count).map { id in
                Order(
                    id: id, account: Reference(Self.account(of: id)), status: id % 5 == 2 ? 2 : 0,
                    tags: id % (count / 5) == 3 ? ["rare", "t"] : ["t"], placed: id * 7 % count)
            })
        try await lines.create((0..<count).map { Line(id: $0, order: Reference($0), sku: $0 % (count / 10)) })

        var all: [String: Int] = [:]
        func measure(_ call: String, _ body: () async throws -> Void) async throws {
            // The first call reads what indexes there are.
            try await body()
            work.withLock { $0 = 0 }
            try await body()
            all[call] = work.withLock { $0 }
        }
        try await measure("parents with a child") {
            let found = try await accounts.read(limit: 5) { $0[Account.orders].contains { $0.status == 2 } }
            #expect(found.count == 5)
        }
        try await measure("parents by their number of children") {
            let many = try await accounts.read(limit: 5) { $0[Account.orders].count > 5 }
            #expect(many.map(\.id) == [0, 1, 2, 3, 4])
            let five = try await accounts.read(limit: 5) { $0[Account.orders].count == 5 }
            #expect(five.isEmpty)
        }
        try await measure("few rows, and those that they refer to") {
            let found = try await lines.read { $0.sku == 6 && $0.order.account == Reference(0) }
            #expect(found.count == 10)
        }
        try await measure("an element or a key") {
            let found = try await orders.read { $0.tags.contains("rare") || $0.id == 4 }
            #expect(found.count == 6)
        }
        try await measure("a page within equal values") {
            var cursor = try await orders.page(orderedBy: .ascending(\.status), limit: count / 2).next
            work.withLock { $0 = 0 }
            for _ in 0..<3 {
                let page = try await orders.page(orderedBy: .ascending(\.status), limit: 50, after: cursor)
                #expect(page.elements.count == 50)
                cursor = page.next
            }
        }
        try await measure("the first children") {
            let found = try await orders.read(Account.orders, of: [0, 3], orderedBy: .descending(\.placed), first: 3)
            #expect(found.map(\.count) == [3, 3])
        }
        try await measure("a refused erasure") {
            await #expect(throws: StorageError.self) { try await accounts.erase(byPrimaryKey: 0) }
        }
        try await measure("a stream in the order of related rows") {
            var found = 0
            for try await _ in orders.stream(Query(orderedBy: [.descending(\.account, \.id)])) {
                found += 1
                if found == 3 { break }
            }
            #expect(found == 3)
        }
        return all
    }
}
