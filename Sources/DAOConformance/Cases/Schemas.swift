import DAOCore

/// K1 and E1: contradictory declarations, and the description of a database.
enum Schemas {
    static let cases: [ConformanceCase] = [
        invalid("K.noKey", "K1", "a model without a key", NoKey.self, says: ["no primary key"]),
        invalid("K.twoKeys", "K1", "a model with two keys", TwoKeys.self, field: "other", says: ["'id'", "'other'"]),
        invalid(
            "E.duplicateNames", "E1", "a model with two fields of one name", DuplicateNames.self, field: "text",
            says: ["'text'"]),
        invalid(
            "E.duplicateNamesButCase", "E1", "a model with two field names that differ in case only", DuplicateCases.self,
            field: "Text", says: ["'Text'"]),
        invalid(
            "E.samePathTwice", "E1", "a model with one property in two fields", SamePath.self, field: "two",
            says: ["'one'", "'two'"]),
        invalid("E.badEntityName", "E1", "an entity name with a point", BadEntityName.self, says: ["bad.name"]),
        invalid("E.badFieldName", "E1", "a field name with a quote", BadFieldName.self, field: "a\"b", says: ["a\"b"]),
        invalid("E.emptyName", "E1", "an empty entity name", EmptyName.self, says: ["''"]),
        invalid(
            "E.reservedName", "E1", "an entity name that is reserved for databases", ReservedName.self,
            says: ["'sqlite_master'"]),
        invalid(
            "E.indexedEmbedding", "E1", "an index on an embedded value", IndexedEmbedding.self, field: "list",
            says: ["'list'"]),
        invalid(
            "E.indexTwiceOneField", "E1", "an index that has a field twice", TwiceInIndex.self, field: "rank",
            says: ["'rank'", "twice"]),
        invalid(
            "E.indexOfEmbedded", "E1", "an index over several fields with an embedded value", EmbeddedInIndex.self,
            field: "list", says: ["'list'"]),
        invalid(
            "E.indexTwice", "E1", "an index that is declared twice", SameIndexTwice.self, field: "rank, id", says: ["twice"]),
        invalid(
            "E.indexOfOneField", "E1", "an ascending index on one field outside the field", IndexOfOneField.self,
            field: "rank", says: [".unique"]),
        invalid(
            "E.indexOfManyFields", "E1", "an index over nine fields", IndexOfNineFields.self,
            field: "a, b, c, d, e, f, g, h, id", says: ["9 fields"]),
        invalid(
            "R.referenceUnsaid", "R10", "a required Reference that does not say what erasing its row means", Unsaid.self,
            field: "item", says: ["'item'", ".restricted", ".cascade"]),
        invalid(
            "R.referenceBoth", "R10", "a Reference that is restricted and cascades", SaidTwice.self, field: "item",
            says: ["'item'", ".restricted", ".cascade"]),
        invalid(
            "R.referenceOwned", "R9", "a Reference that is owned", OwnedReference.self, field: "item", says: ["'item'", ".owned"]),
        invalid(
            "R.referenceList", "R9", "a list of References", ReferenceList.self, field: "items",
            says: ["'items'", "list of models"]),
        ConformanceCase(
            "E.swappedFields", "E1", "V1", title: "two swapped fields of one type are detected before a row is read or written"
        ) { context in
            let database = try context.open()
            for attempt in 1...2 {
                let error = try expectError(.invalidSchema, "attempt \(attempt)", entity: "swapped", field: "first") {
                    try database.storage(for: Swapped.self)
                }
                try expect(
                    error.message.contains("'first'") && error.message.contains("'second'"), "both names in: \(error.message)"
                )
            }
            try expectError(.invalidSchema, "beside a mood", entity: "swapped_beside", field: "first") {
                try database.storage(for: SwappedBesideMood.self)
            }
            try expectEqual(try database.entities(), [], "the entities")
            let inOrder = try database.dao(InOtherOrder.self)
            try inOrder.create(InOtherOrder(last: "b", first: "a", id: 1))
            try expectEqual(try inOrder.read(byPrimaryKey: 1)?.first, "a", "an initializer in the order of the fields")
        },
        ConformanceCase(
            "E.swappedEnumerations", "E1", "V1",
            title: "swapped fields whose values only the application knows are found in the first row that shows them"
        ) { context in
            let database = try context.open()
            // Written by a model whose fields are in order, which the first row does not tell.
            let moods = try database.dao(Moods.self)
            try moods.create(Moods(id: 1, before: .calm, after: .calm))
            try expectEqual(try moods.update(where: { $0.id == 1 }) { $0.before = .other }, 1, "an update of a row that tells")
            try moods.create(Moods(id: 2, before: .calm, after: .other))
            try moods.persist(Moods(id: 1, before: .calm, after: .calm))
            let dao = try database.dao(SwappedMoods.self)
            try expectEqual(try dao.read(byPrimaryKey: 1)?.before, .calm, "a row that does not tell")
            for id in 10..<22 { try dao.create(SwappedMoods(id: id, before: .calm, after: .calm)) }
            for (what, body): (String, () throws -> Void) in [
                ("a read by key", { _ = try dao.read(byPrimaryKey: 2) }), ("a read", { _ = try dao.read() }),
                ("a write", { try dao.create(SwappedMoods(id: 3, before: .calm, after: .other)) }),
                ("a merge", { try dao.persist(SwappedMoods(id: 2, before: .other, after: .calm)) }),
                ("an update", { _ = try dao.update(where: { $0.id == 2 }) { $0.before = .calm } }),
            ] {
                try expectError(.invalidSchema, what, entity: "moods", field: "before") { try body() }
            }
            try expectEqual(try database.dao(Moods.self).read { $0.id < 10 }.map(\.after), [.calm, .other])
        },
        ConformanceCase("E.tradedNames", "E2", title: "two fields that trade names are invalidSchema, with the way out") {
            context in
            let error = try expectError(.invalidSchema, entity: "traded", field: "left") {
                try context.storage(Traded.self)
            }
            try expect(error.message.contains("'right'"), "the other name in: \(error.message)")
            try expect(error.message.contains("migration step"), "the way out in: \(error.message)")
        },
        ConformanceCase("E.describesItself", "E1", title: "a database describes its entities, fields and indexes") { context in
            let database = try context.open()
            _ = try database.storage(for: Member.self)
            _ = try database.storage(for: OptionalScalars.self)
            _ = try database.storage(for: Embeddings.self)
            let described = try database.entities().sorted { $0.name < $1.name }
            let expected = [Embeddings.schema.description, Member.schema.description, OptionalScalars.schema.description]
            try expectEqual(described.map(\.name), ["embeddings", "member", "optionals"])
            for (got, expected) in zip(described, expected) {
                try expectEqual(got, expected, "the entity '\(expected.name)'")
            }
        },
        ConformanceCase(
            "E.namesButCase", "E1", title: "an entity whose name differs from a stored name in case only is refused"
        ) { context in
            let (database, members) = try context.open(with: Lower.self)
            try members.persist(Lower(id: 1))
            let error = try expectError(.schemaMismatch, entity: "Casing_twin") {
                try database.dao(Upper.self).persist(Upper(id: 2))
            }
            try expect(error.message.contains("'casing_twin'"), "the other name in: \(error.message)")
            try expectError(.schemaMismatch, "the second attempt", entity: "Casing_twin") {
                _ = try database.storage(for: Upper.self)
            }
            _ = try database.storage(for: Cyrillic.self)
            try expectError(.schemaMismatch, "a name that differs in case", entity: "Имя") {
                _ = try database.storage(for: UpperCyrillic.self)
            }
            try expectEqual(try members.read(), [Lower(id: 1)], "the rows")
            try expectEqual(try database.entities().map(\.name).sorted(), ["casing_twin", "имя"], "the entities")
        },
        ConformanceCase(
            "E.describesAfterReopening", "E1",
            title: "a reopened database describes its entities before a storage is opened", requires: [.persistence]
        ) { context in
            let database = try context.open()
            _ = try database.storage(for: Member.self)
            _ = try database.storage(for: User.self)
            let again = try context.reopen(database)
            let described = try again.entities().sorted { $0.name < $1.name }
            try expectEqual(described, [Member.schema.description, User.schema.description], "the entities")
        },
        ConformanceCase("E.wordsAsNames", "E1", title: "keywords of query languages are valid names") { context in
            let dao = try context.dao(Words.self)
            try dao.create((1...3).map { Words(select: $0, from: "f\($0)", group: $0, order: nil, rowid: 10 - $0) })
            try expectEqual(try dao.read { $0.group > 1 && $0.from != "f3" }.map(\.select), [2])
            try expectEqual(try dao.read(orderedBy: .ascending(\.rowid)).map(\.select), [3, 2, 1])
            try expectEqual(try dao.erase { $0.order == nil && $0.select == 1 }, 1)
        },
        ConformanceCase(
            "E.truthAsName", "E1", "P1", title: "fields named true, false and null do not change the meaning of conditions"
        ) {
            context in
            let dao = try context.dao(Truths.self)
            try dao.create([
                Truths(id: 1, true: nil, false: 1, null: nil), Truths(id: 2, true: 0, false: 0, null: "null"),
                Truths(id: 3, true: 1, false: nil, null: "a"),
            ])
            try expectEqual(try dao.read { !$0.null.in(["a"]) }.map(\.id), [1, 2], "not in")
            try expectEqual(try dao.read { !$0.null.hasPrefix("n") }.map(\.id), [1, 3], "no prefix")
            try expectEqual(try dao.read { !($0.true < $0.false) }.map(\.id), [1, 2, 3], "not less")
            try expectEqual(try dao.read { $0.true == 1 || $0.false == 1 }.map(\.id), [1, 3], "equal")
        },
    ]

