import DAOCore
import Foundation
import Testing

/// Contract L5: what a catalog says of an entity is checked in one place, where it is decoded.
@Suite struct StoredDescriptionTests {
    private static let whole = EntityDescription(
        name: "item",
        fields: [
            FieldDescription(name: "id", type: FieldType(.int64, isOptional: false), isPrimaryKey: true),
            FieldDescription(
                name: "name", type: FieldType(.string, isOptional: true), isIndexed: true, defaultValue: .string("none")),
            FieldDescription(name: "rank", type: FieldType(.int8, isOptional: false), defaultValue: .integer(3)),
        ],
        indexes: [
            IndexDescription(
                [IndexedField("rank"), IndexedField("name")],
                condition: .compare(field: "rank", comparison: .greater, value: .integer(1)))
        ])

    private func decoded(_ change: (inout EntityDescription) -> Void) throws -> EntityDescription {
        var entity = Self.whole
        change(&entity)
        return try JSONDecoder().decode(EntityDescription.self, from: JSONEncoder().encode(entity))
    }

    @Test func aSoundDescriptionIsDecoded() throws { #expect(try decoded { _ in } == Self.whole) }

    /// What a hostile catalog can say.
    private static let hostile: [(what: String, change: @Sendable (inout EntityDescription) -> Void)] = [
        ("no fields", { $0.fields = [] }), ("no key", { $0.fields[0].isPrimaryKey = false }),
        ("two keys", { $0.fields[2].isPrimaryKey = true }),
        ("an optional key", { $0.fields[0].type = FieldType(.int64, isOptional: true) }),
        ("a key of a type that has none", { $0.fields[0].type = FieldType(.double, isOptional: false) }),
        ("a field twice", { $0.fields[2].name = "NAME" }), ("an empty name", { $0.name = "" }),
        ("a name that controls a terminal", { $0.name = "\u{1B}[2J" }),
        ("a name in another direction", { $0.fields[1].name = "a\u{202E}b" }),
        ("a long name", { $0.name = String(repeating: "x", count: 1000) }), ("a reserved name", { $0.name = "dao_catalog" }),
        ("an index without fields", { $0.indexes = [IndexDescription([])] }),
        ("an index on a missing field", { $0.indexes = [IndexDescription([IndexedField("no"), IndexedField("id")])] }),
        (
            "an index on the elements of a text",
            { $0.indexes = [IndexDescription([IndexedField("name", elements: FieldType(.string, isOptional: false))])] }
        ),
        (
            "a condition without parts",
            { $0.indexes = [IndexDescription([IndexedField("rank")], condition: .and(conditions: []))] }
        ),
        (
            "a condition on nothing",
            {
                $0.indexes = [
                    IndexDescription([IndexedField("rank")], condition: .isIn(field: "rank", values: [], isNegated: false))
                ]
            }
        ),
        ("a default of another type", { $0.fields[2].defaultValue = .string("x") }),
        ("a default that is too large", { $0.fields[2].defaultValue = .integer(1000) }),
        ("an index on what has no order", { $0.fields[1].type = FieldType(.embedded, isOptional: false) }),
        (
            "a number that leads to rows",
            { $0.fields[2].relation = RelationTarget(entity: "item", keyKind: .int64, cascades: false) }
        ),
        (
            "rows whose keys cannot be",
            {
                $0.fields.append(FieldDescription(name: "next", type: FieldType(.toOne, isOptional: true)))
                $0.fields[3].relation = RelationTarget(entity: "item", keyKind: .embedded, cascades: false)
            }
        ),
        (
            "rows of a name that cannot be",
            {
                $0.fields.append(FieldDescription(name: "next", type: FieldType(.toOne, isOptional: true)))
                $0.fields[3].relation = RelationTarget(entity: "\u{9B}", keyKind: .int64, cascades: false)
            }
        ),
    ]

    @Test(arguments: hostile.map(\.what)) func aDescriptionThatNoSchemaHasIsRefused(_ what: String) throws {
        let change = try #require(Self.hostile.first { $0.what == what }).change
        #expect(throws: (any Error).self) { try decoded(change) }
    }

    @Test func errorsDoNotControlATerminal() {
        let error = StorageError(
            .corrupted, "'\u{1B}[2Jx\u{202E}' is\r damaged", entity: "\u{7}a", path: "\u{9B}p", engineMessage: "no \u{1B}c")
        let shown = error.message + error.description + (error.engineMessage ?? "")
        #expect(!shown.unicodeScalars.contains { "\u{1B}\u{202E}\r\u{7}\u{9B}".unicodeScalars.contains($0) })
        #expect(error.description.contains("'[2Jx' is damaged"))
    }
}
