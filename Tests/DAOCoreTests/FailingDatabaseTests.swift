import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import DAOTesting
import Foundation
import Testing

/// A database that fails when a test says so: every kind of call, on three backends.
@Suite struct FailingDatabaseTests {
    private struct Bill: Plain, Model, Equatable {
        var id: Int
        var amount = 0
        var total = 0.0
        var lines: [Line] = []
        static let schema = Schema(
            "bill", Self.init, Field("id", \.id, .primaryKey), Field("amount", \.amount), Field("total", \.total),
            Field("lines", \.lines, .cascade))
    }

    private struct Line: Plain, Model, Equatable {
        var id: Int
        static let schema = Schema("line", Self.init, Field("id", \.id, .primaryKey))
    }

    private static let schemes = ["memory", "sqlite", "lmdb"]

    private func withBills(_ scheme: String, _ body: (FailingDatabase, DAO<Bill>) throws -> Void) throws {
        let place = Place()
        let url = scheme == "memory" ? "memory:" : "\(scheme):\(place.path("bills"))"
        let base = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(url)
        let database = FailingDatabase(base)
        try body(database, DAO(storage: try database.storage(for: Bill.self)))
        try database.close()
    }

    private func fails(_ what: String, _ body: () throws -> Void) {
        #expect("\(what) should fail") { try body() } throws: { ($0 as? StorageError)?.message == "the test lets this call fail" }
    }

    @Test(arguments: schemes) func everyReadFails(_ scheme: String) throws {
        try withBills(scheme) { database, bills in
            let bill = Bill(id: 1, amount: 2, lines: [Line(id: 1)])
            try bills.create([bill, Bill(id: 2)])
            let reads: [(String, () throws -> Void)] = [
                ("read", { _ = try bills.read() }), ("by key", { _ = try bills.read(byPrimaryKey: 1) }),
                ("by keys", { _ = try bills.read(byPrimaryKeys: [1, 2]) }), ("first", { _ = try bills.first() }),
                ("count", { _ = try bills.count { $0.amount > 1 } }), ("exists", { _ = try bills.exists { $0.amount > 1 } }),
                ("fields", { _ = try bills.read(\.id, \.amount) }), ("distinct", { _ = try bills.distinct(\.amount) }),
                ("groups", { _ = try bills.groups(by: \.amount, totals: .count) }), ("sum", { _ = try bills.sum(\.amount) }),
                ("page", { _ = try bills.page(limit: 1) }), ("a condition", { _ = try bills.read { $0.amount == 2 } }),
            ]
            for (what, read) in reads {
                database.fail(.read, of: "bill")
                fails(what, read)
                try read()
            }
            database.fail(.read, of: "line")
            fails("the rows of a list") { _ = try bills.read() }
            #expect(try bills.read(byPrimaryKey: 1) == bill)
        }
    }

    @Test(arguments: schemes) func everyWriteFailsAndStoresNothing(_ scheme: String) throws {
        try withBills(scheme) { database, bills in
            let stored = [Bill(id: 1, amount: 2, lines: [Line(id: 1)]), Bill(id: 2)]
            try bills.create(stored)
            let writes: [(String, () throws -> Void)] = [
                ("create", { try bills.create(Bill(id: 3)) }), ("several", { try bills.create([Bill(id: 11), Bill(id: 12)]) }),
                ("persist", { try bills.persist(Bill(id: 1, amount: 9)) }),
                ("persist of several", { try bills.persist([Bill(id: 1, amount: 9), Bill(id: 5)]) }),
                ("update", { try bills.update(where: Condition { $0.id == 1 }) { $0.amount = 8 } }),
                ("set", { try bills.set(\.amount, to: 8) { $0.id == 1 } }),
                ("increase", { try bills.update(.increase(\.amount, by: 1), .increase(\.total, by: 0.5), where: .all) }),
                ("erase", { try bills.erase(byPrimaryKey: 1) }), ("erase of some", { try bills.erase { $0.amount > 1 } }),
                ("erase of all", { try bills.erase() }),
                ("find or create", { _ = try bills.findOrCreate(byPrimaryKey: 7) { Bill(id: 7) } }),
            ]
            for call in [FailingDatabase.Call.write, .commit] {
                for (what, write) in writes {
                    database.fail(call)
                    fails("\(what), \(call)", write)
                    database.succeed()
                    #expect(try bills.read() == stored, "\(what), \(call)")
                }
            }
            // The second of two, in a transaction: both are undone.
            database.fail(.write, of: "bill", after: 1)
            fails("the second write") {
                try database.transaction {
                    try bills.set(\.amount, to: 1, where: .all)
                    try bills.update(.increase(\.total, by: 1), where: .all)
                }
            }
            #expect(try bills.read() == stored)
            for (_, write) in writes { try write() }
        }
    }

    @Test func failuresAreCountedAndNamed() throws {
        try withBills("memory") { database, bills in
            database.fail(.write, of: "bill", after: 2, times: 2, with: StorageError(.readOnly, "no room"))
            var failed: [Int] = []
            for id in 1...6 {
                do {
                    try bills.create(Bill(id: id))
                } catch let error as StorageError {
                    #expect(error.kind == .readOnly && error.message == "no room")
                    failed.append(id)
                }
            }
            #expect(failed == [3, 4])
            database.fail(.write, of: "line", times: 100)
            try bills.create(Bill(id: 7))
            fails("a row of the list") { try bills.create(Bill(id: 8, lines: [Line(id: 1)])) }
            database.succeed()
            try bills.create(Bill(id: 8, lines: [Line(id: 1)]))
            #expect(try bills.count() == 6)
        }
    }

    @Test func anObservationEndsWithTheFailure() async throws {
        let database = FailingDatabase(try DatabaseDrivers(.memory).open("memory:"))
        let bills = DAO(storage: try database.storage(for: Bill.self))
        var counts: [Int] = []
        await #expect {
            for try await value in bills.observe() {
                counts.append(value.count)
                database.fail(.read, with: StorageError(.io, "the test lets this call fail"))
                try await bills.create(Bill(id: counts.count))
            }
        } throws: { ($0 as? StorageError)?.kind == .io }
        #expect(counts == [0])
    }
}
