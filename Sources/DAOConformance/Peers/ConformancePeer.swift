import DAOCore
import Foundation

/// Another process that has the database of a case open, for the rules about several processes.
///
/// The suite says what to do in lines and gets lines back; what they mean is between the cases and ``serve(_:)``. Where a process can be started,
/// `PeerProcess` is one.
public protocol ConformancePeer: AnyObject, Sendable {
    /// Sends a line to the process.
    func say(_ line: String) throws

    /// The next line from the process; nil when it has ended.
    ///
    /// - Parameter seconds: After how long waiting is an error.
    func line(within seconds: Int) throws -> String?

    /// Ends the process at once, in the middle of whatever it does, and waits until it is gone.
    func kill()
}

extension ConformanceTarget {
    /// The same kind of database, with a way to open one in another process.
    ///
    /// - Parameters:
    ///   - wait: How long a process waits for another's transaction, as it opens the database: its `busyTimeout`.
    ///   - patience: How long steps of the random proof wait for what has to come. Only a failure takes as long.
    ///   - start: Starts a process that opens the database at a location and calls ``ConformancePeers/serve(_:)``.
    public func withPeers(
        waiting wait: Duration = .seconds(5), patience: Duration = .seconds(60),
        _ start: @escaping @Sendable (Location) throws -> any ConformancePeer
    ) -> ConformanceTarget {
        var target = self
        target.startPeer = start
        target.peerWait = wait
        target.peerPatience = patience
        return target
    }
}

/// What a process that serves the suite does.
public enum ConformancePeers {
    /// Does what the suite says in lines on standard input, until they end. It is all that such a program has to do:
    ///
    /// ```swift
    /// try ConformancePeers.serve(try SQLiteDatabase(path: CommandLine.arguments[1]))
    /// ```
    ///
    /// - Parameter database: The database that the program's arguments name.
    public static func serve(_ database: any Database) throws {
        let ledger = try Ledger(database)
        answer("open")
        while let line = readLine() {
            do {
                try ledger.run(line)
            } catch let error as StorageError {
                answer(error.kind.rawValue)
            }
        }
    }

    /// Writes a line at once: it has to have come when the process is ended a moment later.
    fileprivate static func answer(_ line: String) {
        // Without anybody to answer to there is nothing more to do.
        guard (try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))) != nil else { exit(0) }
    }
}

/// What the processes of a case write: batches of rows, each in a transaction, and a counter that goes up with them.
struct Ledger: Sendable {
    /// How many batches are kept; each goes when the one so many later comes.
    private static let kept = 5

    let database: any Database
    let items: DAO<IdentityTranslator<Item>>
    let counters: DAO<IdentityTranslator<Counter>>

    init(_ database: any Database) throws {
        self.database = database
        items = try database.dao(Item.self)
        counters = try database.dao(Counter.self)
    }

    /// The counter.
    func count() throws -> Int { try counters.read(byPrimaryKey: 1)?.value ?? 0 }

    /// Adds to the counter, by reading and writing it.
    func increment(by number: Int = 1) throws {
        try database.transaction { try counters.persist(Counter(id: 1, value: try count() + number)) }
    }

    /// Commits the next batch, whose number follows from the counter.
    func commitBatch() throws -> Int {
        try database.transaction {
            let number = try count() + 1
            try items.create(Self.rows(number))
            try items.erase { $0.number <= number - Self.kept }
            try counters.persist(Counter(id: 1, value: number))
            return number
        }
    }

    /// Makes sure that one snapshot has exactly what as many batches have left as its counter says.
    func expectWhole() throws {
        try database.snapshot {
            let number = try count()
            let expected = number == 0 ? [] : (max(1, number - Self.kept + 1)...number).flatMap(Self.rows)
            try expectSame(try items.read(), expected, "the rows after \(number) transactions")
            // The index, which half a commit would leave behind.
            try expectEqual(try items.count { $0.number > 0 }, expected.count, "rows found by their number")
        }
    }

    private static func rows(_ number: Int) -> [Item] {
        (0...number % 4).map {
            Item(id: number * 10 + $0, name: String(repeating: "\(number) ", count: number * 61 % 1500), number: number)
        }
    }

    /// Does what the suite has said.
    fileprivate func run(_ line: String) throws {
        let words = line.split(separator: " ")
        switch words.first {
        case "count": ConformancePeers.answer("\(try count())")
        case "increment":
            for _ in 0..<(words.last.flatMap { Int($0) } ?? 0) { try increment() }
            ConformancePeers.answer("done")
        case "commit": while true { ConformancePeers.answer("\(try commitBatch())") }
        case "hold":
            do {
                try database.transaction {
                    try increment(by: 1000)
                    ConformancePeers.answer("holding")
                    if readLine() != "commit" { throw DeliberateError(number: 1) }
                }
            } catch is DeliberateError {}
            ConformancePeers.answer("ended")
        #if os(Linux) || os(macOS)
            case "fill":
                do {
                    ConformancePeers.answer(try Filling.run(database))
                } catch let failure as ConformanceFailure {
                    ConformancePeers.answer(failure.description.replacing("\n", with: " "))
                }
        #endif
        case "topic": ConformancePeers.answer(try persistTopic(words.dropFirst()))
        case "digest": ConformancePeers.answer(try persistDigest(words.dropFirst()))
        case "digests": ConformancePeers.answer(try digests())
        case "topics": ConformancePeers.answer(try outline())
        default:
            let answer = try runRandom(words, say: ConformancePeers.answer, listen: { readLine() })
            ConformancePeers.answer(answer ?? "what is '\(line)'?")
        }
    }
}