    private static func invalid<Record: Model>(
        _ id: String, _ rule: String, _ what: String, _ model: Record.Type, field: String? = nil, says words: [String]
    ) -> ConformanceCase {
        ConformanceCase(id, rule, title: "\(what) is invalidSchema with the fault in the message, and leaves nothing stored") {
            context in
            let database = try context.open()
            let error = try expectError(.invalidSchema, entity: Record.schema.description.name, field: field) {
                try database.storage(for: Record.self)
            }
            for word in words { try expect(error.message.contains(word), "\(word) in: \(error.message)") }
            try expectEqual(try database.entities().count, 0, "entities left behind")
            try database.dao(Item.self).create(Item.make([1]))
        }
    }
}

private struct Unsaid: Model {
    var id: Int
    var item: Reference<Item>
    static let schema = Schema("unsaid", Self.init, Field("id", \.id, .primaryKey), Field("item", \.item))
}

private struct SaidTwice: Model {
    var id: Int
    var item: Reference<Item>?
    static let schema = Schema(
        "saidTwice", Self.init, Field("id", \.id, .primaryKey), Field("item", \.item, .restricted, .cascade))
}

private struct OwnedReference: Model {
    var id: Int
    var item: Reference<Item>?
    static let schema = Schema("ownedReference", Self.init, Field("id", \.id, .primaryKey), Field("item", \.item, .owned))
}

