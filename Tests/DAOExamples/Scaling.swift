// The code of Docs/Scaling.md.

import DAOCore
import DAOLMDB
import DAOPostgres
import DAOSQLite
import Foundation

struct Order: Plain, Model, Equatable {
    var id: Int
    var customer: String

    static let schema = Schema("order", Self.init, Field("id", \.id, .primaryKey), Field("customer", \.customer))
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

    /// Moves a database while the application writes. Returns how long it could not.
    static func move(_ old: any Database, to new: any Database) throws -> Duration? {
        try old.follow(into: new) { progress in
            if let entity = progress.entity { print("\(entity): \(progress.rows) of \(progress.total)") }
            return progress.isCaughtUp ? .handOver : .goOn
        }.pause
    }

    /// The databases of shops, each a schema of one server. At most 500 are open, on 16 connections.
    static func shops(on server: String) -> DatabaseSet {
        DatabaseSet(drivers, limit: 500) { shop in
            guard shop.wholeMatch(of: /[a-z0-9]{1,40}/) != nil else {
                throw StorageError(.notFound, "there is no shop of this name")
            }
            var configuration = try DatabaseConfiguration(url: "\(server)?pooler=process&pool=16")
            configuration.options["schema"] = "shop_\(shop)"
            return configuration
        }
    }

    /// Counts the orders of a shop.
    static func count(_ shop: String, in shops: DatabaseSet) throws -> Int {
        try shops.with(shop) { database in try DAO(storage: database.storage(for: Order.self)).count() }
    }

    /// Migrates all shops, and returns those that have to be tried again.
    static func migrate(_ names: [String], of shops: DatabaseSet, to evolution: Evolution) async -> [String] {
        let report = await shops.evolve(names, to: evolution, stopsAtFailure: false)
        for entry in report {
            if case .failed(let error) = entry.outcome { print("\(entry.tenant): \(error)") }
        }
        return report.filter { !$0.isDone }.map(\.tenant)
    }

    /// Stores an order, and returns the position for a cookie of the browser.
    static func store(_ order: Order, in database: any Database) throws -> String? {
        try DAO(storage: database.storage(for: Order.self)).create(order)
        return try database.position
    }

    /// Reads the orders for the next request of that browser, which can come to another process.
    static func orders(in url: String, seen cookie: String?) throws -> [Order] {
        var configuration = try DatabaseConfiguration(url: url)
        configuration.seenPosition = cookie
        let database = try drivers.open(configuration)
        defer { try? database.close() }
        return try DAO(storage: database.storage(for: Order.self)).read()
    }
}
