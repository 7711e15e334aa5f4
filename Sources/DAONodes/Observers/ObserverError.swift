/// Why an observer has no outcome to give.
public enum ObserverError: Error, Sendable, Hashable {
    /// It finished, or was let go of, without emitting anything.
    case finishedWithoutValue
    /// ``Observer/chain(with:)`` had nothing to go on with.
    case nothingToChain
}

extension ObserverError: CustomStringConvertible {
    /// What happened.
    public var description: String {
        switch self {
        case .finishedWithoutValue: "The observer finished without emitting data or an error."
        case .nothingToChain: "There was nothing to chain the result with: the closure returned nil."
        }
    }
}
