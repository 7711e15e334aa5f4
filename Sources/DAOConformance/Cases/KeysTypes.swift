import DAOCore
import Foundation

/// K1 and K2: every type of key, its extremes and its order.
enum KeysTypes {
    static let cases: [ConformanceCase] = [
        type("K.int", Int.self, [.min, .min + 1, -10, -2, -1, 0, 1, 2, 10, 11, 100, .max - 1, .max]),
        type("K.int8", Int8.self, [.min, -100, -99, -1, 0, 1, 99, 100, .max]),
        type("K.int16", Int16.self, [.min, -256, -255, -1, 0, 1, 255, 256, .max]),
        type("K.int32", Int32.self, [.min, -65_536, -1, 0, 1, 65_535, 65_536, .max]),
        type("K.int64", Int64.self, [.min, -9_007_199_254_740_993, -1, 0, 1, 9_007_199_254_740_993, .max - 1, .max]),
        type("K.uint", UInt.self, [0, 1, 2, 10, 1 << 62, 1 << 63, .max - 1, .max]),
        type("K.uint8", UInt8.self, [0, 1, 9, 10, 127, 128, .max]),
        type("K.uint16", UInt16.self, [0, 1, 255, 256, 32_767, 32_768, .max]),
        type("K.uint32", UInt32.self, [0, 1, 65_535, 1 << 31, .max]),
        type(
            "K.uint64", UInt64.self,
            [0, 1, 9_007_199_254_740_993, UInt64(Int64.max), UInt64(Int64.max) + 1, .max - 1, .max]),
        type("K.string", String.self, ["", "10", "2", "A", "Z", "a", "ab", "b", "z"]),
        type(
            "K.uuid", UUID.self,
            [uuid(0, 0), uuid(0, 1), uuid(1, 0), uuid(0x7f, 0xff), uuid(0x80, 0), uuid(0xff, 0), uuid(0xff, 0xff)]),
        type("K.wrappedString", Slug.self, ["", "a", "a-b", "b"].map(Slug.init)),
        type("K.wrappedInteger", Number.self, [Int32.min, -1, 0, 2, 10, .max].map(Number.init)),

        ConformanceCase("K.notFirst", "K1", title: "the key field may have any position in the schema") { context in
            let dao = try context.dao(KeyedInTheMiddle.self)
            let rows = [2, 10, -1].map { KeyedInTheMiddle(before: "b\($0)", id: $0, after: "a\($0)") }
            try dao.create(rows)
            try expectSame(try dao.read(), [rows[2], rows[0], rows[1]])
            try expectSame(try dao.read(byPrimaryKey: 10), rows[1])
        },
        ConformanceCase("K.onlyKey", "K1", title: "a model may have the key as its only field") { context in
            let dao = try context.dao(OnlyKey.self)
            try dao.create(["b", "", "a"].map(OnlyKey.init))
            try dao.persist([OnlyKey(id: "a"), OnlyKey(id: "c")])
            try expectSame(try dao.read().map(\.id), ["", "a", "b", "c"])
            try expectEqual(try dao.erase(OnlyKey(id: "")), 1)
            try expectEqual(try dao.count(), 3)
        },
        ConformanceCase("K.entitiesApart", "K1", "K3", title: "rows of 'A' with key 'B…' and of 'AB' are separate") { context in
            let database = try context.open()
            let (a, ab) = (try database.dao(EntityA.self), try database.dao(EntityAB.self))
            try a.create(EntityA(id: "BC", note: "in A"))
            try ab.create(EntityAB(id: "C", note: "in AB"))
            try a.create(EntityA(id: "", note: "empty in A"))
            try expectSame(try a.read().map(\.note), ["empty in A", "in A"])
            try expectSame(try ab.read().map(\.note), ["in AB"])
            try expectEqual(try ab.erase(), 1)
            try expectEqual(try a.count(), 2, "the rows of the other entity")
        },
        ConformanceCase("K.computedSchema", "K1", title: "a schema may be computed at every use") { context in
            let dao = try context.dao(Computed.self)
            try dao.create([Computed(id: 2, text: "b"), Computed(id: 1, text: "a")])
            try expectSame(try dao.read { $0.text == "b" }, [Computed(id: 2, text: "b")])
            try expectSame(try dao.read(byPrimaryKey: 1), Computed(id: 1, text: "a"))
        },
        ConformanceCase("K.negativeAndPositiveByQuery", "K2", title: "ranges of keys follow the numeric order") { context in
            let dao = try context.dao(KeyedBy<Int>.self)
            try dao.create([.min, -10, -9, -1, 0, 9, 10, .max].map { KeyedBy<Int>(id: $0, note: "") })
            try expectEqual(try dao.read { $0.id < 0 }.map(\.id), [.min, -10, -9, -1])
            try expectEqual(try dao.read { $0.id > 9 }.map(\.id), [10, .max])
            try expectEqual(try dao.read { $0.id.between(-9, and: 9) }.map(\.id), [-9, -1, 0, 9])
            try expectEqual(
                try dao.read(orderedBy: .descending(\.id)).map(\.id), [.max, 10, 9, 0, -1, -9, -10, .min])
        },
        ConformanceCase("K.unsignedByQuery", "K2", title: "range queries on unsigned keys go beyond Int64.max") { context in
            let dao = try context.dao(KeyedBy<UInt64>.self)
            let half = UInt64(Int64.max)
            try dao.create([0, 1, half, half + 1, .max].map { KeyedBy<UInt64>(id: $0, note: "") })
            try expectEqual(try dao.read { $0.id > 1 }.map(\.id), [half, half + 1, .max])
            try expectEqual(try dao.read { $0.id <= half }.map(\.id), [0, 1, half])
            try expectEqual(try dao.read { $0.id > half }.map(\.id), [half + 1, .max])
            try expectEqual(try dao.read(orderedBy: .descending(\.id)).map(\.id), [.max, half + 1, half, 1, 0])
        },
        ConformanceCase("K.thousandShuffled", "K2", title: "a thousand keys in any order are read in key order") { context in
            let dao = try context.dao(KeyedBy<Int>.self)
            // 7919 and 1000 are coprime, so every number appears once.
            let ids = (0..<1000).map { ($0 * 7919) % 1000 - 500 }
            for part in stride(from: 0, to: 1000, by: 100) {
                try dao.create(ids[part..<(part + 100)].map { KeyedBy<Int>(id: $0, note: "\($0)") })
            }
            try expectEqual(try dao.read().map(\.id), Array(-500..<500))
        },
    ]

