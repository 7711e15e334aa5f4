import DAOCore
import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite
import DAOSearch
import DAOSystemSQLite
import DAOTestSupport
import Foundation

/// Searches beside SQLite's FTS5 in one run: what an index costs when rows are stored, and what a search does.
///
/// The texts have 100 words of 50,000, which are as frequent as those of a language (Zipf).
enum SearchBench {
    private static let drivers = DatabaseDrivers(.memory, .sqlite, .lmdb, .postgres)

    static func run(rows: Int, repetitions: Int, in directory: URL) throws {
        let texts = Texts(rows)
        let sides = ["FTS5", "sqlite", "lmdb", "memory"] + (PostgresServer.ofEnvironment == nil ? [] : ["postgres"])
        print("\n" + line("searches of \(rows) rows of 100 words, \(texts.bytes / 1_000_000) MB", sides, width: 16))
        var times: [(name: String, times: [[Double]])] = []
        for round in 0..<max(repetitions, 1) {
            for (index, side) in sides.enumerated() {
                try inFolder("search-\(side)-\(round)", of: directory) { place in
                    let found =
                        side == "FTS5" ? try RawSearch.measure(texts, place) : try measure(side, texts, place)
                    for (name, time) in found {
                        if let known = times.firstIndex(where: { $0.name == name }) {
                            times[known].times[index].append(time)
                        } else {
                            times.append((name, sides.indices.map { $0 == index ? [time] : [] }))
                        }
                    }
                }
            }
        }
        for (name, sides) in times {
            let cells = sides.enumerated().map { index, times in
                if times.isEmpty { return "–" }
                let ratio = index == 0 || sides[0].isEmpty ? "" : String(format: " (%.2f)", medianRatio(times, sides[0]))
                return String(format: "%.3f", median(times)) + ratio
            }
            print(line(name, cells, width: 16))
        }
    }

    private static func measure(_ kind: String, _ texts: Texts, _ place: URL) throws -> [(String, Double)] {
        let schema = "bench-\(UUID().uuidString.lowercased())"
        let url =
            switch kind {
            case "memory": "memory:"
            case "postgres": "\(PostgresServer.ofEnvironment?.url ?? "")?schema=\(schema)&durability=relaxed"
            default: "\(kind)://\(place.path)/search?durability=relaxed"
            }
        let database = try drivers.open(url)
        defer {
            try? database.close()
            if kind == "postgres" { PostgresServer.ofEnvironment?.drop(schema) }
        }
        let pages = DAO(storage: try database.storage(for: Page.self))
        var times: [(String, Double)] = []
        func store(_ rows: Range<Int>) throws { try pages.create(rows.map { Page(id: $0 + 1, text: texts.all[$0]) }) }
        times += try texts.storing(store, inTransaction: { try database.transaction($0) })
        times += try texts.searching { _ = try pages.search($0, limit: 20) }
        // What a search field does after each letter: find, and cut out what is shown.
        times.append(
            try texts.typing { text in
                let query = SearchQuery(text + "*")
                for hit in try pages.search(query, limit: 20) { _ = query.snippet(of: hit.value.text, length: 120) }
            })
        return times
    }
}

/// The texts of a run, and what is measured of them.
struct Texts {
    let all: [String]
    let bytes: Int

    private static let vocabulary = 50_000

    init(_ count: Int) {
        var generator = SeededGenerator(seed: 42)
        var sum = 0.0
        let cumulative = (1...Self.vocabulary).map { rank in
            sum += 1 / Double(rank)
            return sum
        }
        all = (0..<count).map { _ in
            (0..<100).map { _ in
                let place = Double.random(in: 0..<sum, using: &generator)
                var (low, high) = (0, Self.vocabulary - 1)
                while low < high {
                    let middle = (low + high) / 2
                    if cumulative[middle] < place { low = middle + 1 } else { high = middle }
                }
                return Self.word(low)
            }.joined(separator: " ")
        }
        bytes = all.reduce(0) { $0 + $1.utf8.count }
    }

    /// The word of a rank: letters that do not depend on it, then its number.
    private static func word(_ rank: Int) -> String {
        var (rest, letters) = (rank &* 2_654_435_761 % 1_000_003, "")
        for _ in 0..<3 {
            letters.append(Character(UnicodeScalar(UInt8(97 + rest % 26))))
            rest /= 26
        }
        return letters + String(rank, radix: 36)
    }

