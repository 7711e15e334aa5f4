/// What keeps the indexes for searches of all databases. `DAOSearch` has it, so that programs without searches do not.
package protocol TextIndexing: Sendable {
    /// Returns where an index is stored; nil where the database keeps none, because searches read all rows.
    func index(_ index: TextIndex, in database: any Database) throws -> (any StoredTextIndex)?

    /// Compares an index with the rows.
    func verify(
        _ entity: EntityDescription, in store: any EntityStore, _ isCancelled: @escaping () -> Bool,
        _ report: (StorageError) -> Void) throws
}

/// The place of an index in a database.
package protocol StoredTextIndex: Sendable {
    /// Whether the index was made in this database.
    func isMade() throws -> Bool

    /// Returns what keeps the index, which is made where it was not yet. It runs in a transaction that writes, before the write.
    ///
    /// - Parameter rows: Returns rows in the order of their keys: at most so many behind a key, nil for the first ones.
    /// - Returns: Nil where the index was not made, and a write does not make it.
    func writer(making rows: (_ after: Key?, _ limit: Int) throws -> [IndexedTexts]) throws -> (any TextIndexWriting)?

    /// Makes the index, whatever there was before.
    @discardableResult func make(_ rows: (_ after: Key?, _ limit: Int) throws -> [IndexedTexts]) throws -> any TextIndexWriting
}

/// What keeps an index.
package protocol TextIndexWriting: Sendable {
    /// Takes rows away and adds others, in the transaction that writes them. A row that changes is taken away and added.
    func apply(erased: [Key], added: [IndexedTexts]) throws
}

/// The texts of a row.
package struct IndexedTexts {
    package let key: Key
    /// Those of each field, in the order of the index.
    package let texts: [[String]]

    package init(key: Key, texts: [[String]]) { (self.key, self.texts) = (key, texts) }

    /// Whether another row has the same texts, byte by byte.
    func hasSameTexts(as other: IndexedTexts) -> Bool {
        texts.elementsEqual(other.texts) { $0.elementsEqual($1) { $0.hasSameBytes(as: $1) } }
    }
}

/// The merges of an index in this process.
package struct TextMerges {
    /// How many segments were added since the last one.
    package var added = 0
    /// Whether one is running.
    package var isRunning = false
    /// Whether the last one has failed.
    package var hasFailed: Bool

    package init(hasFailed: Bool = false) { self.hasFailed = hasFailed }
}

/// The program's ``TextIndexing``.
package enum TextIndexes {
    private static let known = Lock<(any TextIndexing)?>(nil)

    /// What keeps the indexes; nil in a program that never asked for it.
    package static var shared: (any TextIndexing)? { known.withLock { $0 } }

    /// Says what keeps indexes.
    package static func register(_ indexing: some TextIndexing) { known.withLock { $0 = indexing } }

    /// Forgets what is in the indexes of entities, whose rows were written past them. The next opening or write makes them anew.
    static func forget(_ entities: [EntityDescription], in store: any EntityStore, of database: any Database) throws {
        let ids = entities.compactMap(\.textIndex?.id)
        let name = EntityDescription.searchEntities[0]
        if try !ids.isEmpty && store.entity(named: name) != nil { try store.erase(ids.map(Key.uuid), from: name) }
        database.engineState.relations.willPrepareAgain()
    }

    /// Returns what keeps an index.
    ///
    /// - Throws: `.unsupported` in a program that has no searches.
    static func needed(for entity: String) throws -> any TextIndexing {
        if let shared { return shared }
        throw StorageError(
            .unsupported,
            "the rows of '\(entity)' are in an index for searches, which the product DAOSearch keeps; import it, and call "
                + "TextIndexer.register() before the first write", entity: entity)
    }
}

extension Database {
    /// Takes numbers for rows of indexes that no other transaction has, where transactions run side by side: they begin with the number of the
    /// transaction, as positions of the log do.
    ///
    /// - Returns: The first of them; nil where transactions run one after another.
    /// - Throws: `.unsupported` when the transaction has no more numbers.
    package func takeTextNumbers(_ count: Int) throws -> Int64? {
        let running = AmbientTransaction.usable(of: engineState)?.outermost(of: engineState)
        var next = running?.nextTextNumber
        if next == nil {
            guard let number = try (self as? any LogAwareDatabase)?.logNumber() else { return nil }
            next = LoggedTransaction.firstPosition(number)
        }
        guard let start = next else { return nil }
        let end = try LoggedTransaction.end(of: count, from: start, "indexes for searches")
        running?.nextTextNumber = end
        return start
    }

