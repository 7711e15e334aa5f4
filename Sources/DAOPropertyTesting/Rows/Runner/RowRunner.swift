import DAOConformance
import DAOCore
import Foundation

/// Runs the steps of a script on a database of the kind under test.
///
/// It runs on one thread, and waits while a step runs on another.
final class RowRunner {
    private let target: ConformanceTarget
    private let location: ConformanceTarget.Location
    private let entities: [Entity]
    /// How many seconds to wait for an event.
    let patience: Double
    private let capabilities: Capabilities
    private var opened: OpenDatabase
    private var other: OpenDatabase?
    private var neighbour: OpenDatabase?

    /// Opens the database at a place.
    ///
    /// - Parameters:
    ///   - entities: The entities of the script.
    ///   - patience: How many seconds to wait for an event.
    init(
        _ target: ConformanceTarget, at location: ConformanceTarget.Location, _ entities: [Entity], patience: Double = 60
    ) throws {
        self.target = target
        self.location = location
        self.entities = entities
        self.patience = patience
        opened = try OpenDatabase(target.open(location), entities)
        capabilities = opened.database.capabilities
    }

    /// Whether rows outlive the last database of a location.
    var isPersistent: Bool { capabilities.isPersistent }

    /// The database, to be verified.
    var verified: any Database { opened.database }

    /// Closes the databases.
    func close() throws {
        try other?.database.close()
        other = nil
        try neighbour?.database.close()
        neighbour = nil
        try opened.database.close()
    }

    /// Runs a step. Its error is part of the outcome.
    func perform(_ operation: RowStep) -> Outcome { perform(operation, on: opened) }

    /// Opens the database once more.
    private func open(_ location: ConformanceTarget.Location) throws -> OpenDatabase {
        let opened = try OpenDatabase(target.open(location), entities)
        try expectEqual(opened.database.capabilities, capabilities, "the capabilities of a database opened again")
        return opened
    }

    /// Another database of the location.
    private func second() throws -> OpenDatabase {
        let second = try other ?? open(location)
        other = second
        return second
    }

    /// The database of another location.
    private func beside() throws -> OpenDatabase {
        let beside = try neighbour ?? open(location.appending("other"))
        neighbour = beside
        return beside
    }

    func perform(_ operation: RowStep, on opened: OpenDatabase) -> Outcome {
        switch operation.verb {
        case .transaction: return transaction(operation, on: opened)
        case .snapshot: return snapshot(operation, on: opened)
        case .outside: return .nested(elsewhere(operation.inner, on: opened), .done)
        case .second, .neighbour, .race:
            do {
                if operation.verb == .race {
                    return .nested(race(operation, [opened, operation.flag ? try second() : opened]), .done)
                }
                let other = operation.verb == .second ? try second() : try beside()
                return .nested(operation.inner.map { perform($0, on: other) }, .done)
            } catch {
                return .wrong("opening another database: \(error)")
            }
        case .reopen: return Outcome.of { try reopen() }
        case .compact:
            return Outcome.of {
                _ = try opened.database.compact()
                return .done
            }
        case .invalid: return Outcome.of { try refused(operation.entity.type, opened.database) }
        case .leave: return Outcome.of { try leave() }
        case .outlive: return outlive(operation, on: opened)
        case .unpromised: return Outcome.of { try unpromised(opened.database) }
        case .closeInside:
            return Outcome.of {
                try opened.database.transaction { try opened.database.close() }
                return .done
            }
        default: return record(operation, opened, operation.entity.type)
        }
    }

    private func record<Record: TestRecord>(_ operation: RowStep, _ opened: OpenDatabase, _ type: Record.Type) -> Outcome {
        let dao: DAO<Record>
        do { dao = try opened.dao(type) } catch { return .wrong("the storage of '\(operation.entity.name)': \(error)") }
        switch operation.verb {
        case .cursor, .pages, .watch: return batches(operation, dao, opened)
        case .translate: return translate(operation, dao, opened)
        case .increment, .create, .persist, .upsert, .merge, .update, .set, .findOrCreate, .eraseRows, .eraseKeys, .eraseQuery,
            .eraseAll:
            return Outcome.of { try write(operation, dao) }
        case .partition, .inclusion, .indexless, .windows, .reversal, .agreement:
            return Outcome.of { try MetamorphicRelation(dao, operation).check() }
        default: return Outcome.of { try read(operation, dao) }
        }
    }

    // MARK: Blocks

