import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The status line and the headers of a response, as their lines arrive.
struct ResponseHead {
    enum Step {
        case more
        /// The headers of the final response have ended.
        case complete(HTTPURLResponse)
        case tooLarge
    }

    /// The final response; nil before its headers have ended.
    private(set) var response: HTTPURLResponse?
    private(set) var isTooLarge = false
    var isComplete: Bool { response != nil }

    private let url: URL
    private let limit: Int
    /// Of all headers of the exchange: those of informational responses and trailers count too.
    private var size = 0
    private var version = "HTTP/1.1"
    private var status = 0
    private var fields: [(name: String, value: String)] = []

    init(url: URL, limit: Int) {
        self.url = url
        self.limit = limit
    }

    mutating func take(_ line: UnsafeRawBufferPointer) -> Step {
        size += line.count
        guard size <= limit else {
            isTooLarge = true
            return .tooLarge
        }
        let text = String(decoding: line, as: UTF8.self)
        if line.starts(with: "HTTP/".utf8) {
            let words = text.split(whereSeparator: \.isWhitespace)
            version = words.first.map(String.init) ?? version
            status = words.dropFirst().first.flatMap { Int($0) } ?? 0
            fields = []
            response = nil
        } else if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
            return end()
        } else if response == nil {
            take(text)
        }
        return .more
    }

    private mutating func take(_ line: String) {
        let isContinuation = line.first == " " || line.first == "\t"
        if isContinuation, let last = fields.indices.last {
            fields[last].value += " " + line.trimmingCharacters(in: .whitespacesAndNewlines)
        } else if let colon = line.firstIndex(of: ":") {
            let name = line[..<colon].trimmingCharacters(in: .whitespaces)
            fields.append((name, line[line.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)))
        }
    }

    private mutating func end() -> Step {
        // Informational responses come before the final one; the one that changes the protocol has none after it.
        guard response == nil, status >= 200 || status == 101 else { return .more }
        guard let made = HTTPURLResponse(url: url, statusCode: status, httpVersion: version, headerFields: joined) else {
            return .more
        }
        response = made
        return .complete(made)
    }

    /// Each header once. Several of one name are a list; of a place or a length, the first one counts.
    private var joined: [String: String] {
        var names: [String: String] = [:]
        var result: [String: String] = [:]
        for (name, value) in fields {
            let key = name.lowercased()
            guard let known = names[key] else {
                names[key] = name
                result[name] = value
                continue
            }
            if key != "location", key != "content-length" { result[known, default: ""] += ", " + value }
        }
        return result
    }
}
