import DAOSystemCurl
import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transfer of libcurl. It never leaves the thread of its loop, on which libcurl makes its calls too.
final class CurlHandle {
    let task: CurlTask
    /// The longest time without any data.
    let timeout: Duration

    private let easy: UnsafeMutableRawPointer
    private let configuration: CurlConfiguration
    private let cookies: UnsafeMutableRawPointer?
    /// The text of libcurl's last error.
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var head: ResponseHead
    private var body: RequestBody?
    private var isWaitingForBody = false
    private var lastActivity = DispatchTime.now()
    /// The first of the options that could not be set.
    private var failure = CURLE_OK

    /// Nil when there is no memory.
    init?(_ task: CurlTask, _ configuration: CurlConfiguration, cookies: UnsafeMutableRawPointer?) {
        guard let easy = curl_easy_init() else { return nil }
        self.task = task
        self.easy = easy
        self.configuration = configuration
        self.cookies = cookies
        // Foundation gives every request a timeout, and does not tell whether somebody chose it.
        let own = task.sent.request.timeoutInterval
        timeout = own > 0 && own != 60 && own < 1e9 ? .seconds(own) : configuration.timeout
        head = ResponseHead(url: task.url, limit: task.headerLimit)
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    /// The handle of an object of libcurl; nil for one that no handle made.
    static func of(_ easy: UnsafeMutableRawPointer?) -> CurlHandle? {
        var context: UnsafeMutableRawPointer?
        guard let easy, dao_curl_get_pointer(easy, CURLINFO_PRIVATE, &context) == CURLE_OK, let context else { return nil }
        return at(context)
    }

    fileprivate static func at(_ context: UnsafeMutableRawPointer) -> CurlHandle {
        // The loop keeps the handle until libcurl has forgotten it.
        Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
    }

    /// When the transfer has waited too long for data. Waiting for the caller's own stream is not the server's fault.
    var idleEnd: DispatchTime {
        isWaitingForBody ? .distantFuture : lastActivity + timeout.timeInterval
    }

    // MARK: Beginning and end

    /// Sets all options and begins.
    ///
    /// - Returns: nil, or the error that the transfer ends with.
    func prepare(in multi: UnsafeMutableRawPointer) -> CURLcode? {
        let context = Unmanaged.passUnretained(self).toOpaque()
        set(CURLOPT_PRIVATE, context)
        set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
        setConnection()
        setRequest(context)
        note(dao_curl_set_writer(easy, CURLOPT_HEADERFUNCTION, receiveHeader))
        set(CURLOPT_HEADERDATA, context)
        note(dao_curl_set_writer(easy, CURLOPT_WRITEFUNCTION, receiveBody))
        set(CURLOPT_WRITEDATA, context)
        set(CURLOPT_ACCEPT_ENCODING, "")  // all that libcurl can decode
        guard failure == CURLE_OK else { return failure }
        return curl_multi_add_handle(multi, easy) == CURLM_OK ? nil : CURLE_OUT_OF_MEMORY
    }

    private func setConnection() {
        set(CURLOPT_NOSIGNAL, 1)
        note(dao_curl_allow_http_only(easy))
        set(CURLOPT_FOLLOWLOCATION, 0)
        switch configuration.proxy {
        case .none: set(CURLOPT_PROXY, "")
        case .environment: break
        case .url(let url): set(CURLOPT_PROXY, url.absoluteString)
        }
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_SSLVERSION, dao_curl_tls_1_2)
        if let file = configuration.trustedCertificates {
            set(CURLOPT_CAINFO, file.path)
            _ = dao_curl_set_text(easy, CURLOPT_CAPATH, nil)
        }
        // The deadline counts while libcurl connects, too.
        set(CURLOPT_CONNECTTIMEOUT, 3600)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        // A libcurl without HTTP/2 refuses it, and speaks HTTP/1.1.
        _ = dao_curl_set_number(easy, CURLOPT_HTTP_VERSION, dao_curl_http_2_with_tls)
        // Requests that begin together wait for the first connection, and learn whether it can have all of them.
        if task.url.scheme?.lowercased() == "https" { set(CURLOPT_PIPEWAIT, 1) }
        dao_curl_quit_resolver(easy)
    }

    private func setRequest(_ context: UnsafeMutableRawPointer) {
        let request = task.sent.request
        let method = request.httpMethod ?? "GET"
        set(CURLOPT_URL, task.url.absoluteString)
        set(CURLOPT_PATH_AS_IS, 1)

        let isRepeatable = method != "POST" && method != "PATCH"
        body = method == "HEAD" ? nil : RequestBody(task, mayRepeat: isRepeatable)
        if method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        } else if let body {
            set(CURLOPT_UPLOAD, 1)
            note(dao_curl_set_size(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(body.size ?? -1)))
            note(dao_curl_set_reader(easy, sendBody))
            set(CURLOPT_READDATA, context)
            note(dao_curl_set_seeker(easy, repeatBody))
            set(CURLOPT_SEEKDATA, context)
            set(CURLOPT_CUSTOMREQUEST, method)
        } else if method != "GET" {
            set(CURLOPT_CUSTOMREQUEST, method)
        }
        // Where a used connection breaks before the first byte of an answer, libcurl sends a request without a body again.
        if !isRepeatable, body?.size == 0 { set(CURLOPT_FRESH_CONNECT, 1) }

