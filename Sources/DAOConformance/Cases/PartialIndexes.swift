import DAOCore
import Foundation

/// Q9, W6, E2: partial indexes.
enum PartialIndexes {
    static let cases = queries + writes + evolution.requiring(.evolution)

    private static let queries: [ConformanceCase] = [
        ConformanceCase(
            "Q.partialIndexes", "Q9", "Q1", title: "with partial indexes, conditions and orders answer the same", isHeavy: true
        ) {
            context in
            let reference = try ReferenceRows(context, Parcel.make(100))
            for condition in conditions {
                for order in orders {
                    try reference.checkReference(Query(where: condition, orderedBy: order))
                    try reference.checkReference(Query(where: condition, orderedBy: order, limit: 5, offset: 1))
                }
            }
        },
        ConformanceCase(
            "Q.deepestIndexCondition", "Q9", "L5", "P7",
            title:
                "the deepest condition of an index works on a stack of 512 KiB, also when the catalog is read again; no deeper one"
        ) { context in
            let run = Background(stackSize: 512 << 10) {
                var (database, dao) = try context.open(with: DeepInCondition.self)
                let rows = (0..<300).map { DeepInCondition(id: $0, rank: $0 % 7) }
                try dao.create(rows)
                let condition = DeepInCondition.deepest
                for round in 1...2 {
                    let expected = try Query(where: condition).resolved().evaluate(over: rows)
                    try expect(expected.count > 20 && expected.count < 280, "some of the rows")
                    try expectSame(try dao.read(where: condition), expected, "the rows in opening \(round)")
                    let order = Query(where: condition, orderedBy: [Sort<DeepInCondition>.descending(\.rank)], limit: 20)
                    try expectSame(try dao.read(order), try order.resolved().evaluate(over: rows), "their order")
                    let described = try database.entities().first { $0.name == "well" }?.indexes.first?.condition
                    try expectEqual("\(try require(described, "the index"))".filter { $0 == "(" }.count, 14, "its levels")
                    try database.expectVerified()
                    if round == 1 {
                        try context.renew(&database)
                        dao = try database.dao(DeepInCondition.self)
                    }
                }
            }
            try run.wait(seconds: 50, "a condition of 16 levels")
            try expectError(.invalidSchema, "17 levels", entity: "deeper_well", field: "rank") {
                try context.openOther().storage(for: TooDeepInCondition.self)
            }
        },
        ConformanceCase(
            "Q.partialIndexWrites", "Q9", "W3", "W8",
            title: "rows enter and leave a partial index with every write, and every undone one", isHeavy: true
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Parcel.self)
            let storage = try database.storage(for: Parcel.self)
            var rows = Parcel.make(120)
            try dao.create(rows)
            func check(_ what: String) throws {
                for condition in conditions {
                    var count = 0
                    for order in [[], [Sort<Parcel>.descending(\.weight)], [.ascending(\.sender), .descending(\.weight)]] {
                        let query = Query(where: condition, orderedBy: order)
                        let expected = try query.resolved().evaluate(over: rows)
                        try expectSame(try dao.read(query), expected, "\(query) after \(what)")
                        count = expected.count
                    }
                    try expectEqual(
                        try dao.count(Query(where: condition)), count, "the count of \(condition) after \(what)")
                }
            }
            for index in rows.indices where index % 3 == 0 { rows[index].isRead.toggle() }
            for index in rows.indices where index % 4 == 0 { rows[index].sender = index % 8 == 0 ? nil : 2 }
            try dao.persist(rows.filter { $0.id % 3 == 1 || $0.id % 4 == 1 })
            try check("persist")
            _ = try storage.update(Query(where: Condition { $0.id <= 40 })) { $0.state = $0.id % 2 == 0 ? nil : "a" }
            for index in 0..<40 { rows[index].state = rows[index].id % 2 == 0 ? nil : "a" }
            try check("update")
            try dao.set(\.isRead, to: false) { $0.id > 50 && $0.id <= 70 }
            for index in 50..<70 { rows[index].isRead = false }
            try check("set")
            try dao.erase { $0.id > 100 }
            rows.removeLast(20)
            try check("erase")
            try expectRollback(of: database) {
                try dao.erase { !$0.isRead }
                try dao.set(\.sender, to: nil) { $0.id > 30 }
            }
            try check("a transaction that was undone")
        },
        ConformanceCase(
            "Q.partialIndexQuotes", "Q9", "P2",
            title: "the text of a partial index can have quotes and backslashes before combining marks"
        ) { context in
            let dao = try context.dao(Accented.self)
            let texts = Accented.texts + ["'", "\\", "\"", "''", "'a"]
            try dao.create(texts.enumerated().map { Accented(id: $0, text: $1) })
            for (id, text) in texts.enumerated() {
                try expectEqual(try dao.read { $0.text == text }.map(\.id), [id], text)
                try expectEqual(try dao.read { $0.text == text && $0.id >= id }.map(\.id), [id], text)
            }
        },
        ConformanceCase(
            "E.defaultQuotes", "E2", "P2",
            title: "the default of an added field can have quotes and backslashes before combining marks",
            requires: [.evolution, .persistence]
        ) { context in
            let (database, dao) = try context.open(with: Accented.self)
            try dao.create((1...3).map { Accented(id: $0, text: "\($0)") })
            try database.close()
            let noted = try context.open().dao(AccentedNote.self)
            try expectEqual(try noted.read().map(\.note), Array(repeating: AccentedNote.added, count: 3))
            try expectEqual(try noted.count { $0.note == AccentedNote.added }, 3)
        },
        ConformanceCase(
            "Q.partialIndexBesideOthers", "Q9", "W6",
            title: "the partial indexes of entities that a transaction writes in turn are their own"
        ) { context in
            let database = try context.open()
            let (parcels, tenants) = (try database.dao(Parcel.self), try database.dao(Tenant.self))
            var rows = Parcel.make(60)
            func write() throws {
                for index in rows.indices {
                    try parcels.persist(rows[index])
                    try tenants.persist(Tenant(id: index, name: "\(index)", hasLeft: rows[index].isRead, desk: index, badge: 1))
                }
            }
            try database.transaction(write)
            for index in rows.indices { rows[index].isRead.toggle() }
            try database.transaction(write)
            for isRead in [false, true] {
                let expected = rows.filter { $0.isRead == isRead }
                try expectEqual(try parcels.read { $0.isRead == isRead }.map(\.id), expected.map(\.id), "the parcels")
                try expectEqual(
                    try tenants.read { $0.hasLeft == isRead && $0.name != nil }.map(\.id), expected.map { $0.id - 1 },
                    "the tenants")
            }
        },
        invalid("of a text", says: "cannot have", TextInCondition.self, field: "rank"),
        invalid("of two fields", says: "cannot have", FieldsInCondition.self, field: "rank"),
        invalid("of an embedded value's part", says: "cannot have", PartInCondition.self, field: "rank"),
        invalid("that every row meets", says: "every row", AlwaysInCondition.self, field: "rank"),
        invalid("that no row meets", says: "no row", NeverInCondition.self, field: "rank"),
        invalid("on a relationship", says: "not valid", RelatedInCondition.self, field: "holder"),
        invalid("with too many values", says: "101", ManyInCondition.self, field: "rank"),
    ]

    private static let writes: [ConformanceCase] = [
        ConformanceCase(
            "W.uniquePartial", "W6", "W3", title: "in a unique partial index only rows that meet its condition collide"
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Tenant.self)
            let storage = try database.storage(for: Tenant.self)
            try dao.create([
                Tenant(id: 1, name: "Ada", hasLeft: true), Tenant(id: 2, name: "Ada", hasLeft: true), Tenant(id: 3, name: "Ada"),
                Tenant(id: 4, name: nil), Tenant(id: 5, name: nil), Tenant(id: 6, name: "Bo", desk: 7, badge: 1),
                Tenant(id: 7, name: "Bo", hasLeft: true, desk: 7), Tenant(id: 8, name: "Bo", hasLeft: true, desk: 8, badge: 2),
                Tenant(id: 9, name: "Bo", hasLeft: true, desk: -8, badge: 2),
                Tenant(id: 10, name: "Bo", hasLeft: true, desk: -8, badge: 2),
            ])
            let before = try Dump.rows(of: storage)
            for (what, body): (String, () throws -> Void) in [
                ("create", { try dao.create([Tenant(id: 20, name: "Cy"), Tenant(id: 11, name: "Ada")]) }),
                ("persist", { try dao.persist(Tenant(id: 11, name: "Ada")) }),
                ("upsert", { try storage.upsert([Tenant(id: 11, name: "Ada")]) }),
            ] {
                try expectError(.uniqueViolation, what, entity: "tenant", key: 11, conflictingKey: 3, field: "name", body)
            }
            try expectError(.uniqueViolation, "a row comes in", entity: "tenant", key: 2, conflictingKey: 3, field: "name") {
                try dao.persist(Tenant(id: 2, name: "Ada"))
            }
            try expectError(.uniqueViolation, "set", entity: "tenant", key: 1, conflictingKey: 3, field: "name") {
                try dao.set(\.hasLeft, to: false) { $0.id == 1 }
            }
            try expectError(
                .uniqueViolation, "a condition of two fields", entity: "tenant", key: 7, conflictingKey: 6, field: "desk, name"
            ) {
                _ = try storage.update(Query(where: Condition { $0.id == 7 })) { $0.badge = 3 }
            }
            try expectEqual(try Dump.rows(of: storage), before, "the rows after the errors")
            try dao.persist(Tenant(id: 3, name: "Ada", hasLeft: true))
            try dao.persist(Tenant(id: 1, name: "Ada"))
            try expectEqual(try dao.read { $0.name == "Ada" && !$0.hasLeft }.map(\.id), [1])
            try dao.erase(byPrimaryKey: 1)
            try dao.persist(Tenant(id: 2, name: "Ada"))
            try expectEqual(try dao.read { $0.name == "Ada" && $0.hasLeft == false }.map(\.id), [2])
        },
        ConformanceCase("W.uniquePartialOfMany", "W6", title: "a call that stores thousands of rows names the refused one") {
            context in
            let dao = try context.dao(Tenant.self)
            for count in [3000, 4999, 5000, 5001] {
                var members = (1...count).map { Tenant(id: $0, name: "\($0 % 1000)", hasLeft: $0 > 1000) }
                try dao.create(members)
                try dao.erase { $0.id > 0 }
                (members[2500].hasLeft, members[1700].hasLeft) = (false, false)
                try expectError(
                    .uniqueViolation, "\(count) rows", entity: "tenant", key: 1701, conflictingKey: 701, field: "name"
                ) { try dao.create(members) }
                try expectEqual(try dao.count(), 0, "the rows of \(count)")
                // The index is there still.
                try dao.create(members[700])
                try expectError(.uniqueViolation, "one row", entity: "tenant", key: 1701, conflictingKey: 701, field: "name") {
                    try dao.create(members[1700])
                }
                try expectEqual(try dao.read { $0.name == "701" && !$0.hasLeft }.map(\.id), [701], "the row by the index")
                try dao.erase()
            }
        },
    ]

    private static let evolution: [ConformanceCase] = [
        ConformanceCase(
            "E.partialIndexes", "E2", "Q9",
            title: "a partial index is added, follows renames, changes with its condition and is dropped"
        ) { context in
            var (database, notes) = try context.databaseOfNotes(400)
            func expected(_ query: Query<NoteV1>) throws -> [Int] { try query.resolved().evaluate(over: notes).map(\.id) }
            let dao = try database.dao(NoteWithPartialIndex.self)
            try expectEqual(
                try database.entities().first?.indexes.map(\.description),
                ["rank where mark == nil", "rank, title descending where rank > 3"], "the indexes")
            try expectEqual(
                try dao.read(orderedBy: .descending(\.rank)) { $0.mark == nil }.map(\.id),
                try expected(Query(where: Condition { $0.mark == nil }, orderedBy: [.descending(\.rank)])))
            notes[10].mark = nil
            notes[2].mark = "new"
            for id in [11, 3] {
                let note = notes[id - 1]
                try dao.persist(NoteWithPartialIndex(id: id, title: note.title, rank: note.rank, mark: note.mark))
            }
            try context.renew(&database)
            let other = try database.dao(NoteWithOtherPartialIndex.self)
            try expectEqual(try database.entities(), [NoteWithOtherPartialIndex.schema.storedDescription], "the entities")
            try expectEqual(
                try other.read(orderedBy: .ascending(\.rank)) { $0.sign == nil }.map(\.id),
                try expected(Query(where: Condition { $0.mark == nil }, orderedBy: [.ascending(\.rank)])))
            try expectEqual(
                try other.read(orderedBy: .ascending(\.rank), .descending(\.title)) { $0.rank > 30 }.map(\.id),
                try expected(Query(where: Condition { $0.rank > 30 }, orderedBy: [.ascending(\.rank), .descending(\.title)])))
            try context.renew(&database)
            _ = try database.dao(NoteWithOtherPartialIndex.self)
            try expectEqual(try database.entities(), [NoteWithOtherPartialIndex.schema.storedDescription], "opened again")
            try context.renew(&database)
            // To the first model the field has been renamed, or is a new one.
            try expectError(.schemaMismatch, entity: "note") { try database.storage(for: NoteWithPartialIndex.self) }
            try expectEqual(try database.entities(), [NoteWithOtherPartialIndex.schema.storedDescription], "unchanged")
        },
        ConformanceCase(
            "E.refusesCollidingPartialIndex", "E2", "W6",
            title: "a partial index becomes unique unless rows that meet its condition are equal"
        ) { context in
            var (database, notes) = try context.databaseOfNotes()
            (notes[1].title, notes[3].title, notes[4].title) = ("same", "same", "same")
            (notes[2].title, notes[8].title) = ("nil", "nil")
            try database.dao(NoteV1.self).persist(notes)
            let before = try database.entities()
            try context.renew(&database)
            try expectError(.uniqueViolation, entity: "note", key: 9, conflictingKey: 3, field: "title") {
                try database.storage(for: NoteWithUniquePartialIndex.self)
            }
            try expectEqual(try database.entities(), before, "the entities")
            try database.dao(NoteV1.self).erase(byPrimaryKey: 9)
            try context.renew(&database)
            let dao = try database.dao(NoteWithUniquePartialIndex.self)
            try expectEqual(try dao.count(), 59)
            try expectError(.uniqueViolation, "a row comes in", entity: "note", key: 9, conflictingKey: 3, field: "title") {
                try dao.create(NoteWithUniquePartialIndex(id: 9, title: "nil", rank: 1, mark: nil))
            }
        },
        ConformanceCase(
            "E.partialIndexOfRetired", "E6", "E7", "W6",
            title: "a partial index stays in force where a model or a part lacks a field of it"
        ) { context in
            var database = try context.open()
            try database.dao(Tenant.self).create((1...20).map { Tenant(id: $0, name: "\($0)", hasLeft: $0 % 2 == 0) })
            let before = try database.entities()
            try database.dao(Tenant.self).create(Tenant(id: 30, name: "1", hasLeft: true))
            let part = try database.storage(for: TenantName.self)
            try expectEqual(try part.read(Query(where: Condition { !$0.hasLeft && $0.name == "1" })).map(\.id), [1])
            try expectEqual(try database.entities(), before, "the entities beside the part")
            try context.renew(&database)
            let light = try database.dao(LightTenant.self)
            try expectEqual(try database.entities(), before, "the entities")
            try expectError(.uniqueViolation, "a new row", entity: "tenant", key: 31, conflictingKey: 1, field: "name") {
                try light.persist(LightTenant(id: 31, name: "1"))
            }
            try light.persist(LightTenant(id: 2, name: "1"))
            try expectError(.uniqueViolation, "a row in it", entity: "tenant", key: 3, conflictingKey: 1, field: "name") {
                try light.persist(LightTenant(id: 3, name: "1"))
            }
            try context.renew(&database)
            let dao = try database.dao(Tenant.self)
            try expectEqual(try dao.read { !$0.hasLeft && $0.name == "1" }.map(\.id), [1])
            try expectEqual(try dao.read { $0.hasLeft && $0.name == "1" }.map(\.id), [2, 30])
        },
        ConformanceCase("E.partialIndexSteps", "E3", "Q9", title: "migration steps add, change and drop a partial index") {
            context in
            let (database, _) = try context.databaseOfNotes()
            let condition = IndexCondition.isNull(field: "mark", isNull: true)
            let index = IndexDescription([IndexedField("rank")], condition: condition)
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try step.addIndex(index, to: "note")
                            try step.renameField("mark", of: "note", to: "sign")
                        }
                    ]))
            try expectEqual(
                try database.entities().first?.indexes.map(\.description), ["rank where sign == nil"], "the renamed condition")
            try database.evolve(
                Evolution(version: 2, migrations: [Migration(to: 2) { try $0.dropField("sign", of: "note") }]))
            try expectEqual(try database.entities().first?.indexes, [], "the indexes without the field of the condition")
            // Numbers of another type that a rank can hold are ranks.
            let ranks: [Value] = [.double(2), .decimal(3)]
            let listed = IndexDescription(
                [IndexedField("title")], condition: .isIn(field: "rank", values: ranks, isNegated: true))
            try database.evolve(
                Evolution(version: 3, migrations: [Migration(to: 3) { try $0.addIndex(listed, to: "note") }]))
            try expectEqual(try database.entities().first?.indexes.count, 1, "the index with other types of numbers")
            try database.expectVerified()
            // A rank has no value above those of its type, nor one between two of them.
            let wrong: [IndexCondition] = [
                .compare(field: "title", comparison: .equal, value: .integer(1)),
                .compare(field: "rank", comparison: .greater, value: .decimal(Decimal(string: "9223372036854775808")!)),
                .isIn(field: "rank", values: [.integer(1), .double(1.5)], isNegated: false),
            ]
            for condition in wrong {
                let index = IndexDescription([IndexedField("rank")], condition: condition)
                try expectError(.invalidSchema, "\(condition)", entity: "note", field: "rank") {
                    try database.evolve(
                        Evolution(version: 4, migrations: [Migration(to: 4) { try $0.addIndex(index, to: "note") }]))
                }
            }
        },
        ConformanceCase("E.copiesPartialIndexes", "E5", "W6", title: "a copy has the partial indexes") { context in
            let source = try context.open()
            try source.dao(Tenant.self).create([Tenant(id: 1, name: "a"), Tenant(id: 2, name: "a", hasLeft: true)])
            try source.dao(Parcel.self).create(Parcel.make(40))
            let target = try context.openOther()
            try source.copy(to: target)
            try expectEqual(try target.entities(), try source.entities(), "the entities")
            try target.expectVerified()
            let dao = try target.dao(Tenant.self)
            try expectError(.uniqueViolation, entity: "tenant", key: 3, conflictingKey: 1, field: "name") {
                try dao.create(Tenant(id: 3, name: "a"))
            }
            try expectEqual(
                try target.dao(Parcel.self).read { $0.sender == nil }.map(\.id),
                Parcel.make(40).filter { $0.sender == nil }.map(\.id))
        },
    ]

    /// A condition that the index of a model cannot have.
    private static func invalid<Record: Model>(
        _ what: String, says words: String, _ model: Record.Type, field: String
    ) -> ConformanceCase {
        // "\(Record.self)" has more than the name in optimised builds, when the type is private.
        ConformanceCase(
            "Q.partialIndexOf" + String(describing: Record.self), "Q9",
            title: "a partial index with a condition \(what) is invalidSchema"
        ) { context in
            let database = try context.open()
            for attempt in 1...2 {
                let error = try expectError(
                    .invalidSchema, "attempt \(attempt)", entity: Record.schema.description.name, field: field
                ) { try database.storage(for: Record.self) }
                try expect(error.message.contains(words), "\"\(words)\" in: \(error.message)")
            }
        }
    }

    static let conditions = simple + joined

    private static let simple: [Condition<Parcel>] = [
        .all, Condition { !$0.isRead }, Condition { $0.isRead != true }, Condition { $0.isRead }, Condition { $0.sender == nil },
        Condition { $0.big == .max }, Condition { $0.big >= .max }, Condition { $0.code == Parcel.codes[1] },
        Condition { $0.seal == Parcel.seals[2] }, Condition { $0.seal != Parcel.seals[2] }, Condition { $0.weight == .nan },
        Condition { $0.state == Parcel.states[4] }, Condition { $0.sender == .min }, Condition { $0.sender <= .min },
        Condition { $0.weight == Parcel.weights[6] }, Condition { $0.weight > 0.1 }, Condition { $0.weight >= 0.1 },
        Condition { $0.weight > 0.2 }, Condition { $0.weight == 0.3 }, Condition { $0.weight.in([0.3, .nan]) },
        Condition { $0.weight != 0.1 }, Condition { $0.price > Decimal(string: "9.5") }, Condition { $0.price >= 10 },
        Condition { $0.day < Parcel.days[2] }, Condition { $0.day <= Parcel.days[2] }, Condition { $0.day < Parcel.days[1] },
        Condition { $0.weight <= -.infinity }, Condition { $0.weight == -.infinity }, Condition { $0.state >= "a\0b" },
        Condition { $0.state > "b" }, Condition { $0.state == "it's" }, Condition { $0.state == "a\0b" },
        Condition { $0.state.in(["it's", "a\0b"]) }, Condition { $0.state.in(["it's", "a"]) },
        Condition { $0.day > Parcel.days[1] }, Condition { $0.day >= Parcel.days[2] }, Condition { $0.price < 10 },
        Condition { $0.price <= Decimal(string: "9.5") }, Condition { $0.weight < 0.3 }, Condition { $0.weight <= 0.1 },
        Condition { $0.weight >= -.infinity }, Condition { $0.state < "b" }, Condition { $0.sender >= .min },
        Condition { $0.sender > 2 }, Condition { $0.big < .max },
    ]

    private static let joined: [Condition<Parcel>] = [
        Condition { !$0.isRead && $0.sender == 2 }, Condition { !$0.isRead && $0.sender == 2 && $0.weight > 0.1 },
        Condition { !$0.isRead && $0.sender == nil }, Condition { !$0.isRead || $0.sender == nil },
        Condition { !$0.isRead && ($0.sender == 1 || $0.sender == 2) }, Condition { $0.sender.in([nil, 1]) && $0.state != nil },
        Condition { !($0.sender > 1) && $0.state != nil }, Condition { $0.sender == 1 && $0.state == "a" },
        Condition { ($0.sender == nil || $0.sender <= 1) && $0.state >= "" },
        Condition { $0.state == "it's" && $0.weight == 0.3 }, Condition { $0.state > "a" && $0.weight > 1 },
        Condition { $0.state == nil && $0.weight == nil }, Condition { $0.isRead && $0.state == "a" },
        Condition { $0.sender == nil || $0.isRead && $0.state == "a" },
        Condition { ($0.sender == nil && $0.weight > 0) || ($0.isRead && $0.state == "a" && $0.weight == nil) },
        Condition { $0.state.contains("s") && !$0.isRead }, Condition { $0.state.hasPrefix("it") && $0.sender == nil },
        Condition { $0.code == Parcel.codes[1] && $0.state >= "a" && $0.id > 20 },
        Condition { $0.day == Parcel.days[1] && $0.isRead && $0.sender >= 1 },
    ]

    static let orders: [[Sort<Parcel>]] = [
        [], [.descending(\.id)], [.descending(\.weight)], [.ascending(\.sender), .descending(\.weight)],
        [.descending(\.sender), .ascending(\.weight)], [.ascending(\.state)], [.descending(\.state), .ascending(\.id)],
    ]
}

