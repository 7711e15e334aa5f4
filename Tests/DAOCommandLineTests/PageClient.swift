import DAOTestSupport
import Foundation
import Testing

/// A running `dao browse`, and what it answers.
final class PageClient {
    /// The address that it has written.
    let address: String
    let port: UInt16
    /// The beginning of every path, with slashes around it.
    let root: String
    private let process: Process
    /// Keeps the files of the database.
    private let library: Library

    init(_ library: Library, _ words: String...) throws {
        self.library = library
        process = library.process(["browse"] + words)
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
        try process.run()
        address = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).trimmingCharacters(in: .newlines)
        let url = try #require(URL(string: address), "\(address)")
        port = UInt16(try #require(url.port))
        root = url.path.hasSuffix("/") ? url.path : url.path + "/"
    }

    deinit { process.terminate() }

    /// The number of the process.
    var processIdentifier: Int32 { process.processIdentifier }

    /// Waits for the end of the process, and returns its exit code.
    func waitForEnd() -> Int32 { process.waitForEnd() }

    struct Answer {
        var status: Int
        /// By their names in lower case.
        var headers: [String: String]
        var body: Data

        var text: String { String(decoding: body, as: UTF8.self) }
        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }
        var error: String { json["error"] as? String ?? "" }
        var tag: String { (headers["etag"] ?? "").trimmingCharacters(in: ["\""]) }
        /// The cells of a list of rows.
        var cells: [[String?]] {
            (json["rows"] as? [[String: Any]] ?? []).map { row in (row["cells"] as? [Any] ?? []).map { $0 as? String } }
        }
    }

    /// Asks for a path behind the token.
    func get(_ path: String, _ options: [String: String] = [:], headers: [String: String] = [:]) throws -> Answer {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let query = options.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }.joined(
            separator: "&")
        return try send("GET", root + path + (query.isEmpty ? "" : "?\(query)"), headers: headers)
    }

    /// Sets a field of a row.
    func set(_ members: [String: Any?]) throws -> Answer { try post("set", members) }

    /// Sends a request that changes a row.
    func post(_ name: String, _ members: [String: Any?]) throws -> Answer {
        let body = try JSONSerialization.data(withJSONObject: members.mapValues { $0 ?? NSNull() })
        return try send("POST", root + "api/\(name)", headers: ["Content-Type": "application/json"], body: body)
    }

    /// Sends a request, and reads the answer until the server closes the connection.
    func send(_ method: String, _ path: String, headers: [String: String] = [:], body: Data = Data()) throws -> Answer {
        var head = ["Host": "127.0.0.1:\(port)", "Connection": "close"].merging(headers) { $1 }
        if !body.isEmpty { head["Content-Length"] = "\(body.count)" }
        let lines = ["\(method) \(path) HTTP/1.1"] + head.map { "\($0): \($1)" }
        return try exchange(Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
    }

    private func exchange(_ request: Data) throws -> Answer {
        #if canImport(Glibc)
            let (descriptor, flags) = (socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), Int32(MSG_NOSIGNAL))
        #else
            let (descriptor, flags) = (socket(AF_INET, SOCK_STREAM, 0), MSG_NOSIGNAL)
        #endif
        defer { close(descriptor) }
        var deadline = timeval(tv_sec: 40, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &deadline, socklen_t(MemoryLayout<timeval>.size))
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        var rest = request
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { transmit(descriptor, $0, flags) }
            // The server need not read a request that it refuses.
            if sent <= 0 { break }
            rest = rest.dropFirst(sent)
        }
        var answer = Data()
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(descriptor, &part, part.count), count > 0 { answer += part[..<count] }
        guard let end = answer.firstRange(of: Data("\r\n\r\n".utf8)) else { throw URLError(.badServerResponse) }
        let lines = String(decoding: answer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let status = try #require(Int(lines[0].split(separator: " ").dropFirst().first ?? ""))
        let headers = lines.dropFirst().compactMap { line in
            line.firstIndex(of: ":").map {
                (line[..<$0].lowercased(), line[line.index(after: $0)...].trimmingCharacters(in: .whitespaces))
            }
        }
        return Answer(
            status: status, headers: Dictionary(headers, uniquingKeysWith: { $1 }), body: Data(answer[end.upperBound...]))
    }
}

private func transmit(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ flags: Int32) -> Int {
    send(descriptor, bytes.baseAddress, bytes.count, flags)
}
