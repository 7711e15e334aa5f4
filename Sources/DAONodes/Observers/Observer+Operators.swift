import DAOTransport

/// What an operator makes of one outcome of its source.
enum Step<Output: Sendable>: Sendable {
    case emit(Result<Output, any Error>)
    case follow(Observer<Output>)
    case nothing
}

extension Observer {
    /// The heart of the operators: turns every outcome into a step. A closure that throws makes the step an error.
    ///
    /// The result finishes when this observer and everything followed have.
    final func bind<Output: Sendable>(
        _ transform: @escaping @Sendable (Result<Model, any Error>) throws -> Step<Output>
    ) -> Observer<Output> {
        let result = Context<Output>()
        let running = RunningSources { result.finish() }
        // The closure may run on any thread; what it starts belongs to the same log.
        let log = ChainLog.current

        let follow: @Sendable (Result<Model, any Error>) -> Void = { outcome in
            let step: Step<Output>
            do {
                step = try ChainLog.$current.withValue(log) { try transform(outcome) }
            } catch {
                step = .emit(.failure(error))
            }
            switch step {
            case .emit(let outcome): result.emit(outcome)
            case .nothing: break
            case .follow(let inner):
                running.begin()
                let unlink = result.link { [weak inner] in inner?.cancel() }
                inner.listen { [weak inner] event in
                    if inner?.keepsAll == true { result.keepAll() }
                    guard case .finished = event else { return result.receive(event) }
                    unlink()
                    running.end()
                }
            }
        }

        listen(for: result) { event in
            switch event {
            case .data(let data): follow(.success(data))
            case .error(let error): follow(.failure(error))
            case .cancelled: result.cancel()
            case .finished: running.end()
            }
        }
        return result
    }

    // MARK: Data

    /// Makes something else of the data. What the closure throws becomes an error.
    public final func map<Output: Sendable>(_ transform: @escaping @Sendable (Model) throws -> Output) -> Observer<Output> {
        bind { outcome in
            switch outcome {
            case .success(let data): .emit(.success(try transform(data)))
            case .failure(let error): .emit(.failure(error))
            }
        }
    }

    /// Goes on with another observer, made of the data: a flat map.
    ///
    /// Its data, errors and cancellation become those of the result. When this observer emits again, an earlier one stays
    /// subscribed, and the result emits whatever comes first.
    public final func map<Output: Sendable>(
        _ transform: @escaping @Sendable (Model) throws -> Observer<Output>
    ) -> Observer<Output> {
        bind { outcome in
            switch outcome {
            case .success(let data): .follow(try transform(data))
            case .failure(let error): .emit(.failure(error))
            }
        }
    }

    /// The elements for which a closure says true. An empty list is emitted like any other.
    public final func filter<Element>(_ isIncluded: @escaping @Sendable (Element) throws -> Bool) -> Observer<[Element]>
    where Model == [Element] {
        map { elements in try elements.filter(isIncluded) }
    }

    // MARK: Errors

    /// Makes another error of the errors.
    public final func mapError(_ transform: @escaping @Sendable (any Error) -> any Error) -> Observer<Model> {
        bind { outcome in .emit(outcome.mapError(transform)) }
    }

    /// Goes on with another observer after an error: to recover from it, or to fail in another way. What the closure throws
    /// becomes the error.
    public final func mapError(_ transform: @escaping @Sendable (any Error) throws -> Observer<Model>) -> Observer<Model> {
        bind { outcome in
            switch outcome {
            case .success: .emit(outcome)
            case .failure(let error): .follow(try transform(error))
            }
        }
    }

    /// Makes another error of the errors: another spelling of ``mapError(_:)-((any_Error)->any_Error)``.
    public final func map(_ transform: @escaping @Sendable (any Error) -> any Error) -> Observer<Model> {
        mapError(transform)
    }

    /// Takes the errors of one type out of the result and hands them to a closure; others go on.
    ///
    /// After an error that was taken out the result has neither called `onError` nor `defer`.
    public final func catchError<Caught: Error>(_ handle: @escaping @Sendable (Caught) -> Void) -> Observer<Model> {
        bind { outcome in
            guard case .failure(let error as Caught) = outcome else { return .emit(outcome) }
            handle(error)
            return .nothing
        }
    }

    // MARK: Several observers

    /// The data together with that of a second observer, which is made only when this one has data, and made anew each time it
    /// has. The first error or cancellation of either counts.
    public final func combine<Other: Sendable>(
        _ provider: @autoclosure @escaping @Sendable () -> Observer<Other>
    ) -> Observer<(Model, Other)> {
        map { data in provider().map { other in (data, other) } }
    }

    /// The outcomes of this observer and of a second one, made when this one has an outcome: nil stands for the one that
    /// failed. When both fail, the second one's error counts.
    public final func combineTolerance<Other: Sendable>(
        _ provider: @autoclosure @escaping @Sendable () -> Observer<Other>
    ) -> Observer<(Model?, Other?)> {
        bind { outcome in
            let data: Model? = try? outcome.get()
            return .follow(
                provider().bind { second -> Step<(Model?, Other?)> in
                    switch second {
                    case .success(let other):
                        let both: (Model?, Other?) = (data, other)
                        return .emit(.success(both))
                    case .failure(let error):
                        return .emit(data == nil ? .failure(error) : .success((data, nil)))
                    }
                }
            )
        }
    }

    /// The data together with that of a second observer, which is made of it.
    ///
    /// When the closure has none to give, the result fails with ``ObserverError/nothingToChain``.
    public final func chain<Other: Sendable>(
        with provider: @escaping @Sendable (Model) throws -> Observer<Other>?
    ) -> Observer<(Model, Other)> {
        map { (data: Model) throws -> Observer<(Model, Other)> in
            guard let other = try provider(data) else { throw ObserverError.nothingToChain }
            return other.map { other in (data, other) }
        }
    }

    /// The same outcomes for any number of listeners.
    public final func multicast() -> Observer<Model> {
        let result = MulticastContext<Model>()
        forward(to: result)
        return result
    }

    /// Hands this observer to a closure, to look at it in the middle of a chain.
    @discardableResult
    public final func process(_ body: (Observer<Model>) throws -> Void) rethrows -> Self {
        try body(self)
        return self
    }
}

/// Counts what a result still gets outcomes from, its source included.
private final class RunningSources: Sendable {
    private let count = Locked(1)
    private let whenDone: @Sendable () -> Void

    init(whenDone: @escaping @Sendable () -> Void) {
        self.whenDone = whenDone
    }

    func begin() {
        count.withLock { $0 += 1 }
    }

    func end() {
        let isDone = count.withLock { count in
            count -= 1
            return count == 0
        }
        if isDone { whenDone() }
    }
}
