import DAOCore
import DAOLMDB
import DAOSQLite
import Foundation
import Testing

@testable import Reminders

/// Every query of the app on 20,000 reminders in 20 lists, with 28,000 links to 50 tags, beside the same query by hand.
///
/// Figures are of optimised code on an idle machine, so `make bench-reminders` runs this, and no other test does.
@Suite("bars", .enabled(if: ProcessInfo.processInfo.environment["REMINDERS_BARS"] != nil), .serialized)
struct BarTests {
    @Test("each query counts what the query by hand counts; the table has the times, and the goals")
    func bars() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bars-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("reminders.db").path
        let drivers = DatabaseDrivers(.sqlite, .lmdb)
        let sqlite = try drivers.open("sqlite:\(path)?durability=relaxed")
        let lmdb = try drivers.open("lmdb:\(folder.path)/reminders.mdb?durability=relaxed")
        let filled = try Filled(try Reminders(sqlite))
        _ = try Filled(try Reminders(lmdb))
        let hand = try ByHand(path)
        let (bars, onLMDB) = (filled.bars(try Reminders(sqlite), hand), filled.bars(try Reminders(lmdb), hand))
        print("| query | rows | by hand | SQLite | × | goal | LMDB |")
        for (bar, other) in zip(bars, onLMDB) {
            let count = try bar.byHand()
            #expect(try bar.ours() == count, "\(bar.name) on SQLite")
            #expect(try other.ours() == count, "\(bar.name) on LMDB")
            let (byHand, ours) = try Self.milliseconds(bar.byHand, bar.ours)
            let (_, there) = try Self.milliseconds({ 0 }, other.ours)
            func digits(_ number: Double) -> String { String(format: number < 1 ? "%.3f" : "%.2f", number) }
            print(
                "| \(bar.name) | \(count) | \(digits(byHand)) | \(digits(ours)) | \(String(format: "%.2f", ours / byHand)) |"
                    + " \(bar.goal) | \(digits(there)) |")
        }
        try sqlite.close()
        try lmdb.close()
    }

    /// The medians of two closures that run in turn for a second, and at least seven times each.
    private static func milliseconds(_ first: () throws -> Int, _ second: () throws -> Int) throws -> (Double, Double) {
        var times: ([Double], [Double]) = ([], [])
        func time(_ body: () throws -> Int) throws -> Double {
            let start = ContinuousClock.now
            _ = try body()
            return (ContinuousClock.now - start) / .milliseconds(1)
        }
        let end = ContinuousClock.now + .seconds(1)
        while times.0.count < 7 || ContinuousClock.now < end && times.0.count < 2000 {
            times.0.append(try time(first))
            times.1.append(try time(second))
        }
        return (times.0.sorted()[times.0.count / 2], times.1.sorted()[times.1.count / 2])
    }
}
