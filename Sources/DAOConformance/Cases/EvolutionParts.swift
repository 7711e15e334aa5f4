import DAOCore

/// E7: models of a part of an entity.
enum EvolutionParts {
    /// A database with letters, which the whole model has stored.
    private static func database(_ context: ConformanceContext) throws -> (any Database, [Letter]) {
        let database = try context.open()
        let letters = (1...20).map { id in
            Letter(
                id: id, title: "Title \(id)", body: "body \(id)", rank: id % 4, tags: ["\(id)"],
                pages: [Sheet(id: id), Sheet(id: 100)])
        }
        try database.dao(Letter.self).create(letters)
        return (database, letters)
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase("E.partReads", "E7", title: "a part reads, counts, sorts and pages its fields beside the whole") {
            context in
            let (database, letters) = try database(context)
            let whole = try database.dao(Letter.self)
            let heads = try database.dao(LetterHead.self)
            let expected = letters.map { LetterHead(rank: $0.rank, id: $0.id, title: $0.title) }
            let before = try database.entities()
            try expectSame(try heads.read(), expected)
            try expectSame(try heads.read(byPrimaryKey: 7), expected[6])
            try expectSame(try heads.read(byPrimaryKeys: [3, 1]), [expected[2], expected[0]])
            try expectEqual(try heads.read { $0.rank == 2 && $0.title != "Title 6" }.map(\.id), [2, 10, 14, 18])
            try expectEqual(
                try heads.read(orderedBy: .descending(\.rank), limit: 3) { $0.id > 4 }.map(\.id), [7, 11, 15], "sorted")
            try expectEqual(try heads.count { $0.rank == 0 }, 5)
            try expectEqual(try heads.sum(\.rank), 30)
            // The indexes are those of the entity, which the part does not repeat.
            let storage = try database.storage(for: LetterHead.self)
            try expectEqual(
                try storage.explain(Query(where: Condition { $0.rank == 1 })).access,
                try database.storage(for: Letter.self).explain(Query(where: Condition { $0.rank == 1 })).access, "the plan")
            try expectEqual(try database.entities(), before, "the entities")
            try expectSame(try whole.read(), letters)
        },
        ConformanceCase("E.partComesFirst", "E7", "E1", title: "asking for a part declares the whole entity") { context in
            let database = try context.open()
            let heads = try database.dao(LetterHead.self)
            try expectEqual(try heads.count(), 0)
            let names = try database.entities().map(\.name)
            try expect(Set(["letter", "sheet"]).isSubset(of: names), "the whole entity and its child, not \(names)")
            try expectEqual(
                try database.entities().first { $0.name == "letter" }?.fields.map(\.name),
                ["id", "title", "body", "rank", "tags", "pages"])
            try expectError(.schemaMismatch, "another declaration", entity: "letter") {
                try database.storage(for: OtherLetter.self)
            }
            let letter = Letter(id: 1, title: "t", body: "b", rank: 1, tags: [], pages: [])
            try database.dao(Letter.self).create(letter)
            try expectEqual(try heads.read().map(\.title), ["t"])
        },
        ConformanceCase("E.partWrites", "E7", "W2", title: "writes through a part change its fields only") { context in
            let (database, letters) = try database(context)
            let heads = try database.dao(LetterHead.self)
            let storage = try database.storage(for: LetterHead.self)
            var expected = letters
            try storage.upsert([LetterHead(rank: 7, id: 1, title: "one")])
            try storage.upsert((2...4).map { LetterHead(rank: 8, id: $0, title: "many") })
            try heads.persist(LetterHead(rank: 9, id: 5, title: "persisted"))
            try expectEqual(try heads.update(where: { $0.id == 6 }) { $0.title = "updated" }, 1)
            (expected[0].rank, expected[0].title) = (7, "one")
            for index in 1...3 { (expected[index].rank, expected[index].title) = (8, "many") }
            (expected[4].rank, expected[4].title) = (9, "persisted")
            expected[5].title = "updated"
            let whole = try database.dao(Letter.self)
            try expectSame(try whole.read(), expected)
            try expectEqual(try whole.read { $0.rank == 8 }.map(\.id), [2, 3, 4], "by the index")
        },
        ConformanceCase(
            "E.partErases", "E7", "R4", title: "erasing through a part erases the row, its links, and what it cascades to"
        ) { context in
            let (database, letters) = try database(context)
            let heads = try database.dao(LetterHead.self)
            try heads.erase(byPrimaryKey: 1)
            try expectEqual(try heads.erase { $0.id > 2 }, 18)
            try expectSame(try database.dao(Letter.self).read(), [letters[1]])
            try expectEqual(try database.dao(Sheet.self).read().map(\.id), [2, 100], "the pages")
        },
        ConformanceCase(
            "E.partCannotInsert", "E7", title: "a part inserts no row when it lacks a required field; the error names the field"
        ) { context in
            let (database, letters) = try database(context)
            let heads = try database.dao(LetterHead.self)
            let storage = try database.storage(for: LetterHead.self)
            let (new, old) = (LetterHead(rank: 1, id: 50, title: "new"), LetterHead(rank: 1, id: 1, title: "lost"))
            for (what, body): (String, () throws -> Void) in [
                ("create", { try heads.create(new) }), ("persist", { try heads.persist(new) }),
                ("many", { try heads.persist([old, new]) }), ("insert", { try storage.insert([new]) }),
                ("upsert", { try storage.upsert([old, new]) }),
            ] {
                try expectError(
                    .unsupported, what, entity: "letter", key: 50, field: "body",
                    message:
                        "a new row of 'letter' needs a value of 'body', which 'LetterHead' lacks; insert the row through the model of "
                        + "the whole entity, or give the field a default there"
                ) { try body() }
            }
            try expectSame(try database.dao(Letter.self).read(), letters)
        },
        ConformanceCase("E.partInserts", "E7", "E6", title: "a part inserts defaults for the fields that it lacks") { context in
            let (database, letters) = try database(context)
            let parts = try database.dao(LetterText.self)
            try parts.create(LetterText(id: 30, title: "t", body: "b"))
            try parts.persist(LetterText(id: 31, title: "u", body: "c"))
            try parts.persist(LetterText(id: 1, title: "old", body: "d"))
            var expected = letters
            (expected[0].title, expected[0].body) = ("old", "d")
            expected += [
                Letter(id: 30, title: "t", body: "b", rank: 3, tags: nil, pages: []),
                Letter(id: 31, title: "u", body: "c", rank: 3, tags: nil, pages: []),
            ]
            try expectSame(try database.dao(Letter.self).read(), expected)
        },
        ConformanceCase(
            concurrent: "E.partObserves", "E7", "O1", title: "commits through the whole or a part notify the observations of both"
        ) { context in
            let (database, _) = try database(context)
            let heads = try database.dao(LetterHead.self)
            let whole = try database.dao(Letter.self)
            var ofHeads = heads.observe { $0.id == 1 }.makeAsyncIterator()
            var ofWhole = whole.observe { $0.id == 1 }.makeAsyncIterator()
            _ = try await ofHeads.next()
            _ = try await ofWhole.next()
            try await heads.update(where: { $0.id == 1 }) { $0.title = "part" }
            var seenByWhole = try await ofWhole.next()?.map(\.title)
            var seenByHeads = try await ofHeads.next()?.map(\.title)
            try expectEqual([seenByWhole, seenByHeads], [["part"], ["part"]], "after a write through the part")
            try await whole.update(where: { $0.id == 1 }) { $0.title = "whole" }
            seenByWhole = try await ofWhole.next()?.map(\.title)
            seenByHeads = try await ofHeads.next()?.map(\.title)
            try expectEqual([seenByWhole, seenByHeads], [["whole"], ["whole"]], "after a write through the whole")
        },
        ConformanceCase("E.partAsChild", "E7", "R2", title: "a relationship can lead to a part") { context in
            let (database, letters) = try database(context)
            let boxes = try database.dao(Box.self)
            let box = Box(id: 1, heads: letters[..<2].map { LetterHead(rank: 5, id: $0.id, title: $0.title) })
            try boxes.create(box)
            try expectSame(try boxes.read(), [box])
            try expectEqual(try database.dao(Letter.self).read { $0.rank == 5 }.map(\.body), ["body 1", "body 2"])
            try database.dao(Letter.self).erase(byPrimaryKey: 1)
            try expectEqual(try boxes.read().map { $0.heads.map(\.id) }, [[2]])
        },
        ConformanceCase("E.partSurvivesRollback", "E7", "T1", title: "a part goes on when the creation of its entity is undone") {
            context in
            let database = try context.open()
            var heads: DAO<LetterText>?
            try expectRollback(of: database) {
                heads = try database.dao(LetterText.self)
                try heads?.create(LetterText(id: 1, title: "t", body: "b"))
            }
            try expectEqual(try heads?.count(), 0)
            try heads?.create(LetterText(id: 2, title: "t", body: "b"))
            try expectEqual(try database.dao(Letter.self).read().map(\.rank), [3])
        },
        ConformanceCase("E.partCountsWrites", "E7", "W7", title: "a write through a part makes a value of the whole outdated") {
            context in
            let database = try context.open()
            let (proposals, parts) = (try database.dao(Proposal.self), try database.dao(Revised.self))
            try proposals.create(Proposal(id: 1, title: "t"))
            let read = try require(proposals.read(byPrimaryKey: 1), "the proposal")
            try parts.persist(try require(parts.read(byPrimaryKey: 1), "the part"))
            try expectError(.conflict, entity: "proposal", key: 1) { try proposals.persist(read) }
            try expectError(.conflict, entity: "proposal", key: 1) {
                try parts.persist(Revised(revision: read.revision, id: 1))
            }
            try expectSame(try proposals.read(), [Proposal(id: 1, title: "t", revision: read.revision.next)])
        },
        invalid("a field that the entity does not have", Stranger.self, field: "extra"),
        invalid("a field of another type", WrongType.self, field: "title"),
        invalid("a field that is optional in the part only", WrongOptional.self, field: "title"),
        invalid("another key", WrongKey.self, field: "id"),
        invalid("an index", WithIndex.self, field: "title"),
        invalid("a default", WithDefault.self, field: "title"),
        invalid("an earlier name", WithRename.self, field: "title"),
        invalid("a relationship", WithRelation.self, field: "pages"),
        invalid("a dropped field", WithDropped.self, field: "body"),
        invalid("no revision", Unrevised.self, field: "revision", entity: "proposal"),
        invalid("a part of a part", Nested.self, field: nil),
        invalid("a part of itself", Itself.self, field: nil, entity: "part"),
    ]

