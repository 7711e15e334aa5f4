import DAOCore
import DAOSearch
import Foundation

/// Rows like leaflets, of another entity and with another weight.
private struct Placard: Plain, Model, Equatable {
    var id: Int
    var title: String
    var text: String

    static let schema = Schema(
        "placard", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .searchable),
        Field("text", \.text, .searchable))
}

/// What a search in leaflets and placards finds.
private enum Sheet: Equatable {
    case leaflet(Int)
    case placard(Int)
}

/// S1 to S7, and S10: full-text search.
enum Searches {
    /// Compares the keys of the rows that searches find, whatever their order.
    private static func expect(_ searches: [String: [Int]], _ leaflets: DAO<Leaflet>) throws {
        for (text, keys) in searches.sorted(by: { $0.key < $1.key }) {
            try expectEqual(try leaflets.search(text, limit: 100).map(\.value.id).sorted(), keys, "what '\(text)' finds")
            try expectEqual(try leaflets.searchCount(text), keys.count, "the number of what '\(text)' finds")
        }
    }

    private static func stored(_ context: ConformanceContext) throws -> (any Database, DAO<Leaflet>) {
        let (database, leaflets) = try context.open(with: Leaflet.self)
        try leaflets.create(Leaflet.all)
        return (database, leaflets)
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase("S.words", "S1", title: "words of scripts with and without spaces are found, parts of words are not") {
            let (_, leaflets) = try stored($0)
            try expect(
                [
                    "tower": [5], "tow": [], "wine": [1, 3, 4], "東京": [5], "京": [5], "京都": [], "都": [5], "한국어": [7], "국어": [7],
                    "국한": [],
                    "ไทย": [7], "ทไ": [], "red-wine": [1], "!": [],
                ], leaflets)
        },
        ConformanceCase("S.longWords", "S1", title: "of a long word the first 128 bytes count") {
            let leaflets = try $0.dao(Leaflet.self)
            for (letter, size) in [("x", 1), ("я", 2)] {
                for length in [126, 127, 128, 129, 130] {
                    // They differ in the last letter, of which the first 128 bytes may have nothing.
                    let begin = String(repeating: letter, count: (length - 1) / size)
                    try leaflets.persist([
                        Leaflet(id: 1, title: "", text: begin + "a"), Leaflet(id: 2, title: "", text: begin + "b"),
                    ])
                    let differs = (length - 1) / size * size < 128
                    for id in [1, 2] {
                        let found = try leaflets.search(begin + (id == 1 ? "a" : "b"), limit: 10).map(\.value.id)
                        try expectEqual(found, differs ? [id] : [1, 2], "a word of \(length) bytes of '\(letter)'")
                    }
                    // What stands beside the word decides nothing.
                    try leaflets.persist(Leaflet(id: 1, title: "", text: "ü \(begin)a"))
                    try expectEqual(try leaflets.search("\(begin)a ü", limit: 10).map(\.value.id), [1])
                }
            }
        },
        ConformanceCase("S.folding", "S2", title: "a search ignores case, and marks where they are no letters") {
            let (database, leaflets) = try stored($0)
            try leaflets.create(Leaflet(id: 8, title: "がく ΟΔΟΣ Ёлка", text: "شُكْرًا"))
            // As keys of a dictionary, both spellings of a letter are the same.
            try expect(["か\u{3099}": [8]], leaflets)
            try expect(
                [
                    "RED": [1, 2, 4], "strasse": [6], "STRASSE": [6], "cafe": [6], "Café": [6], "が": [8], "か": [], "οδος": [8],
                    "елка": [8], "شكرا": [8],
                ], leaflets)
            try database.close()
        },
        ConformanceCase("S.operators", "S3", title: "operators of a search, in every searchable field") {
            let (_, leaflets) = try stored($0)
            try expect(
                [
                    "red wine": [1, 4], "red AND wine": [1, 4], "red OR white": [1, 2, 3, 4], "red NOT wine": [2],
                    "red -wine": [2],
                    "\"red wine\"": [1], "\"wine red\"": [], "win*": [1, 3, 4], "\"white win\"*": [3],
                    "(red OR white) wine": [1, 3, 4],
                    "red NEAR/0 wine": [1], "red NEAR/1 wine": [1], "wine NEAR/2 red": [1, 4], "car fast": [2],
                    "\"car fast\"": [], "one": [2, 3],
                    "\"one two\"": [], "one NEAR/100 two": [], "one two": [3], "-red -tower": [3, 6, 7],
                    "NOT (red OR wine)": [5, 6, 7],
                    "red -(wine OR fast)": [],
                ], leaflets)
        },
        ConformanceCase(
            "S.distances", "S3", title: "words and phrases near each other are found up to the distance, and not beyond it"
        ) {
            let leaflets = try $0.dao(Leaflet.self)
            let (first, second) = (["red", "hot", "tea"], ["big", "mug"])
            var texts: [[String]] = []
            for gap in [0, 1, 2, 9, 10, 11, 98, 99, 100, 101, 102] {
                let between = Array(repeating: "x", count: gap)
                texts += [first + between + second, second + between + first]
            }
            // The nearest counts, and what overlaps is not near.
            texts += [first + ["x"] + first + ["x"] + second, ["red", "hot", "tea", "hot", "red"], first, second]
            try leaflets.create(texts.enumerated().map { Leaflet(id: $0, title: "", text: $1.joined(separator: " ")) })
            func starts(_ words: [String], _ text: [String]) -> [Range<Int>] {
                text.indices.compactMap { start in
                    text[start...].starts(with: words) ? start..<start + words.count : nil
                }
            }
            let parts = [["red"], ["hot", "tea"], first, ["mug"], second]
            for left in parts {
                for right in parts where left != right {
                    for distance in [nil, 0, 1, 2, 3, 9, 10, 11, 98, 99, 100, 101, 1000] as [Int?] {
                        let most = min(distance ?? 10, 100)
                        let expected = texts.indices.filter { number in
                            starts(left, texts[number]).contains { one in
                                starts(right, texts[number]).contains { other in
                                    !one.overlaps(other)
                                        && max(other.lowerBound - one.upperBound, one.lowerBound - other.upperBound) <= most
                                }
                            }
                        }
                        func written(_ words: [String]) -> String {
                            words.count == 1 ? words[0] : "\"\(words.joined(separator: " "))\""
                        }
                        let text = "\(written(left)) NEAR\(distance.map { "/\($0)" } ?? "") \(written(right))"
                        try expectEqual(try leaflets.search(text, limit: 100).map(\.value.id).sorted(), expected, text)
                    }
                }
            }
        },
        ConformanceCase("S.incomplete", "S3", title: "what is no complete query is read as far as it goes") {
            let (_, leaflets) = try stored($0)
            try expect(
                [
                    "": [], "  ": [], "AND OR NOT": [], "\"red wine": [1], "(red": [1, 2, 4], "red)": [1, 2, 4],
                    "red OR": [1, 2, 4], "red NEAR": [1, 2, 4],
                    "*": [], "red *": [1, 2, 4], "- red": [1, 2, 4], "NOT NOT red": [1, 2, 4], "((((": [],
                ], leaflets)
        },
        ConformanceCase(
            "S.scores", "S4", title: "the best rows come first, those with equal scores by key, with the same scores everywhere"
        ) {
            let (_, leaflets) = try stored($0)
            func scores(_ text: String) throws -> [String] {
                try leaflets.search(text, limit: 100).map { "\($0.value.id): \(Int64($0.score * 4_294_967_296))" }
            }
            try expectEqual(
                try scores("red"), ["2: 5786093598", "4: 3810354320", "1: 3550557436"], "the rows and scores of one word")
            try expectEqual(
                try scores("red OR win*"), ["4: 7620708640", "1: 7101114872", "2: 5786093598", "3: 4882016474"],
                "the rows and scores of a word and a beginning")
            try expectEqual(try scores("-red -tower"), ["3: 0", "6: 0", "7: 0"], "negations")
            try expectEqual(
                try scores("red NOT (wine NOT in)"), ["2: 5786093598", "4: 3810354320"], "a negation below a negation")
            try leaflets.create([Leaflet(id: 12, title: "same", text: "x y"), Leaflet(id: 11, title: "same", text: "y x")])
            let hits = try leaflets.search("same", limit: 10)
            try expectEqual(hits.map(\.value.id), [11, 12], "rows with equal scores")
            try expectEqual(try leaflets.search("same", limit: 1).map(\.value.id), [11], "the first of them")
        },
        ConformanceCase("S.scoresOfSeveralFields", "S4", title: "a word in several fields of a row counts as one row that has it")
        {
            let leaflets = try $0.dao(Leaflet.self)
            let rows = [
                Leaflet(id: 1, title: "red", text: "red and blue", note: "red", tags: ["red", "x red"]),
                Leaflet(id: 2, title: "x", text: "blue red"), Leaflet(id: 3, title: "y", text: "x x y"),
                Leaflet(id: 4, title: "blue", text: "x"), Leaflet(id: 5, title: "z", text: "z z z z", tags: ["z"]),
            ]
            try leaflets.create(rows)
            // BM25 as the contract has it, in floating point: occurrences with their weights, words without.
            func fields(_ row: Leaflet) -> [(words: [Substring], weight: Int)] {
                let texts = [(row.title, 3), (row.text, 1), (row.note ?? "", 1), (row.tags.joined(separator: " "), 1)]
                return texts.map { ($0.0.split(separator: " "), $0.1) }
            }
            let lengths = rows.map { fields($0).map(\.words.count).reduce(0, +) }
            let mean = Double(lengths.reduce(0, +)) / Double(rows.count)
            for words in [["red"], ["blue"], ["red", "blue"], ["x", "red", "z"]] {
                var expected: [(id: Int, score: Double)] = []
                for (row, length) in zip(rows, lengths) {
                    let score = words.map { word -> Double in
                        func count(_ row: Leaflet) -> Int {
                            fields(row).map { field in field.words.filter { $0 == word }.count * field.weight }.reduce(0, +)
                        }
                        let number = Double(rows.filter { count($0) > 0 }.count)
                        let rarity = log(1 + (Double(rows.count) - number + 0.5) / (number + 0.5))
                        let found = Double(count(row))
                        return rarity * found * 2.2 / (found + 1.2 * (0.25 + 0.75 * Double(length) / mean))
                    }.reduce(0, +)
                    if score > 0 { expected.append((row.id, score)) }
                }
                expected.sort { $0.score > $1.score }
                let hits = try leaflets.search(words.joined(separator: " OR "), limit: 10)
                try expectEqual(hits.map(\.value.id), expected.map(\.id), "the rows of \(words)")
                for (hit, row) in zip(hits, expected) {
                    if abs(hit.score - row.score) < 1e-5 { continue }
                    throw fail("\(words) in row \(row.id): \(hit.score), not \(row.score)")
                }
            }
        },
        ConformanceCase("S.conditions", "S5", title: "conditions filter what is found, and change no score") {
            let (_, leaflets) = try stored($0)
            let all = try leaflets.search("red", limit: 10)
            let some = all.filter { $0.value.id > 1 }
            try expectEqual(try leaflets.search("red", limit: 10) { $0.id > 1 }, some, "with a condition")
            try expectEqual(try leaflets.scoped { $0.id > 1 }.search("red", limit: 10), some, "in a scope")
            let few = try leaflets.scoped { $0.id > 1 }.search("red", limit: 10) { $0.id < 4 }
            try expectEqual(few.map(\.value.id), [2], "with a condition in a scope")
            try expectEqual(try leaflets.scoped { $0.id > 1 }.searchCount("red"), some.count, "the number in a scope")
            try expectEqual(try leaflets.searchCount("red", where: Condition { $0.id > 1 }), 2, "the number with a condition")
            try expectEqual(try leaflets.search("red", limit: 2), Array(all.prefix(2)), "the first two")
        },
        ConformanceCase(
            "S.writes", "S6", title: "a search sees every write, those of its own transaction too, and none that was undone"
        ) {
            let (database, leaflets) = try stored($0)
            _ = try? database.transaction { () throws -> Void in
                try leaflets.create(Leaflet(id: 20, title: "unheard", text: ""))
                try expectEqual(try leaflets.searchCount("unheard"), 1, "in the transaction")
                throw CancellationError()
            }
            try expectEqual(try leaflets.searchCount("unheard"), 0, "after it was undone")
            try leaflets.set(\.text, to: "green bottle") { $0.id == 1 }
            try expectEqual(try leaflets.search("bottle -red", limit: 10).map(\.value.id), [1], "after a field was set")
            try leaflets.erase { $0.id == 1 }
            try expectEqual(try leaflets.searchCount("bottle"), 0, "after the row was erased")
            try leaflets.persist(Leaflet(id: 2, title: "Blue car", text: ""))
            try expectEqual(try leaflets.search("red", limit: 10).map(\.value.id), [4], "after a row was replaced")
        },
        ConformanceCase(
            "S.refusals", "S6", title: "a search without a searchable field, or with a limit below 1, is invalidQuery"
        ) {
            let (database, leaflets) = try stored($0)
            let items = try database.dao(Item.self)
            try expectKind(.invalidQuery, "no searchable field") { try items.search("red", limit: 1) }
            try expectKind(.invalidQuery, "a limit of 0") { try leaflets.search("red", limit: 0) }
            for text in ["\"open", "(open", "close)", "OR a", "a OR", "AND a", "a NOT", "NEAR a", "", "!"] {
                try expectKind(.invalidQuery, "'\(text)'") { try SearchQuery(validating: text) }
            }
        },
        ConformanceCase(
            "S.pages", "S7",
            title: "pages of a search give each row that stays once and in its place, while others make its words frequent"
        ) {
            let (_, leaflets) = try stored($0)
            let query = SearchQuery("red OR wine OR tower")
            let whole = try leaflets.search(query, limit: 100).map(\.value.id)
            try expectEqual(whole.sorted(), [1, 2, 3, 4, 5], "what is found")
            for limit in [1, 2, 3, 5, 100] {
                var found: [Int] = []
                var cursor: SearchCursor?
                repeat {
                    let page = try leaflets.searchPage(query, limit: limit, after: cursor)
                    found += page.hits.map(\.value.id)
                    try expectEqual(page.hits.count <= limit && found.count <= 100, true, "pages of \(limit) that end")
                    // A cursor that was sent as text.
                    cursor = try page.next.map { try JSONDecoder().decode(SearchCursor.self, from: JSONEncoder().encode($0)) }
                    try leaflets.persist((1...30).map { Leaflet(id: 1000 + $0, title: "wine", text: "tower and red") })
                } while cursor != nil
                try expectEqual(found.filter { $0 < 1000 }, whole, "the rows of pages of \(limit)")
                try expectEqual(Set(found).count, found.count, "the number of different rows of pages of \(limit)")
                try leaflets.erase { $0.id > 1000 }
            }
            let filtered = try leaflets.searchPage(query, limit: 1, where: Condition { $0.id != whole[0] })
            try expectEqual(filtered.hits.map(\.value.id), [whole[1]], "a page with a condition")
        },
        ConformanceCase("S.foreignCursors", "S7", title: "a cursor of another search, and a damaged one, is invalidQuery") {
            let (_, leaflets) = try stored($0)
            let query = SearchQuery("tower OR red")
            let page = try leaflets.searchPage(query, limit: 1)
            try expectEqual(page.hits.map(\.value.id), [5], "the first page")
            try expectKind(.invalidQuery, "a cursor of another search") {
                try leaflets.searchPage(SearchQuery("red"), limit: 1, after: page.next)
            }
            let text = String(decoding: try JSONEncoder().encode(page.next), as: UTF8.self)
            for (part, other) in [
                ("\"rows\":7", "\"rows\":-7"), ("\"rows\":7", "\"rows\":9223372036854775807"), ("\"words\":", "\"words\":-"),
                ("\"counts\":[", "\"counts\":[1,"), ("\"counts\":[", "\"counts\":[-"), ("\"key\":\"5\"", "\"key\":\"five\""),
                ("\"entity\":\"", "\"entity\":\"x"),
            ] {
                let damaged = text.replacingOccurrences(of: part, with: other)
                try expectEqual(damaged != text, true, "\(part) in the cursor")
                let cursor = try JSONDecoder().decode(SearchCursor.self, from: Data(damaged.utf8))
                try expectKind(.invalidQuery, "a cursor with \(other)") {
                    try leaflets.searchPage(query, limit: 1, after: cursor)
                }
            }
        },
        ConformanceCase("S.entities", "S10", title: "a search in several entities scores their rows as those of one") {
            let (database, leaflets) = try stored($0)
            let placards = try database.dao(Placard.self)
            func sources(_ condition: Condition<Placard> = .all) -> [SearchSource<Sheet>] {
                [
                    SearchSource(leaflets) { .leaflet($0.id) },
                    SearchSource(placards, where: condition) { .placard($0.id) },
                ]
            }
            // As one entity has them. The texts have no word twice, and the titles of placards count as their texts.
            let one = try $0.openOther(with: Leaflet.self).1
            func expectAsOne(_ what: String) throws {
                for text in [
                    "red", "wine", "red OR tower OR strasse", "one OR old", "win*", "-red", "\"red wine\"", "old -wine", "x",
                ] {
                    let found = try database.search(text, in: sources(), limit: 100)
                    let expected = try one.search(text, limit: 100)
                    try expectEqual(
                        found.map(\.value),
                        expected.map { $0.value.id < 100 ? .leaflet($0.value.id) : .placard($0.value.id - 100) },
                        "what '\(text)' finds \(what)")
                    try expectEqual(found.map(\.score), expected.map(\.score), "the scores of '\(text)' \(what)")
                    for limit in [1, 3] {
                        let first = try database.search(text, in: sources(), limit: limit)
                        try expectEqual(first, Array(found.prefix(limit)), "the first \(limit) of '\(text)' \(what)")
                    }
                }
            }
            try one.create(Leaflet.all)
            try expectAsOne("beside no poster")
            let texts = ["old wine", "an old red tower", "a tower", "red", "red wine", "a bottle of red wine and old one", ""]
            try placards.create(texts.enumerated().map { Placard(id: $0 + 1, title: "", text: $1) })
            try one.create(texts.enumerated().map { Leaflet(id: $0 + 101, title: "", text: $1) })
            try expectAsOne("with placards")
            // A condition, and a scope, change no score.
            let all = try database.search("red", in: sources(), limit: 100)
            try expectEqual(
                try database.search("red", in: sources(Condition { $0.id > 4 }), limit: 100),
                all.filter { ![.placard(2), .placard(4)].contains($0.value) }, "placards with a condition")
            try expectEqual(
                try database.search("red", in: [SearchSource(leaflets.scoped { $0.id == 4 }) { $0.id }], limit: 100),
                try leaflets.search("red", limit: 100) { $0.id == 4 }.map { SearchHit(value: $0.value.id, score: $0.score) },
                "leaflets of a scope")
            try database.transaction {
                try placards.persist(Placard(id: 4, title: "red", text: "red red"))
                try expectEqual(
                    try database.search("red", in: sources(), limit: 1).map(\.value), [.placard(4)], "a write before it")
            }
            try expectEqual(try database.search("", in: sources(), limit: 9), [], "a text without words")
            try expectEqual(try database.search("red", in: [SearchSource<Sheet>](), limit: 9), [], "no source")
            try expectKind(.invalidQuery, "a limit of 0") { try database.search("red", in: sources(), limit: 0) }
            try expectKind(.invalidQuery, "a source of another database") {
                try database.search("red", in: [SearchSource(one) { $0.id }], limit: 1)
            }
            let items = try database.dao(Item.self)
            try expectKind(.invalidQuery, "no searchable field") {
                try database.search("red", in: [SearchSource(items) { $0.id }], limit: 1)
            }
        },
    ]
}
