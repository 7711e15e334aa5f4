import DAOTestSupport
import DAOTransport

@testable import DAONodes

/// Calls that share a token, their answers, and those to the refreshes that refused calls need, in an order.
struct TokenScript: CustomStringConvertible {
    enum Answer: CaseIterable {
        case data, refused, error, finished, cancelled
    }

    enum Step {
        case call
        /// Answers a request, counted from the latest.
        case answer(Int, Answer)
        /// Answers the refresh that was begun last.
        case refresh(Answer)
        case cancel(Int)
    }

    var steps: [Step]

    init(using random: inout SeededGenerator) {
        steps = (0..<random.below(30)).map { _ in
            let back = random.below(5)
            return random.weighted([
                (6, Step.call), (8, .answer(back, .refused)), (4, .answer(back, random.pick(Answer.allCases))),
                (4, .refresh(.data)), (2, .refresh(random.pick(Answer.allCases))), (2, .cancel(back)),
            ])
        }
    }

    var description: String { "\(steps)" }

    private final class World: Sendable {
        let log = Log()
        let sent = Locked<[Context<String>]>([])
        let refreshes = Locked<[Context<String>]>([])
    }

    /// Runs the script on the nodes and on the model.
    ///
    /// - Returns: what differs; nil when nothing does.
    func difference(fault: TokenFault? = nil) -> String? {
        let world = World()
        let log = world.log
        let next = ClosureNode<Int, String> { number in
            log.add("\(number) sent")
            let context = Context<String>()
            world.sent.withLock { $0.append(context) }
            return context
        }
        let refresh = ClosureNode<Void, String> {
            log.add("refresh")
            let context = Context<String>()
            world.refreshes.withLock { $0.append(context) }
            return context
        }
        let isRefused: @Sendable (any Error) -> Bool = { $0 as? Failure == Failure("refused") }
        let node: any Node<Int, String>
        if let fault {
            node = DoubledAccess(next, refresh, isRefused, fault)
        } else {
            node = AccessSafeNode(next: next, refresher: TokenRefresherNode(refresh: refresh), when: isRefused)
        }
        var model = PlainTokens()
        var results: [Observer<String>] = []
        for (position, step) in steps.enumerated() {
            func answer(_ context: Context<String>, _ answer: Answer) {
                switch answer {
                case .data: context.emit(data: "\(position)").finish()
                case .refused: context.emit(error: Failure("refused")).finish()
                case .error: context.emit(error: Failure("\(position)")).finish()
                case .finished: context.finish()
                case .cancelled: context.cancel()
                }
            }
            switch step {
            case .call:
                let number = results.count
                let result = node.process(number)
                result.onCompleted { log.add("\(number) data \($0)") }
                    .onError { log.add("\(number) error \(RealEvents.name(of: $0))") }.onCancelled {
                        log.add("\(number) cancelled")
                    }
                results.append(result)
                model.call(number)
            case .answer(let back, let kind):
                let sent = world.sent.withLock { $0 }
                guard sent.count > back else { continue }
                answer(sent[sent.count - 1 - back], kind)
                model.answer(sent.count - 1 - back, kind, "\(position)")
            case .refresh(let kind):
                guard let last = world.refreshes.withLock({ $0.last }) else { continue }
                answer(last, kind)
                model.refreshed(kind, "\(position)")
            case .cancel(let back):
                guard results.count > back else { continue }
                results[results.count - 1 - back].cancel()
                model.cancel(results.count - 1 - back)
            }
            let seen =
                log.all + [
                    world.sent.withLock { $0.map { $0.isCancelled && !$0.state.withLock { $0.isFinished } ? "x" : "." }.joined() }
                ]
            let expected = model.log + [model.cancelled]
            guard seen == expected else {
                return "\(self)\nafter step \(position), \(step):\n  expected \(expected)\n  was      \(seen)"
            }
        }
        return nil
    }
}

/// What a chain with a token does: a refused call waits for a refresh, which all share, and is sent once more. One that was
/// refused for a token that is not the latest is sent again first.
private struct PlainTokens {
    private enum Stage {
        case first(refreshes: Int)
        case again, last
    }

    private struct Sent {
        var call: Int
        var stage: Stage
        var isOpen = true
        var isCancelled = false
    }

    private(set) var log: [String] = []
    private var sent: [Sent] = []
    private var refreshes = 0
    private var waiting: [Int]?
    private var isCancelled: Set<Int> = []

    var cancelled: String { sent.map { $0.isCancelled ? "x" : "." }.joined() }

    mutating func call(_ number: Int) { send(number, .first(refreshes: refreshes)) }

    private mutating func send(_ number: Int, _ stage: Stage) {
        log.append("\(number) sent")
        sent.append(Sent(call: number, stage: stage))
    }

