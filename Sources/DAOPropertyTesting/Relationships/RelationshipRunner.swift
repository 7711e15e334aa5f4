import DAOConformance
import DAOCore

/// Runs steps on a database.
struct RelationshipRunner: DatabaseRunner {
    private let database: any Database
    private let topics: any Storage<Topic>
    private let briefTopics: any Storage<BriefTopic>
    private let posts: any Storage<Post>
    private let people: any Storage<Person>
    private let labels: any Storage<Label>
    private let folders: any Storage<Folder>
    private let proposals: any Storage<Proposal>
    private let errands: any Storage<Errand>

    init(_ database: any Database) throws {
        self.database = database
        topics = try database.storage(for: Topic.self)
        briefTopics = try database.storage(for: BriefTopic.self)
        posts = try database.storage(for: Post.self)
        people = try database.storage(for: Person.self)
        labels = try database.storage(for: Label.self)
        folders = try database.storage(for: Folder.self)
        proposals = try database.storage(for: Proposal.self)
        errands = try database.storage(for: Errand.self)
    }

    var verified: (any Database)? { database }

    func close() throws { try database.close() }

    func run(_ step: RelationshipStep) throws -> String {
        switch step {
        case .topic(let id, let version, let owner, let posts, let author, let labels):
            try topics.persist(
                object: Topic(
                    id: "\(id)", title: "\(version)", owner: owner.map { person($0, version) },
                    posts: posts.map { post($0, version, $0 % 2 == 0 ? author : nil) }, labels: labels.map { label($0, version) })
            )
        case .post(let id, let version, let author): try posts.persist(object: post(id, version, author))
        case .person(let id, let version): try people.persist(object: person(id, version))
        case .label(let id, let version): try labels.persist(object: label(id, version))
        case .folder(let tree, let version): try folders.persist(object: try folder(tree, version))
        case .retitle(let id, let version):
            guard var topic = try briefTopics.read(byPrimaryKey: "\(id)", includeSubentities: false) else { return "none" }
            topic.title = "\(version)"
            try briefTopics.persist(object: topic)
        case .shorten(let id, let count):
            return
                "\(try topics.update(Query(where: Condition { $0.id == "\(id)" })) { $0.posts = Array($0.posts.dropFirst(count)) })"
        case .eraseTopics(let ids): return "\(try topics.erase(keys: ids.map { .string("\($0)") }))"
        case .erasePosts(let ids): return "\(try posts.erase(predicatedBy: Condition { $0.id.in(ids) }))"
        case .erasePeople(let ids):
            do {
                return "\(try people.erase(keys: ids.map { .integer(Int64($0)) }))"
            } catch let error as StorageError where error.kind == .referenceViolation {
                return "\(error.entity ?? "nothing") \(error.key?.rawValue ?? "") refers"
            }
        case .eraseLabels(let ids): return "\(try labels.erase(keys: ids.map { .uuid(Label.make(UInt8($0)).id) }))"
        case .eraseFolders(let ids): return "\(try folders.erase(keys: ids.map { .integer(Int64($0)) }))"
        case .proposals(let ids, let version, let age):
            do {
                try proposals.persist(
                    objects: ids.enumerated().map { index, id in
                        let revision = try proposals.read(byPrimaryKey: id)?.revision.rawValue ?? 0
                        let isOld = index == ids.count - 1
                        return Proposal(
                            id: id, title: "\(version)", revision: Revision(rawValue: revision - Int64(isOld ? age : 0)))
                    })
            } catch let error as StorageError where error.kind == .conflict {
                return "conflict of \(error.key?.rawValue ?? "no key")"
            }
        case .updateProposals(let ids, let version):
            return "\(try proposals.update(Query(where: Condition { $0.id.in(ids) })) { $0.title = "\(version)" })"
        case .eraseProposals(let ids): return "\(try proposals.erase(keys: ids.map { .integer(Int64($0)) }))"
        case .errands(let errands, let version):
            do {
                try self.errands.persist(
                    objects: errands.map {
                        Errand(
                            id: $0.id, title: "\(version)", whole: $0.whole.map { Reference($0) }, owner: Reference($0.owner),
                            helper: $0.helper.map { Reference($0) })
                    })
            } catch let error as StorageError where error.kind == .referenceViolation {
                return "no \(error.field ?? "") \(error.conflictingKey?.rawValue ?? "") of \(error.key?.rawValue ?? "")"
            }
        case .eraseErrands(let ids): return "\(try errands.erase(keys: ids.map { .integer(Int64($0)) }))"
        case .askErrands(let number): return try answer(number)
        case .ask(let question, let number): return try answer(question, number)
        case .transaction(let steps, let fails):
            var results: [String] = []
            do {
                try database.transaction {
                    for step in steps { results.append(try run(step)) }
                    if fails { throw PropertyTesting.Abort() }
                }
            } catch is PropertyTesting.Abort {}
            return results.joined(separator: ", ")
        }
        return "done"
    }

