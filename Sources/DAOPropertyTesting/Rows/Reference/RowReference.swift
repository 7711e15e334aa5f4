import DAOCore

/// The reference model: the contract on plain Swift arrays. It is slow and shares no code with the library.
struct RowReference: Sendable {
    /// The rows as the last commit left them.
    var state = ReferenceState()

    /// The rows of the database at the other location.
    private var neighbour = ReferenceState()
    private let isPersistent: Bool

    /// - Parameter isPersistent: Whether rows outlive the last database of a location.
    init(isPersistent: Bool = false) { self.isPersistent = isPersistent }

    /// Runs a step outside of any transaction.
    mutating func perform(_ operation: RowStep) -> Outcome {
        switch operation.verb {
        case .leave:
            if !isPersistent { (state, neighbour) = (ReferenceState(), ReferenceState()) }
            return .done
        case .neighbour:
            return .nested(operation.inner.map { Self.perform($0, on: &neighbour, committed: nil) }, .done)
        default: return Self.perform(operation, on: &state, committed: nil)
        }
    }

    /// Runs a step.
    ///
    /// - Parameters:
    ///   - state: The state that the step reads and changes.
    ///   - committed: The state outside of the running transaction; nil when none runs.
    static func perform(_ operation: RowStep, on state: inout ReferenceState, committed: ReferenceState?) -> Outcome {
        func run(_ operations: [RowStep], on state: inout ReferenceState) -> [Outcome] {
            operations.map { perform($0, on: &state, committed: committed) }
        }
        switch operation.verb {
        case .transaction:
            var working = state
            let outside = committed ?? state
            let outcomes = operation.inner.map { perform($0, on: &working, committed: outside) }
            if !operation.flag { state = working }
            return .nested(outcomes, operation.flag ? .thrown : .done)
        case .snapshot:
            let snapshot = state
            let before = operation.before.map { read($0, in: snapshot) }
            let inner = run(operation.inner, on: &state)
            return .nested(before + inner + operation.after.map { read($0, in: snapshot) }, .done)
        case .outside:
            let seen = committed ?? state
            return .nested(operation.inner.map { read($0, in: seen) }, .done)
        case .invalid:
            return .failed(
                Outcome.Failure(kind: .invalidSchema, entity: operation.entity.name, field: operation.entity.flaw?.field))
        case .second, .race: return .nested(run(operation.inner, on: &state), .done)
        case .reopen, .compact, .leave, .neighbour: return .done
        case .outlive:
            return .nested(operation.inner.map { _ in .failed(Outcome.Failure(kind: .invalidTransaction)) }, .done)
        case .unpromised: return .failed(Outcome.Failure(kind: .unsupported))
        case .closeInside: return .failed(Outcome.Failure(kind: .invalidTransaction))
        case .translate: return translate(operation, on: &state, committed: committed)
        case .watch:
            do {
                let first = try state.rows(operation.query, in: operation.entity)
                let inner = run(operation.inner, on: &state)
                return .nested(inner, .batches([first, try state.rows(operation.query, in: operation.entity)]))
            } catch {
                return outcome(of: error)
            }
        case .cursor:
            let rows: [Row]
            do { rows = try state.rows(operation.query, in: operation.entity) } catch { return outcome(of: error) }
            let inner = run(operation.inner, on: &state)
            let first = operation.number ?? 1
            return .nested(inner, .batches([Array(rows.prefix(first)), operation.flag ? [] : Array(rows.dropFirst(first))]))
        case .pages: return pages(operation, on: &state, committed: committed)
        case .partition, .inclusion, .indexless, .windows, .reversal, .agreement: return .done
        default:
            do {
                var working = state
                let result = try simple(operation, on: &working)
                state = working
                return result
            } catch {
                return outcome(of: error)
            }
        }
    }

