import DAOCore
import Foundation

/// P9: conditions on the members of `Codable` values.
enum PredicatesMembers {
    static let cases: [ConformanceCase] = [
        ConformanceCase("P.members", "P9", "P3", title: "members of every type compare by value") { context in
            let reference = try ReferenceRows(
                context,
                [
                    Household(id: 1, address: Postal(town: "Aachen", size: 1.5, code: 5), perhaps: nil),
                    Household(
                        id: 2, address: Postal(town: "Berlin", code: .max, moved: Postal.day), perhaps: Postal(town: "Aachen")),
                    Household(
                        id: 3, address: Postal(town: "", size: .infinity, price: Postal.long, isOwn: true, mood: .other),
                        perhaps: Postal(town: "Zürich", code: 0)),
                ])
            try reference.check([2]) { $0.address.town == "Berlin" }
            try reference.check([1, 3]) { $0.address.town != "Berlin" }
            try reference.check([1, 2]) { $0.address.town > "" }
            try reference.check([1, 2]) { $0.address.town.matches("*e?*") }
            try reference.check([1, 3]) { $0.address.town.in(["Aachen", ""]) }
            try reference.check([2]) { $0.address.code == .max }
            try reference.check([3]) { $0.address.code == nil }
            try reference.check([1, 2]) { $0.address.code.between(5, and: .max) }
            try reference.check([3]) { $0.address.size > 1e300 }
            try reference.check([1]) { $0.address.size == 1.5 }
            try reference.check([2]) { $0.address.moved == Postal.day }
            try reference.check([3]) { $0.address.price == Postal.long }
            try reference.check([3]) { $0.address.price > Postal.long - 1 }
            try reference.check([3]) { $0.address.isOwn == true }
            try reference.check([3]) { $0.address.mood == .other }
            try reference.check([1, 2, 3]) { $0.address.key == Scalars.zero && $0.address.data == Data([0, 255]) }
        },
        ConformanceCase(
            "P.members.nil", "P9", "P1", title: "a member is nil where the value is nil, and where the stored JSON lacks it"
        ) { context in
            let reference = try ReferenceRows(
                context,
                [
                    Household(id: 1, address: Postal(town: "a", size: 2)),
                    Household(id: 2, address: Postal(town: "b"), perhaps: Postal(town: "b", code: 7)),
                    Household(id: 3, address: Postal(town: "c", size: 0), perhaps: Postal(town: "c")),
                ])
            try reference.check([1]) { $0.perhaps.town == nil }
            try reference.check([1, 3]) { $0.perhaps.town != "b" }
            try reference.check([3]) { $0.perhaps.town > "b" }
            try reference.check([1, 3]) { $0.perhaps.code == nil }
            try reference.check([2]) { $0.perhaps.code < 8 }
            // A size of one is not in the JSON: the type reads it as one, and the condition finds nil.
            try expectEqual(try reference.dao.read(byPrimaryKey: 2)?.address.size, 1)
            try reference.check([2]) { $0.address.size == nil }
            try reference.check([1, 3]) { $0.address.size >= 0 }
        },
        ConformanceCase("P.members.arrays", "P9", "P8", title: "members that are arrays have elements") { context in
            let reference = try ReferenceRows(
                context,
                [
                    Household(id: 1, address: Postal(town: "a", tags: [])),
                    Household(id: 2, address: Postal(town: "b", tags: ["x", "y"]), perhaps: Postal(town: "", tags: ["x"])),
                ])
            try reference.check([2]) { $0.address.tags.contains("y") }
            try reference.check([2]) { $0.address.tags.count == 2 }
            try reference.check([1]) { $0.address.tags.isEmpty }
            try reference.check([2]) { $0.perhaps.tags.contains { $0 > "w" } }
            try reference.check([1]) { $0.perhaps.tags.count == nil }
            try reference.check([1, 2]) { $0.perhaps.tags.allSatisfy { $0 == "x" } }
        },
        ConformanceCase("P.members.words", "P9", "P6", title: "text predicates on members give the rows of the typed form") {
            context in
            let reference = try ReferenceRows(
                context,
                [
                    Household(id: 1, address: Postal(town: "Aachen", tags: ["x"], code: 5)),
                    Household(id: 2, address: Postal(town: "Berlin"), perhaps: Postal(town: "aachen", tags: ["y", "z"])),
                ])
            let pairs: [(Condition<Household>, Condition<Household>)] = [
                ("address.city == 'Berlin'", Condition { $0.address.town == "Berlin" }),
                ("perhaps.city CONTAINS[c] 'AA'", Condition { $0.perhaps.town.contains("AA", .caseInsensitive) }),
                (Condition("%K > %d AND id < 9", "address.code", 4), Condition { $0.address.code > 4 }),
                (
                    "perhaps.city == nil OR NOT address.code IN {5, 6}",
                    Condition { $0.perhaps.town == nil || $0.address.code == nil }
                ),
                ("perhaps.city BETWEEN {'a', 'b'}", Condition { $0.perhaps.town.between("a", and: "b") }),
                ("address.tags CONTAINS 'x'", Condition { $0.address.tags.contains("x") }),
                ("ANY perhaps.tags > 'y'", Condition { $0.perhaps.tags.contains { $0 > "y" } }),
                ("ALL perhaps.tags >= 'y'", Condition { $0.perhaps.tags.allSatisfy { $0 >= "y" } }),
                ("perhaps.tags.@count == 2", Condition { $0.perhaps.tags.count == 2 }),
            ]
            for (words, typed) in pairs {
                try expectEqual(try reference.ids(words), try reference.ids(typed), "\(typed.node)")
                try reference.checkReference(words, "\(typed.node)")
            }
            for (text, field, message) in [
                ("address.town == 'x'", "address.town", "has no field 'address.town'"),
                ("address.city == 5", "address.city", "cannot be compared with a value of type integer"),
                ("ANY address.city == 'x'", nil, "expected a list of related rows, or an array, after 'ANY'"),
            ] as [(String, String?, String)] {
                let error = try expectError(.invalidPredicate, message, entity: "household", field: field) {
                    try reference.ids(Condition(stringLiteral: text))
                }
                try expect(error.message.contains(message), "'\(message)' in '\(error.message)'")
            }
        },
        ConformanceCase("P.members.undeclared", "P9", "L7", title: "a member that the field does not declare is invalidPredicate")
        {
            context in
            let dao = try context.dao(Household.self)
            try expectError(.invalidPredicate, entity: "household") { try dao.read { $0.address.note == "x" } }
        },
        ConformanceCase("P.members.twice", "P9", "L7", title: "two members of one name are invalidSchema") { context in
            let database = try context.open()
            try expectError(.invalidSchema, entity: "twice", field: "address") { try database.storage(for: TwoMembers.self) }
        },
        ConformanceCase("P.members.relations", "P9", "P5", title: "members of related rows are reached") { context in
            let dao = try context.dao(Street.self)
            let homes = [Household(id: 1, address: Postal(town: "a")), Household(id: 2, address: Postal(town: "b"))]
            try dao.persist([Street(id: 1, first: homes[0], all: homes), Street(id: 2, first: nil, all: [])])
            try expectEqual(try dao.read { $0.first.address.town == "a" }.map(\.id), [1])
            try expectEqual(try dao.read { $0.first.address.town == nil }.map(\.id), [2])
            try expectEqual(try dao.read { $0.all.contains { $0.address.town == "b" } }.map(\.id), [1])
            try expectEqual(try dao.read(predicatedBy: "ANY all.address.city == 'b'").map(\.id), [1])
        },
    ]
}

