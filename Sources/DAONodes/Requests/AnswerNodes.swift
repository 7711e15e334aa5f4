import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An answer that came over HTTP.
public struct URLDataResponse: Sendable {
    /// The request that was sent.
    public var request: URLRequest
    /// The answer without its body.
    public var response: HTTPURLResponse
    /// The body of the answer.
    public var data: Data

    /// An answer.
    public init(request: URLRequest, response: HTTPURLResponse, data: Data = Data()) {
        self.request = request
        self.response = response
        self.data = data
    }
}

/// An answer that was read.
public struct ProcessedResponse: Sendable {
    /// The answer as it came.
    public var response: URLDataResponse
    /// Its body.
    public var json: Json

    /// An answer and its body.
    public init(response: URLDataResponse, json: Json) {
        self.response = response
        self.json = json
    }
}

/// Ends the chain when there is no answer.
///
/// A failure that has an answer nevertheless goes on with an empty body, so that its status is heard.
public struct ResponseProcessorNode<Output: Sendable>: Node {
    private let next: any Node<URLDataResponse, Output>

    /// A node above one that takes answers.
    public init(next: any Node<URLDataResponse, Output>) {
        self.next = next
    }

    /// Asks the next node when there is an answer; else the failure is the result, or `URLError(.badServerResponse)` when there is
    /// none.
    public func process(_ input: DataResponse) -> Observer<Output> {
        guard let response = input.response else {
            return .emit(error: input.error ?? URLError(.badServerResponse))
        }
        ChainLog.record("ResponseProcessorNode", .response, "status \(response.statusCode)")
        let data = input.error == nil ? input.data : Data()
        return next.process(URLDataResponse(request: input.request, response: response, data: data))
    }
}

/// Makes errors of the statuses that mean one: 400, 401, 403, 404 and 500. Every other status goes on, 402 and 502 too.
public struct ResponseHTTPErrorProcessorNode<Output: Sendable>: Node {
    private let next: any Node<URLDataResponse, Output>

    /// A node above one that takes good answers.
    public init(next: any Node<URLDataResponse, Output>) {
        self.next = next
    }

    /// Asks the next node, or fails with an `HTTPError` that has a `kind` and the body of the answer.
    public func process(_ input: URLDataResponse) -> Observer<Output> {
        let error = HTTPError(statusCode: input.response.statusCode, url: input.response.url, body: input.data)
        guard let kind = error.kind else { return next.process(input) }
        ChainLog.record("ResponseHTTPErrorProcessorNode", .status, "\(kind)")
        return .emit(error: error)
    }
}

/// Answers for what has no content: status 204 and a body that is `null` are the empty object.
public struct ResponseDataPreprocessorNode: Node {
    private let next: any Node<URLDataResponse, Json>

    /// A node above one that reads bodies.
    public init(next: any Node<URLDataResponse, Json>) {
        self.next = next
    }

    /// Asks the next node when there is something to read.
    public func process(_ input: URLDataResponse) -> Observer<Json> {
        guard input.response.statusCode != 204, input.data != Data("null".utf8) else {
            ChainLog.record("ResponseDataPreprocessorNode", .body, "no content")
            return .emit(data: Json())
        }
        return next.process(input)
    }
}

/// Reads the body: an object as it is, a list as `{"_array": […]}`, nothing as the empty object.
public struct ResponseDataParserNode: Node {
    private let next: (any Node<ProcessedResponse, Void>)?

    /// The bottom of a chain.
    ///
    /// - Parameter next: given every answer that could be read, to keep it, say. The result waits for it, and its error is the result.
    public init(next: (any Node<ProcessedResponse, Void>)? = nil) {
        self.next = next
    }

    /// Reads the body, and asks the next node if there is one. A body that is no JSON, or neither object nor list, is a
    /// `DecodingError`.
    public func process(_ input: URLDataResponse) -> Observer<Json> {
        let json: Json
        do {
            json = try Self.parse(input.data)
        } catch {
            ChainLog.record("ResponseDataParserNode", .body, "unreadable")
            return .emit(error: error)
        }
        ChainLog.record("ResponseDataParserNode", .body, "\(json.objectValue?.count ?? 0) members")
        guard let next else { return .emit(data: json) }
        return next.process(ProcessedResponse(response: input, json: json)).map { (_: Void) -> Json in json }
    }

    static func parse(_ data: Data) throws -> Json {
        let json = try JsonBody.decode(Json.self, from: data)
        guard json.objectValue != nil else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "An answer is an object or a list, not a single value."))
        }
        return json
    }
}

/// The bottom of a chain that loads bytes and does not read them.
public struct DataLoadingResponseProcessorNode: Node {
    /// A node that gives the body.
    public init() {}

    /// The body as it came.
    public func process(_ input: URLDataResponse) -> Observer<Data> {
        .emit(data: input.data)
    }
}
