import DAOChildProcesses
import DAOCore
import DAOLMDB
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// Contract L12: a process that the system stops while it reads keeps what is written from being used again, and reports say so.
@Suite(.serialized, .timeLimit(.minutes(30))) struct StoppedReaderTests {
    private struct Page: Plain, Model, Equatable {
        var id: Int
        var text: String
        static let schema = Schema("page", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
    }

    private final class Reports: Sendable {
        private let bytes = Lock<Int?>(nil)
        func add(_ report: CallReport) { if let pinned = report.pinnedBytes { bytes.withLock { $0 = max($0 ?? 0, pinned) } } }
        func take() -> Int? { bytes.withLock { $0.take() } }
    }

    @Test func aStoppedReaderIsReportedUntilItGoesOn() async throws {
        try await onThread {
            let place = Place(.sqlite)
            let reports = Reports()
            var configuration = try DatabaseConfiguration(url: place.url("durability=relaxed&pinnedLimit=8M"))
            configuration.instrument = Instrument { reports.add($0) }
            let database = try DatabaseDrivers(.sqlite, .lmdb).open(configuration)
            let pages = DAO(storage: try database.storage(for: Page.self))
            func write() throws {
                for round in 0..<40 {
                    try pages.persist((0..<400).map { Page(id: $0, text: String(repeating: "\(round % 10)", count: 1000)) })
                }
            }
            try write()
            #expect(reports.take() == nil)
            let child = try Child("read", place.url("durability=relaxed"))
            try child.expect("reading")
            // It reads all the time; it is stopped in a read nearly always.
            var pinned: Int?
            for _ in 0..<20 where pinned == nil {
                child.send(signal: SIGSTOP)
                try write()
                pinned = reports.take()
                if pinned == nil { child.send(signal: SIGCONT) }
            }
            #expect(pinned ?? 0 > 8 << 20)
            // The log grows as long as it is stopped.
            try write()
            #expect(reports.take() ?? 0 > pinned ?? 0)
            child.send(signal: SIGCONT)
            child.kill()
            _ = child.wait()
            try write()
            _ = reports.take()
            try write()
            #expect(reports.take() == nil)
            try database.close()
        }
    }
}
