import DAOCore

/// R3, R4 and C2: relationships that another process declares while this one runs, and whose models this one
/// does not have.
enum ProcessesRelations {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "R.peerDeclares", "R4", "C2",
            title: "erasing a row takes it out of the lists of a relationship that only another process has declared since"
        ) { context in
            let (database, posts) = try context.open(with: Post.self)
            let people = try database.dao(Person.self)
            let labels = try database.dao(Label.self)
            try posts.persist(Post.make(1...9))
            try people.persist([Person(id: 1, name: "a"), Person(id: 2, name: "b")])
            try labels.persist([Label.make(1), Label.make(2)])
            // Whatever this process ever looks at, it has looked at by now.
            try posts.erase(byPrimaryKey: 9)
            try people.erase(byPrimaryKey: 2)
            try labels.erase(byPrimaryKey: Label.make(2).id)
            let peer = try context.startProcess()
            try expectEqual(try peer.ask("topic a 1 1 2 3 4 1 5"), "done")
            try expectEqual(try peer.ask("topics"), "a of 1: [1, 2, 3, 4, 1, 5] in 6 and 1 links")

            try expectEqual(try posts.erase(byPrimaryKey: 1), 1, "posts erased")
            try expectEqual(try peer.ask("topics"), "a of 1: [2, 3, 4, 5] in 4 and 1 links")
            try expectEqual(try posts.erase { $0.id == 3 }, 1, "posts erased by a condition")
            try expectEqual(try people.erase(), 1, "people erased")
            try expectEqual(try labels.erase(byPrimaryKey: Label.make(1).id), 1, "labels erased")
            try expectEqual(try peer.ask("topics"), "a of nobody: [2, 4, 5] in 3 and 0 links")
            // Rows that come back are not in the lists again.
            try posts.persist(Post.make([1, 3]))
            try people.persist(Person(id: 1, name: "a"))
            try expectEqual(try peer.ask("topics"), "a of nobody: [2, 4, 5] in 3 and 0 links")
        },
        ConformanceCase(
            "R.peerDeclaresInside", "R4", "C2", "T1",
            title: "so it does inside transactions, the first and those after one that was rolled back"
        ) { context in
            let (database, posts) = try context.open(with: Post.self)
            try posts.persist(Post.make(1...4))
            let peer = try context.startProcess()
            try expectEqual(try peer.ask("topic a 1 1 2 3 4"), "done")
            try expectRollback(of: database) {
                // A model that is new too, and gone again with the transaction.
                _ = try database.dao(Digest.self)
                try expectEqual(try posts.erase(byPrimaryKey: 1), 1, "posts erased")
            }
            try expectEqual(try peer.ask("topics"), "a of 1: [1, 2, 3, 4] in 4 and 1 links")
            try database.transaction {
                try expectEqual(try posts.erase(byPrimaryKey: 1), 1, "posts erased")
                try? database.transaction {
                    try posts.erase(byPrimaryKey: 2)
                    throw DeliberateError(number: 2)
                }
                try posts.erase { $0.id == 3 }
            }
            try posts.persist(Post.make([1, 3]))
            try expectEqual(try peer.ask("topics"), "a of 1: [2, 4] in 2 and 1 links")
        },
        ConformanceCase(
            "R.peerDeclaresInstead", "R4", "C2", "T1",
            title: "so it does where this process declared another in the same place and undid it"
        ) { context in
            let (database, posts) = try context.open(with: Post.self)
            try posts.persist(Post.make(1...4))
            let peer = try context.startProcess()
            try expectRollback(of: database) {
                try database.dao(Bulletin.self).persist(Bulletin(id: 1, posts: Post.make([1, 2, 3])))
                try expectEqual(try posts.erase(byPrimaryKey: 1), 1, "posts erased")
            }
            try expectEqual(try peer.ask("digest 1 1 2 3"), "done")
            try expectEqual(try posts.erase(byPrimaryKey: 1), 1, "posts erased")
            try expectEqual(try peer.ask("digests"), "[1]", "the digests with two posts")
        },
        ConformanceCase(
            "R.peerHoldsChild", "R3", "C2",
            title: "a child that is dropped here stays when a relationship of another process, declared since, holds it"
        ) { context in
            let (database, digests) = try context.open(with: Digest.self)
            let posts = try database.dao(Post.self)
            try digests.persist([
                Digest(id: 1, posts: Post.make(1...3)), Digest(id: 2, posts: Post.make(4...6)), Digest(id: 3),
            ])
            try digests.erase(byPrimaryKey: 3)
            let peer = try context.startProcess()
            try expectEqual(try peer.ask("topic a 1 2 5"), "done")
            try digests.persist(Digest(id: 1, posts: []))
            try expectEqual(try posts.read().map(\.id), [2, 4, 5, 6], "the posts after a list was stored without them")
            try digests.erase(byPrimaryKey: 2)
            try expectEqual(try posts.read().map(\.id), [2, 5], "the posts after their parent was erased")
            try expectEqual(try peer.ask("topics"), "a of 1: [2, 5] in 2 and 1 links")
        },
    ].requiring(.processes)
}
