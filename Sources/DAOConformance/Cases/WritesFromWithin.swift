import DAOCore
import Foundation

/// W9: code of the application that runs inside a write can write itself, also the row whose turn it is.
enum WritesFromWithin {
    static let cases: [ConformanceCase] = fields + references + rows + related

    /// Expects that the database has no damage.
    static func expectSound(_ database: any Database, _ what: String, file: StaticString = #fileID, line: UInt = #line) throws {
        guard database.capabilities.hasEvolution else { return }
        try expectEqual(try database.verify().problems.map(\.description), [], "the problems \(what)", file: file, line: line)
    }

    /// The writes whose closure changes one stored row.
    private enum Way: CaseIterable {
        case update, merge, persist

        /// Changes the row with a key.
        ///
        /// - Returns: The number of rows that the write says it has stored.
        func change<Record: Model & Plain>(
            _ storage: any Storage<Record>, _ key: Key, _ body: @escaping @Sendable (inout Record) throws -> Void
        ) throws -> Int {
            let schema = Record.schema
            switch self {
            case .update:
                let condition = Condition<Record>(.compare(field: schema.description.keyIndex, .equal, key.value))
                return try storage.update(Query(where: condition), body)
            case .merge:
                return try storage.merge(keys: [key]) { _, record in
                    guard var changed = record.take() else { return }
                    try body(&changed)
                    record = changed
                }
            case .persist:
                let dao = DAO(storage: storage, translator: ClosureTranslator(body))
                let row = try require(try storage.read(key: key), "the row")
                try dao.persist(row)
                return 1
            }
        }
    }

