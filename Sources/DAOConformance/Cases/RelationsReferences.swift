import DAOCore
import Foundation

/// R8: a to-one relationship is the key of the related row.
enum RelationsReferences {
    static let cases: [ConformanceCase] =
        [
            ConformanceCase("R.referenceKinds", "R8", "K1", title: "a to-one leads to keys of every kind, up to their limits") {
                context in
                let database = try context.open()
                try check(ToInteger.self, [Int64.min, -1, 0, .max].map(ByInteger.init), in: database)
                try check(
                    ToUnsigned.self, [0, UInt64(Int64.max), UInt64(Int64.max) + 1, .max].map(ByUnsigned.init), in: database)
                let long = String(repeating: "x", count: 255)
                try check(ToText.self, ["", "\0", "e\u{301}", long, long + "x", long + "y", "é"].map(ByText.init), in: database)
                let bytes: [UInt8] = [0, 1, 128, 255]
                let ids = bytes.map { UUID(uuid: ($0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255 - $0)) }
                try check(ToUUID.self, ids.map(ByUUID.init), in: database)
            },
            ConformanceCase("R.referenceChanges", "R8", "R1", title: "every write of a row writes its to-one") { context in
                let database = try context.open()
                let holders = try database.dao(ToInteger.self)
                let (one, two) = (ByInteger(id: 1), ByInteger(id: 2))
                func expect(_ target: ByInteger?, after write: String) throws {
                    try expectEqual(try holders.read(byPrimaryKey: 7)?.target, target, write)
                    try expectEqual(try holders.read { $0.target == one }.map(\.id), target == one ? [7] : [], "\(write), == 1")
                    try expectEqual(try holders.read { $0.target == two }.map(\.id), target == two ? [7] : [], "\(write), == 2")
                    try expectEqual(try holders.count { $0.target == nil }, target == nil ? 1 : 0, "\(write), == nil")
                }
                try holders.create(ToInteger(id: 7, target: one))
                try expect(one, after: "create")
                try holders.persist(ToInteger(id: 7, target: two))
                try expect(two, after: "persist")
                try holders.persist([ToInteger(id: 7, target: one), ToInteger(id: 7, target: two)])
                try expect(two, after: "persist of two values")
                try holders.persist(ToInteger(id: 7, target: nil))
                try expect(nil, after: "persist of nil")
                let storage = try database.storage(for: ToInteger.self)
                _ = try storage.merge(keys: [.integer(7)]) { _, row in row?.target = one }
                try expect(one, after: "merge")
                _ = try storage.update(Query(where: Condition { $0.target != nil })) { $0.target = two }
                try expect(two, after: "update")
                try storage.upsert([ToInteger(id: 7, target: one)])
                try expect(one, after: "upsert")
                try database.dao(ByInteger.self).erase(byPrimaryKey: 1)
                try expect(nil, after: "the erasure of the related row")
                try database.dao(ByInteger.self).persist(one)
                try expect(nil, after: "a new row with the key of the erased one")
            },
            ConformanceCase("R.referencesOfReferences", "R8", "P5", title: "conditions and sorts go through two to-ones") {
                context in
                let (database, stops) = try context.open(with: Stop.self)
                let (blue, red) = (Company(id: 1, name: "blue"), Company(id: 2, name: "red"))
                let lines = [Line(id: 1, company: blue), Line(id: 2, company: red), Line(id: 3, company: nil)]
                try stops.persist(
                    lines.map { Stop(id: $0.id * 10, line: $0) } + [Stop(id: 40, line: nil), Stop(id: 50, line: lines[0])])
                try expectEqual(try stops.read { $0.line.company.name == "blue" }.map(\.id), [10, 50])
                try expectEqual(try stops.read { !($0.line.company.name == "blue") }.map(\.id), [20, 30, 40])
                try expectEqual(try stops.read { $0.line.company == red || $0.line == lines[2] }.map(\.id), [20, 30])
                try expectEqual(try stops.read { $0.line.company == nil }.map(\.id), [30, 40])
                try expectEqual(try stops.read { $0.line.company == nil && $0.line != nil }.map(\.id), [30])
                try expectEqual(try stops.read(orderedBy: .descending(\.line, \.id)).map(\.id), [30, 20, 10, 50, 40])
                try database.dao(Line.self).persist(Line(id: 1, company: nil))
                try expectEqual(try stops.read { $0.line.company.name == "blue" }.map(\.id), [])
                try database.dao(Line.self).erase(byPrimaryKey: 3)
                try expectEqual(try stops.read { $0.line == nil }.map(\.id), [30, 40])
            },
        ]
        + [
            ConformanceCase("E.referencesOutliveChanges", "R8", "E2", "E3", title: "whatever rewrites a row keeps its to-one") {
                context in
                var database = try context.open()
                try database.dao(ByInteger.self).create((1...3).map { ByInteger(id: $0) })
                try database.dao(ToInteger.self).create(
                    (1...4).map { id in
                        ToInteger(id: id, target: id == 4 ? nil : ByInteger(id: Int64(id)))
                    })
                func expect<Holder: ReferenceHolder<ByInteger>>(_ type: Holder.Type, after change: String) throws {
                    let dao = try database.dao(type)
                    try expectEqual(try dao.read().map { $0.target?.id }, [1, 2, 3, nil], change)
                    try expectEqual(
                        try dao.read { $0[dynamicMember: type.path] == ByInteger(id: 2) }.map { $0.uniqueId }, [2],
                        "\(change), a condition")
                }
                try context.renew(&database)
                try expect(WithNote.self, after: "an added field")
                try context.renew(&database)
                try expect(WithRequiredNote.self, after: "a field that becomes required")
                try database.evolve(
                    Evolution(
                        version: 1,
                        migrations: [
                            Migration(to: 1) { step in
                                try step.forEachRow(of: "toInteger") { row in
                                    let target: Value = row["id"] == .integer(4) ? .null : row["id"]
                                    try expectEqual(row["target"], target, "a to-one in a migration")
                                    row["target"] = row["target"]
                                    row["note"] = .string("changed")
                                }
                                try step.changeType(of: "note", in: "toInteger", to: FieldType(.string, isOptional: true))
                                try step.rewrite("toInteger", as: WithNote.schema.description) { _, new in
                                    new["note"] = .string("new")
                                }
                            }
                        ]))
                try context.renew(&database)
                try expect(WithNote.self, after: "a migration")
                try expectError(.corruptedValue, "a to-one that a migration sets", entity: "toInteger", key: 1, field: "target") {
                    try database.evolve(
                        Evolution(
                            version: 2,
                            migrations: [
                                Migration(to: 2) { try $0.forEachRow(of: "toInteger") { $0["target"] = .integer(3) } }
                            ]))
                }
                try expect(WithNote.self, after: "a refused migration")
                try context.renew(&database)
                let older = try database.dao(WithoutTarget.self)
                try older.persist(older.read())
                try context.renew(&database)
                try expect(WithNote.self, after: "writes of an older build")
                let target = try context.openOther()
                try database.copy(to: target)
                database = target
                try expect(WithNote.self, after: "a copy")
            }
        ].requiring(.evolution)

