import DAOCore
import DAOMemory
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

/// Rows that go to the server with COPY, and copies of other databases.
@Suite("T1, E5 · Many rows at once", .enabled(if: Server.isThere, "there is no server"))
struct BulkTests {
    /// Enough for several COPY.
    private static let count = 25_000

    private func books(_ numbers: Range<Int>) -> [Book] {
        numbers.map { Book(id: $0, title: $0 % 7 == 0 ? "\0\u{1}\($0)" : "book \($0)", shelf: $0 % 3 == 0 ? nil : "shelf \($0)") }
    }

    @Test func manyRowsAreStoredAsTheyAre() throws {
        let database = try DatabaseDrivers(.postgres).open(Server.newURL())
        let books = books(0..<Self.count)
        try database.books.create(books)
        #expect(try database.books.read() == books)
        try database.close()
    }

    /// The last row of a statement, the first one of the next, and one in the middle.
    @Test(arguments: [9_999, 10_000, 17_321])
    func aRefusedRowIsNamedAndNothingStays(_ refused: Int) throws {
        let database = try DatabaseDrivers(.postgres).open(Server.newURL())
        try database.books.create(Book(id: -1, title: "", shelf: "mine"))
        var books = books(0..<20_000)
        func expectNothing(_ kind: StorageError.Kind, _ other: Int?) throws {
            let error = try storageError { try database.books.create(books) }
            #expect(error.kind == kind && error.entity == "book")
            #expect(error.key == UniqueID(books[refused].id))
            #expect(error.conflictingKey == other.map { UniqueID($0) })
        }
        let right = books[refused]
        // With a stored row, with one of the same call, and the key.
        books[refused].shelf = "mine"
        try expectNothing(.uniqueViolation, -1)
        books[refused].shelf = "shelf 1"
        try expectNothing(.uniqueViolation, 1)
        books[refused] = Book(id: 5, title: "", shelf: nil)
        try expectNothing(.duplicateKey, nil)
        #expect(try database.books.count() == 1)
        // A transaction goes on without the call.
        try database.transaction {
            try database.books.create(Book(id: -2, title: "", shelf: nil))
            try expectNothing(.duplicateKey, nil)
            books[refused] = right
            try database.books.create(books)
        }
        #expect(try database.books.count() == 20_002)
        try database.close()
    }

    /// New rows, rows of which a few are stored, and rows with the key of another one.
    @Test(arguments: ["one", "many"])
    func manyRowsMayReplaceOthers(_ writers: String) throws {
        let database = try DatabaseDrivers(.postgres).open(Server.newURL("writers=\(writers)"))
        let storage = try database.books.storage
        var books = books(0..<14_000)
        try storage.upsert(Array(books[..<11_000]))
        for index in 10_990..<11_000 { books[index].title += " changed" }
        try storage.upsert(Array(books[10_990..<13_000]))
        var first = books[13_500]
        first.title = "replaced by a later one"
        try storage.upsert([first] + books[13_000...])
        #expect(try database.books.read() == books)
        // A value that is taken.
        var new = self.books(14_000..<16_000)
        new[1_500].shelf = "shelf 1"
        let error = try storageError { try storage.upsert(new) }
        #expect(error.kind == .uniqueViolation && error.key == UniqueID(15_500) && error.conflictingKey == UniqueID(1))
        #expect(try database.books.read() == books)
        try database.close()
    }

    @Test func manyRowsAreChangedAndErased() throws {
        let database = try DatabaseDrivers(.postgres).open(Server.newURL())
        var books = books(0..<12_000)
        try database.books.create(books)
        for index in books.indices where index % 2 == 0 { books[index].title += " changed" }
        let new = self.books(12_000..<12_100)
        func merge(_ books: [Book]) throws -> Int {
            try database.books.storage.merge(keys: books.map { .integer(Int64($0.id)) }) { $1 = books[$0] }
        }
        #expect(try merge(books + new) == books.count + new.count)
        #expect(try database.books.read() == books + new)
        // Rows that trade their values, and one that keeps another from its value.
        let stored = books
        (books[1].shelf, books[2].shelf) = (books[2].shelf, books[1].shelf)
        books[4].shelf = "shelf 11999"
        books[11_999].shelf = "shelf 4"
        #expect(try merge(books) == books.count)
        #expect(try database.books.read() == books + new)
        books[8].shelf = "shelf 12002"
        let error = try storageError { try merge(Array(stored[..<8]) + [books[8]]) }
        #expect(error.kind == .uniqueViolation && error.key == UniqueID(4) && error.conflictingKey == UniqueID(11_999))
        #expect(try database.books.count { $0.shelf == "shelf 11999" } == 1)
        #expect(try database.books.erase(byPrimaryKeys: Array(-10..<11_000) + [5, 5]) == 11_000)
        #expect(try database.books.count() == 1100)
        try database.close()
    }