    private static let fields: [ConformanceCase] = [
        ConformanceCase(
            "W.closureChangesFields", "W9", "W6", "W8", "Q9",
            title: "a field that a closure leaves as it was read follows what the closure has stored, with every index"
        ) { context in
            let (database, scripts) = try context.open(with: Manuscript.self)
            let storage = scripts.storage
            let after = Date(timeIntervalSinceReferenceDate: 5)
            let inner: [(String, @Sendable () throws -> Void, (inout Manuscript) -> Void)] = [
                ("set", { try scripts.set(\.code, to: "set") { $0.id == 1 } }, { $0.code = "set" }),
                ("set to nil", { try scripts.set(\.code, to: nil) { $0.id == 1 } }, { $0.code = nil }),
                ("an array", { try scripts.set(\.tags, to: ["b", "c", "b"]) { $0.id == 1 } }, { $0.tags = ["b", "c", "b"] }),
                ("a condition", { try scripts.set(\.isOpen, to: false) { $0.id == 1 } }, { $0.isOpen = false }),
                (
                    "an update", { try scripts.update(where: { $0.id == 1 }) { ($0.day, $0.price) = (after, 7) } },
                    { ($0.day, $0.price) = (after, 7) }
                ),
                (
                    "a persist", { try scripts.persist(Manuscript(id: 1, code: "p", tags: [], notes: Notes(numbers: [3]))) },
                    { $0 = Manuscript(id: 1, code: "p", tags: [], notes: Notes(numbers: [3])) }
                ),
                (
                    "erased and made",
                    {
                        try scripts.erase(byPrimaryKey: 1)
                        try scripts.create(Manuscript(id: 1, rank: 9))
                    }, { $0 = Manuscript(id: 1, rank: 9) }
                ),
                (
                    "undone",
                    {
                        try? database.transaction {
                            try scripts.set(\.code, to: "undone") { $0.id == 1 }
                            throw DeliberateError(number: 1)
                        }
                    }, { _ in }
                ),
            ]
            let outer: [(String, @Sendable (inout Manuscript) -> Void)] = [
                ("nothing", { _ in }), ("the title", { $0.title = "changed" }), ("the code", { $0.code = "outer" }),
                ("the tags", { $0.tags = ["z", "a"] }), ("the condition", { $0.isOpen = nil }),
                ("several", { ($0.title, $0.price, $0.notes, $0.rank) = ("", nil, Notes(), -1) }),
            ]
            let other = Manuscript(id: 2, code: "b", tags: ["a"], rank: 2)
            for way in Way.allCases {
                for (within, write, stored) in inner {
                    for (name, change) in outer {
                        let original = Manuscript(
                            id: 1, title: "t", code: "a", tags: ["a", "b"], rank: 1, price: 3, notes: Notes(numbers: [1]))
                        _ = try scripts.erase()
                        try scripts.create([original, other])
                        let what = "\(way) of \(name) around \(within)"
                        let count = try way.change(storage, .integer(1)) { script in
                            change(&script)
                            try write()
                        }
                        try expectEqual(count, 1, "rows of \(what)")
                        var (expected, changed) = (original, original)
                        stored(&expected)
                        change(&changed)
                        for field in Manuscript.schema.description.fields.indices.dropFirst() {
                            let value = Manuscript.schema.value(at: field, of: changed)
                            if value != Manuscript.schema.value(at: field, of: original) {
                                try Manuscript.schema.set(value, at: field, in: &expected)
                            }
                        }
                        try expectSame(try scripts.read(), [expected, other], what)
                        try expectIndexes(scripts, [expected, other], what)
                    }
                }
            }
            try expectSound(database, "after all")
        },
        ConformanceCase(
            "W.closureTakesUniqueValue", "W9", "W6", "W3",
            title: "a unique value that a closure changes is compared with the rows that the closure has left"
        ) { context in
            let (database, scripts) = try context.open(with: Manuscript.self)
            for way in Way.allCases {
                _ = try scripts.erase()
                let rows = [Manuscript(id: 1, code: "a"), Manuscript(id: 2, code: "b")]
                try scripts.create(rows)
                try expectError(.uniqueViolation, "\(way)", entity: "manuscript", key: 1, conflictingKey: 3, field: "code") {
                    _ = try way.change(scripts.storage, .integer(1)) { script in
                        script.code = "c"
                        try scripts.create(Manuscript(id: 3, code: "c"))
                    }
                }
                try expectSame(try scripts.read(), rows, "the rows after \(way) was refused")
                _ = try way.change(scripts.storage, .integer(1)) { script in
                    script.code = "b"
                    try scripts.set(\.code, to: nil) { $0.id == 2 }
                }
                try expectSame(try scripts.read().map(\.code), ["b", nil], "the values after \(way)")
            }
            try expectSound(database, "after all")
        },
    ]

    // MARK: References

    private static func openErrands(_ context: ConformanceContext) throws -> (any Database, DAO<Errand>) {
        let (database, errands) = try context.open(with: Errand.self)
        try database.dao(Person.self).create((1...5).map { Person(id: $0, name: "Person \($0)") })
        return (database, errands)
    }

