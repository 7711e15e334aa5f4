import DAOCore
import Foundation

/// R9: a Reference is the key of a row, without the row.
enum RelationsReferenceFields {
    private static let people = [
        Person(id: 1, name: "Ada", age: 36), Person(id: 2, name: "Bo"), Person(id: 3, name: "Cy", age: 4),
    ]

    /// Opens the case's database with people and errands: 2 and 3 are parts of 1, 4 is a part of 3.
    private static func open(_ context: ConformanceContext) throws -> (any Database, DAO<Errand>) {
        let (database, errands) = try context.open(with: Errand.self)
        try database.dao(Person.self).create(people)
        try errands.create([
            Errand(id: 1, owner: Reference(1)),
            Errand(id: 2, whole: Reference(1), owner: Reference(1), helper: Reference(2)),
            Errand(id: 3, whole: Reference(1), owner: Reference(2)),
            Errand(id: 4, whole: Reference(3), owner: Reference(3), helper: Reference(1)),
        ])
        return (database, errands)
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase("R.referenceReadBack", "R9", title: "a Reference reads back as the key that was written, by every write")
        { context in
            let (database, errands) = try open(context)
            try expectEqual(try errands.read().map(\.owner.uniqueId), [1, 1, 2, 3], "the owners")
            try expectEqual(try errands.read().map { $0.whole?.uniqueId }, [nil, 1, 1, 3], "the wholes")
            try expect(try errands.read().allSatisfy { $0.owner.row == nil }, "no row beside the key")
            try errands.persist(Errand(id: 2, title: "new", owner: Reference(3)))
            try expectEqual(try errands.read(byPrimaryKey: 2), Errand(id: 2, title: "new", owner: Reference(3)), "persist")
            let storage = try database.storage(for: Errand.self)
            _ = try storage.merge(keys: [.integer(2)]) { $1?.helper = Reference(1) }
            _ = try storage.update(Query(where: Condition { $0.id == 2 })) { $0.whole = Reference(4) }
            let expected = Errand(id: 2, title: "new", whole: Reference(4), owner: Reference(3), helper: Reference(1))
            try expectEqual(try errands.read(byPrimaryKey: 2), expected, "merge and update")
            try expectEqual(try storage.read(byPrimaryKey: 2, includeSubentities: false), expected, "without subentities")
            var stream: [Errand] = []
            try errands.forEach(Query()) { stream.append($0) }
            try expectEqual(stream, try errands.read(), "a stream")
            try expectEqual(
                try database.dao(Person.self).read(byPrimaryKey: expected.owner), people[2], "the row that a Reference leads to")
        },
        ConformanceCase("R.referenceAlone", "R9", "R7", title: "a Reference reads and writes no other row") { context in
            let (database, errands) = try open(context)
            try errands.persist(
                Errand(id: 5, owner: Reference(Person(id: 1, name: "not Ada")), helper: Reference(Person(id: 2, name: "not Bo"))))
            try expectEqual(try database.dao(Person.self).read(), people, "the people")
            try expectError(.referenceViolation, entity: "errand", key: 6, conflictingKey: 9, field: "owner") {
                try errands.create(Errand(id: 6, owner: Reference(Person(id: 9, name: "new"))))
            }
            try expectEqual(try database.dao(Person.self).count(), 3, "people")
        },
        ConformanceCase("R.referenceToUnreadable", "R9", title: "a Reference leads to a row that cannot be read") { context in
            var database = try context.open()
            try database.dao(Written.self).create(Written(id: 1, kind: "unknown"))
            try context.renew(&database)
            let holders = try database.dao(ToKnown.self)
            try expectError(.corruptedValue, entity: "written", key: 1, field: "kind") { try database.dao(Known.self).read() }
            try holders.create([ToKnown(id: 1, target: Reference(1)), ToKnown(id: 2, target: nil)])
            try holders.persist(ToKnown(id: 2, target: Reference(1)))
            try expectEqual(try holders.read { $0.target == Reference(1) }.map(\.id), [1, 2])
        },
        ConformanceCase("R.referenceKeyTypes", "R9", "K1", title: "a Reference has the key type of its model, or is invalidKey") {
            context in
            let database = try context.open()
            let long = String(repeating: "x", count: 256)
            try check([Int64.min, -1, .max], in: database)
            try check([0, UInt64(Int64.max) + 1, .max], in: database)
            try check(["", "\0", "e\u{301}", "é", long], in: database)
            try check([UUID(), UUID()], in: database)
            let texts = try database.dao(Pointer<String>.self)
            try expectError(.invalidKey, "an integer", entity: "byString", key: 1) {
                try texts.create(Pointer(id: 9, required: Reference(1)))
            }
            try expectError(.invalidKey, "a long text", entity: "byString") {
                try texts.create(Pointer(id: 9, required: Reference(""), optional: Reference(long + "x")))
            }
            try expectError(.invalidKey, "a negative number", entity: "byUInt64", key: -1) {
                try database.dao(Pointer<UInt64>.self).create(Pointer(id: 9, required: Reference(-1)))
            }
            try expectError(.invalidPredicate, entity: "toString") { try texts.read { $0.required == Reference(1) } }
        },
        ConformanceCase("R.referenceMissing", "R9", "W3", title: "a Reference to a row that is not stored is referenceViolation")
        { context in
            let (database, errands) = try open(context)
            let before = try errands.read()
            let storage = try database.storage(for: Errand.self)
            func refused(
                _ what: String, key: UniqueID, missing: UniqueID, field: String, _ body: () throws -> Void
            ) throws {
                let error = try expectError(
                    .referenceViolation, what, entity: "errand", key: key, conflictingKey: missing, field: field, body)
                try expect(error.message.contains(field == "whole" ? "'errand'" : "'person'"), "the entity in: \(error.message)")
                try expectEqual(try errands.read(), before, "the rows after \(what)")
            }
            try refused("create", key: 6, missing: 9, field: "owner") {
                try errands.create([Errand(id: 5, owner: Reference(1)), Errand(id: 6, owner: Reference(9))])
            }
            try refused("persist", key: 2, missing: 7, field: "helper") {
                try errands.persist([
                    Errand(id: 1, title: "new", owner: Reference(2)), Errand(id: 2, owner: Reference(1), helper: Reference(7)),
                ])
            }
            try refused("upsert", key: 1, missing: 8, field: "whole") {
                try storage.upsert([Errand(id: 1, whole: Reference(8), owner: Reference(1))])
            }
            try refused("update", key: 1, missing: 5, field: "owner") {
                _ = try storage.update(Query()) { $0.owner = Reference(Int(4 + $0.id)) }
            }
            // The first rows of the call are right.
            try refused("update of several rows", key: 2, missing: 9, field: "owner") {
                _ = try storage.update(Query()) { $0.owner = Reference($0.id == 1 ? 2 : 9) }
            }
            try refused("merge of several rows", key: 2, missing: 9, field: "helper") {
                _ = try storage.merge(keys: [1, 2].map { .integer($0) }) { $1?.helper = Reference($0 == 0 ? 1 : 9) }
            }
            try refused("merge", key: 3, missing: 9, field: "owner") {
                _ = try storage.merge(keys: [.integer(3)]) { $1?.owner = Reference(9) }
            }
            try refused("a write with the parent", key: 5, missing: 9, field: "owner") {
                try database.dao(Agenda.self).create(Agenda(id: 1, errands: [Errand(id: 5, owner: Reference(9))]))
            }
            try expectEqual(try database.dao(Agenda.self).count(), 0, "agendas")
        },
        ConformanceCase(
            "R.referenceInOneCall", "R9", title: "a Reference leads to a row that the same call writes, in any order, or itself"
        ) { context in
            let (database, errands) = try open(context)
            try errands.create([
                Errand(id: 10, whole: Reference(12), owner: Reference(1)),
                Errand(id: 11, whole: Reference(11), owner: Reference(1)),
                Errand(id: 12, whole: Reference(10), owner: Reference(2)),
            ])
            try errands.persist([
                Errand(id: 13, whole: Reference(14), owner: Reference(1)), Errand(id: 14, owner: Reference(1)),
            ])
            // The last value of a repeated key counts.
            try errands.persist([
                Errand(id: 15, whole: Reference(99), owner: Reference(1)),
                Errand(id: 15, whole: Reference(15), owner: Reference(1)),
            ])
            try expectEqual(
                try errands.read { $0.id >= 10 }.map { $0.whole?.uniqueId }, [12, 11, 10, 14, nil, 15], "the wholes")
            try database.dao(Agenda.self).create(
                Agenda(
                    id: 1,
                    errands: [Errand(id: 20, whole: Reference(21), owner: Reference(1)), Errand(id: 21, owner: Reference(1))],
                    next: Reference(21)))
            try expectEqual(try database.dao(Agenda.self).read(byPrimaryKey: 1)?.next, Reference(21))
            try database.transaction {
                try errands.persist(Errand(id: 30, owner: Reference(3)))
                try errands.persist(Errand(id: 31, whole: Reference(30), owner: Reference(3)))
            }
            try expectEqual(try errands.read(byPrimaryKey: 31)?.whole, Reference(30))
        },
        ConformanceCase("R.referenceConditions", "R9", "P5", "P6", title: "conditions and sorts go through References") {
            context in
            let (database, errands) = try open(context)
            let storage = try database.storage(for: Errand.self)
            func expect(
                _ ids: [Int], _ what: String, _ condition: Condition<Errand>, by order: Sort<Errand>? = nil
            ) throws {
                let query = Query(where: condition, orderedBy: order.map { [$0] } ?? [])
                try expectEqual(try storage.read(query).map(\.id), ids, what)
            }
            try expect([1, 2], "owner.name", Condition { $0.owner.name == "Ada" })
            try expect([1, 2], "owner.name in words", "owner.name == 'Ada'")
            try expect([1, 2, 4], "an optional field", Condition { $0.owner.age != nil })
            try expect([3], "a field that is nil", Condition { $0.owner.age == nil })
            try expect([1, 2], "owner", Condition { $0.owner == Reference(1) })
            try expect([1, 2], "owner in words", "owner == 1")
            try expect([1, 2], "owner in a list in words", "owner IN {1, 9} AND NOT owner IN {2}")
            try expect([1, 2], "owner in a list as an argument", Condition("owner IN %@", [1, 9]))
            try expect([1, 2], "owner as an argument", Condition("owner == %@", Reference<Person>(1)))
            try expect([3, 4], "another owner", Condition { $0.owner != Reference(1) })
            try expect([1, 2, 4], "owner in a list", Condition { $0.owner.in([Reference(1), Reference(3)]) })
            try expect([1, 3], "helper == nil", Condition { $0.helper == nil })
            try expect([1, 3], "helper == nil in words", "helper == nil")
            try expect([1, 2, 3], "a field of no row", Condition { $0.helper.age != 36 })
            try expect([1, 2, 3], "not", Condition { !($0.helper.name == "Ada") })
            try expect([2, 3], "through two", Condition { $0.whole.owner.name == "Ada" })
            try expect([4], "through two, in words", "whole.owner.name == 'Bo'")
            try expect([2, 3], "in a list, through two", Condition { $0.whole.owner.in([Reference(1), Reference(3)]) })
            try expect([1, 2, 3], "not in a list, through two", Condition { !$0.whole.owner.in([Reference(2)]) })
            try expect([4], "through two of one model", Condition { $0.whole.whole == Reference(1) })
            try expect([4, 3, 1, 2], "descending", .all, by: .descending(\.owner, \.name))
            try expect([1, 3, 4, 2], "by an optional one", .all, by: .ascending(\.helper, \.name))
            try expect([1, 3, 4, 2], "by an optional one, in words", .all, by: .by("helper.name"))
            try expectEqual(
                try errands.read(orderedBy: .descending(\.owner, \.name), limit: 2) { $0.whole != nil }.map(\.id), [4, 3],
                "a limit")
            try expectEqual(try errands.count { $0.owner.name != "Ada" && $0.helper != nil }, 1, "a count")
        },
        ConformanceCase(
            "R.referenceSortOfMissing", "R9", "Q1",
            title: "rows without a related row come first in a sort by it, as soon as there are any"
        ) { context in
            let (database, errands) = try context.open(with: Errand.self)
            try database.dao(Person.self).create((0..<5).map { Person(id: $0, name: "Person \(9 - $0)") })
            let person = Reference<Person>(0)
            var helpers = Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, $0 % 5 as Int?) })
            try errands.create(helpers.map { Errand(id: $0, owner: person, helper: $1.map { Reference($0) }) })
            func expectOrder(_ what: String) throws {
                func rank(_ helper: Int?) -> Int { helper.map { 9 - $0 } ?? 0 }
                let expected = helpers.sorted { (rank($0.value), $0.key) < (rank($1.value), $1.key) }.map(\.key)
                for (limit, offset) in [(3, 0), (6, 2)] {
                    let query = Query<Errand>(orderedBy: [.ascending(\.helper, \.name)], limit: limit, offset: offset)
                    let wanted = Array(expected.dropFirst(offset).prefix(limit))
                    // Often enough to repeat what was found for the queries before.
                    for _ in 0..<6 {
                        let found = try LimitedReading.$current.withValue(.low) { try errands.read(query).map(\.id) }
                        try expectEqual(found, wanted, "\(limit) after \(offset), \(what)")
                    }
                }
            }
            func set(_ helper: Int?, of id: Int) throws {
                try errands.persist(Errand(id: id, owner: person, helper: helper.map { Reference($0) }))
                helpers[id] = .some(helper)
                try expectOrder("with \(helper.map { "\($0)" } ?? "none") in \(id)")
            }
            try expectOrder("with all")
            try set(nil, of: 31)
            try set(nil, of: 7)
            try set(1, of: 31)
            try set(2, of: 7)
            try errands.erase { $0.id != 12 }
            helpers = [12: 2]
            try set(nil, of: 12)
        },
        ConformanceCase(
            "R.referenceSortWithoutValue", "R9", "Q1", title: "a sort by an indexed field that many of the related rows have not"
        ) { context in
            let (database, letters) = try context.open(with: Letter.self)
            let people = (0..<9).map { Nickname(id: $0, name: $0 % 2 == 0 ? nil : "\(20 - $0)") }
            try database.dao(Nickname.self).create(people)
            func writer(_ letter: Int) -> Int? { letter % 7 == 6 ? nil : letter * 5 % 9 }
            let all = (0..<40).map { id in Letter(id: id, writer: writer(id).map { Reference($0) }) }
            try letters.create(all)
            func name(_ letter: Letter) -> String { writer(letter.id).flatMap { people[$0].name } ?? "" }
            for isAscending in [true, false] {
                let order: Sort<Letter> = isAscending ? .ascending(\.writer, \.name) : .descending(\.writer, \.name)
                let expected = all.sorted {
                    name($0) == name($1) ? $0.id < $1.id : (name($0) < name($1)) == isAscending
                }.map(\.id)
                for (limit, offset) in [(4, 0), (7, 3), (40, 1)] {
                    let query = Query<Letter>(orderedBy: [order], limit: limit, offset: offset)
                    let wanted = Array(expected.dropFirst(offset).prefix(limit))
                    try expectEqual(try letters.read(query).map(\.id), wanted, "\(limit) after \(offset)")
                    let low = try LimitedReading.$current.withValue(.low) { try letters.read(query).map(\.id) }
                    try expectEqual(low, wanted, "\(limit) after \(offset), when few rows are three")
                }
            }
        },
        ConformanceCase(
            "R.referenceSortBesidePartialIndexes", "R9", "Q9", "Q1",
            title: "a sort through a Reference, with conditions that partial indexes serve"
        ) { context in
            let (database, ledgers) = try context.open(with: Ledger.self)
            let people = (0..<9).map { Clerk(id: $0, name: "\(20 - $0)", days: $0) }
            try database.dao(Clerk.self).create(people)
            let all = (0..<80).map { id in
                Ledger(id: id, isBack: id % 3 == 0, days: id * 7 % 11, clerk: id % 8 == 7 ? nil : Reference(id * 5 % 9))
            }
            try ledgers.create(all)
            func name(_ row: Ledger) -> String { row.clerk == nil ? "" : people[row.id * 5 % 9].name }
            let conditions: [(Condition<Ledger>, (Ledger) -> Bool)] = [
                (Condition { !$0.isBack }, { !$0.isBack }),
                (Condition { !$0.isBack && $0.days > 3 && $0.id > 3 }, { !$0.isBack && $0.days > 3 && $0.id > 3 }),
                (Condition { !$0.isBack && $0.clerk != Reference(5) }, { !$0.isBack && $0.clerk != Reference(5) }),
                (Condition { !$0.isBack && $0.clerk == nil && $0.days < 9 }, { !$0.isBack && $0.clerk == nil && $0.days < 9 }),
                (Condition { $0.days == 4 && $0.id.between(2, and: 70) }, { $0.days == 4 && 2...70 ~= $0.id }),
                (Condition { $0.days >= 4 && $0.id > 5 && !$0.isBack }, { $0.days >= 4 && $0.id > 5 && !$0.isBack }),
                (Condition { $0.days.in([5, 9]) && $0.clerk.name != "14" }, { [5, 9].contains($0.days) && name($0) != "14" }),
            ]
            for (condition, isMet) in conditions {
                for isAscending in [true, false] {
                    let order: Sort<Ledger> = isAscending ? .ascending(\.clerk, \.name) : .descending(\.clerk, \.name)
                    let expected = all.filter(isMet).sorted {
                        name($0) == name($1) ? $0.id < $1.id : (name($0) < name($1)) == isAscending
                    }.map(\.id)
                    let query = Query(where: condition, orderedBy: [order])
                    try expectEqual(try ledgers.read(query).map(\.id), expected, "\(query)")
                    let page = try ledgers.page(query, limit: 6)
                    try expectEqual(page.elements.map(\.id), Array(expected.prefix(6)), "the first page of \(query)")
                }
            }
        },
    ]

    /// Stores a row for each key, and a row that refers to it, which is found by it and erased with it.
    private static func check<ID: PrimaryKeyValue & Equatable>(_ ids: [ID], in database: any Database) throws {
        let pointers = try database.dao(Pointer<ID>.self)
        let targets = try database.dao(KeyedBy<ID>.self)
        let rows = ids.map { KeyedBy<ID>(id: $0, note: "") }
        try targets.create(rows)
        let stored = ids.enumerated().map { id, key in
            Pointer<ID>(id: id, required: Reference(key), optional: id == 0 ? nil : Reference(key))
        }
        try pointers.create(stored)
        try expectEqual(try pointers.read(), stored, "\(ID.self)")
        for (id, row) in rows.enumerated() {
            try expectEqual(try pointers.read { $0.required == Reference(row) }.map(\.id), [id], "\(ID.self) == \(row)")
            try expectEqual(try targets.read(byPrimaryKey: stored[id].required), row, "the row of a \(ID.self)")
        }
        try targets.erase(rows[1])
        try expectEqual(try pointers.read().map(\.id), rows.indices.filter { $0 != 1 }, "\(ID.self) after an erasure")
    }
}

