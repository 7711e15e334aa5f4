import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A running task of a URL session. It collects the response and delivers it once.
final class Transfer: Sendable {
    typealias Outcome = (data: Data, response: URLResponse?, error: (any Error)?)

    enum Counted {
        case received
        case sent
    }

    private struct State {
        var task: URLSessionTask?
        var response: URLResponse?
        var data = Data()
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private let request: URLRequest
    private let limits: TransferLimits
    private let progress: Progress?
    private let counted: Counted
    private let state = Locked(State())

    init(_ request: URLRequest, limits: TransferLimits, progress: Progress?, counting counted: Counted) {
        self.request = request
        self.limits = limits
        self.progress = progress
        self.counted = counted
    }

    /// Starts the task and waits for its end, or for the deadline. Cancelling the surrounding task, or the
    /// progress, stops it.
    ///
    /// - Parameter makeTask: makes the suspended task, on ``TransferSession/calls``.
    func outcome(before end: DispatchTime, _ makeTask: @escaping @Sendable () -> URLSessionTask) async -> Outcome {
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { [weak self] in
            guard let self else { return }
            stop(TransferError.deadlineExceeded(limits.deadline))
        }
        timer.schedule(deadline: end)
        timer.resume()
        defer { timer.cancel() }
        progress?.cancellationHandler = { [weak self] in self?.cancel() }
        if progress?.isCancelled == true { cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Outcome? in
                    if state.outcome == nil { state.continuation = continuation }
                    return state.outcome
                }
                if let outcome { return continuation.resume(returning: outcome) }
                TransferSession.calls.async { self.start(makeTask) }
            }
        } onCancel: {
            cancel()
        }
    }

    private func start(_ makeTask: () -> URLSessionTask) {
        guard state.withLock({ $0.outcome == nil }) else { return }
        let task = makeTask()
        let isStopped = state.withLock { state in
            state.task = task
            return state.outcome != nil
        }
        if isStopped { task.cancel() } else { task.resume() }
    }

    private func cancel() {
        stop(CancellationError())
    }

    /// Ends the transfer with an error at once, and keeps no more of what arrives. The session can still be
    /// busy with it: Foundation on Linux cancels nothing while it decompresses.
    private func stop(_ error: any Error) {
        guard deliver(error) else { return }
        guard let task = state.withLock({ $0.task }) else { return }
        TransferSession.calls.async { task.cancel() }
    }

    func receive(_ response: URLResponse) {
        let isEmpty =
            request.httpMethod == "HEAD" || [204, 304].contains((response as? HTTPURLResponse)?.statusCode)
        guard isEmpty || response.expectedContentLength <= limits.maximumBodySize else { return refuseBody() }
        state.withLock {
            $0.response = response
            $0.data = Data()
        }
        if counted == .received { progress?.totalUnitCount = response.expectedContentLength }
    }

    func receive(_ data: Data) {
        let count = state.withLock { state in
            guard state.outcome == nil else { return 0 }
            let count = state.data.count + data.count
            if count <= limits.maximumBodySize { state.data.append(data) }
            return count
        }
        if count > limits.maximumBodySize { return refuseBody() }
        if count > 0, counted == .received { progress?.completedUnitCount = Int64(count) }
    }

    private func refuseBody() {
        stop(TransferError.bodyTooLarge(limit: limits.maximumBodySize))
    }

    func sent(_ count: Int64, of total: Int64) {
        guard counted == .sent else { return }
        progress?.totalUnitCount = total
        progress?.completedUnitCount = count
    }

    /// Ends the transfer as the session reports it.
    func finish(_ error: (any Error)?) {
        deliver(nil, reported: error)
    }

    /// Delivers the outcome. An error of our own counts more than what the session reports.
    ///
    /// - Returns: whether it was the first; a later one has no effect.
    @discardableResult
    private func deliver(_ ownError: (any Error)?, reported: (any Error)? = nil) -> Bool {
        let first = state.withLock { state -> (continuation: CheckedContinuation<Outcome, Never>?, outcome: Outcome)? in
            guard state.outcome == nil else { return nil }
            let response = state.response ?? state.task?.response
            let error = ownError ?? Self.judge(reported, response, received: state.data.count, of: request)
            let outcome: Outcome = (ownError == nil ? state.data : Data(), response, error)
            defer { state = State(task: state.task, response: response, outcome: outcome) }
            return (state.continuation, outcome)
        }
        guard let (continuation, outcome) = first else { return false }
        if let progress, outcome.error == nil, progress.totalUnitCount < progress.completedUnitCount {
            progress.totalUnitCount = progress.completedUnitCount
        }
        continuation?.resume(returning: outcome)
        return true
    }

    /// The error that the caller receives: `URLError` for URL errors, and a lost connection for a body shorter
    /// than the server announced. Not every platform reports the last case itself, nor delivers the body of a
    /// redirect.
    private static func judge(
        _ error: (any Error)?,
        _ response: URLResponse?,
        received: Int,
        of request: URLRequest
    ) -> (any Error)? {
        if let error {
            if let error = error as? URLError { return error.withoutSecrets }
            let underlying = error as NSError
            guard underlying.domain == NSURLErrorDomain else { return error }
            return URLError(_nsError: underlying).withoutSecrets
        }
        guard let http = response as? HTTPURLResponse,
            http.value(forHTTPHeaderField: "Content-Encoding") == nil,
            let announced = http.value(forHTTPHeaderField: "Content-Length").flatMap(Int.init),
            announced > received, request.httpMethod != "HEAD", http.statusCode != 204, !(301...308).contains(http.statusCode)
        else { return nil }
        return URLError(.networkConnectionLost)
    }
}
