import DAOCore

/// The connections between this process and the server of one database, which the suite disturbs (chapter N).
///
/// A proxy in front of the server is the usual implementation. The time limits of the database that it opens should be short: two
/// or three seconds for connecting, and for a server that does not answer.
public protocol ConformanceNetwork: AnyObject, Sendable {
    /// Opens the database over these connections. Its connections are not shared with databases that the target opens.
    func open() throws -> any Database

    /// Opens the database over these connections as a user whom the server does not let in.
    func openAsStranger() throws -> any Database

    /// Ends all connections at once. Later ones are accepted.
    func cut()

    /// Disturbs one connection: that over which the next message goes in a direction. The message does not arrive.
    func disturb(next message: ConformanceMessage, _ disturbance: ConformanceDisturbance)

    /// Refuses new connections, as if there were no server, or accepts them again.
    func refuse(_ isRefusing: Bool)

    /// Ends all connections, and accepts no more.
    func stop()
}

/// A direction in which messages go.
public enum ConformanceMessage: Sendable, Hashable, CaseIterable {
    /// From the database to the server.
    case request
    /// From the server to the database.
    case answer
}

/// What happens to a connection.
public enum ConformanceDisturbance: Sendable, Hashable, CaseIterable {
    /// Both ends see that it has ended.
    case cut
    /// It stays open, and nothing more arrives in the direction.
    case stall
}

extension ConformanceTarget {
    /// Returns the same kind of database with a way to disturb the connections to its server.
    ///
    /// ```swift
    /// let disturbed = target.withNetwork { location in try MyProxy(schema: location.name) }
    /// ```
    ///
    /// - Parameter makeNetwork: Makes the connections to the database at a location.
    public func withNetwork(
        _ makeNetwork: @escaping @Sendable (Location) throws -> any ConformanceNetwork
    ) -> ConformanceTarget {
        var target = self
        target.makeNetwork = makeNetwork
        return target
    }
}
