import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

/// A database behind a proxy, and the same without.
struct ProxiedBooks {
    let proxy: Proxy
    let database: PostgresDatabase
    let direct: any Database
    /// The URL behind the proxy.
    let url: String

    init(_ options: String = "") throws {
        let direct = try Server.newURL()
        proxy = try Proxy(to: Server.directory)
        self.direct = try DatabaseDrivers(.postgres).open(direct)
        let host = try #require(try DatabaseConfiguration(url: direct).options["host"])
        let escaped = { (path: String) in path.replacing("/", with: "%2F") }
        url = direct.replacing(escaped(host), with: escaped(proxy.directory)) + (options.isEmpty ? "" : "&\(options)")
        database = try #require(try DatabaseDrivers(.postgres).open(url) as? PostgresDatabase)
        try self.direct.books.create(Book(id: 0, title: "0", shelf: nil))
        try database.transaction { try database.books.persist(Book(id: 0, title: "0", shelf: nil)) }
    }

    func close() throws {
        try database.close()
        try direct.close()
        proxy.stop()
    }

    /// The number in the row.
    var number: Int { get throws { Int(try #require(try direct.books.read(byPrimaryKey: 0)).title) ?? -1 } }

    /// Adds one to the number in the row, in a transaction.
    func increase(beforeCommit: () -> Void = {}) throws {
        try database.transaction {
            var book = try #require(try database.books.read(byPrimaryKey: 0))
            book.title = "\((Int(book.title) ?? -1) + 1)"
            try database.books.persist(book)
            beforeCommit()
        }
    }
}
