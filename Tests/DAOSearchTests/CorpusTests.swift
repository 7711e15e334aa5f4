import DAOCore
import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOSearch

private let corpus = ProcessInfo.processInfo.environment["CORPUS"]

/// A corpus of real texts in five languages, and what searches find in it, by an evaluation in another language (`Scripts/search-corpus.py`).
/// `CORPUS` is its file: `make search-corpus`.
@Suite(.enabled(if: corpus != nil, "there is no corpus"), .serialized) struct CorpusTests {
    private static let server = ProcessInfo.processInfo.environment["DAO_POSTGRES_URL"]

    private struct Corpus: Decodable {
        struct Search: Decodable {
            struct Hit: Decodable {
                let id: Int
                let score: Double
            }

            let search: String
            let found: [Hit]
        }

        let paragraphs: [Paragraph]
        let searches: [Search]
    }

    @Test func wordsAreThoseOfAnotherEvaluation() throws {
        struct Corpus: Decodable {
            struct Words: Decodable {
                let text: String
                let words: [String]
            }

            let paragraphs: [Words]
        }

        let texts = try JSONDecoder().decode(Corpus.self, from: Data(contentsOf: URL(filePath: try #require(corpus))))
        for paragraph in texts.paragraphs {
            #expect(Term.terms(of: paragraph.text).map(\.text) == paragraph.words, "\(paragraph.text)")
        }
    }

    @Test(arguments: ["memory", "sqlite", "lmdb"] + (server == nil ? [] : ["postgres"]))
    func searchesFindWhatAnotherEvaluationFinds(_ scheme: String) throws {
        let texts = try JSONDecoder().decode(Corpus.self, from: Data(contentsOf: URL(filePath: try #require(corpus))))
        #expect(texts.paragraphs.count > 40_000)
        let place = Place()
        let url =
            switch scheme {
            case "memory": "memory:"
            case "postgres": "\(try #require(Self.server))?schema=corpus-\(UUID().uuidString.lowercased())"
            default: "\(scheme):\(place.path("corpus.db"))?durability=relaxed"
            }
        let database = try DatabaseDrivers(.memory, .sqlite, .lmdb, .postgres).open(url)
        defer { if scheme == "postgres" { try? PostgresDatabase.dropSchema(of: database.configuration) } }
        defer { try? database.close() }
        let paragraphs = DAO(storage: try database.storage(for: Paragraph.self))
        // As an application stores them: some in one call, some one by one.
        let most = texts.paragraphs.count - 300
        try paragraphs.create(Array(texts.paragraphs[..<most]))
        for paragraph in texts.paragraphs[most...] { try paragraphs.create(paragraph) }
        for search in texts.searches {
            let hits = try paragraphs.search(search.search, limit: 100_000)
            let expected = Dictionary(search.found.map { ($0.id, $0.score) }, uniquingKeysWith: { $1 })
            #expect(Set(hits.map(\.value.id)) == Set(expected.keys), "what '\(search.search)' finds")
            for hit in hits {
                #expect(abs(hit.score - (expected[hit.value.id] ?? -1)) < 0.000_01, "'\(search.search)': \(hit.value.text)")
            }
            #expect(hits.map(\.score) == hits.map(\.score).sorted(by: >))
        }
        #expect(try database.verify().isSound)
    }
}

private struct Paragraph: Model, Plain, Decodable, Equatable {
    var id: Int
    var language: String
    var text: String

    static let schema = Schema(
        "paragraph", Self.init, Field("id", \.id, .primaryKey), Field("language", \.language),
        Field("text", \.text, .searchable))
}
