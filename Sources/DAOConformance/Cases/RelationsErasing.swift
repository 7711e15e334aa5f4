import DAOCore

/// R3, R4: which rows are erased together with a row, and which stay.
enum RelationsErasing {
    static let cases: [ConformanceCase] = [
        ConformanceCase("R.dropped", "R3", title: "a child dropped from a non-cascading list is unlinked and stays") { context in
            let (database, topics) = try context.open(with: Topic.self)
            try topics.persist(Topic(id: "t", labels: [Label.make(1), Label.make(2)]))
            try topics.persist(Topic(id: "t", labels: [Label.make(2)]))
            try expectSame(try topics.read(), [Topic(id: "t", labels: [Label.make(2)])])
            try expectSame(try database.dao(Label.self).read(), [Label.make(1), Label.make(2)])
        },
        ConformanceCase("R.droppedCascade", "R3", title: "a child dropped from a list that cascades is erased") { context in
            let (database, topics) = try context.open(with: Topic.self)
            try topics.persist(Topic(id: "t", posts: Post.make([1, 2, 3])))
            try topics.persist(Topic(id: "t", posts: Post.make([3])))
            try expectSame(try database.dao(Post.self).read(), Post.make([3]))
        },
        ConformanceCase(
            "R.droppedShared", "R3", title: "a child that another parent holds is not erased when its first parent drops it"
        ) {
            context in
            let (database, topics) = try context.open(with: Topic.self)
            try topics.persist([Topic(id: "a", posts: Post.make([1, 2])), Topic(id: "b", posts: Post.make([2]))])
            try topics.persist(Topic(id: "a"))
            try expectSame(try database.dao(Post.self).read(), Post.make([2]))
            try expectEqual(try database.posts("b"), [2])
            try topics.persist(Topic(id: "b"))
            try expectEqual(try database.storage(for: Post.self).count(), 0, "posts left")
        },
        ConformanceCase("R.moved", "R3", title: "a child moved to another parent in one call is not erased") { context in
            let (database, topics) = try context.open(with: Topic.self)
            try topics.persist([Topic(id: "a", posts: Post.make([1])), Topic(id: "b")])
            try topics.persist([Topic(id: "a"), Topic(id: "b", posts: Post.make([1]))])
            try expectEqual(try database.posts("a"), [])
            try expectEqual(try database.posts("b"), [1])
        },
        ConformanceCase(
            "R.eraseChild", "R4", title: "erasing a child removes it from every list; the remaining children keep their order"
        ) {
            context in
            let (database, topics) = try context.open(with: Topic.self)
            try topics.persist([
                Topic(id: "a", owner: Person(id: 1, name: "Ada"), posts: Post.make([5, 1, 4, 1, 3])),
                Topic(id: "b", posts: Post.make([1])),
            ])
            try expectEqual(try database.dao(Post.self).erase(byPrimaryKey: 1), 1)
            try expectEqual(try database.posts("a"), [5, 4, 3])
            try expectEqual(try database.posts("b"), [])
            try database.dao(Person.self).erase()
            try expectEqual(try topics.read().map(\.owner), [nil, nil])
            // A row that is stored again is not linked again, and the lists stay unchanged.
            try database.dao(Post.self).persist(Post.make([1]))
            try expectEqual(try database.posts("a"), [5, 4, 3])
            try topics.persist(Topic(id: "a", posts: Post.make([5, 1, 4, 3, 2])))
            try expectEqual(try database.posts("a"), [5, 1, 4, 3, 2])
        },
        ConformanceCase(
            "R.declaredInside", "R4", "T2",
            title:
                "a relationship declared inside a transaction counts in later erases, also after its declaration was rolled back once",
            requires: [.savepoints]
        ) { context in
            let (database, posts) = try context.open(with: Post.self)
            func declare() throws -> Int {
                try database.dao(Topic.self).persist(Topic(id: "t", posts: Post.make([1, 2, 3])))
                return try posts.erase(byPrimaryKey: 1)
            }
            try posts.persist(Post.make(1...5))
            for _ in 0..<2 {
                try expectDeliberate {
                    try database.transaction {
                        try expectEqual(try posts.erase(byPrimaryKey: 4), 1, "posts erased before the inner transaction")
                        try expectRollback(of: database) {
                            try expectEqual(try declare(), 1, "posts erased")
                        }
                        try expectEqual(try posts.erase(byPrimaryKey: 5), 1, "posts erased after the inner transaction")
                        try expectEqual(try declare(), 1, "posts erased")
                        try posts.persist(Post.make([1]))
                        try expectEqual(try database.posts("t"), [2, 3])
                        throw DeliberateError()
                    }
                }
            }
            try expectEqual(try declare(), 1, "posts erased")
            try posts.persist(Post.make([1]))
            try expectEqual(try database.posts("t"), [2, 3])
        },
        ConformanceCase(
            "R.eraseChildWhere", "R4",
            title: "erasing children by a condition, through a storage or all at once unlinks them too"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            let posts = try database.storage(for: Post.self)
            try topics.persist(Topic(id: "t", posts: Post.make(1...6)))
            try expectEqual(try posts.erase(predicatedBy: Condition { $0.id < 3 }), 2)
            try expectEqual(try database.posts("t"), [3, 4, 5, 6])
            try expectEqual(try posts.erase(object: Post.make([4])[0]), 1)
            try expectEqual(try database.posts("t"), [3, 5, 6])
            try expectEqual(try posts.erase(), 3)
            try posts.persist(objects: Post.make(1...6))
            try expectEqual(try database.posts("t"), [])
        },
        ConformanceCase(
            "R.eraseChildAlone", "R4", title: "erasing a child unlinks it also when only the child's model was opened since",
            requires: [.persistence]
        ) { context in
            var database = try context.open()
            try database.dao(Topic.self).persist(Topic(id: "t", posts: Post.make([1, 2])))
            database = try context.reopen(database)
            try database.dao(Post.self).erase(byPrimaryKey: 1)
            try database.dao(Post.self).persist(Post.make([1]))
            database = try context.reopen(database)
            try expectEqual(try database.posts("t"), [2])
        },
        ConformanceCase(
            "R.eraseParent", "R4", title: "erasing a parent erases the children in its cascading lists and no other rows"
        ) {
            context in
            let (database, topics) = try context.open(with: Topic.self)
            let owner = Person(id: 1, name: "Ada")
            try topics.persist([
                Topic(id: "a", owner: owner, posts: Post.make([1, 2, 3]), labels: [Label.make(1)]),
                Topic(id: "b", posts: Post.make([3, 4])),
            ])
            try expectEqual(try topics.erase(byPrimaryKey: "a"), 1)
            try expectSame(try database.dao(Post.self).read(), Post.make([3, 4]))
            try expectEqual(try database.posts("b"), [3, 4])
            try expectEqual(try database.storage(for: Label.self).count(), 1, "labels")
            try expectSame(try database.dao(Person.self).read(), [owner])
            try expectEqual(try topics.erase(), 1)
            try expectEqual(try database.storage(for: Post.self).count(), 0, "posts")
        },
        ConformanceCase("R.eraseTen", "R4", title: "erasing a parent erases ten children of a cascading list") { context in
            let (database, topics) = try context.open(with: Topic.self)
            try topics.persist(Topic(id: "t", posts: Post.make(1...10)))
            try topics.erase(require(topics.read().first, "the topic"))
            try expectEqual(try database.storage(for: Post.self).count(), 0, "children")
            // The key may be used again, and the list is empty.
            try topics.persist(Topic(id: "t"))
            try expectEqual(try database.posts("t"), [])
        },
        ConformanceCase("R.chainErased", "R4", title: "a cascade follows a chain of a thousand rows", isHeavy: true) { context in
            let (database, folders) = try context.open(with: Folder.self)
            // Starts at the end, so that no call holds more than two folders.
            for id in stride(from: 1000, to: 0, by: -1) {
                let next =
                    id == 1000
                    ? []
                    : try database.storage(for: Folder.self).read(keys: [.integer(Int64(id + 1))], includesSubentities: false)
                try folders.persist(Folder(id: id, children: next))
            }
            try expectEqual(try folders.count(), 1000)
            try expectEqual(try folders.erase(byPrimaryKey: 1), 1)
            try expectEqual(try folders.count(), 0)
        },
        ConformanceCase("R.diamond", "R4", title: "a cascade over a diamond erases each row once") { context in
            let folders = try context.dao(Folder.self)
            let leaf = Folder(id: 4)
            try folders.persist(Folder(id: 1, children: [Folder(id: 2, children: [leaf]), Folder(id: 3, children: [leaf])]))
            try expectEqual(try folders.read(byPrimaryKey: 1)?.outline, "1[2[4] 3[4]]")
            try folders.erase(byPrimaryKey: 2)
            try expectEqual(try folders.read(byPrimaryKey: 1)?.outline, "1[3[4]]")
            try folders.erase(byPrimaryKey: 1)
            try expectEqual(try folders.count(), 0)
        },
        ConformanceCase("R.rolledBack", "R4", "R3", "T1", title: "a rolled back cascade keeps rows, links and order") { context in
            let (database, topics) = try context.open(with: Topic.self)
            let before = Topic(
                id: "t", owner: Person(id: 1, name: "Ada"), posts: Post.make([3, 1, 2]), labels: [Label.make(1)])
            try topics.persist(before)
            struct Stop: Error {}
            do {
                try database.transaction {
                    try topics.erase()
                    try expectEqual(try database.storage(for: Post.self).count(), 0, "posts inside")
                    try topics.persist(Topic(id: "t", posts: Post.make([9])))
                    throw Stop()
                }
            } catch is Stop {}
            try expectSame(try topics.read(), [before])
            try expectEqual(try database.storage(for: Post.self).count(), 3, "posts")
        },
        ConformanceCase("R.savepoint", "R1", "T2", title: "a failed inner transaction keeps the outer one's links") { context in
            let (database, topics) = try context.open(with: Topic.self)
            struct Stop: Error {}
            try database.transaction {
                try topics.persist(Topic(id: "t", posts: Post.make([1, 2])))
                do {
                    try database.transaction {
                        try topics.persist(Topic(id: "t", posts: Post.make([2, 3])))
                        try database.dao(Post.self).erase(byPrimaryKey: 2)
                        throw Stop()
                    }
                } catch is Stop {}
            }
            try expectEqual(try database.posts("t"), [1, 2])
        },
        ConformanceCase("R.atomic", "R1", "W3", title: "a create that fails on a key leaves no child and no link") { context in
            let (database, topics) = try context.open(with: Topic.self)
            try topics.create(Topic(id: "b", posts: Post.make([1])))
            try expectError(.duplicateKey, entity: "topic", key: "b", field: "id") {
                try topics.create([Topic(id: "a", posts: Post.make([2])), Topic(id: "b", posts: Post.make([3]))])
            }
            try expectSame(try topics.read(), [Topic(id: "b", posts: Post.make([1]))])
            try expectEqual(try database.storage(for: Post.self).count(), 1, "posts")
        },
    ]
}
