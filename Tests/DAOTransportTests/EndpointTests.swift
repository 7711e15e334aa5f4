import DAOBookAPI
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private let twoBooks = [Book(id: 1, name: "Mu-Mu"), Book(id: 2, name: "Kashtanka")]

@Suite struct EnvelopeTests {
    @Test func sharedEnvelopeIsUnwrapped() throws {
        let list = #"{"data": [{"id": 1, "name": "Mu-Mu"}, {"id": 2, "name": "Kashtanka"},]}"#
        #expect(try BookListEndpoint().content(from: nil, with: Data(list.utf8)) == twoBooks)
        let one = #"{"data": {"id": 1, "name": "Mu-Mu"}}"#
        #expect(try BookEndpoint(id: 1).content(from: nil, with: Data(one.utf8)) == twoBooks[0])
    }

    @Test func internalRootUnwrapsASeparateKey() throws {
        let list = #"{"book_list": [{"id": 1, "name": "Mu-Mu"}, {"id": 2, "name": "Kashtanka"}]}"#
        #expect(try KeyedBookListEndpoint().content(from: nil, with: Data(list.utf8)) == twoBooks)
        let one = #"{"book": {"id": 2, "name": "Kashtanka"}}"#
        #expect(try KeyedBookEndpoint().content(from: nil, with: Data(one.utf8)) == twoBooks[1])
    }

    @Test func nestedEnvelopesAreUnwrapped() throws {
        let text = #"{"data": {"book_list": [{"id": 1, "name": "Mu-Mu"}, {"id": 2, "name": "Kashtanka"}]}}"#
        #expect(try NestedBookListEndpoint().content(from: nil, with: Data(text.utf8)) == twoBooks)
    }

    @Test func contentIsTheRootWithoutAnEnvelope() throws {
        struct Bare: JsonEndpoint, URLRequestBuildable {
            typealias Content = [Book]
            func makeRequest() throws -> URLRequest { try get("books") }
        }
        #expect(try Bare().content(from: nil, with: Data(#"[{"id": 1, "name": "Mu-Mu"}]"#.utf8)) == [twoBooks[0]])
    }

    @Test func wrongEnvelopeThrowsADecodingErrorWithItsPath() {
        func error(_ text: String) -> DecodingError? {
            do {
                _ = try BookEndpoint(id: 1).content(from: nil, with: Data(text.utf8))
                return nil
            } catch {
                return error as? DecodingError
            }
        }
        guard case .keyNotFound(let key, _) = error(#"{"result": {}}"#) else {
            return #expect(Bool(false), "keyNotFound expected")
        }
        #expect(key.stringValue == "data")
        guard case .valueNotFound = error(#"{"data": null}"#) else { return #expect(Bool(false), "valueNotFound expected") }
        guard case .dataCorrupted = error("") else { return #expect(Bool(false), "dataCorrupted expected") }
        guard case .typeMismatch(_, let context) = error(#"{"data": {"id": "A-1", "name": "x"}}"#) else {
            return #expect(Bool(false), "typeMismatch expected")
        }
        #expect(context.codingPath.map(\.stringValue) == ["data", "id"])
    }

    @Test func nullInsideAnEnvelopeIsNilForOptionalContent() throws {
        struct Maybe: JsonEndpoint, URLRequestBuildable {
            func makeRequest() throws -> URLRequest { try get("book") }
            func content(from root: ResponseData<Book?>) -> Book? { root.data }
        }
        #expect(try Maybe().content(from: nil, with: Data(#"{"data": null}"#.utf8)) == nil)
    }

    @Test func rawContentFollowsTheRulesOfTheRawLayer() throws {
        struct Raw: JsonEndpoint, URLRequestBuildable {
            typealias Content = Json
            func makeRequest() throws -> URLRequest { try get("raw") }
        }
        for missing in ["", "null", "{}", " null ", "{ }"] {
            #expect(throws: ContentError.missing(statusCode: nil), "\(missing)") {
                try Raw().content(from: nil, with: Data(missing.utf8))
            }
        }
        #expect(try Raw().content(from: nil, with: Data("[1, 2]".utf8)) == ["_array": [1, 2]])
        #expect(try Raw().content(from: nil, with: Data(#"{"snake_case": 1}"#.utf8)) == ["snake_case": 1])
        #expect(throws: DecodingError.self) { try Raw().content(from: nil, with: Data("<html>".utf8)) }
    }

    @Test func anEndpointMakesARelativeRequest() throws {
        #expect(try BookListEndpoint().makeRequest().url?.absoluteString == "books")
        #expect(try BookEndpoint(id: 7).makeRequest().url?.absoluteString == "books/7")
        #expect(try BookListEndpoint().makeRequest().httpMethod == "GET")
    }
}

@Suite struct HTTPBodyTests {
    @Test func bodiesHaveTheirContentType() throws {
        let data = Data("test".utf8)
        #expect(HTTPBody.json(data) == HTTPBody(data: data, contentType: "application/json"))
        #expect(HTTPBody.form(data) == HTTPBody(data: data, contentType: "application/x-www-form-urlencoded"))
        #expect(HTTPBody.text(data) == HTTPBody(data: data, contentType: "text/plain"))
        #expect(HTTPBody.string("test") == HTTPBody(data: data, contentType: "text/plain"))
        #expect(HTTPBody.binary(data) == HTTPBody(data: data, contentType: "application/octet-stream"))
    }

