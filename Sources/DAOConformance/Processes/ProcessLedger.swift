import DAOCore

/// The data that the processes of a case write: batches of rows, each in a transaction, and a counter that is
/// incremented with every batch.
package struct ProcessLedger: Sendable {
    /// How many batches are kept. Every new batch erases the oldest.
    private static let kept = 5

    package let database: any Database
    let items: DAO<Item>
    package let counters: DAO<Counter>

    package init(_ database: any Database) throws {
        self.database = database
        items = try database.dao(Item.self)
        counters = try database.dao(Counter.self)
    }

    /// Returns the counter.
    func count() throws -> Int { try counters.read(byPrimaryKey: 1)?.value ?? 0 }

    /// Adds a number to the counter, by reading and writing it.
    func increment(by number: Int = 1) throws {
        try database.transaction(retrying: database.retries) { try counters.persist(Counter(id: 1, value: try count() + number)) }
    }

    /// Commits the next batch, whose number follows from the counter.
    func commitBatch() throws -> Int {
        try database.transaction(retrying: database.retries) {
            let number = try count() + 1
            try items.create(Self.rows(number))
            try items.erase { $0.number <= number - Self.kept }
            try counters.persist(Counter(id: 1, value: number))
            return number
        }
    }

    /// Expects that a snapshot has exactly the rows that the number of batches in its counter leaves.
    func expectWhole() throws {
        try database.snapshot {
            let number = try count()
            let expected = number == 0 ? [] : (max(1, number - Self.kept + 1)...number).flatMap(Self.rows)
            try expectSame(try items.read(), expected, "the rows after \(number) transactions")
            // A partly written commit could leave entries in the index.
            try expectEqual(try items.count { $0.number > 0 }, expected.count, "rows found by their number")
        }
    }

    private static func rows(_ number: Int) -> [Item] {
        (0...number % 4).map {
            Item(id: number * 10 + $0, name: String(repeating: "\(number) ", count: number * 61 % 1500), number: number)
        }
    }

    /// Runs a command of the suite.
    func run(_ line: String) throws {
        let words = line.split(separator: " ")
        switch words.first {
        case "count": ConformanceProcesses.answer("\(try count())")
        case "increment":
            for _ in 0..<(words.last.flatMap { Int($0) } ?? 0) { try increment() }
            ConformanceProcesses.answer("done")
        case "commit": while true { ConformanceProcesses.answer("\(try commitBatch())") }
        case "hold":
            do {
                try database.transaction {
                    try increment(by: 1000)
                    ConformanceProcesses.answer("holding")
                    if readLine() != "commit" { throw DeliberateError(number: 1) }
                }
            } catch is DeliberateError {}
            ConformanceProcesses.answer("ended")
        case "grow":
            let numbers = words.dropFirst().compactMap { Int($0) }
            let posts = try database.dao(Post.self)
            for number in numbers[0]..<numbers[1] { try posts.create(LifeCycleGrowth.long(number)) }
            ConformanceProcesses.answer("done")
        case "transaction": try runSteps(say: ConformanceProcesses.answer, listen: { readLine() })
        #if os(Linux) || os(macOS)
            case "fill":
                do {
                    ConformanceProcesses.answer(try Filling.run(database))
                } catch let failure as ConformanceFailure {
                    ConformanceProcesses.answer(failure.description.replacing("\n", with: " "))
                }
        #endif
        case "topic": ConformanceProcesses.answer(try persistTopic(words.dropFirst()))
        case "digest": ConformanceProcesses.answer(try persistDigest(words.dropFirst()))
        case "digests": ConformanceProcesses.answer(try digests())
        case "topics": ConformanceProcesses.answer(try outline())
        default:
            let answer = try runCommand(words, say: ConformanceProcesses.answer, listen: { readLine() })
            ConformanceProcesses.answer(answer ?? "what is '\(line)'?")
        }
    }
}
