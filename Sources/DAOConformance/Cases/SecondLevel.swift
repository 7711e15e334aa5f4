import DAOCore

/// Rules of relationships on the rows below those that a call names: rows of rows, rows that a cascade reaches, and rows that a read
/// brings.
enum SecondLevel {
    static let cases: [ConformanceCase] = writing + reading

    private static let writing: [ConformanceCase] = [
        ConformanceCase(
            "R.keyTwiceInFields", "R2", "R7",
            title: "of a key that two owned lists give the first list's value counts, of one list the last"
        ) { context in
            let (database, bags) = try context.open(with: Bag.self)
            let chips = try database.dao(Chip.self)
            let bag = Bag(
                id: 1, first: [Chip(id: 1, text: "first"), Chip(id: 2, text: "early"), Chip(id: 2, text: "late")],
                second: [Chip(id: 3, text: "alone"), Chip(id: 1, text: "second")])
            for (what, store): (String, () throws -> Void) in [
                ("create", { try bags.create(bag) }), ("persist", { try bags.persist(bag) }),
                ("upsert", { try bags.storage.upsert([bag]) }),
                ("merge", { _ = try bags.storage.merge(keys: [.integer(1)]) { $1 = bag } }),
                ("update", { _ = try bags.update(where: .all) { $0 = bag } }),
            ] {
                if what != "create" {
                    // They differ from what is given in every value.
                    try chips.update(where: .all) { $0.text = "old" }
                }
                if what == "update" { try bags.persist(Bag(id: 1)) }
                try store()
                try expectEqual(
                    try chips.read().map { "\($0.id) \($0.text)" }, ["1 first", "2 late", "3 alone"], "the rows after \(what)")
                let found = try require(try bags.read(byPrimaryKey: 1), "the bag")
                try expectEqual(found.first.map(\.id), [1, 2, 2], "the first list after \(what)")
                try expectEqual(found.second.map(\.id), [3, 1], "the second list after \(what)")
            }
        },
        ConformanceCase(
            "W.closureChangesTwoLists", "W9", "R7",
            title: "rows of every owned list that a closure changes follow, field by field, what it has stored itself"
        ) { context in
            let (database, bags) = try context.open(with: Bag.self)
            let chips = try database.dao(Chip.self)
            func change(_ bag: inout Bag) throws {
                try chips.set(\.text, to: "new") { $0.id.in([1, 3]) }
                try expectEqual([bag.first.count, bag.second.count], [1, 2], "the lengths of the lists")
                (bag.first[0].rank, bag.second[0].rank, bag.second[1].rank) = (5, 7, 8)
            }
            for isMerge in [false, true] {
                try bags.erase()
                try chips.erase()
                try bags.create(
                    Bag(id: 1, first: [Chip(id: 1, text: "a")], second: [Chip(id: 3, text: "c"), Chip(id: 4, text: "d")]))
                if isMerge {
                    _ = try bags.storage.merge(keys: [.integer(1)]) { _, stored in
                        var bag = try require(stored, "the bag")
                        try change(&bag)
                        stored = bag
                    }
                } else {
                    try bags.update(where: { $0.id == 1 }) { try change(&$0) }
                }
                try expectEqual(
                    try chips.read().map { "\($0.id) \($0.text) \($0.rank)" }, ["1 new 5", "3 new 7", "4 d 8"],
                    "the rows of both lists after a \(isMerge ? "merge" : "change")")
            }
        },
        ConformanceCase(
            "P.wordsThroughNothing", "P5", "P1",
            title: "all and none of the related rows of no row meet a condition, and none of them does"
        ) { context in
            let (database, bags) = try context.open(with: Bag.self)
            let labels = try database.dao(BagLabel.self)
            try bags.create([
                Bag(id: 1, first: [Chip(id: 1, text: "x"), Chip(id: 2, text: "y")]), Bag(id: 2),
                Bag(id: 3, first: [Chip(id: 3, text: "x")]),
            ])
            try labels.create([
                BagLabel(id: 1, bag: Reference(1)), BagLabel(id: 2, bag: Reference(2)), BagLabel(id: 3, bag: Reference(3)),
                BagLabel(id: 4),
            ])
            for (words, expected) in [
                ("ANY bag.first.text == 'x'", [1, 3]), ("NONE bag.first.text == 'x'", [2, 4]),
                ("ALL bag.first.text == 'x'", [2, 3, 4]),
                ("NOT ANY bag.first.text == 'x'", [2, 4]), ("NONE bag.first.text == 'y' AND id > 1", [2, 3, 4]),
                ("bag == nil", [4]),
            ] {
                try expectEqual(try labels.read(where: Condition(words)).map(\.id), expected, words)
                try expectEqual(try labels.count(where: Condition(words)), expected.count, "the number of \(words)")
            }
            try expectEqual(
                try labels.read { !$0.bag.first.contains { $0.text == "x" } }.map(\.id), [2, 4],
                "none of them, as a closure says it")
        },
        ConformanceCase(
            "P.fieldsOfNoRow", "P10", "P1", "P5",
            title: "where a related row is missing, its fields and those of its own related rows are nil, and compare as nil"
        ) { context in
            let (database, errands) = try context.open(with: Errand.self)
            let people = ["a", "b", "c"].enumerated().map { Person(id: $0 + 1, name: $1) }
            try database.dao(Person.self).create(people)
            // Of some rows the whole is missing, of some the whole of it, and of some their helpers.
            let rows = [
                Errand(id: 1, title: "a", owner: Reference(1)),
                Errand(id: 2, title: "b", owner: Reference(1), helper: Reference(2)),
                Errand(id: 3, title: "b", whole: Reference(1), owner: Reference(2)),
                Errand(id: 4, title: "a", whole: Reference(2), owner: Reference(3), helper: Reference(1)),
                Errand(id: 5, title: "b", whole: Reference(3), owner: Reference(3)),
                Errand(id: 6, title: "c", whole: Reference(4), owner: Reference(1), helper: Reference(3)),
            ]
            try errands.create(rows)
            func whole(_ row: Errand?) -> Errand? { rows.first { row?.whole == Reference($0.id) } }
            func name(_ person: Reference<Person>?) -> String? { people.first { person == Reference($0.id) }?.name }
            // Both sides, and their values below a row.
            typealias Side = FieldExpression<Errand, String?>
            let sides: [(words: (String, String), (FieldProxy<Errand>) -> (Side, Side), (Errand) -> (String?, String?))] = [
                (("title", "helper.name"), { ($0.title.optional, $0.helper.name) }, { ($0.title, name($0.helper)) }),
                (("title", "whole.title"), { ($0.title.optional, $0.whole.title) }, { ($0.title, whole($0)?.title) }),
                (
                    ("whole.title", "whole.helper.name"), { ($0.whole.title, $0.whole.helper.name) },
                    { (whole($0)?.title, name(whole($0)?.helper)) }
                ),
                (
                    ("whole.title", "whole.owner.name"), { ($0.whole.title, $0.whole.owner.name) },
                    { (whole($0)?.title, name(whole($0)?.owner)) }
                ),
                (
                    ("whole.title", "whole.whole.title"), { ($0.whole.title, $0.whole.whole.title) },
                    { (whole($0)?.title, whole(whole($0))?.title) }
                ),
                (
                    ("whole.whole.title", "whole.whole.helper.name"), { ($0.whole.whole.title, $0.whole.whole.helper.name) },
                    { (whole(whole($0))?.title, name(whole(whole($0))?.helper)) }
                ),
            ]
            func isLess(_ left: String?, _ right: String?) -> Bool {
                guard let left, let right else { return false }
                return left < right
            }
            let operators: [(String, (Side, Side) -> Condition<Errand>, (String?, String?) -> Bool)] = [
                ("==", { $0 == $1 }, { $0 == $1 }), ("!=", { $0 != $1 }, { $0 != $1 }), ("<", { $0 < $1 }, { isLess($0, $1) }),
                (">", { $0 > $1 }, { isLess($1, $0) }), ("<=", { $0 <= $1 }, { isLess($0, $1) || $0 != nil && $0 == $1 }),
                (">=", { $0 >= $1 }, { isLess($1, $0) || $0 != nil && $0 == $1 }),
            ]
            for (words, pair, values) in sides {
                for (sign, compare, holds) in operators {
                    for isMirrored in [false, true] {
                        let condition = Condition<Errand> { row in
                            let (left, right) = pair(row)
                            return isMirrored ? compare(right, left) : compare(left, right)
                        }
                        let expected = rows.filter { row in
                            let (left, right) = values(row)
                            return isMirrored ? holds(right, left) : holds(left, right)
                        }.map(\.id)
                        let what = isMirrored ? "\(words.1) \(sign) \(words.0)" : "\(words.0) \(sign) \(words.1)"
                        for (condition, ids) in [
                            (condition, expected), (!condition, rows.map(\.id).filter { !expected.contains($0) }),
                            (Condition(what), expected),
                        ] {
                            try expectEqual(try errands.read(predicatedBy: condition).map(\.id), ids, what)
                            try expectEqual(try errands.count(where: condition), ids.count, "the number \(what)")
                            try expectEqual(
                                try errands.read(orderedBy: .first(condition), limit: 6).prefix(ids.count).map(\.id), ids,
                                "the first \(what)")
                        }
                    }
                }
            }
            func check(_ condition: Condition<Errand>, _ what: String, _ holds: (Errand) -> Bool) throws {
                let ids = rows.filter(holds).map(\.id)
                try expectEqual(try errands.read(predicatedBy: condition).map(\.id), ids, what)
                try expectEqual(try errands.read(predicatedBy: Condition(what)).map(\.id), ids, "in words, \(what)")
                try expectEqual(try errands.count(where: !condition), rows.count - ids.count, "not \(what)")
                try expectEqual(try errands.read(Query(where: condition, limit: 6)).map(\.id), ids, "at most six, \(what)")
            }
            for list in [[nil, 3], [1, 3], [nil], []] as [[Int?]] {
                let what = "whole.helper IN {\(list.map { $0.map(String.init) ?? "nil" }.joined(separator: ", "))}"
                let keys = list.map { $0.map { Reference<Person>($0) } }
                try check(Condition { $0.whole.helper.in(keys) }, what) { keys.contains(whole($0)?.helper) }
            }
            for (words, pair, values) in sides {
                for list in [[nil, "a"], ["a", "c"], [nil], []] as [[String?]] {
                    let what = "\(words.1) IN {\(list.map { $0.map { "'\($0)'" } ?? "nil" }.joined(separator: ", "))}"
                    try check(Condition { pair($0).1.in(list) }, what) { list.contains(values($0).1) }
                }
            }
        },
        ConformanceCase(
            concurrent: "O.afterARefusalInside", "O1", "T2", "W3",
            title: "a commit is observed whatever inside of it was refused and caught before", requires: [.savepoints]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            let counters = try database.dao(Counter.self)
            try await dao.create(Item.make([1]))
            for (round, way) in ["a call", "a transaction", "a call of another entity"].enumerated() {
                var rows = Observations.Results(dao.observe())
                var counts = Observations.Results(database.observe { try dao.count() })
                _ = try await (rows.next("the first rows"), counts.next("the first count"))
                let id = 10 + round
                let writer = Background {
                    try database.transaction {
                        try dao.create(Item.make([id]))
                        switch round {
                        case 0:
                            try expectError(.duplicateKey, entity: "item", key: 1, field: "id") {
                                try dao.create(Item.make([50, 1]))
                            }
                        case 1:
                            try expectDeliberate {
                                try database.transaction {
                                    try dao.create(Item.make([51]))
                                    throw DeliberateError()
                                }
                            }
                        default:
                            try counters.create(Counter(id: 1, value: 1))
                            try expectError(.duplicateKey, entity: "counter", key: 1, field: "id") {
                                try counters.create([Counter(id: 2, value: 1), Counter(id: 1, value: 2)])
                            }
                        }
                    }
                }
                try writer.wait()
                let ids = try await rows.next("the rows after \(way) was refused").map(\.id)
                try expectEqual(ids, [1] + Array(10...id), "the rows after \(way)")
                let count = try await counts.next("the count after \(way) was refused")
                try expectEqual(count, 2 + round, "the count after \(way)")
            }
        },
        ConformanceCase(
            "R.restrictedBelowACascade", "R10", "W3", "R4",
            title: "a restricted Reference to a row that a cascade reaches prevents the erasure, at any depth"
        ) { context in
            let (database, errands) = try context.open(with: Errand.self)
            let (pledges, receipts) = (try database.dao(Pledge.self), try database.dao(Receipt.self))
            try database.dao(Person.self).create(Person(id: 1, name: "Ada"))
            // 2 is a part of 1, and 3 of 2.
            let wholes: [Int?] = [nil, 1, 2, nil]
            try errands.create(
                wholes.enumerated().map {
                    Errand(id: $0.offset + 1, whole: $0.element.map { Reference($0) }, owner: Reference(1))
                })
            try receipts.create((1...4).map { Receipt(id: "\($0)", errand: Reference($0)) })
            for below in [2, 3] {
                try pledges.create(Pledge(id: 1, errand: Reference(below)))
                for (what, body): (String, () throws -> Int) in [
                    ("by key", { try errands.erase(byPrimaryKey: 1) }),
                    ("by a condition", { try errands.erase { $0.id.in([1, 4]) } }),
                    ("inside", { try database.transaction { try errands.erase(byPrimaryKey: 1) } }),
                ] {
                    try expectError(
                        .referenceViolation, "\(what), a pledge of \(below)", entity: "pledge", key: 1,
                        conflictingKey: UniqueID(below), field: "errand", body)
                    try expectEqual(try errands.read().map(\.id), [1, 2, 3, 4], "the errands, \(what)")
                    try expectEqual(try receipts.count(), 4, "the receipts, \(what)")
                }
                try pledges.erase()
            }
            try pledges.create(Pledge(id: 1, errand: Reference(4)))
            try expectEqual(try errands.erase(byPrimaryKey: 1), 1, "errands erased")
            try expectEqual(try errands.read().map(\.id), [4], "the errands that are left")
            try database.expectVerified()
        },
        ConformanceCase(
            "R.orphansOfOwnedRows", "R3", "R8", "R7",
            title: "a row that loses its last parent is erased, also where the parent is written with a row above it"
        ) { context in
            let (database, volumes) = try context.open(with: Volume.self)
            let covers = try database.dao(Cover.self)
            func leaf(_ id: Int, _ cover: Int?) -> Leaf {
                Leaf(id: id, cover: cover.map { Cover(id: $0) }, marks: [Cover(id: id * 100)])
            }
            func ids() throws -> [Int] { try covers.read().map(\.id) }
            try volumes.create(Volume(id: 1, leaves: [leaf(1, 10), leaf(2, 20)], first: leaf(3, 30)))
            try expectEqual(try ids(), [10, 20, 30, 100, 200, 300], "the covers at first")
            try volumes.persist(Volume(id: 1, leaves: [leaf(1, 11), leaf(2, nil)], first: leaf(3, 20)))
            try expectEqual(try ids(), [11, 20, 100, 200, 300], "the covers after others and none")
            try volumes.update(where: { $0.id == 1 }) { volume in
                for index in volume.leaves.indices {
                    if index == 0 { volume.leaves[index].cover = nil } else { volume.leaves[index].marks = [] }
                }
                volume.first?.cover = Cover(id: 31)
            }
            try expectEqual(try ids(), [31, 100, 300], "the covers after an update")
            // A row that another one holds stays.
            try database.dao(Leaf.self).create(Leaf(id: 9, cover: Cover(id: 31), marks: [Cover(id: 100)]))
            try volumes.persist(
                Volume(id: 1, leaves: [Leaf(id: 1, cover: nil, marks: [])], first: Leaf(id: 3, cover: nil, marks: [])))
            try expectEqual(try ids(), [31, 100], "the covers that another leaf holds")
            try database.expectVerified()
        },
    ]

