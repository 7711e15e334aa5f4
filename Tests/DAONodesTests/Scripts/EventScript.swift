import DAOTestSupport
import DAOTransport
import Foundation
import Testing

@testable import DAONodes

/// What makes the result of a script, below its operators.
enum EventRoot: CaseIterable {
    case context, keepingContext, multicast, firstCache, fallback, staleAfter
}

enum EventOperator: CaseIterable {
    case map, flatMap, filter, mapError, renameError, recover, catchError, combine, combineTolerance, chain, debounce, throttle
    case multicast
}

enum ListenerKind: CaseIterable {
    case data, error, cancelled, deferred
}

enum EventStep {
    /// Emits into a context: the source, or one that a node or an operator has asked for.
    case data(Int, String)
    case error(Int, Failure)
    /// An error of another type.
    case otherError(Int, OtherFailure)
    case finish(Int)
    case cancel(Int)
    /// Releases the context without finishing it.
    case release(Int)
    case advance(Int)
    /// Subscribes with the next number.
    case listen(ListenerKind)
    case unsubscribe
    case cancelResult
    /// The next listener of data cancels the result.
    case cancelInside
}

struct OtherFailure: Error {
    let name: String
}

/// A result and what happens to it: nodes and operators, when they are made, and events in an order.
struct EventScript: CustomStringConvertible {
    var root: EventRoot
    var operators: [EventOperator]
    /// The number of steps before the operators subscribe.
    var delay: Int
    var steps: [EventStep]
    /// Added to the numbers of contexts, so that the same one is not the same in every script.
    let salt: Int

    init(using random: inout SeededGenerator) {
        salt = random.below(60)
        root = random.pick(EventRoot.allCases)
        operators = (0..<random.below(4)).map { _ in random.pick(EventOperator.allCases) }
        delay = random.chance(30) ? random.below(6) : 0
        var number = 0
        steps = (0..<random.below(30)).map { _ in
            number += 1
            // The latest contexts are the most interesting ones.
            let context = random.chance(40) ? 0 : random.below(6)
            return random.weighted([
                (10, EventStep.data(context, "\(number)")), (3, .error(context, Failure("\(number)"))),
                (2, .otherError(context, OtherFailure(name: "\(number)"))), (2, .finish(context)), (1, .cancel(context)),
                (1, .release(context)), (4, .advance(1 + random.below(12))), (8, .listen(random.pick(ListenerKind.allCases))),
                (1, .unsubscribe), (1, .cancelResult), (1, .cancelInside),
            ])
        }
        // Most results have all listeners from the beginning.
        if random.chance(60) { steps.insert(contentsOf: ListenerKind.allCases.map { .listen($0) }, at: min(delay, steps.count)) }
    }

    var description: String { "\(root) \(operators) (\(salt)), made after \(delay) of \(steps)" }

    /// What a context is like that was made for a text.
    enum Inner {
        case open, emitted, failed, keeping

        init(_ text: String, index: Int) {
            switch (weight(text) + index) % 6 {
            case 3: self = .emitted
            case 4: self = .failed
            case 5: self = .keeping
            default: self = .open
            }
        }
    }

    /// Runs the script, and compares the events and the cancelled contexts after each step.
    ///
    /// - Returns: what differs; nil when nothing does.
    func difference(fault: OperatorFault? = nil) -> String? {
        let (real, model) = (RealEvents(self, fault: fault), PlainEvents(self))
        for (index, step) in steps.enumerated() {
            if index == delay {
                real.make()
                model.make()
            }
            real.run(step)
            model.run(step)
            let (seen, expected) = (real.log.all + [real.state], model.log + [model.state])
            guard seen == expected else {
                return "\(self)\nafter step \(index), \(step):\n  expected \(expected)\n  was      \(seen)"
            }
        }
        return nil
    }

    /// A shorter script that differs too.
    func shrunk(fault: OperatorFault? = nil) -> EventScript {
        var smallest = self
        var hasShrunk = true
        while hasShrunk {
            hasShrunk = false
            for index in smallest.steps.indices.reversed() {
                var candidate = smallest
                candidate.steps.remove(at: index)
                if index < candidate.delay { candidate.delay -= 1 }
                if candidate.difference(fault: fault) != nil { (smallest, hasShrunk) = (candidate, true) }
            }
            for index in smallest.operators.indices.reversed() {
                var candidate = smallest
                candidate.operators.remove(at: index)
                if candidate.difference(fault: fault) != nil { (smallest, hasShrunk) = (candidate, true) }
            }
        }
        return smallest
    }
}