private struct ReferenceList: Model {
    var id: Int
    var items: [Reference<Item>]
    static let schema = Schema("referenceList", Self.init, Field("id", \.id, .primaryKey), Field("items", \.items))
}

private struct TwiceInIndex: Model {
    var id: Int
    var rank: Int
    static let schema = Schema(
        "twiceInIndex", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank),
        indexes: [Index(orderedBy: .ascending(\.rank), .descending(\.rank))])
}

private struct EmbeddedInIndex: Model {
    var id: Int
    var list: [Int]
    static let schema = Schema(
        "embeddedInIndex", Self.init, Field("id", \.id, .primaryKey), Field("list", \.list), indexes: [Index(\.id, \.list)])
}

private struct SameIndexTwice: Model {
    var id: Int
    var rank: Int
    static let schema = Schema(
        "sameIndexTwice", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank),
        indexes: [Index(\.rank, \.id), Index(\.id, \.rank), Index(\.rank, \.id, isUnique: true)])
}

private struct IndexOfOneField: Model {
    var id: Int
    var rank: Int
    static let schema = Schema(
        "indexOfOneField", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank),
        indexes: [Index(orderedBy: .ascending(\.rank), isUnique: true)])
}

private struct IndexOfNineFields: Model {
    var id: Int
    var a, b, c, d, e, f, g, h: Int
    static let schema = Schema(
        "indexOfNineFields", Self.init,
        Field("id", \.id, .primaryKey), Field("a", \.a), Field("b", \.b), Field("c", \.c), Field("d", \.d), Field("e", \.e),
        Field("f", \.f), Field("g", \.g), Field("h", \.h),
        indexes: [Index(\.a, \.b, \.c, \.d, \.e, \.f, \.g, \.h, \.id)])
}

private struct NoKey: Model {
    var id: Int
    static let schema = Schema("noKey", Self.init, Field("id", \.id))
}

private struct TwoKeys: Model {
    var id: Int
    var other: Int
    static let schema = Schema("twoKeys", Self.init, Field("id", \.id, .primaryKey), Field("other", \.other, .primaryKey))
}

