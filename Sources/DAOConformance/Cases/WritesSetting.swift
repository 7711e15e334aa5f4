import DAOCore
import DAOTestSupport
import Foundation

/// W8: fields are changed in all rows that meet a condition.
enum WritesSetting {
    static let cases: [ConformanceCase] = rows + increases + constraints + relations

    private static let rows: [ConformanceCase] = [
        ConformanceCase("W.set", "W8", "W5", title: "a field is set in the rows that meet a condition, which are counted") {
            context in
            let dao = try context.dao(Item.self)
            var items = Item.make(1...9)
            try dao.create(items)
            try expectEqual(try dao.set(\.note, to: "new") { $0.number > 60 }, 3, "the rows above 60")
            for index in 6...8 { items[index].note = "new" }
            try expectSame(try dao.read(), items)
            try expectEqual(try dao.set(\.number, to: 5, where: Condition("name IN %@", ["Item #1", "Item #9"])), 2)
            (items[0].number, items[8].number) = (5, 5)
            try expectSame(try dao.read(), items)
            try expectEqual(try dao.read { $0.number == 5 }.map(\.id), [1, 9], "the rows that an index finds")
            try expectEqual(try dao.read(orderedBy: .ascending(\.number)) { $0.number < 30 }.map(\.id), [1, 9, 2])
            try expectEqual(try dao.count { $0.number.in([10, 90]) }, 0, "the values before")
            try expectEqual(try dao.set(\.note, to: nil) { $0.note != nil }, 3, "the rows with a note")
            try expectEqual(try dao.count { $0.note == nil }, 9)
            try expectEqual(try dao.set(\.number, to: 7) { $0.number == 7 }, 0, "no rows")
            try expectEqual(try dao.set(\.number, to: 7) { $0.id.in([]) }, 0, "the rows of an empty list")
            try expectEqual(try dao.set(\.number, to: 7, where: .all), 9, "all rows")
            try expectEqual(try dao.set(\.number, to: 7, where: .all), 9, "all rows, which have the value")
            try expectEqual(try dao.count { $0.number == 7 }, 9)
        },
        ConformanceCase("W.setConditionField", "W8", title: "the field may be in the condition, with an index and without") {
            context in
            let dao = try context.dao(Probe.self)
            try dao.create(Probe.numbers([1, 2, 3, nil, 5]))
            try expectEqual(try dao.set(\.numberIndexed, to: 10) { $0.numberIndexed > 1 }, 3)
            try expectEqual(try dao.set(\.number, to: 0) { $0.number < 3 || $0.number == nil }, 3)
            try expectSame(try dao.read().map(\.numberIndexed), [1, 10, 10, nil, 10])
            try expectSame(try dao.read().map(\.number), [0, 0, 3, 0, 5])
            try expectEqual(try dao.read { $0.numberIndexed == 10 }.map(\.id), [2, 3, 5])
        },
        ConformanceCase("W.setRandom", "W8", "P7", title: "60 random conditions set the rows that a read gives, no other") {
            context in
            let reference = try ReferenceRows(context, Probe.random(60, seed: 71))
            var (rows, random) = (reference.rows, ProbeQueries(seed: 72))
            for round in 0..<60 {
                let condition = random.next()
                let found = Set(try Query(where: condition).resolved().evaluate(over: rows).map(\.id))
                let number = random.number(below: 40) - 20
                for index in rows.indices where found.contains(rows[index].id) { rows[index].other = number }
                let what = "condition \(round), \(condition.node)"
                try expectEqual(try reference.dao.set(\.other, to: number, where: condition), found.count, "the count of \(what)")
                try expectSame(try reference.dao.read(), rows, "the rows after \(what)")
                let matching = rows.filter { $0.other == number }.map(\.id)
                try expectEqual(try reference.dao.read { $0.other == number }.map(\.id), matching, "the index after \(what)")
            }
        },
        ConformanceCase("W.setValues", "W8", "V1", "V2", "V4", title: "a value that is set is stored as a persisted one is") {
            context in
            let database = try context.open()
            let (scalars, embeddings) = (try database.dao(OptionalScalars.self), try database.dao(Embeddings.self))
            func check<Record: Plain & Model, Value: FieldValue>(
                _ dao: DAO<Record>, _ blank: Record, _ field: WritableKeyPath<Record, Value>, _ values: [Value]
            ) throws {
                for value in values {
                    var record = blank
                    record[keyPath: field] = value
                    try dao.persist(record)
                    let persisted = try dao.read()
                    try dao.persist(blank)
                    try expectEqual(try dao.set(field, to: value, where: .all), 1)
                    try expectSame(try dao.read(), persisted, "the row with \(Dump.text(of: value))")
                }
            }
            let blank = OptionalScalars(id: 1)
            try check(scalars, blank, \.int, [.min, -1, 0, nil, .max])
            try check(scalars, blank, \.int8, [.min, nil, .max])
            try check(scalars, blank, \.uint8, [0, 128, nil, .max])
            try check(scalars, blank, \.uint64, [0, nil, UInt64(Int64.max), UInt64(Int64.max) + 1, .max])
            try check(scalars, blank, \.bool, [true, false, nil])
            try check(scalars, blank, \.float, [-0.0, .nan, nil, .infinity, 1.1, .leastNonzeroMagnitude])
            try check(scalars, blank, \.double, HardValues.storedDoubles + [-0.0, nil, -.nan])
            try check(scalars, blank, \.decimal, [0, nil, Decimal(string: "-12.50"), .greatestFiniteMagnitude, .nan])
            try check(scalars, blank, \.string, HardValues.strings + [nil])
            try check(scalars, blank, \.data, [Data(), nil, Data([0, 255])])
            try check(scalars, blank, \.uuid, [Scalars.zero, nil, UUID()])
            try check(scalars, blank, \.url, [URL(string: "https://example.com/a?b=c#d"), nil])
            try check(scalars, blank, \.date, [.distantPast, nil, Date(timeIntervalSinceReferenceDate: 0.1)])
            try check(scalars, blank, \.duration, Duration.hard + [nil])
            try check(scalars, blank, \.mood, Mood.allCases + [nil])
            let address = Address(street: "s\0é", number: 1, tags: ["b", "a"], inner: .init(ratio: 0.5, flag: true))
            let plain = Embeddings(id: 1)
            try check(embeddings, plain, \.numbers, [[], [1, .max]])
            try check(embeddings, plain, \.gaps, [[nil, 1]])
            try check(embeddings, plain, \.perhaps, [address, nil])
            try check(embeddings, plain, \.address, [address])
            try check(embeddings, plain, \.shape, [.polygon([1], name: "n"), .point])
            try check(embeddings, plain, \.twice, [.some(.none), .none, 5])
        },
        ConformanceCase("W.setInTransaction", "W8", "T1", "T2", "T3", title: "set belongs to its transaction and savepoint") {
            context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...4))
            try expectRollback(of: database) {
                try dao.create(Item.make([5]))
                try expectEqual(try dao.set(\.number, to: 1) { $0.id >= 4 }, 2, "the rows inside")
                try expectEqual(try dao.read { $0.number == 1 }.map(\.id), [4, 5], "the rows inside")
            }
            try expectSame(try dao.read(), Item.make(1...4), "the rows after the rollback")
            guard database.capabilities.hasSavepoints else { return }
            try database.transaction {
                try dao.set(\.note, to: "outer") { $0.id == 1 }
                try expectRollback(of: database) { try dao.set(\.note, to: "inner", where: .all) }
            }
            try expectSame(try dao.read().map(\.note), ["outer", nil, nil, nil], "the notes")
        },
    ]

    private static let increases: [ConformanceCase] = [
        ConformanceCase("W.increase", "W8", "W5", title: "several fields are changed in one call, and numbers increased") {
            context in
            let (database, dao) = try context.open(with: Item.self)
            var items = Item.make(1...9)
            try dao.create(items)
            let count = try dao.update(.increase(\.number, by: 10), .set(\.note, to: "more")) { $0.number >= 60 }
            try expectEqual(count, 4, "the rows from 60 on, judged before they change")
            for index in 5...8 { (items[index].number, items[index].note) = (items[index].number + 10, "more") }
            try expectSame(try dao.read(), items)
            try expectEqual(try dao.read { $0.number > 90 }.map(\.id), [9], "the rows that an index finds")
            try dao.update(.increase(\.number, by: -100), where: Condition("name == 'Item #1'"))
            items[0].number -= 100
            try expectSame(try dao.read(), items)
            try expectEqual(try dao.read(orderedBy: .ascending(\.number)).map(\.id).first, 1)
            try expectEqual(try dao.update(.increase(\.number, by: 1)) { $0.id.in([]) }, 0, "no rows")
            try expectEqual(try dao.update(.increase(\.number, by: 0), where: .all), 9, "nothing added to all rows")
            try expectSame(try dao.read(), items)
            try expectRollback(of: database) {
                try dao.create(Item.make([10]))
                try expectEqual(try dao.update(.increase(\.number, by: 1), .set(\.name, to: "x"), where: .all), 10)
                try expectEqual(try dao.count { $0.name == "x" }, 10)
            }
            try expectSame(try dao.read(), items, "the rows after the rollback")
        },
        ConformanceCase("W.increaseKinds", "W8", "V1", title: "a sum is that of the type, and nil stays nil") { context in
            let dao = try context.dao(OptionalScalars.self)
            func check<Number: NumericFieldValue & Equatable>(
                _ field: any WritableKeyPath<OptionalScalars, Number?> & Sendable, _ start: Number, _ amount: Number,
                _ sum: Number
            ) throws {
                var row = OptionalScalars(id: 1)
                row[keyPath: field] = start
                try dao.persist([row, OptionalScalars(id: 2)])
                try expectEqual(try dao.update(.increase(field, by: amount), where: .all), 2)
                row[keyPath: field] = sum
                try expectSame(try dao.read(), [row, OptionalScalars(id: 2)], "\(start) + \(amount)")
                try expectEqual(try dao.count { _ in FieldExpression(field) == sum }, 1, "\(sum), found")
            }
            try check(\.int, .max - 1, 1, .max)
            try check(\.int, .max, .min, -1)
            try check(\.int8, -128, 127, -1)
            try check(\.int16, 1, -2, -1)
            try check(\.uint8, 250, 5, .max)
            try check(\.uint32, .max, 0, .max)
            try check(\.uint64, UInt64(Int64.max), 1, UInt64(Int64.max) + 1)
            try check(\.uint64, 1, .max - 1, .max)
            try check(\.double, 0.1, 0.2, 0.1 + 0.2)
            try check(\.double, .infinity, -1, .infinity)
            try check(\.double, .greatestFiniteMagnitude, .greatestFiniteMagnitude, .infinity)
            try check(\.float, 1.5, 0.25, 1.75)
            try check(\.decimal, Decimal(string: "0.10") ?? 0, Decimal(string: "0.2") ?? 0, Decimal(string: "0.3") ?? 0)
        },
        ConformanceCase(
            "W.increaseOverflow", "W8", "W3", title: "a sum beyond the range of its field is arithmeticOverflow, no change"
        ) { context in
            let (database, dao) = try context.open(with: OptionalScalars.self)
            var rows = (1...4).map { OptionalScalars(id: $0) }
            for index in rows.indices {
                (rows[index].int, rows[index].int8, rows[index].uint64) = (index, Int8(index), UInt64(index))
            }
            (rows[2].int, rows[2].int8, rows[2].uint64) = (.max - 1, 120, .max)
            (rows[1].int, rows[1].uint32) = (.min + 1, 1)
            try dao.create(rows)
            func refuses(_ key: UniqueID, _ field: String, _ change: FieldChange<OptionalScalars>) throws {
                for isInside in [false, database.capabilities.hasSavepoints] {
                    try expectError(.arithmeticOverflow, "increasing \(field)", entity: "optionals", key: key, field: field) {
                        let body = { try dao.update(.set(\.string, to: "changed"), change, where: .all) }
                        return try isInside ? database.transaction(body) : body()
                    }
                    try expectSame(try dao.read(), rows, "the rows after the error")
                }
            }
            try refuses(3, "int", .increase(\.int, by: 2))
            try refuses(2, "int", .increase(\.int, by: -2))
            try refuses(3, "int8", .increase(\.int8, by: 8))
            try refuses(3, "uint64", .increase(\.uint64, by: 1))
            try refuses(2, "uint32", .increase(\.uint32, by: .max))
            try database.transaction {
                try expectError(.arithmeticOverflow, entity: "optionals", key: 3, field: "int8") {
                    try dao.update(.increase(\.int8, by: 8), where: .all)
                }
                try expectEqual(try dao.update(.increase(\.int8, by: 8)) { $0.int8 < 100 }, 3, "after the error")
            }
            for index in [0, 1, 3] { rows[index].int8 = rows[index].int8.map { $0 + 8 } }
            try expectSame(try dao.read(), rows)
        },
        ConformanceCase("W.increaseUnique", "W8", "W6", title: "unique numbers that increase in one call are judged at its end") {
            context in
            let (database, dao) = try context.open(with: Member.self)
            let members = (1...5).map { Member(id: $0, email: "e\($0)", badge: $0) }
            try dao.create(members)
            for amount in [1, -1, 2, -2] {
                try expectEqual(try dao.update(.increase(\.badge, by: amount), where: .all), 5, "\(amount)")
                try expectEqual(try dao.read(\.badge), (1...5).map { $0 + (amount > 0 ? amount : 0) }, "by \(amount)")
            }
            _ = try database.transaction {
                try expectError(.uniqueViolation, entity: "member", key: 3, conflictingKey: 4, field: "badge") {
                    try dao.update(.increase(\.badge, by: 1)) { $0.id <= 3 }
                }
            }
            try expectSame(try dao.read(), members, "the rows after the error")
        },
        ConformanceCase("W.increaseRefused", "W8", "W7", "P5", title: "what cannot be set cannot be increased, nor changed twice")
        {
            context in
            let database = try context.open()
            let (proposals, topics) = (try database.dao(Proposal.self), try database.dao(Topic.self))
            try proposals.create((1...2).map { Proposal(id: $0, title: "a") })
            try expectError(.invalidQuery, entity: "proposal", field: "id") {
                try proposals.update(.increase(\.id, by: 1), where: .all)
            }
            let twice = "'title' of 'proposal' is changed twice in one call; give it one change"
            try expectError(.invalidQuery, entity: "proposal", field: "title", message: twice) {
                try proposals.update(.set(\.title, to: "b"), .set(\.title, to: "c"), where: .all)
            }
            try expectEqual(try proposals.update(.set(\.title, to: "b")) { $0.id == 2 }, 1)
            let counted = [Proposal(id: 1, title: "a", revision: 1), Proposal(id: 2, title: "b", revision: 2)]
            try expectSame(try proposals.read(), counted)
            let (ada, ben) = (Person(id: 1, name: "Ada"), Person(id: 2, name: "Ben"))
            try topics.create([Topic(id: "a", owner: ada, posts: Post.make([1])), Topic(id: "b", owner: ben)])
            try expectEqual(try topics.update(.set(\.title, to: "x")) { $0.owner.name == "Ada" }, 1, "by a related row")
            try expectSame(
                try topics.read(),
                [Topic(id: "a", title: "x", owner: ada, posts: Post.make([1])), Topic(id: "b", owner: ben)])
        },
    ]

    private static let constraints: [ConformanceCase] = [
        ConformanceCase("W.setUnique", "W8", "W6", "W3", title: "a unique value for two rows is uniqueViolation, no change") {
            context in
            let (database, dao) = try context.open(with: Member.self)
            let members = (1...5).map { Member(id: $0, email: "e\($0)", badge: $0) }
            try dao.create(members)
            func clash(_ key: UniqueID, _ other: UniqueID, _ field: String, _ body: () throws -> Int) throws {
                for isInside in [false, database.capabilities.hasSavepoints] {
                    try expectError(.uniqueViolation, "set", entity: "member", key: key, conflictingKey: other, field: field) {
                        try isInside ? database.transaction(body) : body()
                    }
                    try expectSame(try dao.read(), members, "the rows after the error")
                }
            }
            try clash(2, 1, "email") { try dao.set(\.email, to: "new", where: .all) }
            try clash(3, 5, "email") { try dao.set(\.email, to: "e5") { $0.id == 3 } }
            try clash(1, 4, "badge") { try dao.set(\.badge, to: 4) { $0.id < 3 } }
            try database.transaction {
                try expectError(.uniqueViolation, "set", entity: "member", key: 3, conflictingKey: 5, field: "email") {
                    try dao.set(\.email, to: "e5") { $0.id == 3 }
                }
                try dao.set(\.name, to: "after the error") { $0.id == 1 }
                try dao.set(\.name, to: "") { $0.id == 1 }
            }
            try expectEqual(try dao.set(\.email, to: "e5") { $0.id == 5 }, 1, "the row that has the value")
            try expectEqual(try dao.set(\.email, to: nil, where: .all), 5, "nil never collides")
            try expectEqual(try dao.set(\.email, to: "free") { $0.id == 2 }, 1)
            try expectError(.uniqueViolation, "create", entity: "member", key: 9, conflictingKey: 2, field: "email") {
                try dao.create(Member(id: 9, email: "free", badge: 9))
            }
        },
        ConformanceCase("W.setUniqueOfSeveral", "W8", "W6", title: "a unique index over several fields refuses what is set") {
            context in
            let dao = try context.dao(Seat.self)
            let seats = [Seat(id: 1, row: 1, number: 1), Seat(id: 2, row: 2, number: 1), Seat(id: 3, row: 2, number: 2)]
                .map {
                    var seat = $0
                    seat.name = "\($0.id)"
                    return seat
                }
            try dao.create(seats)
            try expectError(.uniqueViolation, "the rows", entity: "seat", key: 2, conflictingKey: 1, field: "row, number") {
                try dao.set(\.row, to: 1, where: .all)
            }
            try expectSame(try dao.read(), seats, "the rows after the error")
            try expectEqual(try dao.set(\.row, to: 1) { $0.number == 2 }, 1)
            try expectEqual(try dao.set(\.row, to: nil, where: .all), 3)
        },
        ConformanceCase("W.setRevision", "W8", "W7", title: "set counts the revision of every row up by one") { context in
            let dao = try context.dao(Proposal.self)
            try dao.create((1...3).map { Proposal(id: $0, title: "a") })
            try expectEqual(try dao.set(\.title, to: "b") { $0.id > 1 }, 2)
            try dao.set(\.title, to: "b") { $0.id == 3 }
            try expectSame(
                try dao.read(),
                [
                    Proposal(id: 1, title: "a", revision: 1), Proposal(id: 2, title: "b", revision: 2),
                    Proposal(id: 3, title: "b", revision: 3),
                ])
            try expectError(.conflict, "an outdated value", entity: "proposal", key: 2) {
                try dao.persist(Proposal(id: 2, title: "c", revision: 1))
            }
        },
        ConformanceCase("W.setReference", "W8", "R9", title: "a Reference is set to a stored row, and to no other") { context in
            let (database, errands) = try context.open(with: Errand.self)
            try database.dao(Person.self).persist((1...3).map { Person(id: $0, name: "\($0)") })
            try errands.persist((1...3).map { Errand(id: $0, title: "a", owner: Reference(1)) })
            try expectEqual(try errands.set(\.owner, to: Reference(2)) { $0.id < 3 }, 2, "rows")
            try expectEqual(
                try errands.update(.set(\.helper, to: Reference(3)), .set(\.title, to: "b")) { $0.owner.name == "2" }, 2,
                "with another field")
            try expectEqual(try errands.set(\.whole, to: Reference(1), where: .all), 3, "to rows of the same model")
            try expectEqual(try errands.set(\.helper, to: nil) { $0.id == 2 }, 1, "to none")
            let set = [
                Errand(id: 1, title: "b", whole: Reference(1), owner: Reference(2), helper: Reference(3)),
                Errand(id: 2, title: "b", whole: Reference(1), owner: Reference(2)),
                Errand(id: 3, title: "a", whole: Reference(1), owner: Reference(1)),
            ]
            try expectSame(try errands.read(), set)
            try expectEqual(try errands.read { $0.owner == Reference(2) }.map(\.id), [1, 2], "found by it")
            try expectError(.referenceViolation, entity: "errand", key: 1, conflictingKey: 9, field: "owner") {
                try errands.update(.set(\.title, to: "c"), .set(\.owner, to: Reference(9)), where: .all)
            }
            try expectError(.referenceViolation, entity: "errand", key: 3, conflictingKey: 9, field: "owner") {
                try errands.set(\.owner, to: Reference(9)) { $0.id == 3 }
            }
            try expectSame(try errands.read(), set)
        },
        ConformanceCase("W.setRefused", "W8", "L7", title: "the key, a relationship and the revision cannot be set") { context in
            let database = try context.open()
            let (topics, proposals) = (try database.dao(Topic.self), try database.dao(Proposal.self))
            try topics.create(Topic(id: "a", posts: Post.make([1])))
            try proposals.create(Proposal(id: 1, title: ""))
            func refuses(_ field: String, _ entity: String, _ message: String, _ body: () throws -> Int) throws {
                try expectError(.invalidQuery, "setting \(field)", entity: entity, field: field, message: message) { try body() }
            }
            let key = "'id' of 'topic' is the primary key, which never changes; erase the rows and create others"
            try refuses("id", "topic", key) {
                try topics.set(\.id, to: "b", where: .all)
            }
            try refuses("posts", "topic", "'posts' of 'topic' is a relationship; change it with update(where:)") {
                try topics.set(\.posts, to: [], where: .all)
            }
            try refuses("owner", "topic", "'owner' of 'topic' is a relationship; change it with update(where:)") {
                try topics.set(\.owner, to: nil, where: .all)
            }
            let counted = "'revision' of 'proposal' is the revision, which the database counts; set another field"
            try refuses("revision", "proposal", counted) { try proposals.set(\.revision, to: 9, where: .all) }
            try expectSame(try topics.read(), [Topic(id: "a", posts: Post.make([1]))])
            try expectSame(try proposals.read(), [Proposal(id: 1, title: "", revision: 1)])
        },
    ]

    private static let relations: [ConformanceCase] = [
        ConformanceCase("W.setRelated", "W8", "P5", "R8", title: "conditions on related rows select, and relationships stay") {
            context in
            let database = try context.open()
            let (topics, posts) = (try database.dao(Topic.self), try database.dao(Post.self))
            let (ada, ben) = (Person(id: 1, name: "Ada"), Person(id: 2, name: "Ben"))
            var expected = (1...4).map { number in
                Topic(
                    id: "t\(number)", owner: number < 3 ? ada : (number == 3 ? ben : nil),
                    posts: Post.make((number * 10)..<(number * 10 + number)), labels: [Label.make(1)])
            }
            try topics.create(expected)
            try expectEqual(try topics.set(\.title, to: "of Ada") { $0.owner.name == "Ada" }, 2, "the topics of Ada")
            try expectEqual(try topics.set(\.title, to: "long") { $0.posts.count >= 3 }, 2, "the topics with three posts")
            for (index, title) in ["of Ada", "of Ada", "long", "long"].enumerated() { expected[index].title = title }
            try expectSame(try topics.read(), expected)
            let isPost30 = Condition<Topic> { $0.posts.contains { $0.id == 30 } }
            try expectEqual(try topics.set(\.title, to: "one", where: isPost30 && Condition { $0.owner == ben }), 1)
            expected[2].title = "one"
            try expectSame(try topics.read(), expected)
            try posts.set(\.text, to: "set") { $0.id == 10 }
            expected[0].posts[0].text = "set"
            try expectSame(try topics.read(), expected, "the topics with the post")
        },
        ConformanceCase("W.setRevisionOfParent", "W8", "W7", title: "set counts a parent's revision, not that of its rows") {
            context in
            let database = try context.open()
            let (dossiers, remarks) = (try database.dao(Folio.self), try database.dao(Remark.self))
            let remark = Remark(id: 1, text: "r")
            try dossiers.create([Folio(id: 1, title: "a", remarks: [remark]), Folio(id: 2, title: "a", remarks: [])])
            try expectEqual(try dossiers.set(\.title, to: "b") { $0.remarks.count > 0 }, 1)
            try expectSame(try dossiers.read().map(\.revision), [2, 1])
            try expectSame(try dossiers.read().map(\.title), ["b", "a"])
            try expectSame(try remarks.read(), [Remark(id: 1, text: "r", revision: 1)])
        },
    ]
}