    private static let references: [ConformanceCase] = [
        ConformanceCase(
            "W.closureErasesTarget", "W9", "R10", "R9",
            title: "a Reference that a closure leaves as it was read is nil when the closure has erased its row"
        ) { context in
            let (database, errands) = try openErrands(context)
            let people = try database.dao(Person.self)
            let rows = [
                Errand(id: 1, owner: Reference(1)), Errand(id: 2, owner: Reference(1), helper: Reference(3)),
                Errand(id: 3, owner: Reference(2), helper: Reference(3)),
            ]
            for way in Way.allCases {
                func renew() throws {
                    _ = try errands.erase()
                    try people.persist((3...5).map { Person(id: $0, name: "Person \($0)") })
                    try errands.create(rows)
                }
                try renew()
                try expectEqual(
                    way.change(errands.storage, .integer(2)) { errand in
                        errand.title = "changed"
                        try people.erase(byPrimaryKey: 3)
                    }, 1, "rows of \(way)")
                try expectEqual(try errands.read().map(\.title), ["", "changed", ""], "the titles after \(way)")
                try expectEqual(try errands.read().map(\.helper), [nil, nil, nil], "the helpers after \(way)")
                try expectEqual(try errands.read { $0.helper == nil }.map(\.id), [1, 2, 3], "rows without a helper")
                try renew()
                _ = try way.change(errands.storage, .integer(2)) { errand in
                    errand.helper = Reference(4)
                    try people.erase(byPrimaryKey: 3)
                }
                try expectEqual(try errands.read().map(\.helper), [nil, Reference(4), nil], "a changed helper after \(way)")
                try renew()
                _ = try way.change(errands.storage, .integer(2)) { errand in
                    errand.title = "changed"
                    try errands.update(where: { $0.id == 2 }) { $0.helper = Reference(5) }
                }
                try expectEqual(try errands.read().map(\.helper?.uniqueId), [nil, 5, 3], "a helper that \(way) has set within")
                try renew()
                try expectError(.referenceViolation, "\(way)", entity: "errand", key: 2, conflictingKey: 4, field: "helper") {
                    _ = try way.change(errands.storage, .integer(2)) { errand in
                        errand.helper = Reference(4)
                        try people.erase(byPrimaryKey: 4)
                    }
                }
                try expectEqual(try errands.read(), rows, "the rows after \(way) was refused")
                try expectEqual(try people.count(), 5, "people after \(way) was refused")
            }
            try expectSound(database, "after all")
        },
        ConformanceCase(
            "W.closureErasesEarlierTarget", "W9", "R10", "R9",
            title: "a Reference that a call has stored in an earlier row is nil when the code of a later row erases its row"
        ) { context in
            let (database, errands) = try openErrands(context)
            let people = try database.dao(Person.self)
            for round in 0..<3 {
                _ = try errands.erase()
                try people.persist((3...5).map { Person(id: $0, name: "Person \($0)") })
                try errands.create((1...4).map { Errand(id: $0, owner: Reference(1), helper: Reference(5)) })
                @Sendable func change(_ errand: inout Errand) throws {
                    errand.helper = Reference(4)
                    if errand.id == 3 {
                        errand.helper = nil
                        try people.erase(byPrimaryKeys: [4])
                    } else if errand.id == 4 {
                        errand.helper = Reference(3)
                    }
                }
                switch round {
                case 0: try errands.update(where: { $0.id > 0 }, change)
                case 1:
                    _ = try errands.storage.merge(keys: (1...4).map { .integer($0) }) { _, errand in
                        guard var changed = errand else { return }
                        try change(&changed)
                        errand = changed
                    }
                default: try DAO(storage: errands.storage, translator: ClosureTranslator(change)).persist(errands.read())
                }
                try expectEqual(try errands.read().map(\.helper?.uniqueId), [nil, nil, nil, 3], "the helpers of round \(round)")
            }
            try expectSound(database, "after all")
        },
        ConformanceCase(
            "W.translatorErasesTarget", "W9", "R9", "W3",
            title: "what a translator makes is judged when the call ends: a Reference to a row that it erased is refused"
        ) { context in
            let (database, errands) = try openErrands(context)
            let people = try database.dao(Person.self)
            let making = DAO(
                storage: errands.storage,
                translator: MakingTranslator<Errand> { errand in
                    if errand.id == 2 { try people.erase(byPrimaryKey: 3) }
                    return errand
                })
            let plains = [
                Errand(id: 1, owner: Reference(1), helper: Reference(3)), Errand(id: 2, owner: Reference(1)),
            ]
            for (what, write) in [("create", making.create), ("persist", making.persist)] as [(String, ([Errand]) throws -> Void)]
            {
                try expectError(.referenceViolation, what, entity: "errand", key: 1, conflictingKey: 3, field: "helper") {
                    try write(plains)
                }
                try expectEqual(try people.count(), 5, "people after \(what)")
                try expectEqual(try errands.count(), 0, "errands after \(what)")
            }
            try making.persist([plains[1], Errand(id: 1, owner: Reference(1), helper: Reference(4))])
            try expectEqual(try errands.read().map(\.helper?.uniqueId), [4, nil])
            try expectSound(database, "after all")
        },
        ConformanceCase(
            "W.closureErasesToOne", "W9", "R8", "R4",
            title: "a to-one that a closure leaves as it was read is nil when the closure has erased its row"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            let (people, posts) = (try database.dao(Person.self), try database.dao(Post.self))
            let ada = Person(id: 1, name: "Ada")
            for way in Way.allCases {
                let topic = Topic(id: "t", owner: ada, posts: [Post(id: 1, text: "a", author: ada)], labels: [Label.make(1)])
                try topics.persist(topic)
                _ = try way.change(topics.storage, .string("t")) { topic in
                    topic.title = "changed"
                    try people.erase(byPrimaryKey: 1)
                }
                var expected = topic
                (expected.title, expected.owner, expected.posts[0].author) = ("changed", nil, nil)
                try expectSame(try topics.read(), [expected], "\(way)")
                try expectEqual(try people.count(), 0, "people after \(way)")
                try topics.persist(topic)
                _ = try way.change(posts.storage, .integer(1)) { post in
                    post.text = "changed"
                    try people.erase(byPrimaryKey: 1)
                }
                try expectSame(try posts.read(), [Post(id: 1, text: "changed")], "the post after \(way)")
                try topics.persist(topic)
                _ = try way.change(topics.storage, .string("t")) { topic in
                    topic.posts[0].text = "changed"
                    try people.erase(byPrimaryKey: 1)
                }
                try expectSame(try posts.read(), [Post(id: 1, text: "changed")], "a post of the list after \(way)")
            }
            try expectSound(database, "after all")
        },
    ]

