import DAOConformance
import DAOCore
import Foundation

/// Does the steps of a script on a database of the kind under test.
///
/// It stays on one thread, but for the steps that say that they run on another, while which it waits.
final class RowRunner {
    private let target: ConformanceTarget
    private let location: ConformanceTarget.Location
    private let entities: [Entity]
    /// How many seconds to wait for what should come by itself.
    let patience: Double
    private let capabilities: Capabilities
    private var opened: OpenDatabase
    private var other: OpenDatabase?
    private var neighbour: OpenDatabase?

    /// Opens the database at a place.
    ///
    /// - Parameters:
    ///   - entities: What will be stored in it.
    ///   - patience: How many seconds to wait for what should come by itself.
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

    /// Closes what is open.
    func close() throws {
        try other?.database.close()
        other = nil
        try neighbour?.database.close()
        neighbour = nil
        try opened.database.close()
    }

    /// Does a step. Whatever is thrown is part of the outcome.
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

    func perform(_ operation: RowStep, on opened: OpenDatabase) -> Outcome {
        switch operation.verb {
        case .transaction: return transaction(operation, on: opened)
        case .snapshot: return snapshot(operation, on: opened)
        case .outside: return .nested(elsewhere(operation.inner, on: opened), .done)
        case .second:
            do {
                let second = try second()
                return .nested(operation.inner.map { perform($0, on: second) }, .done)
            } catch {
                return .wrong("opening a second database of the location: \(error)")
            }
        case .neighbour:
            do {
                let beside = try neighbour ?? open(location.appending("other"))
                neighbour = beside
                return .nested(operation.inner.map { perform($0, on: beside) }, .done)
            } catch {
                return .wrong("opening a database of another location: \(error)")
            }
        case .reopen: return Outcome.of { try reopen() }
        case .invalid: return Outcome.of { try refused(operation.entity.type, opened.database) }
        case .leave: return Outcome.of { try leave() }
        case .race:
            do {
                return .nested(race(operation, [opened, operation.flag ? try second() : opened]), .done)
            } catch {
                return .wrong("opening a second database of the location: \(error)")
            }
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
        let dao: DAO<IdentityTranslator<Record>>
        do { dao = try opened.dao(type) } catch { return .wrong("the storage of '\(operation.entity.name)': \(error)") }
        switch operation.verb {
        case .cursor: return cursor(operation, dao, opened)
        case .pages: return pages(operation, dao, opened)
        case .translate: return translate(operation, dao, opened)
        case .watch: return watch(operation, dao, opened)
        case .increment, .create, .persist, .upsert, .merge, .update, .findOrCreate, .eraseRows, .eraseKeys, .eraseQuery,
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

    /// Does steps on another thread, and waits for them.
    func elsewhere(_ operations: [RowStep], on opened: OpenDatabase) -> [Outcome] {
        // This thread touches neither until the other one has ended, or never again when that hangs.
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

    /// Closes everything and opens it again: who observes is told that it is over.
    private func leave() throws -> Outcome {
        let old = opened
        let watcher = PropertyTesting.Watcher(try old.dao(Note.self), Query(), patience: patience)
        _ = try watcher.latest()
        let hasNeighbour = neighbour != nil
        try close()
        try watcher.waitForEnd()
        opened = try open(location)
        if hasNeighbour { neighbour = try open(location.appending("other")) }
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

    /// Asks for the storage of a model that contradicts itself: that fails, and leaves nothing behind.
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

    // MARK: Cursors and pages

    private func cursor<Record: TestRecord>(
        _ operation: RowStep, _ dao: DAO<IdentityTranslator<Record>>, _ opened: OpenDatabase
    ) -> Outcome {
        var inner: [Outcome] = []
        let own = Outcome.of {
            let cursor = try dao.storage.cursor(operation.query.query(Record.self))
            let first = try take(operation.number ?? 1, from: cursor)
            inner = operation.inner.map { perform($0, on: opened) }
            let rest = operation.flag ? [] : try take(.max, from: cursor)
            return .batches([first, rest])
        }
        if case .batches = own { return .nested(inner, own) }
        return inner.isEmpty ? own : .nested(inner, own)
    }

    private func take<Record: TestRecord>(_ count: Int, from cursor: RowCursor<Record>) throws -> [Row] {
        var rows: [Row] = []
        while rows.count < count {
            let batch = try cursor.next(min(count - rows.count, 3))
            if batch.isEmpty { break }
            rows += batch.map(\.values)
        }
        return rows
    }

    private func pages<Record: TestRecord>(
        _ operation: RowStep, _ dao: DAO<IdentityTranslator<Record>>, _ opened: OpenDatabase
    ) -> Outcome {
        var inner: [Outcome] = []
        let own = Outcome.of {
            var query = operation.query.query(Record.self)
            var pages: [[Row]] = []
            repeat {
                let page = try dao.page(query, limit: operation.number ?? 1)
                pages.append(page.elements.map(\.values))
                query.after = operation.flag ? try page.next.map(recoded) : page.next
                if pages.count == 1 { inner = operation.inner.map { perform($0, on: opened) } }
            } while query.after != nil && pages.count < RowStep.maximumPages
            return .batches(pages)
        }
        if case .batches = own { return .nested(inner, own) }
        return inner.isEmpty ? own : .nested(inner, own)
    }

    /// The cursor as it is after having been sent as text.
    private func recoded(_ cursor: PageCursor) throws -> PageCursor {
        try JSONDecoder().decode(PageCursor.self, from: JSONEncoder().encode(cursor))
    }
}
