import DAOCore

/// The rows of one call of a storage that the engine refuses because of a unique value. They wait for the end of the call
/// (contract W6).
final class RefusedRows<Record: Model> {
    private let storage: SQLStorage<Record>
    private let session: SQLSession
    private let known: KnownTable
    private let mayReplace: Bool
    /// The rows that wait for the end of the larger call that this one is a part of.
    private let larger: WaitingRows?
    private var waiting: WaitingRows?
    /// The last place of each key among the rows of the call; nil until it is needed.
    private var lastPlaces: [Key: Int]?
    /// The first new row whose key is given before it, where the engine cannot know that because the row before it waits.
    private var repeated: (place: Int, error: StorageError)?
    /// An error with which the call can end, because the first row that waits does so in vain; nil when it is not known that it does.
    private var outcome: StorageError?
    /// The error of a row that cannot wait, which a batch may throw later.
    private(set) var failure: (any Error)?

    /// - Parameters:
    ///   - storage: The storage.
    ///   - session: The session of the call.
    ///   - known: The table.
    ///   - count: The number of rows of the call.
    ///   - mayReplace: Whether a row replaces the stored one with its key.
    /// - Returns: Nil where no row needs to wait: nothing is unique, or there is no other row that could free the value.
    init?(_ storage: SQLStorage<Record>, _ session: SQLSession, _ known: KnownTable, rows count: Int, mayReplace: Bool) {
        guard known.hasUniqueIndexes else { return nil }
        larger = storage.database.waitingRows
        if count == 1, larger == nil { return nil }
        (self.storage, self.session, self.known, self.mayReplace) = (storage, session, known, mayReplace)
        waiting = larger
    }

    private var entity: String { storage.entity.name }

    /// Whether no row waits.
    var isEmpty: Bool { outcome == nil && waiting?.isEmpty ?? true }

    /// The row with a key as it waits; nil when it does not.
    func record(_ key: Key) -> Record? { (waiting?[entity, key] as? SQLWaitingRow<Record>)?.record }

    /// Forgets a row, because it is written again.
    func remove(_ key: Key) { waiting?.remove(entity, key) }

    /// Begins a call that stores rows one after another. Rows that are given again no longer wait.
    func begin(_ records: [Record]) {
        guard let waiting, !waiting.isEmpty else { return }
        let keys = records.lazy.map { [schema = storage.schema] in schema.key(of: $0) }
        if mayReplace {
            for key in keys { waiting.remove(entity, key) }
        } else if let place = keys.firstIndex(where: { waiting[entity, $0] != nil }) {
            repeated = (place, .duplicateKey(storage.entity, UniqueID(keys[place])))
        }
    }

    /// Lets one of the rows of a call wait.
    func wait(_ records: [Record], _ place: Int, _ refused: SQLRefusedRow) throws {
        try noting {
            guard records.indices.contains(place) else { throw refused.underlying }
            let last = try lastPlaces(among: records, refused)
            if let earlier = error(before: place + 1) { throw earlier }
            let isLast = last[storage.schema.key(of: records[place])] == place
            // A later row with the key counts.
            if mayReplace, !isLast { return }
            let isFirst = isEmpty && larger == nil
            try add(records[place], fields: nil, refused)
            if isFirst, isLast { outcome = certainFailure(of: records[place], refused, last) }
        }
    }

    /// Returns the last place of each key, and notes the first row whose key is given before it.
    private func lastPlaces(among records: [Record], _ refused: SQLRefusedRow) throws -> [Key: Int] {
        if let lastPlaces { return lastPlaces }
        var places: [Key: Int] = [:]
        places.reserveCapacity(records.count)
        for (place, record) in records.enumerated() {
            let key = storage.schema.key(of: record)
            let isRepeated = places.updateValue(place, forKey: key) != nil
            if isRepeated, !mayReplace, repeated.map({ place < $0.place }) ?? true {
                repeated = (place, storage.duplicateKey(key, refused.underlying))
            }
        }
        lastPlaces = places
        return places
    }

    /// The error of a row before a place that the engine has not refused, because the row with its key waits; nil when there is none.
    func error(before place: Int) -> StorageError? { repeated.flatMap { $0.place < place ? $0.error : nil } }

    /// Returns the error of a refused row when the row that has its value is not among those of the call; nil when it is, or when
    /// it is not known.
    private func certainFailure(of record: Record, _ refused: SQLRefusedRow, _ places: [Key: Int]) -> StorageError? {
        let error = storage.failure(refused, record, session, known, mayReplace: mayReplace) as? StorageError
        guard let error, let other = error.conflictingKey else { return nil }
        let key = try? other.key(as: storage.entity.keyKind, entity: entity)
        return key.flatMap { places[$0] == nil ? error : nil }
    }

    /// Lets a changed row wait.
    ///
    /// - Parameter fields: The fields that are changed; nil for a new row.
    func wait(_ record: Record, fields: FieldSet?, _ refused: SQLRefusedRow) throws {
        try noting { try add(record, fields: fields, refused) }
    }

    /// Stores the rows that wait, unless a larger call does.
    func end() throws {
        if let repeated { throw repeated.error }
        // The row that waits in vain may collide in other fields, too, with rows that followed.
        if larger == nil { try waiting?.end() }
        if let outcome { throw outcome }
    }

