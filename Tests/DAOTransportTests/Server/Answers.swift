import Foundation

/// What a server sends before it closes the connection, byte for byte.
public struct Answer: Sendable, CustomStringConvertible {
    /// What it is, such as `206 chunked, cut at 57`.
    public let description: String
    /// What is sent.
    public let bytes: [UInt8]
    /// Whether nothing is missing.
    public let isComplete: Bool

    /// Whether the body is complete, though what follows it can be missing.
    public let hasWholeBody: Bool

    /// Whether the status says that the body is a part of the content.
    public var isPartial: Bool { description.hasPrefix("206") }

    init(_ description: String, _ bytes: [UInt8], isComplete: Bool = true, hasWholeBody: Bool = false) {
        self.description = description
        self.bytes = bytes
        self.isComplete = isComplete
        self.hasWholeBody = hasWholeBody || isComplete
    }

    init(_ description: String, _ text: String, isComplete: Bool = true) {
        self.init(description, Array(text.utf8), isComplete: isComplete)
    }
}

/// The answers that a client gets from servers that die, and from those that were written by somebody's enemy.
public enum Answers {
    /// A complete body in the form of the documented chain.
    public static let dialogs = #"{"data":{"dialog_list":[{"id":"7","is_pinned":true,"messages":[{"id":"1","text":"hi"}]}]}}"#

