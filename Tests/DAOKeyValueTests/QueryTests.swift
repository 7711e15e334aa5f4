import DAOCore
import DAOMemory
import DAOTestSupport
import Foundation
import Testing

@testable import DAOKeyValue

/// A model with an indexed field of every kind, and a few unindexed fields.
private struct EveryFieldKind: Model, Equatable {
    var id: String
    var int: Int?
    var wide: UInt64
    var flag: Bool
    var number: Double
    var date: Date?
    var text: String
    var note: String?
    var data: Data?
    var uuid: UUID
    var decimal: Decimal?
    var code: Int?
    var plain: Int
    var plainText: String?

    static let schema = Schema(
        "every_field_kind", Self.init,
        Field("id", \.id, .primaryKey), Field("int", \.int, .indexed), Field("wide", \.wide, .indexed),
        Field("flag", \.flag, .indexed),
        Field("number", \.number, .indexed), Field("date", \.date, .indexed), Field("text", \.text, .indexed),
        Field("note", \.note, .indexed), Field("data", \.data, .indexed), Field("uuid", \.uuid, .indexed),
        Field("decimal", \.decimal, .indexed), Field("code", \.code, .unique), Field("plain", \.plain),
        Field("plainText", \.plainText))

    static func random(_ generator: inout SeededGenerator, code: Int?) -> EveryFieldKind {
        EveryFieldKind(
            id: generator.text(upTo: 8), int: generator.chance(30) ? nil : generator.pick([-3, 0, 1, 2, .max, .min]),
            wide: generator.pick([0, 1, UInt64.max, UInt64(Int64.max), 1 << 63]), flag: generator.chance(50),
            number: generator.chance(50) ? generator.double() : generator.pick([1, 2, .nan]),
            date: generator.chance(30)
                ? nil : Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -3...3, using: &generator))),
            text: generator.chance(50) ? generator.longText() : generator.text(upTo: 2),
            note: generator.chance(30)
                ? nil
                : generator.chance(50) ? String(repeating: "n", count: 300) + generator.text(upTo: 1) : generator.text(upTo: 2),
            data: generator.chance(30) ? nil : generator.data(), uuid: generator.uuid(),
            decimal: generator.chance(30)
                ? nil : generator.chance(50) ? Decimal(Int.random(in: -2...2, using: &generator)) : generator.decimal(),
            code: code, plain: Int.random(in: 0...3, using: &generator),
            plainText: generator.chance(30) ? nil : generator.text(upTo: 3))
    }
}

/// Queries, checked against the reference evaluator.
@Suite struct QueryTests {
    private let entity = EveryFieldKind.schema.description

    /// Conditions about values that rows have.
    private func predicates(_ rows: [EveryFieldKind]) -> PredicateGenerator {
        PredicateGenerator(entity) { field, random in EveryFieldKind.schema.value(at: field, of: random.pick(rows)) }
    }

    private func order(_ generator: inout SeededGenerator, _ predicates: PredicateGenerator) -> [Sort<EveryFieldKind>] {
        predicates.order(using: &generator).map { .by($0.field, ascending: $0.isAscending) }
    }

    /// Whether two lists of rows are equal; NaN equals NaN.
    private func same(_ left: [EveryFieldKind], _ right: [EveryFieldKind]) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { left, right in
                entity.fields.indices.allSatisfy {
                    EveryFieldKind.schema.value(at: $0, of: left) == EveryFieldKind.schema.value(at: $0, of: right)
                }
            }
    }

    @Test(arguments: 0..<12) func queriesGiveTheRowsOfTheReferenceEvaluator(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let database = seed % 2 == 0 ? try makeDatabase() : try MemoryDatabase.open()
        let storage = try database.storage(for: EveryFieldKind.self)
        var stored: [Key: EveryFieldKind] = [:]
        for code in 0..<120 {
            let row = EveryFieldKind.random(&generator, code: generator.chance(40) ? nil : code)
            stored[.string(row.id)] = row
            try storage.upsert([row])
            if generator.chance(20), let victim = stored.keys.randomElement(using: &generator) {
                stored[victim] = nil
                #expect(try storage.erase(keys: [victim]) == 1)
            }
        }
        let rows = Array(stored.values)
        let predicates = predicates(rows)
        for _ in 0..<250 {
            let predicate = Condition<EveryFieldKind>(predicates.predicate(depth: 2, using: &generator))
            let query = Query(
                where: predicate, orderedBy: order(&generator, predicates),
                limit: generator.chance(50) ? nil : Int.random(in: 0...9, using: &generator),
                offset: generator.chance(60) ? 0 : Int.random(in: 0...9, using: &generator))
            let expected = try query.resolved().evaluate(over: rows)
            let plan = try storage.explain(query)
            let found = try storage.read(query)
            guard same(found, expected) else {
                Issue.record("\(query)\nplan: \(plan) \(plan.details)\nfound \(found.map(\.id))\nexpected \(expected.map(\.id))")
                return
            }
            #expect(try storage.count(query) == expected.count, "\(query)")
            #expect(try storage.keys(query) == expected.map { .string($0.id) }, "\(query)")
            let cursor = try storage.cursor(query)
            var streamed: [EveryFieldKind] = []
            while case let batch = try cursor.next(3), !batch.isEmpty { streamed += batch }
            #expect(same(streamed, expected), "\(query)")
            var values: [Value] = []
            try storage.values(of: 6, query) { values.append($0) }
            #expect(values == expected.map { .string($0.text) })
        }
        for seedQuery in 0..<20 {
            let order = order(&generator, predicates)
            var query = Query<EveryFieldKind>(
                where: seedQuery % 2 == 0 ? .all : Condition(predicates.predicate(depth: 1, using: &generator)), orderedBy: order)
            let expected = try query.resolved().evaluate(over: rows)
            let dao = DAO(storage: storage)
            var pages: [EveryFieldKind] = []
            var page = try dao.page(query, limit: 7)
            pages += page.elements
            while let next = page.next {
                query.after = next
                page = try dao.page(query, limit: 7)
                pages += page.elements
            }
            #expect(same(pages, expected), "\(query)")
        }
        let doomed = Query<EveryFieldKind>(
            where: Condition(predicates.predicate(depth: 1, using: &generator)), orderedBy: order(&generator, predicates),
            limit: 20)
        let victims = try Set(doomed.resolved().evaluate(over: rows).map(\.id))
        #expect(try storage.erase(doomed) == victims.count)
        let rest = try Query<EveryFieldKind>().resolved().evaluate(over: rows.filter { !victims.contains($0.id) })
        #expect(same(try storage.read(Query()), rest))
        for field in entity.fields where field.isIndexed && !field.isPrimaryKey {
            #expect(try storage.count(Query(orderedBy: [.by(field.name)])) == rest.count)
            #expect(
                same(
                    try storage.read(Query(orderedBy: [.by(field.name), .by("id")])),
                    try Query<EveryFieldKind>(orderedBy: [.by(field.name)]).resolved().evaluate(over: rest)))
        }
    }
}

extension EveryFieldKind: Plain {}
