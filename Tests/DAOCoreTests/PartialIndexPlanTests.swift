import DAOCore
import Testing

/// The rows that queries look at with a partial index, as an instrument is told; on SQLite its steps.
@Suite struct PartialIndexPlanTests {
    private struct Mail: Plain, Model, Equatable {
        var id: Int
        var sender: Int
        var date: Int
        var isRead: Bool
        var code: String

        static let schema = Schema(
            "mail", Self.init,
            Field("id", \.id, .primaryKey), Field("sender", \.sender), Field("date", \.date), Field("isRead", \.isRead),
            Field("code", \.code),
            indexes: [
                Index(orderedBy: .ascending(\.sender), .descending(\.date), where: { !$0.isRead }),
                Index(\.code, isUnique: true, where: { $0.date >= 19_000 }), Index(\.sender, \.code, where: { $0.date < 10 }),
            ])
    }

    private static let mails = (0..<20_000).map {
        Mail(id: $0, sender: $0 % 10, date: $0, isRead: $0 % 100 != 5, code: "\($0 % 9_000)")
    }

    @Test(arguments: ["memory", "lmdb", "sqlite"]) func aPartialIndexIsUsedWhereItIsImplied(_ scheme: String) throws {
        let counted = try CountedDatabase(scheme)
        let storage = try counted.database.storage(for: Mail.self)
        try storage.insert(Self.mails)
        func work(_ query: Query<Mail>) throws -> Int {
            let (rows, work) = try counted.work { try storage.read(query) }
            #expect(try rows == query.resolved().evaluate(over: Self.mails), "\(query)")
            return scheme == "sqlite" ? work / 20 : work
        }
        // 200 mails are unread, all of sender 5.
        let newest: [Sort<Mail>] = [.descending(\.date)]
        #expect(try work(Query(where: Condition { !$0.isRead && $0.sender == 5 }, orderedBy: newest, limit: 10)) < 100)
        #expect(try work(Query(where: Condition { !$0.isRead && $0.sender == 5 && $0.date > 19_900 })) < 100)
        #expect(try work(Query(where: Condition { !$0.isRead }, orderedBy: [.ascending(\.sender)])) < 1_000)
        // Until it has statistics, SQLite may walk the table in the order of the key.
        if scheme != "sqlite" { #expect(try work(Query(where: Condition { !$0.isRead })) < 1_000) }
        #expect(try work(Query(where: Condition { $0.code == "1500" && $0.date > 19_200 })) < 100)
        #expect(try work(Query(where: Condition { $0.sender == 3 && $0.date == 3 })) < 100)
        // Not implied: all rows are looked at.
        #expect(try work(Query(where: Condition { $0.sender == 5 }, orderedBy: newest)) >= 2_000)
        #expect(try work(Query(where: Condition { $0.code == "1500" && $0.date > 18_000 })) >= 2_000)
        let plan = try storage.explain(Query(where: Condition { !$0.isRead && $0.sender == 5 }, orderedBy: newest, limit: 10))
        #expect(plan.access == .index(["sender", "date"]) && !plan.sortsRows, "\(plan)")
    }
}
