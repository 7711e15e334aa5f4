import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What does the work of a transfer: the task of a URL session, or another client's.
package protocol TransferTask: Sendable {
    /// The response, where the task has one that it did not report.
    var response: URLResponse? { get }
    /// Starts the work.
    func resume()
    /// Ends the work. It may report more, which has no effect.
    func cancel()
}

extension URLSessionTask: TransferTask {}

/// A request that is being sent. It collects the response within its limits and delivers it once.
package final class Transfer: Sendable {
    package typealias Outcome = (data: Data, response: URLResponse?, error: (any Error)?)

    package enum Counted: Sendable {
        case received
        case sent
    }

    private struct State {
        var task: (any TransferTask)?
        var response: URLResponse?
        var data = Data()
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private let request: URLRequest
    private let limits: TransferLimits
    private let progress: Progress?
    private let counted: Counted
    private let calls: DispatchQueue?
    private let state = Locked(State())

    /// - Parameter calls: where the task is made, started and cancelled; nil where these calls never block.
    package init(
        _ request: URLRequest,
        limits: TransferLimits,
        progress: Progress?,
        counting counted: Counted,
        calls: DispatchQueue? = nil
    ) {
        self.request = request
        self.limits = limits
        self.progress = progress
        self.counted = counted
        self.calls = calls
    }

    /// Starts the task and waits for its end, or for the deadline. Cancelling the surrounding task, or the
    /// progress, stops it.
    ///
    /// - Parameter makeTask: makes the suspended task.
    package func outcome(before end: DispatchTime, _ makeTask: @escaping @Sendable () -> any TransferTask) async -> Outcome {
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
                call { self.start(makeTask) }
            }
        } onCancel: {
            cancel()
        }
    }

    private func call(_ work: @escaping @Sendable () -> Void) {
        if let calls { calls.async(execute: work) } else { work() }
    }

    private func start(_ makeTask: () -> any TransferTask) {
        guard state.withLock({ $0.outcome == nil }) else { return }
        let task = makeTask()
        let isStopped = state.withLock { state in
            guard state.outcome == nil else { return true }
            state.task = task
            return false
        }
        if isStopped { task.cancel() } else { task.resume() }
    }

    private func cancel() {
        stop(CancellationError())
    }

    /// Ends the transfer with an error at once, and keeps no more of what arrives. The session can still be
    /// busy with it: Foundation on Linux cancels nothing while it decompresses.
    package func stop(_ error: any Error) {
        guard let task = deliver(error) else { return }
        call { task.cancel() }
    }

    /// Takes the response before its body, and refuses one that is too large.
    package func receive(_ response: URLResponse) {
        let size = (response as? HTTPURLResponse)?.sizeOfHeaders ?? 0
        guard size <= limits.maximumHeaderSize else {
            return stop(TransferError.headersTooLarge(limit: limits.maximumHeaderSize))
        }
        let isEmpty =
            request.httpMethod == "HEAD" || [204, 304].contains((response as? HTTPURLResponse)?.statusCode)
        guard isEmpty || response.expectedContentLength <= limits.maximumBodySize else { return refuseBody() }
        state.withLock {
            $0.response = response
            $0.data = Data()
        }
        if counted == .received { progress?.totalUnitCount = response.expectedContentLength }
    }

    /// Takes more of the body.
    ///
    /// - Returns: whether more of it is wanted.
    @discardableResult
    package func receive(_ data: Data) -> Bool {
        let count = state.withLock { state in
            guard state.outcome == nil else { return nil as Int? }
            let count = state.data.count + data.count
            if count <= limits.maximumBodySize { state.data.append(data) }
            return count
        }
        guard let count else { return false }
        guard count <= limits.maximumBodySize else {
            refuseBody()
            return false
        }
        if counted == .received { progress?.completedUnitCount = Int64(count) }
        return true
    }

    private func refuseBody() {
        stop(TransferError.bodyTooLarge(limit: limits.maximumBodySize))
    }

    /// Counts the bytes of the request's body that were sent.
    package func sent(_ count: Int64, of total: Int64) {
        guard counted == .sent else { return }
        progress?.totalUnitCount = total
        progress?.completedUnitCount = count
    }

    /// Ends the transfer as the task reports it.
    package func finish(_ error: (any Error)?) {
        deliver(nil, reported: error)
    }

    /// Delivers the outcome. An error of our own counts more than what the session reports.
    ///
    /// - Returns: the task, for the first outcome only; a later one has no effect.
    @discardableResult
    private func deliver(_ ownError: (any Error)?, reported: (any Error)? = nil) -> (any TransferTask)? {
        let (previous, delivered) = state.withLock { state -> (State, Outcome?) in
            guard state.outcome == nil else { return (State(), nil) }
            let response = state.response ?? state.task?.response
            let error = ownError ?? Self.judge(reported, response, received: state.data.count, of: request)
            let outcome: Outcome = (ownError == nil ? state.data : Data(), response, error)
            defer { state = State(response: response, outcome: outcome) }
            return (state, outcome)
        }
        guard let outcome = delivered else { return nil }
        if let progress, outcome.error == nil, progress.totalUnitCount < progress.completedUnitCount {
            progress.totalUnitCount = progress.completedUnitCount
        }
        previous.continuation?.resume(returning: outcome)
        return previous.task
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

extension HTTPURLResponse {
    /// The bytes of all headers: names, values, and four more for each line.
    fileprivate var sizeOfHeaders: Int {
        allHeaderFields.reduce(0) { $0 + "\($1.key)".utf8.count + "\($1.value)".utf8.count + 4 }
    }
}
