import DAOCore
import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite
import Foundation

/// What the log of changes costs: the same calls on rows that are not logged, that are, and that are with their values.
enum LogBench {
    private static let drivers = DatabaseDrivers(.memory, .sqlite, .lmdb, .postgres)

    /// Prints the medians of the ratios to rows that are not logged.
    static func run(rows: Int, repetitions: Int, in directory: URL) throws {
        print("\n" + line("the log of changes, of \(rows) rows", ["unlogged", "logged", "values"], width: 16))
        for kind in ["memory", "sqlite", "lmdb"] + (PostgresServer.ofEnvironment == nil ? [] : ["postgres"]) {
            var times: [String: [[Double]]] = [:]
            for round in 0...repetitions {
                for (index, measure) in [Plainly.measure, Changes.measure, Values.measure].enumerated() {
                    try inFolder("log-\(kind)-\(round)-\(index)", of: directory) { place in
                        for (name, time) in try measure(kind, place, rows) where round > 0 {
                            times[name, default: [[], [], []]][index].append(time)
                        }
                    }
                }
            }
            for (name, sides) in times.sorted(by: { $0.key < $1.key }) {
                let cells = sides.enumerated().map { index, times in
                    if times.isEmpty { return "–" }
                    let ratio = index == 0 || sides[0].isEmpty ? "" : String(format: " (%.2f)", medianRatio(times, sides[0]))
                    return String(format: "%.1f ms", median(times)) + ratio
                }
                print(line("\(kind), \(name)", cells, width: 16))
            }
        }
    }

    fileprivate static func open(_ kind: String, _ place: URL) throws -> any Database {
        switch kind {
        case "memory": try drivers.open("memory:")
        case "postgres":
            try drivers.open("\(PostgresServer.ofEnvironment?.url ?? "")?schema=bench-\(UUID().uuidString.lowercased())")
        default: try drivers.open("\(kind)://\(place.path)/log?durability=relaxed")
        }
    }
}

/// A row of the measurement.
private protocol Measured: Model, Plain {
    var id: Int { get set }
    var number: Int { get set }
    /// Changes the number of rows by a condition, which needs the properties themselves.
    static func increase(_ rows: DAO<Self>, below end: Int) throws
    init(id: Int, number: Int, name: String, text: String, date: Date)
}

extension Measured {
    /// The milliseconds of each kind of call.
    static func measure(_ kind: String, _ place: URL, _ count: Int) throws -> [String: Double] {
        let database = try LogBench.open(kind, place)
        defer { try? database.close() }
        defer { if kind == "postgres" { try? PostgresDatabase.dropSchema(of: database.configuration) } }
        let dao = DAO<Self>(storage: try database.storage(for: Self.self))
        let rows = (0..<count).map {
            Self(
                id: $0, number: $0 % 1000, name: "name \($0)", text: "some text of row \($0), which is not short",
                date: Date(timeIntervalSinceReferenceDate: Double($0)))
        }
        var times: [String: Double] = [:]
        func time(_ name: String, _ body: () throws -> Void) rethrows {
            times[name] = try ContinuousClock().measure(body) / .milliseconds(1)
        }
        try time("insert, 1,000 a call") {
            for start in stride(from: 0, to: count, by: 1000) { try dao.create(Array(rows[start..<min(start + 1000, count)])) }
        }
        let few = min(count, 2000)
        try time("update, one row a call, \(few)") {
            for row in rows.prefix(few) {
                var changed = row
                changed.number += 1
                try dao.persist(changed)
            }
        }
        try time("update of a tenth by a condition") { try Self.increase(dao, below: count / 10) }
        try time("read the rows, or as many changes") {
            if Self.schema.description.log == nil { return blackHole(try dao.read().count) }
            blackHole(try database.changes(limit: count).count)
        }
        try time("erase, 1,000 a call") {
            for start in stride(from: 0, to: count, by: 1000) {
                try dao.erase(byPrimaryKeys: rows[start..<min(start + 1000, count)].map(\.id))
            }
        }
        return times
    }
}

@inline(never) private func blackHole(_ count: Int) {}

private struct Plainly: Measured {
    var id: Int, number: Int, name: String, text: String, date: Date
    static func increase(_ rows: DAO<Self>, below end: Int) throws {
        try rows.update(.increase(\.number, by: 1)) { $0.id < end }
    }

    static let schema = Schema(
        "plainly", Self.init, Field("id", \.id, .primaryKey), Field("number", \.number, .indexed), Field("name", \.name),
        Field("text", \.text), Field("date", \.date))
}

