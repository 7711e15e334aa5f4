import DAOCore

/// An SQL engine with a database open in it: what a backend supplies, besides a dialect, to become a whole database.
///
/// ``SQLDatabase`` builds everything else on top: tables, rows, queries, links, the catalog, migrations. An engine keeps these promises:
///
/// - A transaction that reads sees one commit, never waits for a writer and never makes one wait.
/// - A transaction that writes sees its own writes. The database above has one at a time within the process; the engine makes it wait for
///   those of other processes.
/// - Text is compared and sorted by its UTF-8 bytes.
public protocol SQLEngine: AnyObject, Sendable {

    /// What the engine writes in its own way.
    var dialect: any SQLDialect { get }

    /// What the database says of itself.
    var traits: SQLEngineTraits { get }

    /// Opens a connection. There is one at most that writes; those that read are kept in a pool.
    ///
    /// - Throws: `StorageError`, with the path.
    func connect(_ access: SQLAccess) throws -> any SQLConnection

    /// Looks whether the database is whole and can be read, before anybody uses it. By default it does nothing.
    func check(_ connection: any SQLConnection) throws

    /// How to count the commits of all processes while somebody observes; nil, the default, when only this process writes.
    var commitCounter: ObservationHub.OpenCounter? { get }

    /// Frees what the engine holds beside its connections, which are gone by then. By default it does nothing.
    func close()
}

extension SQLEngine {
    /// Nothing is checked.
    public func check(_ connection: any SQLConnection) throws {}

    /// Nil: nobody else writes.
    public var commitCounter: ObservationHub.OpenCounter? { nil }

    /// There is nothing to free.
    public func close() {}
}

/// What a connection is for.
public enum SQLAccess: Sendable {
    /// Transactions that read.
    case read
    /// The one transaction that may write.
    case write
}

/// What sort of engine it is, for capabilities and error messages.
public struct SQLEngineTraits: Sendable {
    /// The engine's name and version as people know it, for example "SQLite 3.40.1".
    public var name: String
    /// The file, or where else the data is.
    public var path: String
    /// Whether the data outlives the process.
    public var isPersistent: Bool
    /// Whether several processes may use the same data.
    public var isMultiProcess: Bool
    /// The most bytes that one value can have; nil when memory is the only limit.
    public var maximumValueLength: Int?
    /// The type of the handle that its connections have underneath; nil when they have none.
    public var underlyingType: UnderlyingType?

    /// Creates a description of an engine.
    ///
    /// - Parameters:
    ///   - name: The engine's name and version as people know it.
    ///   - path: The file, or where else the data is.
    ///   - isPersistent: Whether the data outlives the process.
    ///   - isMultiProcess: Whether several processes may use the same data.
    ///   - maximumValueLength: The most bytes that one value can have; nil when memory is the only limit.
    ///   - underlyingType: The type of the handle that its connections have underneath.
    public init(
        name: String, path: String, isPersistent: Bool = true, isMultiProcess: Bool = false,
        maximumValueLength: Int? = nil, underlyingType: UnderlyingType? = nil
    ) {
        self.name = name
        self.path = path
        self.isPersistent = isPersistent
        self.isMultiProcess = isMultiProcess
        self.maximumValueLength = maximumValueLength
        self.underlyingType = underlyingType
    }
}
