import DAOConformance
import DAOCore
import Foundation

extension PropertyTesting {
    /// An observation that threads can wait for.
    ///
    /// Every change is compared with the one before it: its keys must be those of the rows that differ.
    public final class Watcher<Record: PropertyTestModel>: Sendable {
        private typealias Change = ObservedChange<Record>

        private struct State: Sendable {
            var rows: [[Value]]?
            var problem: String?
            var ending: (any Error)?
            var hasEnded = false
        }

        private let dao: DAO<IdentityTranslator<Record>>
        private let query: Query<Record>
        private let patience: Double
        private let state = Shared(State())
        private let condition = NSCondition()
        private let task = Shared<Task<Void, Never>?>(nil)

        /// Begins to observe.
        ///
        /// - Parameters:
        ///   - dao: The DAO of the rows.
        ///   - query: The query to observe.
        ///   - patience: How many seconds a result may take.
        init(_ dao: DAO<IdentityTranslator<Record>>, _ query: Query<Record>, patience: Double) {
            self.dao = dao
            self.query = query
            self.patience = patience
            let changes = dao.observeChanges(query)
            task.change { task in
                task = Task.detached(executorPreference: TaskThreads.shared) { [weak self] in
                    do {
                        for try await change in changes { self?.take(change) }
                        self?.end(nil)
                    } catch {
                        self?.end(error)
                    }
                }
            }
        }

        deinit { task.value?.cancel() }

        /// The rows that were observed last, once they are equal to the result of the query.
        ///
        /// - Throws: The error of the query; a fault of the observation, as ``ConformanceFailure``.
        public func latest() throws -> [Record] {
            let expected = try dao.read(query).map(\.values)
            let hasCome = wait { state in state.hasEnded || state.rows.map { Self.same($0, expected) } == true }
            let state = state.value
            if let problem = state.problem { throw fail(problem) }
            if state.hasEnded { throw fail("an observation has ended: \(state.ending.map { "\($0)" } ?? "without an error")") }
            guard hasCome else {
                throw fail(
                    "an observation does not come to \(Self.text(expected)): its last result is "
                        + (state.rows.map(Self.text) ?? "none"))
            }
            return try state.rows?.map { try Record(values: $0) } ?? []
        }

        /// Stops the observation, and waits for its end.
        ///
        /// - Throws: A fault of the observation, as ``ConformanceFailure``.
        func stop() throws {
            task.value?.cancel()
            guard wait(until: \.hasEnded) else { throw fail("a cancelled observation does not end") }
            if let problem = state.value.problem { throw fail(problem) }
        }

        /// Waits for the end of the observation after the database was closed.
        func waitForEnd() throws {
            guard wait(until: \.hasEnded) else { throw fail("an observation of a closed database does not end") }
            guard let error = state.value.ending as? StorageError, error.kind == .closed else {
                throw fail("an observation of a closed database ends with \(state.value.ending.map { "\($0)" } ?? "nothing")")
            }
        }

        private func wait(until isReached: (State) -> Bool) -> Bool {
            let deadline = Date(timeIntervalSinceNow: patience)
            condition.lock()
            defer { condition.unlock() }
            while !isReached(state.value) {
                if !condition.wait(until: deadline) { return isReached(state.value) }
            }
            return true
        }

        private func take(_ change: Change) {
            let rows = change.elements.map(\.values)
            changeState { state in
                state.problem = state.problem ?? Self.problem(of: change, rows, after: state.rows)
                state.rows = rows
            }
        }

        private func end(_ error: (any Error)?) {
            changeState { ($0.ending, $0.hasEnded) = (error, true) }
        }

        private func changeState(_ change: (inout State) -> Void) {
            condition.lock()
            state.change(change)
            condition.broadcast()
            condition.unlock()
        }

        /// The contradiction between a change and the rows before and after it; nil when there is none.
        private static func problem(of change: Change, _ rows: [[Value]], after last: [[Value]]?) -> String? {
            let (old, new) = (last ?? [], rows)
            let key = Record.schema.description.keyIndex
            func row(_ of: [Value], in rows: [[Value]]) -> [Value]? {
                rows.first { ReferenceOrder.compare($0[key], of[key]) == 0 }
            }
            let inserted = new.filter { row($0, in: old) == nil }
            let updated = new.filter { now in row(now, in: old).map { !Exact.same($0, now) } ?? false }
            let erased = old.filter { row($0, in: new) == nil }.sorted { ReferenceOrder.compare($0[key], $1[key]) < 0 }
            for (what, told, rows) in [
                ("inserted", change.inserted, inserted), ("updated", change.updated, updated), ("erased", change.erased, erased),
            ] {
                let expected = rows.map { ReferenceState.id($0[key]) }
                if told != expected { return "an observation says that \(told) were \(what), and \(expected) were" }
            }
            let isSame = last.map { same($0, new) } ?? false
            return isSame ? "an observation gives the same result twice" : nil
        }

        private static func same(_ left: [[Value]], _ right: [[Value]]) -> Bool { Outcome.same(.rows(left), .rows(right)) }
        private static func text(_ rows: [[Value]]) -> String { Outcome.rows(rows).text }

        private func fail(_ sentence: String) -> ConformanceFailure { ConformanceFailure(sentence, file: #fileID, line: #line) }
    }
}
