import DAOConformance
import DAOCore
import Foundation

/// What an observation of the counter has seen.
final class ObservedCounter: Sendable, CustomStringConvertible {
    private let values = Shared<[Int]>([])
    private let problem = Shared<String?>(nil)
    // Guards only the wait: the values have a separate lock.
    private let condition = NSCondition()
    private let task = Shared<Task<Void, Never>?>(nil)

    /// Begins to observe.
    init(_ ledger: ProcessLedger) {
        let results = ledger.counters.observe()
        let running = Task.detached(executorPreference: TaskThreads.shared) { [weak self] in
            do {
                for try await counters in results {
                    self?.note { $0.append(counters.first { $0.id == ProcessLedger.addedID }?.value ?? 0) }
                }
            } catch {
                self?.problem.change { $0 = "\(error)" }
            }
        }
        task.change { $0 = running }
    }

    /// Waits until the last value seen is this one.
    ///
    /// - Returns: False when it was not in time, or when values came in another order than they were
    ///   committed.
    func wait(for value: Int, seconds: Double) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while values.value.last != value {
            if !condition.wait(until: deadline), values.value.last != value { return false }
        }
        return values.value == values.value.sorted()
    }

    /// Ends the observation.
    func stop() { task.value?.cancel() }

    /// What was seen.
    var description: String { "an observation that has seen \(values.value)" + (problem.value.map { ", then \($0)" } ?? "") }

    private func note(_ change: (inout [Int]) -> Void) {
        condition.lock()
        values.change { change(&$0) }
        condition.broadcast()
        condition.unlock()
    }
}
