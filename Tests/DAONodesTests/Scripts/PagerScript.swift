import DAOTestSupport
import DAOTransport
import Dispatch

@testable import DAONodes

/// What a script calls: the pager, or a double with a planted fault.
protocol ScriptedPager: Sendable {
    var index: Int { get }
    var isAtEnd: Bool { get }
    func onEnd(_ listener: @escaping @Sendable () -> Void)
    func next() -> Observer<String>
    func renew()
    func saveState()
    func restoreState()
    func clearStates()
}

extension OffsetPager: ScriptedPager where Value == String {}

/// Calls of a pager, and the answers to its requests, in an order.
struct PagerScript: CustomStringConvertible {
    enum Step {
        case next
        /// Answers a request, also one that was answered or cancelled before.
        case page(Int, count: Int)
        case error(Int)
        case finish(Int)
        case cancelProvider(Int)
        /// Cancels the result of a request, and requests the next page at once.
        case cancel(Int, requestsNext: Bool)
        case renew, save, restore, clear
    }

    var pageSize: Int
    var startIndex: Int
    /// Whether the provider's observers call their listeners later, on a queue.
    var isQueued: Bool
    var steps: [Step]

    init(using random: inout SeededGenerator) {
        pageSize = random.pick([-1, 0, 1, 2, 5])
        startIndex = random.pick([0, 0, 7, -3])
        isQueued = random.chance(30)
        steps = (0..<random.below(30)).map { _ in
            // The latest requests, counted from the end.
            let request = random.chance(70) ? 0 : random.below(4)
            return random.weighted([
                (10, Step.next), (10, .page(request, count: random.pick([-1, 0, 1, 2, 2, 5, 5, .max]))), (2, .error(request)),
                (1, .finish(request)), (1, .cancelProvider(request)),
                (2, .cancel(request, requestsNext: random.chance(70))), (2, .renew), (2, .save), (2, .restore), (1, .clear),
            ])
        }
    }

    var description: String { "pages of \(pageSize) from \(startIndex)\(isQueued ? ", on a queue" : ""): \(steps)" }

    typealias MakePager = (any Node<PageRequest, OffsetPage<String>>, _ pageSize: Int, _ startIndex: Int) -> any ScriptedPager

    /// Runs the script on a pager and on the model.
    ///
    /// - Returns: what differs; nil when nothing does.
    func difference(_ makePager: MakePager) -> String? {
        let queue = DispatchQueue(label: "pages")
        let log = Log()
        let providers = Locked<[Emitter<OffsetPage<String>>]>([])
        let provider = ClosureNode<PageRequest, OffsetPage<String>> { [isQueued] request in
            log.add("asked for \(request.index)+\(request.size)")
            let made: Emitter<OffsetPage<String>> = isQueued ? AsyncContext().on(queue) : Context()
            providers.withLock { $0.append(made) }
            return made
        }
        let pager = makePager(provider, pageSize, startIndex)
        pager.onEnd { log.add("end") }
        var results: [Observer<String>] = []
        var model = PlainPager(pageSize: max(1, pageSize), index: startIndex)
        // The result of each request, refused ones too, and the provider's observer of those that were sent.
        func next() {
            let result = pager.next()
            let number = results.count
            result.onCompleted { log.add("\(number) data \($0)") }.onError {
                log.add("\(number) error \(RealEvents.name(of: $0))")
            }
            .onCancelled { log.add("\(number) cancelled") }
            results.append(result)
            model.next(number)
        }
        for (position, step) in steps.enumerated() {
            func sent(_ back: Int) -> (Int, Emitter<OffsetPage<String>>)? {
                let all = providers.withLock { $0 }
                guard all.count > back else { return nil }
                return (all.count - 1 - back, all[all.count - 1 - back])
            }
            switch step {
            case .next: next()
            case .page(let back, let count):
                guard let (number, context) = sent(back) else { continue }
                context.emit(data: OffsetPage("\(position)", count: count)).finish()
                if isQueued { queue.sync {} }
                model.answer(number, .page("\(position)", count))
            case .error(let back):
                guard let (number, context) = sent(back) else { continue }
                context.emit(error: Failure("\(position)")).finish()
                if isQueued { queue.sync {} }
                model.answer(number, .error("\(position)"))
            case .finish(let back):
                guard let (number, context) = sent(back) else { continue }
                context.finish()
                if isQueued { queue.sync {} }
                model.answer(number, .error("\(ObserverError.finishedWithoutValue)"))
            case .cancelProvider(let back):
                guard let (number, context) = sent(back) else { continue }
                context.cancel()
                if isQueued { queue.sync {} }
                model.answer(number, .cancelled)
            case .cancel(let back, let requestsNext):
                guard results.count > back else { continue }
                results[results.count - 1 - back].cancel()
                model.cancel(results.count - 1 - back)
                if requestsNext { next() }
                if isQueued { queue.sync {} }
            case .renew:
                pager.renew()
                model.renew()
            case .save:
                pager.saveState()
                model.saved.append(model.place)
            case .restore:
                pager.restoreState()
                model.restore()
            case .clear:
                pager.clearStates()
                model.saved = []
            }
            let cancelled = providers.withLock { $0.map { $0.isCancelled ? "x" : "." }.joined() }
            let seen = log.all + ["\(pager.index) \(pager.isAtEnd) \(cancelled)"]
            let expected = model.log + ["\(model.place.index) \(model.place.isAtEnd) \(model.cancelled)"]
            guard seen == expected else {
                return "\(self)\nafter step \(position), \(step):\n  expected \(expected)\n  was      \(seen)"
            }
        }
        return nil
    }
}

