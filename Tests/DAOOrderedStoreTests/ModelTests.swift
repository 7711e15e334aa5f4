import DAOKeyValue
import DAOTestSupport
import Testing

@Suite("Random operations, checked against a sorted array")
struct ModelTests {

    @Test("small stores with edge-case keys", arguments: StoreKind.allCases, 1...4 as ClosedRange<UInt64>)
    func small(kind: StoreKind, seed: UInt64) throws {
        try kind.withStore { store in
            var run = ModelRun(store, seed: seed, keySpace: 40)
            try run.run(transactions: 30, operations: 120)
        }
    }

    @Test("stores with several tree levels", arguments: StoreKind.allCases, 11...11 as ClosedRange<UInt64>)
    func large(kind: StoreKind, seed: UInt64) throws {
        try kind.withStore { store in
            var run = ModelRun(store, seed: seed, keySpace: 20_000)
            try run.run(transactions: 8, operations: 3_000)
        }
    }

    @Test("ascending, descending and shuffled rows, then all deleted", arguments: StoreKind.allCases, 0...2)
    func bulk(kind: StoreKind, order: Int) throws {
        let count = 10_000
        var rows = Array(0..<UInt64(count))
        var random = SeededGenerator(seed: 5)
        if order == 1 { rows.reverse() }
        if order == 2 { rows.shuffle(using: &random) }
        try kind.withStore { store in
            try store.write { transaction in
                for row in rows { try #require(try transaction.add(rowKey(1, row), rowKey(9, row))) }
            }
            try store.read { transaction in
                for row in rows { try #require(try transaction.value(rowKey(1, row)) == rowKey(9, row)) }
                let cursor = try transaction.cursor()
                var seen = 0
                var stands = try cursor.seek([0])
                while stands {
                    seen += 1
                    stands = try cursor.next()
                }
                #expect(seen == count)
                var backwards = 0
                stands = try cursor.seekBefore([0xFF])
                while stands {
                    backwards += 1
                    stands = try cursor.previous()
                }
                #expect(backwards == count)
            }
            rows.shuffle(using: &random)
            try store.write { transaction in
                for row in rows { try #require(try transaction.remove(rowKey(1, row))) }
                #expect(try transaction.cursor().seek([0]) == false)
            }
            #expect(try store.read { try $0.contents() } == ModelStore())
        }
    }
}
