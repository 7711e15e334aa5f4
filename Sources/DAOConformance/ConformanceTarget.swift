import DAOCore
import Foundation

/// A kind of database that the suite is run on: a name, and how to open one at a place.
///
/// ```swift
/// let target = ConformanceTarget(name: "memory") { location in
///     try DatabaseDrivers(.memory).open("memory:\(location.name)")
/// }
/// ```
public struct ConformanceTarget: Sendable {
    /// A place for one database: the same location opens the same data again.
    public struct Location: Sendable, Hashable {
        /// A name that no other case of this run has: letters, digits and dashes.
        public let name: String
        /// A directory that exists, is empty at first, and is removed after the case.
        public let directory: URL
    }

    /// What the report calls it.
    public let name: String
    let open: @Sendable (Location) throws -> any Database

    /// Describes a kind of database.
    ///
    /// - Parameters:
    ///   - name: What the report calls it.
    ///   - open: Opens the database at a location, creating it the first time.
    public init(name: String, open: @escaping @Sendable (Location) throws -> any Database) {
        self.name = name
        self.open = open
    }
}
