import DAOConformance
import DAOCore
import Foundation

extension PropertyTesting {
    /// Observations that threads can wait for: of the rows of a query, and of a closure that reads their keys and
    /// their number.
    ///
    /// Every change is compared with the one before it: its keys must be those of the rows that differ.
    public final class Watcher<Record: PropertyTestModel>: Sendable {
        private typealias Change = ObservedChange<Record>

        private struct Summary: Equatable {
            let keys: [Key]
            let count: Int

            init(_ dao: DAO<Record>, _ query: Query<Record>) throws {
                keys = try dao.storage.keys(query)
                count = try dao.count(query)
            }
        }

        private struct State: Sendable {
            var rows: [[Value]]?
            var summary: Summary?
            var problem: String?
            /// How the observations ended; nil without an error.
            var endings: [(any Error)?] = []

            var haveEnded: Bool { endings.count == 2 }
            var endingsText: String { endings.map { $0.map { "\($0)" } ?? "without an error" }.joined(separator: ", ") }
        }

        private let dao: DAO<Record>
        private let query: Query<Record>
        private let patience: Double
        private let state = Shared(State())
        private let condition = NSCondition()
        private let tasks = Shared<[Task<Void, Never>]>([])

        /// Begins to observe.
        ///
        /// - Parameters:
        ///   - dao: The DAO of the rows.
        ///   - query: The query to observe.
        ///   - patience: How many seconds a result may take.
        init(_ dao: DAO<Record>, _ query: Query<Record>, patience: Double) {
            self.dao = dao
            self.query = query
            self.patience = patience
            observe(dao.observeChanges(query)) { $0.take($1) }
            observe(dao.storage.database.observe { try Summary(dao, query) }) { $0.take($1) }
        }

        deinit { for task in tasks.value { task.cancel() } }

        private func observe<Element>(
            _ observation: ValueObservation<Element>, _ take: @escaping @Sendable (Watcher, Element) -> Void
        ) {
            tasks.change { tasks in
                tasks.append(
                    Task.detached(executorPreference: TaskThreads.shared) { [weak self] in
                        do {
                            for try await element in observation {
                                if let self { take(self, element) }
                            }
                            self?.end(nil)
                        } catch {
                            self?.end(error)
                        }
                    })
            }
        }

        /// The rows that were observed last, once they are equal to the result of the query.
        ///
        /// - Throws: The error of the query; a fault of the observation, as ``/DAOConformance/ConformanceFailure``.
        public func latest() throws -> [Record] {
            let expected = try dao.read(query).map(\.values)
            let summary = try Summary(dao, query)
            let hasCome = wait { state in
                !state.endings.isEmpty || state.summary == summary && state.rows.map { Self.same($0, expected) } == true
            }
            let state = state.value
            if let problem = state.problem { throw fail(problem) }
            if !state.endings.isEmpty { throw fail("an observation has ended: \(state.endingsText)") }
            guard hasCome else {
                throw fail(
                    "an observation does not come to \(Self.text(expected)): its last result is "
                        + (state.rows.map(Self.text) ?? "none") + ", and that of the keys "
                        + (state.summary.map { "\($0.keys) (\($0.count))" } ?? "none"))
            }
            return try state.rows?.map { try Record(values: $0) } ?? []
        }

        /// Stops the observation, and waits for its end.
        ///
        /// - Throws: A fault of the observation, as ``/DAOConformance/ConformanceFailure``.
        func stop() throws {
            for task in tasks.value { task.cancel() }
            guard wait(until: \.haveEnded) else { throw fail("a cancelled observation does not end") }
            if let problem = state.value.problem { throw fail(problem) }
        }

        /// Waits for the end of the observation after the database was closed.
        func waitForEnd() throws {
            guard wait(until: \.haveEnded) else { throw fail("an observation of a closed database does not end") }
            guard state.value.endings.allSatisfy({ ($0 as? StorageError)?.kind == .closed }) else {
                throw fail("observations of a closed database end: \(state.value.endingsText)")
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

        private func take(_ summary: Summary) {
            changeState { state in
                if state.summary == summary { state.problem = state.problem ?? "an observation gives the same value twice" }
                state.summary = summary
            }
        }

        private func end(_ error: (any Error)?) { changeState { $0.endings.append(error) } }

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
