import DAOCore
import DAOLMDB
import DAOPostgres
import DAOSQLite
import DAOTestSupport
import Foundation

struct Writer: Plain, Model {
    var id: Int
    var name: String

    static let schema = Schema("writer", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .unique))
}

struct Chapter: Plain, Model {
    var id: String
    var title: String

    static let schema = Schema("chapter", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}

struct Book: Plain, Model {
    var id: Int
    var title: String
    var price: Decimal
    var published: Date?
    var cover: Data?
    var tags: [String]
    var writer: Writer?
    var chapters: [Chapter]

    static let schema = Schema(
        "book", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title, .indexed),
        Field("price", \.price),
        Field("published", \.published),
        Field("cover", \.cover),
        Field("tags", \.tags),
        Field("writer", \.writer, .linked),
        Field("chapters", \.chapters, .cascade),
        indexes: [Index(orderedBy: .ascending(\.published), .descending(\.price))]
    )
}

/// The book of a later build, which shelves nothing but names and pages.
struct NewBook: Plain, Model {
    var id: Int
    var name: String
    var pages: Int?

    static let schema = Schema(
        "book", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name), Field("pages", \.pages))
}

/// The book of a build in which no two have the same price.
struct UniqueBook: Plain, Model {
    var id: Int
    var title: String
    var price: Decimal
    var tags: [String]

    static let schema = Schema(
        "book", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("price", \.price, .unique),
        Field("tags", \.tags))
}

/// The writer of a build with numbers as names.
struct OtherWriter: Plain, Model {
    var id: Int
    var name: Int

    static let schema = Schema("writer", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
}

/// Values that are easily changed on their way through text.
struct Hard: Plain, Model {
    var id: String
    var text: String?
    var number: Double
    var small: Float?
    var date: Date

    static let schema = Schema(
        "hard", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.text),
        Field("number", \.number),
        Field("small", \.small),
        Field("date", \.date)
    )

    /// All values, with the bits of the numbers.
    var bits: [String] {
        [
            id, text.map { "'\($0)'" } ?? "nil", "\(number.isNaN ? 0 : number.bitPattern)", "\(small?.bitPattern ?? 0)",
            "\(date.timeIntervalSinceReferenceDate.bitPattern)",
        ]
    }
}

/// A directory with a database of books, and the program.
struct Library {
    let place = Place()
    let url: String

    /// The kinds of database: those in files, and that on the server which `Scripts/with-postgres.sh` starts.
    static let schemes = files + (server == nil ? [] : ["postgres"])
    static let files = ["sqlite", "lmdb"]
    static let server = ProcessInfo.processInfo.environment["DAO_POSTGRES_URL"]
    private static let drivers = DatabaseDrivers(.sqlite, .lmdb, .postgres)

    /// Makes the database `library` of a kind, and closes it.
    init(_ scheme: String) throws {
        url = Self.newURL(scheme, "library.db")
        try using { database in
            let books = DAO(storage: try database.storage(for: Book.self))
            let ada = Writer(id: 1, name: "Ada")
            let chapters = [Chapter(id: "a", title: "Begin"), Chapter(id: "b", title: "End, \"at last\"")]
            let day = Date(timeIntervalSince1970: 1_700_000_000)
            try books.create([
                Book(
                    id: 1, title: "Engines", price: Decimal(string: "12.50")!, published: day, cover: Data([1, 2, 3]),
                    tags: ["new"],
                    writer: ada, chapters: chapters),
                Book(id: 2, title: "Looms\tand cards", price: 8, published: nil, cover: nil, tags: [], writer: nil, chapters: []),
                Book(
                    id: 3, title: "Notes", price: 8, published: day.addingTimeInterval(0.5), cover: nil, tags: ["a", "b"],
                    writer: ada, chapters: [chapters[1]]),
            ])
        }
    }

    /// The URL of a database that is not there: a file, or a schema.
    static func newURL(_ scheme: String, _ name: String) -> String {
        guard scheme == "postgres" else { return "\(scheme):\(name)" }
        return "\(server ?? "postgres:")?schema=\(name)-\(UUID().uuidString.lowercased())"
    }

    /// The URL of the database with one more option.
    func url(_ option: String) -> String { url + (url.contains("?") ? "&" : "?") + option }

    /// Opens a database in the directory, and closes it afterwards.
    @discardableResult func using<Result>(_ url: String? = nil, _ body: (any Database) throws -> Result) throws -> Result {
        var configuration = try DatabaseConfiguration(url: url ?? self.url)
        if configuration.scheme != "postgres" {
            configuration.path = place.directory.appendingPathComponent(configuration.path).path
        }
        let database = try Self.drivers.open(configuration)
        defer { try? database.close() }
        return try body(database)
    }

    /// The files in the directory with their contents. The lock file of LMDB changes whenever somebody reads.
    var files: [String: Data] {
        get throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: place.directory.path)
            return try Dictionary(
                uniqueKeysWithValues: names.map { name in
                    let isLock = name.hasSuffix("-lock")
                    return (name, isLock ? Data() : try Data(contentsOf: place.directory.appendingPathComponent(name)))
                })
        }
    }

    /// Runs `dao` in the directory.
    func dao(_ words: String...) async throws -> Process.Ended { try await dao(words) }

    /// Runs `dao` in the directory.
    func dao(_ words: [String]) async throws -> Process.Ended {
        try await process(words).runToEnd()
    }

    /// A process that is not started yet.
    func process(_ words: [String]) -> Process {
        let process = Process()
        process.executableURL = Process.built("dao")
        process.arguments = words
        process.currentDirectoryURL = place.directory
        return process
    }
}
