import DAOConformance
import DAOCore
import Foundation

/// A good storage with one fault put in front of it.
struct BrokenStorage<Record: Model>: Storage {
    let base: any Storage<Record>
    let database: any Database
    let fault: Fault

    private var entity: EntityDescription { Record.schema.description }

    // MARK: Reading

    func read(_ query: Query<Record>) throws -> [Record] {
        var query = changed(query)
        let keyName = entity.fields[entity.keyIndex].name
        switch fault {
        case .limitOffByOne: if let limit = query.limit, (1..<100).contains(limit), query.after == nil { query.limit = limit + 1 }
        case .offsetIgnored: if query.offset > 0 { query.offset = 0 }
        case .tiesDescend:
            let descending = entity.fields.filter(\.type.kind.isOrdered).map { Sort<Record>.by($0.name, ascending: false) }
            if !descending.filter(query.order.contains).isEmpty { query.order.append(.by(keyName, ascending: false)) }
        case .pageSkipsRow: if query.after != nil, query.offset == 0 { query.offset = 1 }
        case .sortsBySwift: return try base.read(query).sorted(by: bySwift(query))
        default: break
        }
        return try base.read(query).map(broken)
    }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        switch fault {
        case .keysSorted: try base.read(keys: keys.sorted(), includesSubentities: true)
        case .keysRepeated: try keys.flatMap { try base.read(keys: [$0], includesSubentities: true) }
        default: try base.read(keys: keys, includesSubentities: true).map(broken)
        }
    }

    func contains(key: Key) throws -> Bool { try base.contains(key: key) }
    func keys(_ query: Query<Record>) throws -> [Key] { try base.keys(changed(query)) }
    func read(key: Key) throws -> Record? { try base.read(key: key).map(broken) }

    func count(_ query: Query<Record>) throws -> Int {
        var query = changed(query)
        if fault == .countIgnoresLimit, query.limit ?? -1 > 1 { query.limit = nil }
        return try base.count(query)
    }

    func values(of field: Int, _ query: Query<Record>, _ body: (Value) throws -> Void) throws {
        try base.values(of: field, changed(query)) { value in
            try body(fault == .totalsCountNil && value.isNull ? .integer(0) : value)
        }
    }

    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        fault == .cursorIsLive ? LiveCursor(base, query) : try base.cursor(changed(query))
    }

    // MARK: Writing

    func insert(_ records: [Record]) throws {
        let records = records.map(stored)
        try failing(records) {
            do {
                try base.insert($0)
            } catch let error as StorageError where fault == .createReplaces && error.kind == .duplicateKey {
                try base.upsert($0)
            }
        }
    }

    func upsert(_ records: [Record]) throws {
        let records = records.map(stored)
        try failing(fault == .lastRowForgotten && records.count > 2 ? records.dropLast() : records) { try base.upsert($0) }
    }

    func insert(making records: () throws -> [Record]) throws { try insert(records()) }
    func upsert(making records: () throws -> [Record]) throws { try upsert(records()) }

    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try renaming {
            try base.merge(keys: keys) { index, record in
                if fault == .mergeReplaces { record = nil }
                try body(index, &record)
            }
        }
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        try renaming {
            try base.update(changed(query)) { record in
                var copy = record
                try body(&copy)
                if fault != .updateForgotten { record = copy }
            }
        }
    }

    func erase(keys: [Key]) throws -> Int {
        let count = try base.erase(keys: keys)
        return fault == .eraseCountsKeys ? keys.count : count
    }

    func erase(_ query: Query<Record>) throws -> Int { try base.erase(changed(query)) }

    /// Stores rows, with the faults that show when that fails.
    private func failing(_ records: [Record], _ store: ([Record]) throws -> Void) throws {
        _ = try renaming {
            if fault == .partlyApplied { for record in records { try store([record]) } } else { try store(records) }
            return 0
        }
    }

    private func renaming(_ body: () throws -> Int) throws -> Int {
        do {
            return try body()
        } catch var error as StorageError {
            switch (fault, error.kind) {
            case (.uniqueInSilence, .uniqueViolation), (.keyChangeInSilence, .keyChanged): return 0
            case (.conflictReversed, .uniqueViolation): (error.key, error.conflictingKey) = (error.conflictingKey, error.key)
            case (.conflictWithoutField, .uniqueViolation): error.field = nil
            default: break
            }
            throw error
        }
    }

    // MARK: Faults in values and conditions

    private func broken(_ record: Record) -> Record {
        guard fault == .nanLost else { return record }
        return mapping(record) { if case .double(let number) = $0, number.isNaN { .double(0) } else { $0 } }
    }

    private func stored(_ record: Record) -> Record {
        guard fault == .textComposed else { return record }
        return mapping(record) {
            if case .string(let text) = $0 { .string(text.precomposedStringWithCanonicalMapping) } else { $0 }
        }
    }

    private func mapping(_ record: Record, _ change: (Value) -> Value) -> Record {
        func mapped<Random: RandomProofModel>(_ record: Random) -> Random {
            (try? Random(cells: record.cells.map(change))) ?? record
        }
        guard let random = record as? any RandomProofModel else { return record }
        return mapped(random) as? Record ?? record
    }

    private func bySwift(_ query: Query<Record>) -> (Record, Record) -> Bool {
        let names = entity.fields.filter { $0.type.kind == .string }.map(\.name)
        guard let term = query.order.first, let name = names.first(where: { term == .by($0, ascending: true) }),
            let field = entity.index(of: name)
        else { return { _, _ in false } }
        return { left, right in
            guard case .string(let left) = Record.schema.value(at: field, of: left),
                case .string(let right) = Record.schema.value(at: field, of: right)
            else { return false }
            return left < right
        }
    }

    private func changed(_ query: Query<Record>) -> Query<Record> {
        var query = query
        query.predicate = Condition(changed(query.predicate.node))
        return query
    }

    private func changed(_ node: PredicateNode) -> PredicateNode {
        switch (fault, node) {
        case (_, .and(let nodes)): .and(nodes.map(changed))
        case (_, .or(let nodes)): .or(nodes.map(changed))
        case (_, .not(let node)): .not(changed(node))
        case (.nilIsNotUnequal, .compare(let field, .notEqual, let value)) where !value.isNull:
            .and([node, .compare(field: field, .notEqual, .null)])
        case (.emptyListMatches, .isIn(_, [])): .constant(true)
        case (.caseOfASCIIOnly, .text(let field, let match, let text, let options)) where !text.utf8.allSatisfy({ $0 < 128 }):
            .text(field: field, match, text, options.subtracting(.caseInsensitive))
        case (.indexForgets, .compare(let field, .equal, let value))
        where entity.fields.indices.contains(field) && entity.fields[field].isIndexed && !value.isNull:
            .and([node, .compare(field: entity.keyIndex, .notEqual, forgotten)])
        default: node
        }
    }

    private var forgotten: Value {
        switch entity.keyKind {
        case .string: .string("a")
        case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        default: .integer(1)
        }
    }
}

/// Asks again for every batch.
private final class LiveCursor<Record: Model>: RowCursor<Record> {
    private let storage: any Storage<Record>
    private var query: Query<Record>

    init(_ storage: any Storage<Record>, _ query: Query<Record>) {
        self.storage = storage
        self.query = query
        super.init()
    }

    override func next(_ count: Int) throws -> [Record] {
        var window = query
        window.limit = min(count, query.limit ?? count)
        let records = try storage.read(window)
        query.offset += records.count
        if let limit = query.limit { query.limit = limit - records.count }
        return records
    }
}