        var isKept = true
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            switch name.lowercased() {
            // libcurl says how it sends the body, and joins these cookies with its own.
            case "content-length", "transfer-encoding", "expect": continue
            case "cookie": set(CURLOPT_COOKIE, value)
            default: isKept = isKept && add(value.isEmpty ? "\(name);" : "\(name): \(value)")
            }
        }
        isKept = isKept && add("Expect:")  // no second of waiting before a large body
        note(isKept ? dao_curl_set_list(easy, CURLOPT_HTTPHEADER, headers) : CURLE_OUT_OF_MEMORY)
        if let cookies, !task.sent.hasLeftOrigin, request.httpShouldHandleCookies {
            set(CURLOPT_SHARE, cookies)
            set(CURLOPT_COOKIEFILE, "")
        }
    }

    private func add(_ header: String) -> Bool {
        guard let longer = curl_slist_append(headers, header) else { return false }
        headers = longer
        return true
    }

    private func set(_ option: CURLoption, _ value: Int) { note(dao_curl_set_number(easy, option, value)) }
    private func set(_ option: CURLoption, _ value: String) { note(dao_curl_set_text(easy, option, value)) }
    private func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) { note(dao_curl_set_pointer(easy, option, value)) }
    private func note(_ code: CURLcode) { if failure == CURLE_OK { failure = code } }

    /// Makes libcurl forget the transfer, and releases it.
    func end(in multi: UnsafeMutableRawPointer) {
        curl_multi_remove_handle(multi, easy)
        curl_easy_cleanup(easy)
        curl_slist_free_all(headers)
        errorText.deallocate()
        body?.close()
    }

    /// Delivers the outcome.
    func finish(_ code: CURLcode) {
        if let error = body?.error { return task.transfer.finish(error) }
        if code == CURLE_OK, head.response != nil { return task.transfer.finish(nil) }
        if head.isTooLarge || (!head.isComplete && code.isOfLongHeader) {
            return task.transfer.stop(TransferError.headersTooLarge(limit: task.headerLimit))
        }
        var number = 0
        _ = dao_curl_get_number(easy, CURLINFO_OS_ERRNO, &number)
        let detail = String(cString: errorText)
        let text = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
        // libcurl takes the end of the connection inside the headers for the end of the answer.
        let isCutOff = code == CURLE_OK
        task.fail(
            isCutOff ? .networkConnectionLost : code.meaning(errno: Int32(clamping: number), text: text),
            isCutOff ? "the response ended inside its headers" : text)
    }

    // MARK: What libcurl calls

    fileprivate func receive(header line: UnsafeRawBufferPointer) -> Bool {
        lastActivity = .now()
        switch head.take(line) {
        case .more: return true
        case .complete(let response):
            task.transfer.receive(response)
            return true
        case .tooLarge: return false
        }
    }

    fileprivate func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        lastActivity = .now()
        return task.transfer.receive(Data(bytes))
    }

    fileprivate func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let body else { return 0 }
        switch body.read(into: buffer) {
        case .bytes(let count):
            lastActivity = .now()
            task.transfer.sent(Int64(body.sent), of: Int64(body.size ?? -1))
            return count
        case .nothingYet:
            isWaitingForBody = true
            return dao_curl_read_pause
        case .failed:
            return dao_curl_read_abort
        }
    }

    fileprivate func rewind() -> Bool { body?.rewind() ?? true }

    /// Continues to send after a pause.
    func feed() {
        guard isWaitingForBody else { return }
        isWaitingForBody = false
        lastActivity = .now()
        curl_easy_pause(easy, CURLPAUSE_CONT)
    }
}

private let receiveHeader: curl_write_callback = { bytes, size, count, context in
    guard let context else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return CurlHandle.at(context).receive(header: line) ? line.count : 0
}

private let receiveBody: curl_write_callback = { bytes, size, count, context in
    guard let context else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return CurlHandle.at(context).receive(body: bytes) ? bytes.count : 0
}

private let sendBody: curl_read_callback = { bytes, size, count, context in
    guard let context else { return 0 }
    return CurlHandle.at(context).send(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
}

private let repeatBody: curl_seek_callback = { context, offset, origin in
    guard let context, offset == 0, origin == SEEK_SET else { return CURL_SEEKFUNC_FAIL }
    return CurlHandle.at(context).rewind() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}

extension Duration {
    fileprivate var timeInterval: TimeInterval {
        let (seconds, attoseconds) = components
        return TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18
    }
}
