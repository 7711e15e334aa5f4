import DAOCore
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOSQL
@testable import DAOSQLite

/// Rows that are read by key in one statement, which stays open for as long as the read transaction.
@Suite struct KeyFeedTests {
    private let place = Place()

    private struct Note: Plain, Model, Equatable {
        var id: Int
        var text: String
        static let schema = Schema("note", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
    }

    private struct Large: Plain, Model, Equatable {
        var id: UInt64
        var text: String
        static let schema = Schema("large", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
    }

    /// The number of statements that are open on the connection of the running transaction, and whether one may be: not while an
    /// instrument of another test is told of statements.
    private func openStatements(_ database: SQLiteDatabase) throws -> (count: Int, mayBe: Bool) {
        try database.instance.coordinator.read { session in
            let connection = try #require(session.connection as? SQLiteConnection)
            var count = 0
            var statement = sqlite3_next_stmt(connection.handle, nil)
            while let open = statement {
                if sqlite3_stmt_busy(open) != 0 { count += 1 }
                statement = sqlite3_next_stmt(connection.handle, open)
            }
            return (count, connection.isReadingOften)
        }
    }

    @Test func rowsAreFoundInAnyOrder() throws {
        let database = try place.database()
        let messages = try database.storage(for: Message.self)
        let (notes, large) = try (database.storage(for: Note.self), database.storage(for: Large.self))
        let keys = [-7, 0, 1, 2, 3, 5, 8, 13, 21, Int.max, Int.min]
        try messages.insert(keys.map(Message.numbered))
        try notes.insert(keys.map { Note(id: $0, text: "note \($0)") })
        try large.insert([1, 2, .max, .max - 1].map { Large(id: $0, text: "\($0)") })
        for _ in 0..<3 {
            try database.snapshot {
                for key in [3, 3, 8, 4, 0, -7, .min, 9, 21, 22, 1, .max, 5, 3, -1, 13, 2] {
                    let isThere = keys.contains(key)
                    let message = try messages.read(key: .integer(Int64(key)))
                    #expect(message == (isThere ? .numbered(key) : nil))
                    let note = try notes.read(key: .integer(Int64(key)))
                    #expect(note == (isThere ? Note(id: key, text: "note \(key)") : nil))
                    // Other statements run in between, and keys of another kind have no row.
                    let none = try messages.read(key: .string("x"))
                    #expect(none == nil)
                    #expect(try messages.count(Query()) == keys.count)
                    let some = try messages.read(keys: [.integer(1), .integer(2), .integer(3)], includesSubentities: true)
                    #expect(some.map(\.id) == [1, 2, 3])
                }
                for key in [1, 2, .max, 3, .max - 1, .max - 2] as [UInt64] {
                    let row = try large.read(key: Int64(exactly: key).map { .integer($0) } ?? .unsigned(key))
                    #expect(row == ([1, 2, .max, .max - 1].contains(key) ? Large(id: key, text: "\(key)") : nil))
                }
            }
            #expect(try messages.read(key: .integer(5)) == .numbered(5))
        }
    }

    @Test func aSnapshotStaysAsItIsAndItsEndEndsTheStatement() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<20).map(Message.numbered))
        let raw = try Raw(place.path())
        for round in 0..<3 {
            try database.snapshot {
                for key in 0..<20 {
                    let row = try storage.read(key: .integer(Int64(key)))
                    #expect(row?.sender == (round == 0 ? key % 10 : round * 100))
                }
                let open = try openStatements(database)
                #expect(open.count == (open.mayBe ? 1 : 0))
                try raw.run("UPDATE message SET sender = \((round + 1) * 100)")
                let row = try storage.read(key: .integer(7))
                #expect(row?.sender == (round == 0 ? 7 : round * 100))
            }
            #expect(try openStatements(database).count == 0)
            #expect(try storage.read(key: .integer(7))?.sender == (round + 1) * 100)
        }
        // A transaction that can write leaves none open: a row is as the call before has written it.
        try database.transaction {
            for key in 0..<20 {
                var row = try #require(try storage.read(key: .integer(Int64(key))))
                row.sender = key
                try storage.upsert([row])
                #expect(try storage.read(key: .integer(Int64(key)))?.sender == key)
            }
            #expect(try openStatements(database).count == 0)
        }
        _ = try database.compact()
        let log = try FileManager.default.attributesOfItem(atPath: place.path() + "-wal")
        #expect(log[.size] as? Int == 0)
    }

    @Test func aDamagedRowIsReportedAndTheNextOnesAreRead() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<20).map(Message.numbered))
        try Raw(place.path()).run("UPDATE message SET text = x'00' WHERE id = 10")
        try database.snapshot {
            for key in 0..<20 {
                if key == 10 {
                    expectError(.corruptedValue) { _ = try storage.read(key: .integer(10)) }
                } else {
                    let row = try storage.read(key: .integer(Int64(key)))
                    #expect(row == .numbered(key))
                }
            }
        }
    }
}
