import DAOCore
import Foundation

/// The page of `dao browse`: who is answered, and with what.
struct Browser: Sendable {
    let content: BrowsedDatabase
    /// The beginning of every path. Only who has seen the address knows it. Numbers from 16 have two digits.
    let token = (0..<16).map { _ in String(UInt8.random(in: 16...255), radix: 16) }.joined()

    /// The address of the page.
    func address(port: UInt16) -> String { "http://127.0.0.1:\(port)/\(token)/" }

    func answer(to request: HTTPServer.Request) async -> HTTPServer.Response {
        var response = await answered(request)
        response.headers.merge(
            [
                "Cache-Control": "no-store",
                "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                    + "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
                "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
            ]
        ) { own, _ in own }
        return response
    }

    private func answered(_ request: HTTPServer.Request) async -> HTTPServer.Response {
        do {
            return try await route(try place(of: request), request)
        } catch let failure as Failure {
            return .init(failure.status, error: failure.message, headers: failure.headers)
        } catch let error as StorageError {
            var members = "\"error\": \(JSON.text(error.line))"
            if let offset = error.position, let text = request.query["where"] {
                // The page counts in UTF-16.
                let place = text.index(text.startIndex, offsetBy: offset, limitedBy: text.endIndex) ?? text.endIndex
                members += ", \"position\": \(place.utf16Offset(in: text))"
            }
            return .init(error.httpStatus, json: "{\(members)}")
        } catch {
            return .init(500, error: "\(error)")
        }
    }

    /// The path of a request behind the token.
    ///
    /// A page of another host can make a browser send requests here. Its name is in the header Host, even when it leads
    /// to this machine by its DNS, or in Origin.
    private func place(of request: HTTPServer.Request) throws -> String {
        let hosts = ["127.0.0.1:\(request.port)", "localhost:\(request.port)"]
        guard let host = request.headers["host"], hosts.contains(host) else {
            throw Failure(403, "only the host 127.0.0.1 is answered; open the address that 'dao browse' has written")
        }
        if let origin = request.headers["origin"], origin != "http://\(host)" {
            throw Failure(403, "other pages are not answered; open the address that 'dao browse' has written")
        }
        let parts = request.path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: true).map(String.init)
        guard request.path.hasPrefix("/"), let first = parts.first, isToken(first) else {
            throw Failure(403, "the address has no valid token; open the whole address that 'dao browse' has written")
        }
        return parts.count == 2 ? parts[1] : request.path.hasSuffix("/") ? "" : "/"
    }

    /// Compares in a time that does not depend on how much is right.
    private func isToken(_ text: String) -> Bool {
        let (given, right) = (Array(text.utf8), Array(token.utf8))
        return given.count == right.count && zip(given, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func route(_ place: String, _ request: HTTPServer.Request) async throws -> HTTPServer.Response {
        if ["api/set", "api/erase"].contains(place) {
            try allow(["POST"], request)
            guard request.headers["content-type"]?.hasPrefix("application/json") == true else {
                throw Failure(415, "the request needs the content type application/json")
            }
            return try await place == "api/set" ? content.set(request.body) : content.erase(request.body)
        }
        try allow(["GET", "HEAD"], request)
        let words = Words(request.query)
        switch place {
        case "/": return .init(status: 308, headers: ["Location": "/\(token)/"])
        case "": return file(PackageResources.page_html, "text/html; charset=utf-8")
        case "page.css": return file(PackageResources.page_css, "text/css; charset=utf-8")
        case "page.js": return file(PackageResources.page_js, "text/javascript; charset=utf-8")
        case "api/database": return try await content.description(words)
        case "api/rows": return try await content.rows(words)
        case "api/row": return try await content.row(words)
        case "api/related": return try await content.related(words)
        case "api/count": return try await content.count(words)
        case "api/explain": return try await content.explain(words)
        case "api/value": return try await content.value(words)
        default: throw Failure(404, "there is nothing at this address")
        }
    }

    private func allow(_ methods: [String], _ request: HTTPServer.Request) throws {
        if methods.contains(request.method) { return }
        let allowed = methods.joined(separator: ", ")
        throw Failure(405, "the method is not allowed; use \(allowed)", ["Allow": allowed])
    }

    private func file(_ bytes: [UInt8], _ type: String) -> HTTPServer.Response {
        .init(headers: ["Content-Type": type], body: Data(bytes))
    }

    /// A request that is not answered with what it asks for.
    struct Failure: Error {
        var status: Int
        var message: String
        var headers: [String: String]

        init(_ status: Int, _ message: String, _ headers: [String: String] = [:]) {
            (self.status, self.message, self.headers) = (status, message, headers)
        }
    }

    /// The options of the URL of a request.
    struct Words: Sendable {
        private let words: [String: String]
        init(_ words: [String: String]) { self.words = words }

        /// The text of an option; nil when it is missing or empty.
        subscript(name: String) -> String? { words[name].flatMap { $0.isEmpty ? nil : $0 } }

        func required(_ name: String) throws -> String {
            guard let word = words[name] else { throw Failure(400, "the request needs '\(name)'") }
            return word
        }

        func number(_ name: String, in range: ClosedRange<Int>, default number: Int) throws -> Int {
            guard let word = self[name] else { return number }
            guard let number = Int(word), range.contains(number) else {
                throw Failure(400, "'\(name)' is a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }
}

extension StorageError {
    fileprivate var httpStatus: Int {
        switch kind {
        case .invalidPredicate, .invalidQuery, .invalidKey, .corruptedValue: 400
        case .notFound, .notADatabase: 404
        case .conflict, .uniqueViolation, .referenceViolation, .duplicateKey, .keyChanged: 409
        case .readOnly, .notPermitted: 403
        case .busy, .closed, .detached, .unreachable: 503
        default: 500
        }
    }
}
