// swift-format-ignore-file
import DAOCore

func relationships(_ articles: DAO<Article>) throws {
    _ = try articles.read { $0.comments.text == "a" }  // expect-error: subscript 'subscript(dynamicMember:)' requires that '[Comment]' conform to 'ToOneValue'
    _ = try articles.read { $0.comments.count > "3" }  // expect-error: binary operator '>' cannot be applied to operands of type 'FieldExpression<Article, Array<Comment>.ListCount>' (aka 'FieldExpression<Article, Int>') and 'String'
    _ = try articles.read { $0.comments.contains { $0.text == 5 } }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<Array<Comment>.ListedRow, String>' (aka 'FieldExpression<Comment, String>') and 'Int'
    _ = try articles.read { $0.comments.contains { $0.txt == "a" } }  // expect-error: value of type 'FieldProxy<Array<Comment>.ListedRow>' (aka 'FieldProxy<Comment>') has no dynamic member 'txt'
    _ = try articles.read { $0.comments.contains("a") }  // expect-error: cannot convert value of type 'String' to expected argument type '(FieldProxy<Array<Comment>.ListedRow>) -> some ConditionConvertible' (aka '(FieldProxy<Comment>) -> some ConditionConvertible')
    _ = try articles.read { $0.writer.nme == "a" }  // expect-error: value of type 'FieldExpression<Article, Writer?>' has no dynamic member 'nme' using key path from root type 'Optional<Writer>.RelatedRow' (aka 'Writer')
    _ = try articles.read { $0.writer.name == 5 }  // expect-error: cannot convert value of type 'Int' to expected argument type 'FieldExpression<Article, String?>'
    _ = try articles.read { $0.writer?.name == "a" }  // expect-error: cannot use optional chaining on non-optional value of type 'FieldExpression<Article, Writer?>'
    _ = try articles.read { $0.writer.name == "a" && $0.comments.allSatisfy { $0.isAproved } }  // expect-error: value of type 'FieldProxy<Array<Comment>.ListedRow>' (aka 'FieldProxy<Comment>') has no dynamic member 'isAproved'
    _ = try articles.erase { $0.comments.contains { $0.isApproved == 1 } }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<Array<Comment>.ListedRow, Bool>' (aka 'FieldExpression<Comment, Bool>') and 'Int'
}

struct RequiredWriter: Model {
    var id: Int
    var writer: Writer

    static let schema = Schema(
        "required_writer", Self.init,
        Field("id", \.id, .primaryKey),
        Field("writer", \.writer)  // expect-error: generic type alias 'Field' requires that 'Writer' conform to 'FieldValue'
    )
}

struct CascadingTitle: Model {
    var id: Int
    var title: String

    static let schema = Schema(
        "cascading_title", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title, .cascade)  // expect-error: 'cascade' is unavailable: only a relationship cascades: [SomeModel], SomeModel? or a Reference
    )
}

struct OwnedTitle: Model {
    var id: Int
    var title: String

    static let schema = Schema(
        "owned_title", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title, .owned)  // expect-error: 'owned' is unavailable: only a relationship is owned: [SomeModel], SomeModel? or a Reference
    )
}

struct LinkedTitle: Model {
    var id: Int
    var title: String?

    static let schema = Schema(
        "linked_title", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title, .linked)  // expect-error: 'linked' is unavailable: only a relationship is linked: [SomeModel], SomeModel? or a Reference
    )
}

struct Folder: Plain, Model {
    var id: Int
    var parent: Reference<Folder>?
    var owner: Reference<Writer>

    static let schema = Schema(
        "folder", Self.init,
        Field("id", \.id, .primaryKey),
        Field("parent", \.parent),
        Field("owner", \.owner, .restricted)
    )
}

func references(_ folders: DAO<Folder>, _ articles: DAO<Article>, _ article: Article) throws {
    _ = try folders.read { $0.owner.nme == "a" }  // expect-error: has no dynamic member 'nme'
    _ = try folders.read { $0.owner.name == 5 }  // expect-error: cannot convert value of type 'Int'
    _ = try folders.read { $0.owner == 7 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<Folder, Reference<Writer>>' and 'Int'
    _ = try folders.read { $0.owner == nil }  // expect-error: '==' is unavailable: a field that is not optional is never nil
    _ = try folders.read { $0.parent == Reference(article) }  // expect-error: initializer 'init(_:)' requires that 'Article' conform to 'PrimaryKeyValue'
    _ = try articles.including(\.title)  // expect-error: instance method 'including' requires that 'String' conform to 'RelationValue'
    _ = try articles.including(\.coments)  // expect-error: has no member 'coments'
    _ = Folder(id: 1, owner: 7)  // expect-error: cannot convert value of type 'Int' to expected argument type 'Reference<Writer>'
    _ = Folder(id: 1, owner: Reference(article))  // expect-error: initializer 'init(_:)' requires that 'Article' conform to 'PrimaryKeyValue'
}

struct RestrictedWriter: Model {
    var id: Int
    var writer: Writer?

    static let schema = Schema(
        "restricted_writer", Self.init,
        Field("id", \.id, .primaryKey),
        Field("writer", \.writer, .restricted)  // expect-error: 'restricted' is unavailable: only a Reference is restricted
    )
}

struct RestrictedTitle: Model {
    var id: Int
    var title: String

    static let schema = Schema(
        "restricted_title", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title, .restricted)  // expect-error: 'restricted' is unavailable: only a Reference is restricted
    )
}
