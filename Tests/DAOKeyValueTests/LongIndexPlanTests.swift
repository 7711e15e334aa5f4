import DAOCore
import DAOKeyValue
import Foundation
import Testing

/// The access paths of queries through indexes over several fields.
@Suite struct LongIndexPlanTests {
    private struct Mail: Plain, Model, Equatable {
        var id: Int
        var sender: Int?
        var date: Int
        var folder: String
        var isRead: Bool

        static let schema = Schema(
            "mail", Self.init,
            Field("id", \.id, .primaryKey), Field("sender", \.sender, .indexed), Field("date", \.date, .indexed),
            Field("folder", \.folder), Field("isRead", \.isRead),
            indexes: [
                Index(orderedBy: .ascending(\.sender), .descending(\.date)), Index(\.folder, \.isRead, \.date),
                Index(\.folder, \.sender, isUnique: true),
            ])
    }

    private let storage: any Storage<Mail>

    init() throws {
        storage = try makeDatabase().storage(for: Mail.self)
        try storage.insert(
            (0..<2_000).map {
                Mail(id: $0, sender: $0 % 8, date: $0 * 37 % 1_000, folder: "folder \($0 / 8)", isRead: $0 % 3 == 0)
            })
    }

    private func expect(
        _ query: Query<Mail>, _ access: [String], filters: Bool = false, sorts: Bool = false,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let plan = try storage.explain(query)
        #expect(plan.access == .index(access), sourceLocation: location)
        #expect(plan.filtersRows == filters, sourceLocation: location)
        #expect(plan.sortsRows == sorts, sourceLocation: location)
        let expected = try query.resolved().evaluate(over: storage.read(Query()))
        #expect(try storage.read(query) == expected, sourceLocation: location)
        #expect(try storage.count(query) == expected.count, sourceLocation: location)
    }

    @Test func aValueOfTheFirstFieldsAndAnOrderOfTheNext() throws {
        let bySender = Condition<Mail> { $0.sender == 5 }
        try expect(Query(where: bySender, orderedBy: [.descending(\.date)], limit: 50), ["sender", "date"])
        try expect(Query(where: bySender, orderedBy: [.ascending(\.date)], limit: 50), ["sender", "date"])
        try expect(Query(where: bySender, orderedBy: [.descending(\.date), .descending(\.id)]), ["sender", "date"])
        try expect(Query(where: bySender, orderedBy: [.ascending(\.sender), .descending(\.date)]), ["sender", "date"])
        try expect(
            Query(where: Condition { $0.folder == "folder 3" && $0.isRead }, orderedBy: [.descending(\.date)], limit: 2),
            ["folder", "isRead", "date"])
    }

    @Test func aValueOfTheFirstFieldsAndARangeOfTheNext() throws {
        try expect(
            Query(where: Condition { $0.sender == 5 && $0.date > 800 }, orderedBy: [.descending(\.date)]), ["sender", "date"])
        try expect(
            Query(where: Condition { $0.sender.in([2, 5]) && $0.date > 800 }), ["sender", "date"], sorts: true)
        try expect(
            Query(where: Condition { $0.sender == nil && $0.date > 800 }, orderedBy: [.ascending(\.date)]), ["sender", "date"])
        try expect(
            Query(where: Condition { $0.folder == "folder 3" && $0.sender == 5 && $0.isRead }), ["folder", "sender"],
            filters: true)
    }

    @Test func anOrderOfSeveralFields() throws {
        try expect(Query(orderedBy: [.ascending(\.sender), .descending(\.date)], limit: 9), ["sender", "date"])
        try expect(Query(orderedBy: [.descending(\.sender), .ascending(\.date)], limit: 9), ["sender", "date"])
        try expect(
            Query(where: Condition { $0.sender > 5 }, orderedBy: [.ascending(\.sender), .descending(\.date)], limit: 9),
            ["sender", "date"])
    }

    @Test func pagesOfOneSenderBeginAtTheirCursor() throws {
        var query = Query<Mail>(where: Condition { $0.sender == 5 }, orderedBy: [.descending(\.date)])
        var pages: [[Mail]] = []
        repeat {
            let page = try DAO(storage: storage).page(query, limit: 40)
            pages.append(page.elements)
            query.after = page.next
            if page.next != nil { try expect(query, ["sender", "date"], filters: true) }
        } while query.after != nil
        query.after = nil
        #expect(try pages.flatMap { $0 } == storage.read(query))
        #expect(pages.count == 7)
    }
}
