import DAOCore

/// The commands of property-based tests: processes add to a separate counter.
extension ProcessLedger {
    /// What is committed.
    package struct State: Equatable, CustomStringConvertible {
        /// What was added to the counter.
        package var added: Int
        /// How many batches there are.
        package var batches: Int

        package init(added: Int = 0, batches: Int = 0) { (self.added, self.batches) = (added, batches) }

        package var description: String { "\(added) added, \(batches) batches" }
    }

    /// The counter's key.
    package static let addedID = 2

    /// What is committed. The batches have to be whole.
    package func state() throws -> State {
        try database.snapshot {
            try expectWhole()
            return State(added: try added(), batches: try count())
        }
    }

    private func added() throws -> Int { try counters.read(byPrimaryKey: Self.addedID)?.value ?? 0 }

    /// Adds to the counter, by reading and writing it.
    package func add(_ number: Int) throws {
        try database.transaction { try counters.persist(Counter(id: Self.addedID, value: try added() + number)) }
    }

    /// Adds to the counter, however long others keep it.
    package func addPatiently(_ number: Int) throws {
        while true {
            let answer = try sayingBusy { try add(number) }
            if answer == "done" { return }
        }
    }

    /// Erases a post.
    ///
    /// - Returns: How many there were.
    package func erasePost(_ id: Int) throws -> String { "\(try database.dao(Post.self).erase(byPrimaryKey: id))" }

    /// Runs a body.
    ///
    /// - Returns: That it is done, or that the database was busy.
    package func sayingBusy(_ body: () throws -> Void) throws -> String {
        do {
            try body()
            return "done"
        } catch let error as StorageError where error.kind == .busy {
            return "busy"
        }
    }

    /// Does what a property-based test has said.
    ///
    /// - Parameters:
    ///   - words: A word, and numbers.
    ///   - say: Says something before the end.
    ///   - listen: The next line that is said to this process.
    /// - Returns: What to answer; nil when the word has no meaning.
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
        case "erase": return try erasePost(number)
        default: return nil
        }
    }
}
