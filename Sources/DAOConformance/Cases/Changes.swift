import DAOCore
import DAOTestSupport
import Foundation

/// A row whose changes are logged.
private struct Logged: Plain, Model, Equatable {
    var id: Int
    var name: String
    var number: Int
    var note: String?

    static let schema = Schema(
        "logged", Self.init,
        Field("id", \.id, .primaryKey), Field("name", \.name), Field("number", \.number, .indexed), Field("note", \.note)
    ).logged()
}

/// The same entity, in a build that does not know of the log.
private struct Unaware: Plain, Model, Equatable {
    var id: Int
    var name: String
    var number: Int
    var note: String?

    static let schema = Schema(
        "logged", Self.init,
        Field("id", \.id, .primaryKey), Field("name", \.name), Field("number", \.number, .indexed), Field("note", \.note))
}

/// The same entity, in a build that ends the log.
private struct Unlogged: Plain, Model, Equatable {
    var id: Int
    var name: String
    var number: Int
    var note: String?

    static let schema = Schema(
        "logged", Self.init,
        Field("id", \.id, .primaryKey), Field("name", \.name), Field("number", \.number, .indexed), Field("note", \.note)
    ).unlogged()
}

/// The same entity, in a newer build.
private struct Wider: Plain, Model, Equatable {
    var id: Int
    var name: String
    var number: Int
    var note: String?
    var stars = 3

    static let schema = Schema(
        "logged", Self.init,
        Field("id", \.id, .primaryKey), Field("name", \.name, .indexed), Field("number", \.number), Field("note", \.note),
        Field("stars", \.stars, .default(3)))
}

/// An entity that comes later, whose rows have lists of rows that are there.
private struct Newcomer: Plain, Model, Equatable {
    var id: Int
    var friends: [Wider]?

    static let schema = Schema("newcomer", Self.init, Field("id", \.id, .primaryKey), Field("friends", \.friends, .linked))
}

/// The same entity under another name.
private struct Settler: Plain, Model, Equatable {
    var id: Int
    var friends: [Wider]?

    static let schema = Schema("settler", Self.init, Field("id", \.id, .primaryKey), Field("friends", \.friends, .linked))
}

/// A row of which all values are logged.
private struct Whole: Plain, Model, Equatable {
    var id: String
    var amount: Decimal
    var date: Date
    var data: Data?
    var uuid: UUID
    var real: Double
    var tags: [String]

    static let schema = Schema(
        "whole", Self.init,
        Field("id", \.id, .primaryKey), Field("amount", \.amount), Field("date", \.date), Field("data", \.data),
        Field("uuid", \.uuid),
        Field("real", \.real), Field("tags", \.tags)
    ).logged(values: true)
}

/// A row of numbers, of which all values are logged.
private struct Ledger: Plain, Model, Equatable {
    var id: Int
    var name: String
    var number: Int

    static let schema = Schema(
        "ledger", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name), Field("number", \.number, .indexed)
    ).logged(values: true)
}

/// A row with a list, a to-one and a Reference.
private struct Shelf: Plain, Model, Equatable {
    var id: Int
    var books: [Volume]?
    var owner: Reference<Keeper>?

    static let schema = Schema(
        "shelf", Self.init,
        Field("id", \.id, .primaryKey), Field("books", \.books, .cascade), Field("owner", \.owner)
    ).logged()
}

private struct Volume: Plain, Model, Equatable {
    var id: Int
    var title: String

    static let schema = Schema("volume", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title)).logged()
}

private struct Keeper: Plain, Model, Equatable {
    var id: Int

    static let schema = Schema("keeper", Self.init, Field("id", \.id, .primaryKey))
}

/// A row with a list of rows and a Reference, all of whose values are logged.
private struct Pallet: Plain, Model, Equatable {
    var id: Int
    var boxes: [Carton]?
    var owner: Reference<Clerk>?

    static let schema = Schema(
        "pallet", Self.init, Field("id", \.id, .primaryKey), Field("boxes", \.boxes, .cascade), Field("owner", \.owner)
    ).logged(values: true)
}

private struct Carton: Plain, Model, Equatable {
    var id: Int
    var rank: Int

    static let schema = Schema("carton", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank, .unique)).logged(
        values: true)
}

private struct Clerk: Plain, Model, Equatable {
    var id: Int
    var name: String

    static let schema = Schema("clerk", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name)).logged(values: true)
}

