import DAOCore
import DAOPostgres
import DAOSearch
import DAOTestSupport
import Foundation
import Testing

private struct Poem: Plain, Model, Equatable {
    var id: Int
    var text: String

    static let schema = Schema("poem", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .searchable))
}

@Suite("S8 · The index for searches on a server", .enabled(if: Server.isThere, "there is no server"))
struct ServerSearchTests {
    private func open(_ url: String) throws -> (any Database, DAO<Poem>) {
        let database = try DatabaseDrivers(.postgres).open(url)
        return (database, DAO(storage: try database.storage(for: Poem.self)))
    }

    /// The number of rows in a table of the index.
    private func count(_ table: String, _ url: String) throws -> Int {
        let schema = try #require(try DatabaseConfiguration(url: url).options["schema"])
        return try #require(Int(try Server.psql("SELECT count(*) FROM \"\(schema)\".\"\(table)\"")[0]))
    }

    /// Waits until few segments are there.
    private func waitForMerges(_ most: Int, _ url: String) throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while try count("dao_search_segments", url) > most {
            try #require(ContinuousClock.now < deadline, "segments are merged")
            usleep(20_000)
        }
    }

    @Test(arguments: ["", "writers=many&pool=12"]) func segmentsAreMergedBesideWriters(_ options: String) throws {
        let url = try Server.newURL(options)
        let (database, poems) = try open(url)
        for id in 1...200 { try poems.create(Poem(id: id, text: "the \(id % 2 == 0 ? "even" : "odd") tower of number\(id)")) }
        try waitForMerges(40, url)
        for id in stride(from: 2, through: 200, by: 2) { try poems.erase(byPrimaryKey: id) }
        #expect(try poems.searchCount("even") == 0)
        #expect(try poems.searchCount("odd") == 100)
        #expect(try poems.search("number77", limit: 5).map(\.value.id) == [77])
        #expect(try database.verify().problems.isEmpty)
    }

    /// Who stores one row and ends cannot merge; who searches then does.
    @Test func segmentsOfShortProcessesAreMerged() throws {
        let url = try Server.newURL()
        for id in 1...80 {
            // Another name is another engine, as in a process of its own.
            let (database, poems) = try open(url + "&application_name=one\(id)")
            try poems.create(Poem(id: id, text: "a word and word\(id)"))
            try database.close()
        }
        #expect(try count("dao_search_segments", url) > 64)
        let (_, poems) = try open(url)
        #expect(try poems.searchCount("word") == 80)
        try waitForMerges(40, url)
        #expect(try poems.searchCount("word") == 80)
        #expect(try poems.search("word33", limit: 5).map(\.value.id) == [33])
    }

    /// Where numbers of transactions are less, new rows would get those of others.
    @Test func anIndexThatWasRestoredElsewhereIsMadeAgain() throws {
        let url = try Server.newURL()
        let schema = try #require(try DatabaseConfiguration(url: url).options["schema"])
        let (database, poems) = try open(url)
        try poems.create((1...20).map { Poem(id: $0, text: "a word and word\($0)") })
        try database.close()
        try Server.psql("UPDATE \"\(schema)\".dao_search_segments SET id = id + (1::bigint << 60)")
        let (again, restored) = try open(url + "&application_name=again")
        #expect(try restored.searchCount("word") == 20)
        try restored.create(Poem(id: 21, text: "another word"))
        #expect(try restored.searchCount("word") == 21)
        #expect(try again.verify().problems.isEmpty)
        #expect(try count("dao_search_indexes", url) == 1)
    }
}
