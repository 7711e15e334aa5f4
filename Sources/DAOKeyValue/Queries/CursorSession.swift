import DAOCore
import Foundation

/// The snapshot of a cursor and its position in it, until it is read to its end or ended.
final class CursorSession: @unchecked Sendable {
    // Sendable because every access to the variables holds `lock`.
    private let lock = NSRecursiveLock()
    private var state: (handle: KeyValueHandle, reader: RecordReader)?
    /// Whether a closure runs inside the transaction. A requested end of the session is delayed until the
    /// closure returns.
    private var isHeld = false
    private var endsAfterwards = false

    /// Creates a session for the transaction and the reader of a cursor. The session ends the transaction.
    init(_ handle: KeyValueHandle, _ reader: RecordReader) { state = (handle, reader) }

    /// Continues to read, unless the session has ended.
    ///
    /// - Parameter body: Receives the reader and returns whether there can be more rows.
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

    /// Runs a closure inside the transaction, if the session has not ended.
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

    /// What the snapshot keeps in the file, in bytes; nil when the session has ended, or the store does not tell.
    var pinnedBytes: Int? {
        lock.lock()
        defer { lock.unlock() }
        return state?.handle.pinnedBytes
    }

    /// Ends the transaction. A second call has no effect.
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

/// A cursor that reads the rows of a query in batches, on one read transaction.
final class SnapshotCursor<Record: Model>: RowCursor<Record> {
    private let database: KeyValueDatabase
    private let session: CursorSession
    private let snapshot: Int
    private var remaining: Int

    /// Creates a cursor.
    ///
    /// - Parameters:
    ///   - database: The database; the cursor keeps it open until it is closed.
    ///   - session: The snapshot, with a reader that has a source.
    ///   - limit: The maximum number of rows.
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

    override var pinnedBytes: Int? { try? database.lifetime.call { session.pinnedBytes } }

    override func withSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try database.lifetime.call { try session.within(database, body) }
    }

    override func close() { database.lifetime.endSnapshot(snapshot) }
}

/// A cursor over rows that were already read. It is used inside a transaction, where writes can follow.
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
