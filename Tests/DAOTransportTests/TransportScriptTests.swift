import DAOTestSupport
import Foundation
import Testing

@testable import DAOTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Generated redirects and forms, against reference models. `MINUTES=10` in the environment runs each for longer, `SEED=1`
/// repeats a run.
@Suite(.timeLimit(.minutes(600))) struct TransportScriptTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    private static let limit = environment["MINUTES"].flatMap { Double($0) }.map { Duration.seconds($0 * 60) }

    @Test func redirectsAreThoseOfTheStandard() {
        run("redirects") { try RedirectScript(using: &$0).difference() }
    }

    @Test(arguments: RedirectFault.allCases) func faultOfARedirectIsDetected(_ fault: RedirectFault) {
        #expect(finds { try RedirectScript(using: &$0).difference(fault: fault) }, "\(fault)")
    }

    @Test func everyFormHasThePartsThatWereAsked() {
        run("forms") { try FormScript(using: &$0).difference() }
    }

    @Test(arguments: FormFault.allCases) func faultOfAFormIsDetected(_ fault: FormFault) {
        #expect(finds { try FormScript(using: &$0).difference(fault: fault) }, "\(fault)")
    }

    @Test func everyControlCharacterIsKeptOutOfTheHeadersOfAForm() throws {
        for value in (0..<0x20).map({ $0 }) + [0x22, 0x7F] as [UInt8] {
            let character = String(UnicodeScalar(value))
            // Alone, and as a part of a longer character.
            for name in [character, "a\(character)b", "a\(character)\u{301}", "\r\(character)", "\(character)\n"] {
                let file = MultipartFile.data(Data(), fileName: name, contentType: "text/plain")
                let form = FormScript(members: [name: "x"], files: ["f\(name)": file])
                #expect(try form.difference() == nil)
                let typed = MultipartFile.data(Data(), fileName: "a", contentType: "text/\(name)")
                let isValid = !name.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
                let made = Result { try HTTPBody.multipart(MultipartModel(payloadModel: [:], files: ["f": typed])) }
                if isValid {
                    #expect(throws: Never.self) { try made.get() }
                } else {
                    #expect(throws: TransferError.invalidHeader("Content-Type")) { try made.get() }
                }
            }
        }
    }

    /// Runs so many scripts, or as many as the minutes of the environment allow.
    private func run(_ name: String, _ difference: (inout SeededGenerator) throws -> String?) {
        var random = SeededGenerator(seed: Self.seed)
        var rounds = 0
        let began = ContinuousClock.now
        while Self.limit.map({ ContinuousClock.now - began < $0 }) ?? (rounds < 1000) {
            rounds += 1
            let found = Result { try difference(&random) }
            if case .success(.none) = found { continue }
            Issue.record("SEED=\(Self.seed), \(name), script \(rounds): \(found)")
            return
        }
        if Self.limit != nil { print("\(name): \(rounds) scripts, SEED=\(Self.seed)") }
    }

    private func finds(_ difference: (inout SeededGenerator) throws -> String?) -> Bool {
        var random = SeededGenerator(seed: 1)
        return (0..<10_000).contains { _ in
            do { return try difference(&random) != nil } catch { return true }
        }
    }
}

// MARK: - Redirects

/// Mistakes in redirects that generated scripts have to detect.
enum RedirectFault: CaseIterable {
    case headBecomesGet, postStaysPost, putBecomesGetAtOnce, bodyStays, contentHeadersStay, credentialsLeave, acceptIsLost
    case leavingIsForgotten, relativePlacesAreOfTheFirst
}

/// A request, and the redirects that answer it.
struct RedirectScript: CustomStringConvertible {
    private struct Place {
        let text: String?
        /// The origin; nil for that of the current URL.
        var origin: String?
        /// The scheme that is refused.
        var refused: String?
        var isUsable = true
    }

