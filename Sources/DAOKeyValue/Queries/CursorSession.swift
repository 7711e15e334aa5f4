import DAOCore
import Foundation

/// The snapshot of a cursor and its place in it, until it is read to its end or taken away.
final class CursorSession: @unchecked Sendable {
    // Sendable because the variables are only touched with `lock` held.
    private let lock = NSRecursiveLock()
    private var state: (handle: KeyValueHandle, reader: RecordReader)?
    /// Whether a body runs with the transaction around it, at whose end the session ends if it is to.
    private var isHeld = false
    private var endsAfterwards = false

    /// Keeps what a cursor reads with. The session ends the transaction.
    init(_ handle: KeyValueHandle, _ reader: RecordReader) { state = (handle, reader) }

    /// Reads on, unless the session has ended.
    ///
    /// - Parameter body: Gets the reader and says whether there may be more.
    func read(_ body: (RecordReader) throws -> Bool) throws {
        lock.lock()
        defer { lock.unlock() }
        guard let reader = state?.reader else { return }
        do {
            if try !body(reader) { letGo() }
        } catch {
            letGo()
            throw error
        }
    }

    /// Runs a body with the transaction around it, if it has not ended.
    func within<Result>(_ database: KeyValueDatabase, _ body: () throws -> Result) throws -> Result {
        lock.lock()
        defer { lock.unlock() }
        guard let handle = state?.handle, !isHeld else { return try body() }
        isHeld = true
        defer {
            isHeld = false
            if endsAfterwards { letGo() }
        }
        return try database.engine.coordinator.within(handle, body)
    }

    /// Ends the transaction. Ending twice is fine.
    func end() {
        lock.lock()
        letGo()
        lock.unlock()
    }

    private func letGo() {
        if isHeld {
            endsAfterwards = true
            return
        }
        guard let handle = state?.handle else { return }
        state = nil
        handle.rollback()
    }
}

/// The rows of a query, a batch at a time, on one read transaction.
final class SnapshotCursor<Record: Model>: RowCursor<Record> {
    private let database: KeyValueDatabase
    private let session: CursorSession
    private let snapshot: Int
    private var remaining: Int

    /// Creates a cursor.
    ///
    /// - Parameters:
    ///   - database: The database; it stays open for the cursor until it is closed.
    ///   - session: The snapshot, with a reader that has a source.
    ///   - limit: How many rows at most.
    init(_ database: KeyValueDatabase, _ session: CursorSession, limit: Int) {
        self.database = database
        self.session = session
        remaining = limit
        snapshot = database.lifetime.keepSnapshot { session.end() }
        super.init()
    }

    deinit { close() }

    override func next(_ count: Int) throws -> [Record] {
        var records: [Record] = []
        let wanted = min(max(count, 0), remaining)
        try database.lifetime.call {
            try session.read { reader in
                try Record.schema.decode(reader, limit: wanted, into: &records)
                remaining -= records.count
                return records.count == wanted && remaining > 0
            }
        }
        return records
    }

    override var holdsSnapshot: Bool { true }

    override func withSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try database.lifetime.call { try session.within(database, body) }
    }

    override func close() { database.lifetime.endSnapshot(snapshot) }
}

/// Rows that were read before: what a cursor inside a transaction keeps to, since writes may follow.
final class CollectedCursor<Record: Model>: RowCursor<Record> {
    private let database: KeyValueDatabase
    private var records: ArraySlice<Record>

    init(_ database: KeyValueDatabase, _ records: [Record]) {
        self.database = database
        self.records = records[...]
        super.init()
    }

    override func next(_ count: Int) throws -> [Record] {
        try database.lifetime.call {
            let batch = Array(records.prefix(max(count, 0)))
            records = records.dropFirst(batch.count)
            return batch
        }
    }

    override func close() { records = [] }
}
