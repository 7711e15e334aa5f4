import DAOConformance
import DAOCore
import Foundation

/// Chapter R of the contract, on rows and links in plain dictionaries.
struct RelationshipReference: ReferenceModel {
    struct Content: Equatable {
        var topics: [Int: Int] = [:]
        var posts: [Int: Int] = [:]
        var people: [Int: Int] = [:]
        var labels: [Int: Int] = [:]
        var folders: [Int: Int] = [:]
        var owners: [Int: Int] = [:]
        var topicPosts: [Int: [Int]] = [:]
        var topicLabels: [Int: [Int]] = [:]
        var authors: [Int: Int] = [:]
        var children: [Int: [Int]] = [:]
        var proposals: [Int: Int] = [:]
        var revisions: [Int: Int] = [:]
        var errands: [Int: Int] = [:]
        var wholes: [Int: Int] = [:]
        var errandOwners: [Int: Int] = [:]
        var helpers: [Int: Int] = [:]
    }

    private(set) var content = Content()

    var lines: [String] { content.lines }

    mutating func run(_ step: RelationshipStep) -> [String] { [outcome(of: step)] }

    private mutating func outcome(of step: RelationshipStep) -> String {
        switch step {
        case .topic(let id, let version, let owner, let posts, let author, let labels):
            content.topics[id] = version
            content.owners[id] = owner
            for post in posts {
                content.posts[post] = version
                content.authors[post] = post % 2 == 0 ? author : nil
                if post % 2 == 0, let author { content.people[author] = version }
            }
            // Linked rows that are stored stay as they are.
            if let owner, content.people[owner] == nil { content.people[owner] = version }
            for label in labels where content.labels[label] == nil { content.labels[label] = version }
            content.topicLabels[id] = labels
            give(posts, to: id)
        case .post(let id, let version, let author):
            content.posts[id] = version
            content.authors[id] = author
            if let author { content.people[author] = version }
        case .person(let id, let version): content.people[id] = version
        case .label(let id, let version): content.labels[id] = version
        case .folder(let tree, let version): store(tree, version)
        case .retitle(let id, let version):
            guard content.topics[id] != nil else { return "none" }
            content.topics[id] = version
        case .shorten(let id, let count):
            guard content.topics[id] != nil else { return "0" }
            give(Array((content.topicPosts[id] ?? []).dropFirst(count)), to: id)
            return "1"
        case .eraseTopics(let ids): return erase(ids, from: \.topics) { $0.eraseTopics($1) }
        case .erasePosts(let ids): return erase(ids, from: \.posts) { $0.erasePosts($1) }
        case .erasePeople(let ids):
            if let errand = content.errandOwners.filter({ ids.contains($1) }).keys.min() { return "errand \(errand) refers" }
            return erase(ids, from: \.people) { reference, ids in
                reference.content.owners = reference.content.owners.filter { !ids.contains($1) }
                reference.content.authors = reference.content.authors.filter { !ids.contains($1) }
                reference.content.helpers = reference.content.helpers.filter { !ids.contains($1) }
            }
        case .eraseLabels(let ids):
            return erase(ids, from: \.labels) { reference, ids in
                reference.content.topicLabels = reference.content.topicLabels.mapValues { $0.filter { !ids.contains($0) } }
            }
        case .eraseFolders(let ids): return erase(ids, from: \.folders) { $0.eraseFolders($1) }
        case .proposals(let ids, let version, let age):
            if age != 0, let id = ids.last { return "conflict of \(id)" }
            for id in Set(ids) { write(proposal: id, version) }
        case .updateProposals(let ids, let version):
            let there = Set(ids).filter { content.proposals[$0] != nil }
            for id in there { write(proposal: id, version) }
            return "\(there.count)"
        case .eraseProposals(let ids):
            return erase(ids, from: \.proposals) { reference, ids in for id in ids { reference.content.revisions[id] = nil } }
        case .errands(let errands, let version): return store(errands, version)
        case .eraseErrands(let ids): return erase(ids, from: \.errands) { $0.eraseParts(of: $1) }
        case .askErrands(let number): return answer(number)
        case .ask(let question, let number): return answer(question, number)
        case .transaction(let steps, let fails):
            let before = content
            let results = steps.map { outcome(of: $0) }
            if fails { content = before }
            return results.joined(separator: ", ")
        }
        return "done"
    }

    // MARK: Writing

    private mutating func write(proposal id: Int, _ version: Int) {
        content.proposals[id] = version
        content.revisions[id, default: 0] += 1
    }

