/// How many rows a ``PersistNode`` may erase at once, because the server did not send them.
public struct ErasureLimit: Sendable, Hashable {
    private enum Measure: Hashable {
        case rows(Int)
        case fraction(Double)
    }

    private let measure: Measure

    /// At most this number of rows.
    public static func rows(_ maximum: Int) -> ErasureLimit {
        ErasureLimit(measure: .rows(maximum))
    }

    /// At most this part of the stored rows that the node replaces: 0 for none, 0.5 for half of them, 1 for all.
    public static func fraction(_ maximum: Double) -> ErasureLimit {
        ErasureLimit(measure: .fraction(maximum))
    }

    func allows(_ erased: Int, of stored: Int) -> Bool {
        guard erased > 0 else { return true }
        return switch measure {
        case .rows(let maximum): erased <= maximum
        case .fraction(let maximum): Double(erased) <= Double(stored) * maximum
        }
    }
}

/// An answer that was not stored, because it would erase more rows than an ``ErasureLimit`` allows.
public struct ErasureLimitError: Error, Sendable, Hashable {
    /// The entity of the rows.
    public let entity: String
    /// The number of rows that the answer would erase.
    public let erased: Int
    /// The number of stored rows that it would replace.
    public let stored: Int

    /// Creates an error.
    public init(entity: String, erased: Int, stored: Int) {
        self.entity = entity
        self.erased = erased
        self.stored = stored
    }
}

extension ErasureLimitError: CustomStringConvertible {
    /// What would be erased, and the next step.
    public var description: String {
        "the answer would erase \(erased) of \(stored) rows of '\(entity)', more than erasingAtMost allows; nothing was "
            + "changed; raise the limit if the server is right"
    }
}