    @Test func entriesAreSentAsAPlainList() {
        #expect(HTTPBody.json(["_array": [1, 2]] as Json).data == Data("[1,2]".utf8))
        #expect(HTTPBody.json(["a": 1] as Json).data == Data(#"{"a":1}"#.utf8))
    }

    @Test func formIsPercentEncoded() {
        let items = [URLQueryItem(name: "q", value: "a b&c=d+é"), URLQueryItem(name: "empty", value: nil)]
        #expect(String(decoding: HTTPBody.form(items).data, as: UTF8.self) == "q=a+b%26c%3Dd%2B%C3%A9&empty=")
    }
}

@Suite struct URLRequestBuildableTests {
    private struct Builder: URLRequestBuildable {}
    private let builder = Builder()
    private let url = URL(string: "https://example.com/books?old=1") ?? URL(fileURLWithPath: "/")
    private let body = HTTPBody.string("test")

    @Test func getWithoutQueryItemsKeepsTheURL() {
        for items in [nil, []] as [[URLQueryItem]?] {
            let request = builder.get(url, queryItems: items)
            #expect(request.url == url)
            #expect(request.httpMethod == "GET")
            #expect((request.allHTTPHeaderFields ?? [:]).isEmpty)
            #expect(request.httpBody == nil)
        }
    }

    @Test func getReplacesTheQuery() {
        let request = builder.get(
            url, queryItems: [URLQueryItem(name: "name", value: "John +1"), URLQueryItem(name: "x", value: nil)])
        #expect(request.url?.absoluteString == "https://example.com/books?name=John%20%2B1&x")
    }

    @Test func postWithoutABodyHasNoContentType() {
        let request = builder.post(url, body: body)
        #expect(request.httpMethod == "POST")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "text/plain")
        #expect(request.httpBody == body.data)
        let empty = builder.post(url, body: nil)
        #expect(empty.httpMethod == "POST")
        #expect(empty.value(forHTTPHeaderField: "Content-Type") == nil)
        #expect(empty.httpBody == nil)
    }

    @Test func patchAndPutCarryTheirBody() {
        for (request, method) in [(builder.patch(url, body: body), "PATCH"), (builder.put(url, body: body), "PUT")] {
            #expect(request.httpMethod == method)
            #expect(request.value(forHTTPHeaderField: "Content-Type") == "text/plain")
            #expect(request.httpBody == body.data)
        }
    }

    @Test func deleteHasNoBody() {
        let request = builder.delete(url)
        #expect(request.httpMethod == "DELETE")
        #expect(request.url == url)
        #expect(request.httpBody == nil)
    }
}

@Suite struct BaseRequestAdapterTests {
    private func adapted(_ path: String, base: String) throws -> URLRequest {
        let base = try #require(URL(string: base))
        struct Builder: URLRequestBuildable {}
        var request = try Builder().post(path, body: nil)
        request.setValue("1", forHTTPHeaderField: "X-Test")
        request.httpBody = Data([1])
        return try BaseRequestAdapter(baseURL: base).adapt(request)
    }

