import DAOCore

extension ProcessLedger {
    /// Stores a topic, with its name, its owner and its posts by number. This process opens the model and its
    /// relationships only now.
    package func persistTopic(_ words: some Sequence<Substring>) throws -> String {
        var words = words.map { String($0) }[...]
        let name = words.popFirst() ?? ""
        let owner = words.popFirst().flatMap { Int($0) }.map { Person(id: $0, name: "Person #\($0)") }
        let topic = Topic(id: name, owner: owner, posts: Post.make(words.compactMap { Int($0) }), labels: [Label.make(1)])
        try database.dao(Topic.self).persist(topic)
        return "done"
    }

    /// Stores a digest, with its number and the numbers of its posts.
    func persistDigest(_ words: some Sequence<Substring>) throws -> String {
        let numbers = words.compactMap { Int($0) }
        try database.dao(Digest.self).persist(Digest(id: numbers.first ?? 0, posts: Post.make(numbers.dropFirst())))
        return "done"
    }

    /// Returns the numbers of the digests that have two links to posts.
    func digests() throws -> String {
        let digests = try database.storage(for: Digest.self)
        return "\(try digests.read(Query(where: Condition { $0.posts.count == 2 })).map(\.id))"
    }

    /// Returns every topic as it is read: its name, its owner, its posts, and how many links to posts and
    /// labels conditions find.
    package func outline() throws -> String {
        let topics = try database.storage(for: Topic.self)
        let lines = try topics.read().map { topic in
            func count(_ most: Int, _ condition: (Int) throws -> Condition<Topic>) throws -> Int {
                try (0...most).first { try topics.count(predicatedBy: condition($0)) == 1 } ?? -1
            }
            let posts = try count(20) { number in Condition { $0.id == topic.id && $0.posts.count == number } }
            let labels = try count(20) { number in Condition { $0.id == topic.id && $0.labels.count == number } }
            let owner = topic.owner.map { "\($0.id)" } ?? "nobody"
            return "\(topic.id) of \(owner): \(topic.posts.map(\.id)) in \(posts) and \(labels) links"
        }
        return lines.joined(separator: "; ")
    }
}