    /// Sets the posts of a topic. Posts that no topic holds any longer are erased.
    private mutating func give(_ posts: [Int], to topic: Int) {
        let before = content.topicPosts[topic] ?? []
        content.topicPosts[topic] = posts
        let held = Set(content.topicPosts.values.joined())
        erasePosts(Set(before).subtracting(held))
    }

    private mutating func store(_ tree: RelationshipStep.Tree, _ version: Int) {
        var dropped: Set<Int> = []
        var level = [tree]
        while !level.isEmpty {
            for folder in level {
                if let children = folder.children {
                    content.folders[folder.id] = version
                    dropped.formUnion(content.children[folder.id] ?? [])
                    content.children[folder.id] = children.map(\.id)
                } else if content.folders[folder.id] == nil {
                    content.folders[folder.id] = version
                    content.children[folder.id] = []
                }
            }
            level = level.flatMap { $0.children ?? [] }
        }
        eraseFolders(dropped.subtracting(content.children.values.joined()))
    }

    /// Stores errands, unless one of them refers to a row that is not stored. The last value of a repeated errand counts.
    private mutating func store(_ errands: [RelationshipStep.Errand], _ version: Int) -> String {
        let before = content
        for errand in errands {
            content.errands[errand.id] = version
            content.wholes[errand.id] = errand.whole
            content.errandOwners[errand.id] = errand.owner
            content.helpers[errand.id] = errand.helper
        }
        func missing(_ field: String, _ targets: [Int: Int], _ rows: [Int: Int]) -> String? {
            for errand in errands {
                if let target = targets[errand.id], rows[target] == nil { return "no \(field) \(target) of \(errand.id)" }
            }
            return nil
        }
        guard
            let fault = missing("whole", content.wholes, content.errands)
                ?? missing("owner", content.errandOwners, content.people) ?? missing("helper", content.helpers, content.people)
        else { return "done" }
        content = before
        return fault
    }

    // MARK: Erasing

    /// Erases the links of errands, and the errands that are parts of them.
    private mutating func eraseParts(of ids: Set<Int>) {
        var gone = ids
        while !gone.isEmpty {
            for id in gone {
                content.errands[id] = nil
                content.wholes[id] = nil
                content.errandOwners[id] = nil
                content.helpers[id] = nil
            }
            gone = Set(content.wholes.filter { gone.contains($1) }.keys)
        }
    }

    private mutating func erase(
        _ ids: [Int], from rows: WritableKeyPath<Content, [Int: Int]>, _ unlink: (inout Self, Set<Int>) -> Void
    ) -> String {
        let there = Set(ids).filter { content[keyPath: rows][$0] != nil }
        for id in there { content[keyPath: rows][id] = nil }
        unlink(&self, there)
        return "\(there.count)"
    }

    private mutating func eraseTopics(_ ids: Set<Int>) {
        var dropped: Set<Int> = []
        for id in ids {
            content.owners[id] = nil
            content.topicLabels[id] = nil
            dropped.formUnion(content.topicPosts.removeValue(forKey: id) ?? [])
        }
        erasePosts(dropped.subtracting(content.topicPosts.values.joined()))
    }

    private mutating func erasePosts(_ ids: Set<Int>) {
        for id in ids {
            content.posts[id] = nil
            content.authors[id] = nil
        }
        content.topicPosts = content.topicPosts.mapValues { $0.filter { !ids.contains($0) } }
    }

    private mutating func eraseFolders(_ ids: Set<Int>) {
        var gone = ids
        while !gone.isEmpty {
            var dropped: Set<Int> = []
            for id in gone {
                content.folders[id] = nil
                dropped.formUnion(content.children.removeValue(forKey: id) ?? [])
            }
            content.children = content.children.mapValues { $0.filter { !gone.contains($0) } }
            gone = dropped.subtracting(content.children.values.joined()).filter { content.folders[$0] != nil }
        }
    }

    // MARK: Asking