/// A row whose index has a condition on a text.
private struct TextInCondition: Model {
    var id: Int
    var rank: Int
    var text: String

    static let schema = Schema(
        "ticket", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank), Field("text", \.text),
        indexes: [Index(\.rank, where: { $0.text.contains("a") })])
}

/// A row whose index has a condition on two fields.
private struct FieldsInCondition: Model {
    var id: Int
    var rank: Int

    static let schema = Schema(
        "ticket", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank),
        indexes: [Index(\.rank, where: { $0.rank > $0.id })])
}

/// A row whose index has a condition on a part of an embedded value.
private struct PartInCondition: Model {
    var id: Int
    var rank: Int
    var tags: [String]

    static let schema = Schema(
        "ticket", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank), Field("tags", \.tags),
        indexes: [Index(\.rank, where: { $0.rank == 1 && $0.tags.contains("a") })])
}

/// A row whose index has a condition that always holds.
private struct AlwaysInCondition: Model {
    var id: Int
    var rank: Int

    static let schema = Schema(
        "ticket", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank),
        indexes: [Index(\.rank, where: { _ in Condition.all })])
}

/// A row whose index has a condition that never holds.
private struct NeverInCondition: Model {
    var id: Int
    var rank: Int

    static let schema = Schema(
        "ticket", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank),
        indexes: [Index(\.rank, where: { $0.rank.in([]) })])
}