    /// A number that is greater than all positions of the log and ``takeTextNumbers(_:)`` that the running snapshot sees, unless the database
    /// was restored into a cluster with smaller numbers; nil where transactions have none.
    package func numberBound() throws -> Int64? {
        guard let next = try (self as? any LogAwareDatabase)?.logHorizon()?.next else { return nil }
        let running = AmbientTransaction.usable(of: engineState)?.outermost(of: engineState)
        // The transaction sees its own, which came after its snapshot.
        let own = running?.nextTextNumber ?? running?.logged?.next ?? 0
        return max(LoggedTransaction.firstPosition(next), own)
    }

    /// The index for searches of an entity; nil where there is none.
    package func textIndex(of entity: String) throws -> TextIndex? {
        try engineState.relations.relations(in: self).textIndexes[entity]
    }

    /// Makes the indexes for searches that are not there yet. What cannot be made now, the next opening of a model makes.
    func makeTextIndexes() {
        guard TextIndexes.shared != nil, let all = try? AllUntypedRows(self) else { return }
        for entity in all.models.entities where entity.textIndex?.isCurrent == true {
            try? all.rows(of: entity.name)?.makeIndex()
        }
    }

    /// Makes an index for searches again.
    package func rebuild<Record: Model>(_ index: TextIndex, of storage: any Storage<Record>) throws {
        let reader = TextReader<Record>(index)
        guard let stored = try TextIndexes.needed(for: Record.schema.description.name).index(index, in: self) else { return }
        _ = try runTransaction { try stored.make { try reader.rows(storage, after: $0, limit: $1) } }
    }
}

/// Reads the texts of records that are in an index.
struct TextReader<Record: Model>: Sendable {
    private let index: TextIndex
    /// The positions of the fields in the model; nil when it does not have them all.
    private let positions: [Int]?
    private var schema: Schema<Record> { Record.schema }

    init(_ index: TextIndex) {
        self.index = index
        let positions = index.fields.compactMap { Record.schema.description.index(of: $0) }
        self.positions = positions.count == index.fields.count ? positions : nil
    }

    /// Whether some fields are in the index.
    func reads(_ fields: some Sequence<Int>) -> Bool { positions.map { fields.contains(where: $0.contains) } ?? true }

    /// Returns the texts of records.
    func texts(of records: [Record], in database: any Database) throws -> [IndexedTexts] {
        guard let positions else {
            // The model is a part of its entity, or of an earlier build.
            return try stored(records.map { schema.key(of: $0) }, in: database)
        }
        return try records.map { record in
            let values = try schema.storedValues(of: record)
            return IndexedTexts(
                key: schema.key(of: record), texts: positions.map { values[$0].searchedTexts(schema.description.fields[$0]) })
        }
    }

    /// Returns the texts of rows, as they are stored.
    private func stored(_ keys: [Key], in database: any Database) throws -> [IndexedTexts] {
        guard let rows = try AllUntypedRows(database).rows(of: schema.description.name) else { return [] }
        let positions = index.fields.compactMap { rows.entity.index(of: $0) }
        let values = try rows.read(keys)
        return keys.compactMap { key in
            values[key].map { values in
                IndexedTexts(key: key, texts: positions.map { values[$0].searchedTexts(rows.entity.fields[$0]) })
            }
        }
    }

    /// Returns rows in the order of their keys.
    func rows(_ storage: any Storage<Record>, after key: Key?, limit: Int) throws -> [IndexedTexts] {
        let condition = key.map { Condition<Record>(.compare(field: schema.description.keyIndex, .greater, $0.value)) } ?? .all
        return try texts(of: storage.read(Query(where: condition, limit: limit)), in: storage.database)
    }
}

/// The records of a model whose texts are in an index.
struct IndexedRecords<Record: Model>: Sendable {
    let reader: TextReader<Record>
    let writer: any TextIndexWriting

    /// Adds records that were stored.
    func add(_ records: [Record], in database: any Database) throws {
        try writer.apply(erased: [], added: reader.texts(of: records, in: database))
    }

    /// Changes the texts of records that were stored, new ones among them. Those that are as they were stay.
    func change(_ before: [Key: IndexedTexts], to records: [Record], in database: any Database) throws {
        let changed = try reader.texts(of: records, in: database).filter { row in
            before[row.key].map { !$0.hasSameTexts(as: row) } ?? true
        }
        if !changed.isEmpty { try writer.apply(erased: changed.map(\.key).filter { before[$0] != nil }, added: changed) }
    }
}

extension Value {
    /// The texts of a field that a search reads: a text, the elements of an array of texts, or none.
    package func searchedTexts(_ field: FieldDescription) -> [String] {
        guard case .string(let text) = self else { return [] }
        if field.type.kind != .embedded { return [text] }
        // What is no such array, a read reports.
        return (EmbeddedPart.elements(of: text, .string) ?? []).compactMap {
            if case .string(let text) = $0 { text } else { nil }
        }
    }
}
