import DAOChildProcesses
import DAOCore
import Foundation

/// A process that works on a database until a call fails.
final class Worker {
    private var ledger: Ledger?
    /// The number of the last commit that has returned.
    private(set) var acknowledged = 0
    /// The error that ended the work; nil while there was none.
    private(set) var error: StorageError?

    /// `worker`: executes the commands of its lines: `open <url>`, `run <commits>`, `close`. It answers with the number of
    /// the last commit that has returned and the kind of the error that ended the work, or with `broken`.
    static func serve() {
        var worker = Worker()
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            do {
                switch words[0] {
                case "open":
                    worker = Worker()
                    try worker.open(words[1])
                case "run": for _ in 0..<(Int(words[1]) ?? 0) { try worker.step() }
                default: worker.close()
                }
                answer("\(worker.acknowledged) \(worker.error?.kind.rawValue ?? "none")")
            } catch {
                answer("broken: \(error)".replacing("\n", with: " "))
            }
        }
    }

    /// Opens a database.
    func open(_ url: String) throws { try attempt { ledger = try Ledger(url) } }

    /// Commits and reads, unless a call has failed before.
    func step() throws {
        guard let ledger, error == nil else { return }
        try attempt {
            acknowledged = try Batches.commitNext(ledger)
            guard try ledger.isWhole() else { throw ChildFailure("a transaction is there in part") }
        }
    }

    /// Closes the database.
    func close() {
        try? ledger?.database.close()
        ledger = nil
    }

    /// Keeps a typed error; any other is a failure.
    private func attempt(_ body: () throws -> Void) throws {
        do { try body() } catch let failure as StorageError { error = failure }
    }
}
