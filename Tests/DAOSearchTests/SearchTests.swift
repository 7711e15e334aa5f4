import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOSearch

@Suite("S3 to S6 · Searches") struct SearchTests {
    static let urls = ["memory:", "sqlite:", "lmdb:"]

    @Test(arguments: [
        ("red wine", [1, 4]), ("red OR white", [1, 2, 3, 4]), ("red NOT wine", [2]), ("red -wine", [2]), ("\"red wine\"", [1]),
        ("win*", [1, 3, 4]),
        ("(red OR white) wine", [1, 3, 4]), ("red NEAR/0 wine", [1]), ("red NEAR/2 wine", [1, 4]), ("wine NEAR/2 red", [1, 4]),
        ("RED", [1, 2, 4]),
        ("NOT red", [3, 5, 6]), ("-red -東京", [3, 6]), ("東京", [5]), ("京都", []), ("京 都", [5]), ("\"東京 tower\"", [5]),
        ("strasse", [6]), ("café", [6]),
        ("tag", [2]), ("\"one two\"", []), ("two", [3]), ("", []), ("!!!", []), ("AND OR NOT", []), ("nothing", []),
        ("(((red", [1, 2, 4]), ("\"red w*", []),
        ("\"red w\"*", [1]), ("red AND AND wine", [1, 4]), ("red NEAR", [1, 2, 4]), (")red(", [1, 2, 4]),
        ("wine red NEAR/3 (", [1, 4]), ("NOT NOT red", [1, 2, 4]),
    ])
    func searchesFindTheRows(_ text: String, _ keys: [Int]) throws {
        for url in Self.urls {
            let place = TemporaryPlace()
            let articles = try place.articles(url)
            #expect(try articles.search(text, limit: 100).map(\.value.id).sorted() == keys, "\(url) \(text)")
            #expect(try articles.searchCount(text) == keys.count)
        }
    }

    @Test func theBestComeFirstAndTiesByKey() throws {
        for url in Self.urls {
            let place = TemporaryPlace()
            let articles = try place.articles(url)
            // A title counts three times. The fourth row is shorter than the first one.
            #expect(try articles.search("red", limit: 10).map(\.value.id) == [2, 4, 1])
            #expect(try articles.search("red", limit: 1).map(\.value.id) == [2])
            try articles.create([Article(id: 11, title: "same", text: "x y"), Article(id: 10, title: "same", text: "y x")])
            let hits = try articles.search("same", limit: 10)
            #expect(hits.map(\.value.id) == [10, 11] && hits[0].score == hits[1].score && hits[0].score > 0)
            #expect(try articles.search("-red", limit: 10).allSatisfy { $0.score == 0 })
        }
    }

