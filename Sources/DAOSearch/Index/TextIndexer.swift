import DAOCore

/// Keeps the indexes for searches of all databases of the program.
public enum TextIndexer {
    /// Lets the program write rows that are in an index for searches.
    ///
    /// A model with a searchable field does so itself. Call it in a program that writes such rows only without types, before its first
    /// write.
    public static func register() { isRegistered }

    private static let isRegistered: Void = TextIndexes.register(Indexing())
}

struct Indexing: TextIndexing {
    func index(_ index: TextIndex, in database: any Database) throws -> (any StoredTextIndex)? {
        if !(database is any LogAwareDatabase) {
            // A database of another kind has indexes only where it has those of one of ours.
            guard database.capabilities.hasEvolution,
                try database.entities().contains(where: { $0.name == EntityDescription.searchEntities[0] })
            else { return nil }
        }
        return StoredIndex(index: index, rows: try IndexRows(database))
    }

    func verify(
        _ entity: EntityDescription, in store: any EntityStore, _ isCancelled: @escaping () -> Bool,
        _ report: (StorageError) -> Void
    ) throws {
        do {
            try IndexCheck(entity, store, isCancelled)?.run(report)
        } catch is DamagedPostings {
            throw IndexRows.damaged
        }
    }
}

/// An index in a database.
struct StoredIndex: StoredTextIndex {
    let index: TextIndex
    let rows: IndexRows

    /// The number of the index; nil where it was not made yet.
    func number() throws -> Int64? { try rows.indexes.read(key: .uuid(index.id))?.number }

    func isMade() throws -> Bool { try number() != nil && !rows.areForeign() }

    func writer(making read: (_ after: Key?, _ limit: Int) throws -> [IndexedTexts]) throws -> (any TextIndexWriting)? {
        if let number = try number() { return IndexWriter(rows, index: number, fields: index.fields.count) }
        // Beside other writers, an opening makes it, which is asked again when they are in its way.
        return try rows.indexes.database.takeTextNumbers(1) == nil ? make(read) : nil
    }

    /// Makes the index, whatever there was before.
    func make(_ read: (_ after: Key?, _ limit: Int) throws -> [IndexedTexts]) throws -> any TextIndexWriting {
        if try rows.areForeign() {
            // New rows would have numbers of others.
            _ = try rows.indexes.erase(Query())
        }
        _ = try rows.indexes.erase(keys: [.uuid(index.id)])
        // What is left of indexes that are no more.
        let known = Set(try rows.indexes.read(Query()).map(\.number))
        for number in Set(try rows.segments.read(Query()).map(\.index)).subtracting(known) { try rows.erase(number) }
        let number = (known.max() ?? 0) + 1
        try rows.erase(number)
        let writer = IndexWriter(rows, index: number, fields: index.fields.count)
        var last: Key?
        while true {
            let batch = try read(last, 1000)
            guard let row = batch.last else { break }
            try writer.apply(erased: [], added: batch)
            last = row.key
        }
        try rows.indexes.insert([IndexRow(id: index.id, number: number)])
        return writer
    }
}

extension IndexRows {
    /// The error for blocks that no writer wrote.
    static var damaged: StorageError {
        StorageError(
            .corrupted, "the index for searches is damaged; make it again with rebuildSearchIndex()",
            entity: EntityDescription.searchEntities[2])
    }
}
