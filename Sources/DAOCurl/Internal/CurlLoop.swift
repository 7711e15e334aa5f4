import DAOSystemCurl
import DAOTransport
import Foundation

/// The thread of a client. All calls of libcurl happen on it, except the one that wakes it.
final class CurlLoop: Sendable {
    enum Order: Sendable {
        case start(CurlTask)
        case stop(CurlTask)
        /// More of the request's body can be read.
        case feed(CurlTask)
    }

    private struct State {
        var orders: [Order] = []
        var isStarted = false
        var isClosed = false
        /// What the thread waits in, as long as it can be woken.
        var multi: UnsafeMutableRawPointer?
    }

    private let configuration: CurlConfiguration
    private let state = Locked(State())

    init(_ configuration: CurlConfiguration) {
        self.configuration = configuration
    }

    /// Hands an order to the thread, which starts with the first one.
    func post(_ order: Order) {
        let startsThread = state.withLock { state in
            guard !state.isClosed else { return false }
            state.orders.append(order)
            // Under the lock: the thread takes `multi` away before it releases it.
            if let multi = state.multi { curl_multi_wakeup(multi) }
            defer { state.isStarted = true }
            return !state.isStarted
        }
        guard startsThread else { return }
        Thread.detachNewThread { [configuration, state] in Self.run(configuration, state) }
    }

    /// Ends the thread.
    func close() {
        state.withLock { state in
            state.isClosed = true
            if let multi = state.multi { curl_multi_wakeup(multi) }
        }
    }

    private static func run(_ configuration: CurlConfiguration, _ state: Locked<State>) {
        dao_curl_name_thread("DAOCurl")
        dao_curl_block_pipe_signal()
        let engine = CurlEngine(configuration)
        state.withLock { $0.multi = engine.multi }
        while true {
            let orders = state.withLock { state in
                defer { state.orders = [] }
                return state.isClosed ? nil : state.orders
            }
            guard let orders else { break }
            for order in orders { engine.carryOut(order) }
            engine.work()
        }
        // After this nobody wakes the engine, and it can go.
        state.withLock { $0.multi = nil }
        engine.end()
    }
}

/// What the thread of a ``CurlLoop`` works with. It never leaves that thread.
private final class CurlEngine {
    /// Nil only when there is no memory.
    let multi: UnsafeMutableRawPointer?
    private let cookies: UnsafeMutableRawPointer?
    private let configuration: CurlConfiguration
    private var handles: [ObjectIdentifier: CurlHandle] = [:]

    /// libcurl is set up once in a process.
    private static let isSetUp = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(_ configuration: CurlConfiguration) {
        self.configuration = configuration
        multi = Self.isSetUp ? curl_multi_init() : nil
        cookies = configuration.keepsCookies ? curl_share_init() : nil
        if let multi {
            _ = dao_curl_set_multi_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(1, configuration.maximumConnectionsPerHost))
        }
        if let cookies { _ = dao_curl_share_cookies(cookies) }
    }

    func carryOut(_ order: CurlLoop.Order) {
        switch order {
        case .start(let task):
            guard let multi, let handle = CurlHandle(task, configuration, cookies: cookies) else {
                return task.fail(.unknown, "there is no memory for the request")
            }
            guard let failure = handle.prepare(in: multi) else {
                handles[ObjectIdentifier(task)] = handle
                return
            }
            handle.finish(failure)
            handle.end(in: multi)
        case .stop(let task):
            remove(task)
        case .feed(let task):
            handles[ObjectIdentifier(task)]?.feed()
        }
    }

    /// Sends and receives what can be sent and received, and waits for more.
    func work() {
        guard let multi else { return Thread.sleep(forTimeInterval: 0.01) }
        var count: Int32 = 0
        let status = curl_multi_perform(multi, &count)
        guard status == CURLM_OK else { return failAll(status) }
        var rest: Int32 = 0
        while let message = curl_multi_info_read(multi, &rest) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = CurlHandle.of(message.pointee.easy_handle) else { continue }
            handle.finish(message.pointee.data.result)
            remove(handle.task)
        }
        let now = DispatchTime.now()
        for handle in handles.values where handle.idleEnd <= now {
            handle.task.fail(.timedOut, "nothing arrived for \(handle.timeout)")
            remove(handle.task)
        }
        // An hour without a request is as good as for ever: an order wakes the thread.
        let end = handles.values.map(\.idleEnd).min() ?? now + .seconds(3600)
        let wait = (end.uptimeNanoseconds - min(now.uptimeNanoseconds, end.uptimeNanoseconds)) / 1_000_000 + 1
        let waited = curl_multi_poll(multi, nil, 0, Int32(clamping: wait), nil)
        if waited != CURLM_OK { failAll(waited) }
    }

    /// What libcurl cannot continue with, such as no memory, ends every transfer, and not this thread.
    private func failAll(_ status: CURLMcode) {
        let text = String(cString: curl_multi_strerror(status))
        for handle in handles.values {
            handle.task.fail(.unknown, text)
            remove(handle.task)
        }
        Thread.sleep(forTimeInterval: 0.01)
    }

    private func remove(_ task: CurlTask) {
        guard let multi else { return }
        handles.removeValue(forKey: ObjectIdentifier(task))?.end(in: multi)
    }

    func end() {
        for handle in handles.values { remove(handle.task) }
        if let multi { curl_multi_cleanup(multi) }
        if let cookies { curl_share_cleanup(cookies) }
    }
}
