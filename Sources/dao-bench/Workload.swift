import Foundation

/// A row of the budget: work that is timed on both sides of a pair.
enum Workload: String, CaseIterable {
    case insert = "bulk insert, one transaction"
    case fetchAll = "fetch all into an array"
    case pointRead = "point reads by key, a call each"
    case pointReadInside = "point reads by key, in one transaction"
    case query = "indexed query, 50 rows, sorted, a call each"
    case range = "range of 1,000 rows by an index, a call each"
    case scan = "count by a scan"
    case scanAfterCommit = "the same, right after a commit"
    case countByIndex = "count by an index, a call each"
    case merge = "merge-persist of all rows"
    case upsert = "persist of all rows, one field changed"
    case insertNested = "insert of parents with 20 children each"
    case fetchNested = "parents with 20 children each, read back"
    case anyChild = "50 parents with a child like this, 200 times"
    case countAnyChild = "parents with a child like this, counted"
    case childCount = "50 parents with so many children, 200 times"
    case commit = "merge-persist of one row, a commit each"
    case commitObservedOnce = "the same, 1 observation ÷ none"
    case commitObservedByFifty = "the same, 50 observations ÷ none"
    case insertEach = "inserts, a commit each"
    // After those that compare rows: what the writer leaves depends on its speed.
    case readersBesideWriter = "4 readers by key beside a writer"
    case erase = "erase of 10,000 rows by key"