    private static let reading: [ConformanceCase] = [
        ConformanceCase(
            "R.includingRequiredBelow", "R6", "R11",
            title: "a read that would leave out a list of a row that it brings is invalidQuery with its entity and field"
        ) { context in
            let (database, orders) = try context.open(with: Order.self)
            let volumes = try database.dao(Volume.self)
            func refuses(_ what: String, entity: String, field: String, _ body: () throws -> some Any) throws {
                try expectError(.invalidQuery, what, entity: entity, field: field) { try body() }
            }
            // Before and after there are rows.
            for round in 0..<2 {
                try refuses("a Reference, round \(round)", entity: "volume", field: "leaves") { try orders.including(\.volume) }
                try refuses("a list, round \(round)", entity: "leaf", field: "marks") { try orders.including(\.leaves) }
                try refuses("both, round \(round)", entity: "volume", field: "leaves") {
                    try orders.including(\.volume, \.leaves)
                }
                try volumes.persist(Volume(id: 1, leaves: [], first: nil))
                try orders.persist(Order(id: 1, volume: Reference(1), leaves: [Leaf(id: 1, cover: nil, marks: [])]))
                try expectEqual(try orders.including().read().map(\.leaves), [nil], "a read that brings nothing")
            }
        },
        ConformanceCase(
            "R.includingToOneBelow", "R11", "R6",
            title: "the row of a Reference and of a list that a read brings has the row of its optional model, without lists"
        ) { context in
            let (database, pins) = try context.open(with: Pin.self)
            let posts = [
                Post(id: 1, text: "one", author: Person(id: 1, name: "Ada")), Post(id: 2, text: "two"),
                Post(id: 3, text: "three", author: Person(id: 1, name: "Ada")),
            ]
            try database.dao(Post.self).create(posts)
            try pins.create((1...3).map { Pin(id: $0, post: Reference($0), posts: [posts[3 - $0]]) })
            for pin in try pins.including(\.post, \.posts).read() {
                try expectEqual(pin.post?.row, posts.first { $0.id == pin.id }, "the row of pin \(pin.id)")
                try expectEqual(pin.posts, posts.filter { $0.id == 4 &- pin.id }, "the list of pin \(pin.id)")
            }
            var streamed: [Person?] = []
            try pins.including(\.post).forEach { streamed.append($0.post?.row?.author) }
            try expectEqual(streamed, posts.map(\.author), "the authors in a stream")
        },
        ConformanceCase(
            concurrent: "O.referenceOfReference", "O5", "O1", "P5",
            title: "an observation sees a change of a row that a Reference of a related row leads to"
        ) { context in
            let (database, pins) = try context.open(with: Receipt.self)
            let people = try database.dao(Person.self)
            try await people.create([Person(id: 1, name: "Ada"), Person(id: 2, name: "Bo")])
            try await database.dao(Errand.self).create((1...2).map { Errand(id: $0, owner: Reference($0)) })
            try await pins.create((1...2).map { Receipt(id: "\($0)", errand: Reference($0)) })
            var rows = Observations.Results(pins.observe { $0.errand.owner.name == "new" })
            var counts = Observations.Results(database.observe { try pins.count { $0.errand.owner.name == "new" } })
            _ = try await rows.next("the first rows")
            _ = try await counts.next("the first count")
            try await people.update(where: { $0.id == 2 }) { $0.name = "new" }
            let found = try await rows.next("rows after a change of the owner").map(\.id)
            try expectEqual(found, ["2"], "the receipts of the owner")
            let count = try await counts.next("the count after a change of the owner")
            try expectEqual(count, 1, "the number of receipts of the owner")
        },
        ConformanceCase(
            "P.repeatedChildren", "P5", "P10", "R2",
            title: "a condition on the number of children counts a child as often as the list has it, whatever leads to the rows"
        ) { context in
            let (database, trays) = try context.open(with: Tray.self)
            try database.dao(Ware.self).create((1...4).map { Ware(id: $0, isRead: $0 % 2 == 1) })
            let lists = [[], [1], [1, 1], [1, 1, 2], [2, 1, 2], [3, 3, 3], [1, 3, 1, 3], [2, 4]]
            let rows = (0..<240).map { id in
                Tray(id: id, code: "c\(id % 30)", wares: lists[id % 8].map { Ware(id: $0, isRead: $0 % 2 == 1) })
            }
            try trays.create(rows)
            let signs: [(String, (Int, Int) -> Bool)] = [("==", ==), ("!=", !=), (">", >), (">=", >=), ("<", <), ("<=", <=)]
            for (sign, holds) in signs {
                for number in 0...4 {
                    let what = "\(sign) \(number)"
                    let read = Condition<Tray>("SUBQUERY(wares, $w, $w.isRead == YES).@count \(what)")
                    let all = Condition<Tray>("wares.@count \(what)")
                    let expected = rows.filter { holds($0.wares.count(where: \.isRead), number) }
                    let expectedOfAll = rows.filter { holds($0.wares.count, number) }
                    func ids(_ rows: [Tray], _ code: String? = nil) -> [Int] {
                        rows.filter { code == nil || $0.code == code }.map(\.id)
                    }
                    try expectEqual(try trays.read(predicatedBy: read).map(\.id), ids(expected), "read wares \(what)")
                    for code in ["c5", "c14"] {
                        let few = Condition<Tray> { $0.code == code }
                        try expectEqual(
                            try trays.read(predicatedBy: few && read).map(\.id), ids(expected, code),
                            "read wares \(what) of \(code)")
                        try expectEqual(
                            try trays.read(predicatedBy: few && all).map(\.id), ids(expectedOfAll, code),
                            "wares \(what) of \(code)")
                        try expectEqual(
                            try trays.count(where: few && !read), 8 - ids(expected, code).count, "not \(what) of \(code)")
                    }
                }
            }
        },
    ]
}

