import DAOCore

/// R3, R4 and C2: relationships that another process declares while this process runs, with models that this
/// process does not have.
enum ProcessesRelations {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "R.processDeclares", "R4", "C2",
            title: "erasing a row removes it from the lists of a relationship that another process has declared since"
        ) { context in
            let (database, posts) = try context.open(with: Post.self)
            let people = try database.dao(Person.self)
            let labels = try database.dao(Label.self)
            try posts.persist(Post.make(1...9))
            try people.persist([Person(id: 1, name: "a"), Person(id: 2, name: "b")])
            try labels.persist([Label.make(1), Label.make(2)])
            // This process has now cached everything that it ever caches.
            try posts.erase(byPrimaryKey: 9)
            try people.erase(byPrimaryKey: 2)
            try labels.erase(byPrimaryKey: Label.make(2).id)
            let process = try context.startProcess()
            try expectEqual(try process.ask("topic a 1 1 2 3 4 1 5"), "done")
            try expectEqual(try process.ask("topics"), "a of 1: [1, 2, 3, 4, 1, 5] in 6 and 1 links")

            try expectEqual(try posts.erase(byPrimaryKey: 1), 1, "posts erased")
            try expectEqual(try process.ask("topics"), "a of 1: [2, 3, 4, 5] in 4 and 1 links")
            try expectEqual(try posts.erase { $0.id == 3 }, 1, "posts erased by a condition")
            try expectEqual(try people.erase(), 1, "people erased")
            try expectEqual(try labels.erase(byPrimaryKey: Label.make(1).id), 1, "labels erased")
            try expectEqual(try process.ask("topics"), "a of nobody: [2, 4, 5] in 3 and 0 links")
            // Rows that are stored again are not in the lists again.
            try posts.persist(Post.make([1, 3]))
            try people.persist(Person(id: 1, name: "a"))
            try expectEqual(try process.ask("topics"), "a of nobody: [2, 4, 5] in 3 and 0 links")
        },
        ConformanceCase(
            "R.processDeclaresInside", "R4", "C2", "T1",
            title: "inside a transaction, erased rows leave such lists, in the first transaction and after a rollback"
        ) { context in
            let (database, posts) = try context.open(with: Post.self)
            try posts.persist(Post.make(1...4))
            let process = try context.startProcess()
            try expectEqual(try process.ask("topic a 1 1 2 3 4"), "done")
            try expectRollback(of: database) {
                // This model is new too, and the rollback removes it.
                _ = try database.dao(Digest.self)
                try expectEqual(try posts.erase(byPrimaryKey: 1), 1, "posts erased")
            }
            try expectEqual(try process.ask("topics"), "a of 1: [1, 2, 3, 4] in 4 and 1 links")
            try database.transaction {
                try expectEqual(try posts.erase(byPrimaryKey: 1), 1, "posts erased")
                try? database.transaction {
                    try posts.erase(byPrimaryKey: 2)
                    throw DeliberateError(number: 2)
                }
                try posts.erase { $0.id == 3 }
            }
            try posts.persist(Post.make([1, 3]))
            try expectEqual(try process.ask("topics"), "a of 1: [2, 4] in 2 and 1 links")
        },
        ConformanceCase(
            "R.processDeclaresInstead", "R4", "C2", "T1",
            title: "erased rows leave such lists also when this process declared a different relationship and rolled it back"
        ) { context in
            let (database, posts) = try context.open(with: Post.self)
            try posts.persist(Post.make(1...4))
            let process = try context.startProcess()
            try expectRollback(of: database) {
                try database.dao(Bulletin.self).persist(Bulletin(id: 1, posts: Post.make([1, 2, 3])))
                try expectEqual(try posts.erase(byPrimaryKey: 1), 1, "posts erased")
            }
            try expectEqual(try process.ask("digest 1 1 2 3"), "done")
            try expectEqual(try posts.erase(byPrimaryKey: 1), 1, "posts erased")
            try expectEqual(try process.ask("digests"), "[1]", "the digests with two posts")
        },
        ConformanceCase(
            "R.processHoldsChild", "R3", "C2",
            title: "a dropped child is not erased while a relationship that another process has declared since holds it"
        ) { context in
            let (database, digests) = try context.open(with: Digest.self)
            let posts = try database.dao(Post.self)
            try digests.persist([
                Digest(id: 1, posts: Post.make(1...3)), Digest(id: 2, posts: Post.make(4...6)), Digest(id: 3),
            ])
            try digests.erase(byPrimaryKey: 3)
            let process = try context.startProcess()
            try expectEqual(try process.ask("topic a 1 2 5"), "done")
            try digests.persist(Digest(id: 1, posts: []))
            try expectEqual(try posts.read().map(\.id), [2, 4, 5, 6], "the posts after a list was stored without them")
            try digests.erase(byPrimaryKey: 2)
            try expectEqual(try posts.read().map(\.id), [2, 5], "the posts after their parent was erased")
            try expectEqual(try process.ask("topics"), "a of 1: [2, 5] in 2 and 1 links")
        },
    ].requiring(.processes)
}