    private func transaction(_ operation: RowStep, on opened: OpenDatabase) -> Outcome {
        var outcomes: [Outcome] = []
        let thread = pthread_self()
        let number = operation.size
        let own = Outcome.of {
            let result = try opened.database.transaction {
                if pthread_equal(thread, pthread_self()) == 0 { return -1 }
                for step in operation.inner { outcomes.append(perform(step, on: opened)) }
                if operation.flag { throw PropertyTesting.Abort() }
                return number
            }
            if result == -1 { return .wrong("a transaction's body runs on another thread") }
            return result == number ? .done : .wrong("a transaction gives another result than its body")
        }
        return .nested(outcomes, own)
    }

    private func snapshot(_ operation: RowStep, on opened: OpenDatabase) -> Outcome {
        var outcomes: [Outcome] = []
        let own = Outcome.of {
            try opened.database.snapshot {
                outcomes += operation.before.map { perform($0, on: opened) }
                outcomes += elsewhere(operation.inner, on: opened)
                outcomes += operation.after.map { perform($0, on: opened) }
            }
            return .done
        }
        return .nested(outcomes, own)
    }

    /// Runs steps on another thread, and waits for them.
    func elsewhere(_ operations: [RowStep], on opened: OpenDatabase) -> [Outcome] {
        // This thread uses neither before the other thread has ended, and never again if that hangs.
        nonisolated(unsafe) let (runner, opened) = (self, opened)
        let outcomes = Shared<[Outcome]>([])
        let run = Background {
            for operation in operations {
                let outcome = runner.perform(operation, on: opened)
                outcomes.change { $0.append(outcome) }
            }
        }
        do {
            try run.wait(seconds: patience, "another thread")
        } catch {
            return outcomes.value + [.wrong("\(error)")]
        }
        return outcomes.value
    }

    private func reopen() throws -> Outcome {
        let old = opened
        if isPersistent {
            try close()
            opened = try open(location)
        } else {
            let next = try open(location)
            let beside = neighbour
            neighbour = nil
            try close()
            (opened, neighbour) = (next, beside)
        }
        return try checkClosed(old)
    }

    /// Closes all databases and opens them again. Observations end.
    private func leave() throws -> Outcome {
        let old = opened
        let watcher = PropertyTesting.Watcher(try old.dao(Note.self), Query(), patience: patience)
        _ = try watcher.latest()
        let hasNeighbour = neighbour != nil
        try close()
        try watcher.waitForEnd()
        opened = try open(location)
        if hasNeighbour { _ = try beside() }
        return try checkClosed(old)
    }

    private func checkClosed(_ old: OpenDatabase) throws -> Outcome {
        try old.database.close()
        let late = Outcome.of { .number(try old.dao(Note.self).count()) }
        guard case .failed(let failure) = late, failure.kind == .closed else {
            return .wrong("a closed database answers: \(late.text)")
        }
        return .done
    }

    /// Asks for the storage of an invalid model. The call must fail without a change of the database.
    private func refused<Record: TestRecord>(_ type: Record.Type, _ database: any Database) throws -> Outcome {
        let before = try database.entities()
        do {
            _ = try database.storage(for: type)
        } catch {
            let after = try database.entities()
            if before != after { return .wrong("an invalid model changes the entities from \(before) to \(after)") }
            throw error
        }
        return .done
    }

    // MARK: Steps between reads

    /// Reads that run steps between them.
    private func batches<Record: TestRecord>(
        _ operation: RowStep, _ dao: DAO<Record>, _ opened: OpenDatabase
    ) -> Outcome {
        var inner: [Outcome] = []
        let query = operation.query.query(Record.self)
        func runInner() { inner = operation.inner.map { perform($0, on: opened) } }
        let own = Outcome.of {
            let batches =
                switch operation.verb {
                case .cursor:
                    try PropertyTesting.stream(
                        dao, query, first: operation.number ?? 1, leavesRest: operation.flag, runInner)
                case .pages:
                    try PropertyTesting.pages(dao, query, of: operation.number ?? 1, recodes: operation.flag, runInner)
                default:
                    try PropertyTesting.watch(dao, query, patience: patience) { watcher in
                        for step in operation.inner {
                            inner.append(perform(step, on: opened))
                            if operation.flag { _ = try watcher.latest() }
                        }
                    }
                }
            return .batches(batches.map { $0.map(\.values) })
        }
        if case .batches = own { return .nested(inner, own) }
        return inner.isEmpty ? own : .nested(inner, own)
    }
}
