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
/// 502, unless the node accepts only successes.
public struct ResponseHTTPErrorProcessorNode<Output: Sendable>: Node {
    private let next: any Node<URLDataResponse, Output>
    private let acceptsOtherStatuses: Bool

    /// Creates a node above a node for responses without these statuses.
    ///
    /// - Parameters:
    ///   - next: reads the response.
    ///   - acceptsOtherStatuses: whether every other status continues. The default chain passes false: then a status
    ///     outside 200..<300 is an error too, and status 206 is one unless the request has a `Range`. A node that
    ///     handles such a status, as ``URLNotModifiedTriggerNode`` does, belongs above this one.
    public init(next: any Node<URLDataResponse, Output>, acceptsOtherStatuses: Bool = true) {
        self.next = next
        self.acceptsOtherStatuses = acceptsOtherStatuses
    }

    /// Calls the next node, or fails with an `HTTPError` that has the body of the response. It has a `kind` for the five
    /// statuses. The error of status 206 is `ContentError.partial`.
    public func process(_ input: URLDataResponse) -> Observer<Output> {
        let status = input.response.statusCode
        let error = HTTPError(statusCode: status, url: input.response.url, body: input.data)
        if let kind = error.kind { return fail("\(kind)", error) }
        guard !acceptsOtherStatuses else { return next.process(input) }
        guard (200..<300).contains(status) else { return fail("status \(status)", error) }
        guard status != 206 || input.request.value(forHTTPHeaderField: "Range") != nil else {
            return fail("partial content", ContentError.partial)
        }
        return next.process(input)
    }

    private func fail(_ text: String, _ error: any Error) -> Observer<Output> {
        ChainLog.record("ResponseHTTPErrorProcessorNode", .status, text)
        return .emit(error: error)
    }
}

/// Handles responses without content: status 204 and the body `null` become the empty object, unless the node
/// requires content.
public struct ResponseDataPreprocessorNode: Node {
    private let next: any Node<URLDataResponse, Json>
    private let acceptsMissingContent: Bool

    /// Creates a node above a node that parses bodies.
    ///
    /// - Parameters:
    ///   - next: parses the body.
    ///   - acceptsMissingContent: whether a response without content is the empty object, of which an empty list can be
    ///     made. The default chain passes false: then status 204 or 205, and a body that is empty, `null` or `{}`, are
    ///     `ContentError.missing`, and status 206 is `ContentError.partial`.
    public init(next: any Node<URLDataResponse, Json>, acceptsMissingContent: Bool = true) {
        self.next = next
        self.acceptsMissingContent = acceptsMissingContent
    }

    /// Calls the next node when there is content.
    public func process(_ input: URLDataResponse) -> Observer<Json> {
        let status = input.response.statusCode
        if !acceptsMissingContent {
            if status == 206 { return fail("partial content", .partial) }
            if status == 204 || status == 205 || JsonBody.isMissing(input.data) {
                return fail("no content", .missing(statusCode: status))
            }
        }
        guard status != 204, input.data != Data("null".utf8) else {
            ChainLog.record("ResponseDataPreprocessorNode", .body, "no content")
            return .emit(data: Json())
        }
        return next.process(input)
    }

    private func fail(_ text: String, _ error: ContentError) -> Observer<Json> {
        ChainLog.record("ResponseDataPreprocessorNode", .body, text)
        return .emit(error: error)
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
        let json = try JsonBody.raw(data)
        guard json.objectValue != nil else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "An response is an object or a list, not a single value."))
        }
        return json
    }
}

/// The bottom of a chain that loads bytes without parsing them.
public struct DataLoadingResponseProcessorNode: Node {
    private let acceptsMissingContent: Bool

    /// Creates a node that returns the body.
    ///
    /// - Parameter acceptsMissingContent: whether status 204 or 205 means no bytes. The default chain passes false: then
    ///   they are `ContentError.missing`. An empty body with another status is content without bytes.
    public init(acceptsMissingContent: Bool = true) {
        self.acceptsMissingContent = acceptsMissingContent
    }

    /// Returns the body unchanged.
    public func process(_ input: URLDataResponse) -> Observer<Data> {
        let status = input.response.statusCode
        guard acceptsMissingContent || (status != 204 && status != 205) else {
            ChainLog.record("DataLoadingResponseProcessorNode", .body, "no content")
            return .emit(error: ContentError.missing(statusCode: status))
        }
        return .emit(data: input.data)
    }
}
