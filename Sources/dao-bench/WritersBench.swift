import DAOCore
import DAOPostgres
import Foundation

/// How often clients of a PostgreSQL server commit, with one writer at a time and with many.
///
/// Each client is a database with connections of its own, as another process would have.
enum WritersBench {
    private static let clients = 16

    /// A row that clients change.
    private struct Tally: Plain, Model {
        var id: Int
        var owner: Int
        var value: Int

        static let schema = Schema(
            "tally", Self.init, Field("id", \.id, .primaryKey), Field("owner", \.owner, .indexed), Field("value", \.value))
    }

    /// What each client does over and over.
    private enum Work: CaseIterable {
        case changesLarge, changesSmall, inserts

        var title: String {
            switch self {
            case .changesLarge: "read and change one of 10,000 rows"
            case .changesSmall: "read and change one of 100 rows"
            case .inserts: "insert a row"
            }
        }

        var rows: Int { self == .changesSmall ? 100 : 10_000 }
    }

    /// What all clients together have done.
    private final class Counts: Sendable {
        let state = Lock<(commits: Int, runs: Int, failure: (any Error)?)>((0, 0, nil))
    }

    /// Prints a line for each kind of work on each disk.
    ///
    /// - Parameters:
    ///   - url: The server, without options. Its user may set `commit_delay`.
    ///   - seconds: How long each is measured.
    static func run(_ url: String, seconds: Int) throws {
        print("commits a second of \(clients) clients; 'again' are transactions that were conflicts\n")
        for (disk, options) in [
            ("the server's disk", ""),
            // The server waits before each flush, also when nobody else commits.
            ("a disk that takes 5 ms more", "&options=-c%20commit_delay%3D5000%20-c%20commit_siblings%3D0"),
        ] {
            print(disk)
            for work in Work.allCases {
                let one = try measure(work, "\(url)?writers=one\(options)", seconds)
                let many = try measure(work, "\(url)?writers=many\(options)", seconds)
                print(
                    "  \(work.title.padding(toLength: 36, withPad: " ", startingAt: 0))"
                        + String(
                            format: "one %7.0f   many %7.0f (%4.1f %% again)   ratio %5.2f", one.rate, many.rate,
                            many.again * 100,
                            many.rate / one.rate))
            }
        }
    }

    private static func measure(_ work: Work, _ url: String, _ seconds: Int) throws -> (rate: Double, again: Double) {
        let url = "\(url)&schema=bench-\(UUID().uuidString.lowercased())&timeout=60&pool=4"
        let databases = try (0..<clients).map { try DatabaseDrivers(.postgres).open("\(url)&application_name=\($0)") }
        defer { try? PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: url)) }
        defer { for database in databases { try? database.close() } }
        let tallies = try databases.map { DAO(storage: try $0.storage(for: Tally.self)) }
        try tallies[0].create((0..<work.rows).map { Tally(id: $0, owner: $0 % 10, value: 0) })
        try databases[0].transaction {
            try databases[0].underlying(as: PostgresHandle.self) { _ = try $0.execute("ANALYZE tally") }
        }
        let counts = Counts()
        let group = DispatchGroup()
        let start = ContinuousClock.now + .seconds(1)
        let end = start + .seconds(seconds)
        for (number, (database, tally)) in zip(databases, tallies).enumerated() {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                var (commits, runs, next) = (0, 0, (number + 1) * 1_000_000_000)
                do {
                    while ContinuousClock.now < end {
                        // What precedes the start is a warm-up.
                        let counted = ContinuousClock.now >= start
                        var attempts = 1
                        if work == .inserts {
                            try tally.create(Tally(id: next, owner: number, value: 0))
                            next += 1
                        } else {
                            let id = Int.random(in: 0..<work.rows)
                            attempts = 0
                            try database.transaction(retrying: 1_000_000) {
                                attempts += 1
                                guard var row = try tally.read(byPrimaryKey: id) else { return }
                                row.value += 1
                                try tally.persist(row)
                            }
                        }
                        if counted { (commits, runs) = (commits + 1, runs + attempts) }
                    }
                } catch {
                    counts.state.withLock { $0.failure = error }
                }
                counts.state.withLock { $0 = ($0.commits + commits, $0.runs + runs, $0.failure) }
            }
        }
        group.wait()
        let (commits, runs, failure) = counts.state.withLock { $0 }
        if let failure { throw failure }
        return (Double(commits) / Double(seconds), runs == 0 ? 0 : Double(runs - commits) / Double(runs))
    }
}
