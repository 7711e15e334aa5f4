import DAOTransport

extension Observer {
    /// The first outcome: a waiting outcome, otherwise the next.
    ///
    /// Waiting replaces the listeners of this observer. Cancelling the task cancels the observer.
    ///
    /// - Throws: the error, when that is the outcome; `CancellationError` when the observer is cancelled;
    ///   ``ObserverError/finishedWithoutValue`` when it finishes first.
    public final var value: Model {
        get async throws { try await FirstOutcome<Model>.wait { self } }
    }

    /// All emissions, until the observer finishes. An error ends the sequence.
    ///
    /// This property replaces the listeners of this observer; from then on emissions wait for the reader of
    /// the sequence. Leaving the loop, or cancelling its task, cancels the observer. Cancelling the observer
    /// ends the sequence with `CancellationError`.
    ///
    /// ```swift
    /// for try await dialogs in node.process().values { show(dialogs) }
    /// ```
    public final var values: AsyncThrowingStream<Model, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Model.self, throwing: (any Error).self)
        continuation.onTermination = { [weak self] termination in
            if case .cancelled = termination { self?.cancel() }
        }
        listen { event in
            switch event {
            case .data(let data): continuation.yield(data)
            case .error(let error): continuation.finish(throwing: error)
            case .cancelled: continuation.finish(throwing: CancellationError())
            case .finished: continuation.finish()
            }
        }
        return stream
    }

    /// Transforms the data with `await`, one element at a time. The next transformation begins when the
    /// previous result has been emitted, so results and errors are in the order of the data.
    ///
    /// Cancelling the result cancels the running transformation and this observer. A `CancellationError` of
    /// the transformation cancels the result.
    public final func mapInOrder<Output: Sendable>(
        _ transform: @escaping @Sendable (Model) async throws -> Output
    ) -> Observer<Output> {
        let result = Context<Output>()
        let (outcomes, continuation) = AsyncStream.makeStream(of: Result<Model, any Error>.self)
        let task = Task {
            for await outcome in outcomes {
                // The stream returns buffered elements to a cancelled task too.
                guard !Task.isCancelled else { return result.cancel() }
                do {
                    result.emit(data: try await transform(outcome.get()))
                } catch {
                    guard !(error is CancellationError), !Task.isCancelled else { return result.cancel() }
                    result.emit(error: error)
                }
            }
            result.finish()
        }
        result.link { task.cancel() }
        listen(for: result) { event in
            switch event {
            case .data(let data): continuation.yield(.success(data))
            case .error(let error): continuation.yield(.failure(error))
            case .cancelled: result.cancel()
            case .finished: continuation.finish()
            }
        }
        return result
    }

    /// Returns an observer of asynchronous work, which starts immediately in a separate task.
    ///
    /// Cancelling the observer cancels the task. A `CancellationError`, or any error after the task was
    /// cancelled, cancels the observer and is never emitted.
    public static func task(
        priority: TaskPriority? = nil,
        _ work: @escaping @Sendable () async throws -> Model
    ) -> Observer<Model> {
        let context = Context<Model>()
        let task = Task(priority: priority) {
            do {
                context.emit(data: try await work()).finish()
            } catch {
                context.end(with: error)
            }
        }
        context.link { task.cancel() }
        return context
    }

    /// Returns an observer that emits all elements of a sequence. It reads the sequence immediately in a
    /// separate task, and keeps every element until a listener subscribes.
    ///
    /// Cancelling the observer cancels the task. An error ends the sequence and is emitted.
    public static func sequence<Elements: AsyncSequence & Sendable>(
        _ elements: Elements,
        priority: TaskPriority? = nil
    ) -> Observer<Model> where Elements.Element == Model {
        let context = Context<Model>(keepsEveryOutcome: true)
        let task = Task(priority: priority) {
            do {
                for try await element in elements { context.emit(data: element) }
                context.finish()
            } catch {
                context.end(with: error)
            }
        }
        context.link { task.cancel() }
        return context
    }

    private final func end(with error: any Error) {
        if error is CancellationError || Task.isCancelled {
            cancel()
        } else {
            emit(.failure(error))
            finishEmitting()
        }
    }
}

/// Waits for the first outcome of an observer without keeping the observer alive.
///
/// The wait ends as finished when no emitter is left.
final class FirstOutcome<Model: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Model, any Error>?
        var outcome: Result<Model, any Error>?
        var cancelSource: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    static func wait(for start: () -> Observer<Model>) async throws -> Model {
        let waiter = FirstOutcome()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiter.state.withLock { $0.continuation = continuation }
                waiter.attach(to: start())
            }
        } onCancel: {
            // The outcome is set first: a source that is attached later sees it and is cancelled there.
            waiter.settle(.failure(CancellationError()))
            waiter.state.withLock { $0.cancelSource }?()
        }
    }

    private func attach(to observer: Observer<Model>) {
        let isSettled = state.withLock { state in
            state.cancelSource = { [weak observer] in observer?.cancel() }
            return state.outcome != nil
        }
        if isSettled { observer.cancel() }
        observer.listen { event in
            switch event {
            case .data(let data): self.settle(.success(data))
            case .error(let error): self.settle(.failure(error))
            case .cancelled: self.settle(.failure(CancellationError()))
            case .finished: self.settle(.failure(ObserverError.finishedWithoutValue))
            }
        }
        // A cancellation can come before the continuation is set.
        resume()
    }

    private func settle(_ outcome: Result<Model, any Error>) {
        state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
        }
        resume()
    }

    private func resume() {
        let (continuation, outcome) = state.withLock { state in
            guard let outcome = state.outcome, let continuation = state.continuation else {
                return (CheckedContinuation<Model, any Error>?.none, state.outcome)
            }
            state.continuation = nil
            return (continuation, outcome)
        }
        if let continuation, let outcome { continuation.resume(with: outcome) }
    }
}
