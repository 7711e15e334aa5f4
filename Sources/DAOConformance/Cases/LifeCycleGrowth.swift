import DAOCore
import Foundation

/// L4: an engine that maps its file begins with a small address range, which grows.
enum LifeCycleGrowth {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "L.grows", "L4", title: "a small map grows in a call, in a transaction of many calls and beside other databases",
            requires: [.configuration, .file]
        ) { context in
            guard let database = try openSmall(context), let other = try openSmall(context) else { return }
            let (posts, others) = (try database.dao(Post.self), try other.dao(Post.self))
            try posts.create((0..<4).map(long))
            // A transaction is not repeated by itself; the next one begins with a larger map.
            try repeating { try database.transaction { for number in 4..<12 { try posts.create(long(number)) } } }
            for number in 12..<24 { try (number % 2 == 0 ? posts : others).create(long(number)) }
            try expectDeliberate {
                try repeating {
                    try database.transaction {
                        for number in 24..<50 { try posts.create(long(number)) }
                        throw DeliberateError()
                    }
                }
            }
            try expectSame(try others.read(), (0..<24).map(long), "the rows")
            try database.close()
            try expectSame(try others.read(), (0..<24).map(long), "the rows after the other database was closed")
            try expectSame(try context.reopen(other).dao(Post.self).read(), (0..<24).map(long), "the rows after reopening")
        },
        ConformanceCase(
            "L.growsInACall", "L4", title: "a small map grows a hundred times in one call", requires: [.configuration, .file],
            isHeavy: true
        ) { context in
            guard let database = try openSmall(context) else { return }
            let storage = try database.storage(for: Item.self)
            func row(_ number: Int) -> Item { Item(id: number, name: long(number).text) }
            try storage.insert((0..<1000).map(row))
            try expectEqual(try storage.count(Query()), 1000, "the rows")
            try expectSame(
                try storage.read(keys: [.integer(0), .integer(999)], includesSubentities: true), [row(0), row(999)],
                "the first and the last row")
        },
        ConformanceCase(
            "C.processGrows", "C2", "L4", title: "what another process has written beyond a small map is read and written",
            requires: [.configuration, .file, .processes]
        ) { context in
            guard let database = try openSmall(context) else { return }
            let posts = try database.dao(Post.self)
            try posts.create(long(0))
            let process = try context.startProcess()
            for round in 0..<2 {
                try expectEqual(
                    try process.ask("grow \(1 + round * 20) \(11 + round * 20)"), "done", "what the other process says")
                // The first call after it reads, or writes.
                if round % 2 == 0 {
                    try expectEqual(try posts.count(), 11 + round * 20, "the rows after the other process has written")
                }
                try posts.create((11 + round * 20..<21 + round * 20).map(long))
            }
            try expectSame(try posts.read(), (0..<41).map(long), "the rows")
            try expectEqual(try process.ask("grow 41 42"), "done", "what the other process says")
            try expectEqual(try posts.read(byPrimaryKey: 41), long(41), "the last row")
        },
    ]

    /// Opens this case's database with a map of 512 KiB; nil where there is none.
    private static func openSmall(_ context: ConformanceContext) throws -> (any Database)? {
        do {
            return try context.open { $0.options["mapSize"] = "512K" }
        } catch let error as StorageError where error.kind == .invalidConfiguration {
            return nil
        }
    }

    /// Repeats a transaction for which the map was too small, as often as a map is doubled here.
    private static func repeating(_ transaction: () throws -> Void) throws {
        for _ in 0..<8 {
            do {
                return try transaction()
            } catch let error as StorageError where error.kind == .outOfSpace {}
        }
        try transaction()
    }

    /// A row of some ten pages.
    static func long(_ number: Int) -> Post { Post(id: number, text: String(repeating: "\(number) ", count: 12_000)) }
}