    private func person(_ id: Int, _ version: Int) -> Person { Person(id: id, name: name(version), age: version) }
    private func label(_ id: Int, _ version: Int) -> Label { Label.make(UInt8(id), name(version)) }
    private func post(_ id: Int, _ version: Int, _ author: Int?) -> Post {
        Post(id: id, text: name(version), author: author.map { person($0, version) })
    }
    private func folder(_ tree: RelationshipStep.Tree, _ version: Int) throws -> Folder {
        guard let children = tree.children else {
            return try folders.read(byPrimaryKey: tree.id, includeSubentities: false) ?? Folder(id: tree.id, name: name(version))
        }
        return Folder(id: tree.id, name: name(version), children: try children.map { try folder($0, version) })
    }
    /// Names order as their numbers do.
    private func name(_ version: Int) -> String { RelationshipStep.name(version) }

    private func answer(_ number: Int) throws -> String {
        var query = Query<Errand>(
            where: Condition { $0.owner.age != number && $0.whole.helper == nil }, orderedBy: [.ascending(\.owner, \.age)])
        let all = try DAO(storage: errands).including(\.owner, \.whole).read(query)
            .map { "\($0.id) by \($0.owner.row?.age ?? -1) in \($0.whole?.row?.title ?? "none")" }.joined(separator: " ")
        (query.limit, query.offset) = RelationshipStep.window(number)
        let wholes = Array(number % 3...number % 3 + 3)
        func parts(first: Int?) throws -> String {
            try DAO(storage: errands).read(Errand.parts, of: wholes, orderedBy: .descending(\.id), first: first)
                .map { $0.map { "\($0.id)" }.joined(separator: " ") }.joined(separator: ", ")
        }
        let window = try errands.read(query).map { "\($0.id)" }.joined(separator: " ")
        return try "\(all) | \(window) | \(parts(first: nil)) | \(parts(first: number % 3)) | \(byReference(number))"
    }

    /// What sorts, compares and groups errands by their References (R9).
    private func byReference(_ number: Int) throws -> String {
        let errands = DAO(storage: errands)
        func key<Target>(_ reference: Reference<Target>?) -> String { reference.map { $0.uniqueId.rawValue } ?? "-" }
        let condition = Condition<Errand> { $0.owner >= Reference(number % 3) || $0.whole < Reference(number % 4) }
        let order: Sort<Errand> = number % 2 == 0 ? .ascending(\.whole) : .descending(\.whole)
        let chosen = try errands.read(\.id, \.whole, orderedBy: order, where: condition).map { "\($0.0) in \(key($0.1))" }
        var query = Query(where: condition, orderedBy: [order])
        let size = RelationshipStep.window(number).limit
        var paged: [String] = []
        repeat {
            let page = try errands.page(query, limit: size)
            paged += page.elements.map { "\($0.id)" }
            query.after = page.next
        } while query.after != nil && paged.count < 1_000
        let groups = try errands.groups(by: \.owner, totals: .count, .max(\.id)).map { "\(key($0.0)): \($0.1) to \($0.2 ?? -1)" }
        let wholes = try errands.distinct(\.whole, where: condition).map { key($0) }
        return [chosen, paged, groups, wholes].map { $0.joined(separator: " ") }.joined(separator: " | ")
    }

