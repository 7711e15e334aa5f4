import DAOCore
import DAOSystemMicroHTTPD
import Foundation

/// An HTTP server on 127.0.0.1: libmicrohttpd with a thread for each connection.
///
/// A request is answered within ``deadline``, whatever its handler does. ``stop()`` has to be called.
final class HTTPServer: Sendable {
    struct Request: Sendable {
        var method: String
        var path: String
        var query: [String: String]
        /// By their names in lower case.
        var headers: [String: String]
        var body = Data()
        /// The port of the server.
        var port: UInt16
    }

    struct Response: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body = Data()
    }

    typealias Handler = @Sendable (Request) async -> Response

    /// How long an answer can take.
    static let deadline = Duration.seconds(30)
    /// The longest body of a request, in bytes.
    static let maximumBody = 1 << 20

    /// The port that the server listens to.
    let port: UInt16
    private let daemon: Daemon
    private let context: Context

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - port: The port; 0 for any free one.
    ///   - handler: Answers a request. Its task is cancelled at the deadline and at the end of the server.
    init(port: UInt16, _ handler: @escaping Handler) throws {
        context = Context(handler)
        let started = dao_start_http_server(port, handle, complete, Unmanaged.passUnretained(context).toOpaque())
        guard let started else {
            let reason = String(cString: strerror(errno))
            throw StorageError(.io, "the port \(port) of 127.0.0.1 cannot be used: \(reason); choose another one with --port")
        }
        daemon = Daemon(pointer: started)
        self.port = dao_http_server_port(started)
        context.port.store(self.port, ordering: .releasing)
    }

    /// Ends all requests and the server.
    func stop() {
        context.stop()
        MHD_stop_daemon(daemon.pointer)
    }

    /// libmicrohttpd allows a server to be used from any thread.
    private struct Daemon: @unchecked Sendable { let pointer: OpaquePointer }

    /// What the threads of the server share.
    fileprivate final class Context: Sendable {
        let port = Atomic<UInt16>(0)
        private let handler: Handler
        private let pending = Lock<(answers: [ObjectIdentifier: Pending], hasStopped: Bool)>(([:], false))

        init(_ handler: @escaping Handler) { self.handler = handler }

        /// Waits for the answer to a request.
        func answer(to request: Request) -> Response {
            let answer = Pending()
            let accepted = pending.withLock { pending in
                if !pending.hasStopped { pending.answers[ObjectIdentifier(answer)] = answer }
                return !pending.hasStopped
            }
            guard accepted else { return .ended }
            defer { pending.withLock { _ = $0.answers.removeValue(forKey: ObjectIdentifier(answer)) } }
            let task = Task { answer.end(with: await handler(request)) }
            defer { task.cancel() }
            return answer.wait(HTTPServer.deadline)
        }

        func stop() {
            let answers = pending.withLock { pending in
                pending.hasStopped = true
                return pending.answers.values
            }
            for answer in answers { answer.end(with: .ended) }
        }
    }

    /// An answer that a thread waits for.
    private final class Pending: Sendable {
        private let response = Lock<Response?>(nil)
        private let hasEnded = DispatchSemaphore(value: 0)

        func end(with response: Response) {
            self.response.withLock { $0 = $0 ?? response }
            hasEnded.signal()
        }

        func wait(_ deadline: Duration) -> Response {
            _ = hasEnded.wait(timeout: .now() + deadline / .seconds(1))
            return response.withLock { $0 } ?? .tooSlow
        }
    }
}

extension HTTPServer.Response {
    /// An answer of JSON.
    init(_ status: Int = 200, json: String, headers: [String: String] = [:]) {
        self.init(
            status: status, headers: headers.merging(["Content-Type": "application/json"]) { $1 }, body: Data(json.utf8))
    }

    /// An error in words.
    init(_ status: Int, error: String, headers: [String: String] = [:]) {
        self.init(status, json: JSON.object(["error": JSON.text(error)]), headers: headers)
    }

    fileprivate static var ended: Self { Self(503, error: "'dao browse' has ended; start it again") }
    fileprivate static var tooSlow: Self {
        Self(504, error: "the answer takes longer than 30 seconds; choose a condition or a sort that an index helps")
    }
}

// MARK: Callbacks of libmicrohttpd

/// A request whose body is still coming.
private final class Incoming {
    var request: HTTPServer.Request
    var isTooLarge = false
    init(_ request: HTTPServer.Request) { self.request = request }
}

private func handle(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let path, let method, let uploadSize, let state else { return dao_http_no }
    // The server keeps the context until it is stopped.
    let server = Unmanaged<HTTPServer.Context>.fromOpaque(context).takeUnretainedValue()
    guard let pointer = state.pointee else {
        let request = HTTPServer.Request(
            method: String(cString: method), path: String(cString: path), query: pairs(dao_http_options, of: connection),
            headers: Dictionary(
                pairs(dao_http_headers, of: connection).map { ($0.lowercased(), $1) }, uniquingKeysWith: { $1 }),
            port: server.port.load(ordering: .acquiring))
        // `complete` releases it.
        state.pointee = Unmanaged.passRetained(Incoming(request)).toOpaque()
        return dao_http_yes
    }
    let incoming = Unmanaged<Incoming>.fromOpaque(pointer).takeUnretainedValue()
    if uploadSize.pointee > 0, let upload {
        incoming.isTooLarge = incoming.isTooLarge || incoming.request.body.count + uploadSize.pointee > HTTPServer.maximumBody
        if !incoming.isTooLarge {
            incoming.request.body.append(contentsOf: UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee))
        }
        uploadSize.pointee = 0
        return dao_http_yes
    }
    let response =
        incoming.isTooLarge
        ? HTTPServer.Response(413, error: "the request is longer than \(bytes(HTTPServer.maximumBody))")
        : server.answer(to: incoming.request)
    return send(response, on: connection)
}

private func complete(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ end: MHD_RequestTerminationCode
) {
    guard let state, let pointer = state.pointee else { return }
    Unmanaged<Incoming>.fromOpaque(pointer).release()
    state.pointee = nil
}

private func send(_ response: HTTPServer.Response, on connection: OpaquePointer) -> MHD_Result {
    let made = response.body.withUnsafeBytes { body in
        MHD_create_response_from_buffer(
            body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), dao_http_copies)
    }
    guard let made else { return dao_http_no }
    defer { MHD_destroy_response(made) }
    for (name, value) in response.headers { MHD_add_response_header(made, name, value) }
    return MHD_queue_response(connection, UInt32(response.status), made)
}

/// The headers or the options of the URL of a request.
private func pairs(_ kind: MHD_ValueKind, of connection: OpaquePointer) -> [String: String] {
    var pairs: [String: String] = [:]
    withUnsafeMutablePointer(to: &pairs) { pairs in
        _ = MHD_get_connection_values_n(
            connection, kind,
            { pairs, _, name, nameSize, value, valueSize in
                func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
                    String(decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
                }
                pairs?.assumingMemoryBound(to: [String: String].self).pointee[text(name, nameSize)] = text(value, valueSize)
                return dao_http_yes
            }, pairs)
    }
    return pairs
}
