import DAOChildProcesses
import Foundation
import Testing

/// A directory for a database of one kind. It is removed at the end of the test.
final class Place: Sendable {
    /// The kinds of database that several processes can share.
    enum Kind: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case sqlite
        case lmdb

        var testDescription: String { rawValue }
    }

    let directory: URL
    /// The file of the database.
    let file: URL
    private let kind: Kind

    init(_ kind: Kind) throws {
        self.kind = kind
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("processes-\(UUID())")
        file = directory.appendingPathComponent("test.db")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// Returns the URL of the database.
    ///
    /// - Parameter options: Options of the configuration, such as `timeout=0`.
    func url(_ options: String = "") -> String { "\(kind.rawValue)://\(file.path)" + (options.isEmpty ? "" : "?\(options)") }
}

/// Runs a test that waits for other processes on a separate thread, so that it does not block other tests.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withTaskExecutorPreference(WaitingThreads.shared) { try body() }
}

/// Threads that can block, unlike the threads of the cooperative pool.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// The number of rounds of a generated test. The environment can increase it.
enum Rounds {
    static func count(_ usual: Int) -> Int {
        ProcessInfo.processInfo.environment["ROUNDS"].flatMap { Int($0) } ?? usual
    }
}
