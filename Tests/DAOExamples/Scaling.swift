// The code of Docs/Scaling.md.

import DAOCore
import DAOLMDB
import DAOPostgres
import DAOSQLite
import Foundation

/// A row that says when it was changed for the last time.
struct Order: Plain, Model, Equatable {
    var id: Int
    var customer: String
    var changed: Date

    static let schema = Schema(
        "order", Self.init, Field("id", \.id, .primaryKey), Field("customer", \.customer),
        Field("changed", \.changed, .indexed))
}

enum Scaling {
    static let drivers = DatabaseDrivers(.sqlite, .lmdb, .postgres)

    /// Copies a database into a schema of a server, while others use it, and returns how long that took.
    static func copy(from file: String, to server: String) throws -> Duration {
        let source = try drivers.open("\(file)?readOnly=true")
        defer { try? source.close() }
        let target = try drivers.open(server)
        defer { try? target.close() }
        return try ContinuousClock().measure {
            let report = try source.copy(to: target) { progress in
                print("\(progress.entity): \(progress.rows) of \(progress.total)")
            }
            print("\(report.rowsWritten) rows, \(report.bytesWritten >> 20) MB")
        }
    }

    /// Brings into the new database what has changed in the old one since a copy of it began. Nobody writes meanwhile.
    static func catchUp(_ old: any Database, _ new: any Database, since start: Date) throws {
        let before = DAO(storage: try old.storage(for: Order.self))
        let after = DAO(storage: try new.storage(for: Order.self))
        try new.transaction {
            try after.persist(before.read { $0.changed >= start })
            let gone = Set(try after.read(\.id)).subtracting(try before.read(\.id))
            try after.erase(byPrimaryKeys: Array(gone))
        }
        guard try after.read() == before.read() else { throw StorageError(.corrupted, "the copy differs from its source") }
    }
}
