import DAOTransport

extension Observer {
    /// The first outcome: what is there already, else what comes next.
    ///
    /// Waiting takes over the listeners of this observer. Cancelling the task cancels the observer.
    ///
    /// - Throws: the error, when that is the outcome; `CancellationError` when the observer is cancelled;
    ///   ``ObserverError/finishedWithoutValue`` when it finishes first.
    public final var value: Model {
        get async throws { try await FirstOutcome<Model>.wait { self } }
    }

    /// Everything that is emitted, until the observer finishes. An error ends the sequence.
    ///
    /// Asking for it takes over the listeners of this observer; from then on emissions wait for whoever reads them. Leaving the
    /// loop, or cancelling its task, cancels the observer; the observer's own cancellation ends the sequence with
    /// `CancellationError`.
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

    /// Makes something else of the data with `await`, one piece after the other: the next is begun when the last has been emitted, so that
    /// results and errors come in the order of the data.
    ///
    /// Canceling the result cancels the work that is under way, and this observer. A `CancellationError` of the work cancels the
    /// result.
    public final func mapInOrder<Output: Sendable>(
        _ transform: @escaping @Sendable (Model) async throws -> Output
    ) -> Observer<Output> {
        let result = Context<Output>()
        let (outcomes, continuation) = AsyncStream.makeStream(of: Result<Model, any Error>.self)
        let task = Task {
            for await outcome in outcomes {
                // The stream gives what it has buffered also to a task that is cancelled.
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

    /// An observer of asynchronous work, which starts at once in a task of its own.
    ///
    /// Canceling the observer cancels the task. A `CancellationError`, or any error after the task was cancelled, cancels the
    /// observer and is never emitted.
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

    /// An observer that emits everything a sequence has, reading it at once in a task of its own. It keeps every element until
    /// somebody listens.
    ///
    /// Canceling the observer cancels the task. An error ends the sequence and is emitted.
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
/// What would be waited for in vain, because nobody is left who could emit, ends as finished.
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
            // First the outcome: a source that is attached after this sees it and is cancelled there.
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
        // A cancellation may have come before there was a continuation to resume.
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