    /// A call whose translator runs steps. They are undone when the call fails.
    private static func translate(_ operation: RowStep, on state: inout ReferenceState, committed: ReferenceState?) -> Outcome {
        var working = state
        var inner: [Outcome] = []
        do {
            for index in operation.rows.indices {
                if index == operation.number { throw PropertyTesting.Abort() }
                guard operation.inner.indices.contains(index) else { continue }
                inner.append(perform(operation.inner[index], on: &working, committed: committed ?? state))
            }
            for var row in operation.rows {
                if operation.mergesRow { follow(&row, operation.entity, readFrom: state, storedIn: working) }
                try working.store(row, in: operation.entity, mayReplace: operation.flag)
            }
            try working.endCall(in: operation.entity)
            state = working
            return .nested(inner, .done)
        } catch {
            return .nested(inner, outcome(of: error))
        }
    }

    /// Gives the fields of a row that are as they were read what steps in the translator have stored there (contract W9).
    private static func follow(_ row: inout Row, _ entity: Entity, readFrom before: ReferenceState, storedIn now: ReferenceState)
    {
        let key = row[entity.key]
        guard let old = before.position(of: key, in: entity), let new = now.position(of: key, in: entity) else { return }
        for index in row.indices where ReferenceState.stored(row[index]) == before[entity][old][index] {
            row[index] = now[entity][new][index]
        }
    }

    /// A step in a snapshot: it reads the state of the snapshot and writes nothing.
    private static func read(_ operation: RowStep, in snapshot: ReferenceState) -> Outcome {
        switch operation.verb {
        case .create, .persist, .upsert: return .failed(Outcome.Failure(kind: .invalidTransaction))
        default:
            var copy = snapshot
            return perform(operation, on: &copy, committed: nil)
        }
    }

    private static func outcome(of error: any Error) -> Outcome {
        (error as? Outcome.Failure).map(Outcome.failed) ?? .thrown
    }

    private static func pages(_ operation: RowStep, on state: inout ReferenceState, committed: ReferenceState?) -> Outcome {
        let size = operation.number ?? 1
        var pages: [[Row]] = []
        var inner: [Outcome] = []
        do {
            guard size > 0 else { throw Outcome.Failure(kind: .invalidQuery, entity: operation.entity.name) }
            var hasMore = false
            repeat {
                let rows = try state.page(
                    operation.query, in: operation.entity, after: pages.last?.last, size: size == .max ? size : size + 1)
                hasMore = rows.count > size
                pages.append(Array(rows.prefix(size)))
                guard pages.count == 1 else { continue }
                for step in operation.inner { inner.append(perform(step, on: &state, committed: committed)) }
            } while hasMore && pages.count < RowStep.maximumPages
        } catch {
            return outcome(of: error)
        }
        return .nested(inner, .batches(pages))
    }

    /// A step that is one call. The caller drops its changes when it throws (W3).
    private static func simple(_ operation: RowStep, on state: inout ReferenceState) throws -> Outcome {
        let outcome = try rows(of: operation, on: &state)
        try state.endCall(in: operation.entity)
        return outcome
    }