    /// All statuses with every kind of body that says nothing.
    public static let statuses: [Answer] = (100...599).flatMap { status in
        ["", "{}", "[]", "null", "<html><body>Bad gateway</body></html>", #"{"data":{"dialog_list":["#].map { body in
            Answer(
                "\(status) with '\(body)'",
                "HTTP/1.1 \(status) Status\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
        }
    }

    /// Answers of three statuses and four encodings, complete and broken off at every byte.
    public static let brokenOff: [Answer] = [200, 206, 302].flatMap { status in
        let location = status == 302 ? "Location: /whole\r\n" : ""
        let start = "HTTP/1.1 \(status) Status\r\nContent-Type: application/json\r\n\(location)"
        let body = Array((status == 302 ? "moved" : dialogs).utf8)
        let packed = gzip(body)
        return [
            ("identity", start + "Content-Length: \(body.count)\r\n\r\n", body),
            ("chunked", start + "Transfer-Encoding: chunked\r\nTrailer: X-Check\r\n\r\n", chunked(body)),
            ("gzip", start + "Content-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n", packed),
            ("gzip in chunks", start + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", chunked(packed)),
        ].flatMap { encoding, head, body in
            let whole = Array(head.utf8) + body
            return (0...whole.count).map { count in
                Answer(
                    "\(status) \(encoding)" + (count == whole.count ? "" : ", cut at \(count)"), Array(whole[..<count]),
                    isComplete: count == whole.count,
                    // Only the last line feed after the last chunk is missing.
                    hasWholeBody: encoding.contains("chunk") && count == whole.count - 1)
            }
        }
    }

    /// Answers without a length, as they are and compressed, complete and broken off at every byte of their bodies.
    public static let withoutLength: [Answer] = [false, true].flatMap { isPacked in
        let head = "HTTP/1.1 200 OK\r\n\(isPacked ? "Content-Encoding: gzip\r\n" : "")Connection: close\r\n\r\n"
        let text = Array(dialogs.utf8)
        let body = isPacked ? gzip(text) : text
        // The last eight bytes check what came before.
        let whole = isPacked ? body.count - 8 : body.count
        return (0...body.count).map { count in
            Answer(
                "\(isPacked ? "gzip" : "identity") without a length, cut at \(count)", Array(head.utf8) + body[..<count],
                isComplete: count == body.count, hasWholeBody: count >= whole)
        }
    }

    /// Answers that are unusual, malformed or malicious.
    public static let strange: [Answer] =
        [
            "//%5B/", "//[", "http://[::1", "http://%00/", "//a%20b/", "http://\u{7F}/", "//:99999/", "http://1.2.3.4:x/",
            "\\\\host\\", "%", "?#", "//", "http:", "//%E0%A4%A/", "http://user:@/", "\u{FFFD}",
            String(repeating: "a", count: 9000),
        ].map {
            Answer("302 to '\($0.prefix(30))'", "HTTP/1.1 302 Found\r\nLocation: \($0)\r\nContent-Length: 0\r\n\r\n")
        } + [
            Answer("302 and the end", "HTTP/1.1 302 Found\r\nLocation: /whole\r\n\r\n"),
            Answer(
                "302 with half a body", "HTTP/1.1 302 Found\r\nLocation: /whole\r\nContent-Length: 9\r\n\r\nmoved",
                isComplete: false),
            Answer(
                "a trailer",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Check: 1\r\nX-More: 2\r\n\r\n"),
            Answer(
                "an endless trailer",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "X: y\r\n", count: 60_000)),
            Answer("a chunk without a size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n{}\r\n0\r\n\r\n"),
            Answer("a chunk of 2^64 bytes", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n{}"),
            Answer("a chunk of 2^63 bytes", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n{}"),
            Answer("no HTTP", "SSH-2.0-OpenSSH_9.2\r\n"),
            Answer("no version", "200 OK\r\n\r\n{}"),
            Answer("HTTP/0.9", "<html></html>"),
            Answer("a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"),
            Answer("a negative status", "HTTP/1.1 -20 OK\r\n\r\n"),
            Answer("status 99", "HTTP/1.1 099 OK\r\n\r\n"),
            Answer("status 999", "HTTP/1.1 999 OK\r\nContent-Length: 2\r\n\r\n{}"),
            Answer("HTTP/9.9", "HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
            Answer("a header without a name", "HTTP/1.1 200 OK\r\n: x\r\nContent-Length: 2\r\n\r\n{}"),
            Answer("a header without a colon", "HTTP/1.1 200 OK\r\nContent\r\nContent-Length: 2\r\n\r\n{}"),
            Answer("a folded header", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n\r\n{}"),
            Answer("a folded status line", "HTTP/1.1 200 OK\r\n a\r\nContent-Length: 2\r\n\r\n{}"),
            Answer(
                "bytes that are no text",
                Array("HTTP/1.1 200 OK\r\nX: ".utf8) + [0xFF, 0xC0, 0x80] + Array("\r\nContent-Length: 2\r\n\r\n{}".utf8)),
            Answer("a zero byte", Array("HTTP/1.1 200 OK\r\nX: a".utf8) + [0] + Array("b\r\nContent-Length: 2\r\n\r\n{}".utf8)),
            Answer("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
            Answer("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"),
            Answer("a length of 2^64", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n{}"),
            Answer(
                "a length and chunks",
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
            Answer("an unknown encoding", "HTTP/1.1 200 OK\r\nContent-Encoding: secret\r\nContent-Length: 2\r\n\r\n{}"),
            Answer("no gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"),
            Answer(
                "nine encodings",
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip\r\nContent-Length: 2\r\n\r\n{}"
            ),
            Answer(
                "a foreign transfer encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
            Answer("continue, and the end", "HTTP/1.1 100 Continue\r\n\r\n", isComplete: false),
            Answer(
                "continue, early hints, and an answer",
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
            ),
            Answer("another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"),
            Answer("HTTP/2 at once", [0, 0, 0, 4, 0, 0, 0, 0, 0]),
            Answer(
                "a challenge without a scheme", "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \r\nContent-Length: 0\r\n\r\n"),
            Answer("a challenge of a proxy", "HTTP/1.1 407 Proxy\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"),
            Answer("a cookie of nothing", "HTTP/1.1 200 OK\r\nSet-Cookie: =; ;=\r\nSet-Cookie: \r\nContent-Length: 2\r\n\r\n{}"),
            Answer(
                "a media type of nothing",
                "HTTP/1.1 200 OK\r\nContent-Type: ;;charset=\"\\\r\nContent-Disposition: attachment; filename=\"\\\r\nContent-Length: 2\r\n\r\n{}"
            ),
        ]

    static func chunked(_ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: body.count, by: 30) {
            let chunk = body[start..<min(start + 30, body.count)]
            bytes += Array("\(String(chunk.count, radix: 16));name=value\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        return bytes + Array("0\r\nX-Check: 1\r\n\r\n".utf8)
    }

    /// A gzip stream with one block that is stored as it is.
    static func gzip(_ body: [UInt8]) -> [UInt8] {
        func little(_ value: UInt32, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
        var check: UInt32 = 0xFFFF_FFFF
        for byte in body {
            check ^= UInt32(byte)
            for _ in 0..<8 { check = check & 1 == 1 ? check >> 1 ^ 0xEDB8_8320 : check >> 1 }
        }
        let length = UInt32(body.count)
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1] + little(length, 2) + little(~length, 2) + body + little(~check, 4)
            + little(length, 4)
    }
}

extension HostileServer {
    /// A server that answers `/5` with the fifth answer, and `/whole` with the complete one.
    public convenience init(_ answers: [Answer]) throws {
        try self.init { request, connection in
            guard let index = Int(request.path.dropFirst()), answers.indices.contains(index) else {
                return connection.respond(200, ["Content-Type": "application/json"], Answers.dialogs)
            }
            connection.send(answers[index].bytes)
        }
    }
}