    private func answer(_ question: RelationshipStep.Question, _ number: Int) throws -> String {
        let name = name(number)
        var query: Query<Topic> =
            switch question {
            case .anyPost: Query(where: Condition { $0.posts.contains { $0.text == name } })
            case .allPosts: Query(where: Condition { $0.posts.allSatisfy { $0.text == name } })
            case .postCount: Query(where: Condition { $0.posts.count >= number % 5 })
            case .labelCount: Query(where: Condition { $0.labels.count == number % 4 })
            case .otherOwner: Query(where: Condition { $0.owner.age != number })
            case .noOwner: Query(where: Condition { $0.owner == nil })
            case .anyAuthor: Query(where: Condition { $0.posts.contains { $0.author.id == number % 4 } })
            case .otherTopicsOfOwner: Query(where: Condition { $0.owner[Person.topics].count != number % 3 })
            case .anySharedPost: Query(where: Condition { $0.posts.contains { $0[Post.topics].count > 1 } })
            case .noPostByOwner: Query(where: Condition { $0.owner[Person.posts].allSatisfy { $0.text != name } })
            case .postCountOfVersion: Query(where: Condition { $0.posts.count { $0.text != name } >= number % 4 })
            case .postCountInWords: Query(where: Condition("SUBQUERY(posts, $p, $p.author == nil).@count == %@", number % 3))
            case .versionOfOwner: Query(where: Condition { $0.title.optional <= $0.owner.name })
            case .byOwner where number % 2 == 0: Query(orderedBy: [.ascending(\.owner, \.name)])
            case .byOwner: Query(where: Condition { $0.owner.age != number }, orderedBy: [.ascending(\.owner, \.name)])
            }
        func ids(_ query: Query<Topic>) throws -> String { try topics.read(query).map(\.id).joined(separator: " ") }
        let all = try ids(query)
        (query.limit, query.offset) = RelationshipStep.window(number)
        let window = try ids(query)
        let low = try LimitedReading.$current.withValue(.low) { try ids(query) }
        // What needs no sort by related rows has pages in other scripts.
        let pages = question == .byOwner ? try pages(query).joined(separator: " ") : all
        return "\(all) | \(window) | \(low) | \(pages)"
    }

    /// Returns the rows of a query, page after page, each of as many rows as the limit of the query.
    private func pages(_ query: Query<Topic>) throws -> [String] {
        var query = query
        let size = query.limit ?? 1
        (query.limit, query.offset) = (nil, 0)
        var found: [String] = []
        repeat {
            let page = try DAO(storage: topics).page(query, limit: size)
            found += page.elements.map(\.id)
            query.after = page.next
        } while query.after != nil && found.count < 1_000
        return found
    }

    func lines() throws -> [String] {
        var content = RelationshipReference.Content()
        for topic in try topics.read() {
            let id = Int(topic.id) ?? -1
            content.topics[id] = Int(topic.title)
            content.owners[id] = topic.owner?.id
            content.topicPosts[id] = topic.posts.map(\.id)
            content.topicLabels[id] = topic.labels.map { Int($0.id.uuid.15) }
            // The posts of a topic are equal to the rows themselves.
            for post in topic.posts { content.posts[post.id] = Int(post.text) }
        }
        for post in try posts.read() {
            if let seen = content.posts[post.id], seen != Int(post.text) { content.posts[post.id] = -1 }
            content.posts[post.id] = content.posts[post.id] ?? Int(post.text)
            content.authors[post.id] = post.author?.id
        }
        for person in try people.read() { content.people[person.id] = person.age }
        for label in try labels.read() { content.labels[Int(label.id.uuid.15)] = Int(label.name) }
        for folder in try folders.read() {
            content.folders[folder.id] = Int(folder.name)
            content.children[folder.id] = folder.children?.map(\.id)
        }
        for proposal in try proposals.read() {
            content.proposals[proposal.id] = Int(proposal.title)
            content.revisions[proposal.id] = Int(proposal.revision.rawValue)
        }
        for errand in try errands.read() {
            content.errands[errand.id] = Int(errand.title)
            content.wholes[errand.id] = errand.whole.flatMap { Int($0.uniqueId.rawValue) }
            content.errandOwners[errand.id] = Int(errand.owner.uniqueId.rawValue)
            content.helpers[errand.id] = errand.helper.flatMap { Int($0.uniqueId.rawValue) }
        }
        return content.lines
    }
}
