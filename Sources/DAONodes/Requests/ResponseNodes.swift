import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A response that came over HTTP.
public struct URLDataResponse: Sendable {
    /// The request that was sent.
    public var request: URLRequest
    /// The response without its body.
    public var response: HTTPURLResponse
    /// The body of the response.
    public var data: Data

    /// Creates a response.
    public init(request: URLRequest, response: HTTPURLResponse, data: Data = Data()) {
        self.request = request
        self.response = response
        self.data = data
    }
}

/// A response with its parsed body.
public struct ProcessedResponse: Sendable {
    /// The response as it was received.
    public var response: URLDataResponse
    /// The parsed body.
    public var json: Json

    /// Creates a response with its parsed body.
    public init(response: URLDataResponse, json: Json) {
        self.response = response
        self.json = json
    }
}

/// Ends the chain when there is no response.
///
/// A failure with a response continues with an empty body, so that the status is handled.
public struct ResponseProcessorNode<Output: Sendable>: Node {
    private let next: any Node<URLDataResponse, Output>

    /// Creates a node above a node with response input.
    public init(next: any Node<URLDataResponse, Output>) {
        self.next = next
    }

    /// Calls the next node when there is a response. Otherwise the failure is the result, or
    /// `URLError(.badServerResponse)` when there is no failure.
    public func process(_ input: DataResponse) -> Observer<Output> {
        guard let response = input.response else {
            return .emit(error: input.error ?? URLError(.badServerResponse))
        }
        ChainLog.record("ResponseProcessorNode", .response, "status \(response.statusCode)")
        let data = input.error == nil ? input.data : Data()
        return next.process(URLDataResponse(request: input.request, response: response, data: data))
    }
}

/// Turns the statuses 400, 401, 403, 404 and 500 into errors. Every other status continues, including 402 and
/// 502.
public struct ResponseHTTPErrorProcessorNode<Output: Sendable>: Node {
    private let next: any Node<URLDataResponse, Output>

    /// Creates a node above a node for responses without these statuses.
    public init(next: any Node<URLDataResponse, Output>) {
        self.next = next
    }

    /// Calls the next node, or fails with an `HTTPError` that has a `kind` and the body of the response.
    public func process(_ input: URLDataResponse) -> Observer<Output> {
        let error = HTTPError(statusCode: input.response.statusCode, url: input.response.url, body: input.data)
        guard let kind = error.kind else { return next.process(input) }
        ChainLog.record("ResponseHTTPErrorProcessorNode", .status, "\(kind)")
        return .emit(error: error)
    }
}

/// Handles responses without content: status 204 and the body `null` become the empty object.
public struct ResponseDataPreprocessorNode: Node {
    private let next: any Node<URLDataResponse, Json>

    /// Creates a node above a node that parses bodies.
    public init(next: any Node<URLDataResponse, Json>) {
        self.next = next
    }

    /// Calls the next node when there is content.
    public func process(_ input: URLDataResponse) -> Observer<Json> {
        guard input.response.statusCode != 204, input.data != Data("null".utf8) else {
            ChainLog.record("ResponseDataPreprocessorNode", .body, "no content")
            return .emit(data: Json())
        }
        return next.process(input)
    }
}

/// Parses the body: an object unchanged, a list as `{"_array": […]}`, an empty body as the empty object.
public struct ResponseDataParserNode: Node {
    private let next: (any Node<ProcessedResponse, Void>)?

    /// Creates the bottom of a chain.
    ///
    /// - Parameter next: receives every parsed response, for example to store it. The result waits for this
    ///   node, and its error is the result.
    public init(next: (any Node<ProcessedResponse, Void>)? = nil) {
        self.next = next
    }

    /// Parses the body and calls the next node if there is one. A body that is not JSON, or neither an object
    /// nor a list, is a `DecodingError`.
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
                .init(codingPath: [], debugDescription: "An response is an object or a list, not a single value."))
        }
        return json
    }
}

/// The bottom of a chain that loads bytes without parsing them.
public struct DataLoadingResponseProcessorNode: Node {
    /// Creates a node that returns the body.
    public init() {}

    /// Returns the body unchanged.
    public func process(_ input: URLDataResponse) -> Observer<Data> {
        .emit(data: input.data)
    }
}
