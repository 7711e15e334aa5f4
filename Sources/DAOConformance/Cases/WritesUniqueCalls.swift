import DAOCore

/// W6: unique values are judged when a call ends.
enum WritesUniqueCalls {
    static let cases: [ConformanceCase] = trades + refusals + repeated + related + within

    private static func members(_ ids: some Sequence<Int>) -> [Member] {
        ids.map { Member(id: $0, email: "e\($0)", badge: $0, name: "name \($0)") }
    }

    /// The calls that store several members at once.
    private enum Way: CaseIterable {
        case persist, merge, upsert, update, translator

        func store(_ members: [Member], _ dao: DAO<Member>) throws {
            switch self {
            case .persist: try dao.persist(members)
            case .merge: _ = try dao.storage.merge(keys: members.map { .integer(Int64($0.id)) }) { $1 = members[$0] }
            case .upsert: try dao.storage.upsert(members)
            case .update:
                let places = Dictionary(uniqueKeysWithValues: members.map { ($0.id, $0) })
                try dao.update(where: { $0.id.in(members.map(\.id)) }) { $0 = places[$0.id] ?? $0 }
            case .translator: try DAO(storage: dao.storage, translator: MergingMemberTranslator()).persist(members)
            }
        }
    }

    /// Stores members in every way, and expects them.
    private static func expectStored(
        _ what: String, _ context: ConformanceContext, from before: [Member], _ changed: [Member]
    ) throws {
        let (database, dao) = try context.open(with: Member.self)
        let isNew = changed.contains { member in !before.contains { $0.id == member.id } }
        for way in Way.allCases where way != .update || !isNew {
            for isInside in [false, database.capabilities.hasSavepoints] {
                try dao.erase()
                try dao.create(before)
                if isInside {
                    try database.transaction { try way.store(changed, dao) }
                } else {
                    try way.store(changed, dao)
                }
                var expected = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
                for member in changed { expected[member.id] = member }
                let rows = expected.values.sorted { $0.id < $1.id }
                try expectSame(try dao.read(), rows, "\(what), \(way)")
                for row in rows {
                    try expectEqual(try dao.read { $0.badge == row.badge }.map(\.id), [row.id], "the badge, \(way)")
                    if let email = row.email {
                        try expectEqual(try dao.read { $0.email == email }.map(\.id), [row.id], "the email, \(way)")
                    }
                }
            }
        }
        if database.capabilities.hasEvolution { try database.expectVerified("after \(what)") }
    }