    /// All names, for messages.
    static var names: String { (allCases.map { "\($0)" } + Extra.allCases.map(\.rawValue)).joined(separator: "|") }

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
        let budgets: (sqlite: Double?, lmdb: Double?, memory: Double?) =
            switch self {
            case .insert: (1.05, 1.15, nil)
            case .fetchAll: (1.2, 1.6, 2.5)
            case .pointRead: (0.7, 1.5, 2)
            case .pointReadInside: (1.3, 1.6, nil)
            case .query: (1.1, 1.4, nil)
            case .range: (1.15, 1.4, nil)
            case .scan: (0.95, 3, 5)
            case .merge: (1, 1.5, nil)
            case .insertNested, .fetchNested: (1.1, 1.5, nil)
            case .anyChild, .countAnyChild, .childCount: (1.3, nil, nil)
            // 0.9 and 0.6 of the reads a second.
            case .readersBesideWriter: (1 / 0.9, 1 / 0.6, nil)
            case .scanAfterCommit, .countByIndex, .upsert, .commit, .commitObservedOnce, .commitObservedByFifty, .insertEach,
                .erase:
                (nil, nil, nil)
            }
        return switch pair {
        case .sqlite: budgets.sqlite
        case .lmdb: budgets.lmdb
        case .memory: budgets.memory
        case .postgres: observations == nil ? 1.25 : nil
        case .checksums, .encrypted, .sqlcipher: nil
        }
    }

    /// Whether a pair has both sides of the work.
    func isDone(by pair: Pair) -> Bool {
        switch self {
        case .insertNested, .fetchNested: pair != .memory
        case .anyChild, .countAnyChild, .childCount: pair == .sqlite || pair == .postgres
        case .pointReadInside, .scan, .upsert, .erase: pair != .postgres
        // A dictionary with an array for each value has its count, and no commits.
        case .countByIndex, .insertEach: pair == .sqlite || pair == .lmdb
        // In other stores a commit leaves the pages of readers where they are.
        case .scanAfterCommit: pair == .sqlite
        case .range, .readersBesideWriter: pair == .sqlite || pair == .lmdb
        default: true
        }
    }

    /// Whether the shape of the records matters. Other work is measured with one shape.
    var dependsOnShape: Bool {
        !isNested && ![.commit, .commitObservedOnce, .commitObservedByFifty, .insertEach].contains(self)
    }

    /// Whether the work writes nothing.
    var onlyReads: Bool {
        switch self {
        case .fetchAll, .pointRead, .pointReadInside, .query, .range, .scan, .countByIndex, .fetchNested, .anyChild,
            .countAnyChild, .childCount:
            true
        case .insert, .scanAfterCommit, .merge, .upsert, .insertNested, .commit, .commitObservedOnce, .commitObservedByFifty,
            .insertEach, .readersBesideWriter, .erase:
            false
        }
    }

    /// The number of rows that the work is about; 1 where that is the same for any number of stored rows.
    func units(rows: Int) -> Int {
        switch self {
        case .insert, .fetchAll, .scan, .scanAfterCommit, .merge, .upsert, .insertNested, .fetchNested, .countAnyChild: rows
        case .erase: min(10_000, rows / 2)
        case .pointRead, .pointReadInside, .query, .range, .countByIndex, .anyChild, .childCount, .commit, .commitObservedOnce,
            .commitObservedByFifty, .insertEach, .readersBesideWriter:
            1
        }
    }

    /// How often the work is measured in each round.
    var passes: Int { onlyReads || self == .readersBesideWriter ? 3 : 1 }

    /// Whether the work is about parents and their children.
    var isNested: Bool { [.insertNested, .fetchNested, .anyChild, .countAnyChild, .childCount].contains(self) }

    /// Runs the work once.
    ///
    /// - Parameters:
    ///   - contender: The implementation.
    ///   - data: The data of the work.
    ///   - round: A unique number for each run, so that every commit changes rows.
    ///   - warmsUp: Whether to do work that only reads twice, and to measure the second time. A connection of SQLite has a
    ///     page cache of its own, which a program with one connection has filled by writing.
    /// - Returns: The milliseconds, and a checksum of the read values, to compare both sides.
    func run<Record: MeasuredRecord>(
        _ contender: Contender<Record>, _ data: Dataset<Record>, round: Int, warmsUp: Bool
    ) throws -> (milliseconds: Double, checksum: Checksum) {
        if onlyReads, warmsUp { _ = try measure(contender, data, round: round) }
        let result = try measure(contender, data, round: round)
        if !onlyReads { try contender.settle() }
        return result
    }

    private func measure<Record: MeasuredRecord>(
        _ contender: Contender<Record>, _ data: Dataset<Record>, round: Int
    ) throws -> (milliseconds: Double, checksum: Checksum) {
        var checksum = Checksum()
        // The read values are summed up and freed outside the measured part.
        var kept: [Record] = []
        let clock = ContinuousClock()
        var start = clock.now
        var stop = start
        var times = 0
        /// Runs a part for 200 ms, since a few milliseconds say little beside other threads and a server.
        func again<Result>(_ part: () throws -> Result) rethrows -> Result {
            while true {
                let result = try part()
                times += 1
                stop = clock.now
                if stop - start >= .milliseconds(200) { return result }
            }
        }
        switch self {
        case .insert:
            try contender.insert(data.records)
            stop = clock.now
        case .fetchAll:
            kept = try contender.fetchAll()
            stop = clock.now
            if contender.name == "Dictionary" { kept.sort { $0.id < $1.id } }
        case .pointRead:
            for key in data.pointKeys {
                if let record = try contender.read(key) { record.add(to: &checksum) }
            }
            stop = clock.now
        case .pointReadInside:
            try contender.readInside(data.pointKeys) { $0.add(to: &checksum) }
            stop = clock.now
        case .query:
            for sender in data.senders { checksum.add(try contender.newest(sender, 50)) }
            stop = clock.now
        case .range:
            for span in data.spans { checksum.add(try contender.within?(span) ?? []) }
            stop = clock.now
        case .scan:
            checksum.add(UInt64(try contender.countAbove?(50) ?? 0))
            stop = clock.now
        case .scanAfterCommit:
            try contender.merge(Array(data.commits(round).prefix(1)))
            start = clock.now
            checksum.add(UInt64(try contender.countAbove?(50) ?? 0))
            stop = clock.now
        case .countByIndex:
            for sender in data.senders { checksum.add(UInt64(try contender.count?(sender) ?? 0)) }
            stop = clock.now
        case .readersBesideWriter:
            let readers = try (0..<4).compactMap { _ in try contender.makeReader?() }
            start = clock.now
            checksum.add(try ReadersBesideWriter.run(data.pointKeys, readers, data.commits(round), contender.merge))
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
            let count = try again { try contender.countWithReply?(data.senderCount / 200) ?? 0 }
            checksum.add(UInt64(count))
        case .childCount:
            let dialogs = try again {
                for _ in 1..<200 { _ = try contender.dialogsByCount?(Dialog.replyCount, 50) }
                return try contender.dialogsByCount?(Dialog.replyCount, 50) ?? []
            }
            checksum.add(dialogs)
        case .merge:
            try contender.merge(data.receipts)
            stop = clock.now
        case .upsert:
            let changed = data.changed()
            start = clock.now
            try contender.upsert?(changed)
            stop = clock.now
            kept = try contender.fetchAll().sorted { $0.id < $1.id }
        case .insertEach:
            for record in data.fresh { try contender.insert([record]) }
            stop = clock.now
            checksum.add(UInt64(try contender.fetchAll().count))
        case .erase:
            try contender.erase?(data.erased)
            stop = clock.now
            checksum.add(UInt64(try contender.fetchAll().count))
        case .commit, .commitObservedOnce, .commitObservedByFifty:
            try again { for receipt in data.commits(round + times) { try contender.merge([receipt]) } }
        }
        checksum.add(kept)
        return ((stop - start) / .milliseconds(1) / Double(max(times, 1)), checksum)
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
    /// Only with `--only encrypted`, and `--only sqlcipher`.
    case encrypted, sqlcipher

    /// Whether two ways to open one kind of database are compared, which is done when it is asked for.
    var isOfOptions: Bool { [.checksums, .encrypted, .sqlcipher].contains(self) }

    var title: String {
        switch self {
        case .checksums: "SQLite with checksums ÷ SQLite"
        case .encrypted: "encrypted SQLite ÷ SQLite"
        case .sqlcipher: "SQLite in SQLCipher's format ÷ SQLite"
        case .sqlite: "SQLite ÷ raw SQLite"
        case .lmdb: "LMDB ÷ raw LMDB"
        case .memory: "memory ÷ Dictionary"
        case .postgres: "PostgreSQL ÷ raw libpq"
        }
    }
}
