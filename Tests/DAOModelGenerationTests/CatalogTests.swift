import DAOCore
import DAOMemory
import Foundation
import Testing

@testable import DAOModelGeneration

/// Models of the entities of a database, from its catalog alone.
@Suite(.timeLimit(.minutes(30))) struct CatalogTests {
    struct Writer: Plain, Model {
        var id: UUID
        var name: String
        static let schema = Schema("writer", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .unique))
    }

    struct Post: Plain, Model {
        var id: Int
        var date: Date?
        var stars: Int16
        var tags: [String]
        var writer: Reference<Writer>
        var parts: [Writer]
        var note: Writer?
        static let schema = Schema(
            "blog_post", Self.init,
            Field("id", \.id, .primaryKey),
            Field("date", \.date, .indexed),
            Field("stars", \.stars, .default(3)),
            Field("tags", \.tags),
            Field("writer", \.writer, .restricted),
            Field("parts", \.parts, .cascade),
            Field("note", \.note, .linked),
            indexes: [Index(orderedBy: .ascending(\.stars), .descending(\.date), isUnique: true)])
    }

    struct HardNames: Plain, Model {
        var number: Int
        var date: Date
        var twin: String
        var year: Int?
        static let schema = Schema(
            "order details (2024)", Self.init, Field("Order #", \.number, .primaryKey), Field("Order Date", \.date),
            Field("orderDate", \.twin), Field("2024", \.year),
            indexes: [Index(\.date, \.year), Index(\.twin, where: { $0.year != nil })])
    }

    /// Properties have names that Swift can have, and the fields their own.
    @Test func namesWithSpacesAndSignsBecomeProperties() throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        _ = try database.storage(for: HardNames.self)
        let entity = try JSONEncoder().encode(database.entities()[0])
        let target = Target()
        try target.write("", to: "main.swift")
        let outcome = try target.generate(
            catalog: "{\"entities\": [{\"catalog\": \(String(decoding: entity, as: UTF8.self))}]}")
        #expect(outcome.isClean, "\(outcome.lines)")
        let code = try #require(target.code("OrderDetails2024.swift"))
        for line in [
            "var order: Int", "var orderDate2: Date", "var orderDate: String", "var _2024: Int?",
            "Field(\"Order #\", \\.order, .primaryKey)", "Field(\"Order Date\", \\.orderDate2)", "Field(\"2024\", \\._2024)",
            "Index(orderedBy: .ascending(\\.orderDate2), .ascending(\\._2024))", "where: { $0._2024 != nil }",
        ] { #expect(code.contains(line), "\(line) in \(code)") }
    }

    @Test func entitiesBecomeModelsThatDeclareTheSame() throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        _ = try database.storage(for: Post.self)
        let entities = try database.entities()
        let encoded = try entities.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        let catalog = "{\"entities\": [\(encoded.map { "{\"catalog\": \($0)}" }.joined(separator: ", "))]}"
        let target = Target()
        try target.write("", to: "main.swift")
        let outcome = try target.generate(catalog: catalog)
        #expect(target.models == ["BlogPost.swift", "Writer.swift"])
        #expect(!outcome.isClean && outcome.lines.last?.contains("'tags' of 'blog_post' is JSON") == true)
        #expect(
            target.code("BlogPost.swift") == """
                import DAOCore
                import Foundation

                struct BlogPost: Plain, Model {
                    var id: Int
                    var date: Date?
                    var stars: Int16
                    var writer: Reference<Writer>
                    var parts: [Writer]?
                    var note: Reference<Writer>?
                    // var tags: [String]    // JSON; its type is yours. Field("tags", \\.tags)

                    static let schema = Schema(
                        "blog_post", Self.init,
                        Field("id", \\.id, .primaryKey),
                        Field("date", \\.date, .indexed),
                        Field("stars", \\.stars, .default(3)),
                        Field("writer", \\.writer, .restricted),
                        Field("parts", \\.parts, .cascade),
                        Field("note", \\.note),
                        indexes: [
                            Index(orderedBy: .ascending(\\.stars), .descending(\\.date), isUnique: true)
                        ]
                    )
                }

                """)
        let own = try #require(target.code("BlogPost.swift")).replacing("// var tags", with: "var tags")
        try target.write(own, to: "Models/BlogPost.swift")
        let again = try target.generate(catalog: catalog)
        #expect(again.isClean, "\(again.lines)")
        #expect(target.read("Models/BlogPost.swift") == own)
    }

    @Test func namesOfEntitiesBecomeNamesOfTypes() {
        #expect(
            ["message", "blog_post", "string", "_x", "URLEntry"].map(CatalogReader.typeName) == [
                "Message", "BlogPost", "StringRow", "X", "URLEntry",
            ])
        #expect(
            ["Message", "URLEntry", "URL", "SpaceFolder"].map(PlainReader.lowercased) == [
                "message", "urlEntry", "url", "spaceFolder",
            ])
    }
}
