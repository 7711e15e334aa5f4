import DAORedaction

/// A driver opens the databases of a URL scheme. Every backend has a driver: `.memory`, `.sqlite`, `.lmdb`.
public struct DatabaseDriver: Sendable {
    /// The URL scheme of the driver.
    public let scheme: String
    /// The names of the driver's options, in addition to those of every configuration.
    public let optionNames: Set<String>
    /// Whether the databases can be encrypted.
    public let encrypts: Bool
    /// Whether the databases honour ``DatabaseConfiguration/seenPosition``.
    public let hasPositions: Bool
    private let countConnections: @Sendable (DatabaseConfiguration) -> Int
    private let openDatabase: @Sendable (DatabaseConfiguration) throws -> any Database

    /// Creates a driver.
    ///
    /// - Parameters:
    ///   - scheme: The URL scheme of the driver, in lower case.
    ///   - optionNames: The names of the driver's options, in addition to those of every configuration.
    ///   - encrypts: Whether `open` honours ``DatabaseConfiguration/encryption``. Otherwise it is refused before.
    ///   - hasPositions: Whether `open` honours ``DatabaseConfiguration/seenPosition``. Otherwise it is refused before.
    ///   - connections: A closure that returns how many connections to a server a database has at most; by default 1, for a file.
    ///   - open: A closure that opens a database. The names of the options have been checked.
    public init(
        scheme: String, optionNames: Set<String> = [], encrypts: Bool = false, hasPositions: Bool = false,
        connections: @escaping @Sendable (DatabaseConfiguration) -> Int = { _ in 1 },
        open: @escaping @Sendable (DatabaseConfiguration) throws -> any Database
    ) {
        self.scheme = scheme
        self.optionNames = optionNames
        self.encrypts = encrypts
        self.hasPositions = hasPositions
        countConnections = connections
        openDatabase = open
    }

    /// Returns what a database takes of the limit of a ``DatabaseSet``: its maximum number of connections to a server, or 1.
    public func connections(of configuration: DatabaseConfiguration) -> Int { max(countConnections(configuration), 1) }

    /// Opens a database.
    ///
    /// - Throws: `.invalidConfiguration` when the driver does not have an option; any error of opening.
    public func open(_ configuration: DatabaseConfiguration) throws -> any Database {
        if configuration.encryption != nil, !encrypts {
            throw StorageError.encryptionUnsupported(
                "'\(scheme)' databases", "use an encrypted volume, or SQLite", path: configuration.path)
        }
        if configuration.seenPosition != nil, !hasPositions {
            throw StorageError(
                .invalidConfiguration,
                "'\(scheme)' databases have no positions, since every read sees every commit; open it without 'seenPosition'",
                path: configuration.path)
        }
        for name in configuration.options.keys.sorted() where !optionNames.contains(name) {
            if ["key", "encryptionkey", "passphrase"].contains(name.lowercased().replacing("_", with: "")) {
                // A URL gets into logs and histories.
                let instead = encrypts ? "give the key as 'encryption' of the configuration" : "open it without '\(name)'"
                throw StorageError(
                    .unsupported, "'\(scheme)' databases take no key from a URL; \(instead)", path: configuration.path)
            }
            let known = (["create", "readOnly", "durability", "timeout", "log"] + optionNames).sorted().joined(separator: ", ")
            throw StorageError(
                .invalidConfiguration, "'\(scheme)' databases have no option '\(redacted(name))'; use one of these: \(known)",
                path: configuration.path)
        }
        return try openDatabase(configuration)
    }
}

/// The available drivers of an application. The scheme of a URL selects the driver.
///
/// ```swift
/// let drivers = DatabaseDrivers(.memory, .sqlite, .lmdb)
/// let database = try drivers.open("memory:")
/// ```
public struct DatabaseDrivers: Sendable {
    private let drivers: [DatabaseDriver]

    /// Creates a selection of drivers. When two drivers have the same scheme, the last driver is used.
    public init(_ drivers: DatabaseDriver...) { self.drivers = drivers }

    /// Creates a selection of drivers. When two drivers have the same scheme, the last driver is used.
    public init(_ drivers: [DatabaseDriver]) { self.drivers = drivers }

    /// The available schemes, sorted.
    public var schemes: [String] { Set(drivers.map(\.scheme)).sorted() }

    /// Opens the database of a URL.
    ///
    /// - Parameter url: The URL; see ``DatabaseConfiguration``.
    /// - Throws: `.invalidConfiguration` for a malformed URL, an unknown scheme or an unknown option; any
    ///   error of opening.
    public func open(_ url: String) throws -> any Database { try open(DatabaseConfiguration(url: url)) }

    /// Opens the database of a configuration.
    ///
    /// - Parameter configuration: The configuration. Its scheme selects the driver.
    /// - Throws: The errors of opening the database of a URL.
    public func open(_ configuration: DatabaseConfiguration) throws -> any Database {
        try driver(of: configuration).open(configuration)
    }

    /// Returns the driver of a configuration.
    func driver(of configuration: DatabaseConfiguration) throws -> DatabaseDriver {
        guard let driver = drivers.last(where: { $0.scheme == configuration.scheme }) else {
            throw StorageError(
                .invalidConfiguration,
                "there is no driver for '\(configuration.scheme)'; use one that this program has: \(schemes.joined(separator: ", "))"
            )
        }
        return driver
    }
}
