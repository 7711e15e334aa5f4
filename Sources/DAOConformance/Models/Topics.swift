import DAOCore
import Foundation

/// A person, referred to by topics and posts.
package struct Person: Plain, Model, Equatable {
    package var id: Int
    package var name: String
    package var age: Int?

    package init(id: Int, name: String, age: Int? = nil) { (self.id, self.name, self.age) = (id, name, age) }

    package static let schema = Schema(
        "person", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .indexed), Field("age", \.age))
}

/// A post. A topic that is erased erases its posts too.
package struct Post: Plain, Model, Equatable {
    package var id: Int
    package var text: String
    package var isRead: Bool = false
    package var author: Person?

    package init(id: Int, text: String, isRead: Bool = false, author: Person? = nil) {
        (self.id, self.text, self.isRead, self.author) = (id, text, isRead, author)
    }

    package static let schema = Schema(
        "post", Self.init,
        Field("id", \.id, .primaryKey), Field("text", \.text, .indexed), Field("isRead", \.isRead),
        Field("author", \.author, .owned))

    package static func make(_ ids: some Sequence<Int>) -> [Post] { ids.map { Post(id: $0, text: "Post #\($0)") } }
}

/// A label. Topics share labels and do not erase them.
package struct Label: Plain, Model, Equatable {
    package var id: UUID
    package var name: String

    package init(id: UUID, name: String) { (self.id, self.name) = (id, name) }

    package static let schema = Schema("label", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))

    package static func make(_ number: UInt8, _ name: String = "label") -> Label {
        Label(id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number)), name: name)
    }
}

/// A parent with a cascading list, a list that does not cascade, and one related row.
package struct Topic: Plain, Model, Equatable {
    package var id: String
    package var title: String = ""
    package var owner: Person?
    package var posts: [Post] = []
    package var labels: [Label] = []

    package init(
        id: String, title: String = "", owner: Person? = nil, posts: [Post] = [], labels: [Label] = []
    ) {
        (self.id, self.title, self.owner, self.posts, self.labels) = (id, title, owner, posts, labels)
    }

    package static let schema = Schema(
        "topic", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("owner", \.owner, .linked),
        Field("posts", \.posts, .cascade), Field("labels", \.labels, .linked))
}

/// A topic as it is shown in a list: a read can leave its lists out.
package struct BriefTopic: Model, Equatable {
    package var id: String
    package var title: String = ""
    package var owner: Person?
    package var posts: [Post]?
    package var labels: [Label]?

    package static let schema = Schema(
        "topic", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("owner", \.owner, .linked),
        Field("posts", \.posts, .cascade), Field("labels", \.labels, .linked))
}

/// A second parent of posts, for processes that do not know topics.
struct Digest: Plain, Model, Equatable {
    var id: Int
    var posts: [Post] = []

    static let schema = Schema("digest", Self.init, Field("id", \.id, .primaryKey), Field("posts", \.posts, .cascade))
}

/// A model whose declaration takes as many changes of a database as that of a digest.
struct Bulletin: Plain, Model, Equatable {
    var id: Int
    var posts: [Post] = []

    static let schema = Schema(
        "bulletin", Self.init, Field("id", \.id, .primaryKey), Field("posts", \.posts, .cascade))
}

/// A tree, unless its rows form cycles.
package struct Folder: Plain, Model, Equatable {
    package var id: Int
    package var name: String = ""
    package var children: [Folder]? = []

    package init(id: Int, name: String = "", children: [Folder]? = []) {
        (self.id, self.name, self.children) = (id, name, children)
    }

    package static let schema = Schema(
        "folder", Self.init,
        Field("id", \.id, .primaryKey), Field("name", \.name), Field("children", \.children, .cascade))

    /// The keys of the folder and its descendants; the keys of children are in brackets.
    var outline: String {
        guard let children, !children.isEmpty else { return "\(id)" }
        return "\(id)[" + children.map(\.outline).joined(separator: " ") + "]"
    }
}

/// The first of two models that refer to each other.
struct Band: Plain, Model, Equatable {
    var id: Int
    var name: String
    var players: [Player]? = []

    static let schema = Schema(
        "band", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name), Field("players", \.players, .owned))
}

/// The second of the two models.
struct Player: Plain, Model, Equatable {
    var id: UInt64
    var name: String
    var bands: [Band]? = []

    static let schema = Schema(
        "player", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name), Field("bands", \.bands, .owned))
}