    // MARK: The row itself

    private static let rows: [ConformanceCase] = [
        ConformanceCase(
            "W.closureErasesItsRow", "W9", "W5", "W2", "R1",
            title: "a row that a closure erases in its own turn stays erased in an update, and is stored again by a merge"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            let scripts = try database.dao(Manuscript.self)
            for way in Way.allCases {
                let rows = [Manuscript(id: 1, code: "a", tags: ["x"]), Manuscript(id: 2, code: "b", tags: ["y"], rank: 2)]
                _ = try scripts.erase()
                try scripts.create(rows)
                let count = try way.change(scripts.storage, .integer(2)) { script in
                    script.title = "again"
                    try scripts.erase(byPrimaryKey: 2)
                }
                try expectEqual(count, way == .update ? 0 : 1, "rows of \(way)")
                var again = rows[1]
                again.title = "again"
                let expected = way == .update ? [rows[0]] : [rows[0], again]
                try expectSame(try scripts.read(), expected, "\(way)")
                try expectIndexes(scripts, expected, "\(way)")
                let topic = Topic(
                    id: "t", owner: Person(id: 1, name: "Ada"), posts: Post.make([2, 1]), labels: [Label.make(1)])
                try topics.persist(topic)
                let topicCount = try way.change(topics.storage, .string("t")) { topic in
                    topic.title = "again"
                    try topics.erase(byPrimaryKey: "t")
                }
                try expectEqual(topicCount, way == .update ? 0 : 1, "rows with lists of \(way)")
                var topicAgain = topic
                topicAgain.title = "again"
                try expectSame(try topics.read(), way == .update ? [] : [topicAgain], "the row with lists after \(way)")
                try topics.erase()
            }
            // Of several rows, one erases itself and the next.
            _ = try scripts.erase()
            try scripts.create((1...4).map { Manuscript(id: $0) })
            let count = try scripts.update(where: { $0.id > 0 }) { script in
                script.title = "changed"
                if script.id == 2 { try scripts.erase(byPrimaryKeys: [2, 3]) }
            }
            try expectEqual(count, 2, "rows of an update")
            try expectSame(try scripts.read().map { "\($0.id) \($0.title)" }, ["1 changed", "4 changed"])
            try expectSound(database, "after all")
        },
        ConformanceCase(
            "W.closureErasesByCascade", "W9", "W5", "R10",
            title: "a row that a closure erases through a Reference that cascades counts as one that it erases itself"
        ) { context in
            let (database, errands) = try openErrands(context)
            let rows = [Errand(id: 1, owner: Reference(1)), Errand(id: 2, whole: Reference(1), owner: Reference(1))]
            for way in Way.allCases {
                _ = try errands.erase()
                try errands.create(rows)
                func erasing(_ change: @escaping @Sendable (inout Errand) -> Void) throws -> Int {
                    try way.change(errands.storage, .integer(2)) { errand in
                        change(&errand)
                        try errands.erase(byPrimaryKey: 1)
                    }
                }
                if way == .update {
                    try expectEqual(try erasing { $0.title = "again" }, 0, "rows of an update")
                    try expectEqual(try errands.count(), 0, "errands after an update")
                    continue
                }
                try expectError(.referenceViolation, "\(way)", entity: "errand", key: 2, conflictingKey: 1, field: "whole") {
                    try erasing { $0.title = "again" }
                }
                try expectEqual(try errands.read(), rows, "the rows after \(way) was refused")
                try expectEqual(try erasing { $0.whole = nil }, 1, "rows of \(way)")
                try expectEqual(try errands.read(), [Errand(id: 2, owner: Reference(1))], "the rows after \(way)")
            }
            try expectSound(database, "after all")
        },
        ConformanceCase(
            "W.closureErasesItsPart", "W9", "E7",
            title: "a part that lacks a required field does not store a row again that its closure has erased"
        ) { context in
            let (database, proposals) = try context.open(with: Proposal.self)
            let parts = try database.storage(for: ProposalPart.self)
            try proposals.create(Proposal(id: 1, title: "a"))
            try expectError(.unsupported, entity: "proposal", key: 1, field: "title") {
                try parts.merge(keys: [.integer(1)]) { _, _ in try proposals.erase(byPrimaryKey: 1) }
            }
            try expectSame(try proposals.read().map(\.title), ["a"])
            try expectEqual(try parts.update(Query()) { _ in try proposals.erase(byPrimaryKey: 1) }, 0, "rows of an update")
            try expectEqual(try proposals.count(), 0, "rows after the update")
            try expectSound(database, "after all")
        },
        ConformanceCase(
            "W.closureCounts", "W9", "W7", title: "a write around another write of the same row counts on from its revision"
        ) { context in
            let (database, proposals) = try context.open(with: Proposal.self)
            let folios = try database.dao(Folio.self)
            for way in Way.allCases {
                _ = try proposals.erase()
                try proposals.create(Proposal(id: 1, title: "a"))
                _ = try way.change(proposals.storage, .integer(1)) { proposal in
                    proposal.title = "outer"
                    try proposals.update(where: { $0.id == 1 }) { $0.title = "inner" }
                }
                try expectSame(try proposals.read(), [Proposal(id: 1, title: "outer", revision: 3)], "\(way)")
                _ = try way.change(proposals.storage, .integer(1)) { _ in
                    try proposals.persist(Proposal(id: 1, title: "inner", revision: 3))
                    try proposals.update(where: { $0.id == 1 }) { _ in }
                }
                try expectSame(try proposals.read(), [Proposal(id: 1, title: "inner", revision: 6)], "\(way) of nothing")
                try expectError(.conflict, "\(way)", entity: "proposal", key: 1) {
                    _ = try way.change(proposals.storage, .integer(1)) { proposal in
                        proposal.revision = 2
                        try proposals.update(where: { $0.id == 1 }) { _ in }
                    }
                }
                try folios.persist(Folio(id: 1, title: "a", remarks: [Remark(id: 1, text: "r")]))
                _ = try way.change(folios.storage, .integer(1)) { folio in
                    folio.title = "outer"
                    try folios.update(where: { $0.id == 1 }) { $0.remarks.append(Remark(id: 2, text: "s")) }
                }
                let expected = Folio(
                    id: 1, title: "outer", revision: 3,
                    remarks: [Remark(id: 1, text: "r", revision: 1), Remark(id: 2, text: "s", revision: 1)])
                try expectSame(try folios.read(), [expected], "\(way) of a row with a list")
                _ = try folios.erase()
                _ = try database.dao(Remark.self).erase()
            }
            try expectSound(database, "after all")
        },
    ]

