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
        print("\n" + line("copy, verified by checksum", ["ms", "MB/s"]))
        for (from, to) in [("sqlite", "lmdb"), ("lmdb", "sqlite"), ("sqlite", "sqlite"), ("memory", "lmdb")] {
            var milliseconds: [Double] = []
            var bytes = 0
            for round in 0...repetitions {
                try inFolder("copy-\(from)-\(to)-\(round)", of: directory) { place in
                    let source = try open(from, place, "source")
                    defer { try? source.close() }
                    try source.storage(for: Message.self).insert(data.records)
                    let target = try open(to, place, "target")
                    defer { try? target.close() }
                    let start = ContinuousClock.now
                    bytes = try source.copy(to: target).bytesWritten
                    if round > 0 { milliseconds.append((ContinuousClock.now - start) / .milliseconds(1)) }
                }
            }
            let rate = Double(bytes) / 1000 / median(milliseconds)
            print(line("\(from) to \(to)", [median(milliseconds), rate].map { String(format: "%.1f", $0) }))
        }
    }

    private static func open(_ scheme: String, _ place: URL, _ name: String) throws -> any Database {
        try drivers.open(scheme == "memory" ? "memory:" : "\(scheme)://\(place.path)/\(name)")
    }
}