extension EventScript {
    static func mapped(_ text: String) throws -> String {
        if weight(text) % 5 == 0 { throw Failure(text + "m") }
        return text + "m"
    }
}

/// A number that decides what an operator does with a text.
func weight(_ text: String) -> Int {
    text.utf8.reduce(0) { ($0 * 31 + Int($1)) % 65_521 }
}

// MARK: - The nodes and operators

/// Runs a script on the nodes and operators, or on one with a planted fault.
final class RealEvents: Sendable {
    let log = Log()
    private let script: EventScript
    private let fault: OperatorFault?
    private let clock = ManualScheduler()
    private let contexts = Locked<[Emitter<String>?]>([])
    private let result = Locked<Observer<String>?>(nil)
    private let progress = Locked((listeners: 0, cancelsInside: false))

    init(_ script: EventScript, fault: OperatorFault?) {
        self.script = script
        self.fault = fault
        switch script.root {
        case .context: contexts.withLock { $0.append(Context()) }
        case .keepingContext: contexts.withLock { $0.append(Context(keepsEveryOutcome: true)) }
        case .multicast: contexts.withLock { $0.append(MulticastContext()) }
        default: break
        }
    }

    /// The contexts that are cancelled and not done, and whether the result is cancelled.
    var state: String {
        let cancelled = contexts.withLock { $0.map { $0.map { $0.isCancelled && !$0.state.withLock { $0.isFinished } } } }
        return "\(cancelled.map { $0.map { $0 ? "x" : "." } ?? "-" }.joined())\(result.withLock { $0?.isCancelled } == true)"
    }

    func make() {
        let base: Observer<String>
        switch script.root {
        case .context, .keepingContext, .multicast:
            // A context that was released before has no observer.
            guard let source = context(0) else { return }
            base = source
        case .firstCache, .fallback, .staleAfter: base = node().process(())
        }
        let made = script.operators.reduce(base) { apply($1, to: $0) }
        result.withLock { $0 = made }
    }

    private func context(_ number: Int) -> Emitter<String>? {
        contexts.withLock { $0.isEmpty ? nil : $0[number % $0.count] }
    }

    /// Makes the observer that a node or an operator asks for.
    private func inner(_ text: String) -> Observer<String> {
        let index = script.salt + contexts.withLock { $0.count }
        let context: Emitter<String>
        switch EventScript.Inner(text, index: index) {
        case .open: context = Context()
        case .emitted: context = Context<String>().emit(data: "\(index)e").finish()
        case .failed: context = Context<String>().emit(error: Failure("\(index)f")).finish()
        case .keeping: context = Context<String>(keepsEveryOutcome: true).emit(data: "\(index)a").emit(data: "\(index)b")
        }
        contexts.withLock { $0.append(context) }
        return context
    }

    func run(_ step: EventStep) {
        switch step {
        case .data(let number, let text): context(number)?.emit(data: text)
        case .error(let number, let error): context(number)?.emit(error: error)
        case .otherError(let number, let error): context(number)?.emit(error: error)
        case .finish(let number): context(number)?.finish()
        case .cancel(let number): context(number)?.cancel()
        case .release(let number):
            let released = contexts.withLock { contexts -> Emitter<String>? in
                guard !contexts.isEmpty else { return nil }
                defer { contexts[number % contexts.count] = nil }
                return contexts[number % contexts.count]
            }
            withExtendedLifetime(released) {}
        case .advance(let seconds): clock.advance(by: .seconds(seconds))
        case .listen(let kind): if let result = result.withLock({ $0 }) { listen(kind, to: result) }
        case .unsubscribe: result.withLock { $0 }?.unsubscribe()
        case .cancelResult: result.withLock { $0 }?.cancel()
        case .cancelInside: progress.withLock { $0.cancelsInside = true }
        }
    }

    private func listen(_ kind: ListenerKind, to result: Observer<String>) {
        let number = progress.withLock { state in
            state.listeners += 1
            return state.listeners
        }
        switch kind {
        case .data:
            result.onCompleted { [self, weak result] text in
                log.add("\(number) data \(text)")
                let cancels = progress.withLock { state in
                    defer { state.cancelsInside = false }
                    return state.cancelsInside
                }
                if cancels { result?.cancel() }
            }
        case .error: result.onError { [log] error in log.add("\(number) error \(Self.name(of: error))") }
        case .cancelled: result.onCancelled { [log] in log.add("\(number) cancelled") }
        case .deferred: result.defer { [log] in log.add("\(number) defer") }
        }
    }

    static func name(of error: any Error) -> String {
        (error as? Failure)?.name ?? (error as? OtherFailure).map { "other \($0.name)" } ?? "\(error)"
    }

