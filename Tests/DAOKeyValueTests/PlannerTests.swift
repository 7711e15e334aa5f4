import DAOCore
import DAOKeyValue
import Foundation
import Testing

/// The access paths of queries, as `explain` reports them.
@Suite struct PlannerTests {
    private let storage: any Storage<Message>

    init() throws {
        storage = try makeDatabase().storage(for: Message.self)
        // 3,000 rows: 30 of sender 1, the remaining rows of sender 2.
        try storage.insert((0..<3_000).map { .make($0, sender: $0 % 100 == 0 ? 1 : 2, code: "c\($0)", text: "text \($0 % 50)") })
    }

    private func expect(
        _ query: Query<Message>, _ access: QueryPlan.Access, filters: Bool = false, sorts: Bool = false,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let plan = try storage.explain(query)
        #expect(plan.access == access, sourceLocation: location)
        #expect(plan.filtersRows == filters, sourceLocation: location)
        #expect(plan.sortsRows == sorts, sourceLocation: location)
        #expect(try storage.read(query) == query.resolved().evaluate(over: storage.read(Query())), sourceLocation: location)
    }

    @Test func primaryKeys() throws {
        try expect(Query(where: Condition { $0.id == 7 }), .primaryKey)
        try expect(Query(where: Condition { $0.id.in([7, 9, 8]) }), .primaryKey)
        try expect(Query(where: Condition { $0.id == 7 || $0.id == 9 }), .primaryKey)
        try expect(Query(where: Condition { $0.id > 7 && $0.id <= 20 && $0.isRead }), .primaryKey, filters: true)
        try expect(Query(where: Condition { $0.id == 7 && $0.sender == 1 }), .primaryKey, filters: true)
        try expect(Query(where: Condition { $0.id > 7 && $0.id < 7 }), .nothing)
        try expect(Query(where: Condition { $0.id == 7 }, limit: 0), .nothing)
        try expect(Query(orderedBy: [.descending(\.id)], limit: 3), .scan)
    }

    @Test func indexes() throws {
        try expect(Query(where: Condition { $0.sender == 1 }), .index(["sender"]))
        try expect(Query(where: Condition { $0.sender == nil }), .index(["sender"]))
        try expect(Query(where: Condition { $0.sender.in([1, 3]) }), .index(["sender"]), sorts: true)
        try expect(Query(where: Condition { $0.text.hasPrefix("text 4") }), .index(["text"]), sorts: true)
        try expect(
            Query(where: Condition { $0.text.hasPrefix("text 4") }, orderedBy: [.ascending(\.text)]), .index(["text"]))
        try expect(Query(where: Condition { $0.code == "c5" && $0.sender == 1 }), .index(["code"]), filters: true)
        try expect(Query(where: Condition { $0.text.contains("4") }), .scan, filters: true)
        try expect(Query(where: Condition { $0.sender == 1 || $0.isRead }), .scan, filters: true)
    }

    @Test func orders() throws {
        let cutoff = Date(timeIntervalSinceReferenceDate: 700)
        try expect(Query(orderedBy: [.descending(\.date)], limit: 5), .index(["date"]))
        try expect(Query(orderedBy: [.ascending(\.date)], limit: 5, offset: 3), .index(["date"]))
        try expect(
            Query(where: Condition { $0.date > cutoff }, orderedBy: [.descending(\.date)], limit: 5), .index(["date"]))
        try expect(Query(orderedBy: [.ascending(\.date), .descending(\.id)], limit: 5), .index(["date"]))
        try expect(Query(orderedBy: [.descending(\.date), .descending(\.id)], limit: 5), .index(["date"]))
        try expect(Query(orderedBy: [.descending(\.sender), .ascending(\.score)], limit: 5), .index(["sender"]))
        try expect(Query(orderedBy: [.ascending(\.score)], limit: 5), .scan, sorts: true)
    }

    @Test func fewRowsAreSortedAndManyAreReadInIndexOrder() throws {
        let newest: [Sort<Message>] = [.descending(\.date)]
        try expect(Query(where: Condition { $0.sender == 1 }, orderedBy: newest, limit: 10), .index(["sender"]), sorts: true)
        try expect(Query(where: Condition { $0.sender == 2 }, orderedBy: newest, limit: 10), .index(["date"]), filters: true)
        try expect(Query(where: Condition { $0.sender == 2 }, orderedBy: newest), .index(["sender"]), sorts: true)
    }

    @Test func plansEstimateTheirRows() throws {
        let messages = DAO(storage: storage)
        #expect(try messages.explain { $0.sender == 1 }.estimatedRows == 30)
        #expect(try messages.explain { $0.sender == 1 }.details == ["1 run of keys in the index on 'sender', 30 rows"])
        #expect(try messages.explain { $0.sender == 2 }.estimatedRows == 1_000)
        #expect(try messages.explain { $0.sender == 2 }.details == ["1 run of keys in the index on 'sender', 1000 rows or more"])
        #expect(try messages.explain { $0.id == 7 && $0.id == 8 }.estimatedRows == 0)
        let newest = try messages.explain(orderedBy: .descending(\.date), limit: 10) { $0.sender == 2 }
        #expect(newest.details.last == "or through the index on 'sender', sorted, as soon as that is shorter")
    }

    @Test func pagesStartAtTheirCursor() throws {
        let first = try DAO(storage: storage).page(orderedBy: .descending(\.date), limit: 10)
        let query = Query<Message>(orderedBy: [.descending(\.date)], limit: 10, after: first.next)
        let plan = try storage.explain(query)
        #expect(plan.access == .index(["date"]))
        #expect(!plan.sortsRows)
        try expect(query, .index(["date"]), filters: true)
    }

    @Test func countsOfARangeReadNoRows() throws {
        #expect(try storage.count(Query(where: Condition { $0.sender == 1 })) == 30)
        #expect(try storage.count(Query(where: Condition { $0.sender == 1 }, limit: 7, offset: 28)) == 2)
        #expect(try storage.count(Query(where: Condition { $0.id >= 2_990 })) == 10)
        #expect(try storage.count(Query(where: Condition { $0.sender == 2 && $0.isRead })) == 1_470)
    }
}
