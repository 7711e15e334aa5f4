import DAOChildProcesses
import Foundation
import Testing

/// A directory for one database of a kind, removed at the end.
final class Place: Sendable {
    /// The kinds of database that several processes may share.
    enum Kind: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case sqlite
        case lmdb

        var testDescription: String { rawValue }
    }

    let directory: URL
    /// The database's file.
    let file: URL
    private let kind: Kind

    init(_ kind: Kind) throws {
        self.kind = kind
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("processes-\(UUID())")
        file = directory.appendingPathComponent("test.db")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// The database's URL.
    ///
    /// - Parameter options: Options of the configuration: `timeout=0`.
    func url(_ options: String = "") -> String { "\(kind.rawValue)://\(file.path)" + (options.isEmpty ? "" : "?\(options)") }
}

/// Runs a test that waits for other processes on a thread of its own, so that no other test has to wait for it.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withTaskExecutorPreference(WaitingThreads.shared) { try body() }
}

/// Threads that may wait, unlike those of the cooperative pool.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// How often something random is done: more when the environment says so.
enum Rounds {
    static func count(_ usual: Int) -> Int {
        ProcessInfo.processInfo.environment["ROUNDS"].flatMap { Int($0) } ?? usual
    }
}
