import DAOCore

/// R9: References are ordered as their keys.
enum RelationsReferenceOrder {
    /// The errand that each of the errands 0 to 29 is a part of; nil for some.
    private static func whole(_ errand: Int) -> Int? { errand % 4 == 3 ? nil : errand * 7 % 10 }
    private static func owner(_ errand: Int) -> Int { errand * 5 % 6 }
    private static let ids = Array(0..<30)

    private static func open(_ context: ConformanceContext) throws -> DAO<Errand> {
        let (database, errands) = try context.open(with: Errand.self)
        try database.dao(Person.self).create((0..<6).map { Person(id: $0, name: "Person \($0)") })
        try errands.create(
            ids.map { Errand(id: $0, title: "\($0 % 3)", whole: whole($0).map { Reference($0) }, owner: Reference(owner($0))) })
        return errands
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase("R.referenceOrder", "R9", "Q1", "Q2", title: "a sort by a Reference is one by its key, nil first") {
            context in
            let errands = try open(context)
            for isAscending in [true, false] {
                let order: Sort<Errand> = isAscending ? .ascending(\.whole) : .descending(\.whole)
                let expected = ids.sorted {
                    let (left, right) = (whole($0) ?? -1, whole($1) ?? -1)
                    return left == right ? $0 < $1 : (left < right) == isAscending
                }
                try expectEqual(try errands.read(orderedBy: order).map(\.id), expected, "all")
                try expectEqual(try errands.read(Query(orderedBy: [.by("whole", ascending: isAscending)])).map(\.id), expected)
                try expectEqual(
                    try errands.read(Query(orderedBy: [order], limit: 7, offset: 5)).map(\.id), Array(expected[5..<12]), "a limit"
                )
                var streamed: [Int] = []
                try errands.forEach(Query(orderedBy: [order])) { streamed.append($0.id) }
                try expectEqual(streamed, expected, "a stream")
                for size in [1, 4, 30] {
                    var paged: [Int] = []
                    var next: PageCursor?
                    repeat {
                        let page = try errands.page(orderedBy: order, limit: size, after: next)
                        paged += page.elements.map(\.id)
                        next = page.next
                    } while next != nil
                    try expectEqual(paged, expected, "pages of \(size)")
                }
                let mixed: [Sort<Errand>] = [.descending(\.owner, \.name), order, .descending(\.id)]
                let expectedMixed = ids.sorted {
                    if owner($0) != owner($1) { return owner($0) > owner($1) }
                    let (left, right) = (whole($0) ?? -1, whole($1) ?? -1)
                    return left == right ? $0 > $1 : (left < right) == isAscending
                }
                let page = try errands.page(Query(orderedBy: mixed), limit: 9)
                let second = try errands.page(Query(orderedBy: mixed, after: page.next), limit: 30)
                try expectEqual((page.elements + second.elements).map(\.id), expectedMixed, "beside a field of a related row")
            }
        },
        ConformanceCase("R.referenceComparisons", "R9", "P2", title: "a Reference is compared as its key") { context in
            let errands = try open(context)
            func expect(
                _ what: String, _ condition: Condition<Errand>, text: Condition<Errand>? = nil, _ holds: (Int) -> Bool
            ) throws {
                try expectEqual(try errands.read(predicatedBy: condition).map(\.id), ids.filter(holds), what)
                try expectEqual(try errands.read(predicatedBy: !condition).map(\.id), ids.filter { !holds($0) }, "not \(what)")
                if let text { try expectEqual(try errands.read(predicatedBy: text).map(\.id), ids.filter(holds), "\(text)") }
            }
            try expect("owner < 2", Condition { $0.owner < Reference(2) }, text: "owner < 2") { owner($0) < 2 }
            try expect("owner >= 4", Condition { $0.owner >= Reference(4) }, text: "owner >= 4") { owner($0) >= 4 }
            try expect("whole > 6", Condition { $0.whole > Reference(6) }, text: "whole > 6") {
                whole($0).map { $0 > 6 } ?? false
            }
            try expect("whole <= 3", Condition { $0.whole <= Reference(3) }, text: "whole <= 3") {
                whole($0).map { $0 <= 3 } ?? false
            }
            try expect("between", Condition { $0.whole.between(Reference(2), and: Reference(5)) }) {
                whole($0).map { (2...5).contains($0) } ?? false
            }
            try expect("through another", Condition { $0.whole.owner < Reference(3) }, text: "whole.owner < 3") {
                whole($0).map { owner($0) < 3 } ?? false
            }
            try expect("through another that may be missing", Condition { $0.whole.whole >= Reference(5) }) {
                whole($0).flatMap(whole).map { $0 >= 5 } ?? false
            }
        },
        ConformanceCase("R.referenceFields", "R9", "Q10", "Q11", title: "a Reference is a chosen field, and groups rows") {
            context in
            let errands = try open(context)
            let fields = try errands.read(\.id, \.owner, \.whole) { $0.id < 5 }
            try expectEqual(fields.map(\.0), [0, 1, 2, 3, 4])
            try expectEqual(fields.map(\.1), (0..<5).map { Reference(owner($0)) }, "owners")
            try expectEqual(fields.map(\.2), (0..<5).map { whole($0).map { Reference($0) } }, "wholes")
            let owners = Set(ids.map(owner)).sorted()
            try expectEqual(try errands.distinct(\.owner), owners.map { Reference($0) }, "distinct owners")
            let wholes = Set(ids.map(whole)).sorted { ($0 ?? -1) < ($1 ?? -1) }
            try expectEqual(try errands.distinct(\.whole), wholes.map { $0.map { Reference($0) } }, "distinct wholes")
            try expectEqual(
                try errands.distinct(\.owner, \.title) { $0.owner == Reference(1) }.map(\.1),
                Set(ids.filter { owner($0) == 1 }.map { "\($0 % 3)" }).sorted(), "pairs")
            let counts = try errands.groups(by: \.owner, totals: .count)
            try expectEqual(counts.map(\.0), owners.map { Reference($0) }, "groups")
            try expectEqual(counts.map(\.1), owners.map { owner in ids.filter { Self.owner($0) == owner }.count }, "counts")
            let sums = try errands.groups(by: \.whole, totals: .sum(\.id), .max(\.owner))
            try expectEqual(sums.map(\.0), wholes.map { $0.map { Reference($0) } }, "groups of an optional one")
            try expectEqual(
                sums.map(\.1), wholes.map { whole in ids.filter { Self.whole($0) == whole }.reduce(0, +) }, "sums")
            try expectEqual(
                sums.map { $0.2 },
                wholes.map { whole in ids.filter { Self.whole($0) == whole }.map(owner).max().map { Reference($0) } },
                "the greatest")
            let firsts = try errands.groups(by: \.whole, first: 2, orderedBy: .descending(\.id))
            try expectEqual(
                firsts.map { $0.1.map(\.id) },
                wholes.map { whole in Array(ids.filter { Self.whole($0) == whole }.reversed().prefix(2)) }, "the first of each")
            try expectEqual(try errands.max(\.whole), Reference(ids.compactMap(whole).max() ?? 0))
            try expectEqual(try errands.min(\.owner), Reference(0))
        },
    ]
}
