import DAOTransport

@testable import DAONodes

/// Mistakes in nodes and operators that generated scripts have to detect.
enum OperatorFault: CaseIterable, Sendable {
    case mapLosesErrors, mapEndsWithAnError, mapEmitsTwice, mapEndsWithData, mapForgetsEarlierOutcomes, mapKeepsEveryOutcome
    case mapIgnoresCancellation, mapLeavesItsSourceRunning
    case flatMapFollowsTheLatestOnly, flatMapLeavesOthersRunning, flatMapEndsWithItsSource, flatMapIgnoresCancellation
    case filterDropsEmptyLists, mapErrorMapsOnce, recoverRecoversOnce, catchErrorCatchesAll, catchErrorEmitsWhatItCaught
    case combineAsksOnce, combineAsksAtOnce, toleranceFailsWithTheFirstError, toleranceFailsWithEither, chainIgnoresNil
    case debounceKeepsDataAfterAnError, debounceLosesTheLast, debounceDoesNotRestart, debounceDelaysErrors
    case throttleCountsErrors, throttleCountsDroppedData, throttleIsOneOff, multicastHasOneListener
    case firstCacheAsksTheNetworkFirst, firstCacheShowsAnything, firstCacheAsksWhenCancelled
    case fallbackForEveryError, fallbackFailsAsTheStore, staleResultIsUsed

    private typealias Text = Result<String, any Error>

    /// The operator with this mistake; nil for an operator without one.
    func apply(
        _ kind: EventOperator,
        to source: Observer<String>,
        clock: ManualScheduler,
        inner: @escaping @Sendable (String) -> Observer<String>,
        log: Log
    ) -> Observer<String>? {
        switch kind {
        case .map: map(source)
        case .flatMap: flatMap(source, inner)
        case .filter where self == .filterDropsEmptyLists:
            source.bind { outcome in
                let text = try outcome.get()
                let kept = [text, text + "x"].filter { weight($0) % 2 == 0 }
                return kept.isEmpty ? .nothing : .emit(.success(kept.joined(separator: "|")))
            }
        case .mapError where self == .mapErrorMapsOnce: mapErrorOnce(source)
        case .recover where self == .recoverRecoversOnce: recoverOnce(source, inner)
        case .catchError where self == .catchErrorCatchesAll:
            source.catchError { (error: any Error) in log.add("caught \((error as? OtherFailure)?.name ?? "")") }
        case .catchError where self == .catchErrorEmitsWhatItCaught:
            source.mapError { (error: any Error) in
                if let error = error as? OtherFailure { log.add("caught \(error.name)") }
                return error
            }
        case .combine: combine(source, inner)
        case .combineTolerance: tolerance(source, inner)
        case .chain where self == .chainIgnoresNil:
            source.bind { outcome -> Step<String> in
                let text = try outcome.get()
                if weight(text) % 6 == 0 { return .nothing }
                if weight(text) % 6 == 1 { throw Failure(text + "c") }
                return .follow(inner(text).map { "(\(text),\($0))" })
            }
        case .debounce: debounce(source, clock)
        case .throttle: throttle(source, clock)
        case .multicast where self == .multicastHasOneListener: source.map { $0 }
        default: nil
        }
    }

    /// Passes all events to a closure, which emits into the result.
    private func relay(
        _ source: Observer<String>,
        to result: Context<String> = Context(),
        _ receive: @escaping @Sendable (Event<String>, Context<String>) -> Void
    ) -> Observer<String> {
        source.listen(for: result) { receive($0, result) }
        return result
    }

    /// What the operator for data does with an event.
    private func mapped(_ event: Event<String>, _ result: Context<String>) {
        guard case .data(let text) = event else { return result.receive(event) }
        result.emit(Text { try EventScript.mapped(text) })
    }

    private func map(_ source: Observer<String>) -> Observer<String>? {
        switch self {
        case .mapLosesErrors:
            return relay(source) { event, result in if case .error = event {} else { mapped(event, result) } }
        case .mapEndsWithAnError:
            return relay(source) { event, result in
                mapped(event, result)
                if case .error = event { result.finish() }
            }
        case .mapEmitsTwice:
            return relay(source) { event, result in
                mapped(event, result)
                if case .data = event { mapped(event, result) }
            }
        case .mapEndsWithData:
            return relay(source) { event, result in
                mapped(event, result)
                if case .data = event { result.finish() }
            }
        case .mapForgetsEarlierOutcomes:
            let result = Context<String>()
            result.link { [weak source] in source?.cancel() }
            source.listen { mapped($0, result) }
            return result
        case .mapKeepsEveryOutcome: return relay(source, to: Context(keepsEveryOutcome: true), mapped)
        case .mapIgnoresCancellation:
            return relay(source) { event, result in if case .cancelled = event {} else { mapped(event, result) } }
        case .mapLeavesItsSourceRunning:
            let result = Context<String>()
            source.listen { [weak source] event in
                if source?.keepsAll == true { result.keepAll() }
                mapped(event, result)
            }
            return result
        default: return nil
        }
    }

