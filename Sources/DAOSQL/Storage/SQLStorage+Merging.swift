import DAOCore

extension SQLStorage {
    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try merge(keys: keys, storesAgain: true, body)
    }

    /// Merges rows; see ``/DAOCore/Storage/merge(keys:_:)``.
    ///
    /// - Parameter storesAgain: Whether a row is stored again that the closure has erased.
    private func merge(keys: [Key], storesAgain: Bool, _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        if keys.isEmpty { return try writing(.statement, usesTable: false) { _, _ in 0 } }
        let isAlone = !coordinator.isInside
        return try writing(.any) { session, known in
            let rows = try session.rows(known.number, known.table)
            let (select, row) = try rows.takeSelect()
            defer { select.giveBack() }
            if keys.count > 1 { try select.prefetch(keys) }
            let detector = rows.detector(select, row)
            let refusals = RefusedRows(self, session, known, rows: keys.count, mayReplace: true)
            let writing = MergedRows<Record>(refusals)
            defer { writing.finish() }
            var stored = 0
            do {
                do {
                    for (index, key) in keys.enumerated() {
                        try select.bind(key)
                        var isStored = try row.advance()
                        var record: Record?
                        if isStored { try schema.decode(row, to: &record) }
                        // A row that the call gives again is as it has left it.
                        if let refusals, !refusals.isEmpty, let waiting = refusals.record(key) { record = waiting }
                        let writeCount = session.writeCount
                        try body(index, &record)
                        // The fields that the closure has changed; nil when they are found while they are written.
                        var changes: FieldSet?
                        if session.writeCount != writeCount {
                            // The closure can have stored or erased the row, and others.
                            if isStored { changes = try record.map { try self.changes(in: $0, key, detector) } }
                            select.rowsHaveChanged()
                            if record != nil {
                                // The columns are compared with what is there now.
                                try select.bind(key)
                                isStored = try row.advance()
                            }
                            if changes != nil, !isStored, !storesAgain { record = nil }
                        }
                        if let record = consume record {
                            if let refusals, !refusals.isEmpty { refusals.remove(key) }
                            try withUnsafePointer(to: record) { record in
                                writing.row = record
                                do {
                                    if isStored, let changes {
                                        try update(changes, record, key, rows, detector, select, writing)
                                    } else if isStored {
                                        try update(record, key, rows, detector, select, writing)
                                    } else {
                                        try insert(record, key, rows, known.table, writing)
                                    }
                                } catch {
                                    if let failure = refusals?.failure { throw failure }
                                    throw failure(error, of: record, writing, session, known)
                                }
                            }
                            stored += 1
                        }
                        select.reset()
                    }
                } catch {
                    // A row that was held back comes before the row or the closure that has failed.
                    if let refused = writing.refused() { throw refused }
                    throw error
                }
                if isAlone, refusals?.isEmpty != false { session.connection.lastWriteFollows() }
                try writing.send()
                writing.finish()
                try refusals?.end()
            } catch let refused as SQLRefusedRow {
                // Rows that were held back have been sent, here or because another statement had to run.
                throw writing.record(refusedBy: refused).map { failure(refused, $0, session, known) } ?? refused.underlying
            }
            return stored
        }
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        let resolved = try schema.resolved(query)
        if resolved.isEmpty { return try writing(.statement, usesTable: false) { _, _ in 0 } }
        return try writing(.any) { session, known in
            try merge(keys: keys(of: resolved, session, known), storesAgain: false) { _, record in
                guard var changed = record else { return }
                try body(&changed)
                record = changed
            }
        }
    }

    /// Returns the error for a row that was refused: the one that was added last, unless several were sent. It is apart, so that
    /// rows that are stored do not look up the type of an optional record.
    @inline(never) private func failure(
        _ error: any Error, of record: UnsafePointer<Record>, _ writing: MergedRows<Record>, _ session: SQLSession,
        _ known: KnownTable
    ) -> any Error {
        failure(error, writing.record(refusedBy: error) ?? record.pointee, session, known)
    }

    /// Inserts a merged row.
    private func insert(
        _ record: UnsafePointer<Record>, _ key: Key, _ rows: RowStatements, _ table: SQLTable,
        _ writing: MergedRows<Record>
    ) throws {
        try schema.checkKey(of: record.pointee, is: key)
        try check(record.pointee)
        try checkOrder([record.pointee])
        let batch = try rows.insert()
        try writing.switch(to: batch, changing: nil)
        batch.begin()
        try schema.encode(at: record, to: batch)
        try table.writeRetiredDefaults(to: batch)
        try batch.add()
        writing.didAdd(record)
    }

    /// Returns the fields of a record that differ from the row that a statement is positioned on, with which it was read.
    @inline(never) private func changes(in record: Record, _ key: Key, _ detector: ChangeDetector) throws -> FieldSet {
        detector.begin(nil)
        try withUnsafePointer(to: record) { try schema.encode(at: $0, to: detector) }
        if detector.changes.contains(entity.keyIndex) { try schema.checkKey(of: record, is: key) }
        return detector.changes
    }

    /// Stores those of some fields of a merged row that differ from the row that a statement is positioned on. The others follow
    /// what is stored (contract W9).
    @inline(never) private func update(
        _ fields: FieldSet, _ record: UnsafePointer<Record>, _ key: Key, _ rows: RowStatements, _ detector: ChangeDetector,
        _ select: SQLStatement, _ writing: MergedRows<Record>
    ) throws {
        detector.begin(nil)
        try schema.encode(at: record, to: detector)
        let changes = detector.changes.intersection(fields)
        if changes.isEmpty { return }
        select.reset()
        try write(changes, of: record, key, rows, writing)
        writing.didAdd(record)
    }

    /// Stores the columns of a merged row that differ from the row that a statement is positioned on.
    private func update(
        _ record: UnsafePointer<Record>, _ key: Key, _ rows: RowStatements, _ detector: ChangeDetector, _ select: SQLStatement,
        _ writing: MergedRows<Record>
    ) throws {
        // Counted as a reference once, not at each use.
        let lastUpdate = rows.lastUpdate
        defer { withExtendedLifetime(lastUpdate) {} }
        let guess = lastUpdate.map(Unmanaged.passUnretained)
        detector.begin(guess)
        try schema.encode(at: record, to: detector)
        if detector.changes.isEmpty { return }
        if detector.changes.contains(entity.keyIndex) { try schema.checkKey(of: record.pointee, is: key) }
        // The row is no longer needed. Writing it is cheaper when no statement is positioned on it.
        select.reset()
        let isDone = try guess?._withUnsafeGuaranteedRef { guess in
            guard detector.needs(guess) else { return false }
            try writing.switch(to: guess.batch, changing: guess.fields)
            try guess.batch.add(changing: key)
            return true
        }
        if isDone != true { try write(detector.changes, of: record, key, rows, writing) }
        writing.didAdd(record)
    }

    /// Adds a row to the update of some fields.
    private func write(
        _ fields: FieldSet, of record: UnsafePointer<Record>, _ key: Key, _ rows: RowStatements,
        _ writing: MergedRows<Record>
    ) throws {
        let batch = try rows.update(fields).batch
        try writing.switch(to: batch, changing: fields)
        batch.begin()
        try schema.encode(at: record, to: batch)
        try batch.add(changing: key)
    }
}

