import DAOCore
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// SQL against the reference evaluator, on values that storages tend to lose.
@Suite struct RandomisedTests {
    private func same(_ left: [Everything], _ right: [Everything]) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { left, right in
                Everything.schema.description.fields.indices.allSatisfy {
                    Everything.schema.value(at: $0, of: left) == Everything.schema.value(at: $0, of: right)
                }
            }
    }

    @Test(arguments: 0..<8) func everyQueryGivesTheRowsOfTheReferenceEvaluator(seed: UInt64) throws {
        let place = Place()
        let database = try place.database()
        let storage = try database.storage(for: Everything.self)
        var random = SeededGenerator(seed: seed)
        let rows = (0..<120).map {
            HardRows.row(HardRows.integers.indices.contains($0) ? HardRows.integers[$0] : $0 * 3, &random)
        }
        try storage.insert(Array(Dictionary(rows.map { ($0.id, $0) }, uniquingKeysWith: { $1 }).values))
        let stored = try storage.read(Query())
        #expect(stored.count == Set(rows.map(\.id)).count)
        let predicates = PredicateGenerator(Everything.schema.description)
        for _ in 0..<400 {
            var query = Query<Everything>(where: Condition(predicates.predicate(depth: 3, using: &random)))
            query.order = predicates.order(using: &random).map { .by($0.field, ascending: $0.isAscending) }
            if Bool.random(using: &random) { query.limit = [0, 1, 5, 1000, Int.max].randomElement(using: &random) }
            if Bool.random(using: &random) { query.offset = [0, 1, 7, 1000, Int.max].randomElement(using: &random)! }
            let resolved = try query.resolved()
            let expected = resolved.evaluate(over: stored)
            let found = try storage.read(query)
            guard same(found, expected) else {
                Issue.record("\(found.map(\.id)) instead of \(expected.map(\.id)) for \(resolved)")
                continue
            }
            #expect(try storage.count(query) == expected.count)
            #expect(try storage.keys(query) == expected.map { Everything.schema.key(of: $0) })
        }
    }

    @Test func storedValuesAreReadBackEqual() throws {
        let place = Place()
        var random = SeededGenerator(seed: 42)
        let rows = (0..<300).map { HardRows.row($0, &random) }
        do {
            let storage = try place.database().storage(for: Everything.self)
            try storage.insert(rows)
        }
        let storage = try place.database().storage(for: Everything.self)
        #expect(same(try storage.read(Query()), rows))
        #expect(
            same(
                try storage.read(keys: rows.reversed().map { Everything.schema.key(of: $0) }, includesSubentities: true),
                rows.reversed()))
        // Merging unchanged rows writes nothing, whatever the values are.
        let before = try storage.read(Query())
        let count = try storage.merge(keys: rows.map { Everything.schema.key(of: $0) }) { _, _ in }
        #expect(count == rows.count)
        #expect(same(try storage.read(Query()), before))
        // Merging the values of another row changes every field that differs.
        let others = (0..<300).map { HardRows.row($0, &random) }
        _ = try storage.merge(keys: rows.map { Everything.schema.key(of: $0) }) { $1 = others[$0] }
        #expect(same(try storage.read(Query()), others))
    }
}
