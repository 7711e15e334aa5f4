import DAOCore

extension SQLStorage {
    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        if keys.isEmpty { return try writing(.statement) { _ in 0 } }
        return try writing(.any) { session in
            let rows = try session.rows(number, table)
            let (select, row) = try rows.takeSelect()
            defer { select.giveBack() }
            if keys.count > 1 { try select.prefetch(keys) }
            let detector = rows.detector(select, row)
            var writing = MergedRows()
            var stored = 0
            for (index, key) in keys.enumerated() {
                try select.bind(key)
                let isStored = try row.advance()
                var record: Record?
                if isStored { record = try schema.decode(row) }
                try body(index, &record)
                if let record {
                    try withUnsafePointer(to: record) { record in
                        do {
                            if isStored {
                                try update(record, key, rows, detector, select, &writing)
                            } else {
                                try insert(record, key, rows, &writing)
                            }
                        } catch {
                            throw failure(error, record.pointee, session)
                        }
                    }
                    stored += 1
                }
                select.reset()
            }
            try writing.batch?.send()
            return stored
        }
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        let resolved = try query.resolved()
        if resolved.isEmpty { return try writing(.statement) { _ in 0 } }
        return try writing(.any) { session in
            try merge(keys: try keys(resolved, session)) { _, record in
                guard var changed = record else { return }
                try body(&changed)
                record = changed
            }
        }
    }

    /// Stores a merged row that was not there.
    private func insert(_ record: UnsafePointer<Record>, _ key: Key, _ rows: RowStatements, _ writing: inout MergedRows) throws {
        try schema.checkKey(of: record.pointee, is: key)
        try check(record.pointee)
        try checkOrder([record.pointee])
        let batch = try writing.next(try rows.insert())
        batch.begin()
        try schema.encode(at: record, to: batch)
        try batch.add()
    }

    /// Stores the columns of a merged row that differ from the row that a statement stands on.
    private func update(
        _ record: UnsafePointer<Record>, _ key: Key, _ rows: RowStatements, _ detector: ChangeDetector, _ select: SQLStatement,
        _ writing: inout MergedRows
    ) throws {
        let guess = rows.lastUpdate
        detector.begin(guess)
        try schema.encode(at: record, to: detector)
        if detector.changes.isEmpty { return }
        if detector.changes.contains(entity.keyIndex) { try schema.checkKey(of: record.pointee, is: key) }
        // The row is not needed any more, and a statement that does not stand on it makes writing it cheaper.
        select.reset()
        let update = try rows.update(detector.changes)
        let batch = try writing.next(update.batch)
        if update !== guess {
            batch.begin()
            try schema.encode(at: record, to: batch)
        }
        try batch.add(changing: key)
    }
}

/// The batch that a merge has added rows to last: it is sent before another one gets any, so that rows are written in their order.
private struct MergedRows {
    private(set) var batch: SQLRowBatch?

    /// Goes over to a batch.
    @inline(__always) mutating func next(_ next: SQLRowBatch) throws -> SQLRowBatch {
        if next !== batch {
            try batch?.send()
            batch = next
        }
        return next
    }
}
