import DAOCore
import Foundation

/// The databases that a case uses. They are of the kind under test, in a directory that only this case uses.
public final class ConformanceContext: Sendable {
    private struct Opened: Sendable {
        weak var database: (any Database)?
    }

    let target: ConformanceTarget
    /// The location of this case's database; every case has a separate location.
    public let location: ConformanceTarget.Location
    /// The databases that the case opened and that may have to be closed after it. The references are weak,
    /// so that cases can release a database.
    private let opened = Lock<[Opened]>([])
    /// The database that was opened last at each location. It is verified after the case.
    private let last = Lock<[ConformanceTarget.Location: any Database]>([:])

    init(target: ConformanceTarget, location: ConformanceTarget.Location) {
        self.target = target
        self.location = location
    }

    /// Opens this case's database. Opening it again while it is open gives a second handle on the same data.
    public func open() throws -> any Database { try keep(target.open(location), at: location) }

    /// Returns a storage in a newly opened database.
    public func storage<Record: Model>(_ model: Record.Type) throws -> any Storage<Record> { try open().storage(for: model) }

    /// Returns a DAO of a type that is both plain and model, in a newly opened database.
    public func dao<Record: Model & Plain>(_ model: Record.Type) throws -> DAO<Record> {
        DAO(storage: try storage(model))
    }
}

extension ConformanceContext {
    /// Opens this case's database, and leaves it to the case to keep it: it ends with its last reference.
    func openUnkept() throws -> any Database { try target.open(location) }

    /// Opens another database of the same kind, at a separate location.
    func openOther(_ suffix: String = "other") throws -> any Database {
        let location = try location.appending(suffix)
        return try keep(target.open(location), at: location)
    }

    /// Opens this case's database with a changed configuration; needs
    /// ``ConformanceCase/Requirement/configuration``.
    func open(_ change: (inout DatabaseConfiguration) -> Void) throws -> any Database {
        guard let open = target.openConfiguration else { throw missing("a target that opens with a changed configuration") }
        return try keep(open(location, change), at: location)
    }

    /// Makes connections to the server that can be disturbed, and opens this case's database over them; needs
    /// ``ConformanceCase/Requirement/network``.
    func openNetwork() throws -> (network: any ConformanceNetwork, database: any Database) {
        guard let make = target.makeNetwork else { throw missing("connections that can be disturbed") }
        // The database is there before the first connection is disturbed.
        _ = try open()
        let network = try make(location)
        return (network, try keep(network.open(), at: nil))
    }

    /// Opens this case's database, with a DAO in it.
    func open<Record: Model & Plain>(with model: Record.Type) throws -> (any Database, DAO<Record>) {
        let database = try open()
        return (database, try database.dao(model))
    }

    /// Opens another database of the same kind, with a DAO in it.
    func openOther<Record: Model & Plain>(
        _ suffix: String = "other", with model: Record.Type
    ) throws -> (any Database, DAO<Record>) {
        let database = try openOther(suffix)
        return (database, try database.dao(model))
    }

    /// Returns the database's file; needs ``ConformanceCase/Requirement/file``.
    func file() throws -> URL { try file(at: location) }

    /// Returns the file that ``openOther(_:)`` opens; needs ``ConformanceCase/Requirement/file``.
    func fileOfOther(_ suffix: String) throws -> URL { try file(at: location.appending(suffix)) }

    private func file(at location: ConformanceTarget.Location) throws -> URL {
        guard let file = target.file else { throw missing("a target that gives the location of its file") }
        return file(location)
    }

    /// The path that errors about the database's file carry; nil for a database that is not in a file.
    var path: String? { target.file.map { $0(location).path } }

    /// Closes a database and opens it again.
    func reopen(_ database: any Database) throws -> any Database {
        try database.close()
        return try open()
    }

    /// Opens the database again, and then closes the earlier handle: other models of its entities can then be
    /// opened, and a database in memory keeps its rows.
    func renew(_ database: inout any Database, other suffix: String? = nil) throws {
        let earlier = database
        database = try suffix.map(openOther) ?? open()
        try earlier.close()
    }

    /// Closes a database that only one process may use, before another process opens it; needs
    /// ``ConformanceCase/Requirement/otherProcess``.
    func handOver(_ database: any Database) throws {
        if !database.capabilities.isMultiProcess { try database.close() }
    }

    /// Opens the database that ``handOver(_:)`` has closed, after the other process has ended.
    ///
    /// - Returns: The new database; nil when the earlier one is still open.
    func takeBack(_ database: any Database) throws -> (any Database)? {
        database.capabilities.isMultiProcess ? nil : try open()
    }

    /// Verifies what the case left open, and closes it: whatever a case was about, it leaves nothing damaged.
    ///
    /// - Parameter verifies: Whether it verifies. A case can leave a database that is damaged on purpose, or that is out of reach.
    func closeAll(verifies: Bool = false) throws {
        let databases = opened.withLock { opened in
            defer { opened = [] }
            return opened.compactMap(\.database)
        }
        let last = last.withLock { last in
            defer { last = [:] }
            return last.values
        }
        if verifies {
            for database in last {
                if let report = try? database.verify(), !report.isSound {
                    throw fail("verified after the case: \(report.problems.map(\.description).joined(separator: "; "))")
                }
            }
        }
        for database in databases { try database.close() }
    }

    private func keep(_ database: any Database, at location: ConformanceTarget.Location?) -> any Database {
        opened.withLock { $0.append(Opened(database: database)) }
        if let location { last.withLock { $0[location] = database } }
        return database
    }

    private func missing(_ what: String) -> ConformanceFailure {
        ConformanceFailure("the case does not declare that it needs \(what)", file: #fileID, line: #line)
    }
}

extension Database {
    /// How often a transaction that meets others is run again, where they run side by side.
    var retries: Int { capabilities.hasConcurrentWriters ? 10_000 : 0 }

    /// Returns a DAO of a type that is both plain and model.
    func dao<Record: Model & Plain>(_ model: Record.Type) throws -> DAO<Record> {
        DAO(storage: try storage(for: model))
    }
}
