import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The body of an upload.
public enum UploadEndpointBody: Sendable {
    /// Bytes in memory.
    case data(Data)
    /// A file, read while it is sent.
    case file(URL)
    /// A stream, opened while it is sent. The closure makes a new stream on each call.
    case stream(@Sendable () -> InputStream)
}

/// An endpoint that sends a body which is too large, or too slow to make, to be part of the request.
///
/// ```swift
/// struct AvatarEndpoint: JsonUploadEndpoint, URLRequestBuildable {
///     let file: URL
///
///     func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
///         (try post("avatar", body: nil), .file(file))
///     }
///
///     func content(from root: ResponseData<Json>) -> Json { root.data }
/// }
/// ```
public protocol UploadEndpoint<Content>: ResponseReading {
    /// Returns the request to send, and its body.
    func makeRequest() throws -> (URLRequest, UploadEndpointBody)
}

/// An upload whose response is JSON. See ``JsonEndpoint``.
public protocol JsonUploadEndpoint<Content>: UploadEndpoint, JsonResponseReading {}