    /// Stores a row for each related row, and one without, then finds and erases them by the related row.
    private static func check<Holder: ReferenceHolder>(
        _ type: Holder.Type, _ rows: [Holder.Target], in database: any Database
    ) throws {
        let dao = try database.dao(type)
        let name = type.schema.description.name
        try dao.persist(rows.enumerated().map { Holder(id: $0, target: $1) } + [Holder(id: rows.count, target: nil)])
        try expectEqual(try dao.read().map(\.target), rows + [nil], name)
        for (id, row) in rows.enumerated() {
            try expectEqual(
                try dao.read { $0[dynamicMember: type.path] == row }.map(\.uniqueId), [UniqueID(id)], "\(name) == \(row)")
            try expectEqual(try dao.count { $0[dynamicMember: type.path] != row }, rows.count, "\(name) != \(row)")
        }
        try expectEqual(
            try dao.read { $0[dynamicMember: type.path] == rows[0] || $0[dynamicMember: type.path] == rows[1] }.count, 2,
            "\(name) in two")
        try expectEqual(
            try dao.read { $0[dynamicMember: type.path] == nil }.map(\.uniqueId), [UniqueID(rows.count)], "\(name) == nil")
        try database.dao(Holder.Target.self).erase(rows[0])
        try expectEqual(try dao.read().map(\.target), [nil] + Array(rows.dropFirst()) + [nil], "\(name) after an erasure")
        try expectEqual(try dao.count { $0[dynamicMember: type.path] == nil }, 2, "\(name) == nil after an erasure")
    }
}