    private static let trades: [ConformanceCase] = [
        ConformanceCase(
            "W.uniqueShift", "W6", title: "the unique numbers of all rows can be counted up and down in one call"
        ) { context in
            let (database, dao) = try context.open(with: Member.self)
            for count in [5, 700] {
                try dao.erase()
                try dao.create(members(1...count))
                try expectEqual(try dao.update(where: .all) { $0.badge += 1 }, count, "rows that were counted up")
                try expectEqual(try dao.read().map(\.badge), Array(2...count + 1), "the badges")
                try expectEqual(try dao.update(where: .all) { $0.badge -= 1 }, count, "rows that were counted down")
                try expectEqual(try dao.read().map(\.badge), Array(1...count), "the badges")
                try dao.persist(members(1...count).map { Member(id: $0.id, email: "e\($0.id % count + 1)", badge: $0.badge + 1) })
                try expectEqual(try dao.read().map(\.badge), Array(2...count + 1), "the badges that were given")
                try expectEqual(try dao.read { $0.email == "e1" }.map(\.id), [count], "the row that took the first email")
            }
            try expectError(.uniqueViolation, entity: "member", key: 701, conflictingKey: 700, field: "badge") {
                try dao.create(Member(id: 701, badge: 701))
            }
            if database.capabilities.hasEvolution { try database.expectVerified("after the shifts") }
        },
        ConformanceCase(
            "W.uniqueTradesOfManyRows", "W6",
            title:
                "of tens of thousands of rows of one call those trade unique values that the call says, and the one that cannot is named",
            isHeavy: true
        ) { context in
            let dao = try context.dao(Member.self)
            var rows = members(1...30_100)
            func trade(_ first: Int) { (rows[first - 1].badge, rows[first].badge) = (rows[first].badge, rows[first - 1].badge) }
            try dao.create(rows)
            for first in [50, 10_050, 20_050, 30_050] { trade(first) }
            try dao.persist(rows)
            try expectEqual(
                try dao.read { $0.id > 10_000 }.filter { $0.badge != $0.id }.map(\.id),
                [
                    10_050, 10_051, 20_050, 20_051, 30_050, 30_051,
                ], "the rows that have traded")
            let stored = try dao.read(\.badge)
            for first in [10_060, 20_060] { trade(first) }
            rows[20_069].badge = 41
            try expectError(.uniqueViolation, entity: "member", key: 20_070, conflictingKey: 41, field: "badge") {
                try dao.persist(rows)
            }
            try expect(try dao.read(\.badge) == stored, "the badges as they were")
        },
        ConformanceCase("W.uniqueSwap", "W6", title: "two rows can trade their unique values in one call, by any write") {
            context in
            var rows = members(1...3)
            (rows[0].email, rows[1].email) = (rows[1].email, rows[0].email)
            (rows[0].badge, rows[1].badge) = (rows[1].badge, rows[0].badge)
            try expectStored("a swap", context, from: members(1...3), rows)
            try expectStored("a swap of two of the rows", context, from: members(1...3), Array(rows[..<2].reversed()))
            (rows[0].email, rows[1].email) = (nil, "e1")
            try expectStored("a swap with nil", context, from: members(1...3), rows)
        },
        ConformanceCase(
            "W.uniqueTradesApart", "W6", "W3",
            title: "rows far from each other trade their unique values, and those between them, stored and new, are all stored"
        ) { context in
            let before = members(stride(from: 1, through: 200, by: 2))
            var changed = members(1...200)
            for index in changed.indices { changed[index].name = "changed \(index)" }
            // Pairs near the beginning, in the middle and at the end: what is sent to a server at once grows from row to row.
            for first in [0, 6, 20, 90, 100, 196] {
                let (left, right) = (changed[first].badge, changed[first + 2].badge)
                (changed[first].badge, changed[first + 2].badge) = (right, left)
            }
            try expectStored("trades apart", context, from: before, changed)
        },
        ConformanceCase("W.uniqueRotation", "W6", title: "three rows can hand their unique values round in one call") { context in
            let before = members(1...5)
            for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
                let changed = order.map { place in
                    Member(
                        id: place + 1, email: "e\((place + 1) % 3 + 1)", badge: (place + 2) % 3 + 1, name: "name \(place + 1)")
                }
                try expectStored("a rotation", context, from: before, changed)
            }
        },
        ConformanceCase("W.uniqueSwapEveryKind", "W6", title: "rows trade unique values of every kind that cannot be nil") {
            context in
            let (database, dao) = try context.open(with: Signature.self)
            try dao.create((1...3).map { Signature.make($0, $0) })
            let traded = [Signature.make(1, 2), Signature.make(2, 3), Signature.make(3, 1)]
            try dao.persist(traded)
            try expectSame(try dao.read(), traded)
            for field in Signature.schema.description.fields.indices.dropFirst() {
                for place in [0, 2, 1] {
                    let value = Signature.schema.value(at: field, of: traded[place])
                    let condition = Condition<Signature>(.compare(field: field, .equal, value))
                    try expectEqual(try dao.read(where: condition).map(\.id).contains(place + 1), true, "the row by its value")
                }
            }
            if database.capabilities.hasEvolution { try database.expectVerified("after the trade") }
        },
        ConformanceCase("W.uniqueSwapOverFields", "W6", "Q9", title: "rows trade the values of an index over several fields") {
            context in
            let (database, dao) = try context.open(with: Seat.self)
            var seats = (1...4).map { Seat(id: $0, row: $0 < 4 ? 1 : nil, number: $0, name: "\($0)") }
            try dao.create(seats)
            try dao.update(where: { $0.row == 1 }) { $0.number = $0.number % 3 + 1 }
            for place in 0..<3 { seats[place].number = seats[place].number % 3 + 1 }
            try expectSame(try dao.read(), seats, "the numbers within a row")
            (seats[0].row, seats[3].row) = (nil, 1)
            (seats[0].number, seats[3].number) = (seats[3].number, seats[0].number)
            (seats[0].name, seats[3].name) = (seats[3].name, seats[0].name)
            try dao.persist([seats[3], seats[0]])
            try expectSame(try dao.read(), seats, "a place that becomes free")
            if database.capabilities.hasEvolution { try database.expectVerified("after the trades") }
        },
        ConformanceCase(
            "W.uniqueSwapPartial", "W6", "Q9", title: "rows trade values in a partial index, and come into it as others leave it"
        ) { context in
            let (database, dao) = try context.open(with: Tenant.self)
            var tenants = [
                Tenant(id: 1, name: "a"), Tenant(id: 2, name: "b"), Tenant(id: 3, name: "a", hasLeft: true),
                Tenant(id: 4, name: "c", desk: 1, badge: 1), Tenant(id: 5, name: "d", desk: 2, badge: 2),
            ]
            func change(_ what: String, _ order: [Int], _ body: (inout [Tenant]) -> Void) throws {
                body(&tenants)
                try dao.persist(order.map { tenants[$0 - 1] })
                try expectSame(try dao.read(), tenants, what)
            }
            try dao.create(tenants)
            try change("two names", [1, 2]) { ($0[0].name, $0[1].name) = ("b", "a") }
            try change("one comes in before the other leaves", [3, 2]) { ($0[2].hasLeft, $0[1].hasLeft) = (false, true) }
            try change("one leaves before the other comes in", [3, 2]) { ($0[2].hasLeft, $0[1].hasLeft) = (true, false) }
            try change("an index of two fields", [4, 5]) {
                ($0[3].name, $0[4].name, $0[3].desk, $0[4].desk) = ("d", "c", 2, 1)
            }
            try expectError(.uniqueViolation, entity: "tenant", key: 3, conflictingKey: 2, field: "name") {
                try dao.set(\.hasLeft, to: false) { $0.id > 1 }
            }
            try expectSame(try dao.read(), tenants, "after the refusal")
            if database.capabilities.hasEvolution { try database.expectVerified("after the trades") }
        },
        ConformanceCase(
            "W.uniqueTakenByNew", "W6", "W1", title: "a new row takes a unique value that a later row of the call gives up"
        ) { context in
            try expectStored(
                "a new row", context, from: members(1...2),
                [Member(id: 9, email: "e1", badge: 2), Member(id: 1, email: "e9", badge: 9), Member(id: 2, email: nil, badge: 1)])
        },
        ConformanceCase(
            "W.uniqueRepeatedRow", "W6", "W4", "W2",
            title: "a row that waits is given again: the last value counts, and a closure gets what it has left"
        ) { context in
            let (_, dao) = try context.open(with: Member.self)
            func renew() throws {
                try dao.erase()
                try dao.create(members(1...3))
            }
            let changed = [
                Member(id: 1, email: "e2", badge: 2), Member(id: 1, email: "free", badge: 7),
                Member(id: 3, email: "e1", badge: 1),
            ]
            for isMerged in [false, true] {
                try renew()
                try (isMerged ? Way.merge : .upsert).store(changed, dao)
                try expectSame(try dao.read().map(\.badge), [7, 2, 1], "the badges")
                try expectSame(try dao.read().map(\.email), ["free", "e2", "e1"], "the emails")
            }
            try renew()
            _ = try dao.storage.merge(keys: [.integer(1), .integer(1), .integer(2), .integer(9), .integer(9)]) { index, member in
                switch index {
                case 0: member?.badge = 2
                case 1:
                    try expectEqual(member?.badge, 2, "the badge that the closure has left")
                    member?.name = "again"
                case 2: member?.badge = 1
                case 3: member = Member(id: 9, email: "e3", badge: 9)
                default:
                    try expectEqual(member?.email, "e3", "the new row that the closure has left")
                    member?.email = "e9"
                }
            }
            try expectSame(try dao.read().map(\.badge), [2, 1, 3, 9], "the badges")
            try expectEqual(try dao.read(byPrimaryKey: 1)?.name, "again", "the name")
            try expectError(.duplicateKey, entity: "member", key: 5, field: "id") {
                try dao.create([Member(id: 5, email: "e1", badge: 5), Member(id: 5, email: "e5", badge: 5)])
            }
        },
        ConformanceCase(
            "W.uniqueSwapOfRows", "W6", "E8", title: "rows without types trade their unique values", requires: [.snapshotReads]
        ) {
            context in
            let (database, dao) = try context.open(with: Member.self)
            try dao.create(members(1...3))
            try database.rows(of: "member").persist([
                ["id": .integer(1), "badge": .integer(2)], ["id": .integer(2), "badge": .integer(3)],
                ["id": .integer(3), "badge": .integer(1)],
            ])
            try expectEqual(try dao.read().map(\.badge), [2, 3, 1])
            try expectEqual(try dao.read().map(\.email), ["e1", "e2", "e3"])
        },
    ]

    private static let refusals: [ConformanceCase] = [
        ConformanceCase(
            "W.uniqueStays", "W6", "W3", "T2",
            title: "the first row that still collides at the end of a call is named, and nothing of the call is stored"
        ) { context in
            let (database, dao) = try context.open(with: Member.self)
            let rows = members(1...6)
            try dao.create(rows)
            func expectRefused(
                _ what: String, _ changed: [Member], _ key: UniqueID, _ other: UniqueID, _ field: String
            ) throws {
                for way in Way.allCases where way != .update {
                    try expectError(
                        .uniqueViolation, "\(what), \(way)", entity: "member", key: key, conflictingKey: other, field: field
                    ) { try way.store(changed, dao) }
                    try expectSame(try dao.read(), rows, "the rows after \(what), \(way)")
                    guard database.capabilities.hasSavepoints else { continue }
                    try database.transaction {
                        try dao.set(\.name, to: "in the transaction") { $0.id == 6 }
                        try expectError(
                            .uniqueViolation, what, entity: "member", key: key, conflictingKey: other, field: field
                        ) { try way.store(changed, dao) }
                        try expectEqual(try dao.read { $0.name == "in the transaction" }.map(\.id), [6], "the transaction")
                        try dao.set(\.name, to: "name 6") { $0.id == 6 }
                    }
                    try expectSame(try dao.read(), rows, "the rows after the transaction, \(way)")
                }
            }
            try expectRefused(
                "a row that the call does not store",
                [
                    Member(id: 2, email: "e2", badge: 3), Member(id: 3, email: "e3", badge: 2),
                    Member(id: 1, email: "e5", badge: 1),
                ],
                1, 5, "email")
            try expectRefused(
                "two rows for one value",
                [
                    Member(id: 1, email: "e3", badge: 1), Member(id: 2, email: "e3", badge: 2),
                    Member(id: 3, email: "free", badge: 3),
                ], 2, 1, "email")
            try expectRefused(
                "a value that was free in its turn",
                [
                    Member(id: 1, email: "e3", badge: 1), Member(id: 3, email: "free", badge: 3),
                    Member(id: 2, email: "e3", badge: 2),
                ], 1, 2, "email")
            try expectRefused(
                "a chain whose end is taken",
                (1...4).map { Member(id: $0, email: "e\($0)", badge: $0 + 1) }, 4, 5, "badge")
            // A row that waits keeps what it does not change.
            try expectRefused(
                "a value that a row keeps, which waits for another row",
                [
                    Member(id: 1, email: "e2", badge: 1), Member(id: 2, email: "e2", badge: 3),
                    Member(id: 3, email: "e3", badge: 9),
                ],
                2, 1, "email")
            try expectRefused(
                "a value that a row keeps, which waits for the row that takes it",
                [Member(id: 1, email: "e2", badge: 9), Member(id: 2, email: "e2", badge: 1)], 2, 1, "email")
            // A row that waits has given up its values, also those that another row would name first.
            try expectRefused(
                "a new row that collides with a row of its call that waits, too",
                [
                    Member(id: 7, email: "new", badge: 6), Member(id: 8, email: "new", badge: 8),
                    Member(id: 8, email: nil, badge: 6),
                ],
                7, 6, "badge")
            try expectRefused(
                "a new row that collides with a stored row that waits, too",
                [Member(id: 7, email: "e1", badge: 6), Member(id: 1, email: "free", badge: 6)], 7, 6, "badge")
            try expectRefused(
                "the same in the other order",
                [Member(id: 1, email: "free", badge: 6), Member(id: 7, email: "e1", badge: 6)], 1, 6, "badge")
        },
        ConformanceCase(
            "W.uniqueStaysMany", "W6", "W3", title: "one row of many that still collides is named, and no row is changed"
        ) { context in
            let (_, dao) = try context.open(with: Member.self)
            let rows = members(1...600)
            try dao.create(rows)
            try expectError(.uniqueViolation, entity: "member", key: 599, conflictingKey: 600, field: "badge") {
                try dao.update(where: { $0.id < 600 }) { $0.badge += 1 }
            }
            try expectSame(try dao.read(), rows, "the rows after the error")
        },
    ]

    private static let repeated: [ConformanceCase] = [
        ConformanceCase(
            "W.uniqueRepeatedNew", "W6", "W1", "W3",
            title: "of new rows the first is named whose key is stored or given before, also where that one waits"
        ) { context in
            let (_, dao) = try context.open(with: Member.self)
            let rows = members(1...3)
            try dao.create(rows)
            func new(_ id: Int, _ badge: Int? = nil) -> Member { Member(id: id, email: "n\(badge ?? id)", badge: badge ?? id) }
            let lists: [(what: String, rows: [Member], key: UniqueID)] = [
                ("a stored row before a repeated one that waits", [new(10, 1), new(2), new(10, 11)], 2),
                ("a stored row that collides", [new(10, 1), new(2, 3), new(10, 11)], 2),
                ("a row that waits, given again before a stored row", [new(10, 1), new(10, 11), new(2)], 10),
                ("a row that waits twice", [new(10, 1), new(10, 2), new(3)], 10),
                ("a row that waits, given again at the end", [new(10, 1), new(12), new(10, 11)], 10),
                ("a repeated row between", [new(10, 1), new(12), new(12, 13), new(10, 11)], 12),
                (
                    "two rows that wait, of which the second is given again first",
                    [new(10, 1), new(12, 2), new(12, 13), new(10)], 12
                ),
                ("a row that is given again and then waits", [new(10), new(12, 1), new(10, 2), new(12)], 10),
                ("a row that a later one of the call makes wait", [new(10, 20), new(12, 20), new(12, 21), new(2)], 12),
            ]
            // Long calls are sent otherwise than short ones.
            for between in [0, 40, 1200] {
                for (what, given, key) in lists {
                    let others = (0..<between).map { Member(id: 1000 + $0, email: nil, badge: 1000 + $0) }
                    for created in between == 0 ? [given] : [others + given, Array(given[..<1] + others + given[1...])] {
                        try expectError(.duplicateKey, "\(what), \(between) others", entity: "member", key: key, field: "id") {
                            try dao.create(created)
                        }
                    }
                    try expectSame(try dao.read(), rows, "the rows after \(what)")
                }
            }
        },
        ConformanceCase(
            "W.uniqueAfterOtherErrors", "W6", "K3", "W3",
            title: "the error of a row in its turn is thrown, not that of a row before it that waits"
        ) { context in
            let (_, tokens) = try context.open(with: Token.self)
            let rows = [Token(id: "a", code: 1), Token(id: "b", code: 2)]
            try tokens.create(rows)
            for between in [0, 40, 1200] {
                let others = (0..<between).map { Token(id: "other \($0)", code: 1000 + $0) }
                let given = [Token(id: "c", code: 1)] + others + [Token(id: String(repeating: "k", count: 100_000), code: 3)]
                try expectError(.invalidKey, "create, \(between) others", entity: "token") { try tokens.create(given) }
                try expectError(.invalidKey, "persist, \(between) others", entity: "token") { try tokens.persist(given) }
                try expectSame(try tokens.read(), rows, "the rows after \(between) others")
            }
        },
    ]

    private static let related: [ConformanceCase] = [
        ConformanceCase(
            "W.uniqueInLists", "W6", "R1", "W7",
            title: "rows of lists trade unique values in a write of their parents, and count it once"
        ) { context in
            let (database, queues) = try context.open(with: Queue.self)
            let entries = try database.dao(QueueEntry.self)
            func queue(_ id: Int, _ ids: Range<Int>) -> Queue {
                Queue(id: id, name: "queue \(id)", entries: ids.map { QueueEntry(id: $0, rank: $0, note: "note \($0)") })
            }
            try queues.create([queue(1, 1..<4), queue(2, 4..<6)])
            var stored = try queues.read()
            try expectEqual(stored.map { $0.entries.map(\.id) }, [[1, 2, 3], [4, 5]], "the lists at first")
            func store(_ what: String) throws {
                for place in stored.indices {
                    try queues.persist(stored[place])
                    for entry in stored[place].entries.indices {
                        let id = stored[place].entries[entry].id
                        stored[place].entries[entry].revision = try require(entries.read(byPrimaryKey: UniqueID(id)), what)
                            .revision
                    }
                }
                try expectSame(try queues.read(), stored, what)
            }
            stored[0].entries.reverse()
            for place in 0..<3 { stored[0].entries[place].rank = place + 1 }
            try store("a list in another order")
            for place in 0..<2 { stored[1].entries[place].rank = 5 - place }
            try store("two rows of a list")
            // The rows of two lists trade their ranks, in one call.
            (stored[0].entries[0].rank, stored[1].entries[0].rank) = (stored[1].entries[0].rank, stored[0].entries[0].rank)
            (stored[0].name, stored[1].name) = (stored[1].name, stored[0].name)
            let before = try entries.read(byPrimaryKey: UniqueID(stored[0].entries[0].id))?.revision
            try queues.persist(stored)
            for place in stored.indices {
                for entry in stored[place].entries.indices {
                    let id = UniqueID(stored[place].entries[entry].id)
                    stored[place].entries[entry].revision = try require(entries.read(byPrimaryKey: id), "an entry").revision
                }
            }
            try expectSame(try queues.read(), stored, "rows of two lists")
            try expectEqual(stored[0].entries[0].revision, before?.next, "the writes of a row that has waited")
            // A new row takes the rank of one that is moved, and the name of another list.
            stored[0].entries.insert(QueueEntry(id: 9, rank: stored[1].entries[1].rank, revision: Revision()), at: 0)
            stored[1].entries[1].rank = 77
            try queues.persist(stored)
            try expectEqual(try queues.read().map { $0.entries.map(\.rank) }, stored.map { $0.entries.map(\.rank) }, "a new row")
            try expectError(.uniqueViolation, entity: "queueEntry", key: 9, conflictingKey: 5, field: "rank") {
                try queues.update(where: { $0.id == 1 }) { queue in
                    for entry in queue.entries.indices.prefix(1) { queue.entries[entry].rank = 77 }
                }
            }
            try expectEqual(try queues.read().map { $0.entries.map(\.rank) }, stored.map { $0.entries.map(\.rank) }, "after all")
            if database.capabilities.hasEvolution { try database.expectVerified("after the trades") }
        },
        ConformanceCase(
            "W.uniqueOfParents", "W6", "R3", title: "parents trade unique values in a call that also changes their lists"
        ) { context in
            let (database, queues) = try context.open(with: Queue.self)
            let entries = try database.dao(QueueEntry.self)
            try queues.create(
                (1...3).map { Queue(id: $0, name: "queue \($0)", entries: [QueueEntry(id: $0, rank: $0)]) })
            try queues.update(where: .all) { queue in
                queue.name = "queue \(queue.id % 3 + 1)"
                if queue.id == 1 { queue.entries = [] }
            }
            try expectEqual(try queues.read().map(\.name), ["queue 2", "queue 3", "queue 1"], "the names")
            try expectEqual(try entries.read().map(\.id), [2, 3], "the entries")
            try expectEqual(try queues.read().map { $0.entries.map(\.id) }, [[], [2], [3]], "the lists")
        },
    ]

    private static let within: [ConformanceCase] = [
        ConformanceCase(
            "W.uniqueCallInside", "W6", "W9", "T3",
            title: "code inside a call sees rows that wait as they were, its calls are judged at their end, and their writes stay"
        ) { context in
            let (database, dao) = try context.open(with: Member.self)
            guard database.capabilities.hasSavepoints else { return }
            for isPersisted in [false, true] {
                try dao.erase()
                try dao.create(members(1...5))
                let change: @Sendable (inout Member) throws -> Void = { member in
                    if member.id == 2 {
                        try expectEqual(try dao.read(byPrimaryKey: 1)?.badge, 1, "the row that waits")
                        try expectError(.uniqueViolation, "inside", entity: "member", key: 9, conflictingKey: 1, field: "badge") {
                            try dao.create(Member(id: 9, badge: 1))
                        }
                        try dao.set(\.name, to: "from inside") { $0.id == 1 }
                        // Rows that do not wait trade their values.
                        let (four, five) = (Member(id: 4, email: "e5", badge: 4), Member(id: 5, email: "e4", badge: 5))
                        try dao.persist([four, five])
                    }
                    if member.id == 4 { try dao.erase(byPrimaryKey: 3) }
                    member.badge += 1
                }
                if isPersisted {
                    try DAO(storage: dao.storage, translator: ChangingTranslator(change: change)).persist(members(1...5))
                } else {
                    try dao.update(where: .all, change)
                }
                let rows = try dao.read()
                try expectEqual(rows.map(\.id), [1, 2, 4, 5], "the rows")
                try expectEqual(rows.map(\.badge), [2, 3, 5, 6], "the badges")
                try expectEqual(rows.map(\.email), ["e1", "e2", "e5", "e4"], "the emails")
                try expectEqual(rows[0].name, "from inside", "what code inside has stored")
            }
            if database.capabilities.hasEvolution { try database.expectVerified("after the calls") }
        },
        ConformanceCase(
            "W.uniqueCallInsideCounts", "W6", "W7", "W9",
            title: "the Revision of a row that waits counts on from what code inside has stored"
        ) { context in
            let (database, entries) = try context.open(with: QueueEntry.self)
            guard database.capabilities.hasSavepoints else { return }
            for isPersisted in [false, true] {
                try entries.erase()
                try entries.create((1...3).map { QueueEntry(id: $0, rank: $0) })
                let change: @Sendable (inout QueueEntry) throws -> Void = { entry in
                    if entry.id == 2 { try entries.update(where: { $0.id == 1 }) { $0.note = "from inside" } }
                    if entry.id == 3 { try entries.update(where: { $0.id == 1 }) { _ in } }
                    entry.rank += 1
                }
                if isPersisted {
                    let dao = DAO(storage: entries.storage, translator: ChangingTranslator(change: change))
                    try dao.persist(try entries.read())
                } else {
                    try entries.update(where: .all, change)
                }
                var expected = (1...3).map { QueueEntry(id: $0, rank: $0 + 1, revision: 2) }
                (expected[0].note, expected[0].revision) = ("from inside", 4)
                try expectSame(try entries.read(), expected)
            }
        },
        ConformanceCase(
            "W.uniqueCallInsideErases", "W6", "W9", "R8", "R9",
            title: "a row that waits has no to-one whose row code inside has erased"
        ) { context in
            let (database, lockers) = try context.open(with: Locker.self)
            guard database.capabilities.hasSavepoints else { return }
            let people = try database.dao(Person.self)
            let (ada, bob) = (Person(id: 1, name: "Ada"), Person(id: 2, name: "Bob"))
            let before = [
                Locker(id: 1, number: 1), Locker(id: 2, number: 2, keeper: ada), Locker(id: 3, number: 3, keeper: bob),
            ]
            for isPersisted in [false, true] {
                func run(_ change: @escaping @Sendable (inout Locker) throws -> Void) throws {
                    if isPersisted {
                        try DAO(storage: lockers.storage, translator: ChangingTranslator(change: change)).persist(before)
                    } else {
                        try lockers.update(where: .all, change)
                    }
                }
                try lockers.erase()
                try people.persist([ada, bob])
                try lockers.create(before)
                try run { locker in
                    if locker.id == 1 { locker.keeper = ada }
                    if locker.id == 3 { try people.erase(byPrimaryKey: 1) }
                    locker.number += 1
                }
                try expectSame(
                    try lockers.read(),
                    [Locker(id: 1, number: 2), Locker(id: 2, number: 3), Locker(id: 3, number: 4, keeper: bob)])
                try expectEqual(try people.read().map(\.id), [2], "the people")
            }
            if database.capabilities.hasEvolution { try database.expectVerified("after the calls") }
        },
        ConformanceCase(
            "W.uniqueCallInsideErasesTarget", "W6", "W9", "R10",
            title: "a row that waits has no Reference to a row that code inside has erased"
        ) { context in
            let (database, lockers) = try context.open(with: Locker.self)
            guard database.capabilities.hasSavepoints else { return }
            let people = try database.dao(Person.self)
            let before = [
                Locker(id: 1, number: 1), Locker(id: 2, number: 2, guest: Reference(1)),
                Locker(id: 3, number: 3, guest: Reference(2)),
            ]
            for isPersisted in [false, true] {
                try lockers.erase()
                try people.persist([Person(id: 1, name: "Ada"), Person(id: 2, name: "Bob")])
                try lockers.create(before)
                let change: @Sendable (inout Locker) throws -> Void = { locker in
                    if locker.id == 3 { try people.erase(byPrimaryKey: 1) }
                    locker.number += 1
                }
                if isPersisted {
                    try DAO(storage: lockers.storage, translator: ChangingTranslator(change: change)).persist(before)
                } else {
                    try lockers.update(where: .all, change)
                }
                try expectSame(
                    try lockers.read(),
                    [Locker(id: 1, number: 2), Locker(id: 2, number: 3), Locker(id: 3, number: 4, guest: Reference(2))])
            }
            try database.expectVerified()
        },
        ConformanceCase(
            "W.uniqueKeyTwice", "W4", "W6",
            title: "a merge that gets a key twice gives its code the row that waits, and stores the last"
        ) { context in
            let (_, lockers) = try context.open(with: Locker.self)
            try lockers.create([Locker(id: 1, number: 1), Locker(id: 2, number: 2)])
            var seen: [Int?] = []
            let stored = try lockers.storage.merge(keys: [1, 2, 1].map { .integer($0) }) { index, locker in
                seen.append(locker?.number)
                locker?.number = [2, 1, 3][index]
            }
            try expectEqual(stored, 3, "the number of stored rows")
            try expectEqual(seen, [1, 2, 2], "what the code got")
            try expectEqual(try lockers.read().map(\.number), [3, 1], "the rows")
        },
    ]
}

/// A translator that merges the unique values, and leaves the name.
private struct MergingMemberTranslator: Translator {
    func translate(model: Member) throws -> Member { model }
    func translate(plain: Member) throws -> Member { plain }
    func translate(from plain: Member, to model: inout Member) throws {
        (model.email, model.badge, model.name) = (plain.email, plain.badge, plain.name)
    }
}

/// A translator whose merge is a closure.
private struct ChangingTranslator<Record: Model & Plain>: Translator {
    let change: @Sendable (inout Record) throws -> Void

    func translate(model: Record) throws -> Record { model }
    func translate(plain: Record) throws -> Record { plain }
    func translate(from plain: Record, to model: inout Record) throws { try change(&model) }
}
