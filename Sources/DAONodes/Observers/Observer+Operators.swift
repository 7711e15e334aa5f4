import DAOTransport

/// The result of an operator for one outcome of its source.
enum Step<Output: Sendable>: Sendable {
    case emit(Result<Output, any Error>)
    case follow(Observer<Output>)
    case nothing
}

extension Observer {
    /// The base of all operators: turns every outcome into a step. When the closure throws, the step is an
    /// error.
    ///
    /// The result finishes when this observer and all followed observers have finished.
    final func bind<Output: Sendable>(
        _ transform: @escaping @Sendable (Result<Model, any Error>) throws -> Step<Output>
    ) -> Observer<Output> {
        let result = Context<Output>()
        let running = RunningSources { result.finish() }
        // The closure can run on any thread; the work that it starts has the same log.
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

    /// Transforms the data. An error of the closure is emitted.
    public final func map<Output: Sendable>(_ transform: @escaping @Sendable (Model) throws -> Output) -> Observer<Output> {
        bind { outcome in
            switch outcome {
            case .success(let data): .emit(.success(try transform(data)))
            case .failure(let error): .emit(.failure(error))
            }
        }
    }

    /// Continues with another observer, made from the data: a flat map.
    ///
    /// The result has the data, errors and cancellation of that observer. When this observer emits again,
    /// earlier observers stay subscribed, and the result emits the outcomes of all in the order of arrival.
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

    /// Emits the elements for which the closure returns true. An empty list is emitted too.
    public final func filter<Element>(_ isIncluded: @escaping @Sendable (Element) throws -> Bool) -> Observer<[Element]>
    where Model == [Element] {
        map { elements in try elements.filter(isIncluded) }
    }

    // MARK: Errors

    /// Transforms the errors.
    public final func mapError(_ transform: @escaping @Sendable (any Error) -> any Error) -> Observer<Model> {
        bind { outcome in .emit(outcome.mapError(transform)) }
    }

    /// Continues with another observer after an error: to recover from it, or to fail with another error. An
    /// error of the closure is emitted.
    public final func mapError(_ transform: @escaping @Sendable (any Error) throws -> Observer<Model>) -> Observer<Model> {
        bind { outcome in
            switch outcome {
            case .success: .emit(outcome)
            case .failure(let error): .follow(try transform(error))
            }
        }
    }

    /// Transforms the errors. Same as ``mapError(_:)-((Error)->Error)``.
    public final func map(_ transform: @escaping @Sendable (any Error) -> any Error) -> Observer<Model> {
        mapError(transform)
    }

    /// Removes the errors of one type from the result and passes them to a closure. Other errors are emitted.
    ///
    /// For a removed error the result calls neither `onError` nor `defer`.
    public final func catchError<Caught: Error>(_ handle: @escaping @Sendable (Caught) -> Void) -> Observer<Model> {
        bind { outcome in
            guard case .failure(let error as Caught) = outcome else { return .emit(outcome) }
            handle(error)
            return .nothing
        }
    }

    // MARK: Several observers

    /// Emits the data together with the data of a second observer. The closure makes the second observer each
    /// time this observer emits data. The first error or cancellation of either observer is the result.
    public final func combine<Other: Sendable>(
        _ provider: @autoclosure @escaping @Sendable () -> Observer<Other>
    ) -> Observer<(Model, Other)> {
        map { data in provider().map { other in (data, other) } }
    }

    /// Emits the outcomes of this observer and of a second observer, which is made when this observer has an
    /// outcome. The data of a failed observer is nil. When both fail, the error of the second observer is
    /// emitted.
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

    /// Emits the data together with the data of a second observer, which is made from it.
    ///
    /// When the closure returns nil, the result fails with ``ObserverError/nothingToChain``.
    public final func chain<Other: Sendable>(
        with provider: @escaping @Sendable (Model) throws -> Observer<Other>?
    ) -> Observer<(Model, Other)> {
        map { (data: Model) throws -> Observer<(Model, Other)> in
            guard let other = try provider(data) else { throw ObserverError.nothingToChain }
            return other.map { other in (data, other) }
        }
    }

    /// Returns an observer with the same outcomes for any number of listeners.
    public final func multicast() -> Observer<Model> {
        let result = MulticastContext<Model>()
        forward(to: result)
        return result
    }

    /// Passes this observer to a closure, to inspect it in the middle of a chain.
    @discardableResult
    public final func process(_ body: (Observer<Model>) throws -> Void) rethrows -> Self {
        try body(self)
        return self
    }
}

/// Counts the running sources of a result.
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