private struct Changes: Measured {
    var id: Int, number: Int, name: String, text: String, date: Date
    static func increase(_ rows: DAO<Self>, below end: Int) throws {
        try rows.update(.increase(\.number, by: 1)) { $0.id < end }
    }

    static let schema = Schema(
        "changes", Self.init, Field("id", \.id, .primaryKey), Field("number", \.number, .indexed), Field("name", \.name),
        Field("text", \.text), Field("date", \.date)
    ).logged()
}

private struct Values: Measured {
    var id: Int, number: Int, name: String, text: String, date: Date
    static func increase(_ rows: DAO<Self>, below end: Int) throws {
        try rows.update(.increase(\.number, by: 1)) { $0.id < end }
    }

    static let schema = Schema(
        "values", Self.init, Field("id", \.id, .primaryKey), Field("number", \.number, .indexed), Field("name", \.name),
        Field("text", \.text), Field("date", \.date)
    ).logged(values: true)
}

/// A move of many rows while others write.
enum FollowBench {
    private static let writers = 4

    /// Moves a SQLite database to a server while four writers go on, and prints the times and what both sides have.
    static func run(_ url: String, rows: Int, in directory: URL) throws {
        let source = try DatabaseDrivers(.sqlite).open("sqlite://\(directory.path)/source.db?timeout=60")
        defer { try? source.close() }
        let dao = DAO<Plainly>(storage: try source.storage(for: Plainly.self))
        @Sendable func row(_ id: Int) -> Plainly {
            Plainly(
                id: id, number: id % 1000, name: "name \(id)", text: "some text of row \(id)",
                date: Date(timeIntervalSinceReferenceDate: 0))
        }
        for start in stride(from: 0, to: rows, by: 10_000) { try dao.create((start..<min(start + 10_000, rows)).map(row)) }
        let target = try DatabaseDrivers(.postgres).open("\(url)?schema=bench-\(UUID().uuidString.lowercased())")
        defer { try? target.close() }
        defer { try? PostgresDatabase.dropSchema(of: target.configuration) }
        let commits = Atomic(0)
        let longest = Lock(Duration.zero)
        let group = DispatchGroup()
        for writer in 0..<writers {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                var number = 0
                // Until the other database has taken over.
                while true {
                    number += 1
                    let id = rows + number * writers + writer
                    let start = ContinuousClock.now
                    do {
                        try source.transaction {
                            try dao.create(row(id))
                            try dao.update(where: { $0.id == id % rows }) { $0.name = "changed" }
                            try dao.erase(byPrimaryKey: id - 5000 * writers)
                        }
                    } catch {
                        return
                    }
                    let took = ContinuousClock.now - start
                    longest.withLock { $0 = max($0, took) }
                    commits.add(1, ordering: .relaxed)
                    Thread.sleep(forTimeInterval: 0.002)
                }
            }
        }
        let start = ContinuousClock.now
        var copied: Duration?
        let report = try source.follow(into: target) { progress in
            if progress.entity == nil, copied == nil { copied = ContinuousClock.now - start }
            return progress.isCaughtUp ? .handOver : .goOn
        }
        group.wait()
        func seconds(_ duration: Duration?) -> String { String(format: "%.1f s", (duration ?? .zero) / .seconds(1)) }
        let copy = DAO<Plainly>(storage: try target.storage(for: Plainly.self))
        print(
            """
            \(rows) rows from SQLite to PostgreSQL beside \(writers) writers: copied after \(seconds(copied)), handed over after \
            \(seconds(ContinuousClock.now - start)), \(report.changes) changes followed, pause \
            \(Int((report.pause ?? .zero) / .milliseconds(1))) ms
            \(commits.load(ordering: .relaxed)) commits meanwhile, the longest took \(seconds(longest.withLock { $0 }))
            rows compared by checksum: \(report.rows); rows now: \(try dao.count()) and \(try copy.count())
            """)
        var (last, different) = (-1, 0)
        while case let page = try dao.read(orderedBy: .ascending(\.id), limit: 50_000, where: { $0.id > last }), !page.isEmpty {
            let end = page.last?.id ?? last
            let other = try copy.read(orderedBy: .ascending(\.id)) { $0.id > last && $0.id <= end }
            different += zip(page, other).reduce(abs(page.count - other.count)) {
                $0 + ($1.0.name == $1.1.name && $1.0.id == $1.1.id && $1.0.number == $1.1.number ? 0 : 1)
            }
            last = end
        }
        print("rows that differ: \(different)")
    }
}