    @Test(arguments: [
        ("books", "https://host/api/v1/", "https://host/api/v1/books"),
        ("books", "https://host/api/v1", "https://host/api/v1/books"),
        ("books/10", "https://host", "https://host/books/10"),
        ("books/", "https://host/", "https://host/books/"),
        ("/books", "https://host/api/", "https://host/books"),
        ("books?page=2&q=a%20b", "https://host/api/", "https://host/api/books?page=2&q=a%20b"),
        ("https://other/books", "https://host/api/", "https://other/books"),
        ("//other/books", "https://host/api/", "https://other/books"),
        ("v1:batch", "https://host/api/", "https://host/api/v1:batch"),
        ("v1:batch?a=b:c", "https://host/api", "https://host/api/v1:batch?a=b:c"),
        ("1:batch", "https://host/api/", "https://host/api/1:batch"),
        ("users/1:follow", "https://host/api/", "https://host/api/users/1:follow"),
        ("", "https://host/api/", "https://host/api/"),
        ("", "https://host/graphql", "https://host/graphql"),
        ("?page=2", "https://host/graphql", "https://host/graphql?page=2"),
        ("books", "https://host/api?key=a%20b", "https://host/api/books?key=a%20b"),
        ("books?page=2", "https://host/api/?key=1&page=1", "https://host/api/books?key=1&page=2"),
        ("/books", "https://host/api?key=1", "https://host/books?key=1"),
        ("", "https://host/api?key=1", "https://host/api?key=1"),
        ("https://other/books", "https://host/api?key=1", "https://other/books"),
    ])
    func relativeURLsAreResolved(_ path: String, _ base: String, _ expected: String) throws {
        #expect(try adapted(path, base: base).url?.absoluteString == expected)
    }

    @Test func adapterKeepsMethodHeadersAndBody() throws {
        let request = try adapted("books", base: "https://host/")
        #expect(request.httpMethod == "POST")
        #expect(request.value(forHTTPHeaderField: "X-Test") == "1")
        #expect(request.httpBody == Data([1]))
    }

    @Test func requestWithoutAURLThrowsBadURL() throws {
        var request = URLRequest(url: try #require(URL(string: "books")))
        request.url = nil
        let adapter = BaseRequestAdapter(baseURL: try #require(URL(string: "https://host/")))
        let broken = request
        #expect {
            try adapter.adapt(broken)
        } throws: { error in
            (error as? URLError)?.code == .badURL
        }
    }

    @Test func missingHeadersAreAdded() async throws {
        var request = URLRequest(url: try #require(URL(string: "https://host/")))
        request.setValue("mine", forHTTPHeaderField: "A")
        let adapted = try await HeaderRequestAdapter { ["A": "theirs", "B": "theirs"] }.adapt(request)
        #expect(adapted.value(forHTTPHeaderField: "A") == "mine")
        #expect(adapted.value(forHTTPHeaderField: "B") == "theirs")
    }
}

@Suite struct MissingContentTests {
    private struct Books: JsonEndpoint, URLRequestBuildable {
        var acceptsMissingContent = false
        func makeRequest() throws -> URLRequest { try get("books") }
        func content(from root: ResponseData<[Book]>) -> [Book] { root.data }
    }
    private struct Maybe: JsonEndpoint, URLRequestBuildable {
        typealias Content = Book?
        var acceptsMissingContent: Bool { true }
        func makeRequest() throws -> URLRequest { try get("book") }
    }

    private func response(_ status: Int) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "https://host/"))
        return try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
    }

    @Test(arguments: [(204, "[]"), (205, ""), (200, ""), (200, "null"), (200, "{}")])
    func missingContentIsTheEmptyValueOnlyWhereTheEndpointSaysSo(_ status: Int, _ body: String) throws {
        let response = try response(status)
        #expect(throws: (any Error).self) { try Books().content(from: response, with: Data(body.utf8)) }
        #expect(try Books(acceptsMissingContent: true).content(from: response, with: Data(body.utf8)) == [])
        #expect(try Maybe().content(from: response, with: Data(body.utf8)) == nil)
    }

    @Test func aPartIsNeverTheAnswer() throws {
        for accepts in [false, true] {
            let endpoint = Books(acceptsMissingContent: accepts)
            for body in [#"{"data": []}"#, "{}", ""] {
                #expect(throws: ContentError.partial) { try endpoint.content(from: response(206), with: Data(body.utf8)) }
            }
        }
    }

    @Test func wrongContentIsAnErrorWhereMissingContentIsAccepted() {
        for body in ["<html>", #"{"data": {}}"#, #"{"error": 1}"#, "[", "1", "nu ll", "null<br/>", "null null", "{}{}", "{ }}"] {
            #expect(throws: DecodingError.self) {
                try Books(acceptsMissingContent: true).content(from: response(200), with: Data(body.utf8))
            }
        }
    }
}
