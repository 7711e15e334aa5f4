import DAOCore
import DAOLMDB
import DAOSQLite
import DAOSystemSQLite
import Foundation

/// The cost of queries whose answer has one size, on a hundred times the rows: how much it grows, and on SQLite the ratio to
/// the best statement that was found by hand, on the same file.
enum GrowthBench {
    /// An article with comments and an author.
    struct Article: Plain, Model, Equatable {
        var id: Int
        var title: String
        var sender: Int
        var date: Date
        var topic: Int
        var isPinned: Bool
        var author: Reference<Author>?
        var comments: [Comment]

        static let schema = Schema(
            "article", Self.init,
            Field("id", \.id, .primaryKey), Field("title", \.title), Field("sender", \.sender), Field("date", \.date),
            Field("topic", \.topic, .indexed), Field("isPinned", \.isPinned), Field("author", \.author),
            Field("comments", \.comments, .owned), indexes: [Index(orderedBy: .ascending(\.sender), .descending(\.date))])
    }

    struct Author: Plain, Model, Equatable {
        var id: Int
        var name: String

        static let schema = Schema(
            "author", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .indexed))
    }

    struct Comment: Plain, Model, Equatable {
        var id: Int
        var text: String
        var isApproved: Bool
        var code: Int

        static let schema = Schema(
            "comment", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text),
            Field("isApproved", \.isApproved), Field("code", \.code, .indexed))
    }

    /// The numbers of rows. Of 100 rows 60 are articles, 36 comments and 4 authors.
    struct Size {
        let articles: Int
        let authors: Int
        /// Articles of one such value are ten.
        let tens: Int

        init(rows: Int) {
            articles = rows * 60 / 100
            authors = rows * 4 / 100
            tens = articles / 10
        }

        /// One article in ten has three comments; three in ten have one.
        func article(_ id: Int) -> Article {
            let count = id % 10 == 0 ? 3 : id % 10 < 4 ? 1 : 0
            let mixed = id &* 7_919 % articles
            return Article(
                id: id, title: "The title of article \(id)", sender: mixed % 10 == 0 ? 0 : 1 + mixed % tens,
                date: Date(timeIntervalSinceReferenceDate: Double(mixed)), topic: mixed % tens,
                // One article in ten, whoever its author is.
                isPinned: (id &* 2_654_435_761) >> 12 % 10 == 3,
                author: Reference(mixed % authors),
                comments: (0..<count).map { place in
                    let comment = id * 3 + place
                    // One parent of comments in ten articles has one that is not approved.
                    return Comment(
                        id: comment, text: "A comment on article \(id)", isApproved: !(id % 10 == 0 && place == 1),
                        code: id % tens)
                })
        }
    }

    /// A query, and the same as a statement by hand.
    struct Shape: Sendable {
        let name: String
        let query: @Sendable (Size) -> Query<Article>
        /// The conditions, the order and the limit, after the columns.
        let statement: @Sendable (Size) -> String
        var skipped = 0
    }

    fileprivate static let columns = "a.id, a.title, a.sender, a.date, a.topic, a.isPinned, a.author"

    static let shapes = [
        Shape(
            name: "any child, 10% of the rows",
            query: { _ in Query(where: Condition { $0.comments.contains { !$0.isApproved } }, limit: 50) },
            statement: { _ in
                """
                FROM article a WHERE EXISTS (SELECT 1 FROM "article.comments" l JOIN comment c ON c.id = l.child
                WHERE l.parent = a.id AND NOT c.isApproved) ORDER BY a.id LIMIT 50
                """
            }),
        Shape(
            name: "any child, 10 rows by an index",
            query: { size in Query(where: Condition { $0.comments.contains { $0.code == 10 } }, limit: 50) },
            statement: { _ in
                """
                FROM article a WHERE a.id IN (SELECT l.parent FROM comment c JOIN "article.comments" l ON l.child = c.id
                WHERE c.code = 10) ORDER BY a.id LIMIT 50
                """
            }),
        Shape(
            name: "count of children, 10% of the rows",
            query: { _ in Query(where: Condition { $0.comments.count > 2 }, limit: 50) },
            statement: { _ in
                """
                FROM article a WHERE EXISTS (SELECT 1 FROM "article.comments" l WHERE l.parent = a.id LIMIT 1 OFFSET 2)
                ORDER BY a.id LIMIT 50
                """
            }),
        Shape(
            name: "count of children, among 10 rows by an index",
            query: { _ in Query(where: Condition { $0.topic == 10 && $0.comments.count > 2 }, limit: 50) },
            statement: { _ in
                """
                FROM article a WHERE a.topic = 10
                AND EXISTS (SELECT 1 FROM "article.comments" l WHERE l.parent = a.id LIMIT 1 OFFSET 2)
                ORDER BY a.id LIMIT 50
                """
            }),
        Shape(
            name: "newest 50 of a sender with 10% of the rows",
            query: { _ in Query(where: Condition { $0.sender == 0 }, orderedBy: [.descending(\.date)], limit: 50) },
            statement: { _ in "FROM article a WHERE a.sender = 0 ORDER BY a.date DESC, a.id LIMIT 50" }),
        Shape(
            name: "newest 50 of a sender with 10 rows",
            query: { _ in Query(where: Condition { $0.sender == 5 }, orderedBy: [.descending(\.date)], limit: 50) },
            statement: { _ in "FROM article a WHERE a.sender = 5 ORDER BY a.date DESC, a.id LIMIT 50" }),
        Shape(
            name: "by a field of the author, 10% of the rows",
            query: { _ in Query(where: Condition { $0.isPinned }, orderedBy: [.ascending(\.author, \.name)], limit: 50) },
            statement: { _ in
                "FROM author b CROSS JOIN article a ON a.author = b.id WHERE a.isPinned ORDER BY b.name, a.id LIMIT 50"
            }),
        Shape(
            name: "by a field of the author, 10 rows by an index",
            query: { _ in Query(where: Condition { $0.topic == 10 }, orderedBy: [.ascending(\.author, \.name)], limit: 50) },
            statement: { _ in
                "FROM article a JOIN author b ON a.author = b.id WHERE a.topic = 10 ORDER BY b.name, a.id LIMIT 50"
            }),
        Shape(
            name: "by a field of the author",
            query: { _ in Query(orderedBy: [.ascending(\.author, \.name)], limit: 50) },
            statement: { _ in "FROM author b CROSS JOIN article a ON a.author = b.id ORDER BY b.name, a.id LIMIT 50" }),
        Shape(
            name: "the same, page 1,000",
            query: { _ in Query(orderedBy: [.ascending(\.author, \.name)], limit: 50) },
            statement: { size in
                """
                FROM author b CROSS JOIN article a ON a.author = b.id WHERE b.name >= ?1 AND (b.name > ?1 OR a.id > ?2)
                ORDER BY b.name, a.id LIMIT 50
                """
            }, skipped: 999 * 50),
    ]

    // MARK: Measuring

    /// Prints the table.
    static func run(_ options: Options, factor: Int, in directory: URL) throws {
        let rows = options.rows
        let shapes = shapes.filter { options.query.isEmpty || $0.name.contains(options.query) }
        print(
            """
            \(rows) and \(rows * factor) rows in total; medians of \(options.repetitions), in microseconds; budgets: \
            grows 1.60, ratio 1.30
            """)
        for pair in options.pairs where pair == .sqlite || pair == .lmdb {
            let scheme = pair.rawValue
            let sides = try [rows, rows * factor].map { try Side(scheme, Size(rows: $0), in: directory) }
            defer { for side in sides { side.remove() } }
            let title = scheme == "sqlite" ? "SQLite" : "LMDB"
            let head = ["\(rows)", "\(rows * factor)", "grows"] + (scheme == "sqlite" ? ["÷ raw", "÷ raw"] : [])
            print("\n" + line(title, head))
            for shape in shapes {
                let results = try measure(shape, sides, options.repetitions)
                let growth = medianRatio(results[1].dao, results[0].dao)
                let ratios = results.filter { !$0.raw.isEmpty }.map { medianRatio($0.dao, $0.raw) }
                var cells = results.map { String(format: "%.0f", median($0.dao)) }
                cells += ([growth] + ratios).map { String(format: "%.2f", $0) }
                let isOver = growth > 1.6 || ratios.contains { $0 > 1.3 }
                print(line(shape.name, cells) + (isOver ? "  over" : ""))
            }
        }
    }

    /// Returns the microseconds of a query by hand and by the library, on each side, in the order in which they were measured.
    ///
    /// All are measured in turn: the speed of a shared machine changes from minute to minute, and what is compared was measured
    /// within the same moment.
    private static func measure(_ shape: Shape, _ sides: [Side], _ repetitions: Int) throws -> [(raw: [Double], dao: [Double])] {
        let calls = try sides.map { try Calls(shape, $0) }
        var times = [(raw: [Double], dao: [Double])](repeating: ([], []), count: sides.count)
        for _ in 0..<repetitions {
            for (number, calls) in calls.enumerated() {
                times[number].dao.append(try timed { try calls.readByLibrary() })
                if calls.statement != nil { times[number].raw.append(try timed { try calls.readByHand() }) }
            }
        }
        return times
    }

    /// Returns the microseconds of a call, as an application makes it that reads again and again: the mean of calls in a row.
    ///
    /// The pause before them ends the parked reader, whose lock would spare the raw side its own.
    private static func timed<Result>(_ body: () throws -> Result) rethrows -> Double {
        Thread.sleep(forTimeInterval: 0.015)
        for _ in 0..<20 { _ = try body() }
        var calls = 0
        let start = ContinuousClock.now
        var time = Duration.zero
        while time < .milliseconds(20) {
            _ = try body()
            calls += 1
            time = ContinuousClock.now - start
        }
        return time / .microseconds(calls)
    }
}

