import DAOCore
import Testing

private struct Pair: Model, Equatable {
    var id: Int
    var left: String
    var right: String

    static let schema = Schema("pair", Self.init, Field("id", \.id, .primaryKey), Field("left", \.left), Field("right", \.right))
}

private enum Color: String, FieldValue { case red }
private struct Paint: Model {
    var id: Int
    var color: Color
    static let schema = Schema("paint", Self.init, Field("id", \.id, .primaryKey), Field("color", \.color))
}

private struct Defaults: Model, Equatable {
    var id: String
    var count: Int
    var note: String?
    var tags: [Int]
    static let schema = Schema(
        "defaults", Self.init, Field("id", \.id, .primaryKey), Field("count", \.count, .default(7)), Field("note", \.note),
        Field("tags", \.tags))
}

@Suite("E1 · A schema that contradicts itself names the contradiction")
struct SchemaCheckTests {
    private func message(_ schema: Schema<Pair>) -> String? { schema.problem?.message }
    private let make: @Sendable (Int, String, String) -> Pair = Pair.init(id:left:right:)

    @Test func contradictionsAreReported() {
        #expect(Pair.schema.problem == nil)
        #expect(
            message(Schema("a.x", make, Field("id", \.id, .primaryKey), Field("a", \.left), Field("b", \.right)))
                == "the entity name 'a.x' is not valid; use letters, digits, signs other than . , : ; = / \\ quotes, brackets and braces, and spaces between them, at most 128 bytes"
        )
        #expect(
            message(Schema("", make, Field("id", \.id, .primaryKey), Field("a", \.left), Field("b", \.right)))
                == "the entity name '' is not valid; use letters, digits, signs other than . , : ; = / \\ quotes, brackets and braces, and spaces between them, at most 128 bytes"
        )
        #expect(
            message(Schema("DAO_x", make, Field("id", \.id, .primaryKey), Field("a", \.left), Field("b", \.right)))
                == "the entity name 'DAO_x' begins with a prefix that is reserved for databases; choose another name")
        #expect(
            message(Schema("pair", make, Field("id", \.id, .primaryKey), Field("a ", \.left), Field("b", \.right)))
                == "the field name 'a ' is not valid; use letters, digits, signs other than . , : ; = / \\ quotes, brackets and braces, and spaces between them, at most 128 bytes"
        )
        #expect(
            message(Schema("pair", make, Field("id", \.id, .primaryKey), Field("a", \.left), Field("A", \.right)))
                == "two fields of 'pair' are named 'A' (ignoring case); rename one of them")
        #expect(
            message(Schema("pair", make, Field("id", \.id), Field("a", \.left), Field("b", \.right)))
                == "'pair' has no primary key; add .primaryKey to one field")
        #expect(
            message(Schema("pair", make, Field("id", \.id, .primaryKey), Field("a", \.left, .primaryKey), Field("b", \.right)))
                == "'pair' has more than one primary key: 'id' and 'a'; keep .primaryKey on one field")
        #expect(
            message(Schema("pair", make, Field("id", \.id, .primaryKey), Field("a", \.left), Field("b", \.left)))
                == "the fields 'a' and 'b' of 'pair' have the same key path; give each field a different property")
        let tagged: @Sendable (Int, [Int]) -> Defaults = { id, tags in Defaults(id: "\(id)", count: 0, note: nil, tags: tags) }
        let indexed = Schema<Defaults>("x", tagged, Field("count", \.count, .primaryKey), Field("tags", \.tags, .indexed))
        #expect(
            indexed.problem?.message
                == "the field 'tags' of 'x' is embedded, which cannot be indexed or unique; remove .indexed or .unique")
    }

    @Test func swappedFieldsAreDetected() throws {
        let swapped = Schema<Pair>("pair", make, Field("id", \.id, .primaryKey), Field("right", \.right), Field("left", \.left))
        let error = try storageError { try swapped.checkOrder(with: Pair(id: 1, left: "l", right: "r")) }
        #expect(error.kind == .invalidSchema)
        #expect(
            error.message
                == "the fields 'right' and 'left' of 'pair' are swapped; list them in the order of the initializer's parameters")
        #expect(throws: Never.self) { try Pair.schema.checkOrder(with: Pair(id: 1, left: "l", right: "r")) }
        #expect(throws: Never.self) { try swapped.checkOrder(with: Pair(id: 1, left: "same", right: "same")) }
    }

    @Test func defaultModelHasDeclaredAndEmptyValues() throws {
        #expect(try Defaults.schema.makeDefault() == Defaults(id: "", count: 7, note: nil, tags: []))
        let error = try storageError { try Paint.schema.makeDefault() }
        #expect(error.message == "the field 'color' of 'paint' has no default value; declare one with .default(…)")
    }

    @Test func longKeysAreRefused() throws {
        let long = Defaults(id: String(repeating: "x", count: 257), count: 0, note: nil, tags: [])
        #expect(try storageError { try Defaults.schema.validKey(of: long) }.kind == .invalidKey)
    }
}