    /// The scores are the same on every machine: they are integers.
    @Test func scoresAreExact() throws {
        var relevance = Relevance()
        (relevance.rows, relevance.words) = (1000, 100_000)
        // ln(2002 ÷ 21) = 4.5573…
        #expect(relevance.rarity(10) == 19_573_796_004)
        #expect(abs(Double(relevance.rarity(10)) / 4_294_967_296 - log(2002.0 / 21)) < 1e-8)
        for (count, length) in [(1, 100), (3, 50), (7, 1000), (200_000, 1)] {
            let expected =
                log(2002.0 / 21) * Double(min(count, 100_000)) * 2.2
                / (Double(min(count, 100_000)) + 1.2 * (0.25 + 0.75 * Double(length) / 100))
            #expect(
                abs(Double(relevance.score(count, rarity: relevance.rarity(10), length: length)) / 4_294_967_296 - expected)
                    < 1e-6)
        }
        #expect(relevance.rarity(1000) > 0)
        (relevance.rows, relevance.words) = (1 << 31, 1 << 40)
        #expect(relevance.score(.max, rarity: relevance.rarity(1), length: 1 << 28) > 0)
    }

    @Test func conditionsAndScopesFilterAndChangeNoScore() throws {
        for url in Self.urls {
            let place = TemporaryPlace()
            let articles = try place.articles(url)
            let all = try articles.search("red", limit: 10)
            let some = try articles.search("red", limit: 10) { $0.id > 1 }
            #expect(some == all.filter { $0.value.id > 1 } && some.count == 2)
            #expect(try articles.scoped { $0.id > 1 }.search("red", limit: 10) == some)
            #expect(try articles.scoped { $0.id > 1 }.search("red", limit: 10) { $0.id < 4 }.map(\.value.id) == [2])
        }
    }

    @Test func transactionsSeeTheirOwnWritesAndUndoThem() throws {
        for url in Self.urls {
            let place = TemporaryPlace()
            let articles = try place.articles(url)
            let database = articles.storage.database
            try? database.transaction { () throws -> Void in
                try articles.create(Article(id: 20, title: "unheard", text: ""))
                #expect(try articles.searchCount("unheard") == 1)
                throw CancellationError()
            }
            #expect(try articles.searchCount("unheard") == 0)
        }
    }

    @Test func asynchronousFormsAgree() async throws {
        let place = TemporaryPlace()
        let articles = try place.articles("sqlite:")
        #expect(try await articles.search("red", limit: 10) { $0.id > 1 }.map(\.value.id) == [2, 4])
        #expect(try await articles.searchCount("red") == 3)
    }

    @Test func observationsDeliverSearches() async throws {
        let place = TemporaryPlace()
        let articles = try place.articles("memory:")
        let database = articles.storage.database
        var results = database.observe { try articles.search("new*", limit: 10).map(\.value.id) }.makeAsyncIterator()
        #expect(try await results.next() == [])
        try await articles.create(Article(id: 30, title: "newest", text: ""))
        #expect(try await results.next() == [30])
        // A number reads no row, and follows them all the same.
        var numbers = database.observe { try articles.searchCount("new*") }.makeAsyncIterator()
        #expect(try await numbers.next() == 1)
        try await articles.create(Article(id: 31, title: "new", text: ""))
        #expect(try await numbers.next() == 2)
    }

    /// Somebody can repeat a word as often as he likes: the score counts it as often, and the search takes no longer.
    @Test func repeatedWordsAreLookedUpOnce() throws {
        for url in Self.urls {
            let place = TemporaryPlace()
            let articles = try place.articles(url)
            let (once, twice) = (try articles.search("red", limit: 10), try articles.search("red red", limit: 10))
            #expect(twice.map(\.value.id) == once.map(\.value.id) && twice.map(\.score) == once.map { 2 * $0.score })
            let many = String(repeating: "red OR wine OR (red wine) OR ", count: 20_000) + "red"
            #expect(try articles.searchCount(many) == 4)
        }
    }

    @Test func otherFormsOfAWordAreFound() throws {
        let query = SearchQuery("Wine -\"old car\" (tow* OR fast NEAR red)").expanded { word in
            ["wine": ["wines", "\"red grapes\"", "wine", "!"], "car": ["wrong"], "tow": ["wrong"], "fast": ["wrong"]][word] ?? []
        }
        #expect(
            query.description
                == "((\"wine\" OR \"wines\" OR \"red grapes\") AND NOT \"old car\" AND (\"tow\"* OR \"fast\" NEAR/10 \"red\"))")
        // It is what somebody could have typed.
        #expect(SearchQuery(query.description).root == query.root)
        let same = SearchQuery("red  wine")
        #expect(same.expanded { _ in ["red"] }.description == "(\"red\" AND (\"wine\" OR \"red\"))")
        #expect(same.expanded { _ in [] } == same)
        #expect(SearchQuery("!").expanded { _ in ["red"] }.isEmpty)
        struct Stop: Error {}
        #expect(throws: Stop.self) { try same.expanded { _ in throw Stop() } }
    }

    @Test func mistakesAreErrors() throws {
        let place = TemporaryPlace()
        let articles = try place.articles("memory:")
        #expect(throws: StorageError.self) { try articles.search("red", limit: 0) }
        let plain = DAO(storage: try articles.storage.database.storage(for: Silent.self))
        let error = #expect(throws: StorageError.self) { try plain.search("red", limit: 1) }
        #expect(error?.kind == .invalidQuery && error?.message.contains(".searchable") == true)
        #expect(throws: StorageError.self) { try articles.storage.database.storage(for: Heavy.self) }
        for (text, word) in [
            ("\"open", "quotation"), ("(open", "parenthesis"), ("close)", "parenthesis"), ("OR a", "OR"), ("a OR", "OR"),
            ("AND a", "AND"), ("a NOT", "NOT"),
            ("NEAR a", "NEAR"), ("", "no word"), ("!", "no word"),
        ] {
            let error = #expect(throws: StorageError.self, "\(text)") { try SearchQuery(validating: text) }
            #expect(error?.kind == .invalidQuery && error?.message.contains(word) == true, "\(text): \(error?.message ?? "")")
        }
        for text in ["a b", "\"a b\" NEAR/3 c*", "(a OR b) -c", "“a b”"] { _ = try SearchQuery(validating: text) }
        #expect(try articles.search(String(repeating: "(", count: 100_000) + "red", limit: 10).count <= 3)
        #expect(try articles.search(String(repeating: "NOT ", count: 100_000) + "red", limit: 10).count == 3)
        #expect(try articles.search(String(repeating: "red OR ", count: 20_000) + "red", limit: 10).count == 3)
    }

    @Test func whatIsFoundIsHighlighted() {
        func marked(_ query: String, _ text: String) -> String {
            var result = text
            for range in SearchQuery(query).ranges(in: text).reversed() {
                result.replaceSubrange(range, with: "[\(result[range])]")
            }
            return result
        }
        #expect(marked("strasse cafe", "Die Straße am Café, Strassen") == "Die [Straße] am [Café], Strassen")
        #expect(marked("\"red wine\"", "red Red wine red") == "red [Red wine] red")
        #expect(marked("東京", "東京都、京東") == "[東京]都、京東")
        #expect(marked("stras* -am", "Die Straße am Café, Strassen") == "Die [Straße] am Café, [Strassen]")
        #expect(marked("a NEAR/1 b", "a x b y z b a") == "[a] x [b] y z [b] [a]")
        #expect(marked("", "text") == "text")
    }

    @Test func aSnippetHasTheMostOfIt() {
        let text =
            String(repeating: "filler words ", count: 50) + "the red wine and the Red one "
            + String(repeating: "more words ", count: 50)
        let snippet = SearchQuery("red").snippet(of: text, length: 40)
        #expect(snippet.text.hasPrefix("…") && snippet.text.hasSuffix("…") && snippet.text.count <= 42)
        #expect(snippet.ranges.map { String(snippet.text[$0]) } == ["red", "Red"])
        #expect(SearchQuery("none").snippet(of: "short", length: 40) == .init(text: "short", ranges: []))
        #expect(SearchQuery("none").snippet(of: text, length: 6).text == "filler…")
        #expect(SearchQuery("red").snippet(of: "red", length: 1).text == "r…")
        #expect(SearchQuery("a").snippet(of: "", length: 5).text == "")
    }
}

