import DAOCore

/// Counts the entries of access paths side by side, one of each at a time, until the first path ends. So the shortest path is
/// found at a cost that follows its own length, however long the others are.
final class PathRace {
    /// The paths.
    let paths: [AccessPath]
    private let runners: [Runner]
    /// How many entries of each path were counted.
    @exclusivity(unchecked) private var distance = 0
    /// The number of the path that has ended.
    @exclusivity(unchecked) private var ended: Int?

    /// How many entries of a path are kept, so that they are not looked for again.
    private static let keptEntries = 1_024

    /// The walk along one path.
    private final class Runner {
        @exclusivity(unchecked) private var walk: RangeWalk
        @exclusivity(unchecked) private(set) var entries: [UnsafeRawBufferPointer] = []

        init(_ walk: RangeWalk) {
            self.walk = walk
            entries.reserveCapacity(128)
        }

        /// Moves to the next entry, and keeps it.
        @inline(__always) func next(keeps: Bool) throws -> Bool {
            guard try walk.next() else { return false }
            if keeps { entries.append(walk.key) }
            return true
        }

        /// Moves on until the path ends, or more than some entries were counted. Returns whether it has ended.
        func run(_ distance: inout Int, within limit: Int) throws -> Bool {
            while distance <= limit {
                guard try next(keeps: distance < PathRace.keptEntries) else { return true }
                distance &+= 1
            }
            return false
        }
    }

    /// A path has ended: it is shorter than what was looked at on the path of the query.
    struct Winner: Error {
        let path: AccessPath
    }

    /// Creates a race.
    ///
    /// - Parameters:
    ///   - paths: The paths. Of two that end together, the first wins.
    ///   - table: The table of the paths.
    ///   - transaction: The transaction to read with.
    ///   - verifies: Whether checksums are verified.
    init(_ paths: [AccessPath], of table: Table, _ transaction: any KeyValueTransaction, verifies: Bool) throws {
        self.paths = paths
        runners = try paths.map { Runner(try RangeWalk($0, of: table, transaction, verifies: verifies)) }
    }

    /// The entries of the path that has ended, verified, in their order; nil when there were too many to be kept. They point
    /// into the store's memory, until the next write of the transaction.
    var entriesOfWinner: [UnsafeRawBufferPointer]? {
        distance > Self.keptEntries ? nil : ended.map { runners[$0].entries }
    }

    /// Counts one more entry of each path. Returns a path that has no more.
    @inline(__always) private func step() throws -> AccessPath? {
        for index in runners.indices where try !runners[index].next(keeps: distance < Self.keptEntries) {
            ended = index
            return paths[index]
        }
        distance &+= 1
        return nil
    }

    /// The path with the fewest entries; nil when all have more than a limit.
    func winner(within limit: Int) throws -> AccessPath? {
        if runners.count == 1 {
            guard try runners[0].run(&distance, within: limit) else { return nil }
            ended = 0
            return paths[0]
        }
        while distance <= limit { if let winner = try step() { return winner } }
        return nil
    }

    /// Counts one more entry of each path, for a row that was looked at.
    ///
    /// - Throws: ``Winner`` when a path has no more.
    func lookedAtRow() throws { if let path = try step() { throw Winner(path: path) } }
}

/// The rows of a path in the query's order, until another path proves to be shorter; from there on, the sorted rows of that
/// one. Both are in the same order, so the rows that were returned already are skipped.
final class RacingSource: RowSource {
    @exclusivity(unchecked) private var source: RowSource
    @exclusivity(unchecked) private var count = 0
    private let makeSource: (AccessPath) throws -> RowSource

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - source: The rows in order. Its filter has the race.
    ///   - makeSource: Returns the sorted rows of the path that has won.
    init(_ source: RowSource, _ makeSource: @escaping (AccessPath) throws -> RowSource) {
        self.source = source
        self.makeSource = makeSource
    }

    override func next(_ reader: RecordReader) throws -> Bool {
        do {
            guard try source.next(reader) else { return false }
        } catch let winner as PathRace.Winner {
            source = try makeSource(winner.path)
            for _ in 0..<count { guard try source.nextKey(reader) else { return false } }
            guard try source.next(reader) else { return false }
        }
        count += 1
        return true
    }
}
