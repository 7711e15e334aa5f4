import Foundation

/// Why a server could not be reached, in the words that an application shows.
public enum TechnicalError: Error, Sendable, Hashable, CaseIterable {
    /// The device may not use this connection for data (-1020).
    case dataNotAllowed
    /// The device is offline (-1009).
    case noInternetConnection
    /// No answer came in time (-1001).
    case timeout
    /// Nobody listens at the server's address (-1004).
    case cantConnectToHost

    /// The word for an error; nil for every other error.
    public init?(_ error: any Error) {
        switch (error as? URLError)?.code {
        case .dataNotAllowed: self = .dataNotAllowed
        case .notConnectedToInternet: self = .noInternetConnection
        case .timedOut: self = .timeout
        case .cannotConnectToHost: self = .cantConnectToHost
        default: return nil
        }
    }

    /// Whether an error means that there was no connection: a technical error, or a `URLError` that is a connection failure.
    @Sendable public static func isConnectionFailure(_ error: any Error) -> Bool {
        error is TechnicalError || (error as? URLError)?.isConnectionFailure == true
    }
}
