import Foundation

/// The reason why a server could not be reached, as an application shows it.
public enum TechnicalError: Error, Sendable, Hashable, CaseIterable {
    /// The device is not allowed to use this connection for data (-1020).
    case dataNotAllowed
    /// The device is offline (-1009).
    case noInternetConnection
    /// No response came in time (-1001).
    case timeout
    /// No server listens at the address (-1004).
    case cantConnectToHost

    /// Creates the technical error for a `URLError`, or for a deadline that was exceeded; nil for every other
    /// error.
    public init?(_ error: any Error) {
        if case .deadlineExceeded = error as? TransferError {
            self = .timeout
            return
        }
        switch (error as? URLError)?.code {
        case .dataNotAllowed: self = .dataNotAllowed
        case .notConnectedToInternet: self = .noInternetConnection
        case .timedOut: self = .timeout
        case .cannotConnectToHost: self = .cantConnectToHost
        default: return nil
        }
    }

    /// Whether an error is a connection failure: a technical error, a `URLError` whose
    /// `isConnectionFailure` is true, or a deadline that was exceeded.
    @Sendable public static func isConnectionFailure(_ error: any Error) -> Bool {
        TechnicalError(error) != nil || error is TechnicalError || (error as? URLError)?.isConnectionFailure == true
    }
}