/// A row with References to rows that have a key of some type.
private struct Pointer<ID: PrimaryKeyValue & Equatable>: Plain, Model, Equatable {
    var id: Int
    var required: Reference<KeyedBy<ID>>
    var optional: Reference<KeyedBy<ID>>?

    static var schema: Schema<Self> {
        Schema(
            "to\(ID.self)", Self.init, Field("id", \.id, .primaryKey), Field("required", \.required, .cascade),
            Field("optional", \.optional))
    }
}

/// A row as one version of an application writes it.
private struct Written: Plain, Model {
    var id: Int
    var kind: String
    static let schema = Schema("written", Self.init, Field("id", \.id, .primaryKey), Field("kind", \.kind))
}

/// The same entity in a version that does not know every kind.
private struct Known: Plain, Model {
    enum Kind: String, FieldValue { case known }
    var id: Int
    var kind: Kind
    static let schema = Schema("written", Self.init, Field("id", \.id, .primaryKey), Field("kind", \.kind))
}

private struct ToKnown: Plain, Model {
    var id: Int
    var target: Reference<Known>?
    static let schema = Schema("toKnown", Self.init, Field("id", \.id, .primaryKey), Field("target", \.target))
}

/// A row with a field of the name that a ``Ledger``'s has.
private struct Clerk: Plain, Model, Equatable {
    var id: Int
    var name: String
    var days: Int

    static let schema = Schema(
        "clerk", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .indexed), Field("days", \.days))
}

/// A row with a Reference and partial indexes.
private struct Ledger: Plain, Model, Equatable {
    var id: Int
    var isBack: Bool
    var days: Int
    var clerk: Reference<Clerk>?

    static let schema = Schema(
        "ledger", Self.init,
        Field("id", \.id, .primaryKey), Field("isBack", \.isBack), Field("days", \.days), Field("clerk", \.clerk),
        indexes: [Index(\.clerk, where: { !$0.isBack }), Index(\.id, \.days, where: { $0.days >= 4 })])
}

/// A row with an index on a field that rows can be without.
private struct Nickname: Plain, Model, Equatable {
    var id: Int
    var name: String?

    static let schema = Schema("nickname", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .indexed))
}

private struct Letter: Plain, Model, Equatable {
    var id: Int
    var writer: Reference<Nickname>?

    static let schema = Schema("letter", Self.init, Field("id", \.id, .primaryKey), Field("writer", \.writer))
}
