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
        @Sendable func order(_ id: Int, _ customer: String) -> Order { Order(id: id, customer: customer) }
        try orders.create((1...100).map { order($0, "first") })
        _ = try Scaling.copy(from: file, to: target)
        let other = server.map { "\($0)?schema=scaling-\(UUID().uuidString.lowercased())" } ?? place.url(file: "moved")
        let new = try Scaling.drivers.open(other)
        // The application goes on.
        let written = Atomic(0)
        let ended = DispatchSemaphore(value: 0)
        let writer = Thread {
            for id in 101... {
                do {
                    try orders.persist(order(1, "changed \(id)"))
                    try orders.create(order(id, "new"))
                } catch {
                    #expect((error as? StorageError)?.kind == .detached)
                    break
                }
                written.store(id, ordering: .sequentiallyConsistent)
            }
            ended.signal()
        }
        writer.start()
        let pause = try Scaling.move(old, to: new)
        ended.wait()
        #expect(pause != nil)
        let moved = DAO(storage: try new.storage(for: Order.self))
        #expect(try moved.exists(byPrimaryKey: max(100, written.load(ordering: .sequentiallyConsistent))))
        #expect(try moved.read() == orders.read())
        try new.close()
        try old.close()
        for url in [target, other] where server != nil { try PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: url)) }
    }

    @Test func shopsHaveADatabaseEach() async throws {
        guard let server = ProcessInfo.processInfo.environment["DAO_POSTGRES_URL"] else { return }
        let shops = Scaling.shops(on: server)
        let names = (0..<3).map { _ in "t" + UUID().uuidString.lowercased().filter(\.isHexDigit) }
        for (number, name) in names.enumerated() {
            try await shops.with(name) { database in
                let orders = DAO(storage: try database.storage(for: Order.self))
                try await orders.create((0...number).map { Order(id: $0, customer: name) })
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
        let order = Order(id: 1, customer: "first")
        let cookie = try Scaling.store(order, in: database)
        #expect((cookie == nil) == (server == nil))
        #expect(try Scaling.orders(in: url, seen: cookie) == [order])
        try database.close()
        if server != nil { try PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: url)) }
    }
}
