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
        var response: URLResponse?
        var data = Data()
        var isCancelled = false
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    let task: URLSessionTask
    private let progress: Progress?
    private let counted: Counted
    private let state = Locked(State())

    init(_ task: URLSessionTask, progress: Progress?, counting counted: Counted) {
        self.task = task
        self.progress = progress
        self.counted = counted
    }

    /// Starts the task and waits for its end. Cancelling the surrounding task, or the progress, stops it.
    func outcome() async -> Outcome {
        progress?.cancellationHandler = { [weak self] in self?.cancel() }
        if progress?.isCancelled == true { cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Outcome? in
                    if state.outcome == nil { state.continuation = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(returning: outcome) } else { task.resume() }
            }
        } onCancel: {
            cancel()
        }
    }

    private func cancel() {
        state.withLock { $0.isCancelled = true }
        task.cancel()
    }

    func receive(_ response: URLResponse) {
        state.withLock {
            $0.response = response
            $0.data = Data()
        }
        if counted == .received { progress?.totalUnitCount = response.expectedContentLength }
    }

    func receive(_ data: Data) {
        let count = state.withLock { state in
            state.data.append(data)
            return state.data.count
        }
        if counted == .received { progress?.completedUnitCount = Int64(count) }
    }

    func sent(_ count: Int64, of total: Int64) {
        guard counted == .sent else { return }
        progress?.totalUnitCount = total
        progress?.completedUnitCount = count
    }

    func finish(_ error: (any Error)?) {
        let (continuation, outcome) = state.withLock { state -> (CheckedContinuation<Outcome, Never>?, Outcome) in
            let response = state.response ?? task.response
            let error = Self.judge(error, state.isCancelled, response, received: state.data.count, of: task.originalRequest)
            let outcome: Outcome = state.outcome ?? (state.data, response, error)
            state.outcome = outcome
            defer { state.continuation = nil }
            return (state.continuation, outcome)
        }
        if let progress, outcome.error == nil, progress.totalUnitCount < progress.completedUnitCount {
            progress.totalUnitCount = progress.completedUnitCount
        }
        continuation?.resume(returning: outcome)
    }

    /// The error that the caller receives: `CancellationError` for a cancellation, `URLError` for URL errors,
    /// and a lost connection for a body shorter than the server announced. Not every platform reports the
    /// last case itself.
    private static func judge(
        _ error: (any Error)?,
        _ isCancelled: Bool,
        _ response: URLResponse?,
        received: Int,
        of request: URLRequest?
    ) -> (any Error)? {
        if isCancelled { return CancellationError() }
        if let error {
            if error is URLError { return error }
            let underlying = error as NSError
            guard underlying.domain == NSURLErrorDomain else { return error }
            return URLError(_nsError: underlying)
        }
        guard let http = response as? HTTPURLResponse,
            http.value(forHTTPHeaderField: "Content-Encoding") == nil,
            let announced = http.value(forHTTPHeaderField: "Content-Length").flatMap(Int.init),
            announced > received, request?.httpMethod != "HEAD", http.statusCode != 204, http.statusCode != 304
        else { return nil }
        return URLError(.networkConnectionLost)
    }
}

/// Forwards the session's events to the transfers of its tasks.
final class TransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Locked<[Int: Transfer]>([:])

    func run(_ transfer: Transfer) async -> Transfer.Outcome {
        transfers.withLock { $0[transfer.task.taskIdentifier] = transfer }
        return await transfer.outcome()
    }

    private func transfer(of task: URLSessionTask) -> Transfer? {
        transfers.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transfer(of: task)?.sent(totalBytesSent, of: totalBytesExpectedToSend)
    }

    #if canImport(FoundationNetworking)
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard challenge.proposedCredential == nil else { return completionHandler(.performDefaultHandling, nil) }
            // Without a credential, Foundation's default on Linux is to wait for ever, so the challenge is
            // refused.
            transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.finish(nil)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let transfer = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        transfer?.finish(error)
    }
}
