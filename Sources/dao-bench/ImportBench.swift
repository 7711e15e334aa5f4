import DAOCore
import DAOSQLite
import Foundation

/// The time of imports into SQLite, and how it grows with the rows.
enum ImportBench {
    /// A small row with two indexes, one of them on values in no order.
    struct Sample: Model {
        var id: Int
        var code: Int
        var group: Int
        var title: String

        static let schema = Schema(
            "sample", Self.init, Field("id", \.id, .primaryKey), Field("code", \.code, .indexed),
            Field("group", \.group, .indexed), Field("title", \.title))

        init(id: Int, code: Int, group: Int, title: String) {
            (self.id, self.code, self.group, self.title) = (id, code, group, title)
        }

        init(_ id: Int) {
            self.init(
                id: id, code: Int(bitPattern: UInt(bitPattern: id) &* 0x9E37_79B9_7F4A_7C15 >> 1), group: id / 100,
                title: "A title")
        }
    }

    /// How the rows come.
    private enum Way: String, CaseIterable {
        case oneCall = "one call"
        case oneTransaction = "calls of 10,000, one transaction"
        case manyCommits = "calls of 10,000, a commit each"
    }

    /// - Parameters:
    ///   - rows: The smaller number of rows.
    ///   - factor: How many times as many rows the larger import has.
    ///   - directory: The place for the files.
    static func run(rows: Int, factor: Int, in directory: URL) throws {
        print("imports into SQLite, durability relaxed, in seconds")
        let titles = ["\(rows) rows", "\(rows * factor) rows", "growth"]
        print(pad("", 34), titles.map { pad($0, 14, left: true) }.joined())
        for way in Way.allCases {
            let small = try seconds(way, rows, in: directory)
            let large = try seconds(way, rows * factor, in: directory)
            let cells = [small, large, large / small].map { pad(String(format: "%.2f", $0), 14, left: true) }
            print(pad(way.rawValue, 34), cells.joined())
        }
    }

    /// The seconds that storing rows takes, without the time to make them.
    private static func seconds(_ way: Way, _ count: Int, in directory: URL) throws -> Double {
        let path = directory.appendingPathComponent("import.db").path
        let database = try DatabaseDrivers(.sqlite).open("sqlite:\(path)?durability=relaxed")
        defer {
            try? database.close()
            try? FileManager.default.removeItem(atPath: path)
        }
        let storage = try database.storage(for: Sample.self)
        let size = way == .oneCall ? count : min(10_000, count)
        var making = Duration.zero
        func store() throws {
            for start in stride(from: 0, to: count, by: size) {
                let begin = ContinuousClock.now
                let samples = (start..<min(start + size, count)).map { Sample($0) }
                making += ContinuousClock.now - begin
                try storage.insert(samples)
            }
        }
        let start = ContinuousClock.now
        if way == .oneTransaction { try database.transaction { try store() } } else { try store() }
        return (ContinuousClock.now - start - making) / .seconds(1)
    }
}