/// A model with a to-one relationship and a key of type `Int`.
private protocol ReferenceHolder<Target>: Model, Plain {
    associatedtype Target: Model & Plain & Equatable
    var target: Target? { get }
    init(id: Int, target: Target?)
    /// The key path of the stored property.
    static var path: any KeyPath<Self, Target?> & Sendable { get }
}

private struct ByInteger: Model, Plain, Equatable {
    var id: Int64
    static let schema = Schema("byInteger", Self.init(id:), Field("id", \.id, .primaryKey))
}

private struct ToInteger: ReferenceHolder {
    var id: Int
    var target: ByInteger?
    static let path: any KeyPath<Self, ByInteger?> & Sendable = \.target
    static let schema = Schema(
        "toInteger", Self.init(id:target:), Field("id", \.id, .primaryKey), Field("target", \.target, .linked))
}

private struct ByUnsigned: Model, Plain, Equatable {
    var id: UInt64
    static let schema = Schema("byUnsigned", Self.init(id:), Field("id", \.id, .primaryKey))
}

private struct ToUnsigned: ReferenceHolder {
    var id: Int
    var target: ByUnsigned?
    static let path: any KeyPath<Self, ByUnsigned?> & Sendable = \.target
    static let schema = Schema(
        "toUnsigned", Self.init(id:target:), Field("id", \.id, .primaryKey), Field("target", \.target, .linked))
}

private struct ByText: Model, Plain, Equatable {
    var id: String
    static let schema = Schema("byText", Self.init(id:), Field("id", \.id, .primaryKey))
}

private struct ToText: ReferenceHolder {
    var id: Int
    var target: ByText?
    static let path: any KeyPath<Self, ByText?> & Sendable = \.target
    static let schema = Schema(
        "toText", Self.init(id:target:), Field("id", \.id, .primaryKey), Field("target", \.target, .linked))
}

private struct ByUUID: Model, Plain, Equatable {
    var id: UUID
    static let schema = Schema("byUUID", Self.init(id:), Field("id", \.id, .primaryKey))
}

private struct ToUUID: ReferenceHolder {
    var id: Int
    var target: ByUUID?
    static let path: any KeyPath<Self, ByUUID?> & Sendable = \.target
    static let schema = Schema(
        "toUUID", Self.init(id:target:), Field("id", \.id, .primaryKey), Field("target", \.target, .linked))
}

private struct WithNote: ReferenceHolder {
    var id: Int
    var target: ByInteger?
    var note: String? = nil
    static let path: any KeyPath<Self, ByInteger?> & Sendable = \.target
    static let schema = Schema(
        "toInteger", Self.init(id:target:note:), Field("id", \.id, .primaryKey), Field("target", \.target, .linked),
        Field("note", \.note))
    init(id: Int, target: ByInteger?) { self.init(id: id, target: target, note: nil) }
    init(id: Int, target: ByInteger?, note: String?) { (self.id, self.target, self.note) = (id, target, note) }
}

private struct WithRequiredNote: ReferenceHolder {
    var id: Int
    var target: ByInteger?
    var note: String = ""
    static let path: any KeyPath<Self, ByInteger?> & Sendable = \.target
    static let schema = Schema(
        "toInteger", Self.init(id:target:note:), Field("id", \.id, .primaryKey), Field("target", \.target, .linked),
        Field("note", \.note, .default("none")))
    init(id: Int, target: ByInteger?) { self.init(id: id, target: target, note: "") }
    init(id: Int, target: ByInteger?, note: String) { (self.id, self.target, self.note) = (id, target, note) }
}

private struct WithoutTarget: Model, Plain {
    var id: Int
    var note: String?
    static let schema = Schema("toInteger", Self.init, Field("id", \.id, .primaryKey), Field("note", \.note))
}

private struct Company: Model, Plain, Equatable {
    var id: Int
    var name: String
    static let schema = Schema("company", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
}

private struct Line: Model, Plain, Equatable {
    var id: Int
    var company: Company?
    static let schema = Schema("line", Self.init, Field("id", \.id, .primaryKey), Field("company", \.company, .linked))
}

private struct Stop: Model, Plain, Equatable {
    var id: Int
    var line: Line?
    static let schema = Schema("stop", Self.init, Field("id", \.id, .primaryKey), Field("line", \.line, .owned))
}
