import DAOCore
import DAOSQL
import DAOSystemSQLite

/// A prepared statement of one connection.
final class SQLiteStatement: SQLStatement {
    /// SQLite's statement. It is valid as long as this object exists.
    let pointer: OpaquePointer
    /// Outlives the statement, which only the connection's session keeps.
    private unowned(unsafe) let connection: SQLiteConnection
    /// The entity of the statement, for errors.
    private let entity: String
    /// Holds the values of a query while it runs, which may be as long as a cursor exists.
    private lazy var arena = BindArena(capacity: 256)
    /// Whether a binding is more than a number, and may lead to memory or to an object.
    @exclusivity(unchecked) private var holdsBindings = false
    /// Finds the rows, while some were announced that are close to each other.
    @exclusivity(unchecked) private var walk: KeyWalk?
    /// The same, kept for the next rows that are announced.
    private var preparedWalk: KeyWalk?
    /// Finds the rows in a snapshot, from some on.
    @exclusivity(unchecked) private var feed: KeyFeed?
    /// The same, kept for other snapshots; nil where there can be none, as without a reader, or beside a table of another program
    /// with the name of the feed's.
    private lazy var preparedFeed = makeFeed()
    /// How many rows were read by their keys in a snapshot, in which, and whether there were some in the one before.
    @exclusivity(unchecked) private var reads = (count: 0, snapshot: 0, wereSome: false)

    init(_ pointer: OpaquePointer, _ connection: SQLiteConnection, entity: String) {
        self.pointer = pointer
        self.connection = connection
        self.entity = entity
    }

    deinit { sqlite3_finalize(pointer) }

    override func bind(_ bindings: [SQLBinding]) throws {
        if bindings.isEmpty { return }
        arena.reset()
        holdsBindings = true
        for (index, binding) in bindings.enumerated() { try check(bind(binding, at: Int32(index + 1))) }
    }

    /// Binds in the connection's arena: the row of the statement is read before the arena is used again.
    override func bind(_ key: Key) throws {
        if let walk {
            if walk.leads(to: key) { return }
            endWalk()
        }
        if let feed {
            if feed.isOpen, feed.want(key) {
                reads.count &+= 1
                return
            }
            endFeed()
        }
        if connection.keepsStatementsOpen, beginFeed(at: key) { return }
        if case .integer(let number) = key { return try check(Bind.integer(pointer, 1, number)) }
        connection.arena.reset()
        holdsBindings = true
        try check(Bind.key(pointer, 1, key, connection.arena))
    }

    /// Leaves a statement open that finds the rows, from the fifth of a snapshot on, or from the first on when the one before had as
    /// many.
    @inline(never) private func beginFeed(at key: Key) -> Bool {
        if reads.snapshot != connection.snapshots {
            reads = (0, connection.snapshots, reads.count > KeyFeed.patience)
        }
        reads.count &+= 1
        guard reads.wereSome || reads.count > KeyFeed.patience, let reader = reader as? SQLiteRowReader, let feed = preparedFeed,
            feed.want(key)
        else { return false }
        connection.open(feed)
        self.feed = feed
        reader.follow(feed: feed)
        return true
    }

    private func makeFeed() -> KeyFeed? {
        // Large keys of UInt64 are blobs.
        guard let reader, reader.entity.keyKind != .uint64 else { return nil }
        return try? KeyFeed(pointer, connection, reader.entity)
    }

    private func endFeed() {
        guard feed != nil else { return }
        feed = nil
        (reader as? SQLiteRowReader)?.follow(feed: nil)
    }

    override func prefetch(_ keys: [Key]) throws {
        endWalk()
        endFeed()
        // Large keys of UInt64 are blobs. Without locks, each step looks whether the file was written.
        guard KeyWalk.pays(keys), connection.unlocked == nil, let reader = reader as? SQLiteRowReader,
            reader.entity.keyKind != .uint64
        else { return }
        let walk = try preparedWalk ?? KeyWalk(pointer, connection, entity: entity, keyColumn: reader.keyColumn)
        preparedWalk = walk
        self.walk = walk
        reader.follow(walk)
    }

    /// Goes back to looking up each row.
    private func endWalk() {
        guard let walk else { return }
        walk.end()
        self.walk = nil
        (reader as? SQLiteRowReader)?.follow(nil)
    }

    override func makeReader(of entity: EntityDescription, firstField: Int, keyColumn: Int) -> SQLRowReader {
        SQLiteRowReader(pointer, connection, entity, firstField: firstField, keyColumn: keyColumn)
    }

    override func run() throws -> Int {
        let code = sqlite3_step(pointer)
        if code != SQLITE_DONE { throw connection.failure(code, entity: entity) }
        return Int(sqlite3_changes(connection.handle))
    }

    override func reset() { if walk == nil, feed == nil { sqlite3_reset(pointer) } }

    override func rowsHaveChanged() { if let walk { walk.rest() } else { sqlite3_reset(pointer) } }

    override func finish() {
        if feed != nil { return }
        endWalk()
        sqlite3_reset(pointer)
        if holdsBindings {
            sqlite3_clear_bindings(pointer)
            holdsBindings = false
        }
    }

    @inline(__always) private func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw connection.failure(code, entity: entity) }
    }

    private func bind(_ binding: SQLBinding, at position: Int32) -> Int32 {
        switch binding {
        case .value(let value): Bind.value(pointer, position, value, arena)
        case .count(let count): Bind.integer(pointer, position, count.map(Int64.init) ?? -1)
        case .pattern(let pattern): Bind.object(pointer, position, BoundObject(pattern), BoundType.pattern)
        case .set(let set): Bind.object(pointer, position, BoundObject(set), BoundType.values)
        case .list(let values): Bind.object(pointer, position, BoundObject(values), BoundType.list)
        case .filter(let filter, let columns):
            Bind.object(pointer, position, BoundObject(BoundFilter(filter: filter, columns: columns)), BoundType.filter)
        }
    }
}