    // MARK: Lists

    private static let related: [ConformanceCase] = [
        ConformanceCase(
            "W.closureChangesLists", "W9", "R1", "R7",
            title: "a list that a closure leaves as it was read follows what the closure has stored, and so do fields of its rows"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            let other = try context.openOther()
            let (posts, people) = (try database.dao(Post.self), try database.dao(Person.self))
            let topic = Topic(
                id: "t", title: "first", owner: Person(id: 1, name: "Ada"), posts: Post.make([1, 2]), labels: [Label.make(1)])
            for way in Way.allCases {
                for isNested in [false, true] {
                    // The transaction of another database stands between the code and the transaction that it writes in.
                    func within(_ body: () throws -> Void) throws {
                        if isNested { try database.transaction { try other.transaction(body) } } else { try body() }
                    }
                    _ = try topics.erase()
                    try topics.persist(topic)
                    try within {
                        _ = try way.change(topics.storage, .string("t")) { topic in
                            topic.title = "changed"
                            try topics.update(where: { $0.id == "t" }) { topic in
                                topic.posts = Post.make([3, 1])
                                topic.labels = []
                                topic.owner = Person(id: 2, name: "Bob")
                            }
                        }
                    }
                    let stored = Topic(
                        id: "t", title: "changed", owner: Person(id: 2, name: "Bob"), posts: Post.make([3, 1]))
                    try expectSame(try topics.read(), [stored], "\(way) of a title")
                    try within {
                        _ = try way.change(topics.storage, .string("t")) { topic in
                            topic.posts = Post.make([1, 4])
                            try posts.erase(byPrimaryKey: 3)
                            try topics.set(\.title, to: "within") { $0.id == "t" }
                        }
                    }
                    try expectEqual(try database.posts("t"), [1, 4], "the list after \(way)")
                    try expectSame(try topics.read().map(\.title), ["within"], "the title after \(way) of a list")
                    try within {
                        _ = try way.change(topics.storage, .string("t")) { topic in
                            topic.posts[0].text = "outer"
                            try posts.set(\.isRead, to: true) { $0.id.in([1, 4]) }
                            try posts.update(where: { $0.id == 1 }) { $0.author = Person(id: 7, name: "Eve") }
                        }
                    }
                    try expectSame(
                        try posts.read { $0.id.in([1, 4]) },
                        [
                            Post(id: 1, text: "outer", isRead: true, author: Person(id: 7, name: "Eve")),
                            Post(id: 4, text: "Post #4", isRead: true),
                        ], "rows of the list after \(way)")
                    _ = try people.erase { $0.id > 1 }
                }
            }
            try expectSound(database, "after all")
        },
        ConformanceCase(
            "W.closureErasesFromList", "W9", "R4", "R3",
            title: "a list that a closure leaves as it was read lacks the rows that the closure has erased"
        ) { context in
            let (database, agendas) = try context.open(with: Agenda.self)
            try database.dao(Person.self).create(Person(id: 1, name: "Ada"))
            let errands = try database.dao(Errand.self)
            for way in Way.allCases {
                _ = try agendas.erase()
                let errand = (1...3).map { Errand(id: $0, owner: Reference(1)) }
                try agendas.create(Agenda(id: 1, errands: errand, next: Reference(2)))
                _ = try way.change(agendas.storage, .integer(1)) { _ in try errands.erase(byPrimaryKey: 2) }
                try expectEqual(
                    try agendas.read(), [Agenda(id: 1, errands: [errand[0], errand[2]])], "the row after \(way)")
                _ = try way.change(agendas.storage, .integer(1)) { agenda in
                    agenda.next = Reference(3)
                    try errands.erase(byPrimaryKey: 1)
                }
                try expectEqual(
                    try agendas.read(), [Agenda(id: 1, errands: [errand[2]], next: Reference(3))], "the next row after \(way)")
                try expectError(.referenceViolation, "\(way)", entity: "agenda", key: 1, conflictingKey: 9, field: "next") {
                    _ = try way.change(agendas.storage, .integer(1)) { agenda in
                        agenda.next = Reference(9)
                        try errands.create(Errand(id: 9, owner: Reference(1)))
                        try errands.erase(byPrimaryKey: 9)
                    }
                }
                // Assigned, so that the erased row is one of those given.
                _ = try way.change(agendas.storage, .integer(1)) { agenda in
                    agenda.errands.append(Errand(id: 4, owner: Reference(1)))
                    try errands.erase(byPrimaryKey: 3)
                }
                try expectEqual(
                    try agendas.read(), [Agenda(id: 1, errands: [errand[2], Errand(id: 4, owner: Reference(1))])],
                    "a changed list after \(way)")
            }
            try expectSound(database, "after all")
        },
    ]