/// A database with articles, in a directory of its own.
private final class TemporaryPlace {
    private let place = Place()

    func articles(_ scheme: String) throws -> DAO<Article> {
        let path = scheme == "memory:" ? "" : place.path("search.db")
        let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(scheme + path)
        let articles = DAO(storage: try database.storage(for: Article.self))
        try articles.create([
            Article(id: 1, title: "Cellar", text: "a bottle of red wine"),
            Article(id: 2, title: "Red car", text: "fast", tags: ["tag one"]),
            Article(id: 3, title: "Party", text: "white wines, wine", tags: ["one", "two"]),
            Article(id: 4, title: "Sea", text: "red in the wine"),
            Article(id: 5, title: "Tower", text: "東京 Tower は都", note: nil),
            Article(id: 6, title: "Street", text: "Straße", note: "Cafe\u{301}"),
        ])
        return articles
    }
}

private struct Article: Model, Plain, Equatable {
    var id: Int
    var title: String
    var text: String
    var note: String?
    var tags: [String] = []

    static let schema = Schema(
        "article", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .searchable(weight: 3)),
        Field("text", \.text, .searchable), Field("note", \.note, .searchable), Field("tags", \.tags, .searchable))
}

private struct Silent: Model, Plain {
    var id: Int
    var text: String

    static let schema = Schema("silent", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
}

private struct Heavy: Model, Plain {
    var id: Int
    var text: String

    static let schema = Schema("heavy", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .searchable(weight: 0)))
}