    // MARK: What is tried

    private func node() -> any Node<Void, String> {
        let stored = ClosureNode<Void, String> { [self] in inner("stored") }
        let network = ClosureNode<Void, String> { [self] in inner("network") }
        let isUsable: @Sendable (String) -> Bool = { weight($0) % 3 > 0 }
        let fallsBack: @Sendable (any Error) -> Bool = { weight(Self.name(of: $0)) % 2 == 0 }
        switch (script.root, fault) {
        case (.firstCache, .firstCacheAsksTheNetworkFirst):
            return FirstCacheNode(stored: network, network: stored, isUsable: isUsable)
        case (.firstCache, .firstCacheShowsAnything): return FirstCacheNode(stored: stored, network: network)
        case (.firstCache, .firstCacheAsksWhenCancelled):
            return ClosureNode {
                let result = Context<String>(keepsEveryOutcome: true)
                stored.process().firstOutcome(linkedTo: result) { outcome in
                    if case .success(let text) = outcome, isUsable(text) { result.emit(data: text) }
                    network.process().forward(to: result)
                }
                return result
            }
        case (.firstCache, _): return FirstCacheNode(stored: stored, network: network, isUsable: isUsable)
        case (.fallback, .fallbackForEveryError):
            return FallbackToStoreNode(network: network, stored: stored, when: { _ in true }, isUsable: isUsable)
        case (.fallback, .fallbackFailsAsTheStore):
            return ClosureNode {
                network.process().mapError { (error: any Error) throws -> Observer<String> in
                    guard fallsBack(error) else { throw error }
                    return stored.process()
                }
            }
        case (.fallback, _): return FallbackToStoreNode(network: network, stored: stored, when: fallsBack, isUsable: isUsable)
        case (_, .staleResultIsUsed):
            return StaleAfterNode(
                stored: stored, network: network, after: .seconds(9), now: { Date(timeIntervalSince1970: 10) },
                storedAt: { _, _ in Date(timeIntervalSince1970: 1) })
        default:
            return StaleAfterNode(
                stored: stored, network: network, after: .seconds(9), now: { Date(timeIntervalSince1970: 10) },
                storedAt: { _, text in
                    // Future dates, unknown ones, fresh ones and old ones.
                    switch weight(text) % 4 {
                    case 0: Date(timeIntervalSince1970: 11)
                    case 1: nil
                    case 2: Date(timeIntervalSince1970: 1)
                    default: Date(timeIntervalSince1970: 0.5)
                    }
                })
        }
    }

    private func apply(_ kind: EventOperator, to source: Observer<String>) -> Observer<String> {
        if let fault, let faulty = fault.apply(kind, to: source, clock: clock, inner: { [self] in inner($0) }, log: log) {
            return faulty
        }
        switch kind {
        case .map:
            return source.map { (text: String) throws -> String in try EventScript.mapped(text) }
        case .flatMap:
            return source.map { [self] (text: String) throws -> Observer<String> in
                if weight(text) % 7 == 0 { throw Failure(text + "f") }
                return inner(text)
            }
        case .filter:
            return source.map { [$0, $0 + "x"] }.filter { weight($0) % 2 == 0 }.map { $0.joined(separator: "|") }
        case .mapError: return source.mapError { (error: any Error) -> any Error in Failure("e" + Self.name(of: error)) }
        case .renameError: return source.map { (error: any Error) -> any Error in Failure("n" + Self.name(of: error)) }
        case .recover:
            return source.mapError { [self] (error: any Error) throws -> Observer<String> in
                let name = Self.name(of: error)
                if weight(name) % 3 == 0 { throw Failure("r" + name) }
                return inner(name)
            }
        case .catchError: return source.catchError { [log] (error: OtherFailure) in log.add("caught \(error.name)") }
        case .combine: return source.combine(self.inner("c")).map { "(\($0.0),\($0.1))" }
        case .combineTolerance:
            return source.combineTolerance(self.inner("t")).map { "(\($0.0 ?? "nil"),\($0.1 ?? "nil"))" }
        case .chain:
            return source.chain { [self] text -> Observer<String>? in
                if weight(text) % 6 == 1 { throw Failure(text + "c") }
                return weight(text) % 6 == 0 ? nil : inner(text)
            }.map { "(\($0.0),\($0.1))" }
        case .debounce: return source.debounce(on: clock, after: .seconds(10))
        case .throttle: return source.throttle(next: .seconds(10), on: clock)
        case .multicast: return source.multicast()
        }
    }
}
