import DAOCore

extension KeyValueEntityStore {
    /// Calls a closure with the keys and values of a keyspace, in order. It must not write.
    func forEachEntry(
        of keyspace: Keyspace, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let cursor = try handle.transaction.cursor()
        var isThere = try keyspace.prefix.withUnsafeBytes(cursor.seek)
        while isThere, keyspace.isPrefix(of: cursor.key) {
            try body(cursor.key, cursor.value)
            isThere = try cursor.next()
        }
    }

    func verifyStructure(_ report: (StorageError) throws -> Void) throws { try database.engine.store.verify() }

    func missing(_ keys: [Key], from entity: String) throws -> [Key] {
        let table = try stored(entity).table
        return try keys.filter { key in
            try KeyBuilder.with { builder in
                try builder.appendRow(key, of: table)
                return try handle.transaction.get(builder.bytes) == nil
            }
        }
    }

    func verify(_ entity: String, onRow: () throws -> Void, _ report: (StorageError) throws -> Void) throws {
        let table = try stored(entity).table
        let reader = RecordReader(table: table, verifies: true) { throw table.lacksDefault }
        let conditions = IndexConditions(table)
        /// How many rows each index has.
        var counts = Array(repeating: 0, count: table.indexes.count)
        try forEachEntry(of: table.keyspace) { key, record in
            do {
                try reader.show(record, key: key.from(table.keyspace.length))
                guard reader.currentKey != nil else { throw table.corruptedRecord(reader.key) }
                for field in table.description.fields.indices {
                    do {
                        _ = try reader.readValue(at: field)
                    } catch let error as StorageError where error.isDamage {
                        try report(error)
                    }
                }
                for index in table.indexes {
                    guard let isIn = try has(index, record, reader.key, conditions), isIn else { continue }
                    let (count, isComplete) = try findEntries(of: reader, index)
                    counts[index.number] += count
                    if !isComplete { try report(table.mismatch(index, "lacks an entry for a row", reader.key)) }
                }
            } catch let error as StorageError where error.isDamage {
                try report(error)
            }
            try onRow()
        }
        for index in table.indexes { try verify(index, table, conditions, counts[index.number], report) }
    }

    /// Whether an index has a row; nil when a value cannot be read, which is reported.
    private func has(
        _ index: Table.Index, _ record: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ conditions: IndexConditions
    ) throws -> Bool? {
        do {
            return try conditions.meets(index, record, key)
        } catch let error as StorageError where error.isDamage {
            return nil
        }
    }

    /// The number of entries that a row has in an index, and whether they are there. A row whose values cannot be indexed
    /// has none; its values are reported.
    private func findEntries(of reader: RecordReader, _ index: Table.Index) throws -> (count: Int, isComplete: Bool) {
        let entries: Set<[UInt8]>
        do {
            entries = try reader.table.entries(of: index, reader.view, reader.key)
        } catch let error as StorageError where error.isDamage {
            return (0, true)
        }
        let isComplete = try entries.allSatisfy { entry in
            try entry.withUnsafeBytes { entry in
                try handle.transaction.get(entry).map { EntryFormat.isValue($0, of: entry) } ?? false
            }
        }
        return (entries.count, isComplete)
    }

    /// Checks that an index has no entries but those of the rows.
    ///
    /// - Parameters:
    ///   - conditions: The conditions of the table's indexes.
    ///   - expected: The number of entries of the rows that can be read. With as many entries, there are no others, since
    ///     every such row has its entries or was reported.
    private func verify(
        _ index: Table.Index, _ table: Table, _ conditions: IndexConditions, _ expected: Int,
        _ report: (StorageError) throws -> Void
    ) throws {
        var count = 0
        try forEachEntry(of: index.keyspace) { _, _ in count += 1 }
        if count == expected { return }
        try forEachEntry(of: index.keyspace) { entry, _ in
            guard let offset = index.keyOffset(in: entry) else { return try report(table.corruptedIndex(index)) }
            let primaryKey = entry.from(offset)
            let isOfRow = try KeyBuilder.with { builder in
                builder.append(table.keyspace)
                builder.append(raw: primaryKey)
                guard let stored = try handle.transaction.get(builder.bytes) else { return false }
                // A row that cannot be read was reported.
                guard let record = RecordView(stored, key: primaryKey, verifies: true) else { return true }
                if try has(index, stored, primaryKey, conditions) == false { return false }
                do {
                    return try table.entries(of: index, record, primaryKey).contains(Array(entry))
                } catch let error as StorageError where error.isDamage {
                    return true
                }
            }
            if !isOfRow { try report(table.mismatch(index, "has an entry that no row has", primaryKey)) }
        }
    }
}

extension Table {
    /// The error for an index that differs from the rows.
    fileprivate func mismatch(_ index: Index, _ what: String, _ key: UnsafeRawBufferPointer) -> StorageError {
        .corrupted(
            path, "the index on '\(description(of: index))' of '\(description.name)' \(what)", entity: description.name,
            key: KeyParser.key(key, form: keyForm).map { UniqueID($0) }, field: description(of: index).fieldNames)
    }
}

extension KeyValueLinks {
    func verify(_ report: (StorageError) throws -> Void) throws {
        try database.read { handle in
            guard let table = try database.engine.links(of: relation, in: handle) else { return }
            let store = KeyValueEntityStore(database, handle) { _ in }
            var count = 0
            try store.forEachEntry(of: table.keyspace) { link, value in
                count += 1
                var parent: Key?
                do {
                    guard let bytes = table.parent(in: link), link.count == table.listLength(bytes) + LinkTable.positionLength
                    else { throw table.corrupted }
                    parent = try key(bytes.bytes, table.parentForm, table)
                    let list = UnsafeRawBufferPointer(rebasing: link[table.keyspace.length..<table.listLength(bytes)])
                    let position = UInt64(
                        bigEndian: link.loadUnaligned(fromByteOffset: table.listLength(bytes), as: UInt64.self))
                    let child = try table.child(in: value, list: XXH64.hash(list), position: position)
                    try KeyBuilder.with { inverse in
                        table.append(inverseEntryOf: child, to: bytes, position: position, to: &inverse)
                        if try handle.transaction.get(inverse.bytes) == nil { throw table.corrupted }
                    }
                } catch let error as StorageError where error.isDamage {
                    try report(named(error, parent))
                }
            }
            var inverseCount = 0
            try store.forEachEntry(of: table.backKeyspace) { _, _ in inverseCount += 1 }
            if inverseCount > count { try report(named(table.corrupted, nil)) }
        }
    }

    private func named(_ error: StorageError, _ parent: Key?) -> StorageError {
        var error = error
        (error.entity, error.field, error.key) = (relation.entity, relation.field, parent.map { UniqueID($0) })
        return error
    }
}