/// A row whose list has some rows several times.
private struct Tray: Plain, Model, Equatable {
    var id: Int
    var code: String
    var wares: [Ware]

    static let schema = Schema(
        "tray", Self.init,
        Field("id", \.id, .primaryKey), Field("code", \.code, .indexed), Field("wares", \.wares, .linked))
}

private struct Ware: Plain, Model, Equatable {
    var id: Int
    var isRead: Bool

    static let schema = Schema("ware", Self.init, Field("id", \.id, .primaryKey), Field("isRead", \.isRead))
}

/// A row that keeps the errand that it refers to.
private struct Pledge: Plain, Model, Equatable {
    var id: Int
    var errand: Reference<Errand>

    static let schema = Schema(
        "pledge", Self.init, Field("id", \.id, .primaryKey), Field("errand", \.errand, .restricted))
}

private struct Cover: Plain, Model, Equatable {
    var id: Int

    static let schema = Schema("cover", Self.init, Field("id", \.id, .primaryKey))
}

/// A row whose related rows go with the last one that has them.
private struct Leaf: Plain, Model, Equatable {
    var id: Int
    var cover: Cover?
    var marks: [Cover]

    static let schema = Schema(
        "leaf", Self.init,
        Field("id", \.id, .primaryKey), Field("cover", \.cover, .cascade), Field("marks", \.marks, .cascade))
}

