/// The reason why an observer has no outcome.
public enum ObserverError: Error, Sendable, Hashable {
    /// The observer finished, or was released, without an emission.
    case finishedWithoutValue
    /// The closure of ``Observer/chain(with:)`` returned nil.
    case nothingToChain
}

extension ObserverError: CustomStringConvertible {
    /// A description of the error.
    public var description: String {
        switch self {
        case .finishedWithoutValue: "The observer finished without emitting data or an error."
        case .nothingToChain: "There was nothing to chain the result with: the closure returned nil."
        }
    }
}
