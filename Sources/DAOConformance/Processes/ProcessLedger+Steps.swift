import DAOCore

/// The commands of transactions that are told step by step what to do.
extension ProcessLedger {
    /// Returns the number in a row.
    func value(_ id: Int) throws -> Int { try require(counters.read(byPrimaryKey: id), "the row \(id)").value }

    /// Stores a number in a row.
    func set(_ id: Int, to number: Int) throws { try counters.persist(Counter(id: id, value: number)) }

    /// Returns the sum of all numbers.
    func sum() throws -> Int { try counters.read().map(\.value).reduce(0, +) }

    /// Runs a transaction whose steps are lines, until one of them is "commit".
    func runSteps(say: (String) -> Void, listen: () -> String?) throws {
        do {
            try database.transaction {
                say("begun")
                while let line = listen(), line != "commit" {
                    let words = line.split(separator: " ")
                    let numbers = words.dropFirst().compactMap { Int($0) }
                    switch (words.first, numbers.count) {
                    case ("get", 1): say("\(try value(numbers[0]))")
                    case ("sum", 0): say("\(try sum())")
                    case ("set", 2):
                        try set(numbers[0], to: numbers[1])
                        say("done")
                    default: throw DeliberateError()
                    }
                }
            }
            say("committed")
        } catch is DeliberateError {
            say("rolled back")
        }
    }
}
