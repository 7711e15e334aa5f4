import DAOCore
import DAOLMDB
import DAOSQLite
import Foundation

/// The commits of 64 tasks beside each other, which share syncs, compared with those of one task.
enum TasksBench {
    private static let taskCount = 64

    /// - Parameters:
    ///   - repetitions: How often each number of tasks is measured, in turn.
    ///   - directory: The place for the files.
    static func run(repetitions: Int, in directory: URL) throws {
        print("\n" + line("persists a second, durability full", ["one task", "\(taskCount) tasks", "factor"]))
        print("  a sync of this disk takes \(String(format: "%.2f", try syncMilliseconds(in: directory))) ms")
        for (name, scheme) in [("SQLite", "sqlite"), ("LMDB", "lmdb")] {
            var rates: (one: [Double], many: [Double]) = ([], [])
            try inFolder("tasks-\(scheme)", of: directory) { place in
                let database = try DatabaseDrivers(.sqlite, .lmdb).open("\(scheme)://\(place.path)/file")
                defer { try? database.close() }
                let records = DAO(storage: try database.storage(for: Payment.self))
                let samples = Dataset<Payment>(count: 10_000, points: 1, queries: 1).records
                try records.create(samples)
                for _ in 0..<max(repetitions, 1) {
                    rates.one.append(try rate(of: 1, records, samples))
                    rates.many.append(try rate(of: taskCount, records, samples))
                }
            }
            let cells = [median(rates.one), median(rates.many)].map { String(format: "%.0f", $0) }
            print(line(name, cells + [String(format: "%.2f", medianRatio(rates.many, rates.one))]))
        }
    }

    /// How many persists a second tasks reach together.
    private static func rate(
        of tasks: Int, _ records: DAO<Payment>, _ samples: [Payment]
    ) throws -> Double {
        let counted = Lock(Result<Int, any Error>.success(0))
        let done = DispatchSemaphore(value: 0)
        let start = ContinuousClock.now
        let end = start + .milliseconds(300)
        Task.detached {
            do {
                let count = try await withThrowingTaskGroup(of: Int.self) { group in
                    for task in 0..<tasks {
                        group.addTask {
                            var calls = 0
                            while ContinuousClock.now < end {
                                var sample = samples[(task + calls * tasks) % samples.count]
                                calls += 1
                                sample.rating = -Double(calls)
                                try await records.persist(sample)
                            }
                            return calls
                        }
                    }
                    return try await group.reduce(0, +)
                }
                counted.withLock { $0 = .success(count) }
            } catch {
                counted.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        return Double(try counted.withLock { $0 }.get()) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// The median time of a sync after a write of one page.
    private static func syncMilliseconds(in directory: URL) throws -> Double {
        let file = directory.appendingPathComponent("sync")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        defer {
            try? handle.close()
            try? FileManager.default.removeItem(at: file)
        }
        return median(
            try (0..<50).map { _ in
                try handle.write(contentsOf: Data(count: 4096))
                let start = ContinuousClock.now
                try handle.synchronize()
                return (ContinuousClock.now - start) / .milliseconds(1)
            })
    }
}
