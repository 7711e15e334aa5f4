import DAOCore

/// The stored record of an article. The draft and the views are local: no plain has them.
struct ArticleModel: Model, Equatable {
    var id: Int
    var title: String
    var body: String
    var draft: String?
    var views: Int

    static let schema = Schema(
        "article", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title, .indexed), Field("body", \.body), Field("draft", \.draft),
        Field("views", \.views, .indexed, .default(7)))
}

/// An article as the application sees it.
struct Article: Plain, Equatable {
    var id: Int
    var title: String
    var body: String
    var uniqueId: UniqueID { UniqueID(id) }
}

/// Merges the fields of a plain into the stored record.
struct ArticleTranslator: Translator {
    func translate(model: ArticleModel) throws -> Article { Article(id: model.id, title: model.title, body: model.body) }
    func translate(plain: Article) throws -> ArticleModel {
        ArticleModel(id: plain.id, title: plain.title, body: plain.body, draft: nil, views: 0)
    }
    func translate(from plain: Article, to model: inout ArticleModel) throws {
        model.title = plain.title
        model.body = plain.body
    }
}

/// Replaces the complete stored record, since it has no `translate(from:to:)`.
struct ReplacingArticleTranslator: ReplacingTranslator {
    func translate(model: ArticleModel) throws -> Article { Article(id: model.id, title: model.title, body: model.body) }
    func translate(plain: Article) throws -> ArticleModel {
        ArticleModel(id: plain.id, title: plain.title, body: plain.body, draft: nil, views: 0)
    }
}

/// Merges although it is declared to replace: it has `translate(from:to:)`.
struct MergingArticleTranslator: ReplacingTranslator {
    private let base = ArticleTranslator()

    func translate(model: ArticleModel) throws -> Article { try base.translate(model: model) }
    func translate(plain: Article) throws -> ArticleModel { try base.translate(plain: plain) }
    func translate(from plain: Article, to model: inout ArticleModel) throws {
        try base.translate(from: plain, to: &model)
    }
}

/// A translator of items whose merge is a closure, which can throw or change the key.
struct ScriptedTranslator: Translator {
    typealias Plain = Item
    typealias Model = Item

    var make: @Sendable (Item) throws -> Item = { $0 }
    var merge: @Sendable (Item, inout Item) throws -> Void = { plain, model in model = plain }

    func translate(model: Item) throws -> Item { model }
    func translate(plain: Item) throws -> Item { try make(plain) }
    func translate(from plain: Item, to model: inout Item) throws { try merge(plain, &model) }
}

/// The same translator without a merge: stored items are replaced.
struct ScriptedReplacingTranslator: ReplacingTranslator {
    typealias Plain = Item
    typealias Model = Item

    var make: @Sendable (Item) throws -> Item = { $0 }

    func translate(model: Item) throws -> Item { model }
    func translate(plain: Item) throws -> Item { try make(plain) }
}
