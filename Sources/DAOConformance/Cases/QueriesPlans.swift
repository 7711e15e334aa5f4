import DAOCore

/// Q12: what `explain` says of a query.
enum QueriesPlans {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "Q.explainThrough", "Q12", title: "explain of a sort by a field of the related row says that rows are sorted"
        ) {
            context in
            let topics = try context.dao(Topic.self)
            let people = (0..<3).map { Person(id: $0, name: "\($0)") }
            try topics.create((0..<12).map { Topic(id: "\($0)", title: "\($0 % 2)", owner: people[$0 % 3]) })
            for limit in [nil, 2] as [Int?] {
                for order: [Sort<Topic>] in [
                    [.ascending(\.owner, \.name)], [.descending(\.title), .descending(\.owner, \.name)],
                ] {
                    let query = Query(where: Condition { $0.title == "1" }, orderedBy: order, limit: limit, offset: 1)
                    let plan = try topics.explain(query)
                    try expect(plan.sortsRows && plan.filtersRows, "\(plan) of \(query)")
                    try expectEqual(try topics.read(query).count, limit ?? 5, "the rows of \(query)")
                }
            }
        },
        ConformanceCase("Q.explain", "Q12", title: "explain names indexes that exist, and no access only where no row is found") {
            context in
            let database = try context.open()
            let dao = try database.dao(Parcel.self)
            try dao.create(Parcel.make(200))
            let indexes = try indexes(of: database)
            for query in queries {
                let plan = try dao.explain(query)
                switch plan.access {
                case .nothing:
                    try expectEqual(try dao.count(query), 0, "the rows of \(query), which lead to nothing")
                    try expectEqual(plan.filtersRows || plan.sortsRows, false, "whether no row is filtered or sorted: \(query)")
                case .index(let fields): try expect(indexes.contains(fields), "an index on \(fields) for \(query)")
                case .primaryKey, .scan: break
                }
            }
        },
        ConformanceCase(
            "Q.explainLookedAt", "Q12", "L12", title: "a read looks at the rows that explain says", requires: [.configuration]
        ) { context in
            let log = CallLog()
            let dao = try context.open { $0.instrument = log.instrument }.dao(Parcel.self)
            try dao.create(Parcel.make(1300))
            for query in queries where query.limit == nil {
                let plan = try dao.explain(query)
                log.forget()
                let found = try dao.read(query).count
                guard let report = log.reports.first(where: { $0.operation == .read }), let count = report.rowsLookedAt else {
                    return
                }
                // Through an index, a row and its entry are looked at.
                let most = if case .index = plan.access { 2 } else { 1 }
                let what = "looked at for \(query), not \(count): \(plan)"
                try expect(count >= found && (plan.filtersRows || count <= found * most), "\(found) rows \(what)")
                guard let estimate = plan.estimatedRows else { continue }
                try expect(count >= estimate && (estimate >= 1000 || count <= estimate * most), "\(estimate) rows \(what)")
            }
        },
        ConformanceCase(
            "Q.indexesServe", "Q9", "L12", title: "indexes over several fields and partial ones save looking at every row",
            requires: [.configuration]
        ) { context in
            let log = CallLog()
            let dao = try context.open { $0.instrument = log.instrument }.dao(Berth.self)
            let berths = Berth.make(2000)
            try dao.create(berths)
            func work(_ query: Query<Berth>) throws -> Int? {
                log.forget()
                try expectSame(try dao.read(query), try query.resolved().evaluate(over: berths), "\(query)")
                guard let statements = log.reports.first(where: { $0.operation == .read })?.statements, !statements.isEmpty else {
                    return nil
                }
                return statements.reduce(0 as Int?) { sum, each in
                    sum.flatMap { sum in (each.rowsLookedAt ?? each.steps).map { sum + $0 } }
                }
            }
            guard let all = try work(Query(where: Condition { $0.depth > 2 })) else { return }
            for query in served {
                let some = try work(query) ?? all
                try expect(some * 3 < all, "less than a third of \(all) to be looked at for \(query), not \(some)")
            }
        },
    ]

    /// Queries whose rows an index of ``Berth`` leads to.
    private static let served: [Query<Berth>] =
        selective.map { Query(where: $0) } + [
            Query(where: Condition { $0.isFree }, orderedBy: [.ascending(\.size)], limit: 5),
            Query(where: Condition { $0.isFree }, orderedBy: [.descending(\.size)], limit: 5, offset: 5),
            Query(where: Condition { $0.quay == 3 }, orderedBy: [.descending(\.size)], limit: 3),
            Query(orderedBy: [.ascending(\.quay), .ascending(\.size)], limit: 9),
            Query(orderedBy: [.descending(\.quay), .descending(\.size)], limit: 9),
        ]

    private static let selective: [Condition<Berth>] = [
        Condition { $0.quay == 3 }, Condition { $0.quay == 3 && $0.size == 5 }, Condition { $0.quay == 3 && $0.size > 390 },
        Condition { $0.quay.in([1, 2]) }, Condition { $0.quay > 495 }, Condition { $0.quay <= 2 && $0.depth == 1 },
        Condition { $0.isFree && $0.size == 5 }, Condition { $0.isFree }, Condition { $0.isFree == true && $0.size > 390 },
        Condition { $0.size > 395 }, Condition { $0.size >= 396 }, Condition { $0.size > 396 }, Condition { $0.size == 398 },
        Condition { $0.size.in([397, 398]) }, Condition { $0.size > 397 && !$0.isFree },
        Condition { $0.size > 395 && $0.id < 1000 },
        Condition { $0.size == nil }, Condition { $0.size == 0 && $0.depth == 1 }, Condition { $0.size.in([nil, 0]) },
        Condition { $0.size == nil || $0.size == 0 },
    ]

    private static let queries: [Query<Parcel>] = simple + ordered + firstOrLast

    /// A limit lets the rows that meet the condition be read before the others, or after them. No row can meet some of the conditions.
    private static let firstOrLast: [Query<Parcel>] = conditions.flatMap { condition in
        [Query(orderedBy: [.first(condition)], limit: 5), Query(orderedBy: [.last(condition)], limit: 5)]
    }

    private static let simple: [Query<Parcel>] = [
        Query(), Query(orderedBy: [.descending(\.id)]), Query(limit: 0), Query(where: Condition { !$0.isRead }, limit: 5),
    ]

    private static let ordered: [Query<Parcel>] = (conditions + PartialIndexes.conditions).flatMap { condition in
        PartialIndexes.orders.map { Query<Parcel>(where: condition, orderedBy: $0) }
    }

    private static let conditions: [Condition<Parcel>] = [
        Condition { $0.id == 7 }, Condition { $0.id == 7 && $0.id == 8 }, Condition { $0.id > 5 && $0.id < 5 },
        Condition { $0.id.in([3, 900, 901, 5000]) }, Condition { $0.id > 100 && $0.isRead }, Condition { $0.id <= 999 },
        Condition { $0.id <= 1000 }, Condition { $0.id <= 1001 }, Condition { $0.sender == 1 && $0.sender == 2 },
        Condition { $0.sender.in([]) },
    ]

    private static func indexes(of database: any Database) throws -> Set<[String]> {
        Set(try database.entities().flatMap(\.indexedNames))
    }
}

/// A row with indexes over several fields and on a part of the rows.
private struct Berth: Plain, Model, Equatable {
    var id: Int
    var quay: Int
    var size: Int?
    var isFree: Bool
    var depth: Int

    static let schema = Schema(
        "berth", Self.init,
        Field("id", \.id, .primaryKey), Field("quay", \.quay), Field("size", \.size), Field("isFree", \.isFree),
        Field("depth", \.depth),
        indexes: [
            Index(\.quay, \.size), Index(\.size, where: { $0.isFree }), Index(\.isFree, \.id, where: { $0.size > 395 }),
            Index(\.depth, where: { $0.size == nil || $0.size == 0 }),
        ])

    /// Returns berths 1 to a count. One of 500 is at a quay, one of 100 is free, one of 400 has a size, and as many have none.
    static func make(_ count: Int) -> [Berth] {
        (1...count).map {
            Berth(id: $0, quay: $0 * 7 % 500, size: $0 % 401 == 0 ? nil : $0 % 400, isFree: $0 % 100 == 0, depth: $0 % 3)
        }
    }
}