/// A row whose index has a condition on a related row.
private struct RelatedInCondition: Model {
    var id: Int
    var rank: Int
    var holder: TextInCondition?

    static let schema = Schema(
        "ticketHolder", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank), Field("holder", \.holder, .linked),
        indexes: [Index(\.rank, where: { $0.holder.rank == 1 })])
}

/// A row whose index has a condition with more values than it can have.
private struct ManyInCondition: Model {
    var id: Int
    var rank: Int

    static let schema = Schema(
        "ticket", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank),
        indexes: [Index(\.rank, where: { $0.id.in(Array(0...100)) })])
}

/// A row whose index has the deepest condition that it can have.
private struct DeepInCondition: Plain, Model, Equatable {
    var id: Int
    var rank: Int

    static let schema = Schema(
        "well", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank),
        indexes: [Index(\.rank, where: { _ in deepest })])

    static let deepest = (2...16).reduce(Condition<Self> { $0.rank > 3 }) { condition, level in
        level % 2 == 0 ? condition && Condition { $0.id != level } : condition || Condition { $0.id == 2 * level }
    }
}

/// A row whose index has a condition of one level more.
private struct TooDeepInCondition: Model {
    var id: Int
    var rank: Int

    static let schema = Schema(
        "deeper_well", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank),
        indexes: [
            Index(
                \.rank,
                where: { _ in
                    (2...17).reduce(Condition<Self> { $0.rank > 3 }) { condition, level in
                        level % 2 == 0 ? condition && Condition { $0.id != level } : condition || Condition { $0.id == 2 * level }
                    }
                })
        ])
}

private struct Accented: Plain, Model, Equatable {
    var id: Int
    var text: String

    static let texts = ["'\u{301}", "\\\u{301}", "\"\u{301}", "a'\u{301}'\u{FE0F}b"]

    static let schema = Schema(
        "accented", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text),
        indexes: [Index(\.text, where: { $0.text.in(texts) }), Index(\.id, where: { $0.text == texts[0] })])
}

/// The entity of ``Accented`` with a further field.
private struct AccentedNote: Plain, Model, Equatable {
    var id: Int
    var text: String
    var note: String

    static let added = "'\u{301} \\\u{301} \"\u{301}"

    static let schema = Schema(
        "accented", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text), Field("note", \.note, .default(added)),
        indexes: [Index(\.text, where: { $0.text.in(Accented.texts) }), Index(\.id, where: { $0.text == Accented.texts[0] })])
}
