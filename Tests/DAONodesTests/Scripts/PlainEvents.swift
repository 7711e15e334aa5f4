import DAONodes

// The reference model of observers, operators and stores: one thread, texts alone, nothing generic. It is written from
// the documentation of each.

enum PlainOutcome: Equatable {
    case data(String)
    case error(String)

    var isData: Bool {
        if case .data = self { true } else { false }
    }
}

enum PlainEvent {
    case outcome(PlainOutcome)
    case finished
    case cancelled
}

/// What an observer is.
final class PlainObserver {
    var keepsEvery: Bool
    private(set) var isFinished = false
    private(set) var isCancelled = false
    private let isMulticast: Bool
    /// What waits for a listener.
    private var waiting: [PlainOutcome] = []
    private var hasEmitted = false
    private var owesDeferred = false
    private var owesCancelled = false
    private var listeners: [ListenerKind: [(String) -> Void]] = [:]
    private var below: ((PlainEvent) -> Void)?
    private var above: [PlainObserver] = []

    init(keepsEvery: Bool = false, isMulticast: Bool = false) {
        self.keepsEvery = keepsEvery
        self.isMulticast = isMulticast
    }

    func keepEvery(as source: PlainObserver) {
        if source.keepsEvery, !isMulticast { keepsEvery = true }
    }

    // MARK: Events

    func emit(_ outcome: PlainOutcome) {
        guard !isFinished, !isCancelled else { return }
        let kind = outcome.isData ? ListenerKind.data : .error
        if !keepsEvery {
            waiting = [outcome]
        } else if below == nil, listeners[kind, default: []].isEmpty {
            waiting.append(outcome)
        }
        hasEmitted = true
        let called = listeners[kind, default: []]
        let deferred = listeners[.deferred, default: []]
        owesDeferred = deferred.isEmpty
        below?(.outcome(outcome))
        for listener in called where !isCancelled { call(listener, outcome) }
        for listener in deferred where !isCancelled { listener("") }
    }

    private func call(_ listener: (String) -> Void, _ outcome: PlainOutcome) {
        switch outcome {
        case .data(let text), .error(let text): listener(text)
        }
    }

    func finish() {
        guard !isFinished, !isCancelled else { return }
        isFinished = true
        above = []
        below?(.finished)
    }

    /// Goes down always, and up unless the work is done.
    func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        waiting = []
        let (cancelled, deferred) = (listeners[.cancelled, default: []], listeners[.deferred, default: []])
        (owesCancelled, owesDeferred) = (cancelled.isEmpty, deferred.isEmpty)
        listeners = [:]
        below?(.cancelled)
        for listener in cancelled { listener("") }
        for listener in deferred { listener("") }
        let sources = above
        above = []
        for source in sources { source.cancel() }
    }

    // MARK: Listeners

    func listen(_ kind: ListenerKind, _ listener: @escaping (String) -> Void) {
        if !isCancelled { listeners[kind] = (isMulticast ? listeners[kind, default: []] : []) + [listener] }
        switch kind {
        case .data, .error:
            let isData = kind == .data
            let replayed = waiting.filter { $0.isData == isData }
            if !isMulticast { waiting.removeAll { $0.isData == isData } }
            for outcome in replayed where !isCancelled { call(listener, outcome) }
        case .cancelled:
            guard isCancelled, owesCancelled || isMulticast else { return }
            owesCancelled = false
            listener("")
        case .deferred:
            guard owesDeferred || isMulticast && (hasEmitted || isCancelled) else { return }
            owesDeferred = false
            listener("")
        }
    }

    func unsubscribe() { listeners = [:] }

    /// Passes all events, those that wait first, to one observer below.
    func attach(_ receive: @escaping (PlainEvent) -> Void) {
        guard !isCancelled else { return receive(.cancelled) }
        below = receive
        let replayed = waiting
        if !isMulticast { waiting = [] }
        for outcome in replayed where !isCancelled { receive(.outcome(outcome)) }
        if isFinished, !isCancelled { receive(.finished) }
    }

    // MARK: Sources

    /// Cancels a source with this observer.
    func link(_ source: PlainObserver) {
        if isCancelled { return source.cancel() }
        if !isFinished { above.append(source) }
    }

    func unlink(_ source: PlainObserver) { above.removeAll { $0 === source } }

    func receive(_ event: PlainEvent) {
        switch event {
        case .outcome(let outcome): emit(outcome)
        case .finished: finish()
        case .cancelled: cancel()
        }
    }

    /// Passes everything on.
    func forward(to other: PlainObserver) {
        other.link(self)
        attach { [self] event in
            other.keepEvery(as: self)
            other.receive(event)
        }
    }

    /// Calls the closure with the first event.
    func first(for result: PlainObserver, _ handle: @escaping (PlainOutcome) -> Void) {
        result.link(self)
        var isHandled = false
        attach { [self] event in
            guard !isHandled else { return }
            isHandled = true
            result.unlink(self)
            switch event {
            case .outcome(let outcome): handle(outcome)
            case .finished: handle(.error("\(ObserverError.finishedWithoutValue)"))
            case .cancelled: result.cancel()
            }
        }
    }

    enum Step {
        case emit(PlainOutcome)
        case follow(PlainObserver, (PlainOutcome) -> PlainOutcome)
        case nothing
    }

    /// The result ends with this observer and all that it follows.
    func operate(_ transform: @escaping (PlainOutcome) -> Step) -> PlainObserver {
        let result = PlainObserver()
        var running = 1
        func end() {
            running -= 1
            if running == 0 { result.finish() }
        }
        result.link(self)
        attach { [self] event in
            result.keepEvery(as: self)
            switch event {
            case .finished: return end()
            case .cancelled: return result.cancel()
            case .outcome(let outcome):
                switch transform(outcome) {
                case .emit(let made): result.emit(made)
                case .nothing: break
                case .follow(let inner, let change):
                    running += 1
                    result.link(inner)
                    inner.attach { event in
                        result.keepEvery(as: inner)
                        switch event {
                        case .outcome(let outcome): result.emit(change(outcome))
                        case .cancelled: result.cancel()
                        case .finished:
                            result.unlink(inner)
                            end()
                        }
                    }
                }
            }
        }
        return result
    }
}

