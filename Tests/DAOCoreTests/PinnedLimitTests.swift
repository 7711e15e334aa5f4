import DAOLMDB
import DAOMemory
import DAOSQLite
import Foundation
import Testing

@testable import DAOCore

/// Contract L12: what old snapshots keep.
@Suite struct PinnedLimitTests {
    private struct Entry: Model, Plain {
        var id: Int
        var text: String
        static let schema = Schema("entry", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
    }

    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("pinned-\(UUID())")
    private let reports = Reports()

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

    private final class Reports: Sendable {
        private let reports = Lock<[CallReport]>([])
        func add(_ report: CallReport) { reports.withLock { $0.append(report) } }
        /// The greatest number of bytes that calls of an operation have reported since the last question.
        func pinned(_ operation: CallReport.Operation) -> Int? {
            reports.withLock { reports in
                defer { reports.removeAll { $0.operation == operation } }
                return reports.filter { $0.operation == operation }.compactMap(\.pinnedBytes).max()
            }
        }
    }

    private func open(_ scheme: String, _ options: String = "&pinnedLimit=300K") throws -> any Database {
        var configuration = try DatabaseConfiguration(url: "\(scheme):\(directory.path)/entries?durability=relaxed\(options)")
        configuration.instrument = Instrument { [reports] in reports.add($0) }
        return try DatabaseDrivers(.sqlite, .lmdb, .memory).open(configuration)
    }

    private func close(_ database: any Database) throws {
        try database.close()
        try FileManager.default.removeItem(at: directory)
    }

    /// Stores the same 800 KB of rows 20 times, each time with other texts. SQLite keeps a few megabytes in its log in any case.
    private func write(_ entries: DAO<Entry>) throws {
        for round in 0..<20 {
            try entries.persist((0..<800).map { Entry(id: $0, text: String(repeating: "\(round % 10)", count: 1000)) })
        }
    }

    @Test(arguments: ["sqlite", "lmdb"]) func streamsThatAskForItEnd(scheme: String) async throws {
        let database = try open(scheme)
        let entries = DAO(storage: try database.storage(for: Entry.self))
        try write(entries)
        for endsAtPinnedLimit in [false, true] {
            var stream = entries.stream(endsAtPinnedLimit: endsAtPinnedLimit).makeAsyncIterator()
            #expect(try await stream.next()?.id == 0)
            try write(entries)
            #expect(reports.pinned(.upsert).map { $0 > 300 << 10 } == true)
            do {
                var count = 1
                while try await stream.next() != nil { count += 1 }
                #expect(!endsAtPinnedLimit && count == 800)
                #expect(reports.pinned(.stream).map { $0 > 300 << 10 } == true)
            } catch let error as StorageError {
                #expect(endsAtPinnedLimit && error.kind == .snapshotTooOld)
                #expect(error.path != nil && "\(error)".contains("pinnedLimit"))
                #expect(try await stream.next() == nil)
            }
            // What was kept is used again.
            try write(entries)
            _ = reports.pinned(.upsert)
            try write(entries)
            #expect(reports.pinned(.upsert) == nil)
        }
        try close(database)
    }

    @Test(arguments: ["sqlite", "lmdb"]) func snapshotsAreReported(scheme: String) throws {
        let database = try open(scheme)
        let entries = DAO(storage: try database.storage(for: Entry.self))
        try write(entries)
        let counts = try database.snapshot {
            let before = try entries.count()
            let others = Thread { try? self.write(entries) }
            others.start()
            while !others.isFinished { usleep(1000) }
            return [before, try entries.count()]
        }
        #expect(counts == [800, 800])
        #expect(reports.pinned(.snapshot).map { $0 > 300 << 10 } == true)
        #expect(try database.snapshot { try entries.count() } == 800)
        #expect(reports.pinned(.snapshot) == nil)
        try close(database)
    }

    @Test(arguments: ["sqlite", "lmdb"]) func withoutALimitNothingIsSaid(scheme: String) async throws {
        let database = try open(scheme, "")
        let entries = DAO(storage: try database.storage(for: Entry.self))
        try write(entries)
        var stream = entries.stream(endsAtPinnedLimit: true).makeAsyncIterator()
        #expect(try await stream.next()?.id == 0)
        try write(entries)
        while try await stream.next() != nil {}
        #expect(reports.pinned(.upsert) == nil && reports.pinned(.stream) == nil)
        try close(database)
    }

    @Test(arguments: ["sqlite", "lmdb", "memory"]) func badLimitsAreRefused(scheme: String) throws {
        for limit in ["0", "-1", "much", "300X", "99999999999G"] {
            #expect(try storageError { try open(scheme, "&pinnedLimit=\(limit)") }.kind == .invalidConfiguration)
        }
    }
}