    private static let places = [
        Place(text: "/x"), Place(text: "y?z=1"), Place(text: "?q"), Place(text: "https://host/z", origin: "https://host:443"),
        Place(text: "https://HOST:443/w", origin: "https://host:443"),
        Place(text: "https://host:8443/v", origin: "https://host:8443"),
        Place(text: "http://host/u", origin: "http://host:80"), Place(text: "https://other/t", origin: "https://other:443"),
        Place(text: "ftp://host/s", refused: "ftp"), Place(text: "file:///etc/passwd", refused: "file"),
        Place(text: "mailto:a@b", refused: "mailto"), Place(text: "", isUsable: false), Place(text: nil, isUsable: false),
        Place(text: "https:///r", isUsable: false),
    ]

    private let method: String
    private let body: Int
    private let headers: [String: String]
    private let answers: [(status: Int, place: Place)]

    init(using random: inout SeededGenerator) {
        method = random.pick(["GET", "HEAD", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        // None, the request's own, an upload's.
        body = ["POST", "PUT", "PATCH"].contains(method) ? random.below(3) : 0
        let all = ["Authorization": "a", "Accept": "b", "Content-Type": "c", "X-Key": "d", "Cookie": "e", "Range": "bytes=0-1"]
        headers = all.sorted { $0.key < $1.key }.reduce(into: [:]) { if random.chance(60) { $0[$1.key] = $1.value } }
        answers = (0..<random.below(5)).map { _ in
            let status = random.weighted([
                (3, 301), (3, 302), (4, 303), (3, 307), (3, 308), (1, 200), (1, 300), (1, 304), (1, 305),
            ])
            return (status, random.chance(75) ? random.pick(Array(Self.places.prefix(8))) : random.pick(Self.places))
        }
    }

    var description: String {
        "\(method) with body \(body), \(headers), \(answers.map { "\($0.status) to \($0.place.text ?? "nowhere")" })"
    }

    /// What can be seen of a request.
    private struct Seen: Equatable {
        var method: String
        var headers: [String: String]
        var hasBody: Bool
        var origin: String
        var hasLeft = false
    }

    func difference(fault: RedirectFault? = nil) throws -> String? {
        guard let url = URL(string: "https://host/start") else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if body == 1 { request.httpBody = Data("x".utf8) }
        var real = try RedirectableRequest(request, body: body == 2 ? .data(Data("x".utf8)) : nil)
        var model = Seen(method: method, headers: headers, hasBody: body > 0, origin: "https://host:443")
        var before = seen(real)
        var faultyBefore = before
        for (status, place) in answers {
            guard let current = real.request.url,
                let response = HTTPURLResponse(
                    url: current, statusCode: status, httpVersion: nil, headerFields: place.text.map { ["Location": $0] } ?? [:])
            else { return "\(self): no response" }
            let outcome = Result { try real.follow(response) }
            let expected = Self.follow(&model, status, place)
            let after = seen(real)
            let shown = fault.map { Self.change(after, from: before, faultyBefore, status, place, $0) } ?? after
            guard "\(outcome)".lowercased() == "\(expected)".lowercased(), shown == model else {
                return """
                    \(self)
                    after \(status) to \(place.text ?? "nowhere"):
                      expected \(expected) \(model)
                      was      \(outcome) \(shown)
                    """
            }
            (before, faultyBefore) = (after, shown)
            guard case .success = expected else { return nil }
        }
        return nil
    }

    private func seen(_ request: RedirectableRequest) -> Seen {
        let url = request.request.url
        let port = url?.port ?? (url?.scheme == "https" ? 443 : 80)
        return Seen(
            method: request.request.httpMethod ?? "", headers: request.request.allHTTPHeaderFields ?? [:],
            hasBody: request.request.httpBody != nil || request.body != nil,
            origin: "\(url?.scheme ?? "")://\(url?.host?.lowercased() ?? ""):\(port)", hasLeft: request.hasLeftOrigin)
    }

    /// What the Fetch standard and the guide say.
    private static func follow(_ request: inout Seen, _ status: Int, _ place: Place) -> Result<Bool, any Error> {
        guard [301, 302, 303, 307, 308].contains(status) else { return .success(false) }
        if let refused = place.refused { return .failure(TransferError.schemeNotAllowed(refused)) }
        guard place.isUsable else { return .success(false) }
        var next = request
        let isPostBefore303 = (status == 301 || status == 302) && request.method == "POST"
        if isPostBefore303 || status == 303 && request.method != "HEAD" {
            next.method = "GET"
            next.hasBody = false
            next.headers["Content-Type"] = nil
        }
        if let origin = place.origin, origin != request.origin {
            guard !next.hasBody else {
                let host = origin.split(separator: "/").last?.split(separator: ":").first
                return .failure(TransferError.bodyNotForwarded(host: host.map(String.init) ?? ""))
            }
            next.origin = origin
            next.hasLeft = true
            next.headers = next.headers.filter { ["Accept", "Range"].contains($0.key) }
        }
        request = next
        return .success(true)
    }

    /// The request as it would be with a mistake.
    private static func change(
        _ after: Seen, from before: Seen, _ shownBefore: Seen, _ status: Int, _ place: Place, _ fault: RedirectFault
    ) -> Seen {
        guard after != before || place.isUsable && place.refused == nil && (301...308).contains(status) else {
            return shownBefore
        }
        var after = after
        let isElsewhere = after.origin != before.origin
        switch fault {
        case .headBecomesGet: if status == 303, before.method == "HEAD" { after.method = "GET" }
        case .postStaysPost: if status < 303, before.method == "POST" { after.method = "POST" }
        case .putBecomesGetAtOnce: if status < 303, before.method == "PUT" { after.method = "GET" }
        case .bodyStays: after.hasBody = before.hasBody
        case .contentHeadersStay: after.headers["Content-Type"] = before.headers["Content-Type"]
        case .credentialsLeave: if isElsewhere { after.headers["Authorization"] = before.headers["Authorization"] }
        case .acceptIsLost: if isElsewhere { after.headers["Accept"] = nil }
        case .leavingIsForgotten: if !isElsewhere { after.hasLeft = false }
        case .relativePlacesAreOfTheFirst: if place.origin == nil { after.origin = "https://host:443" }
        }
        return after
    }
}

// MARK: - Forms

/// Mistakes in forms that generated scripts have to detect.
enum FormFault: CaseIterable {
    case lineFeedsStay, carriageReturnsStay, quotesStay, otherControlsStay, lastPartIsLost, nullIsSent, fileNamesAreNames
    case endHasNoDashes, contentTypesAreLost
}

/// The members and files of a form.
struct FormScript: CustomStringConvertible {
    var members: [String: Json]
    var files: [String: MultipartFile]

    init(members: [String: Json], files: [String: MultipartFile]) {
        (self.members, self.files) = (members, files)
    }

    init(using random: inout SeededGenerator) {
        let pieces = [
            "a", "é", "\u{301}", "\r", "\n", "\r\n", "\"", "\\", "\0", "\u{1B}", "\t", "\u{7F}", "\u{85}", "\u{2028}", "%0D",
            "; ",
            "=", "--", "🙂", " ",
        ]
        func text() -> String { (0..<random.below(5)).map { _ in random.pick(pieces) }.joined() }
        members = [:]
        files = [:]
        for _ in 0..<random.below(4) {
            members[text()] = random.pick([.string(text()), .null, .bool(true), 12, .array([.string(text())])])
        }
        for _ in 0..<random.below(3) {
            files[text()] = .data(
                Data(text().utf8), fileName: text(), contentType: random.pick(["text/plain", "a/b; c=\"d\"\t"]))
        }
    }

    var description: String { "\(members) \(files)" }

    private struct Part: Equatable {
        var name: String
        var fileName: String?
        var type: String?
        var content: [UInt8]
    }

    func difference(fault: FormFault? = nil) throws -> String? {
        var form = MultipartModel(payloadModel: Json.object(members), files: files)
        switch fault {
        case .nullIsSent: form.payloadModel = .object(members.mapValues { $0.isNull ? .string("null") : $0 })
        case .lastPartIsLost:
            if let last = files.keys.max() {
                form.files[last] = nil
            } else if let last = members.keys.max() {
                var members = members
                members[last] = nil
                form.payloadModel = .object(members)
            }
        case .fileNamesAreNames:
            form.files = Dictionary(
                uniqueKeysWithValues: files.map { name, file -> (String, MultipartFile) in
                    guard case .data(let data, _, let type) = file else { return (name, file) }
                    return (name, .data(data, fileName: name, contentType: type))
                })
        case .contentTypesAreLost:
            form.files = files.mapValues { file in
                guard case .data(let data, let name, _) = file else { return file }
                return .data(data, fileName: name, contentType: "application/octet-stream")
            }
        default: break
        }
        var bytes = Array(try HTTPBody.multipart(form, boundary: "X-1").data)
        let replacements: [FormFault: (String, String)] = [
            .lineFeedsStay: ("%0A", "\n"), .carriageReturnsStay: ("%0D", "\r"), .quotesStay: ("%22", "\""),
            .otherControlsStay: ("%1B", "\u{1B}"), .endHasNoDashes: ("--X-1--", "--X-1"),
        ]
        if let fault, let (old, new) = replacements[fault] {
            bytes = Self.replacing(Array(old.utf8), by: Array(new.utf8), in: bytes)
        }
        let (parts, expected) = (Self.parts(of: bytes), expectedParts)
        return parts == expected ? nil : "\(self)\n  expected \(expected)\n  was      \(String(describing: parts))"
    }

    private static func replacing(_ old: [UInt8], by new: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        var (result, index) = ([UInt8](), 0)
        while index < bytes.count {
            if bytes[index...].starts(with: old) {
                result += new
                index += old.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    private var expectedParts: [Part] {
        func escaped(_ text: String) -> String {
            let bytes = text.utf8.flatMap { byte -> [UInt8] in
                guard byte < 0x20 && byte != 0x09 || byte == 0x22 || byte == 0x7F else { return [byte] }
                let digits = Array("0123456789ABCDEF".utf8)
                return [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        let fields = members.sorted { $0.key < $1.key }.compactMap { name, value -> Part? in
            let text: String
            switch value {
            case .null: return nil
            case .string(let string): text = string
            default: text = value.serialized()
            }
            return Part(name: escaped(name), content: Array(text.utf8))
        }
        return fields
            + files.sorted { $0.key < $1.key }.compactMap { name, file in
                guard case .data(let data, let fileName, let type) = file else { return nil }
                return Part(name: escaped(name), fileName: escaped(fileName), type: type, content: Array(data))
            }
    }

    /// Reads a form as strictly as a server can; nil when it is malformed.
    private static func parts(of bytes: [UInt8]) -> [Part]? {
        var rest = bytes[...]
        func take(_ text: String) -> Bool {
            guard rest.starts(with: text.utf8) else { return false }
            rest = rest.dropFirst(text.utf8.count)
            return true
        }
        func until(_ text: String) -> ArraySlice<UInt8>? {
            let mark = Array(text.utf8)
            guard let end = rest.indices.first(where: { rest[$0...].starts(with: mark) }) else { return nil }
            defer { rest = rest[(end + mark.count)...] }
            return rest[..<end]
        }
        /// A line of a header, without control characters.
        func line() -> String? {
            guard let line = until("\r\n"), line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
            return String(decoding: line, as: UTF8.self)
        }
        var parts: [Part] = []
        guard take("--X-1") else { return nil }
        while !take("--\r\n") {
            guard take("\r\n"), let disposition = line() else { return nil }
            let quoted = disposition.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            let isFile = quoted.count == 5
            guard quoted.count == 3 || isFile, quoted[0] == "Content-Disposition: form-data; name=", quoted.last == "",
                !isFile || quoted[2] == "; filename="
            else { return nil }
            var type: String?
            if isFile {
                guard take("Content-Type: "), let line = line() else { return nil }
                type = line
            }
            guard take("\r\n"), let content = until("\r\n--X-1") else { return nil }
            parts.append(Part(name: quoted[1], fileName: isFile ? quoted[3] : nil, type: type, content: Array(content)))
        }
        return rest.isEmpty ? parts : nil
    }
}
