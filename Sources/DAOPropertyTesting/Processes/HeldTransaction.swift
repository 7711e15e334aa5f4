import DAOConformance
import DAOCore

/// A transaction of this process that stays open until somebody says how it ends.
final class HeldTransaction: Sendable {
    private let begun = Signal()
    private let ending = Signal()
    private let commits = Shared(false)
    private let body = Shared<Background?>(nil)

    /// Begins a transaction on a thread of its own, and adds to the counter in it.
    ///
    /// - Throws: What beginning throws; a failure when it takes too long.
    init(_ ledger: ProcessLedger, adding number: Int, within seconds: Double) throws {
        let running = Background { [begun, ending, commits] in
            defer { begun.send() }
            do {
                try ledger.database.transaction {
                    try ledger.add(number)
                    begun.send()
                    // Its end is always said.
                    while !ending.wait(seconds: 60) {}
                    if !commits.value { throw DeliberateError() }
                }
            } catch is DeliberateError {}
        }
        body.change { $0 = running }
        guard begun.wait(seconds: seconds) else {
            ending.send()
            throw fail("no transaction began within \(seconds) seconds")
        }
        if running.hasEnded { try running.wait() }
    }

    /// Ends the transaction.
    ///
    /// - Returns: That it is done.
    func end(commits: Bool, within seconds: Double) throws -> String {
        self.commits.change { $0 = commits }
        ending.send()
        try body.value?.wait(seconds: seconds, "the end of a transaction")
        return "done"
    }
}