    /// Expects that every index of the manuscripts has exactly these rows.
    private static func expectIndexes(
        _ scripts: DAO<Manuscript>, _ rows: [Manuscript], _ what: String
    ) throws {
        for row in rows {
            let (code, title, rank) = (row.code, row.title, row.rank)
            if code != nil {
                try expectEqual(try scripts.read { $0.code == code }.map(\.id), [row.id], "by the code after \(what)")
            }
            try expectEqual(
                try scripts.read { $0.title == title && $0.rank == rank }.map(\.id),
                rows.filter { $0.title == title && $0.rank == rank }.map(\.id), "by the title after \(what)")
        }
        try expectEqual(
            try scripts.read { $0.isOpen == true && $0.rank > 0 }.map(\.id),
            rows.filter { $0.isOpen == true && $0.rank > 0 }.map(\.id), "by the partial index after \(what)")
        for tag in ["a", "b", "c", "x", "y", "z"] {
            try expectEqual(
                try scripts.read { $0.tags.contains(tag) }.map(\.id), rows.filter { $0.tags.contains(tag) }.map(\.id),
                "by the tag '\(tag)' after \(what)")
        }
    }
}

/// An embedded value.
private struct Notes: Codable, FieldValue, Equatable {
    var numbers: [Int] = []
}

