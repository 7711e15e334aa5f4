import DAOCore
import Foundation

/// The rows that were read last by their keys.
private final class LastRead<Record: Model>: Sendable {
    let rows = Lock<(keys: [Key], rows: [Record], end: ContinuousClock.Instant)?>(nil)
}

/// A working storage with the fault of its database.
///
/// It implements only the five required methods and the methods with a separate fault, so that a fault shows
/// in everything derived from them.
struct FaultyStorage<Record: Model>: Storage {
    let base: any Storage<Record>
    let owner: FaultyDatabase
    private let last = LastRead<Record>()

    init(base: any Storage<Record>, owner: FaultyDatabase) {
        self.base = base
        self.owner = owner
    }

    var database: any Database { owner }
    var fault: Fault { owner.fault }
    var schema: Schema<Record> { Record.schema }
    /// Whether the model is a part of its entity.
    private var isPart: Bool { schema.declaration.whole != schema.declaration.description }

    // MARK: Reading

    func read(_ query: Query<Record>) throws -> [Record] {
        defer { owner.didRead() }
        if fault.isOfReferences { return try base.read(query) }
        // The other thread belongs to no task.
        if fault == .readsRunOn, !owner.isInside { return try elsewhere { try base.read(query) } }
        return try reading { try FaultyQuery(storage: self, query: query).run() }
    }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        var keys = keys.map(stored)
        if fault == .sortsAskedKeys { keys.sort() }
        if fault == .missingKeysThrow, let missing = try keys.first(where: { try !base.contains(key: $0) }), keys.count > 1 {
            throw StorageError(.notFound, "no such row", key: UniqueID(missing))
        }
        if fault == .repeatsKeys {
            return try reading { try keys.flatMap { try base.read(keys: [$0], includesSubentities: true) } }
        }
        if fault == .keysHideOwnWrites, owner.isInside {
            return try elsewhere { try base.read(keys: keys, includesSubentities: includesSubentities) }
        }
        if fault == .readsOldRows, !owner.isInside {
            if let last = last.rows.withLock({ $0 }), last.keys == keys, last.end > .now { return last.rows }
            let rows = try base.read(keys: keys, includesSubentities: includesSubentities)
            last.rows.withLock { $0 = (keys, rows, .now + .milliseconds(5)) }
            return rows
        }
        return try reading {
            do {
                return try base.read(keys: keys, includesSubentities: includesSubentities).map(given)
            } catch let error as StorageError where error.kind == .corruptedValue {
                return try handled(error)
            }
        }
    }

    func keys(_ query: Query<Record>) throws -> [Key] {
        if fault == .keysMissAskedRows, case .isIn(schema.description.keyIndex, _) = query.predicate.node { return [] }
        if fault.isOfReferences { return try base.keys(query) }
        do {
            return try read(query).map { schema.key(of: $0) }
        } catch let error as StorageError where error.kind == .corruptedValue && fault != .keysNeedReadableRows {
            return try reading { try base.keys(query) }
        }
    }

    func count(_ query: Query<Record>) throws -> Int {
        switch fault {
        case .countIgnoresLimit:
            var query = query
            (query.limit, query.offset) = (nil, 0)
            return try read(query).count
        case .countOffByOne:
            let count = try read(query).count
            return count > 3 ? count - 1 : count
        default: return try read(query).count
        }
    }

    func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws {
        let records = try read(query)
        for record in fault == .totalsDropARow ? records.dropLast(records.count > 3 ? 1 : 0) : records[...] {
            guard fault == .totalsCountNil else {
                try body(try schema.reader(of: record))
                continue
            }
            let row = ValueRowWriter(count: schema.description.fields.count)
            try schema.encode(record, to: row)
            for field in fields where row.values[field].isNull {
                let kind = schema.description.fields[field].type.kind
                if kind.isNumeric { row.values[field] = kind == .double || kind == .float ? .double(0) : .integer(0) }
            }
            try body(ValueRowReader(entity: schema.description, values: row.values))
        }
    }

    func groups(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws {
        var query = query
        if fault == .groupsForgetFields, query.fields.count > 1 { query.fields.removeLast() }
        let filters = try query.counts.map { count in
            if case .rowsMeeting(let condition) = count { try Query(where: condition).resolved().filter } else { Filter.all }
        }
        var rows: [[Value]: [Record]] = [:]
        var order: [[Value]] = []
        for record in try read(Query(where: query.condition)) {
            let key = query.fields.map { schema.value(at: $0, of: record) }
            if fault == .groupsLeaveOutNil, key.contains(where: \.isNull) { continue }
            if rows[key] == nil { order.append(key) }
            rows[key, default: []].append(record)
        }
        if fault != .groupsAreUnordered {
            order.sort { left, right in
                zip(left, right).lazy.map { Value.order($0, $1) }.first { $0 != 0 } ?? 0 < 0
            }
        }
        // An index led too far.
        if fault == .distinctSkipsAValue, query.counts.isEmpty, order.count > 2 { order.remove(at: 1) }
        // Before they are in the order of the query.
        if fault == .groupsEndBeforeTheirOrder, let limit = query.limit { order = Array(order.prefix(limit)) }
        for key in order {
            guard let group = rows[key], let first = group.first else { continue }
            let counts = zip(query.counts, filters).map { count, filter in
                switch count {
                case .values(let field):
                    let values = group.map { schema.value(at: field, of: $0) }
                    return Set(fault == .countsNilAsAValue ? values : values.filter { !$0.isNull }).count
                case .rows, .rowsMeeting:
                    if fault == .groupsCountEveryRow { return group.count }
                    return group.count { record in filter.matches { schema.value(at: $0, of: record) } }
                }
            }
            try body(try schema.reader(of: first), counts)
        }
    }

    func explain(_ query: Query<Record>) throws -> QueryPlan {
        var plan = try base.explain(query)
        if fault == .plansNothing { plan.access = .nothing }
        if fault == .plansNameParts, schema.description.indexes.contains(where: { $0.elements != nil }),
            case .or = try query.resolved().filter
        {
            plan.access = .index([".element", ".key"])
        }
        if fault == .plansUnknownIndex { plan.access = .index(["rank", "size"]) }
        return plan
    }

    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        switch fault {
        case .cursorIsLive: LiveCursor(storage: self, query: query)
        case .cursorDropsLastRow: ArrayCursor(try read(query).dropLast())
        default: ArrayCursor(try read(query)) { _ = try read(keys: [], includesSubentities: false) }
        }
    }

    /// Runs a read with the faults that all reads share.
    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        switch fault {
        case .hidesOwnWrites where owner.isInside, .readsLeaveTheOrder where owner.isInside: return try elsewhere(body)
        case .idleLossShows where !owner.isInside:
            try owner.place.noticeLoss()
            return try body()
        case .readersWait:
            owner.place.lock.lock()
            defer { owner.place.lock.unlock() }
            return try body()
        case .readsAfterTheEnd:
            do {
                return try body()
            } catch let error as StorageError where error.kind == .invalidTransaction {
                return try elsewhere(body)
            }
        default: return try body()
        }
    }

    /// Returns or throws the result of an unreadable row under the fault.
    func handled(_ error: StorageError) throws -> [Record] {
        var error = error
        if fault == .skipsUnreadableRows { return [] }
        if fault == .blamesNoRow { error.key = nil }
        throw error
    }

    // MARK: Writing

    func insert(_ records: [Record]) throws {
        let records = try records.map(taken)
        try checkFaultyUnique(records)
        try writing {
            switch fault {
            case .createOverwrites: try base.upsert(records)
            case .createKeepsOld:
                for record in records where try !base.contains(key: schema.key(of: record)) { try base.insert([record]) }
            case .repeatedCreatePasses:
                var seen: Set<Key> = []
                try base.insert(records.filter { seen.insert(schema.key(of: $0)).inserted })
            case .appliesHalf: for record in records { try base.insert([record]) }
            case .dropsLastOfMany: try base.insert(records.count > 20 ? records.dropLast() : records)
            case .batchesLoseTheirRest: try base.insert(records.count == 1001 ? records.dropLast() : records)
            case .logMissesFirstOfMany where isLog: try base.insert(records.count > 1 ? Array(records.dropFirst()) : records)
            case _ where fault.chapter == .changes && isLog: try base.insert(records.compactMap(logged))
            case .indexMissesWrites where schema.description.name == "dao_search_blocks": break
            case .indexMissesErasures where schema.description.name == "dao_search_segments":
                try base.insert(records.map(withoutErasures))
            default: try base.insert(records)
            }
        }
        didWrite()
    }

    func insert(making records: () throws -> [Record]) throws {
        if fault == .appliesHalf || fault == .translatesOutside { return try insert(records()) }
        if fault == .dropsContendedWrites {
            return try uncontended { try owner.transaction { try insert(records()) } } ?? ()
        }
        if fault == .wrapsCallErrors {
            return try wrapped { try owner.transaction { try insert(records()) } }
        }
        try owner.transaction { try insert(records()) }
    }

    func upsert(_ records: [Record]) throws {
        let records = try records.map(taken)
        try checkFaultyUnique(records)
        try writing {
            switch fault {
            case .firstRepeatedWins:
                var seen: Set<Key> = []
                try base.upsert(records.filter { seen.insert(schema.key(of: $0)).inserted })
            case .appliesHalf, .uniqueIsJudgedAtOnce: for record in records { try base.upsert([record]) }
            case .neverWritesNil: for record in records { try base.upsert([filled(record)]) }
            case .dropsLastOfMany: try base.upsert(records.count > 20 ? records.dropLast() : records)
            case .referencesMissUpserts: try upsertWithoutReferences(records)
            case .replacesRetired,
                .partsClearTheRest where isPart:
                _ = try base.erase(keys: records.map { schema.key(of: $0) })
                try base.upsert(records)
            // A part cannot be inserted everywhere, so its rows are changed.
            case _ where isPart: _ = try base.merge(keys: records.map { schema.key(of: $0) }) { $1 = records[$0] }
            default: try base.upsert(records)
            }
        }
        didWrite()
    }

    /// Stores rows, and then sets their to-one relationships to what they were.
    private func upsertWithoutReferences(_ records: [Record]) throws {
        let keys = try records.map { schema.key(of: $0) }.filter { try base.contains(key: $0) }
        let entities = try owner.entities()
        let relations = entities.first { $0.name == schema.description.name }?.relations(among: entities) ?? []
        let links = try relations.filter(\.isToOne).map { try owner.base.makeLinks(for: $0) }
        let former = try links.map { try $0.children(of: keys) }
        try base.upsert(records)
        for (links, former) in zip(links, former) { try links.set(former, of: keys) }
    }

    func upsert(making records: () throws -> [Record]) throws {
        if fault == .appliesHalf || fault == .translatesOutside { return try upsert(records()) }
        try owner.transaction { try upsert(records()) }
    }

    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        if fault == .wrapsCallErrors { return try wrapped { try merging(keys, isStoredAgain: true, body) } }
        if fault == .appliesHalf { return try merging(keys, isStoredAgain: true, body) }
        return try owner.transaction { try merging(keys, isStoredAgain: true, body) }
    }

    private func values(of record: Record) -> [Value] {
        schema.description.fields.indices.map { schema.value(at: $0, of: record) }
    }

    private func merging(
        _ keys: [Key], isStoredAgain: Bool, _ body: (Int, inout Record?) throws -> Void
    ) throws -> Int {
        if fault == .uniqueIsJudgedAtOnce { return try mergingEach(keys, isStoredAgain: isStoredAgain, body) }
        return try base.database.asOneCall { try mergingEach(keys, isStoredAgain: isStoredAgain, body) }
    }

    private func mergingEach(
        _ keys: [Key], isStoredAgain: Bool, _ body: (Int, inout Record?) throws -> Void
    ) throws -> Int {
        var count = 0
        // The rows that wait for the end of the call, as the closure has left them.
        var left: [Key: Record] = [:]
        let ahead = fault == .mergeReadsAhead ? try keys.map(read(key:)) : []
        for (index, key) in keys.enumerated() {
            var record = fault == .mergeReplacesWhole ? nil : fault == .mergeReadsAhead ? ahead[index] : try read(key: key)
            var original = record
            let (before, writes) = (record.map(values), owner.writeCount)
            if let waiting = left.removeValue(forKey: key) { record = waiting }
            try base.database.outsideCall { try body(index, &record) }
            guard var record else { continue }
            if fault == .mergeYieldsToItsClosure, let now = try read(key: key), values(of: now) != before { record = now }
            if fault == .ignoresKeyChanges, schema.key(of: record) != key { continue }
            if fault != .allowsKeyChanges { try schema.checkKey(of: record, is: key) }
            if fault != .mergeReadsAhead, !owner.hasWrittenNothing(since: writes), var read = original.take() {
                if let now = try self.read(key: key) {
                    if fault != .writesBackWhatWasRead { try schema.follow(now, in: &record, readAs: &read) }
                } else if !isStoredAgain, fault != .updateStoresErased {
                    continue
                }
            }
            try upsert([record])
            count += 1
            if let waiting = base.database.waitingRows, waiting[schema.description.name, key] != nil { left[key] = record }
        }
        return count
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        let count = try owner.transaction {
            let keys = try keys(query)
            func change(_ index: Int, _ record: inout Record?) throws {
                guard var changed = record else { return }
                try body(&changed)
                if fault != .updateChangesNothing { record = changed }
            }
            let stored =
                try fault == .wrapsCallErrors
                ? wrapped { try merging(keys, isStoredAgain: false, change) } : merging(keys, isStoredAgain: false, change)
            return fault == .updateCountsErased ? keys.count : stored
        }
        return fault == .updateCountsOne ? min(count, 1) : count
    }

    func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int? {
        guard fault == .setsEveryRow || fault == .nilCountsAsZero else { return nil }
        return try owner.transaction {
            let count = try count(Query(where: condition))
            _ = try update(fault == .setsEveryRow ? Query() : Query(where: condition)) { record in
                for change in changes {
                    var stored = schema.value(at: change.field, of: record)
                    if fault == .nilCountsAsZero, stored.isNull { stored = .integer(0) }
                    let value = try change.value(after: stored, of: schema.key(of: record))
                    try schema.set(value, at: change.field, in: &record)
                }
            }
            return count
        }
    }

    func erase(keys: [Key]) throws -> Int {
        let keys = keys.map(stored)
        defer { didWrite(isErasure: true) }
        return try writing {
            switch fault {
            case .eraseMissingThrows:
                if let missing = try keys.first(where: { try !base.contains(key: $0) }) {
                    throw StorageError(.notFound, "no such row", key: UniqueID(missing))
                }
                return try base.erase(keys: keys)
            case .eraseCountsAsked:
                _ = try base.erase(keys: keys)
                return keys.count
            case .logIsTrimmedWhole where isLog: return try base.erase(Query())
            case .indexKeepsNumbers where schema.description.name == "dao_search_rows": return keys.count
            case .eraseLeavesOne: return try base.erase(keys: keys.count > 3 ? Array(keys.dropLast()) : keys)
            default: return try base.erase(keys: keys)
            }
        } ?? 0
    }

    /// A segment of an index that takes no row away.
    private func withoutErasures(_ segment: Record) throws -> Record {
        var segment = segment
        for name in ["erased", "erasedWords"] {
            try schema.set(.integer(0), at: schema.description.index(of: name)!, in: &segment)
        }
        return segment
    }

    /// Whether the rows are the log of changes.
    private var isLog: Bool { schema.description.name == "dao_changes" }

    /// A change as it is logged; nil for one that is missed.
    private func logged(_ change: Record) throws -> Record? {
        var change = change
        func value(_ name: String) -> Value { schema.value(at: schema.description.index(of: name)!, of: change) }
        switch fault {
        case .logMissesErasures where value("kind") == .integer(2): return nil
        case .logMissesLists: if case .string(let text) = value("after"), text.hasSuffix(#":"l"}"#) { return nil }
        case .logMissesFormerValues: try schema.set(.null, at: schema.description.index(of: "before")!, in: &change)
        default: break
        }
        return change
    }

    private func didWrite(isErasure: Bool = false) {
        if fault == .partsNotifyNobody, isPart { return }
        owner.didWrite(schema.description.name, isErasure: isErasure)
    }

    /// Runs a write with the faults that all writes share; nil when the write was dropped.
    @discardableResult
    private func writing<Result>(_ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch var error as StorageError where error.kind == .duplicateKey {
            if fault == .duplicateNamesNothing { (error.field, error.key) = (nil, nil) }
            if fault == .errorsInOtherWords {
                throw StorageError(.duplicateKey, "key exists", entity: error.entity, key: error.key, field: error.field)
            }
            throw error
        } catch var error as StorageError where error.kind == .uniqueViolation {
            if fault == .uniqueIsSilent { return nil }
            if fault == .uniqueNamesNoField { error.field = nil }
            if fault == .uniqueNamesKeysReversed { (error.key, error.conflictingKey) = (error.conflictingKey, error.key) }
            if fault == .uniqueNamesNothing { (error.field, error.key, error.conflictingKey) = (nil, nil, nil) }
            throw error
        }
    }

    /// Runs a write when no other write is running; nil when the write was dropped.
    private func uncontended<Result>(_ body: () throws -> Result) throws -> Result? {
        let others = owner.place.writes.add(1, ordering: .sequentiallyConsistent).oldValue
        defer { owner.place.writes.subtract(1, ordering: .sequentiallyConsistent) }
        guard others == 0 || owner.isInside else { return nil }
        // Long enough for a write of another thread to meet this one on a busy machine.
        defer { usleep(2000) }
        return try body()
    }

    private func wrapped<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.io, "\(error)")
        }
    }
}

/// A cursor that runs its query again for each batch.
final class LiveCursor<Record: Model>: RowCursor<Record> {
    private let storage: FaultyStorage<Record>
    private var query: Query<Record>

    init(storage: FaultyStorage<Record>, query: Query<Record>) {
        self.storage = storage
        self.query = query
        super.init()
    }

    override func next(_ count: Int) throws -> [Record] {
        query.limit = count
        let batch = try storage.read(query)
        query.offset += batch.count
        return batch
    }
}
