import DAOCore
import DAOPostgres
import DAOSystemPostgres
import Foundation
import Testing

/// What a call costs behind a pooler, beside libpq through the same pooler.
@Suite("A pooler's cost", .serialized, .enabled(if: PgBouncer.isThere, "there is no PgBouncer"))
struct PoolerLatencyTests {
    @Test func aReadByKeyTakesLittleMoreThanLibpqs() throws {
        let pooler = try PgBouncer()
        let url = pooler.newURL()
        let database = try DatabaseDrivers(.postgres).open(url)
        let books = try database.books
        try books.create((1...1000).map { Book(id: $0, title: "\($0)", shelf: nil) })
        let schema = try #require(database.configuration.options["schema"])
        let direct = try DatabaseDrivers(.postgres).open("\(#require(Server.url))?schema=\(schema)")
        let directBooks = try direct.books
        let connection = PQconnectdb("host='\(pooler.directory)' user=dao dbname=postgres")
        defer { PQfinish(connection) }
        let text = "SELECT id, title, shelf FROM \"\(schema)\".book WHERE id = $1"
        func libpq(_ key: Int) {
            "\(key)".withCString { value in
                let result = PQexecParams(connection, text, 1, [20], [value], nil, nil, 1)
                #expect(PQntuples(result) == 1)
                PQclear(result)
            }
        }
        func time(_ call: (Int) throws -> Void) rethrows -> Duration {
            try ContinuousClock().measure { for number in 1...200 { try call(number) } }
        }
        var times = (libpq: [Duration](), pooled: [Duration](), direct: [Duration]())
        for _ in 0..<20 {
            times.libpq.append(time(libpq))
            try times.pooled.append(time { _ = try books.read(byPrimaryKey: $0) })
            try times.direct.append(time { _ = try directBooks.read(byPrimaryKey: $0) })
        }
        func median(_ times: [Duration]) -> Double { times.sorted()[times.count / 2] / .microseconds(200) }
        let (own, pooled, unpooled) = (median(times.libpq), median(times.pooled), median(times.direct))
        print("a read by key: libpq through a pooler \(own) µs, through the same pooler \(pooled) µs, directly \(unpooled) µs")
        // A debug build is measured here. An optimised one takes at most 1.5 times as long as libpq.
        #expect(pooled < own * 3)
        try direct.close()
        try database.close()
    }
}