/// A row with every kind of index.
private struct Manuscript: Plain, Model, Equatable {
    var id: Int
    var title: String = ""
    var code: String?
    var tags: [String] = []
    var isOpen: Bool? = true
    var rank: Int = 0
    var price: Decimal?
    var day: Date?
    var notes = Notes()

    static let schema = Schema(
        "manuscript", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("code", \.code, .unique), Field("tags", \.tags),
        Field("isOpen", \.isOpen), Field("rank", \.rank), Field("price", \.price), Field("day", \.day),
        Field("notes", \.notes),
        indexes: [
            Index(\.title, \.rank), Index(elements: \.tags), Index(orderedBy: .ascending(\.rank), where: { $0.isOpen == true }),
        ])
}

/// A part of a proposal, without its title.
private struct ProposalPart: Model {
    var id: Int
    var revision: Revision
    static let schema = Schema(
        partOf: Proposal.self, Self.init, Field("id", \.id, .primaryKey), Field("revision", \.revision))
}

/// A translator that lets a closure change the stored row.
private struct ClosureTranslator<Record: Model & Plain>: Translator {
    let change: @Sendable (inout Record) throws -> Void

    init(_ change: @escaping @Sendable (inout Record) throws -> Void) { self.change = change }

    func translate(model: Record) throws -> Record { model }
    func translate(plain: Record) throws -> Record { plain }
    func translate(from plain: Record, to model: inout Record) throws { try change(&model) }
}

/// A translator that replaces the stored row by what a closure makes.
private struct MakingTranslator<Record: Model & Plain>: ReplacingTranslator {
    let make: @Sendable (Record) throws -> Record

    func translate(model: Record) throws -> Record { model }
    func translate(plain: Record) throws -> Record { try make(plain) }
}
