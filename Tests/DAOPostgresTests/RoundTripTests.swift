import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

/// A book as a reader knows it: what is merged keeps the shelf.
private struct ReadBook: Plain {
    let id: Int
    let title: String
    var uniqueId: UniqueID { UniqueID(id) }
}

private struct ReadBookTranslator: Translator {
    func translate(model: Book) throws -> ReadBook { ReadBook(id: model.id, title: model.title) }
    func translate(plain: ReadBook) throws -> Book { Book(id: plain.id, title: plain.title, shelf: nil) }
    func translate(from plain: ReadBook, to model: inout Book) throws { model.title = plain.title }
}

private struct Volume: Plain, Model, Equatable {
    var id: Int
    var chapters: [Chapter]

    static let schema = Schema("volume", Self.init, Field("id", \.id, .primaryKey), Field("chapters", \.chapters, .owned))
}

private struct Chapter: Plain, Model, Equatable {
    var id: Int
    var title: String

    static let schema = Schema("chapter", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}

/// A proxy counts how often a call waits for the server.
@Suite("The round trips of a call", .enabled(if: Server.isThere, "there is no server"))
struct RoundTripTests {
    /// The number of round trips of a call that was made before, so that its statements are prepared.
    private func count(_ place: ProxiedBooks, _ call: (Int) throws -> Void) throws -> Int {
        for round in 1...3 { try call(round) }
        usleep(20_000)
        let before = place.proxy.roundTrips
        try call(4)
        // The end of a read is sent without waiting for it.
        usleep(20_000)
        return place.proxy.roundTrips - before
    }

    @Test func aCallTakesFewRoundTrips() throws {
        let place = try ProxiedBooks()
        let books = try place.database.books
        let readBooks = DAO(storage: try place.database.storage(for: Book.self), translator: ReadBookTranslator())
        let volumes = DAO(storage: try place.database.storage(for: Volume.self))
        try books.create((1...100).map { Book(id: $0, title: "\($0)", shelf: nil) })
        try volumes.create((1...20).map { Volume(id: $0, chapters: [Chapter(id: $0, title: "\($0)")]) })

        #expect(try count(place) { _ in _ = try books.read(byPrimaryKey: 7) } == 1)
        #expect(try count(place) { _ in _ = try books.read(limit: 10) { $0.title > "5" } } == 1)
        #expect(try count(place) { _ in _ = try books.count { $0.title > "5" } } == 1)
        // BEGIN, the gate, the row, the token and COMMIT in one message.
        #expect(try count(place) { try books.create(Book(id: 1000 + $0, title: "new", shelf: nil)) } == 1)
        #expect(try count(place) { try books.persist(Book(id: 7, title: "other \($0)", shelf: nil)) } == 1)
        #expect(
            try count(place) { round in
                try books.create((0..<50).map { Book(id: 10_000 * round + $0, title: "many", shelf: nil) })
            } == 1)
        // The stored row, and its changes.
        #expect(try count(place) { try readBooks.persist(ReadBook(id: 7, title: "read \($0)")) } == 2)
        #expect(try count(place) { round in try readBooks.persist((1...50).map { ReadBook(id: $0, title: "r\(round)") }) } == 2)
        // The number of rows has to be known before the commit, because its answer can be lost.
        #expect(try count(place) { try books.set(\.title, to: "set \($0)") { $0.id == 7 } } == 2)
        // The closure begins when it is its turn.
        #expect(
            try count(place) { round in
                try place.database.transaction { try books.persist(Book(id: 7, title: "in \(round)", shelf: nil)) }
            } == 3)
        // The rows, their related rows, and the end, for which nobody waits.
        #expect(try count(place) { _ in _ = try volumes.read(limit: 10) } == 3)
        try place.close()
    }

    @Test func aCommitThatIsSentWithItsRowIsDecidedWhenTheConnectionIsCut() throws {
        for direction in Proxy.Direction.allCases {
            let place = try ProxiedBooks()
            let books = try place.database.books
            for id in 1...3 { try books.create(Book(id: id, title: "", shelf: nil)) }
            var (id, lost) = (3, 0)
            for bytes in stride(from: 0, through: 10_000, by: 37) {
                id += 1
                place.proxy.disturb(direction, after: bytes)
                var isStored = true
                do {
                    try books.create(Book(id: id, title: "cut", shelf: nil))
                } catch let error as StorageError {
                    #expect(error.kind == .unreachable)
                    isStored = false
                    lost += 1
                }
                #expect(try (place.direct.books.read(byPrimaryKey: id) != nil) == isStored, "cut after \(bytes) bytes")
                if place.proxy.forgetPlan() { break }
            }
            #expect(lost > 0)
            try place.close()
        }
    }

    @Test func aCallBeginsAgainWhenAnotherClientHasChangedTheTables() throws {
        let place = try ProxiedBooks()
        let books = try place.database.books
        for id in 1...2 { try books.create(Book(id: id, title: "old", shelf: nil)) }
        _ = try place.direct.storage(for: Volume.self)
        try books.create(Book(id: 3, title: "later", shelf: nil))
        #expect(try place.direct.books.count() == 4)
        try place.close()
    }
}
