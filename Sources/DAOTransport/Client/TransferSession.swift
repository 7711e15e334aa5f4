import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The URL session of a client's requests. It ends, after its running tasks, when this object is released.
final class TransferSession: Sendable {
    /// Makes, starts and cancels tasks. These calls may block: Foundation on Linux does the work of all sessions
    /// on one queue, and waits for it there. Here they block one thread, and none that runs Swift tasks.
    static let calls = DispatchQueue(label: "DAOTransport.calls")

    private let session: URLSession
    private let delegate = TransferDelegate()

    init(_ configuration: URLSessionConfiguration) {
        #if canImport(FoundationNetworking)
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: ImmediateQueue())
        #else
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        #endif
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// A session with the same configuration, but without cookies and stored credentials.
    func withoutCredentials() -> TransferSession {
        let configuration = (session.configuration.copy() as? URLSessionConfiguration) ?? .ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        return TransferSession(configuration)
    }

    /// Sends a request and waits for its response, a redirect included.
    func send(
        _ request: URLRequest,
        body: UploadEndpointBody?,
        limits: TransferLimits,
        before end: DispatchTime,
        progress: Progress?,
        counting counted: Transfer.Counted
    ) async -> Transfer.Outcome {
        let transfer = Transfer(request, limits: limits, progress: progress, counting: counted, calls: Self.calls)
        return await transfer.outcome(before: end) { [self] in
            let task = Self.task(of: session, request, body)
            delegate.remember(transfer, of: task)
            return task
        }
    }

    private static func task(of session: URLSession, _ request: URLRequest, _ body: UploadEndpointBody?) -> URLSessionTask {
        switch body {
        case nil:
            return session.dataTask(with: request)
        case .data(let data):
            return session.uploadTask(with: request, from: data)
        case .file(let url):
            return session.uploadTask(with: request, fromFile: url)
        case .stream(let makeStream):
            var request = request
            request.httpBodyStream = makeStream()
            return session.dataTask(with: request)
        }
    }
}

#if canImport(FoundationNetworking)
    /// Runs everything at once, on the thread that adds it.
    ///
    /// Foundation on Linux receives on, whether its delegate keeps up or not, and holds what the delegate has
    /// not seen. So the delegate sees data on the thread that receives it.
    private final class ImmediateQueue: OperationQueue, @unchecked Sendable {
        // Sendable because it has no state of its own.
        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            block()
        }
    }
#endif

/// Forwards the session's events to the transfers of its tasks.
final class TransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Locked<[Int: Transfer]>([:])

    func remember(_ transfer: Transfer, of task: URLSessionTask) {
        transfers.withLock { $0[task.taskIdentifier] = transfer }
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

    /// Follows no redirect: the response is the redirect, and the client decides about it.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
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
            // The answer waits for the queue that calls here.
            nonisolated(unsafe) let completionHandler = completionHandler
            guard challenge.proposedCredential == nil else {
                return TransferSession.calls.async { completionHandler(.performDefaultHandling, nil) }
            }
            // Without a credential, Foundation's default on Linux is to wait for ever, so the challenge is
            // refused.
            transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.finish(nil)
            TransferSession.calls.async { completionHandler(.cancelAuthenticationChallenge, nil) }
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let transfer = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        transfer?.finish(error)
    }
}
