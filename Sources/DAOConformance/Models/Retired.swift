import DAOCore

// Models of the entity of ``NoteV1`` that know less of it than others.

/// The first version, which drops the fields that it does not declare.
struct NoteThatDrops: Plain, Model, Equatable {
    var id: Int
    var title: String

    static let schema = Schema("note", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
        .dropped("rank", "mark")
}

/// The first version, which drops the color that later versions have.
struct NoteWithoutColor: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark)
    ).dropped("color", "neverStored")

    init(id: Int, title: String, rank: Int, mark: String?) {
        (self.id, self.title, self.rank, self.mark) = (id, title, rank, mark)
    }

    init(_ note: NoteV1) { self.init(id: note.id, title: note.title, rank: note.rank, mark: note.mark) }
}

/// The first version without the rank.
struct NoteWithoutRank: Plain, Model, Equatable {
    var id: Int
    var title: String
    var mark: String?

    static let schema = Schema(
        "note", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("mark", \.mark))

    init(id: Int, title: String, mark: String?) { (self.id, self.title, self.mark) = (id, title, mark) }

    init(_ note: NoteV1) { self.init(id: note.id, title: note.title, mark: note.mark) }
}

/// Everything there is to know of a note: what smaller models must keep.
struct FullNote: Plain, Model, Equatable {
    var id: Int
    var title: String
    var body: String?
    var rank: Int
    var code: String?
    var tags: [String]

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("body", \.body),
        Field("rank", \.rank, .default(7), .indexed), Field("code", \.code, .unique), Field("tags", \.tags, .default(["new"])))

    /// Notes 1 to a count.
    static func make(_ count: Int) -> [FullNote] {
        (1...count).map {
            FullNote(
                id: $0, title: "Title \($0)", body: $0 % 3 == 0 ? nil : "body \($0) é", rank: $0 % 5, code: "code \($0)",
                tags: ["a", "\($0)"])
        }
    }
}

/// A model without most of the fields, and those in another order.
struct LightNote: Plain, Model, Equatable {
    var title: String
    var id: Int

    static let schema = Schema("note", Self.init, Field("title", \.title), Field("id", \.id, .primaryKey))
}

/// As ``FullNote``, with the fields in another order.
struct ReorderedNote: Plain, Model, Equatable {
    var tags: [String]
    var rank: Int
    var body: String?
    var id: Int
    var code: String?
    var title: String

    static let schema = Schema(
        "note", Self.init,
        Field("tags", \.tags, .default(["new"])), Field("rank", \.rank, .default(7), .indexed), Field("body", \.body),
        Field("id", \.id, .primaryKey), Field("code", \.code, .unique), Field("title", \.title))

    init(tags: [String], rank: Int, body: String?, id: Int, code: String?, title: String) {
        (self.tags, self.rank, self.body, self.id, self.code, self.title) = (tags, rank, body, id, code, title)
    }

    init(_ note: FullNote) {
        self.init(tags: note.tags, rank: note.rank, body: note.body, id: note.id, code: note.code, title: note.title)
    }
}

/// The rank has another default.
struct NoteWithNewDefault: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int

    static let schema = Schema(
        "note", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title),
        Field("rank", \.rank, .default(9), .indexed))
}

/// The body is what was called the body, under another name.
struct NoteWithText: Plain, Model, Equatable {
    var id: Int
    var title: String
    var text: String?

    static let schema = Schema(
        "note", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("text", \.text, .renamed(from: "body")))
}

/// The body has become a number.
struct NoteWithNumericBody: Plain, Model, Equatable {
    var id: Int
    var title: String
    var body: Int?

    static let schema = Schema(
        "note", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("body", \.body))
}

/// A name that differs from a stored one in case only.
struct NoteWithOtherCase: Plain, Model, Equatable {
    var id: Int
    var title: String
    var content: String?

    static let schema = Schema(
        "note", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("Body", \.content))
}

/// The mark is called sign, without a word.
struct NoteThatRenames: Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var sign: String?

    static let schema = Schema(
        "note", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("sign", \.sign))
}

/// The title is called name, without a word.
struct NoteThatRenamesTitle: Model, Equatable {
    var id: Int
    var name: String
    var rank: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name), Field("rank", \.rank), Field("mark", \.mark))
}

/// A sign beside the mark.
struct NoteWithSignToo: Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?
    var sign: String?

    static let schema = Schema(
        "note", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark),
        Field("sign", \.sign))
}

/// A seal, and no mark any more.
struct NoteWithSeal: Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var sign: String?
    var seal: String?

    static let schema = Schema(
        "note", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("sign", \.sign),
        Field("seal", \.seal)
    ).dropped("mark")
}
