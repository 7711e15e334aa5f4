import DAOCore

/// Q12: what `explain` says of a query.
enum QueriesPlans {
    static let cases: [ConformanceCase] = [
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
    ]

    private static let queries: [Query<Parcel>] = simple + ordered

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
        Set(try database.entities().flatMap(\.allIndexes).map { $0.fields.map(\.name) })
    }
}