    /// The errands whose owner is of another version, and which are no part of an errand with a helper, by their owners,
    /// with the rows that they refer to.
    private func answer(_ number: Int) -> String {
        func owner(_ errand: Int) -> Int { content.errandOwners[errand].flatMap { content.people[$0] } ?? -1 }
        let found = content.errands.keys.sorted().filter { errand in
            owner(errand) != number && content.wholes[errand].flatMap { content.helpers[$0] } == nil
        }
        let (limit, offset) = RelationshipStep.window(number)
        func ids(_ errands: some Sequence<Int>) -> String { errands.map(String.init).joined(separator: " ") }
        let sorted = found.sorted { owner($0) == owner($1) ? $0 < $1 : owner($0) < owner($1) }
        let rows = sorted.map { errand in
            let whole = content.wholes[errand].flatMap { content.errands[$0] }.map(String.init)
            return "\(errand) by \(owner(errand)) in \(whole ?? "none")"
        }
        func parts(first: Int) -> String {
            (number % 3...number % 3 + 3).map { whole in
                ids(content.wholes.filter { $0.value == whole }.keys.sorted(by: >).prefix(first))
            }.joined(separator: ", ")
        }
        let window = ids(sorted.dropFirst(offset).prefix(limit))
        return
            "\(rows.joined(separator: " ")) | \(window) | \(parts(first: .max)) | \(parts(first: number % 3)) | \(byReference(number))"
    }

    /// What sorts, compares and groups errands by their References.
    private func byReference(_ number: Int) -> String {
        func key(_ id: Int?) -> String { id.map(String.init) ?? "-" }
        func whole(_ errand: Int) -> Int { content.wholes[errand] ?? -1 }
        let found = content.errands.keys.sorted().filter { errand in
            (content.errandOwners[errand] ?? -1) >= number % 3 || content.wholes[errand].map { $0 < number % 4 } == true
        }
        let sorted = found.sorted {
            whole($0) == whole($1) ? $0 < $1 : (whole($0) < whole($1)) == (number % 2 == 0)
        }
        let owners = Dictionary(grouping: content.errands.keys) { content.errandOwners[$0] ?? -1 }
        let groups = owners.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.count) to \($0.value.max() ?? -1)" }
        let wholes = Set(found.map { content.wholes[$0] }).sorted { ($0 ?? -1) < ($1 ?? -1) }
        return [sorted.map { "\($0) in \(key(content.wholes[$0]))" }, sorted.map(String.init), groups, wholes.map(key)]
            .map { $0.joined(separator: " ") }.joined(separator: " | ")
    }

    private func answer(_ question: RelationshipStep.Question, _ number: Int) -> String {
        let topics = content.topics.keys.sorted()
        func posts(_ topic: Int) -> [Int] { content.topicPosts[topic] ?? [] }
        func ownerVersion(_ topic: Int) -> Int? { content.owners[topic].flatMap { content.people[$0] } }
        let found: [Int] =
            switch question {
            case .anyPost: topics.filter { posts($0).contains { content.posts[$0] == number } }
            case .allPosts: topics.filter { posts($0).allSatisfy { content.posts[$0] == number } }
            case .postCount: topics.filter { posts($0).count >= number % 5 }
            case .labelCount: topics.filter { (content.topicLabels[$0] ?? []).count == number % 4 }
            case .otherOwner: topics.filter { ownerVersion($0) != number }
            case .noOwner: topics.filter { content.owners[$0] == nil }
            case .anyAuthor: topics.filter { posts($0).contains { content.authors[$0] == number % 4 } }
            case .otherTopicsOfOwner:
                topics.filter { topic in
                    topics.count { content.owners[topic] != nil && content.owners[$0] == content.owners[topic] } != number % 3
                }
            case .anySharedPost: topics.filter { posts($0).contains { post in topics.count { posts($0).contains(post) } > 1 } }
            case .noPostByOwner:
                topics.filter { topic in
                    let written = content.authors.filter { $0.value == content.owners[topic] }.keys
                    return !written.contains { content.posts[$0] == number }
                }
            case .postCountOfVersion: topics.filter { posts($0).count { content.posts[$0] != number } >= number % 4 }
            case .postCountInWords: topics.filter { posts($0).count { content.authors[$0] == nil } == number % 3 }
            case .versionOfOwner:
                // Texts are compared.
                topics.filter { topic in
                    ownerVersion(topic).map { "\(content.topics[topic] ?? 0)" <= RelationshipStep.name($0) } ?? false
                }
            case .byOwner:
                topics.filter { number % 2 == 0 || ownerVersion($0) != number }.sorted { left, right in
                    let (before, after) = (ownerVersion(left) ?? -1, ownerVersion(right) ?? -1)
                    return before == after ? left < right : before < after
                }
            }
        func ids(_ topics: some Sequence<Int>) -> String { topics.map(String.init).joined(separator: " ") }
        let (limit, offset) = RelationshipStep.window(number)
        let window = ids(found.dropFirst(offset).prefix(limit))
        return "\(ids(found)) | \(window) | \(window) | \(ids(found))"
    }
}