    /// A table of another program that erases its rows with a book.
    @Test func rowsThatTradeTheirValuesAreNotErased() throws {
        let database = try DatabaseDrivers(.postgres).open(Server.newURL())
        try database.books.create(books(0..<2000))
        func execute(_ sql: String) throws -> Int {
            try database.transaction { try database.underlying(as: PostgresHandle.self) { try $0.execute(sql) } }
        }
        _ = try execute("CREATE TABLE loan (book BIGINT NOT NULL REFERENCES book (id) ON DELETE CASCADE)")
        #expect(try execute("INSERT INTO loan SELECT id FROM book") == 2000)
        // All of them, each taking the shelf of the next one.
        let changed = (0..<2000).map { Book(id: $0, title: "moved", shelf: "shelf \(($0 + 1) % 2000)") }
        try database.books.persist((0..<2000).map { Book(id: $0, title: "", shelf: "shelf \($0)") })
        try database.books.persist(changed)
        #expect(try database.books.read() == changed)
        #expect(try database.books.update(where: .all) { $0.shelf = "shelf \($0.id)" } == 2000)
        #expect(try database.books.read { $0.shelf == "shelf 7" }.map(\.id) == [7])
        #expect(try execute("DELETE FROM loan") == 2000)
        try database.close()
    }

    @Test func aMergeSeesWhatItsClosureHasWritten() throws {
        let database = try DatabaseDrivers(.postgres).open(Server.newURL())
        try database.books.create(books(0..<6))
        func merge(_ ids: [Int], _ body: (Int, inout Book?) throws -> Void) throws {
            _ = try database.books.storage.merge(keys: ids.map { .integer(Int64($0)) }, body)
        }
        try database.transaction {
            try merge([0, 1, 2]) { index, book in
                if index == 0 {
                    // Both announce their keys, while those of the outer one are announced.
                    try merge([1, 2]) { $1?.title += " inside" }
                    try merge([3, 4]) { $1?.title += " inside" }
                }
                book?.title += " outside"
            }
        }
        #expect(try database.books.read(byPrimaryKey: 2)?.title == "book 2 inside outside")
        #expect(try database.books.read(byPrimaryKey: 4)?.title == "book 4 inside")
        try database.close()
    }

    private struct Counted: Plain, Model, Equatable {
        var id: UInt64
        var name: String
        static let schema = Schema("counted", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .unique))
    }

    @Test func rowsWithUnsignedKeysAreMerged() throws {
        let database = try DatabaseDrivers(.postgres).open(Server.newURL())
        let rows = DAO(storage: try database.storage(for: Counted.self))
        var values = [0, 7, UInt64(Int64.max), .max].map { Counted(id: $0, name: "\($0)") }
        try rows.create(values)
        for index in values.indices { values[index].name += " changed" }
        let changed = values
        #expect(
            try rows.storage.merge(keys: values.map { Int64(exactly: $0.id).map(Key.integer) ?? .unsigned($0.id) }) {
                $1 = changed[$0]
            } == 4)
        #expect(try rows.read() == values)
        let error = try storageError { try rows.create(Counted(id: 8, name: "7 changed")) }
        #expect(error.conflictingKey == UniqueID(7 as UInt64))
        #expect(try rows.erase(byPrimaryKeys: values.map(\.id)) == 4)
        try database.close()
    }

    @Test(arguments: Proxy.Direction.allCases)
    func aConnectionThatIsCutMeanwhileStoresNothing(_ direction: Proxy.Direction) throws {
        let place = try ProxiedBooks()
        let books = books(1..<3000)
        var stored = false
        for bytes in [0, 300, 3000, 30_000, 60_000] where !stored {
            place.proxy.disturb(direction, after: bytes)
            do {
                try place.database.books.create(books)
                stored = true
            } catch let error as StorageError {
                #expect(error.kind == .unreachable)
                #expect(try place.direct.books.count() == 1, "cut after \(bytes) bytes")
            }
        }
        // What the server answers is short.
        #expect(stored == (direction == .toClient))
        _ = place.proxy.forgetPlan()
        if !stored { try place.database.books.create(books) }
        #expect(try place.direct.books.count() == 3000)
        try place.close()
    }

    @Test func aCopyWhoseConnectionIsCutGoesOn() throws {
        let source = try DatabaseDrivers(.memory).open("memory:")
        let books = books(0..<Self.count)
        try source.books.create(books)
        let place = try ProxiedBooks()
        try place.direct.books.erase(byPrimaryKey: 0)
        let error = try storageError {
            try source.copy(to: place.database) { _ in place.proxy.disturb(.toServer, after: 100_000) }
        }
        #expect(error.kind == .unreachable)
        let there = try place.direct.books.count()
        #expect(there == 10_000, "whole batches")
        #expect(try source.copy(to: place.database).rowsWritten == Self.count - there)
        #expect(try place.direct.books.read() == books)
        #expect(try source.copy(to: place.database).rowsWritten == 0)
        // Other rows stay as they are.
        try place.direct.books.erase(byPrimaryKey: 1)
        #expect(try storageError { try source.copy(to: place.database) }.kind == .duplicateKey)
        #expect(try place.direct.books.count() == Self.count - 1)
        #expect(try source.books.count() == Self.count)
        try place.close()
        try source.close()
    }
}
