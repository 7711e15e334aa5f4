import DAOChildProcesses
import DAOConformance
import DAOCore
import Foundation

/// `fill <url>`: writes until there is no space for more, and goes on when there is again.
///
/// The space is that of the process's own limit for the length of files, which every machine has.
enum Filling {
    static func run(_ arguments: ArraySlice<String>) throws {
        // Beyond the limit a write fails instead of ending the process.
        signal(SIGXFSZ, SIG_IGN)
        let ledger = try Commands.ledger(arguments)
        for _ in 0..<5 { _ = try Batches.commitNext(ledger) }
        for round in 1...3 {
            try DAOConformance.Filling.limitFiles(to: 2 << 20)
            let kind = try fill(ledger)
            try DAOConformance.Filling.limitFiles(to: nil)
            let isWhole = try ledger.isWhole()
            let count = try ledger.count()
            let next = try Batches.commitNext(ledger)
            answer("round \(round): \(kind) \(isWhole ? "whole" : "torn") \(next == count + 1 ? "works on" : "stopped")")
        }
        try ledger.database.close()
        answer(try Commands.ledger(arguments).isWhole() ? "whole" : "torn")
    }

    /// Writes more and more in transactions that would never end well.
    private static func fill(_ ledger: Ledger) throws -> String {
        let text = String(repeating: "x", count: 20_000)
        for start in 1... {
            do {
                try ledger.database.transaction {
                    // A torn transaction would have written this and not the rest.
                    try ledger.increment(by: 1)
                    try ledger.entries.create((0..<50 * start).map { Entry(id: -1 - $0, batch: -1, text: text) })
                    try ledger.entries.erase { $0.batch == -1 }
                    try ledger.increment(by: -1)
                }
            } catch let error as StorageError {
                return error.kind.rawValue
            }
        }
        return "endless"
    }
}
