import DAOChildProcesses
import DAOConformance
import DAOCore
import Foundation

/// `fill <url>`: writes until the space runs out, and continues when space is available again.
///
/// The space is limited by the maximum file size of the process, which every system supports.
enum Filling {
    static func run(_ arguments: ArraySlice<String>) throws {
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

    /// Writes growing transactions until a transaction fails.
    private static func fill(_ ledger: Ledger) throws -> String {
        let text = String(repeating: "x", count: 20_000)
        for start in 1... {
            do {
                try ledger.database.transaction {
                    // A torn transaction would leave this write without the others.
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
