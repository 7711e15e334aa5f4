import DAOConformance
import DAOCore

/// A transaction of this process that stays open until ``end(commits:within:)``.
final class HeldTransaction: Sendable {
    private let begun = Signal()
    private let ending = Signal()
    private let commits = Shared(false)
    private let body = Shared<Background?>(nil)

    /// Begins a transaction on a separate thread, and adds to the counter in it.
    ///
    /// - Throws: The error of the transaction's beginning; a failure when it takes too long.
    init(_ ledger: ProcessLedger, adding number: Int, within seconds: Double) throws {
        let running = Background { [begun, ending, commits] in
            defer { begun.send() }
            do {
                try ledger.database.transaction {
                    try ledger.add(number)
                    begun.send()
                    // `end` is always called.
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