/// A `Codable` value with members of many types, one of them under another name, and one that its JSON can lack.
struct Postal: CompositeFieldValue, Equatable {
    var town: String
    var tags: [String] = []
    var size: Double = 1
    var code: Int?
    var moved: Date?
    var price: Decimal?
    var isOwn: Bool = false
    var mood: Feeling = .calm
    var key: UUID = Scalars.zero
    var data: Data = Data([0, 255])
    var note: String?

    enum Feeling: String, Codable, FieldValue { case calm, other }

    static let day = Date(timeIntervalSinceReferenceDate: 700_000_000.123)
    static let long = Decimal(string: "12345678901234567890.0123456789") ?? 0

    enum CodingKeys: String, CodingKey { case town = "city", tags, size, code, moved, price, isOwn, mood, key, data, note }
}

extension Postal {
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        town = try container.decode(String.self, forKey: .town)
        tags = try container.decode([String].self, forKey: .tags)
        size = try container.decodeIfPresent(Double.self, forKey: .size) ?? 1
        code = try container.decodeIfPresent(Int.self, forKey: .code)
        moved = try container.decodeIfPresent(Date.self, forKey: .moved)
        price = try container.decodeIfPresent(Decimal.self, forKey: .price)
        isOwn = try container.decode(Bool.self, forKey: .isOwn)
        mood = try container.decode(Feeling.self, forKey: .mood)
        key = try container.decode(UUID.self, forKey: .key)
        data = try container.decode(Data.self, forKey: .data)
        note = try container.decodeIfPresent(String.self, forKey: .note)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(town, forKey: .town)
        try container.encode(tags, forKey: .tags)
        if size != 1 { try container.encode(size, forKey: .size) }
        try container.encodeIfPresent(code, forKey: .code)
        // Null is as nil as nothing.
        try container.encode(moved, forKey: .moved)
        try container.encodeIfPresent(price, forKey: .price)
        try container.encode(isOwn, forKey: .isOwn)
        try container.encode(mood, forKey: .mood)
        try container.encode(key, forKey: .key)
        try container.encode(data, forKey: .data)
        try container.encodeIfPresent(note, forKey: .note)
    }
}

/// A model with `Codable` values whose members are declared.
struct Household: Numbered {
    var id: Int
    var address: Postal
    var perhaps: Postal?

    static let schema = Schema(
        "household", Self.init,
        Field("id", \.id, .primaryKey),
        Field(
            "address", \.address, .member("city", \.town), .member("tags", \.tags), .member("size", \.size),
            .member("code", \.code),
            .member("moved", \.moved), .member("price", \.price), .member("isOwn", \.isOwn), .member("mood", \.mood),
            .member("key", \.key), .member("data", \.data)),
        Field("perhaps", \.perhaps, .member("city", \.town), .member("tags", \.tags), .member("code", \.code)))
}

/// A model whose field declares two members by one name.
struct TwoMembers: Numbered {
    var id: Int
    var address: Postal

    static let schema = Schema(
        "twice", Self.init, Field("id", \.id, .primaryKey),
        Field("address", \.address, .member("city", \.town), .member("city", \.note)))
}

/// A model whose related rows have `Codable` values.
struct Street: Numbered {
    var id: Int
    var first: Household?
    var all: [Household]

    static let schema = Schema(
        "street", Self.init, Field("id", \.id, .primaryKey), Field("first", \.first, .owned), Field("all", \.all, .owned))
}