/// D1 to D6: the log of changes.
enum Changes {
    /// Changes in a line each: `+` for a new row, `~` for a changed one, `-` for an erased one.
    private static func lines(_ changes: [Change]) -> [String] {
        changes.map { change in
            let sign =
                switch change.kind {
                case .inserted: "+";
                case .updated: "~";
                case .erased: "-"
                }
            let values =
                (change.after ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value))" }
                + change.lists.keys.sorted()
            return "\(sign)\(change.entity) \(change.key)" + (values.isEmpty ? "" : " " + values.joined(separator: " "))
        }
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .null: "nil"
        case .integer(let number): "\(number)"
        case .string(let text): text
        default: "\(value)"
        }
    }

    /// Reads changes once all that are committed can be read: on a server, after transactions of others have ended.
    private static func changes(
        in database: any Database, after position: LogPosition? = nil, limit: Int? = nil, of entities: Set<String>? = nil,
        keepsTransactions: Bool = false
    ) throws -> [Change] {
        let end = ContinuousClock.now + .seconds(30)
        while try database.pendingChanges() > 0, .now < end { Thread.sleep(forTimeInterval: 0.005) }
        return try database.changes(after: position, limit: limit, of: entities, keepsTransactions: keepsTransactions)
    }

    /// Runs a call, and expects what it adds to the log.
    private static func expectChanges(
        _ database: any Database, _ expected: [String], _ what: String, _ last: inout LogPosition?, except field: String? = nil,
        _ call: () throws -> Void
    ) throws {
        try call()
        let changes = try changes(in: database, after: last)
        // A link to one row that is beside the row is a change of its own.
        let lines = lines(changes).filter { line in field.map { !line.hasPrefix("~") || !line.contains(" \($0)=") } ?? true }
        try expectEqual(lines, expected, what)
        for (earlier, later) in zip([last].compactMap { $0 } + changes.map(\.position), changes.map(\.position)) {
            try expect(earlier < later || earlier == later && last == nil, "positions ascend after \(what)")
        }
        last = changes.last?.position ?? last
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase("D.calls", "D1", "D2", title: "every call of a DAO adds what it has changed") { context in
            let (database, dao) = try context.open(with: Logged.self)
            try expectEqual(try changes(in: database).count, 0, "changes before the first")
            var last: LogPosition?
            func row(_ id: Int, _ number: Int = 0, _ note: String? = nil) -> Logged {
                Logged(id: id, name: "n\(id)", number: number, note: note)
            }
            try expectChanges(database, ["+logged 1", "+logged 2"], "create", &last) { try dao.create([row(1), row(2)]) }
            try expectChanges(database, ["~logged 1 number=5", "+logged 3"], "persist", &last) {
                try dao.persist([row(1, 5), row(3)])
            }
            try expectChanges(database, [], "persist of what is stored", &last) { try dao.persist([row(1, 5), row(2)]) }
            try expectChanges(database, ["~logged 1 note=b number=6"], "a repeated key", &last) {
                try dao.persist([row(1, 9, "a"), row(1, 6, "b")])
            }
            try expectChanges(database, ["~logged 2 number=7", "~logged 3 number=7"], "set", &last) {
                try dao.set(\.number, to: 7) { $0.id > 1 }
            }
            try expectChanges(database, ["~logged 2 note=x", "~logged 3 note=x"], "update", &last) {
                try dao.update(where: { $0.number == 7 }) { $0.note = "x" }
            }
            try expectChanges(database, ["~logged 1 number=8"], "an increase", &last) {
                try dao.update(.increase(\.number, by: 2)) { $0.id == 1 }
            }
            try expectChanges(database, [], "an update of no row", &last) {
                try dao.update(where: { $0.id == 99 }) { $0.number = 0 }
            }
            try expectChanges(database, ["~logged 3 note=nil"], "the first of an order", &last) {
                try dao.update(orderedBy: .descending(\.id), limit: 1, where: .all) { $0.note = nil }
            }
            try expectChanges(database, ["+logged 4", "-logged 1"], "several calls", &last) {
                try database.transaction {
                    try dao.create(row(4))
                    try dao.erase(byPrimaryKeys: [1, 77])
                }
            }
            try expectChanges(database, ["-logged 4"], "an erasure by a condition", &last) { try dao.erase { $0.id == 4 } }
            try expectChanges(database, ["-logged 2", "-logged 3"], "an erasure of all", &last) { try dao.erase() }
            let changes = try changes(in: database)
            try expectEqual(Set(changes.map(\.transaction)).count, 10, "transactions")
        },
        ConformanceCase("D.undone", "D1", title: "what is undone leaves nothing in the log") { context in
            let (database, dao) = try context.open(with: Logged.self)
            struct Stop: Error {}
            try dao.create(Logged(id: 1, name: "a", number: 1))
            try expectError(.duplicateKey, "create", entity: "logged", key: 1, field: "id") {
                try dao.create([Logged(id: 2, name: "b", number: 1), Logged(id: 1, name: "c", number: 1)])
            }
            do {
                try database.transaction {
                    try dao.create(Logged(id: 3, name: "d", number: 1))
                    throw Stop()
                }
            } catch is Stop {}
            try database.transaction {
                try dao.create(Logged(id: 4, name: "e", number: 1))
                do {
                    try database.transaction {
                        try dao.create(Logged(id: 5, name: "f", number: 1))
                        throw Stop()
                    }
                } catch is Stop {}
                try dao.set(\.number, to: 2) { $0.id == 4 }
            }
            do {
                try dao.update(where: .all) { row in
                    row.number = 9
                    if row.id == 4 { throw Stop() }
                }
            } catch is Stop {}
            try expectEqual(lines(try changes(in: database)), ["+logged 1", "+logged 4", "~logged 4 number=2"])
        },
        ConformanceCase(
            "D.afterAFailure", "D1", "W3",
            title: "a transaction that goes on after a call has failed logs the first writes of other entities"
        ) { context in
            let (database, dao) = try context.open(with: Logged.self)
            let (ledgers, clerks) = (try database.dao(Ledger.self), try database.dao(Clerk.self))
            try dao.create(Logged(id: 1, name: "a", number: 1))
            try database.transaction {
                try expectError(.duplicateKey, "create", entity: "logged", key: 1, field: "id") {
                    try dao.create(Logged(id: 1, name: "b", number: 1))
                }
                try ledgers.create(Ledger(id: 1, name: "c", number: 1))
                try clerks.create(Clerk(id: 1, name: "d"))
            }
            try expectEqual(
                try changes(in: database).map { "\($0.entity) \($0.key)" }, ["logged 1", "ledger 1", "clerk 1"])
        },
        ConformanceCase("D.values", "D1", title: "all values before and after a change, of every kind") { context in
            let (database, dao) = try context.open(with: Whole.self)
            let date = Date(timeIntervalSinceReferenceDate: 0.1)
            let uuid = UUID()
            var row = Whole(
                id: "\u{301}a\"\\\u{1}é", amount: Decimal(string: "12.50")!, date: date, data: Data([0, 255]), uuid: uuid,
                real: -0.0,
                tags: ["x"])
            try dao.create(row)
            row.data = nil
            row.tags = []
            try dao.persist(row)
            try dao.erase(row)
            let changes = try changes(in: database)
            try expectEqual(changes.map(\.kind), [.inserted, .updated, .erased])
            try expectEqual(changes.map(\.key), [UniqueID(row.id), UniqueID(row.id), UniqueID(row.id)])
            let first: [String: Value] = [
                "id": .string(row.id), "amount": .decimal(row.amount), "date": .date(date), "data": .data(Data([0, 255])),
                "uuid": .uuid(uuid), "real": .double(-0.0), "tags": .string("[\"x\"]"),
            ]
            let second = first.merging(["data": .null, "tags": .string("[]")]) { $1 }
            try expectEqual(changes[0].before, nil)
            try expectEqual(changes[0].after, first, "the values of a new row")
            try expectEqual(changes[1].before, first, "the values before an update")
            try expectEqual(changes[1].after, second, "the values after an update")
            try expectEqual(changes[2].before, second, "the values of an erased row")
            try expectEqual(changes[2].after, nil)
        },
        ConformanceCase(
            "D.related", "D1", "R4", "R10", title: "rows that are written and erased with others, lists and References"
        ) {
            context in
            let (database, shelves) = try context.open(with: Shelf.self)
            let (volumes, keepers) = (try database.dao(Volume.self), try database.dao(Keeper.self))
            try keepers.create(Keeper(id: 7))
            var last: LogPosition?
            try expectChanges(
                database, ["+shelf 1", "+volume 1", "+volume 2", "~shelf 1 books"], "a row with a list", &last, except: "owner"
            ) {
                try shelves.create(
                    Shelf(id: 1, books: [Volume(id: 1, title: "a"), Volume(id: 2, title: "b")], owner: Reference(7)))
            }
            try expectChanges(
                database, ["~volume 2 title=c", "~shelf 1 books", "-volume 1"], "a list that loses a row", &last, except: "owner"
            ) {
                try shelves.persist(Shelf(id: 1, books: [Volume(id: 2, title: "c")], owner: Reference(7)))
            }
            try expectChanges(database, [], "a row that is written as it is stored", &last, except: "owner") {
                try shelves.persist(Shelf(id: 1, books: [Volume(id: 2, title: "c")], owner: Reference(7)))
            }
            let changed = try changes(in: database, after: last).count
            try keepers.erase(byPrimaryKey: 7)
            let nil7 = try changes(in: database, after: last)
            try expectEqual(nil7.map { "\($0.entity) \($0.key) \($0.kind)" }, ["shelf 1 updated"], "an erased Reference")
            last = nil7.last?.position
            try expectEqual(changed, 0)
            try expectChanges(database, ["~shelf 1 books", "-volume 2"], "a child that is erased", &last, except: "owner") {
                try volumes.erase(byPrimaryKey: 2)
            }
            try expectChanges(database, ["+volume 3", "~shelf 1 books"], "a child that is added", &last, except: "owner") {
                try shelves.persist(Shelf(id: 1, books: [Volume(id: 3, title: "d")]))
            }
            let before = last
            try shelves.erase(byPrimaryKey: 1)
            try expectEqual(
                Set(lines(try changes(in: database, after: before)).filter { !$0.hasPrefix("~") }), ["-shelf 1", "-volume 3"],
                "a cascade")
        },
        ConformanceCase("D.others", "D1", "E8", title: "models that do not know of the log, and rows without types, are logged") {
            context in
            var database = try context.open()
            _ = try database.dao(Logged.self)
            try context.renew(&database)
            let unaware = try database.dao(Unaware.self)
            let rows = try database.rows(of: "logged")
            try expectEqual(try rows.entity.log, .changes, "the log after a model that does not say so")
            var last: LogPosition?
            try expectChanges(database, ["+logged 1", "~logged 1 number=2"], "a model that does not say so", &last) {
                try unaware.create(Unaware(id: 1, name: "a", number: 1))
                try unaware.persist(Unaware(id: 1, name: "a", number: 2))
            }
            try expectChanges(database, ["+logged 2", "~logged 1 name=b", "-logged 2"], "rows without types", &last) {
                try rows.persist([["id": .integer(2), "name": .string("x"), "number": .integer(0)]])
                try rows.persist([["id": .integer(1), "name": .string("b")]])
                try rows.erase(byPrimaryKey: 2)
            }
            try expectEqual(try unaware.read().map(\.name), ["b"])
            for entity in try database.entities() where entity.name == "dao_changes" {
                let log = try database.rows(of: entity.name)
                try expectEqual(try log.count(), 5, "the log as rows")
                try expectError(.unsupported, "erasing the log", entity: log.name) { try log.erase(where: "TRUEPREDICATE") }
                try expectError(.unsupported, "changing the log", entity: log.name) {
                    try log.persist([["position": .integer(1)]])
                }
                try expectEqual(try log.count(), 5)
            }
        },
        ConformanceCase(
            "D.positions", "D2", "D3", title: "changes are read by position, and an unknown position is snapshotTooOld"
        ) {
            context in
            let (database, dao) = try context.open(with: Logged.self)
            for id in 1...20 { try dao.create(Logged(id: id, name: "a", number: id)) }
            let all = try changes(in: database)
            try expectEqual(all.count, 20)
            var (read, last): ([Change], LogPosition?) = ([], nil)
            while case let page = try changes(in: database, after: last, limit: 7), !page.isEmpty {
                read += page
                last = page.last?.position
            }
            try expectEqual(read, all, "pages of changes")
            try expectEqual(
                try changes(in: database, after: all[11].position, of: ["logged"]).map(\.key), (13...20).map { UniqueID($0) })
            try expectEqual(try changes(in: database, of: ["other"]).count, 0)
            let text = "\(all[3].position)"
            try expectEqual(LogPosition(text), all[3].position, "a position as text")
            let foreign = LogPosition(String(text.prefix { $0 != "." }) + "." + UUID().uuidString)
            try expectError(.snapshotTooOld, "another mark") { try database.changes(after: foreign) }
            let beyond = LogPosition("99999.\(UUID().uuidString)")
            try expectError(.snapshotTooOld, "a position that is to come") { try database.changes(after: beyond) }
        },
        ConformanceCase("D.wholeTransactions", "D3", title: "a page that keeps transactions ends with the last one, however long")
        { context in
            let (database, dao) = try context.open(with: Logged.self)
            var (last, expected): (LogPosition?, Int) = (nil, 0)
            for count in [1000, 1001, 1002, 2001, 2002] {
                try dao.create((0..<count).map { Logged(id: count * 10_000 + $0, name: "a", number: 1) })
                try dao.create(Logged(id: count, name: "after it", number: 1))
                for limit in [1, 2, count] {
                    let page = try changes(in: database, after: last, limit: limit, keepsTransactions: true)
                    try expectEqual(page.count, count, "a page of \(limit) changes of a transaction of \(count)")
                }
                expected += count + 1
                let all = try changes(in: database)
                try expectEqual(all.count, expected)
                last = all.last?.position
            }
        },
        ConformanceCase("D.ends", "D1", title: "a log that is ended keeps what it has", requires: [.evolution]) { context in
            var database = try context.open()
            let dao = try database.dao(Logged.self)
            try dao.create(Logged(id: 1, name: "a", number: 1))
            try context.renew(&database)
            let unlogged = try database.dao(Unlogged.self)
            try unlogged.create(Unlogged(id: 2, name: "b", number: 1))
            try expectEqual(lines(try changes(in: database)), ["+logged 1"])
            try expectEqual(try database.rows(of: "logged").entity.log, nil)
            try context.renew(&database)
            try database.dao(Logged.self).create(Logged(id: 3, name: "c", number: 1))
            try expectEqual(lines(try changes(in: database)), ["+logged 1", "+logged 3"])
        },
        ConformanceCase(
            "D.begins", "D1", "E9", title: "a log that another handle begins is obeyed by models that are open",
            requires: [.evolution]
        ) { context in
            var first = try context.open()
            _ = try first.dao(Unaware.self)
            try context.renew(&first)
            let rows = try first.rows(of: "logged")
            func row(_ id: Int64, _ number: Int64) -> [String: Value] {
                ["id": .integer(id), "name": .string("a"), "number": .integer(number)]
            }
            try rows.persist([row(1, 1)])
            let second = try context.open()
            let logged = try second.dao(Logged.self)
            try rows.persist([row(2, 1)])
            try rows.persist([row(1, 5)])
            try rows.erase(byPrimaryKey: 2)
            try expectEqual(try logged.read().map(\.number), [5])
            try expectEqual(lines(try changes(in: second)), ["+logged 2", "~logged 1 number=5", "-logged 2"])
        },
        ConformanceCase(
            "D.migrations", "D1", "E2", title: "rows that a migration step changes are logged", requires: [.evolution]
        ) {
            context in
            var database = try context.open()
            try database.evolve(Evolution(version: 1, models: [Logged.self]))
            let dao = try database.dao(Logged.self)
            try dao.create((1...3).map { Logged(id: $0, name: "n\($0)", number: $0) })
            let last = try changes(in: database).last?.position
            try context.renew(&database)
            try database.evolve(
                Evolution(
                    version: 2,
                    migrations: [
                        Migration(to: 2) { step in
                            try step.forEachRow(of: "logged") { row in
                                if row["id"] == .integer(1) { row.erase() }
                                if row["id"] == .integer(2) { row["number"] = .integer(9) }
                            }
                            try step.insert([["id": .integer(4), "name": .string("n4"), "number": .integer(4)]], into: "logged")
                            try step.changeType(of: "note", in: "logged", to: FieldType(.string, isOptional: true)) { value in
                                value.isNull ? .string("new") : value
                            }
                        }
                    ], models: [Logged.self]))
            try expectEqual(
                lines(try changes(in: database, after: last)),
                [
                    "-logged 1", "~logged 2 number=9", "+logged 4", "~logged 2 note=new", "~logged 3 note=new",
                    "~logged 4 note=new",
                ])
        },
        ConformanceCase(
            "D.verified", "D1", "L9", title: "verify finds rows that were written past the log", requires: [.evolution]
        ) { context in
            let (database, dao) = try context.open(with: Logged.self)
            let (ledger, plain) = (try database.dao(Ledger.self), try database.dao(Keeper.self))
            try dao.create((1...5).map { Logged(id: $0, name: "n\($0)", number: $0) })
            try ledger.create((1...5).map { Ledger(id: $0, name: "l\($0)", number: $0) })
            try plain.create(Keeper(id: 1))
            try dao.update(where: { $0.id == 2 }) { $0.number = 20 }
            try dao.erase(byPrimaryKey: 4)
            try ledger.update(.increase(\.number, by: 1)) { $0.id < 4 }
            try database.expectVerified()
            try database.withEntityStore(.write) { store in
                try store.store([[.integer(2), .string("n2"), .integer(21), .null]], in: "logged", replaces: true)
                try store.store([[.integer(4), .string("again"), .integer(4), .null]], in: "logged", replaces: false)
                _ = try store.erase([.integer(5)], from: "logged")
                try store.store([[.integer(3), .string("other"), .integer(4)]], in: "ledger", replaces: true)
                // In no log.
                try store.store([[.integer(2)]], in: "keeper", replaces: false)
            }
            let problems = try database.verify().problems.map {
                "\($0.entity ?? "") \($0.key?.rawValue ?? "") \($0.field ?? "")"
            }
            try expectEqual(problems.sorted(), ["ledger 3 name", "logged 2 number", "logged 4 ", "logged 5 "])
            // A newer build gives every row a value, which no log has.
            try dao.update(where: { $0.id == 2 }) { $0.number = 3 }
            database.engineState.declarations.forget(["logged"])
            let wider = try database.dao(Wider.self)
            try expectEqual(try database.verify().problems.map(\.entity), ["ledger"])
            try wider.update(where: { $0.id == 1 }) { $0.stars = 9 }
            try expectEqual(try database.verify().problems.map(\.entity), ["ledger"])
            try database.withEntityStore(.write) {
                try $0.store([[.integer(3), .string("l3"), .integer(4)]], in: "ledger", replaces: true)
            }
        },
        ConformanceCase(
            "D.copiedInPart", "L9", "E5", "D1",
            title: "a copy of a log that ended at any step is sound, and then has the whole log",
            requires: [.evolution]
        ) { context in
            struct Stop: Error {}
            let (source, ledgers) = try context.open(with: Ledger.self)
            try ledgers.create((1...7).map { Ledger(id: $0, name: "a", number: $0) })
            try ledgers.update(where: { $0.number > 2 }) { $0.number += 1 }
            try ledgers.erase { $0.id == 5 }
            let log = try changes(in: source)
            for step in 1...100 {
                let target = try context.openOther("step-\(step)")
                var steps = 0
                do {
                    try source.copy(to: target, rowLimit: 2) { _ in
                        steps += 1
                        if steps == step { throw Stop() }
                    }
                    try expect(step > 5, "more steps than \(steps)")
                    break
                } catch is Stop {}
                try target.expectVerified("the problems of a copy that ended at step \(step)")
                try source.copy(to: target)
                try target.expectVerified("the problems of a copy that went on after step \(step)")
                try expectEqual(try changes(in: target), log, "the log after step \(step)")
            }
        },
        ConformanceCase("D.consumers", "D4", "D3", title: "the log is trimmed to the slowest consumer") { context in
            let (database, dao) = try context.open(with: Logged.self)
            for id in 1...9 { try dao.create(Logged(id: id, name: "a", number: id)) }
            let all = try changes(in: database)
            try expectEqual(all.count, 9)
            try expectEqual(try database.logConsumers(), [])
            try database.acknowledge(all[5].position, by: "fast")
            try expectEqual(try changes(in: database), Array(all[5...]), "after the only consumer")
            try database.acknowledge(all[6].position, by: "slow")
            try database.acknowledge(all[7].position, by: "fast")
            try database.acknowledge(all[6].position, by: "fast")
            try expectEqual(try changes(in: database), Array(all[6...]), "after the slowest consumer")
            try expectEqual(try changes(in: database, after: all[6].position), Array(all[7...]), "after an acknowledged position")
            try expectEqual(try database.logConsumers().map(\.name), ["fast", "slow"])
            try expectEqual(try database.logConsumers().map(\.position), [all[7].position, all[6].position])
            try expectError(.snapshotTooOld, "a trimmed position") { try database.changes(after: all[2].position) }
            try expectError(.snapshotTooOld, "acknowledging a trimmed position") {
                try database.acknowledge(all[2].position, by: "late")
            }
            try expectEqual(try database.forgetConsumer("slow"), true)
            try expectEqual(try database.forgetConsumer("slow"), false)
            try database.acknowledge(all[8].position, by: "fast")
            try expectEqual(try changes(in: database).map(\.position), [all[8].position])
            try expectEqual(try database.trimChanges(before: .distantFuture), 0, "the last change stays")
            try dao.erase()
            let more = try changes(in: database, after: all[8].position)
            try expectEqual(more.count, 9)
            try expect(more.allSatisfy { $0.position > all[8].position }, "positions go on")
            try expectEqual(try database.trimChanges(before: .distantFuture), 9)
            try expectEqual(try changes(in: database).count, 1)
        },
        ConformanceCase("D.replayed", "D1", "D2", title: "the log of 400 random calls, some undone, gives the rows") { context in
            let (database, dao) = try context.open(with: Ledger.self)
            var random = SeededGenerator(seed: 611)
            struct Stop: Error {}
            func row() -> Ledger {
                Ledger(
                    id: Int.random(in: 0..<20, using: &random), name: "\(Int.random(in: 0..<3, using: &random))",
                    number: Int.random(in: 0..<5, using: &random))
            }
            func call() throws {
                let number = Int.random(in: 0..<5, using: &random)
                switch Int.random(in: 0..<8, using: &random) {
                case 0: try dao.create(row())
                case 1: try dao.persist((0..<4).map { _ in row() })
                case 2: try dao.update(where: { $0.number == number }) { $0.number = ($0.number + 1) % 5 }
                case 3: try dao.set(\.name, to: "s") { $0.number == number }
                case 4: try dao.erase { $0.number == number && $0.id > 5 }
                case 5: try dao.erase(orderedBy: .descending(\.number), limit: 1)
                case 6: try dao.update(.increase(\.number, by: 1)) { $0.number < number }
                default: try dao.erase(byPrimaryKeys: [number, number + 7])
                }
            }
            for step in 0..<400 {
                do {
                    if step % 5 != 0 {
                        try call()
                    } else {
                        try database.transaction {
                            for _ in 0..<3 {
                                do { try call() } catch let error as StorageError where error.kind == .duplicateKey {}
                            }
                            if step % 10 == 0 { throw Stop() }
                        }
                    }
                } catch is Stop {} catch let error as StorageError where error.kind == .duplicateKey {}
            }
            var rows: [UniqueID: [String: Value]] = [:]
            for change in try changes(in: database) {
                try expectEqual(change.before, rows[change.key], "the values before \(change.kind) of \(change.key)")
                rows[change.key] = change.after
            }
            let stored = try database.rows(of: "ledger").read().map { row in
                (row.key, Dictionary(uniqueKeysWithValues: zip(row.entity.fields.map(\.name), row.values)))
            }
            try expectEqual(rows, Dictionary(uniqueKeysWithValues: stored), "the rows that the log gives")
        },
        ConformanceCase(concurrent: "D.followed", "D3", title: "whoever follows the log gets each change once, in order") {
            context in
            let (database, dao) = try context.open(with: Logged.self)
            let writer = Task(executorPreference: TaskThreads.shared) {
                for id in 1...30 { try await dao.create(Logged(id: id, name: "a", number: id)) }
                try await dao.create((31...2_500).map { Logged(id: $0, name: "b", number: $0) })
            }
            var keys: [UniqueID] = []
            for try await changes in database.followChanges() {
                keys += changes.map(\.key)
                if keys.count >= 2_500 { break }
            }
            try await writer.value
            try expectEqual(keys, (1...2_500).map { UniqueID($0) })
        },
        ConformanceCase(
            concurrent: "D.besideWriters", "D2", "D3",
            title: "what is read beside writers is never followed by an earlier change, and no transaction is torn"
        ) { context in
            let (database, dao) = try context.open(with: Logged.self)
            let writers = Task(executorPreference: TaskThreads.shared) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for writer in 0..<4 {
                        group.addTask {
                            for call in 0..<20 {
                                let id = (writer * 20 + call) * 2
                                try await database.transaction(retrying: 20) {
                                    try dao.create(Logged(id: id, name: "a", number: id))
                                    // Others begin later, and commit earlier where transactions run side by side.
                                    if call % 4 == writer { Thread.sleep(forTimeInterval: 0.02) }
                                    try dao.create(Logged(id: id + 1, name: "b", number: id))
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            var read: [Change] = []
            let end = ContinuousClock.now + .seconds(60)
            while read.count < 160, .now < end {
                read += try database.changes(after: read.last?.position, limit: 9)
                try await Task.sleep(for: .milliseconds(2))
            }
            try await writers.value
            try expectEqual(read.map(\.position), read.map(\.position).sorted(), "the order of what was read")
            try expectEqual(read, try changes(in: database), "what was read beside the writers")
            for (first, second) in zip(read, read.dropFirst()) {
                guard let key = Int(first.key.rawValue), key % 2 == 0 else { continue }
                try expectEqual(second.key, UniqueID(key + 1), "the other change of the transaction")
                try expectEqual(second.transaction, first.transaction)
            }
        },
        ConformanceCase(
            "D.restored", "D3", "L10", title: "a position that a backup does not have is of another history",
            requires: [.file, .backup]
        ) { context in
            let (database, dao) = try context.open(with: Logged.self)
            try dao.create(Logged(id: 1, name: "a", number: 1))
            let known = try changes(in: database).last?.position
            try database.backup(to: context.fileOfOther("backup").path)
            try dao.create(Logged(id: 2, name: "b", number: 2))
            let lost = try changes(in: database).last?.position
            let backup = try context.openOther("backup")
            try expectError(.snapshotTooOld, "a change after the backup") { try backup.changes(after: lost) }
            try backup.dao(Logged.self).create(Logged(id: 3, name: "c", number: 3))
            try expectError(.snapshotTooOld, "its number, for another change") { try backup.changes(after: lost) }
            try expectError(.snapshotTooOld, "acknowledging it") { try backup.acknowledge(require(lost, "a change"), by: "a") }
            try expectEqual(lines(try changes(in: backup, after: known)), ["+logged 3"])
            try expectEqual(lines(try changes(in: database, after: known)), ["+logged 2"])
            try backup.close()
        },
        ConformanceCase(
            "D.applied", "D5", "D1", title: "changes of another database, applied, give its rows and lists, and no change twice"
        ) { context in
            let (source, shelves) = try context.openOther(with: Pallet.self)
            let (boxes, owners) = (try source.dao(Carton.self), try source.dao(Clerk.self))
            let target = try context.open()
            let (otherShelves, otherBoxes, otherOwners) = (
                try target.dao(Pallet.self), try target.dao(Carton.self), try target.dao(Clerk.self)
            )
            var random = SeededGenerator(seed: 612)
            func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
            func call() throws {
                switch number(0..<9) {
                case 0: try owners.persist(Clerk(id: number(0..<4), name: "o\(number(0..<3))"))
                case 1: try owners.erase(byPrimaryKey: number(0..<4))
                case 2:
                    let list = Set((0..<3).map { _ in number(0..<9) }).map { Carton(id: $0, rank: $0 * 100 + number(0..<50)) }
                    try shelves.persist(Pallet(id: number(0..<5), boxes: list.sorted { $0.rank < $1.rank }, owner: nil))
                case 3:
                    try owners.persist(Clerk(id: 3, name: "x"))
                    try shelves.update(where: { $0.id < 3 }) { $0.owner = Reference(3) }
                case 4: try shelves.erase(byPrimaryKey: number(0..<5))
                case 5: try boxes.erase(byPrimaryKey: number(0..<9))
                // Each rank becomes that of another row while the call runs.
                case 6: try boxes.update(.increase(\.rank, by: 1)) { $0.id >= 0 }
                case 7: try boxes.update(where: { $0.id < 4 }) { $0.rank += 1000 }
                default:
                    struct Stop: Error {}
                    do {
                        try source.transaction {
                            try boxes.erase()
                            throw Stop()
                        }
                    } catch is Stop {}
                }
            }
            var all: [Change] = []
            for round in 0..<60 {
                if round % 5 == 0 { try source.transaction { for _ in 0..<4 { try call() } } } else { try call() }
                if round % 7 != 0 { continue }
                let last = try target.appliedPosition(of: "main")
                try expectEqual(last, all.last?.position, "the applied position")
                let limit = number(1..<9)
                let read = try changes(in: source, after: last, limit: limit, keepsTransactions: true)
                try expectEqual(try target.apply(read, origin: "main"), read.count, "the applied changes")
                all += read
                try expectEqual(try target.apply(all.suffix(20), origin: "main"), 0, "changes that were applied")
            }
            let rest = try changes(in: source, after: all.last?.position)
            try target.apply(rest, origin: "main")
            try expectSame(try otherShelves.including(\.boxes).read(), try shelves.including(\.boxes).read())
            try expectSame(try otherBoxes.read(), try boxes.read())
            try expectSame(try otherOwners.read(), try owners.read())
            try target.expectVerified()
            let echo = try changes(in: target)
            try expect(!echo.isEmpty && echo.allSatisfy { $0.origin == "main" }, "the origin of what was applied")
            try otherOwners.persist(Clerk(id: 9, name: "own"))
            try expectEqual(
                try changes(in: target, after: echo.last?.position).map(\.origin), [nil], "the origin of another call")
        },
        ConformanceCase(
            "D.applyRefused", "D5", title: "changes that cannot be applied are an error with the row, and change nothing"
        ) { context in
            let (source, boxes) = try context.openOther(with: Carton.self)
            let (owners, crates) = (try source.dao(Clerk.self), try source.dao(Pallet.self))
            let (target, others) = try context.open(with: Carton.self)
            _ = try target.dao(Clerk.self)
            _ = try target.dao(Pallet.self)
            try boxes.create(Carton(id: 1, rank: 1))
            try boxes.create(Carton(id: 2, rank: 2))
            try others.create(Carton(id: 9, rank: 2))
            let first = try changes(in: source)
            try expectEqual(first.count, 2)
            try expectError(.uniqueViolation, entity: "carton", key: 2, conflictingKey: 9, field: "rank") {
                try target.apply(first, origin: "a")
            }
            try expectSame(try others.read(), [Carton(id: 9, rank: 2)])
            try expectEqual(try target.appliedPosition(of: "a"), nil)
            try others.erase()
            try expectEqual(try target.apply(first, origin: "a"), 2)
            try boxes.update(where: { $0.id == 2 }) { $0.rank = 7 }
            let update = try changes(in: source, after: first.last?.position)
            try others.erase(byPrimaryKey: 2)
            try expectError(.notFound, entity: "carton", key: 2) { try target.apply(update, origin: "a") }
            try owners.create(Clerk(id: 1, name: "a"))
            try crates.create(Pallet(id: 1, boxes: [], owner: Reference(1)))
            let crate = try changes(in: source, of: ["pallet"])
            try expectError(.referenceViolation, entity: "pallet", key: 1, conflictingKey: 1, field: "owner") {
                try target.apply(crate, origin: "b")
            }
            try expectEqual(try target.dao(Pallet.self).count(), 0)
            let (plain, logged) = try context.openOther("keys", with: Logged.self)
            try logged.create(Logged(id: 1, name: "a", number: 1))
            let keys = try changes(in: plain)
            try expectError(.schemaMismatch, entity: "logged") { try target.apply(keys, origin: "c") }
            _ = try target.dao(Logged.self)
            try expectError(.unsupported, entity: "logged", key: 1) { try target.apply(keys, origin: "c") }
            var foreign = first
            foreign[1].position = try require(
                LogPosition("\(first[1].position)".prefix { $0 != "." } + ".\(UUID())"), "a position")
            try expectError(.snapshotTooOld, "changes of another history") { try target.apply(foreign, origin: "a") }
        },
        ConformanceCase("D.limited", "D4", title: "the log keeps about as many changes as its limit says", isHeavy: true) {
            context in
            let (database, dao) = try context.open(with: Logged.self)
            try expectEqual(try database.changeLimit(), ChangeLimit(count: 1_000_000))
            try expectError(.invalidConfiguration) { try database.limitChanges(to: 0) }
            try expectError(.invalidConfiguration) { try database.limitChanges(to: nil, age: .zero) }
            try database.limitChanges(to: 500)
            try expectEqual(try database.changeLimit(), ChangeLimit(count: 500))
            for batch in 0..<22 { try dao.create((0..<1000).map { Logged(id: batch * 1000 + $0, name: "a", number: 0) }) }
            let kept = try changes(in: database)
            try expect(kept.count >= 500 && kept.count <= 11_500, "about 500 changes, not \(kept.count)")
            try expectEqual(kept.last?.key, UniqueID(21_999))
            try database.limitChanges(to: nil)
            try expectEqual(try database.changeLimit(), ChangeLimit())
            for batch in 22..<33 { try dao.create((0..<1000).map { Logged(id: batch * 1000 + $0, name: "a", number: 0) }) }
            try expectEqual(try changes(in: database).count, kept.count + 11_000)
            try database.limitChanges(to: 700)
            try expectEqual(try changes(in: database).count, 700, "changes, when the limit was said")
        },
        ConformanceCase("D.aged", "D4", title: "the log keeps changes as long as its limit says, and the last one", isHeavy: true)
        {
            context in
            let (database, dao) = try context.open(with: Logged.self)
            for id in 0..<1500 { try dao.persist(Logged(id: id, name: "a", number: 0)) }
            let age = Duration.milliseconds(500)
            try database.limitChanges(to: nil, age: .seconds(3600))
            try expectEqual(try changes(in: database).count, 1500, "young changes")
            try database.limitChanges(to: nil, age: age)
            try expectEqual(try database.changeLimit(), ChangeLimit(age: age))
            Thread.sleep(forTimeInterval: 0.7)
            try database.limitChanges(to: nil, age: age)
            try expectEqual(try changes(in: database).map(\.key), [UniqueID(1499)], "the last one")
            try expectError(.snapshotTooOld) { try database.changes(after: LogPosition("1.\(UUID())")) }
            // Who commits looks now and then.
            for batch in 2..<13 { try dao.create((0..<1000).map { Logged(id: batch * 1000 + $0, name: "a", number: 0) }) }
            Thread.sleep(forTimeInterval: 0.7)
            for batch in 13..<33 { try dao.create((0..<1000).map { Logged(id: batch * 1000 + $0, name: "a", number: 0) }) }
            let kept = try changes(in: database)
            try expect(kept.first.map { $0.key != UniqueID(1499) } ?? false, "old changes go, and \(kept.count) stay")
            try expectEqual(kept.last?.key, UniqueID(32_999))
        },
        ConformanceCase(
            "D.handsOver", "D6", title: "what is written while a copy follows and takes over is in the copy, or was refused",
            requires: [.evolution]
        ) { context in
            let (source, dao) = try context.open(with: Unaware.self)
            let (target, copy) = try context.openOther("target", with: Unaware.self)
            @Sendable func row(_ id: Int) -> Unaware { Unaware(id: id, name: "n\(id)", number: id % 7) }
            try dao.create((1...3000).map(row))
            let written = Lock<[Int]>([])
            let refusal = Lock<(any Error)?>(nil)
            let ended = DispatchSemaphore(value: 0)
            let writer = Thread {
                for id in 3001... {
                    do {
                        try source.transaction(retrying: 50) {
                            try dao.create(row(id))
                            try dao.erase(byPrimaryKey: id - 3000)
                            try dao.update(where: { $0.id == id - 1000 }) { $0.name = "changed" }
                        }
                        written.withLock { $0.append(id) }
                    } catch {
                        refusal.withLock { $0 = error }
                        break
                    }
                }
                ended.signal()
            }
            writer.start()
            let report = try source.follow(into: target) { $0.changes > 200 ? .handOver : .goOn }
            ended.wait()
            try expect(report.pause != nil && report.changes >= 200, "a report of what was handed over: \(report)")
            try expectEqual((refusal.withLock { $0 } as? StorageError)?.kind, .detached, "the first write that was refused")
            let last = try require(written.withLock { $0.last }, "a write beside the copy")
            try expectEqual(try copy.read().map(\.id), Array((last - 2999)...last), "the rows that were acknowledged")
            try expectSame(try copy.read(), try dao.read())
            try target.expectVerified()
            try expectError(.detached, "rows without types") {
                try source.rows(of: "logged").erase(byPrimaryKey: last)
            }
            try expectError(.detached, "a new entity") { try source.dao(Clerk.self).create(Clerk(id: 1, name: "a")) }
            try expectError(.detached, "a migration") {
                try source.evolve(
                    Evolution(version: 1, migrations: [Migration(to: 1) { try $0.dropEntity("logged") }], models: []))
            }
            try expectError(.detached, "a second copy") { try source.follow(into: target) }
            try copy.create(row(0))
            try expectEqual(try target.rows(of: "logged").entity.log, nil, "the log of the copy")
            try source.cancelFollow()
            try dao.create(row(1))
            try expectEqual(try source.rows(of: "logged").entity.log, nil, "the log of the source")
            try expectEqual(try source.logConsumers(), [])
        },
        ConformanceCase(
            "D.followInterrupted", "D6", "E5", title: "a copy that follows goes on after an interruption", requires: [.evolution]
        ) { context in
            let (source, pallets) = try context.open(with: Pallet.self)
            let (cartons, clerks) = (try source.dao(Carton.self), try source.dao(Clerk.self))
            let target = try context.openOther("target")
            try clerks.create((1...5).map { Clerk(id: $0, name: "c") })
            for id in 1...20 {
                try pallets.create(
                    Pallet(
                        id: id, boxes: [Carton(id: 2 * id, rank: id), Carton(id: 2 * id + 1, rank: -id)],
                        owner: Reference(id % 5 + 1)))
            }
            for stopsAfter in ["carton", "clerk", nil] {
                try source.follow(into: target) { $0.entity == stopsAfter ? .stop : .goOn }
                try cartons.update(where: { $0.rank > 0 }) { $0.rank += 1 }
                try pallets.erase(byPrimaryKey: 3)
                try pallets.update(where: { $0.id == 4 }) { $0.owner = nil }
                try pallets.persist(Pallet(id: 5, boxes: [Carton(id: 11, rank: -5)], owner: Reference(1)))
                try pallets.persist(Pallet(id: 3, boxes: [Carton(id: 6, rank: -3)], owner: Reference(2)))
                try clerks.erase(byPrimaryKey: 5)
            }
            try source.follow(into: target)
            try expectSame(
                try target.dao(Pallet.self).including(\.boxes).read(), try pallets.including(\.boxes).read())
            try expectSame(try target.dao(Carton.self).read(), try cartons.read())
            try expectSame(try target.dao(Clerk.self).read(), try clerks.read())
            try target.expectVerified()
            try target.dao(Pallet.self).erase(byPrimaryKey: 3)
            try expectEqual(try target.rows(of: "pallet").entity.log, .values, "the log of the copy")
        },
        ConformanceCase(
            "D.handsOverInVain", "D6", title: "a source whose target cannot take over takes writes again", requires: [.evolution]
        ) { context in
            let (source, dao) = try context.open(with: Unaware.self)
            try dao.create(Unaware(id: 1, name: "a", number: 1))
            let target = try context.openOther("target")
            try expectError(.closed, "a target that is closed while it takes over") {
                try source.follow(into: target) { progress in
                    guard progress.isCaughtUp else { return .goOn }
                    try target.close()
                    return .handOver
                }
            }
            try dao.create(Unaware(id: 2, name: "b", number: 2))
            let again = try context.openOther("target")
            try source.follow(into: again)
            try expectSame(try again.dao(Unaware.self).read(), try dao.read())
            try expectError(.detached, "a write after it was handed over") {
                try dao.create(Unaware(id: 3, name: "c", number: 3))
            }
        },
        ConformanceCase(
            "D.followTrimmed", "D6", "D4", title: "a copy that follows misses no change of a log that others trim",
            requires: [.evolution]
        ) { context in
            let (source, dao) = try context.open(with: Unaware.self)
            let target = try context.openOther("target")
            // No change is logged yet when the copy begins.
            try dao.create((1...20).map { Unaware(id: $0, name: "a", number: $0) })
            try source.follow(into: target) { $0.isCaughtUp ? .stop : .goOn }
            for id in 1...5 { try dao.update(where: { $0.id == id }) { $0.name = "b" } }
            let seen = try require(changes(in: source).last, "a change")
            try source.acknowledge(seen.position, by: "another consumer")
            try expectEqual(try changes(in: source).count, 5, "the changes that the copy does not have")
            try source.follow(into: target) { $0.isCaughtUp ? .stop : .goOn }
            try expectSame(try target.dao(Unaware.self).read(), try dao.read())
            try source.cancelFollow()
            let (other, rows) = try context.openOther("trimmed", with: Unaware.self)
            let second = try context.openOther("second")
            try rows.create(Unaware(id: 1, name: "a", number: 1))
            try other.follow(into: second) { $0.isCaughtUp ? .stop : .goOn }
            try rows.update(where: { $0.id == 1 }) { $0.name = "b" }
            try rows.update(where: { $0.id == 1 }) { $0.number = 2 }
            _ = try changes(in: other)
            try other.trimChanges(before: .distantFuture)
            try expectError(.snapshotTooOld, "changes that were trimmed before they were read") {
                try other.follow(into: second) { $0.isCaughtUp ? .stop : .goOn }
            }
        },
        ConformanceCase(
            "D.followMeanwhile", "D6", "E2", title: "what a newer build brings while a copy follows is in the copy",
            requires: [.evolution]
        ) { context in
            let (source, old) = try context.open(with: Unaware.self)
            let (target, others) = try context.openOther("target", with: Clerk.self)
            try others.create(Clerk(id: 1, name: "of the target"))
            try old.create((1...50).map { Unaware(id: $0, name: "a", number: $0) })
            var turns = 0
            func wider(_ ids: ClosedRange<Int>) -> [Wider] { ids.map { Wider(id: $0, name: "b", number: $0, stars: $0) } }
            try source.follow(into: target) { progress in
                guard progress.isCaughtUp else { return .goOn }
                turns += 1
                switch turns {
                case 1: try source.dao(Newcomer.self).create(Newcomer(id: 1, friends: nil))
                case 2:
                    // Every row gets the default of the new field, which no log has.
                    let rows = try source.dao(Wider.self)
                    try rows.create(wider(51...60))
                    try source.dao(Newcomer.self).create(Newcomer(id: 2, friends: wider(55...57)))
                case 3:
                    try source.dao(Newcomer.self).persist(Newcomer(id: 1, friends: wider(52...53).reversed()))
                    try old.erase(byPrimaryKey: 56)
                case 4:
                    try source.evolve(
                        Evolution(
                            version: 7, migrations: [Migration(to: 7) { try $0.renameEntity("newcomer", to: "settler") }],
                            models: [Settler.self, Wider.self]))
                    try source.dao(Settler.self).create(Settler(id: 3, friends: wider(58...58)))
                default:
                    // The last moment: nothing follows but the hand-over.
                    try source.dao(Ledger.self).create(Ledger(id: 1, name: "late", number: 1))
                    return .handOver
                }
                return .goOn
            }
            func expectCopied<Record: Model & Equatable>(_ model: Record.Type) throws {
                try expectSame(try target.dao(model).read(), try source.dao(model).read())
            }
            try expectCopied(Wider.self)
            try expectCopied(Ledger.self)
            try expectSame(
                try target.dao(Settler.self).including(\.friends).read(), try source.dao(Settler.self).including(\.friends).read()
            )
            try expectEqual(
                try target.dao(Settler.self).including(\.friends).read(byPrimaryKey: 2)?.friends?.map(\.id), [55, 57])
            try expectSame(try others.read(), [Clerk(id: 1, name: "of the target")])
            let names = try target.entities().map(\.name).filter { !$0.hasPrefix("dao_") }.sorted()
            try expectEqual(names, ["clerk", "ledger", "logged", "settler"])
            try expectEqual(try target.schemaVersion, 7)
            try target.expectVerified()
        },
    ]
}
