import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation
import Synchronization
import Testing

@testable import DAOExamples

/// Tests what Docs/Instruments.md says of statements.
@Suite struct InstrumentsTests {
    /// Collects the reports of a database with a few articles.
    private final class Calls: Sendable {
        private let calls = Lock<[CallReport]>([])

        func add(_ call: CallReport) { calls.withLock { $0.append(call) } }

        /// Returns the statements of the only call since the last time.
        func only() throws -> CallReport {
            try #require(
                calls.withLock { calls in
                    defer { calls = [] }
                    return calls.count == 1 ? calls[0] : nil
                })
        }

        func forget() { calls.withLock { $0 = [] } }
    }

    private func withArticles(
        _ scheme: String, includesValues: Bool = false, _ body: (any Database, Calls) throws -> Void
    ) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("instruments-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let calls = Calls()
        var configuration = DatabaseConfiguration(
            scheme: scheme, path: scheme == "memory" ? "" : directory.appendingPathComponent("file").path)
        configuration.instrument = Instrument(includesValues: includesValues) { call in calls.add(call) }
        let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(configuration)
        let articles = try database.storage(for: Article.self)
        try articles.insert(
            (1...20).map { id in
                Article(
                    id: id, title: "title \(id)", writer: Writer(id: id % 3, name: "w"),
                    comments: [Comment(id: id, text: "c", isApproved: true)])
            })
        calls.forget()
        try body(database, calls)
        try database.close()
    }

    @Test func sqliteTellsItsStatements() throws {
        try withArticles("sqlite") { database, calls in
            let articles = DAO(storage: try database.storage(for: Article.self))
            calls.forget()
            _ = try articles.read { $0.title == "title 7" }
            let call = try calls.only()
            #expect(call.rows == 1)
            // The article, its writer and its comments, in one read transaction.
            let selects = call.statements.filter { $0.text.contains("SELECT") }
            #expect(selects.count == 4, "\(call)")
            #expect(!call.statements.contains { $0.text.contains("title 7") })
            #expect(call.statements.allSatisfy { ($0.steps ?? 0) > 0 && $0.duration > .zero })
            #expect(call.rowsLookedAt == nil)

            _ = try articles.read(limit: 5)
            #expect(try calls.only().statements.count == call.statements.count, "more rows are not more statements")

            #expect("\(call)".hasPrefix("read article, 1 row, "))
        }
    }

    @Test func valuesAreToldOnRequest() throws {
        try withArticles("sqlite", includesValues: true) { database, calls in
            let articles = DAO(storage: try database.storage(for: Article.self))
            calls.forget()
            _ = try articles.count { $0.title == "title 7" }
            #expect(try calls.only().statements.contains { $0.text.contains("'title 7'") })
        }
    }

    @Test(arguments: ["memory", "lmdb"]) func keyValueDatabasesTellTheirPlans(_ scheme: String) throws {
        try withArticles(scheme) { database, calls in
            let writers = DAO(storage: try database.storage(for: Writer.self))
            calls.forget()
            _ = try writers.read { $0.name == "w" }
            var call = try calls.only()
            #expect(call.statements.map(\.text) == ["writer by looking at every row, filtered"])
            #expect(call.rowsLookedAt == 3)

            _ = try writers.read(byPrimaryKeys: [0, 1, 9])
            call = try calls.only()
            #expect(call.statements.map(\.text) == ["writer by primary key"])
            #expect(call.statements.map(\.runs) == [3])
            #expect(call.rowsLookedAt == 2)

            _ = try writers.read { $0.id == 1 }
            #expect(try calls.only().rowsLookedAt == 1)

            let articles = DAO(storage: try database.storage(for: Article.self))
            calls.forget()
            _ = try articles.read(limit: 1)
            let few = try calls.only().statements.count
            _ = try articles.read()
            call = try calls.only()
            #expect(call.statements.count == few, "more rows are not more statements: \(call)")
            #expect(few > 1)
        }
    }

    @Test func aReportIsReadable() {
        let call = CallReport(
            operation: .read, entity: "article", duration: .microseconds(20_250), waited: .milliseconds(12), retries: 1, rows: 50,
            statements: [StatementReport(text: "SELECT 1", runs: 2, rowsLookedAt: 1, steps: 7, duration: .nanoseconds(8_200))])
        #expect(
            "\(call)" == """
                read article, 50 rows, 20.2 ms (12.0 ms of it waiting), 2 runs
                    SELECT 1 (2 runs, 8.20 µs, 1 row looked at, 7 steps)
                """)
    }

    @Test func ofManyStatementsTheSlowestAreShown() {
        let statements = (1...40).map { StatementReport(text: "SELECT \($0)", duration: .milliseconds($0 % 20)) }
        let lines = "\(CallReport(operation: .merge, duration: .seconds(1), statements: statements))".split(separator: "\n")
        #expect(lines.count == 14 && lines[1].contains("SELECT 14 ") && lines[12].contains("SELECT 39 "), "\(lines)")
        #expect(lines[13] == "    and 28 more, 182 ms", "\(lines)")
    }

    @Test func logsAreOptionsOfTheURL() throws {
        #expect(try DatabaseConfiguration(url: "memory:?log=slow").log == .slow)
        #expect(try DatabaseConfiguration(url: "memory:?log=all").description == "memory:?log=all")
        #expect(throws: StorageError.self) { try DatabaseConfiguration(url: "memory:?log=fast") }
    }

    /// The block of Docs/Instruments.md.
    @available(macOS 15, iOS 18, tvOS 18, visionOS 2, *) @Test func aTestCountsCalls() throws {
        let url = "memory:"
        let calls = Mutex<[CallReport]>([])
        var configuration = try DatabaseConfiguration(url: url)
        configuration.instrument = Instrument { call in calls.withLock { $0.append(call) } }
        let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(configuration)
        _ = try database.storage(for: Tag.self).count(Query())
        #expect(calls.withLock { $0.map(\.operation) } == [.open, .count])

        let slow = Lock(0)
        let measured = try openMeasured("memory:", DatabaseDrivers(.memory)) { _ in slow.withLock { $0 += 1 } }
        let tags = DAO(storage: try measured.storage(for: Tag.self))
        try measured.transaction {
            try tags.persist(Tag(id: 1, name: "a"))
            Thread.sleep(forTimeInterval: 0.03)
        }
        #expect(slow.withLock { $0 } >= 1)
        #expect(MeasuredEngine<Int>().run("nothing") { [1] } == [1])
    }
}