    private func flatMap(
        _ source: Observer<String>, _ inner: @escaping @Sendable (String) -> Observer<String>
    ) -> Observer<String>? {
        let faults: [OperatorFault] = [
            .flatMapFollowsTheLatestOnly, .flatMapLeavesOthersRunning, .flatMapEndsWithItsSource, .flatMapIgnoresCancellation,
        ]
        guard faults.contains(self) else { return nil }
        let state = Locked((latest: 0, running: 1))
        return relay(source) { event, result in
            @Sendable func end() {
                let isDone = state.withLock { state in
                    state.running -= 1
                    return state.running == 0
                }
                if isDone { result.finish() }
            }
            switch event {
            case .data(let text):
                guard weight(text) % 7 > 0 else { return result.receive(.error(Failure(text + "f"))) }
                let number = state.withLock { state in
                    state.latest += 1
                    state.running += 1
                    return state.latest
                }
                let made = inner(text)
                if self != .flatMapLeavesOthersRunning { result.link { [weak made] in made?.cancel() } }
                made.listen { [weak made] event in
                    if made?.keepsAll == true { result.keepAll() }
                    switch event {
                    case .finished: end()
                    case .cancelled where self == .flatMapIgnoresCancellation: break
                    case .data where self == .flatMapFollowsTheLatestOnly:
                        if state.withLock({ $0.latest == number }) { result.receive(event) }
                    default: result.receive(event)
                    }
                }
            case .finished: if self == .flatMapEndsWithItsSource { result.finish() } else { end() }
            default: result.receive(event)
            }
        }
    }

    private func mapErrorOnce(_ source: Observer<String>) -> Observer<String> {
        let isDone = Locked(false)
        return source.mapError { (error: any Error) -> any Error in
            let wasDone = isDone.withLock { isDone in
                defer { isDone = true }
                return isDone
            }
            return wasDone ? error : Failure("e" + RealEvents.name(of: error))
        }
    }

    private func recoverOnce(
        _ source: Observer<String>, _ inner: @escaping @Sendable (String) -> Observer<String>
    ) -> Observer<String> {
        let isDone = Locked(false)
        return source.mapError { (error: any Error) throws -> Observer<String> in
            let name = RealEvents.name(of: error)
            let wasDone = isDone.withLock { isDone in
                defer { isDone = true }
                return isDone
            }
            if wasDone { throw error }
            if weight(name) % 3 == 0 { throw Failure("r" + name) }
            return inner(name)
        }
    }

    private func combine(
        _ source: Observer<String>, _ inner: @escaping @Sendable (String) -> Observer<String>
    ) -> Observer<String>? {
        switch self {
        case .combineAsksAtOnce:
            let second = inner("c")
            return source.combine(second).map { "(\($0.0),\($0.1))" }
        case .combineAsksOnce:
            let made = Locked<Observer<String>?>(nil)
            return source.map { text in
                let second = made.withLock { $0 } ?? inner("c").multicast()
                made.withLock { $0 = second }
                return second.map { "(\(text),\($0))" }
            }
        default: return nil
        }
    }

    private func tolerance(
        _ source: Observer<String>, _ inner: @escaping @Sendable (String) -> Observer<String>
    ) -> Observer<String>? {
        guard self == .toleranceFailsWithTheFirstError || self == .toleranceFailsWithEither else { return nil }
        return source.bind { first in
            .follow(
                inner("t").bind { second -> Step<String> in
                    switch (first, second) {
                    case (.success(let first), .success(let second)): .emit(.success("(\(first),\(second))"))
                    case (.success(let first), .failure(let error)):
                        .emit(self == .toleranceFailsWithEither ? .failure(error) : .success("(\(first),nil)"))
                    case (.failure, .success(let second)): .emit(.success("(nil,\(second))"))
                    case (.failure(let error), .failure(let other)):
                        .emit(.failure(self == .toleranceFailsWithTheFirstError ? error : other))
                    }
                })
        }
    }

    private func debounce(_ source: Observer<String>, _ clock: ManualScheduler) -> Observer<String>? {
        let faults: [OperatorFault] = [
            .debounceKeepsDataAfterAnError, .debounceLosesTheLast, .debounceDoesNotRestart, .debounceDelaysErrors,
        ]
        guard faults.contains(self) else { return nil }
        let waiting = Locked<(number: Int, event: Event<String>?)>((0, nil))
        return relay(source) { event, result in
            @Sendable func wait(_ event: Event<String>) {
                let (number, isRunning) = waiting.withLock { waiting in
                    let isRunning = waiting.event != nil
                    waiting = (waiting.number + 1, event)
                    return (waiting.number, isRunning)
                }
                if self == .debounceDoesNotRestart, isRunning { return }
                clock.schedule(after: .seconds(10)) {
                    let event = waiting.withLock { waiting -> Event<String>? in
                        guard waiting.number == number || self == .debounceDoesNotRestart else { return nil }
                        defer { waiting.event = nil }
                        return waiting.event
                    }
                    if let event { result.receive(event) }
                }
            }
            switch event {
            case .data: wait(event)
            case .error where self == .debounceDelaysErrors: wait(event)
            case .error, .cancelled:
                if self != .debounceKeepsDataAfterAnError { waiting.withLock { $0 = ($0.number + 1, nil) } }
                result.receive(event)
            case .finished:
                let last = waiting.withLock { waiting in
                    defer { waiting.event = nil }
                    return waiting.event
                }
                if let last, self != .debounceLosesTheLast { result.receive(last) }
                result.finish()
            }
        }
    }

    private func throttle(_ source: Observer<String>, _ clock: ManualScheduler) -> Observer<String>? {
        guard self == .throttleCountsErrors || self == .throttleCountsDroppedData || self == .throttleIsOneOff else { return nil }
        let last = Locked<Duration?>(nil)
        return source.bind { outcome in
            let now = clock.uptime
            guard case .success = outcome else {
                if self == .throttleCountsErrors { last.withLock { $0 = now } }
                return .emit(outcome)
            }
            let isDue = last.withLock { last in
                let passed = last.map { now - $0 } ?? .seconds(100)
                let isDue = self == .throttleIsOneOff ? passed > .seconds(10) : passed >= .seconds(10)
                if isDue || self == .throttleCountsDroppedData { last = now }
                return isDue
            }
            return isDue ? .emit(outcome) : .nothing
        }
    }
}
