/// Opens databases of one scheme. Backends offer one each: `.memory`, `.sqlite`, `.lmdb`.
public struct DatabaseDriver: Sendable {
    /// The URL scheme it answers to.
    public let scheme: String
    /// The options it has beyond those of every configuration.
    public let optionNames: Set<String>
    private let openDatabase: @Sendable (DatabaseConfiguration) throws -> any Database

    /// Describes a driver.
    ///
    /// - Parameters:
    ///   - scheme: The URL scheme it answers to, in lower case.
    ///   - optionNames: The options it has beyond those of every configuration.
    ///   - open: Opens a database; the options have been checked to be among the driver's.
    public init(
        scheme: String, optionNames: Set<String> = [], open: @escaping @Sendable (DatabaseConfiguration) throws -> any Database
    ) {
        self.scheme = scheme
        self.optionNames = optionNames
        openDatabase = open
    }

    /// Opens a database.
    ///
    /// - Throws: `.invalidConfiguration` for an option that the driver does not have; whatever opening throws.
    public func open(_ configuration: DatabaseConfiguration) throws -> any Database {
        for name in configuration.options.keys.sorted() where !optionNames.contains(name) {
            if name == "key" {
                throw StorageError(
                    .unsupported, "'\(scheme)' databases cannot be encrypted here; open it without a key",
                    path: configuration.path)
            }
            let known = (["create", "readOnly", "durability", "timeout"] + optionNames).sorted().joined(separator: ", ")
            throw StorageError(
                .invalidConfiguration, "'\(scheme)' databases have no option '\(name)'; use one of these: \(known)",
                path: configuration.path)
        }
        return try openDatabase(configuration)
    }
}

/// The drivers an application was built with; picks one by the scheme of a URL.
///
/// ```swift
/// let drivers = DatabaseDrivers(.memory, .sqlite, .lmdb)
/// let database = try drivers.open("memory:")
/// ```
public struct DatabaseDrivers: Sendable {
    private let drivers: [DatabaseDriver]

    /// Takes the drivers to choose from; of two with one scheme the last counts.
    public init(_ drivers: DatabaseDriver...) { self.drivers = drivers }

    /// Takes the drivers to choose from; of two with one scheme the last counts.
    public init(_ drivers: [DatabaseDriver]) { self.drivers = drivers }

    /// The schemes there are, sorted.
    public var schemes: [String] { Set(drivers.map(\.scheme)).sorted() }

    /// Opens the database that a URL describes.
    ///
    /// - Parameter url: See ``DatabaseConfiguration``.
    /// - Throws: `.invalidConfiguration` for a malformed URL, an unknown scheme or option; whatever opening throws.
    public func open(_ url: String) throws -> any Database { try open(DatabaseConfiguration(url: url)) }

    /// Opens the database that a configuration describes.
    ///
    /// - Parameter configuration: Its scheme picks the driver.
    /// - Throws: As for a URL.
    public func open(_ configuration: DatabaseConfiguration) throws -> any Database {
        guard let driver = drivers.last(where: { $0.scheme == configuration.scheme }) else {
            throw StorageError(
                .invalidConfiguration,
                "there is no driver for '\(configuration.scheme)'; use one that this program has: \(schemes.joined(separator: ", "))"
            )
        }
        return try driver.open(configuration)
    }
}