    mutating func answer(_ index: Int, _ answer: TokenScript.Answer, _ name: String) {
        // A context can be cancelled after its end, too, and tells its result.
        guard sent[index].isOpen || answer == .cancelled, !sent[index].isCancelled else { return }
        let (call, wasOpen) = (sent[index].call, sent[index].isOpen)
        sent[index].isOpen = false
        switch answer {
        case .data: log.append("\(call) data \(name)")
        case .error: log.append("\(call) error \(name)")
        case .finished: break
        case .cancelled:
            sent[index].isCancelled = wasOpen
            cancel(call)
        case .refused:
            switch sent[index].stage {
            case .last: log.append("\(call) error refused")
            case .first(let before) where before != refreshes: send(call, .again)
            default: wait(call)
            }
        }
    }

    private mutating func wait(_ call: Int) {
        if waiting == nil { log.append("refresh") }
        waiting = (waiting ?? []) + [call]
    }

    mutating func refreshed(_ answer: TokenScript.Answer, _ name: String) {
        guard let callers = waiting else { return }
        waiting = nil
        if answer == .data { refreshes += 1 }
        for call in callers where !isCancelled.contains(call) {
            switch answer {
            case .data: send(call, .last)
            case .refused: log.append("\(call) error refused")
            case .error: log.append("\(call) error \(name)")
            case .finished: log.append("\(call) error \(ObserverError.finishedWithoutValue)")
            case .cancelled: cancel(call)
            }
        }
    }

    /// Cancels what the call waits for. A refresh goes on for the others.
    mutating func cancel(_ call: Int) {
        guard isCancelled.insert(call).inserted else { return }
        log.append("\(call) cancelled")
        for index in sent.indices where sent[index].call == call && sent[index].isOpen {
            sent[index].isOpen = false
            sent[index].isCancelled = true
        }
    }
}

/// Mistakes with tokens that generated scripts have to detect.
enum TokenFault: CaseIterable, Sendable {
    case everyCallRefreshes, cancelledCallStopsTheRefresh, retriesAgain, lateRefusalRefreshes, failedRefreshIsKept
    case everyErrorRefreshes, refusalHidesTheErrorOfTheRefresh, onlyTheFirstCallerHears
}

/// A node for access that is written once more, with a fault.
private final class DoubledAccess: Node {
    private struct State {
        var waiting: [Context<String>]?
        var refreshes = 0
    }

    private let next: any Node<Int, String>
    private let refresh: any Node<Void, String>
    private let isRefused: @Sendable (any Error) -> Bool
    private let fault: TokenFault
    private let state = Locked(State())

    init(
        _ next: any Node<Int, String>, _ refresh: any Node<Void, String>, _ isRefused: @escaping @Sendable (any Error) -> Bool,
        _ fault: TokenFault
    ) {
        (self.next, self.refresh, self.isRefused, self.fault) = (next, refresh, isRefused, fault)
    }

    func process(_ input: Int) -> Observer<String> {
        let before = state.withLock { $0.refreshes }
        return call(input) { [self] error in
            let isLate = state.withLock { $0.refreshes } != before && fault != .lateRefusalRefreshes
            return isLate ? call(input) { [self] in refreshed(input, $0) } : refreshed(input, error)
        }
    }

    private func call(_ input: Int, whenRefused: @escaping @Sendable (any Error) -> Observer<String>) -> Observer<String> {
        next.process(input).mapError { [self] (error: any Error) throws -> Observer<String> in
            guard isRefused(error) || fault == .everyErrorRefreshes else { throw error }
            return whenRefused(error)
        }
    }

    private func refreshed(_ input: Int, _ refusal: any Error) -> Observer<String> {
        token().map { [self] (_: String) -> Observer<String> in
            fault == .retriesAgain ? call(input) { [self] _ in next.process(input) } : next.process(input)
        }.mapError { [self] (error: any Error) in fault == .refusalHidesTheErrorOfTheRefresh ? refusal : error }
    }

    private func token() -> Observer<String> {
        let caller = Context<String>()
        let isFirst = state.withLock { state in
            defer { state.waiting = (state.waiting ?? []) + [caller] }
            return state.waiting == nil || fault == .everyCallRefreshes
        }
        guard isFirst else { return caller }
        let running = refresh.process()
        if fault == .cancelledCallStopsTheRefresh { caller.link { [weak running] in running?.cancel() } }
        running.firstEvent { [self] event in
            let callers = state.withLock { state in
                if case .data = event { state.refreshes += 1 }
                defer { if case .error = event, fault == .failedRefreshIsKept {} else { state.waiting = nil } }
                return state.waiting ?? []
            }
            for caller in fault == .onlyTheFirstCallerHears ? Array(callers.prefix(1)) : callers {
                if case .finished = event {
                    caller.emit(error: ObserverError.finishedWithoutValue).finish()
                } else {
                    caller.receive(event)
                    caller.finish()
                }
            }
        }
        return caller
    }
}