/// A row that owns leaves.
private struct Volume: Plain, Model, Equatable {
    var id: Int
    var leaves: [Leaf]
    var first: Leaf?

    static let schema = Schema(
        "volume", Self.init,
        Field("id", \.id, .primaryKey), Field("leaves", \.leaves, .owned), Field("first", \.first, .owned))
}

/// A row that leads to others whose lists are in every read.
private struct Order: Plain, Model, Equatable {
    var id: Int
    var volume: Reference<Volume>?
    var leaves: [Leaf]?

    static let schema = Schema(
        "order", Self.init,
        Field("id", \.id, .primaryKey), Field("volume", \.volume), Field("leaves", \.leaves, .linked))
}

/// A row that leads to posts, which have authors.
private struct Pin: Plain, Model, Equatable {
    var id: Int
    var post: Reference<Post>?
    var posts: [Post]?

    static let schema = Schema(
        "pin", Self.init, Field("id", \.id, .primaryKey), Field("post", \.post), Field("posts", \.posts, .linked))
}

/// A row of two lists.
private struct Chip: Plain, Model, Equatable {
    var id: Int
    var text: String
    var rank: Int = 0

    static let schema = Schema(
        "chip", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text), Field("rank", \.rank))
}

/// A parent with two owned lists of one model.
private struct Bag: Plain, Model, Equatable {
    var id: Int
    var first: [Chip] = []
    var second: [Chip] = []

    static let schema = Schema(
        "bag", Self.init,
        Field("id", \.id, .primaryKey), Field("first", \.first, .owned), Field("second", \.second, .owned))
}

/// A row that may lead to a bag.
private struct BagLabel: Plain, Model, Equatable {
    var id: Int
    var bag: Reference<Bag>?

    static let schema = Schema("bagLabel", Self.init, Field("id", \.id, .primaryKey), Field("bag", \.bag))
}