/// The batch that a merge last added rows to. It is sent before another batch gets rows, so that rows are
/// written in their order.
private final class MergedRows<Record: Model> {
    // No variable is accessed during another access, so that a row does not pay for the check of that.
    @exclusivity(unchecked) private var batch: SQLRowBatch?
    /// The fields that the rows of the batch change; nil for new rows.
    @exclusivity(unchecked) private var fields: FieldSet?
    /// The rows that the batch holds back.
    @exclusivity(unchecked) private var held: [Record] = []
    /// Whether there are any. To ask the array takes longer, because that looks up its type.
    @exclusivity(unchecked) private var holdsRows = false
    /// The row that is being added.
    @exclusivity(unchecked) var row: UnsafePointer<Record>?
    /// The rows that wait for the end of the call; nil where the first refused row is an error.
    private let refusals: RefusedRows<Record>?
    /// Is told of refused rows of the batch by the call around this one.
    @exclusivity(unchecked) private var outer: ((SQLRefusedRow) throws -> Void)?

    init(_ refusals: RefusedRows<Record>?) { self.refusals = refusals }

    /// Switches to the batch that gets the next row.
    ///
    /// - Parameters:
    ///   - next: The batch.
    ///   - fields: The fields that its rows change; nil for new rows.
    @inline(__always) func `switch`(to next: SQLRowBatch, changing fields: FieldSet?) throws {
        if next !== batch {
            try send()
            finish()
            try begin(next, changing: fields)
        }
        // The batch was sent because another statement had to run.
        if holdsRows, !next.isHolding { forget() }
    }

    private func begin(_ next: SQLRowBatch, changing fields: FieldSet?) throws {
        // A call around this one can have left rows in it.
        if next.isHolding { try next.send() }
        batch = next
        self.fields = fields
        outer = next.onRefusal
        next.onRefusal = report
    }

    private lazy var report: ((SQLRefusedRow) throws -> Void)? =
        refusals == nil ? nil : { [unowned self] in try wait($0) }

    /// Lets a refused row wait for the end of the call.
    private func wait(_ refused: SQLRefusedRow) throws {
        if let record = record(refusedBy: refused) {
            try refusals?.wait(record, fields: fields, refused)
        } else if let row {
            try refusals?.wait(row.pointee, fields: fields, refused)
        } else {
            throw refused.underlying
        }
    }

    /// Gives the batch back to the call around this one.
    func finish() {
        batch?.onRefusal = outer
        (batch, outer) = (nil, nil)
    }

    /// Keeps a row that was added, when the batch holds it back.
    @inline(__always) func didAdd(_ record: UnsafePointer<Record>) {
        guard batch?.isHolding == true else { return }
        held.append(record.pointee)
        holdsRows = true
    }

    private func forget() {
        held = []
        holdsRows = false
    }

    /// Writes the rows that are held back.
    func send() throws {
        try batch?.send()
        if holdsRows { forget() }
    }

    /// Writes the rows that are held back, and returns the error of one that is refused.
    func refused() -> (any Error)? {
        do { try batch?.send() } catch { return refusals?.failure ?? error as? SQLRefusedRow }
        return nil
    }

    /// Returns the row that was refused when several rows were sent; nil for the row that was added last.
    func record(refusedBy error: any Error) -> Record? {
        guard let number = (error as? SQLRefusedRow)?.number, held.indices.contains(number) else { return nil }
        return held[number]
    }
}
