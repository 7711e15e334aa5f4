import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import Foundation

/// The speed of copying a database of the measured rows to another database. There is no raw counterpart, so
/// the result is megabytes per second.
enum CopyBench {
    private static let drivers = DatabaseDrivers(.memory, .sqlite, .lmdb)

    static func run(_ data: Dataset<Message>, repetitions: Int, in directory: URL) throws {
        print("\n\(pad("copy, verified by checksum", 46)) \(pad("ms", 9, left: true)) \(pad("MB/s", 9, left: true))")
        for (from, to) in [("sqlite", "lmdb"), ("lmdb", "sqlite"), ("sqlite", "sqlite"), ("memory", "lmdb")] {
            var milliseconds: [Double] = []
            var bytes = 0
            for round in 0...repetitions {
                let place = directory.appendingPathComponent("copy-\(from)-\(to)-\(round)")
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(at: place) }
                let source = try open(from, place, "source")
                defer { try? source.close() }
                try source.storage(for: Message.self).insert(data.records)
                let target = try open(to, place, "target")
                defer { try? target.close() }
                let start = ContinuousClock.now
                bytes = try source.copy(to: target).bytesWritten
                let elapsed = (ContinuousClock.now - start).components
                if round > 0 { milliseconds.append(Double(elapsed.seconds) * 1000 + Double(elapsed.attoseconds) / 1e15) }
            }
            print(
                pad("\(from) to \(to)", 46), pad(String(format: "%.1f", median(milliseconds)), 9, left: true),
                pad(String(format: "%.1f", Double(bytes) / 1000 / median(milliseconds)), 9, left: true))
        }
    }

    private static func open(_ scheme: String, _ place: URL, _ name: String) throws -> any Database {
        try drivers.open(scheme == "memory" ? "memory:" : "\(scheme)://\(place.path)/\(name)")
    }
}
