import DAOSystemCurl
import Foundation

extension CURLcode {
    /// Whether libcurl itself says this of a header that is longer than it accepts.
    var isOfLongHeader: Bool {
        self == CURLE_OUT_OF_MEMORY || rawValue == 100  // CURLE_TOO_LARGE, since 8.6
    }

    /// The error of URL loading that says the same.
    func meaning(errno number: Int32, text: String) -> URLError.Code {
        switch self {
        case CURLE_URL_MALFORMAT: .badURL
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .cannotFindHost
        case CURLE_COULDNT_CONNECT:
            switch number {
            case ENETUNREACH, ENETDOWN: .notConnectedToInternet
            case ETIMEDOUT: .timedOut
            default: .cannotConnectToHost
            }
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_HTTP2,
            CURLE_HTTP2_STREAM:
            .networkConnectionLost
        case CURLE_SSL_CONNECT_ERROR:
            // The peer closed the connection: nothing was wrong with its certificate, or the agreement.
            number == ECONNRESET || text.contains("SYSCALL") || text.contains("unexpected eof")
                ? .networkConnectionLost : .secureConnectionFailed
        case CURLE_PEER_FAILED_VERIFICATION: .serverCertificateUntrusted
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_ENGINE_NOTFOUND: .secureConnectionFailed
        // Nothing but libcurl's decoders fails to write: a transfer that refuses its data has an outcome already.
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: .cannotDecodeContentData
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .badServerResponse
        default: .unknown
        }
    }
}

/// Whether Foundation and libcurl read the same host out of a URL. The rules of origins hold for Foundation's reading,
/// and libcurl connects to its own.
func isUnderstoodAlike(_ url: URL) -> Bool {
    guard let parsed = curl_url() else { return false }
    defer { curl_url_cleanup(parsed) }
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_set(parsed, CURLUPART_URL, url.absoluteString, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK,
        curl_url_get(parsed, CURLUPART_HOST, &text, 0) == CURLUE_OK, let text
    else { return false }
    defer { curl_free(text) }
    let host = String(cString: text).lowercased()
    let own = url.host?.lowercased() ?? ""
    // libcurl writes 127.1 as 127.0.0.1, and any number as an address.
    let isNumber = own.utf8.allSatisfy { "0123456789abcdefx.".utf8.contains($0) } && own.utf8.first.map { $0 < 0x3A } == true
    let readings = [own, "[\(own)]", url.host(percentEncoded: true)?.lowercased() ?? ""]
    return readings.contains(host) || isNumber
}