    private static func uuid(_ first: UInt8, _ last: UInt8) -> UUID {
        UUID(uuid: (first, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, last))
    }

    /// A case that stores, finds, replaces and erases rows by keys of one type, given in ascending order.
    private static func type<ID: PrimaryKeyValue & Equatable>(_ id: String, _ type: ID.Type, _ ascending: [ID]) -> ConformanceCase
    {
        ConformanceCase(id, "K1", "K2", title: "\(type) keys work to their extremes and are ordered by value") { context in
            let dao = try context.dao(KeyedBy<ID>.self)
            let rows = ascending.enumerated().map { KeyedBy(id: $1, note: "row \($0)") }
            // Neither ascending nor descending.
            let mixed = rows.indices.filter { $0 % 2 == 1 }.reversed() + rows.indices.filter { $0 % 2 == 0 }
            try dao.create(mixed.map { rows[$0] })
            try expectSame(try dao.read(), rows, "all rows in key order")
            for row in rows {
                try expectSame(try dao.read(byPrimaryKey: row.id), row, "the row with key \(row.id)")
                try expectSame(try dao.read(byPrimaryKey: row.uniqueId), row, "the row with unique id \(row.uniqueId)")
                try expect(try dao.exists(byPrimaryKey: row.id), "key \(row.id) to exist")
                try expectError(
                    .duplicateKey, "creating key \(row.id) again", entity: "by\(type)", key: row.uniqueId, field: "id"
                ) {
                    try dao.create(KeyedBy(id: row.id, note: "again"))
                }
                try dao.persist(KeyedBy(id: row.id, note: "replaced"))
                try expectEqual(try dao.count(), rows.count, "the count after replacing")
            }
            try expectSame(
                try dao.read(byPrimaryKeys: ascending.reversed()).map(\.uniqueId), rows.reversed().map(\.uniqueId),
                "the rows in the order of the given keys")
            for (index, row) in rows.enumerated() {
                try expectEqual(try dao.erase(byPrimaryKey: row.id), 1, "erased rows")
                try expectEqual(try dao.count(), rows.count - index - 1, "the count after erasing")
            }
        }
    }
}
