import DAOCore
import Foundation

/// A kind of database for the suite: a name, and a way to open a database at a location.
///
/// ```swift
/// let target = ConformanceTarget(name: "memory") { location in
///     try DatabaseDrivers(.memory).open("memory:\(location.name)")
/// }
/// ```
///
/// A database with a driver gets more cases, about configurations and damaged files. The initializer with a
/// driver adds them:
///
/// ```swift
/// let target = ConformanceTarget(name: "sqlite", driver: .sqlite) { $0.directory.appendingPathComponent("test.db").path }
/// ```
public struct ConformanceTarget: Sendable {
    /// The location of one database. Opening the same location again opens the same data.
    public struct Location: Sendable, Hashable {
        /// A name that is unique among the cases of this run: letters, digits and dashes.
        public let name: String
        /// A directory that exists, is empty at first, and is removed after the case.
        public let directory: URL
    }

    /// The name of the target in the report.
    public let name: String
    package let open: @Sendable (Location) throws -> any Database
    /// The file of the database at a location; nil for databases without a file.
    let file: (@Sendable (Location) -> URL)?
    /// Opens the database at a location with a configuration that a case has changed.
    package let openConfiguration: (@Sendable (Location, (inout DatabaseConfiguration) -> Void) throws -> any Database)?
    /// Starts another process that opens the database at a location.
    package internal(set) var startProcess: (@Sendable (Location) throws -> any ConformanceProcess)?
    /// How long such a process waits for another process's transaction.
    package internal(set) var processWait: Duration = .seconds(5)
    /// Makes connections to the database at a location that can be disturbed; nil for a database that is on no server.
    package internal(set) var makeNetwork: (@Sendable (Location) throws -> any ConformanceNetwork)?
    /// Removes what a test has left at a location, other than files in its directory.
    var removeData: (@Sendable (Location) throws -> Void)?

    /// Describes a kind of database.
    ///
    /// - Parameters:
    ///   - name: The name in the report.
    ///   - open: Opens the database at a location; the first call creates it.
    public init(name: String, open: @escaping @Sendable (Location) throws -> any Database) {
        self.name = name
        self.open = open
        file = nil
        openConfiguration = nil
    }

    /// Describes a kind of database that is kept in a file.
    ///
    /// - Parameters:
    ///   - name: The name in the report.
    ///   - file: Returns the file, or the directory, of the database at a location.
    ///   - open: Opens the database at a location; the first call creates it.
    public init(
        name: String, file: @escaping @Sendable (Location) -> URL, open: @escaping @Sendable (Location) throws -> any Database
    ) {
        self.name = name
        self.open = open
        self.file = file
        openConfiguration = nil
    }

    /// Describes a kind of database on a server.
    ///
    /// - Parameters:
    ///   - name: The name in the report.
    ///   - open: Opens the database at a location with a changed configuration.
    package init(
        name: String, open: @escaping @Sendable (Location, (inout DatabaseConfiguration) -> Void) throws -> any Database
    ) {
        self.name = name
        self.open = { location in try open(location) { _ in } }
        file = nil
        openConfiguration = open
    }

    /// Describes a kind of database with a driver.
    ///
    /// - Parameters:
    ///   - name: The name in the report.
    ///   - driver: The driver.
    ///   - options: The driver's options.
    ///   - isFile: Whether the path is a path of the file system.
    ///   - path: The path of the database at a location.
    public init(
        name: String, driver: DatabaseDriver, options: [String: String] = [:], isFile: Bool = true,
        path: @escaping @Sendable (Location) -> String
    ) {
        @Sendable func open(_ location: Location, _ change: (inout DatabaseConfiguration) -> Void) throws -> any Database {
            var configuration = DatabaseConfiguration(scheme: driver.scheme, path: path(location))
            configuration.options = options
            change(&configuration)
            return try driver.open(configuration)
        }
        self.name = name
        self.open = { location in try open(location) { _ in } }
        if isFile { file = { location in URL(fileURLWithPath: path(location)) } } else { file = nil }
        openConfiguration = open
    }
}

extension ConformanceTarget {
    /// Returns the same kind of database with a way to remove the data of a location that is not in its directory, such as a schema
    /// on a server.
    ///
    /// - Parameter removeData: Removes the data of one location, of which all databases are closed. Its errors are ignored.
    public func removing(_ removeData: @escaping @Sendable (Location) throws -> Void) -> ConformanceTarget {
        var target = self
        target.removeData = removeData
        return target
    }

    /// Removes what a test has left at a location and at those inside it.
    package func remove(_ location: Location) {
        if let removeData { for each in location.withInner { try? removeData(each) } }
        location.remove()
    }
}

extension ConformanceTarget.Location {
    /// This location, and those that ``appending(_:)`` has made inside it.
    fileprivate var withInner: [Self] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return [self]
            + names.flatMap { name in
                var isDirectory: ObjCBool = false
                let inner = directory.appendingPathComponent(name, isDirectory: true)
                guard FileManager.default.fileExists(atPath: inner.path, isDirectory: &isDirectory), isDirectory.boolValue else {
                    return [Self]()
                }
                return Self(name: "\(self.name)-\(name)", directory: inner).withInner
            }
    }

    /// Creates a location in the system's temporary directory.
    package static func make() throws -> Self {
        let name = "conformance-\(UUID().uuidString.lowercased())"
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(name, isDirectory: true)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return Self(name: name, directory: directory)
    }

    /// Returns a second location inside this location.
    package func appending(_ suffix: String) throws -> Self {
        let directory = directory.appendingPathComponent(suffix, isDirectory: true)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return Self(name: "\(name)-\(suffix)", directory: directory)
    }

    /// Removes the directory and its contents, whatever their permissions are.
    package func remove() {
        let manager = FileManager.default
        if let names = manager.enumerator(atPath: directory.path) {
            for case let name as String in names {
                try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.appendingPathComponent(name).path)
            }
        }
        try? manager.removeItem(at: directory)
    }
}
