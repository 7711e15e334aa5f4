import Foundation

/// A row of the budget: work that is timed on both sides of a pair.
enum Workload: String, CaseIterable {
    case insert = "bulk insert, one transaction"
    case fetchAll = "fetch all into an array"
    case pointRead = "point reads by key, a call each"
    case query = "indexed query, 50 rows, sorted, a call each"
    case merge = "merge-persist of all rows"
    case insertNested = "insert of parents with 20 children each"
    case fetchNested = "parents with 20 children each, read back"
    case anyChild = "50 parents with a child like this, 200 times"
    case countAnyChild = "parents with a child like this, counted"
    case childCount = "50 parents with so many children, 200 times"
    case commit = "merge-persist of one row, a commit each"
    case commitObservedOnce = "the same, 1 observation ÷ none"
    case commitObservedByFifty = "the same, 50 observations ÷ none"

    /// All names, for messages.
    static var names: String { (allCases.map { "\($0)" } + ["copy"]).joined(separator: "|") }

    /// The number of active observations; nil for work that is compared with the raw library. Work with
    /// observations is compared with the same work without observations: both columns are the DAO.
    var observations: Int? {
        switch self {
        case .commitObservedOnce: 1
        case .commitObservedByFifty: 50
        default: nil
        }
    }

    /// The largest ratio that the design allows for a pair.
    func budget(_ pair: Pair) -> Double? {
        switch (self, pair) {
        case (_, .checksums): nil
        case (.commitObservedOnce, _), (.commitObservedByFifty, _): nil
        case (_, .postgres): 1.25
        case (.insert, .sqlite): 1.15
        case (.fetchAll, .sqlite): 1.25
        case (.pointRead, .sqlite): 1.3
        case (.query, .sqlite): 1.25
        case (.merge, .sqlite): 1.4
        case (.insert, .lmdb): 1.3
        case (.fetchAll, .lmdb): 1.8
        case (.pointRead, .lmdb): 2.0
        case (.query, .lmdb): 1.5
        case (.merge, .lmdb): 1.5
        case (.insertNested, .sqlite), (.fetchNested, .sqlite): 1.6
        case (.insertNested, .lmdb), (.fetchNested, .lmdb): 2.5
        case (.anyChild, _), (.countAnyChild, _), (.childCount, _): 1.3
        case (.pointRead, .memory): 4.0
        case (_, .memory), (.commit, _): nil
        }
    }

    /// Whether a pair has both sides of the work.
    func isDone(by pair: Pair) -> Bool {
        switch self {
        case .insertNested, .fetchNested: pair != .memory
        case .anyChild, .countAnyChild, .childCount: pair == .sqlite || pair == .postgres
        default: true
        }
    }

    /// Whether the work is about parents and their children.
    var isNested: Bool { [.insertNested, .fetchNested, .anyChild, .countAnyChild, .childCount].contains(self) }

    /// Runs the work once.
    ///
    /// - Parameters:
    ///   - contender: The implementation.
    ///   - data: The data of the work.
    ///   - round: A unique number for each run, so that every commit changes rows.
    /// - Returns: The milliseconds, and a checksum of the read values, to compare both sides.
    func run(_ contender: Contender, _ data: Dataset, round: Int) throws -> (milliseconds: Double, checksum: Checksum) {
        var checksum = Checksum()
        // The read values are summed up and freed outside the measured part.
        var kept: [Message] = []
        let clock = ContinuousClock()
        let start = clock.now
        var stop = start
        switch self {
        case .insert:
            try contender.insert(data.messages)
            stop = clock.now
        case .fetchAll:
            kept = try contender.fetchAll()
            stop = clock.now
            if contender.name == "Dictionary" { kept.sort { $0.id < $1.id } }
        case .pointRead:
            for key in data.pointKeys {
                if let message = try contender.read(key) { checksum.add(message) }
            }
            stop = clock.now
        case .query:
            for sender in data.senders { checksum.add(try contender.newest(sender, 50)) }
            stop = clock.now
        case .insertNested:
            try contender.insertDialogs?(data.dialogs)
            stop = clock.now
        case .fetchNested:
            let dialogs = try contender.fetchDialogs?() ?? []
            stop = clock.now
            checksum.add(dialogs)
        // A child is of such a sender in one of 200 cases, and so one of 10 parents has one.
        case .anyChild:
            for _ in 0..<200 { checksum.add(try contender.dialogsWithReply?(data.senderCount / 200, 50) ?? []) }
            stop = clock.now
        case .countAnyChild:
            checksum.add(UInt64(try contender.countWithReply?(data.senderCount / 200) ?? 0))
            stop = clock.now
        case .childCount:
            for _ in 0..<200 { checksum.add(try contender.dialogsByCount?(Dialog.replyCount, 50) ?? []) }
            stop = clock.now
        case .merge:
            try contender.merge(data.receipts)
            stop = clock.now
        case .commit, .commitObservedOnce, .commitObservedByFifty:
            for receipt in data.commits(round) { try contender.merge([receipt]) }
            stop = clock.now
        }
        checksum.add(kept)
        try contender.settle()
        let elapsed = (stop - start).components
        return (Double(elapsed.seconds) * 1000 + Double(elapsed.attoseconds) / 1e15, checksum)
    }
}

/// The pairs of a database and a raw library.
enum Pair: String, CaseIterable {
    case sqlite
    case lmdb
    case memory
    /// Only with a server.
    case postgres
    /// Only with `--only checksums`.
    case checksums

    var title: String {
        switch self {
        case .checksums: "SQLite with checksums ÷ SQLite"
        case .sqlite: "SQLite ÷ raw SQLite"
        case .lmdb: "LMDB ÷ raw LMDB"
        case .memory: "memory ÷ Dictionary"
        case .postgres: "PostgreSQL ÷ raw libpq"
        }
    }
}
