/// A counter of the writes of a row. A model that has one refuses to store outdated values (contract W7).
///
/// ```swift
/// struct Ticket: Plain, Model {
///     var id: Int
///     var title: String
///     var revision = Revision()
///
///     static let schema = Schema(
///         "ticket", Self.init,
///         Field("id", \.id, .primaryKey),
///         Field("title", \.title),
///         Field("revision", \.revision)
///     )
/// }
/// ```
///
/// Every write of the row counts it up by one. A write of a value whose revision is not the stored one throws
/// `.conflict` and stores nothing. After a successful write the stored revision is ``next``, so a value can be
/// written again without being read:
///
/// ```swift
/// try tickets.persist(ticket)
/// ticket.revision = ticket.revision.next
/// ```
///
/// It is stored as an integer. Conditions, sorts and totals use it like an `Int`.
public struct Revision: RawRepresentable, OrderedFieldValue, Hashable, Codable, Comparable, ExpressibleByIntegerLiteral {
    /// The number of writes; zero for a value that is not stored.
    public let rawValue: Int64

    /// The revision of a new value, which is not stored.
    public init() { rawValue = 0 }

    /// Creates a revision from a number of writes.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Creates a revision from a number of writes.
    public init(integerLiteral value: Int64) { rawValue = value }

    /// The revision that a successful write of a value with this revision stores.
    public var next: Revision { Revision(rawValue: rawValue &+ 1) }

    /// Whether a revision has fewer writes.
    public static func < (left: Revision, right: Revision) -> Bool { left.rawValue < right.rawValue }
}

extension Revision: CustomStringConvertible {
    /// The number.
    public var description: String { "\(rawValue)" }
}

extension Revision {
    /// The revision of a row that was written once, and of a row that was stored before its model had a revision.
    static let first = Revision().next
}
