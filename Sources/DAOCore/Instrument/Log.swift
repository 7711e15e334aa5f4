import Foundation

extension DatabaseConfiguration {
    /// Which calls are printed to the standard error stream.
    public enum Log: String, Sendable, Hashable, CaseIterable {
        /// Calls that took 100 milliseconds or more, without the waiting for other writers, and calls that failed.
        case slow
        /// All calls.
        case all
    }
}

extension Instrument {
    static let slowLog = Instrument(log: .slow)
    static let fullLog = Instrument(log: .all)

    /// Creates an instrument that prints calls, without values, to the standard error stream.
    private init(log: DatabaseConfiguration.Log) {
        self.init { call in
            if log == .slow, call.error == nil, call.duration - call.waited < .milliseconds(100) { return }
            FileHandle.standardError.write(Data("dao: \(call)\n".utf8))
        }
    }
}