/// What a pager is: a place, saved places, and one request at a time that can move it.
struct PlainPager {
    enum Answer {
        case page(String, Int)
        case error(String)
        case cancelled
    }

    private struct Request {
        var result: Int
        var isOpen = true
        var isCancelled = false
    }

    let pageSize: Int
    var place: (index: Int, isAtEnd: Bool)
    var saved: [(index: Int, isAtEnd: Bool)] = []
    private(set) var log: [String] = []
    private var requests: [Request] = []
    /// The request that moves the pager.
    private var current: Int?

    init(pageSize: Int, index: Int) {
        self.pageSize = pageSize
        place = (index, false)
        start = index
    }

    private let start: Int

    var cancelled: String { requests.map { $0.isCancelled ? "x" : "." }.joined() }

    mutating func next(_ result: Int) {
        guard current == nil else { return log.append("\(result) error \(PagingError.pageUnderWay)") }
        log.append("asked for \(place.index)+\(pageSize)")
        current = requests.count
        requests.append(Request(result: result))
    }

    /// The provider's observer has its first event, or a later one, which nobody hears; a cancelled one has no other.
    mutating func answer(_ number: Int, _ answer: Answer) {
        if case .cancelled = answer { requests[number].isCancelled = true }
        guard requests[number].isOpen else { return }
        requests[number].isOpen = false
        let (moves, result) = (current == number, requests[number].result)
        if moves { current = nil }
        switch answer {
        case .page(let text, let count):
            if moves {
                let (sum, isTooLarge) = place.index.addingReportingOverflow(max(0, count))
                place = (isTooLarge ? .max : sum, count < pageSize)
                if place.isAtEnd { log.append("end") }
            }
            log.append("\(result) data \(text)")
        case .error(let name): log.append("\(result) error \(name)")
        case .cancelled: log.append("\(result) cancelled")
        }
    }

    mutating func cancel(_ result: Int) {
        guard !hasCancelled.contains(result) else { return }
        hasCancelled.insert(result)
        guard let number = requests.firstIndex(where: { $0.result == result }) else { return log.append("\(result) cancelled") }
        // A request that the provider cancelled has cancelled its result, too.
        if requests[number].isCancelled, !requests[number].isOpen, log.contains("\(result) cancelled") { return }
        log.append("\(result) cancelled")
        guard requests[number].isOpen else { return }
        requests[number].isOpen = false
        requests[number].isCancelled = true
        if current == number { current = nil }
    }

    private var hasCancelled: Set<Int> = []

    mutating func renew() {
        place = (start, false)
        current = nil
    }

    mutating func restore() {
        guard let last = saved.popLast() else { return }
        place = last
        current = nil
    }
}

/// Mistakes in a pager that generated scripts have to detect.
enum PagerFault: CaseIterable, Sendable {
    case movesByTheSizeOfThePage, latePageMoves, failureMoves, failureKeepsThePagerBusy, cancellingKeepsThePagerBusy
    case requestsSeveralPages, emptyPageIsNoEnd, largeIndexWraps, renewKeepsTheEnd, renewWaitsForThePage, restoresTheFirstPlace
    case restoringKeepsThePlace, restoringWaitsForThePage, endIsToldAfterThePage, latePageIsLost, latePageTellsTheEnd
    case cancellingLeavesTheProvider, clearsOnlyTheLast
}