    /// The rows of a call, one after another.
    private static func rows(of operation: RowStep, on state: inout ReferenceState) throws -> Outcome {
        let entity = operation.entity
        switch operation.verb {
        case .create:
            for row in operation.rows { try state.store(row, in: entity, mayReplace: false) }
            return .done
        case .upsert: return try upsert(operation.rows, on: &state, entity)
        case .persist:
            guard operation.flag else { return try upsert(operation.rows, on: &state, entity) }
            for row in operation.rows { try ReferenceState.checkKey(row[entity.key], entity) }
            for row in operation.rows { try merge(row, on: &state, entity) }
            return .done
        case .merge:
            var count = 0
            for (index, row) in operation.rows.enumerated() {
                if index == operation.number { throw PropertyTesting.Abort() }
                if operation.flag, state.row(row[entity.key], in: entity) == nil { continue }
                try merge(row, on: &state, entity)
                count += 1
            }
            return .number(count)
        case .update: return .number(try update(operation, on: &state))
        case .set:
            if operation.changes[0].field == entity.key {
                throw Outcome.Failure(kind: .invalidQuery, entity: entity.name)
            }
            return .number(try update(operation, on: &state))
        case .increment:
            let key = try ReferenceState.key(operation.ids[0], entity)
            guard let position = state.position(of: key, in: entity) else { return .number(0) }
            var row = state[entity][position]
            row[operation.field] = row[operation.field].incremented
            try state.store(row, in: entity, mayReplace: true)
            return .number(1)
        case .findOrCreate:
            let key = try ReferenceState.key(operation.ids[0], entity)
            let made = operation.rows[0]
            if let position = state.position(of: key, in: entity) { return .row(state[entity][position]) }
            try checkKey(of: made, is: key, entity)
            try state.store(made, in: entity, mayReplace: false)
            return .row(made)
        case .eraseRows:
            for row in operation.rows { try ReferenceState.checkKey(row[entity.key], entity) }
            return .number(operation.rows.count { state.erase($0[entity.key], in: entity) })
        case .eraseKeys:
            let keys = try operation.ids.map { try ReferenceState.key($0, entity) }
            return .number(keys.count { state.erase($0, in: entity) })
        case .eraseQuery:
            let rows = try state.rows(operation.query, in: entity)
            return .number(rows.count { state.erase($0[entity.key], in: entity) })
        case .eraseAll:
            defer { state[entity] = [] }
            return .number(state[entity].count)
        case .readKey:
            let key = try ReferenceState.key(operation.ids[0], entity)
            return .row(state.position(of: key, in: entity).map { state[entity][$0] })
        case .readKeys: return .rows(try byKeys(operation.ids, in: state, entity))
        case .read: return .rows(try state.rows(operation.query, in: entity))
        case .count: return .number(try state.rows(operation.query, in: entity).count)
        case .keys: return .keys(try state.rows(operation.query, in: entity).map { $0[entity.key] })
        case .exists: return .flag(try !state.rows(operation.query, in: entity).isEmpty)
        case .existsKey:
            return .flag(state.position(of: try ReferenceState.key(operation.ids[0], entity), in: entity) != nil)
        case .total:
            return .value(try state.total(operation.total, of: operation.field, where: operation.query.node, in: entity))
        case .forEach:
            let rows = try state.rows(operation.query, in: entity)
            return .rows(operation.number.map { Array(rows.prefix($0)) } ?? rows)
        default: return .done
        }
    }

    private static func upsert(_ rows: [Row], on state: inout ReferenceState, _ entity: Entity) throws -> Outcome {
        for row in rows { try state.store(row, in: entity, mayReplace: true) }
        return .done
    }

    /// Stores a row, or merges it into the stored row as a merging translator does (W2).
    private static func merge(_ row: Row, on state: inout ReferenceState, _ entity: Entity) throws {
        var merged = row
        if let stored = state.row(row[entity.key], in: entity) {
            for field in entity.table.kept { merged[field] = stored[field] }
        }
        try state.store(merged, in: entity, mayReplace: true)
    }

    private static func update(_ operation: RowStep, on state: inout ReferenceState) throws -> Int {
        let entity = operation.entity
        let rows = try state.rows(operation.query, in: entity)
        for (index, row) in rows.enumerated() {
            if index == operation.number { throw PropertyTesting.Abort() }
            var changed = row
            for change in operation.changes { changed[change.field] = change.value }
            try checkKey(of: changed, is: row[entity.key], entity)
            try state.store(changed, in: entity, mayReplace: true)
        }
        return rows.count
    }

    private static func checkKey(of row: Row, is key: Value, _ entity: Entity) throws {
        guard ReferenceOrder.compare(row[entity.key], key) == 0 else {
            throw Outcome.Failure(
                kind: .keyChanged, entity: entity.name, key: ReferenceState.id(key), field: entity.fields[entity.key].name)
        }
    }

    private static func byKeys(_ ids: [String], in state: ReferenceState, _ entity: Entity) throws -> [Row] {
        var rows: [Row] = []
        for key in try ids.map({ try ReferenceState.key($0, entity) })
        where !rows.contains(where: { ReferenceOrder.compare($0[entity.key], key) == 0 }) {
            if let position = state.position(of: key, in: entity) { rows.append(state[entity][position]) }
        }
        return rows
    }
}

extension Value {
    /// The next integer; the smallest after the largest.
    var incremented: Value { if case .integer(let number) = self { .integer(number &+ 1) } else { self } }
}

extension RowStep {
    /// The maximum number of pages, more than any script has. It ends a walk whose cursor does not advance.
    static let maximumPages = 60
}
