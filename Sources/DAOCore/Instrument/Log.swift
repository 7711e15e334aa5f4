import Foundation

extension DatabaseConfiguration {
    /// Which calls are printed to the standard error stream.
    public enum Log: String, Sendable, Hashable, CaseIterable {
        /// Calls that took 100 milliseconds or more, without the waiting for other writers, calls that failed, and calls that found
        /// snapshots above the option `pinnedLimit`.
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
            let isSlow = call.duration - call.waited >= .milliseconds(100)
            if log == .slow, !isSlow, call.error == nil, call.pinnedBytes == nil { return }
            FileHandle.standardError.write(Data("dao: \(call)\n".utf8))
        }
    }
}