/// Runs a script on the model.
final class PlainEvents {
    private(set) var log: [String] = []
    private let script: EventScript
    private var contexts: [PlainObserver?] = []
    private var result: PlainObserver?
    private var listeners = 0
    private var cancelsInside = false
    private var now = 0
    private var timers: [(due: Int, work: () -> Void)] = []

    init(_ script: EventScript) {
        self.script = script
        switch script.root {
        case .context: contexts.append(PlainObserver())
        case .keepingContext: contexts.append(PlainObserver(keepsEvery: true))
        case .multicast: contexts.append(PlainObserver(isMulticast: true))
        default: break
        }
    }

    var state: String {
        "\(contexts.map { $0.map { $0.isCancelled && !$0.isFinished ? "x" : "." } ?? "-" }.joined())\(result?.isCancelled == true)"
    }

    func make() {
        let base: PlainObserver
        switch script.root {
        case .context, .keepingContext, .multicast:
            guard let source = contexts[0] else { return }
            base = source
        case .firstCache: base = firstCache()
        case .fallback: base = fallback()
        case .staleAfter: base = staleAfter()
        }
        result = script.operators.reduce(base) { apply($1, to: $0) }
    }

    private func inner(_ text: String) -> PlainObserver {
        let index = script.salt + contexts.count
        let made = PlainObserver()
        switch EventScript.Inner(text, index: index) {
        case .open: break
        case .emitted:
            made.emit(.data("\(index)e"))
            made.finish()
        case .failed:
            made.emit(.error("\(index)f"))
            made.finish()
        case .keeping:
            made.keepsEvery = true
            made.emit(.data("\(index)a"))
            made.emit(.data("\(index)b"))
        }
        contexts.append(made)
        return made
    }

    private func context(_ number: Int) -> PlainObserver? { contexts.isEmpty ? nil : contexts[number % contexts.count] }

    func run(_ step: EventStep) {
        switch step {
        case .data(let number, let text): context(number)?.emit(.data(text))
        case .error(let number, let error): context(number)?.emit(.error(error.name))
        case .otherError(let number, let error): context(number)?.emit(.error("other \(error.name)"))
        case .finish(let number): context(number)?.finish()
        case .cancel(let number): context(number)?.cancel()
        case .release(let number):
            guard let released = context(number) else { return }
            contexts[number % contexts.count] = nil
            // A result without operators has another owner.
            if released !== result { released.finish() }
        case .advance(let seconds):
            let end = now + seconds
            while let next = timers.indices.filter({ timers[$0].due <= end }).min(by: { timers[$0].due < timers[$1].due }) {
                now = timers[next].due
                timers.remove(at: next).work()
            }
            now = end
        case .listen(let kind): if let result { listen(kind, to: result) }
        case .unsubscribe: result?.unsubscribe()
        case .cancelResult: result?.cancel()
        case .cancelInside: cancelsInside = true
        }
    }

    private func listen(_ kind: ListenerKind, to result: PlainObserver) {
        listeners += 1
        let number = listeners
        result.listen(kind) { [self] text in
            switch kind {
            case .data:
                log.append("\(number) data \(text)")
                if cancelsInside {
                    cancelsInside = false
                    result.cancel()
                }
            case .error: log.append("\(number) error \(text)")
            case .cancelled: log.append("\(number) cancelled")
            case .deferred: log.append("\(number) defer")
            }
        }
    }

    // MARK: Stores

    private func isUsable(_ outcome: PlainOutcome) -> Bool {
        if case .data(let text) = outcome { weight(text) % 3 > 0 } else { false }
    }