/// A pager that is written once more, so that it can have a fault.
final class DoubledPager: ScriptedPager {
    private typealias Place = (index: Int, isAtEnd: Bool)

    private struct State {
        var place: Place
        var saved: [Place] = []
        var current: Int?
        var requests = 0
        var onEnd: @Sendable () -> Void = {}
    }

    private let provider: any Node<PageRequest, OffsetPage<String>>
    private let size: Int
    private let start: Int
    private let fault: PagerFault?
    private let state: Locked<State>

    init(_ provider: any Node<PageRequest, OffsetPage<String>>, _ size: Int, _ start: Int, fault: PagerFault?) {
        self.provider = provider
        self.size = max(1, size)
        self.start = start
        self.fault = fault
        state = Locked(State(place: (start, false)))
    }

    var index: Int { state.withLock { $0.place.index } }
    var isAtEnd: Bool { state.withLock { $0.place.isAtEnd } }
    func onEnd(_ listener: @escaping @Sendable () -> Void) { state.withLock { $0.onEnd = listener } }
    func saveState() { state.withLock { $0.saved.append($0.place) } }
    func clearStates() { state.withLock { if fault == .clearsOnlyTheLast { _ = $0.saved.popLast() } else { $0.saved = [] } } }

    func renew() {
        state.withLock {
            $0.place = (start, fault == .renewKeepsTheEnd && $0.place.isAtEnd)
            if fault != .renewWaitsForThePage { $0.current = nil }
        }
    }

    func restoreState() {
        state.withLock {
            guard let last = fault == .restoresTheFirstPlace ? $0.saved.first : $0.saved.last else { return }
            if fault != .restoringKeepsThePlace { _ = $0.saved.popLast() }
            $0.place = last
            if fault != .restoringWaitsForThePage { $0.current = nil }
        }
    }

    func next() -> Observer<String> {
        let asked = state.withLock { state -> (Int, Int)? in
            guard state.current == nil || fault == .requestsSeveralPages else { return nil }
            state.requests += 1
            state.current = state.requests
            return (state.requests, state.place.index)
        }
        guard let (number, index) = asked else { return .emit(error: PagingError.pageUnderWay) }
        let result = Context<String>()
        let source = provider.process(PageRequest(index: index, size: size))
        result.link { [weak source, self] in
            if fault != .cancellingKeepsThePagerBusy { state.withLock { if $0.current == number { $0.current = nil } } }
            if fault != .cancellingLeavesTheProvider { source?.cancel() }
        }
        source.firstEvent { [self] event in arrived(event, number, result) }
        return result
    }

    private func arrived(_ event: Event<OffsetPage<String>>, _ number: Int, _ result: Context<String>) {
        let (isCurrent, onEnd) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            let isCurrent = state.current == number || fault == .latePageMoves
            guard isCurrent || fault == .latePageTellsTheEnd else { return (false, nil) }
            if isCurrent, case .data = event { state.current = nil }
            if isCurrent, fault != .failureKeepsThePagerBusy { state.current = nil }
            guard case .data(let page) = event else {
                if fault == .failureMoves, case .error = event { state.place.index += size }
                return (isCurrent, nil)
            }
            let isEnd = page.count < size && (page.count > 0 || fault != .emptyPageIsNoEnd)
            guard isCurrent else { return (false, isEnd ? state.onEnd : nil) }
            let count = fault == .movesByTheSizeOfThePage ? size : max(0, page.count)
            let (sum, isTooLarge) = state.place.index.addingReportingOverflow(count)
            state.place = (isTooLarge && fault != .largeIndexWraps ? .max : sum, isEnd)
            return (true, isEnd ? state.onEnd : nil)
        }
        if fault != .endIsToldAfterThePage { onEnd?() }
        switch event {
        case .data(let page): if isCurrent || fault != .latePageIsLost { result.emit(data: page.value).finish() }
        case .error(let error): result.emit(error: error).finish()
        case .cancelled: result.cancel()
        case .finished: result.emit(error: ObserverError.finishedWithoutValue).finish()
        }
        if fault == .endIsToldAfterThePage { onEnd?() }
    }
}