/// A database with rows of one number.
private final class Side {
    let size: GrowthBench.Size
    let articles: DAO<GrowthBench.Article>
    let authors: DAO<GrowthBench.Author>
    let raw: RawReader?
    private let path: String
    private let database: any Database

    init(_ scheme: String, _ size: GrowthBench.Size, in directory: URL) throws {
        self.size = size
        path = directory.appendingPathComponent("growth-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let file = path + "/file"
        database = try DatabaseDrivers(.sqlite, .lmdb).open("\(scheme)://\(file)?durability=relaxed")
        authors = DAO(storage: try database.storage(for: GrowthBench.Author.self))
        articles = DAO(storage: try database.storage(for: GrowthBench.Article.self))
        try authors.storage.insert((0..<size.authors).map { GrowthBench.Author(id: $0, name: "name \($0 / 2)") })
        for start in stride(from: 0, to: size.articles, by: 50_000) {
            try articles.storage.insert((start..<min(start + 50_000, size.articles)).map(size.article))
        }
        raw = scheme == "sqlite" ? try RawReader(file) : nil
    }

    func remove() {
        try? database.close()
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// A query by the library and, on SQLite, by hand.
private final class Calls {
    let statement: OpaquePointer?
    private let side: Side
    private var query: Query<GrowthBench.Article>

    init(_ shape: GrowthBench.Shape, _ side: Side) throws {
        self.side = side
        query = shape.query(side.size)
        query.includesSubentities = false
        var position: (name: String, id: Int)?
        for _ in 0..<shape.skipped / 50 {
            var pages = query
            pages.limit = nil
            let page = try side.articles.page(pages, limit: 50)
            query.after = page.next
            guard let last = page.elements.last, let author = last.author else { continue }
            position = (try side.authors.read(byPrimaryKey: author)?.name ?? "", last.id)
        }
        statement = try side.raw?.prepare("SELECT \(GrowthBench.columns) " + shape.statement(side.size), position)
        let found = try readByLibrary()
        guard !found.isEmpty, statement == nil ? true : try found.map(\.id) == readByHand().map(\.id) else {
            throw BenchError("\(shape.name): the two sides read different rows")
        }
    }

    deinit { sqlite3_finalize(statement) }

    func readByLibrary() throws -> [GrowthBench.Article] { try side.articles.storage.read(query) }

    func readByHand() throws -> [GrowthBench.Article] {
        guard let raw = side.raw, let statement else { return [] }
        return raw.read(statement)
    }
}

/// Reads articles by hand.
private final class RawReader {
    private var connection: OpaquePointer?

    init(_ path: String) throws {
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK else {
            throw BenchError("\(path) cannot be opened")
        }
        sqlite3_exec(connection, "PRAGMA cache_size = -16384; PRAGMA mmap_size = 0", nil, nil, nil)
    }

    deinit { sqlite3_close_v2(connection) }

    func prepare(_ sql: String, _ position: (name: String, id: Int)?) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK else {
            throw BenchError("\(String(cString: sqlite3_errmsg(connection))) in: \(sql)")
        }
        if let position {
            sqlite3_bind_text(statement, 1, position.name, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            sqlite3_bind_int64(statement, 2, Int64(position.id))
        }
        return statement
    }

    func read(_ statement: OpaquePointer) -> [GrowthBench.Article] {
        var articles: [GrowthBench.Article] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let title = sqlite3_column_text(statement, 1).map {
                String(decoding: UnsafeBufferPointer(start: $0, count: Int(sqlite3_column_bytes(statement, 1))), as: UTF8.self)
            }
            articles.append(
                GrowthBench.Article(
                    id: Int(sqlite3_column_int64(statement, 0)), title: title ?? "",
                    sender: Int(sqlite3_column_int64(statement, 2)),
                    date: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, 3)),
                    topic: Int(sqlite3_column_int64(statement, 4)), isPinned: sqlite3_column_int64(statement, 5) != 0,
                    author: Reference(Int(sqlite3_column_int64(statement, 6))), comments: []))
        }
        sqlite3_reset(statement)
        return articles
    }
}