    /// Stores the texts but the last tenth in one transaction, and the rest in transactions of 100.
    func storing(
        _ store: @escaping (Range<Int>) throws -> Void, inTransaction transaction: (() throws -> Void) throws -> Void
    ) throws -> [(String, Double)] {
        let clock = ContinuousClock()
        let bulk = all.count * 9 / 10
        let whole = try clock.measure {
            try transaction { for start in stride(from: 0, to: bulk, by: 1000) { try store(start..<min(start + 1000, bulk)) } }
        }
        var slowest = 0.0
        let small = try clock.measure {
            for start in stride(from: bulk, to: all.count, by: 100) {
                let time = try clock.measure { try transaction { try store(start..<min(start + 100, all.count)) } }
                slowest = max(slowest, time / .milliseconds(1))
            }
        }
        return [
            ("one transaction, µs a row", whole / .microseconds(1) / Double(max(bulk, 1))),
            ("100 rows a transaction, µs a row", small / .microseconds(1) / Double(max(all.count - bulk, 1))),
            ("the slowest of these, ms", slowest),
        ]
    }

    /// Types words of all frequencies letter by letter, and returns the milliseconds that all but a twentieth of the letters take at most.
    func typing(_ search: (String) throws -> Void) throws -> (String, Double) {
        let words = [0, 1, 5, 20, 77, 200, 999, 2000, 7777, 20_000, 40_000].map(Self.word)
        let times = try words.flatMap { word in
            try (1...word.count).map { count in
                try ContinuousClock().measure { try search(String(word.prefix(count))) } / .milliseconds(1)
            }
        }
        return ("a letter typed, with snippets, 95 of 100, ms", times.sorted()[times.count * 95 / 100])
    }

    /// Searches, each a few times, and returns the milliseconds of the fastest.
    func searching(_ search: (String) throws -> Void) throws -> [(String, Double)] {
        let w = Self.word
        let queries = [
            ("the rarest word", w(40_000)), ("a rare word", w(2000)), ("a frequent word", w(20)),
            ("the most frequent word", w(0)),
            ("two words", "\(w(20)) AND \(w(200))"), ("one of two words", "\(w(20)) OR \(w(200))"),
            ("a phrase", "\"\(w(2)) \(w(3))\""), ("a beginning of 2 letters", "\(w(200).prefix(2))*"),
            ("a beginning of 3 letters", "\(w(200).prefix(3))*"),
        ]
        return try queries.map { name, text in
            let times = try (0..<7).map { _ in try ContinuousClock().measure { try search(text) } / .milliseconds(1) }
            return ("\(name), the best 20, ms", times.min() ?? 0)
        }
    }
}

private struct Page: Model, Plain {
    var id: Int
    var text: String

    static let schema = Schema("page", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .searchable))
}

/// The same rows in a table with an FTS5 index of it, written by hand.
private enum RawSearch {
    private struct Failure: Error { let message: String }

    static func measure(_ texts: Texts, _ place: URL) throws -> [(String, Double)] {
        var opened: OpaquePointer?
        guard sqlite3_open(place.appendingPathComponent("fts.db").path, &opened) == SQLITE_OK, let database = opened else {
            throw Failure(message: "cannot open")
        }
        defer { sqlite3_close(database) }
        func execute(_ sql: String) throws {
            guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
                throw Failure(message: String(cString: sqlite3_errmsg(database)))
            }
        }
        func prepare(_ sql: String) throws -> OpaquePointer {
            var statement: OpaquePointer?
            guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
                throw Failure(message: String(cString: sqlite3_errmsg(database)))
            }
            return statement
        }
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        try execute(
            """
            PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-64000;
            CREATE TABLE page (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
            CREATE VIRTUAL TABLE found USING fts5(text, content='page', content_rowid='id');
            """)
        let (insert, index) = (
            try prepare("INSERT INTO page VALUES (?, ?)"), try prepare("INSERT INTO found(rowid, text) VALUES (?, ?)")
        )
        let search = try prepare(
            "SELECT page.* FROM found JOIN page ON id = found.rowid WHERE found MATCH ? ORDER BY rank LIMIT 20")
        defer { for statement in [insert, index, search] { sqlite3_finalize(statement) } }
        func store(_ rows: Range<Int>) throws {
            for row in rows {
                for statement in [insert, index] {
                    sqlite3_bind_int64(statement, 1, Int64(row + 1))
                    sqlite3_bind_text(statement, 2, texts.all[row], -1, transient)
                    guard sqlite3_step(statement) == SQLITE_DONE else {
                        throw Failure(message: String(cString: sqlite3_errmsg(database)))
                    }
                    sqlite3_reset(statement)
                }
            }
        }
        var times = try texts.storing(store) { body in
            try execute("BEGIN IMMEDIATE")
            try body()
            try execute("COMMIT")
        }
        times += try texts.searching { text in
            sqlite3_bind_text(search, 1, text, -1, transient)
            while sqlite3_step(search) == SQLITE_ROW { _ = sqlite3_column_text(search, 1) }
            sqlite3_reset(search)
        }
        return times
    }
}
