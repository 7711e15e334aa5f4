import DAOCore

/// What processes do in random rounds: they add to a counter of its own.
extension Ledger {
    /// The counter's key.
    static let addedID = 2

    /// What is committed. The batches have to be whole.
    func state() throws -> PeerReference.State {
        try database.snapshot {
            try expectWhole()
            return PeerReference.State(added: try added(), batches: try count())
        }
    }

    private func added() throws -> Int { try counters.read(byPrimaryKey: Self.addedID)?.value ?? 0 }

    /// Adds to the counter, by reading and writing it.
    func add(_ number: Int) throws {
        try database.transaction { try counters.persist(Counter(id: Self.addedID, value: try added() + number)) }
    }

    /// Adds to the counter, however long others keep it.
    func addPatiently(_ number: Int) throws {
        while true {
            let answer = try sayingBusy { try add(number) }
            if answer == "done" { return }
        }
    }

    /// Erases a post.
    ///
    /// - Returns: How many there were.
    func erasePost(_ id: Int) throws -> String { "\(try database.dao(Post.self).erase(byPrimaryKey: id))" }

    /// Runs a body.
    ///
    /// - Returns: That it is done, or that the database was busy.
    func sayingBusy(_ body: () throws -> Void) throws -> String {
        do {
            try body()
            return "done"
        } catch let error as StorageError where error.kind == .busy {
            return "busy"
        }
    }

    /// Does what a random round has said.
    ///
    /// - Parameters:
    ///   - words: A word, and numbers.
    ///   - say: Says something before the end.
    ///   - listen: The next line that is said to this process.
    /// - Returns: What to answer; nil when the word has no meaning.
    func runRandom(_ words: [Substring], say: (String) -> Void, listen: () -> String?) throws -> String? {
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