    /// The stored result, if it is usable, and then the network's.
    private func firstCache() -> PlainObserver {
        let result = PlainObserver(keepsEvery: true)
        inner("stored").first(for: result) { [self] outcome in
            if isUsable(outcome) { result.emit(outcome) }
            // Whoever has enough of the stored result asks nobody else.
            if !result.isCancelled { inner("network").forward(to: result) }
        }
        return result
    }

    /// The network's result, or the stored one after an error that falls back.
    private func fallback() -> PlainObserver {
        inner("network").operate { [self] outcome in
            guard case .error(let name) = outcome, weight(name) % 2 == 0 else { return .emit(outcome) }
            let result = PlainObserver()
            inner("stored").first(for: result) { [self] stored in
                result.emit(isUsable(stored) ? stored : outcome)
                result.finish()
            }
            return .follow(result) { $0 }
        }
    }

    /// The stored result, unless it is older than nine seconds, or nobody knows.
    private func staleAfter() -> PlainObserver {
        let result = PlainObserver()
        inner("stored").first(for: result) { [self] outcome in
            if case .data(let text) = outcome, weight(text) % 4 == 2 {
                result.emit(outcome)
                result.finish()
            } else {
                inner("network").forward(to: result)
            }
        }
        return result
    }

    // MARK: Operators

    private func apply(_ kind: EventOperator, to source: PlainObserver) -> PlainObserver {
        switch kind {
        case .map:
            return onData(source) { .emit(weight($0) % 5 == 0 ? .error($0 + "m") : .data($0 + "m")) }
        case .flatMap:
            return onData(source) { [self] in weight($0) % 7 == 0 ? .emit(.error($0 + "f")) : .follow(inner($0)) { $0 } }
        case .filter:
            return onData(source) { .emit(.data([$0, $0 + "x"].filter { weight($0) % 2 == 0 }.joined(separator: "|"))) }
        case .mapError: return onError(source) { .emit(.error("e" + $0)) }
        case .renameError: return onError(source) { .emit(.error("n" + $0)) }
        case .recover:
            return onError(source) { [self] in weight($0) % 3 == 0 ? .emit(.error("r" + $0)) : .follow(inner($0)) { $0 } }
        case .catchError:
            return onError(source) { [self] name in
                guard name.hasPrefix("other ") else { return .emit(.error(name)) }
                log.append("caught \(name.dropFirst(6))")
                return .nothing
            }
        case .combine:
            return onData(source) { [self] text in .follow(inner("c")) { Self.pair(text, $0) } }
        case .combineTolerance:
            return source.operate { [self] first in
                .follow(inner("t")) { second in
                    switch (first, second) {
                    case (.data(let first), .data(let second)): .data("(\(first),\(second))")
                    case (.data(let first), .error): .data("(\(first),nil)")
                    case (.error, .data(let second)): .data("(nil,\(second))")
                    case (.error, .error): second
                    }
                }
            }
        case .chain:
            return onData(source) { [self] text in
                switch weight(text) % 6 {
                case 0: .emit(.error("\(ObserverError.nothingToChain)"))
                case 1: .emit(.error(text + "c"))
                default: .follow(inner(text)) { Self.pair(text, $0) }
                }
            }
        case .debounce: return debounce(source)
        case .throttle:
            var last: Int?
            return onData(source) { [self] text in
                if let last, now - last < 10 { return .nothing }
                last = now
                return .emit(.data(text))
            }
        case .multicast:
            let result = PlainObserver(isMulticast: true)
            source.forward(to: result)
            return result
        }
    }

    private static func pair(_ text: String, _ outcome: PlainOutcome) -> PlainOutcome {
        if case .data(let other) = outcome { .data("(\(text),\(other))") } else { outcome }
    }

    private func onData(_ source: PlainObserver, _ body: @escaping (String) -> PlainObserver.Step) -> PlainObserver {
        source.operate { if case .data(let text) = $0 { body(text) } else { .emit($0) } }
    }

    private func onError(_ source: PlainObserver, _ body: @escaping (String) -> PlainObserver.Step) -> PlainObserver {
        source.operate { if case .error(let name) = $0 { body(name) } else { .emit($0) } }
    }

    /// Data that no other data and no error follows for ten seconds; at the end, at once.
    private func debounce(_ source: PlainObserver) -> PlainObserver {
        let result = PlainObserver()
        var latest: (number: Int, text: String)?
        var number = 0
        result.link(source)
        source.attach { [self] event in
            result.keepEvery(as: source)
            switch event {
            case .outcome(.data(let text)):
                number += 1
                let own = number
                latest = (own, text)
                timers.append(
                    (
                        now + 10,
                        {
                            guard let waiting = latest, waiting.number == own else { return }
                            latest = nil
                            result.emit(.data(waiting.text))
                        }
                    ))
            case .outcome(.error(let name)):
                latest = nil
                result.emit(.error(name))
            case .cancelled:
                latest = nil
                result.cancel()
            case .finished:
                if let waiting = latest { result.emit(.data(waiting.text)) }
                latest = nil
                result.finish()
            }
        }
        return result
    }
}
