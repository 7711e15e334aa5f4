import DAOCore

/// The commands of property-based tests: processes add to a separate counter.
extension ProcessLedger {
    /// The committed state.
    package struct State: Equatable, CustomStringConvertible {
        /// The sum of the numbers added to the counter.
        package var added: Int
        /// The number of committed batches.
        package var batches: Int

        package init(added: Int = 0, batches: Int = 0) { (self.added, self.batches) = (added, batches) }

        package var description: String { "\(added) added, \(batches) batches" }
    }

    /// The key of the counter.
    package static let addedID = 2

    /// Returns the committed state. Throws when a batch is not complete.
    package func state() throws -> State {
        try database.snapshot {
            try expectWhole()
            return State(added: try added(), batches: try count())
        }
    }

    private func added() throws -> Int { try counters.read(byPrimaryKey: Self.addedID)?.value ?? 0 }

    /// Adds a number to the counter, by reading and writing it.
    package func add(_ number: Int) throws {
        try database.transaction(retrying: database.retries) {
            try counters.persist(Counter(id: Self.addedID, value: try added() + number))
        }
    }

    /// Adds a number to the counter, and waits for as long as other processes lock the database.
    package func addPatiently(_ number: Int) throws { try patiently { try add(number) } }

    /// Waits until the last commit of a killed process has arrived or never will: writes the number of batches, which it writes, and
    /// leaves it as it is (contract L3).
    package func awaitLastBatch() throws {
        try patiently {
            try database.transaction(retrying: database.retries) {
                try increment()
                try increment(by: -1)
            }
        }
    }

    private func patiently(_ body: () throws -> Void) throws {
        while try sayingBusy(body) != "done" {}
    }

    /// Erases a post.
    ///
    /// - Returns: The number of erased posts.
    package func erasePost(_ id: Int) throws -> String { "\(try database.dao(Post.self).erase(byPrimaryKey: id))" }

    /// Runs a closure.
    ///
    /// - Returns: A word that says that it is done, or that the database was busy.
    package func sayingBusy(_ body: () throws -> Void) throws -> String {
        do {
            try body()
            return "done"
        } catch let error as StorageError where error.kind == .busy {
            return "busy"
        }
    }

    /// Runs a command of a property-based test.
    ///
    /// - Parameters:
    ///   - words: A command and its numbers.
    ///   - say: Sends a line before the answer.
    ///   - listen: Returns the next line that this process gets.
    /// - Returns: The answer; nil for an unknown command.
    func runCommand(_ words: [Substring], say: (String) -> Void, listen: () -> String?) throws -> String? {
        let numbers = words.dropFirst().compactMap { Int($0) }
        let number = numbers.first ?? 0
        switch words.first {
        case "add": return try sayingBusy { try add(number) }
        case "race":
            for _ in 0..<number { try addPatiently(numbers.count > 1 ? numbers[1] : 1) }
            return "done"
        case "state":
            do {
                return try state().description
            } catch let failure as ConformanceFailure {
                return failure.description.replacing("\n", with: " ")
            }
        case "batches":
            while true { _ = try sayingBusy { say("\(try commitBatch())") } }
        case "keep":
            do {
                return try sayingBusy {
                    try database.transaction {
                        try add(number)
                        say("done")
                        if listen() != "commit" { throw DeliberateError() }
                    }
                }
            } catch is DeliberateError {
                return "done"
            }
        case "compact": return try sayingBusy { _ = try database.compact() }
        case "erase": return try erasePost(number)
        case "publish": return try build(words).map { try publish($0, number, numbers.count > 1 ? numbers[1] : 0) }
        case "catalog": return try words.dropFirst().first.flatMap { CatalogChange(rawValue: String($0)) }.map(change)
        case "pamphlets": return try build(words).map(pamphlets)
        default: return nil
        }
    }

    private func build(_ words: [Substring]) -> ConformanceProcesses.Build? {
        words.count > 1 ? ConformanceProcesses.Build(rawValue: String(words[1])) : nil
    }
}