private struct DuplicateNames: Model {
    var id: Int
    var text: String
    var more: String
    static let schema = Schema(
        "duplicateNames", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text), Field("text", \.more))
}

private struct DuplicateCases: Model {
    var id: Int
    var text: String
    var more: String
    static let schema = Schema(
        "duplicateCases", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text), Field("Text", \.more))
}

private struct SamePath: Model {
    var id: Int
    var one: String
    var two: String
    static let schema = Schema("samePath", Self.init, Field("id", \.id, .primaryKey), Field("one", \.one), Field("two", \.one))
}

private struct BadEntityName: Model {
    var id: Int
    static let schema = Schema("bad.name", Self.init, Field("id", \.id, .primaryKey))
}

private struct BadFieldName: Model {
    var id: Int
    var text: String
    static let schema = Schema("badField", Self.init, Field("id", \.id, .primaryKey), Field("a\"b", \.text))
}

private struct EmptyName: Model {
    var id: Int
    static let schema = Schema("", Self.init, Field("id", \.id, .primaryKey))
}

private struct ReservedName: Model {
    var id: Int
    static let schema = Schema("sqlite_master", Self.init, Field("id", \.id, .primaryKey))
}

private struct Lower: Plain, Model, Equatable {
    var id: Int
    static let schema = Schema("casing_twin", Self.init, Field("id", \.id, .primaryKey))
}

private struct Upper: Plain, Model, Equatable {
    var id: Int
    static let schema = Schema("Casing_twin", Self.init, Field("id", \.id, .primaryKey))
}

private struct Cyrillic: Model {
    var id: Int
    static let schema = Schema("имя", Self.init, Field("id", \.id, .primaryKey))
}

private struct UpperCyrillic: Model {
    var id: Int
    static let schema = Schema("Имя", Self.init, Field("id", \.id, .primaryKey))
}

private struct IndexedEmbedding: Model {
    var id: Int
    var list: [Int]
    static let schema = Schema("indexedEmbedding", Self.init, Field("id", \.id, .primaryKey), Field("list", \.list, .indexed))
}

private struct Swapped: Plain, Model {
    var id: Int
    var first: String
    var second: String
    static let schema = Schema(
        "swapped", Self.init, Field("id", \.id, .primaryKey), Field("first", \.second), Field("second", \.first))
}

private struct SwappedBesideMood: Plain, Model {
    var id: Int
    var first: String
    var second: String
    var mood: Mood?
    static let schema = Schema(
        "swapped_beside", Self.init, Field("id", \.id, .primaryKey), Field("first", \.second), Field("second", \.first),
        Field("mood", \.mood))
}

/// Its initializer has the order of the fields, and not of the properties.
private struct InOtherOrder: Plain, Model {
    var first: String
    var last: String
    var id: Int
    init(last: String, first: String, id: Int) { (self.first, self.last, self.id) = (first, last, id) }
    static let schema = Schema(
        "ordered", Self.init, Field("last", \.last), Field("first", \.first), Field("id", \.id, .primaryKey))
}

private struct Moods: Plain, Model {
    var id: Int
    var before: Mood
    var after: Mood
    static let schema = Schema(
        "moods", Self.init, Field("id", \.id, .primaryKey), Field("before", \.before), Field("after", \.after))
}

private struct SwappedMoods: Plain, Model {
    var id: Int
    var before: Mood
    var after: Mood
    static let schema = Schema(
        "moods", Self.init, Field("id", \.id, .primaryKey), Field("before", \.after), Field("after", \.before))
}

private struct Traded: Plain, Model {
    var id: Int
    var left: String
    var right: String
    static let schema = Schema(
        "traded", Self.init, Field("id", \.id, .primaryKey), Field("left", \.left, .renamed(from: "right")),
        Field("right", \.right, .renamed(from: "left")))
}

private struct Words: Plain, Model {
    var select: Int
    var from: String
    var group: Int
    var order: String?
    var rowid: Int
    static let schema = Schema(
        "table", Self.init,
        Field("select", \.select, .primaryKey), Field("from", \.from, .indexed), Field("group", \.group, .indexed),
        Field("order", \.order, .unique), Field("rowid", \.rowid))
}

private struct Truths: Plain, Model {
    var id: Int
    var `true`: Int?
    var `false`: Int?
    var null: String?
    static let schema = Schema(
        "truths", Self.init,
        Field("id", \.id, .primaryKey), Field("true", \.true), Field("false", \.false, .indexed), Field("null", \.null))
}
