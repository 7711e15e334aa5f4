import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

/// Each client has connections of its own, as if it were another process.
@Suite("T4 · Transactions side by side", .enabled(if: Server.isThere, "there is no server"))
struct ManyWritersTests {
    /// Databases of one schema, each with a pool of its own.
    private func open(_ modes: [String], pool: Int = 8) throws -> [any Database] {
        let url = try Server.newURL("pool=\(pool)&timeout=20")
        return try modes.enumerated().map { number, mode in
            try DatabaseDrivers(.postgres).open("\(url)&writers=\(mode)&application_name=\(number)")
        }
    }

    private func close(_ databases: [any Database]) throws { for database in databases { try database.close() } }

    private static func add(_ count: Int, to database: any Database, retrying: Int) throws {
        for _ in 0..<count {
            try database.transaction(retrying: retrying) {
                var book = try #require(try database.books.read(byPrimaryKey: 1))
                book.title = "\((Int(book.title) ?? 0) + 1)"
                try database.books.persist(book)
            }
        }
    }

    /// Runs a transaction of another database between the two halves of one, and returns the error of that one.
    private func around(
        _ database: any Database, _ first: (any Database) throws -> Void, _ second: () throws -> Void,
        _ last: (any Database) throws -> Void
    ) throws -> StorageError? {
        do {
            try database.transaction {
                try first(database)
                try second()
                try last(database)
            }
        } catch let error as StorageError {
            return error
        }
        return nil
    }

    @Test(arguments: [["many", "many"], ["one", "many", "many"], ["one", "one"]])
    func noUpdateIsLost(_ modes: [String]) throws {
        let databases = try open(modes)
        try databases[0].books.create(Book(id: 1, title: "0", shelf: nil))
        together(
            zip(modes, databases).flatMap { mode, database in
                // Who writes alone meets nobody.
                (0..<3).map { _ in { @Sendable in try Self.add(10, to: database, retrying: mode == "many" ? 10_000 : 0) } }
            })
        #expect(try databases[0].books.read(byPrimaryKey: 1)?.title == "\(modes.count * 30)")
        try close(databases)
    }

    @Test func aLostUpdateIsAConflict() throws {
        let databases = try open(["many", "many"])
        try databases[0].books.create(Book(id: 1, title: "0", shelf: nil))
        let error = try around(databases[0]) {
            let seen = try $0.books.read(byPrimaryKey: 1)?.title
            #expect(seen == "0")
        } _: {
            try Self.add(1, to: databases[1], retrying: 0)
        } _: {
            try $0.books.persist(Book(id: 1, title: "1", shelf: nil))
        }
        #expect(error?.kind == .conflict)
        #expect(try databases[0].books.read(byPrimaryKey: 1)?.title == "1")
        try close(databases)
    }

    @Test func writeSkewIsAConflict() throws {
        let databases = try open(["many", "many"])
        try databases[0].books.create([Book(id: 1, title: "on", shelf: nil), Book(id: 2, title: "on", shelf: nil)])
        // Each goes when the other one stays.
        func leave(_ id: Int, _ database: any Database) throws {
            try database.books.persist(Book(id: id, title: "off", shelf: nil))
        }
        let error = try around(databases[0]) {
            let seen = try $0.books.read(byPrimaryKey: 2)?.title
            #expect(seen == "on")
        } _: {
            try databases[1].transaction {
                #expect(try databases[1].books.read(byPrimaryKey: 1)?.title == "on")
                try leave(2, databases[1])
            }
        } _: {
            try leave(1, $0)
        }
        #expect(error?.kind == .conflict)
        #expect(try databases[0].books.count { $0.title == "on" } == 1)
        try close(databases)
    }

    /// Where the server reads a small table as a whole, it takes every two of its writers for a write skew.
    @Test func neighboursInASmallTableDoNotMeet() throws {
        let databases = try open(["many", "many"])
        let tallies = try databases.map { DAO(storage: try $0.storage(for: Tally.self)) }
        try tallies[0].create((1...20).map { Tally(id: $0, value: 0) })
        try Server.psql("ANALYZE")
        func read(_ number: Int) throws { #expect(try tallies[number].read(byPrimaryKey: number)?.value == 0) }
        func write(_ number: Int) throws { try tallies[number].persist(Tally(id: number, value: 1)) }
        try tallies[0].create(Tally(id: 0, value: 0))
        let error = try around(databases[0]) { _ in
            try read(0)
        } _: {
            try databases[1].transaction {
                try read(1)
                try write(1)
            }
        } _: { _ in
            try write(0)
        }
        #expect(error == nil)
        try close(databases)
    }

    /// A row with a field that is in no index. The server notes pages of indexes.
    private struct Tally: Plain, Model {
        var id: Int
        var value: Int

        static let schema = Schema("tally", Self.init, Field("id", \.id, .primaryKey), Field("value", \.value))
    }

    @Test func aPhantomIsAConflict() throws {
        let databases = try open(["many", "many"])
        #expect(try databases[0].books.count() == 0)
        let error = try around(databases[0]) {
            let seen = try $0.books.count { $0.title == "taken" }
            #expect(seen == 0)
        } _: {
            try databases[1].transaction {
                #expect(try databases[1].books.count { $0.title == "taken" } == 0)
                try databases[1].books.create(Book(id: 1, title: "taken", shelf: nil))
            }
        } _: {
            try $0.books.create(Book(id: 2, title: "taken", shelf: nil))
        }
        #expect(error?.kind == .conflict)
        #expect(try databases[0].books.count() == 1)
        try close(databases)
    }

    /// A withdrawal sees neither a deposit nor who has seen it: the three fit into no order.
    @Test(arguments: [true, false])
    func aReaderInATransactionSeesNoAnomaly(_ isInTransaction: Bool) throws {
        let databases = try open(["many", "many"])
        try databases[0].books.create([Book(id: 1, title: "0", shelf: nil), Book(id: 2, title: "0", shelf: nil)])
        let error = try around(databases[0]) {
            let seen = try $0.books.read().map(\.title)
            #expect(seen == ["0", "0"])
        } _: {
            try databases[1].transaction { try databases[1].books.persist(Book(id: 2, title: "20", shelf: nil)) }
            func read() throws { #expect(try databases[1].books.read().map(\.title) == ["0", "20"]) }
            if isInTransaction { try databases[1].transaction(read) } else { try databases[1].snapshot(read) }
        } _: {
            try $0.books.persist(Book(id: 1, title: "-11", shelf: nil))
        }
        #expect(error?.kind == (isInTransaction ? .conflict : nil))
        try close(databases)
    }

    @Test func callsThatMeetAreRunAgain() throws {
        let databases = try open(["many", "many"])
        try databases[0].books.create(Book(id: 0, title: "0", shelf: nil))
        together(
            (0..<6).map { number in
                let database = databases[number % 2]
                return { @Sendable in
                    for round in 0..<20 {
                        try database.books.create(Book(id: 1 + 20 * number + round, title: "\(round)", shelf: nil))
                        _ = try database.books.erase { $0.id == 1 + 20 * number + round && $0.title == "\(round)" }
                    }
                }
            })
        #expect(try databases[0].books.count() == 1)
        try close(databases)
    }

    @Test func tablesAreMadeByOneOfMany() throws {
        let databases = try open(["many", "many", "one", "many"])
        together(
            databases.enumerated().map { number, database in
                { @Sendable in try database.books.create(Book(id: number, title: "", shelf: nil)) }
            })
        #expect(try databases[0].books.count() == 4)
        try close(databases)
    }
}
