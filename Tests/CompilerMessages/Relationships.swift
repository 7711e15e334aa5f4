// swift-format-ignore-file
import DAOCore

func relationships(_ articles: ModelDAO<Article>) throws {
    _ = try articles.read { $0.comments.text == "a" }  // expect-error: subscript 'subscript(dynamicMember:)' requires the types '[Comment]' and 'Related?' be equivalent
    _ = try articles.read { $0.comments.count > "3" }  // expect-error: binary operator '>' cannot be applied to operands of type 'FieldExpression<Article, Int>' and 'String'
    _ = try articles.read { $0.comments.contains { $0.text == 5 } }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<Comment, String>' and 'Int'
    _ = try articles.read { $0.comments.contains { $0.txt == "a" } }  // expect-error: value of type 'FieldProxy<Comment>' has no dynamic member 'txt' using key path from root type 'Comment'
    _ = try articles.read { $0.comments.contains("a") }  // expect-error: cannot convert value of type 'String' to expected argument type '(FieldProxy<Comment>) -> some ConditionConvertible'
    _ = try articles.read { $0.writer.nme == "a" }  // expect-error: value of type 'FieldExpression<Article, Writer?>' has no dynamic member 'nme' using key path from root type 'Writer'
    _ = try articles.read { $0.writer.name == 5 }  // expect-error: cannot convert value of type 'Int' to expected argument type 'FieldExpression<Article, String?>'
    _ = try articles.read { $0.writer?.name == "a" }  // expect-error: cannot use optional chaining on non-optional value of type 'FieldExpression<Article, Writer?>'
    _ = try articles.read { $0.writer.name == "a" && $0.comments.allSatisfy { $0.isAproved } }  // expect-error: value of type 'FieldProxy<Comment>' has no dynamic member 'isAproved' using key path from root type 'Comment'
    _ = try articles.erase { $0.comments.contains { $0.isApproved == 1 } }  // expect-error: integer literal value '1' cannot be used as a boolean; did you mean 'true'?
}

struct RequiredWriter: Model {
    var id: Int
    var writer: Writer

    static let schema = Schema(  // expect-error: initializer 'init(_:_:_:indexes:)' requires that 'Writer' conform to 'FieldValue'
        "required_writer", Self.init,
        Field("id", \.id, .primaryKey),
        Field("writer", \.writer)  // expect-error: generic struct 'Field' requires that 'Writer' conform to 'FieldValue'
    )
}

struct CascadingTitle: Model {
    var id: Int
    var title: String

    static let schema = Schema(
        "cascading_title", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title, .cascade)  // expect-error: static property 'cascade' requires that 'String' conform to 'RelationValue'
    )
}

struct OwnedTitle: Model {
    var id: Int
    var title: String

    static let schema = Schema(
        "owned_title", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title, .owned)  // expect-error: static property 'owned' requires that 'String' conform to 'RelationValue'
    )
}

struct LinkedTitle: Model {
    var id: Int
    var title: String?

    static let schema = Schema(
        "linked_title", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title, .linked)  // expect-error: referencing static property 'linked' on 'Optional' requires that 'String' conform to 'Model'
    )
}
