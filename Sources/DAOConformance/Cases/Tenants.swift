import DAOCore
import Foundation

/// C6 and C7: the databases of many tenants, and positions.
enum Tenants {
    static let cases: [ConformanceCase] = sets + positions

    private static let sets: [ConformanceCase] = [
        ConformanceCase(
            "C.tenantsApart", "C6",
            title: "each tenant has its own rows, all of them, while databases are opened and closed by eight threads"
        ) { context in
            let locations = try (0..<5).map { try context.location.appending("tenant-\($0)") }
            let others = try locations.map { try context.target.open($0) }
            func closeOthers() throws { for other in others { try other.close() } }
            // Rows that are stored nowhere need a database that is open.
            if others[0].capabilities.isPersistent { try closeOthers() }
            defer { try? closeOthers() }
            let set = DatabaseSet(limit: 2, timeout: .seconds(30)) { tenant in
                let location = locations[Int(tenant) ?? 0]
                return TenantOpening { try context.target.open(location) }
            }
            defer { set.close() }
            try onThreads(8) { thread in
                for step in 0..<15 {
                    let tenant = "\((thread + step) % 5)"
                    try set.with(tenant) { database in
                        let items = try database.dao(Item.self)
                        try items.persist(Item(id: thread * 100 + step, name: tenant))
                        try expect(try items.read().allSatisfy { $0.name == tenant }, "the rows of tenant \(tenant) alone")
                    }
                }
            }
            for tenant in 0..<5 {
                let ids = (0..<8).flatMap { thread in (0..<15).filter { (thread + $0) % 5 == tenant }.map { thread * 100 + $0 } }
                try expectEqual(try set.with("\(tenant)") { try $0.dao(Item.self).read().map(\.id) }, ids, "tenant \(tenant)")
            }
            try expect(set.openTenants.count <= 2, "two open databases at most")
        },
        ConformanceCase(
            "C.tenantsOfOneDatabase", "C6", title: "a tenant whose database another one has open is refused each time"
        ) { context in
            let set = DatabaseSet(limit: 3) { _ in TenantOpening { try context.open() } }
            defer { set.close() }
            try set.with("a") { database in
                try database.dao(Item.self).create(Item.make([1]))
                for round in 1...3 {
                    try expectError(.invalidConfiguration, "round \(round)") { try set.with("b") { _ in } }
                    try expectEqual(set.openTenants, ["a"], "the open tenants in round \(round)")
                }
                try expectEqual(try database.dao(Item.self).read().map(\.id), [1], "the rows of the first")
            }
        },
        ConformanceCase(
            "C.tenantsInOneTransaction", "C6", title: "a write of a second tenant in a transaction of the first is unsupported"
        ) { context in
            let locations = try (0..<2).map { try context.location.appending("tenant-\($0)") }
            let set = DatabaseSet(limit: 2) { tenant in
                let location = locations[Int(tenant) ?? 0]
                return TenantOpening { try context.target.open(location) }
            }
            defer { set.close() }
            let outside = try context.openOther("outside")
            let others = try outside.dao(Item.self)
            // Has the second one open, too.
            let otherSet = DatabaseSet(limit: 1) { _ in TenantOpening { try context.target.open(locations[1]) } }
            defer { otherSet.close() }
            try set.with("0") { first in
                try set.with("1") { second in
                    try otherSet.with("1") { _ in }
                    let (one, two) = (try first.dao(Item.self), try second.dao(Item.self))
                    try first.transaction {
                        try one.create(Item.make([1]))
                        try expectError(.unsupported, "a write") { try two.create(Item.make([2])) }
                        try expectError(.unsupported, "a transaction") { try second.transaction {} }
                        try expectEqual(try two.count(), 0, "rows of the second")
                        // A transaction of a database outside of the set is no way around.
                        try outside.transaction {
                            try expectError(.unsupported, "a write beside another database") { try two.create(Item.make([3])) }
                            try expectError(.unsupported, "a transaction beside another database") { try second.transaction {} }
                            try others.create(Item.make([4]))
                            try expectEqual(try two.count(), 0, "rows of the second beside another database")
                        }
                        if first.capabilities.hasSavepoints {
                            try first.transaction {
                                _ = try expectError(.unsupported, "a write in an inner transaction") {
                                    try two.create(Item.make([5]))
                                }
                            }
                        }
                    }
                    try expectEqual(try others.read().map(\.id), [4], "the rows of the database outside")
                    try expectEqual(try one.read().map(\.id), [1], "the rows of the first")
                    try two.create(Item.make([2]))
                    try expectEqual(try two.read().map(\.id), [2], "the rows of the second")
                }
            }
        },
    ]

    private static let positions: [ConformanceCase] = [
        ConformanceCase(
            "C.positions", "C7",
            title: "a database that has seen a position reads what was stored before, and no other text is a position",
            requires: [.configuration]
        ) { context in
            let (database, items) = try context.open(with: Item.self)
            try items.create(Item.make([1]))
            if let position = try database.position {
                let other = try context.open { $0.seenPosition = position }
                try expectEqual(try other.dao(Item.self).read().map(\.id), [1], "the rows at the position")
                try expect(position.utf8.count < 40, "a short text; got \(position)")
                let isPlain = position.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }
                try expect(isPlain, "a text for a header; got \(position)")
            }
            for text in ["", "no position", "1-", "-1", "1-zz", "0-1", "1-1-1", "99999999999-1"] {
                try expectError(.invalidConfiguration, "the position '\(text)'") {
                    try context.open { $0.seenPosition = text }
                }
            }
        }
    ]
}