    private static func invalid<Record: Model>(
        _ what: String, _ model: Record.Type, field: String?, entity: String = "letter"
    ) -> ConformanceCase {
        let id = "E.partRefuses.\(String(describing: model))"
        return ConformanceCase(id, "E7", title: "\(what) in a part is invalidSchema, and leaves nothing stored") { context in
            let database = try context.open()
            try expectError(.invalidSchema, entity: entity, field: field) { try database.storage(for: Record.self) }
            try expectEqual(try database.entities().count, 0, "entities left behind")
        }
    }
}

private struct Sheet: Plain, Model, Equatable {
    var id: Int
    static let schema = Schema("sheet", Self.init, Field("id", \.id, .primaryKey))
}

private struct Letter: Plain, Model, Equatable {
    var id: Int
    var title: String
    var body: String
    var rank: Int
    var tags: [String]?
    var pages: [Sheet]
    static let schema = Schema(
        "letter", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("body", \.body),
        Field("rank", \.rank, .indexed, .default(3)), Field("tags", \.tags), Field("pages", \.pages, .cascade))
}

private struct OtherLetter: Plain, Model {
    var id: Int
    var title: String
    static let schema = Schema("letter", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}

/// It lacks the body, which is required, and has its fields in another order.
private struct LetterHead: Plain, Model, Equatable {
    var rank: Int
    var id: Int
    var title: String
    static let schema = Schema(
        partOf: Letter.self, Self.init, Field("rank", \.rank), Field("id", \.id, .primaryKey), Field("title", \.title))
}

/// It has every required field without a default.
private struct LetterText: Plain, Model, Equatable {
    var id: Int
    var title: String
    var body: String
    static let schema = Schema(
        partOf: Letter.self, Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("body", \.body))
}

private struct Box: Plain, Model, Equatable {
    var id: Int
    var heads: [LetterHead]
    static let schema = Schema("box", Self.init, Field("id", \.id, .primaryKey), Field("heads", \.heads, .owned))
}

private struct Stranger: Model {
    var id: Int
    var extra: String
    static let schema = Schema(partOf: Letter.self, Self.init, Field("id", \.id, .primaryKey), Field("extra", \.extra))
}

private struct WrongType: Model {
    var id: Int
    var title: Int
    static let schema = Schema(partOf: Letter.self, Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}

private struct WrongOptional: Model {
    var id: Int
    var title: String?
    static let schema = Schema(partOf: Letter.self, Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}

private struct WrongKey: Model {
    var id: Int
    var title: String
    static let schema = Schema(partOf: Letter.self, Self.init, Field("id", \.id), Field("title", \.title, .primaryKey))
}

private struct WithIndex: Model {
    var id: Int
    var title: String
    static let schema = Schema(partOf: Letter.self, Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .indexed))
}

private struct WithDefault: Model {
    var id: Int
    var title: String
    static let schema = Schema(
        partOf: Letter.self, Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .default("")))
}

private struct WithRename: Model {
    var id: Int
    var title: String
    static let schema = Schema(
        partOf: Letter.self, Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .renamed(from: "name")))
}

private struct WithRelation: Model {
    var id: Int
    var pages: [Sheet]
    static let schema = Schema(partOf: Letter.self, Self.init, Field("id", \.id, .primaryKey), Field("pages", \.pages, .owned))
}

private struct WithDropped: Model {
    var id: Int
    var title: String
    static let schema = Schema(partOf: Letter.self, Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
        .dropped("body")
}

/// It lacks the title, which is required.
private struct Revised: Plain, Model {
    var revision: Revision
    var id: Int
    static let schema = Schema(
        partOf: Proposal.self, Self.init, Field("revision", \.revision), Field("id", \.id, .primaryKey))
}

private struct Unrevised: Model {
    var id: Int
    var title: String
    static let schema = Schema(partOf: Proposal.self, Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}

private struct Nested: Model {
    var id: Int
    var title: String
    static let schema = Schema(partOf: LetterHead.self, Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}

private struct Itself: Model {
    var id: Int
    var title: String
    static let schema = Schema(partOf: Itself.self, Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}
