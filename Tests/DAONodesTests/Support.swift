import DAONodes
import DAOTransport
import Foundation

struct Failure: Error, Equatable, Sendable {
    let name: String
    init(_ name: String) { self.name = name }
}

/// The events that listeners received, in order.
final class Log: Sendable {
    private let lines = Locked<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }

    /// Records all events of an observer.
    @discardableResult
    func follow<Model>(_ observer: Observer<Model>, _ name: String = "") -> Observer<Model> {
        observer
            .onCompleted { self.add("\(name)data \($0)") }
            .onError { self.add("\(name)error \(($0 as? Failure)?.name ?? "\($0)")") }
            .onCancelled { self.add("\(name)cancelled") }
            .defer { self.add("\(name)defer") }
    }
}

final class Counter: Sendable {
    private let count = Locked(0)

    @discardableResult
    func increment() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
    var value: Int { count.withLock { $0 } }
}

/// A clock that tests advance manually.
final class ManualScheduler: DelayScheduler {
    private struct State {
        var now = Duration.zero
        var work: [(due: Duration, order: Int, body: @Sendable () -> Void)] = []
        var order = 0
    }
    private let state = Locked(State())

    var uptime: Duration { state.withLock { $0.now } }

    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.order += 1
            state.work.append((state.now + delay, state.order, work))
        }
    }

    func advance(by duration: Duration) {
        let target = uptime + duration
        while let next = takeNext(until: target) { next() }
        state.withLock { $0.now = target }
    }

    private func takeNext(until target: Duration) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard
                let next = state.work.indices.filter({ state.work[$0].due <= target })
                    .min(by: { (state.work[$0].due, state.work[$0].order) < (state.work[$1].due, state.work[$1].order) })
            else { return nil }
            state.now = state.work[next].due
            return state.work.remove(at: next).body
        }
    }
}

extension DispatchQueue {
    private static let key = DispatchSpecificKey<String>()

    /// A serial queue that can identify itself.
    static func named(_ name: String, attributes: DispatchQueue.Attributes = []) -> DispatchQueue {
        let queue = DispatchQueue(label: name, attributes: attributes)
        queue.setSpecific(key: key, value: name)
        return queue
    }

    static var currentName: String? { getSpecific(key: key) }

    /// Waits for all work on the queue, without blocking a thread of the cooperative pool.
    func drained() async {
        await withCheckedContinuation { continuation in
            async(flags: .barrier) { continuation.resume() }
        }
    }
}

/// Waits until a condition is true, for at least a minute.
func eventually(_ condition: @Sendable () -> Bool) async -> Bool {
    for _ in 0..<12000 {
        if condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return condition()
}
