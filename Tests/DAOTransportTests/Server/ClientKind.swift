import DAOCurl
import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The clients, for tests that hold for each of them.
public enum ClientKind: Sendable, CaseIterable {
    case curl
    case session

    /// Makes a client with the same settings of either kind.
    ///
    /// - Parameters:
    ///   - timeout: the longest time without any data; by default ten minutes, because a machine that runs many tests at once has
    ///     a minute without any.
    public func make(
        baseURL: URL? = nil,
        adapters: [any RequestAdapter] = [],
        headers: [String: String] = [:],
        timeout: Double = 600,
        limits: TransferLimits = TransferLimits(),
        responseObserver: (@Sendable (HTTPExchange) -> Void)? = nil
    ) -> any Client {
        switch self {
        case .curl:
            let configuration = CurlConfiguration(headers: headers, timeout: .seconds(timeout))
            return CurlClient(
                baseURL: baseURL, adapters: adapters, configuration: configuration, limits: limits,
                responseObserver: responseObserver)
        case .session:
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = headers
            configuration.timeoutIntervalForRequest = timeout
            return URLSessionClient(
                baseURL: baseURL, adapters: adapters, configuration: configuration, limits: limits,
                responseObserver: responseObserver)
        }
    }
}
