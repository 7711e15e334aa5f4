import DAOCore
import Foundation

/// Does the steps of a script on a database of the kind under test.
///
/// It stays on one thread, but for the steps that say that they run on another, while which it waits.
final class DatabaseRunner {
    private let target: ConformanceTarget
    private let location: ConformanceTarget.Location
    private let entities: [Entity]
    private var handle: Handle
    private var other: Handle?

    /// Opens the database at a place.
    ///
    /// - Parameter entities: What will be stored in it.
    init(_ target: ConformanceTarget, at location: ConformanceTarget.Location, _ entities: [Entity]) throws {
        self.target = target
        self.location = location
        self.entities = entities
        handle = try Handle(target.open(location), entities)
    }

    /// Closes what is open.
    func close() throws {
        try other?.database.close()
        other = nil
        try handle.database.close()
    }

    /// Does a step. Whatever is thrown is part of the outcome.
    func perform(_ operation: Step) -> Outcome { perform(operation, on: handle) }

    func perform(_ operation: Step, on handle: Handle) -> Outcome {
        switch operation.verb {
        case .transaction: return transaction(operation, on: handle)
        case .snapshot: return snapshot(operation, on: handle)
        case .outside: return .nested(elsewhere(operation.inner, on: handle), .done)
        case .second:
            do {
                let second = try other ?? Handle(target.open(location), entities)
                other = second
                return .nested(operation.inner.map { perform($0, on: second) }, .done)
            } catch {
                return .wrong("opening a second database of the location: \(error)")
            }
        case .reopen: return Outcome.of { try reopen() }
        case .invalid: return Outcome.of { try refused(operation.entity.type, handle.database) }
        default: return record(operation, handle, operation.entity.type)
        }
    }

    private func record<Record: RandomRecord>(_ operation: Step, _ handle: Handle, _ type: Record.Type) -> Outcome {
        let dao: DAO<IdentityTranslator<Record>>
        do { dao = try handle.dao(type) } catch { return .wrong("the storage of '\(operation.entity.name)': \(error)") }
        switch operation.verb {
        case .cursor: return cursor(operation, dao, handle)
        case .pages: return pages(operation, dao, handle)
        case .create, .persist, .upsert, .merge, .update, .findOrCreate, .eraseRows, .eraseKeys, .eraseQuery, .eraseAll:
            return Outcome.of { try write(operation, dao) }
        case .partition, .inclusion, .indexless, .windows, .reversal, .agreement:
            return Outcome.of { try Relation(dao, operation).check() }
        default: return Outcome.of { try read(operation, dao) }
        }
    }

    // MARK: Blocks

    private func transaction(_ operation: Step, on handle: Handle) -> Outcome {
        var outcomes: [Outcome] = []
        let own = Outcome.of {
            try handle.database.transaction {
                for step in operation.inner { outcomes.append(perform(step, on: handle)) }
                if operation.flag { throw RandomProof.Abort() }
            }
            return .done
        }
        return .nested(outcomes, own)
    }

    private func snapshot(_ operation: Step, on handle: Handle) -> Outcome {
        var outcomes: [Outcome] = []
        let own = Outcome.of {
            try handle.database.snapshot {
                outcomes += operation.before.map { perform($0, on: handle) }
                outcomes += elsewhere(operation.inner, on: handle)
                outcomes += operation.after.map { perform($0, on: handle) }
            }
            return .done
        }
        return .nested(outcomes, own)
    }

    /// Does steps on another thread, and waits for them.
    private func elsewhere(_ operations: [Step], on handle: Handle) -> [Outcome] {
        // This thread touches neither until the other one has ended, or never again when that hangs.
        nonisolated(unsafe) let (runner, handle) = (self, handle)
        let outcomes = Shared<[Outcome]>([])
        let run = Background {
            for operation in operations {
                let outcome = runner.perform(operation, on: handle)
                outcomes.change { $0.append(outcome) }
            }
        }
        do {
            try run.wait(seconds: 60, "another thread")
        } catch {
            return outcomes.value + [.wrong("\(error)")]
        }
        return outcomes.value
    }

    private func reopen() throws -> Outcome {
        let old = handle
        if old.database.capabilities.isPersistent {
            try close()
            handle = try Handle(target.open(location), entities)
        } else {
            let next = try Handle(target.open(location), entities)
            try close()
            handle = next
        }
        try old.database.close()
        let late = Outcome.of { .number(try old.dao(RandomProof.Note.self).count()) }
        guard case .failed(let failure) = late, failure.kind == .closed else {
            return .wrong("a closed database answers: \(late.text)")
        }
        return .done
    }

    /// Asks for the storage of a model that contradicts itself: that fails, and leaves nothing behind.
    private func refused<Record: RandomRecord>(_ type: Record.Type, _ database: any Database) throws -> Outcome {
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

    private func cursor<Record: RandomRecord>(
        _ operation: Step, _ dao: DAO<IdentityTranslator<Record>>, _ handle: Handle
    ) -> Outcome {
        var inner: [Outcome] = []
        let own = Outcome.of {
            let cursor = try dao.storage.cursor(operation.query.query(Record.self))
            let first = try take(operation.number ?? 1, from: cursor)
            inner = operation.inner.map { perform($0, on: handle) }
            let rest = operation.flag ? [] : try take(.max, from: cursor)
            return .batches([first, rest])
        }
        if case .batches = own { return .nested(inner, own) }
        return inner.isEmpty ? own : .nested(inner, own)
    }

    private func take<Record: RandomRecord>(_ count: Int, from cursor: RowCursor<Record>) throws -> [Row] {
        var rows: [Row] = []
        while rows.count < count {
            let batch = try cursor.next(min(count - rows.count, 3))
            if batch.isEmpty { break }
            rows += batch.map(\.cells)
        }
        return rows
    }

    private func pages<Record: RandomRecord>(
        _ operation: Step, _ dao: DAO<IdentityTranslator<Record>>, _ handle: Handle
    ) -> Outcome {
        var inner: [Outcome] = []
        let own = Outcome.of {
            var query = operation.query.query(Record.self)
            var pages: [[Row]] = []
            repeat {
                let page = try dao.page(query, limit: operation.number ?? 1)
                pages.append(page.elements.map(\.cells))
                query.after = operation.flag ? try page.next.map(recoded) : page.next
                if pages.count == 1 { inner = operation.inner.map { perform($0, on: handle) } }
            } while query.after != nil && pages.count < Step.maximumPages
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
