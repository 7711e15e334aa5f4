import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

@testable import DAOExamples

/// What Docs/Scaling.md says of moving to a server. Without one, the target is another file.
@Suite struct ScalingTests {
    @Test func aDatabaseMovesWhileItIsUsed() throws {
        let place = Place(.sqlite)
        let file = place.url(file: "orders")
        let server = ProcessInfo.processInfo.environment["DAO_POSTGRES_URL"]
        let target = server.map { "\($0)?schema=scaling-\(UUID().uuidString.lowercased())" } ?? place.url(file: "copy")
        let old = try Scaling.drivers.open(file)
        let orders = DAO(storage: try old.storage(for: Order.self))
        let start = Date(timeIntervalSinceReferenceDate: 1000)
        func order(_ id: Int, _ customer: String, _ seconds: Double) -> Order {
            Order(id: id, customer: customer, changed: Date(timeIntervalSinceReferenceDate: seconds))
        }
        try orders.create((1...100).map { order($0, "first", 1) })
        _ = try Scaling.copy(from: file, to: target)
        // The application goes on.
        try orders.persist(order(1, "changed", 1001))
        try orders.create(order(101, "new", 1002))
        try orders.erase(byPrimaryKey: 2)
        let new = try Scaling.drivers.open(target)
        try Scaling.catchUp(old, new, since: start)
        let moved = DAO(storage: try new.storage(for: Order.self))
        #expect(try moved.read() == orders.read())
        #expect(try moved.count() == 100)
        try new.close()
        try old.close()
        if server != nil { try PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: target)) }
    }

    @Test func shopsHaveADatabaseEach() async throws {
        guard let server = ProcessInfo.processInfo.environment["DAO_POSTGRES_URL"] else { return }
        let shops = Scaling.shops(on: server)
        let names = (0..<3).map { _ in "t" + UUID().uuidString.lowercased().filter(\.isHexDigit) }
        for (number, name) in names.enumerated() {
            try await shops.with(name) { database in
                let orders = DAO(storage: try database.storage(for: Order.self))
                let date = Date(timeIntervalSinceReferenceDate: 1)
                try await orders.create((0...number).map { Order(id: $0, customer: name, changed: date) })
            }
        }
        #expect(try names.map { try Scaling.count($0, in: shops) } == [1, 2, 3])
        #expect(throws: StorageError.self) { try Scaling.count("../other", in: shops) }
        #expect(await Scaling.migrate(names + ["no shop"], of: shops, to: Evolution(version: 2)) == ["no shop"])
        shops.close()
        for name in names { try PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: "\(server)?schema=shop_\(name)")) }
    }

    @Test func aCookieHasThePosition() throws {
        let place = Place(.sqlite)
        let server = ProcessInfo.processInfo.environment["DAO_POSTGRES_URL"]
        let url = server.map { "\($0)?schema=scaling-\(UUID().uuidString.lowercased())" } ?? place.url(file: "orders")
        let database = try Scaling.drivers.open(url)
        let order = Order(id: 1, customer: "first", changed: Date(timeIntervalSinceReferenceDate: 1))
        let cookie = try Scaling.store(order, in: database)
        #expect((cookie == nil) == (server == nil))
        #expect(try Scaling.orders(in: url, seen: cookie) == [order])
        try database.close()
        if server != nil { try PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: url)) }
    }
}