    private func noting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            failure = error
            throw error
        }
    }

    private func add(_ record: Record, fields: FieldSet?, _ refused: SQLRefusedRow) throws {
        guard case .values = refused.reason else {
            throw storage.failure(refused, record, session, known, mayReplace: mayReplace)
        }
        let key = storage.schema.key(of: record)
        let isStored = try storage.isStored(key, session, known)
        if !mayReplace, isStored || waiting?[entity, key] != nil { throw storage.duplicateKey(key, refused.underlying) }
        // New rows are not worth keeping. A stored one gives up the values by which another row could be named.
        if outcome != nil, !isStored { return }
        let original = isStored ? try? storage.row(key, session, known) : nil
        var record = record
        if let fields, let original { try storage.schema.take(original, in: &record, except: fields.contains) }
        let waiting = waiting ?? WaitingRows()
        self.waiting = waiting
        waiting.add(
            SQLWaitingRow(
                key, record, over: original, wasStored: isStored, mayReplace: mayReplace, storage, session, known))
    }
}

/// A row that waits for the end of its call.
private final class SQLWaitingRow<Record: Model>: WaitingRow {
    let key: Key
    private(set) var record: Record
    /// The row that it replaces, when it had to wait; nil when that could not be read.
    private let original: Record?
    private let wasStored: Bool
    private let mayReplace: Bool
    private let storage: SQLStorage<Record>
    private let session: SQLSession
    private let known: KnownTable
    private var isStored = false

    init(
        _ key: Key, _ record: Record, over original: Record?, wasStored: Bool, mayReplace: Bool, _ storage: SQLStorage<Record>,
        _ session: SQLSession, _ known: KnownTable
    ) {
        (self.key, self.record, self.original, self.wasStored) = (key, record, original, wasStored)
        (self.mayReplace, self.storage, self.session, self.known) = (mayReplace, storage, session, known)
    }

    var entity: String { storage.entity.name }

    func release() throws {
        isStored = try storage.isStored(key, session, known)
        guard isStored else { return }
        if var original, let now = try? storage.row(key, session, known), try !storage.schema.isSame(original, now) {
            // Code that ran since has written the row.
            try storage.schema.catchUp(&record, with: now, since: &original)
        }
        try storage.park(key, session, known)
    }

    func store() throws {
        // Code that ran since has erased the row.
        if wasStored, !isStored { return }
        let rows = try session.rows(known.number, known.table)
        let fields = isStored && mayReplace ? storage.writtenFields(of: known.table) : nil
        do {
            let batch = try fields.map { try rows.update(FieldSet($0)).batch } ?? rows.insert()
            try batch.reporting(to: nil) {
                defer { batch.finish() }
                batch.begin()
                try withUnsafePointer(to: record) { try storage.schema.encode(at: $0, to: batch) }
                if fields == nil {
                    try known.table.writeRetiredDefaults(to: batch)
                    try batch.add()
                } else {
                    try batch.add(changing: key)
                }
                try batch.send()
            }
        } catch {
            throw storage.failure(error, record, session, known, mayReplace: mayReplace)
        }
    }
}

extension SQLStorage {
    /// How often a row is put on another value, since each can be one that a row has.
    private static var attempts: Int { 8 }

    /// Returns the row with a key; nil when there is none.
    func row(_ key: Key, _ session: SQLSession, _ known: KnownTable) throws -> Record? {
        let (select, reader) = try session.rows(known.number, known.table).takeSelect()
        defer { select.giveBack() }
        try select.bind(key)
        var record: Record?
        if try reader.advance() { try schema.decode(reader, to: &record) }
        return record
    }

    /// The positions of the columns that a write of a stored row changes, ascending.
    func writtenFields(of table: SQLTable) -> [Int] {
        schema.description.fields.indices.filter {
            $0 != table.entity.keyIndex && !table.entity.fields[$0].type.kind.isRelationship
        }
    }

    /// Lets a stored row give up its unique values: its columns become null, or get values that no row has.
    func park(_ key: Key, _ session: SQLSession, _ known: KnownTable) throws {
        let (rows, entity) = (try session.rows(known.number, known.table), known.table.entity)
        let fields = rows.parkedFields(ofDeclared: schema.description.fields.count)
        if fields.isEmpty { return }
        let batch = try rows.update(FieldSet(fields)).batch
        for attempt in 1...Self.attempts {
            do {
                try batch.reporting(to: nil) {
                    defer { batch.finish() }
                    batch.begin()
                    for field in fields {
                        let description = entity.fields[field]
                        if description.type.isOptional {
                            try batch.writeNull(at: field)
                        } else if let value = known.table.dialect.parkedValue(of: description) {
                            try batch.write(parked: value, at: field, of: entity)
                        }
                    }
                    try batch.add(changing: key)
                    try batch.send()
                }
                return
            } catch let refused as SQLRefusedRow {
                if attempt == Self.attempts { throw refused.underlying }
            } catch let error as StorageError where error.kind == .schemaMismatch && error.engineCode != nil {
                // A condition that somebody else has put on the table: the row keeps its values until it is stored.
                return
            }
        }
    }
}

extension SQLRowBatch {
    /// Runs a closure that adds rows, of which refused ones are reported elsewhere than those of the call around it.
    func reporting<Result>(to report: ((SQLRefusedRow) throws -> Void)?, _ body: () throws -> Result) throws -> Result {
        if isHolding { try send() }
        let outer = onRefusal
        onRefusal = report
        defer { onRefusal = outer }
        return try body()
    }

    /// Writes a value that the column takes, if not the field.
    fileprivate func write(parked value: Value, at index: Int, of entity: EntityDescription) throws {
        switch value {
        case .null: try writeNull(at: index)
        case .bool(let flag): try writeInt64(flag ? 1 : 0, at: index)
        case .integer(let number): try writeInt64(number, at: index)
        case .unsigned(let number): try writeUInt64(number, at: index)
        case .double(let number): try writeDouble(number, at: index)
        case .string(let text): try writeString(text, at: index)
        case .data(let data): try writeData(data, at: index)
        case .uuid(let id): try writeUUID(id, at: index)
        case .date, .decimal: try entity.write(value, at: index, to: self)
        }
    }
}
