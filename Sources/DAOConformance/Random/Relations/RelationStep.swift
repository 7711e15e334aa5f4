import DAOCore
import Foundation

/// One step on models that refer to each other: topics, posts, people, labels and folders, each by a small number.
///
/// Every row that a step writes has the step's version in it.
public enum RelationStep: Sendable, Hashable {
    /// Stores a topic with what it holds; posts of even number are written by the author.
    case topic(Int, version: Int, owner: Int?, posts: [Int], author: Int?, labels: [Int])
    /// Stores a post by itself.
    case post(Int, version: Int, author: Int?)
    /// Stores a person.
    case person(Int, version: Int)
    /// Stores a label.
    case label(Int, version: Int)
    /// Stores a folder with what it holds.
    case folder(Tree, version: Int)
    /// Reads a topic without subentities, changes its title and writes it back.
    case retitle(Int, version: Int)
    /// Takes the first posts of a topic out of its list, in an update.
    case shorten(Int, by: Int)
    /// Erases topics.
    case eraseTopics([Int])
    /// Erases posts.
    case erasePosts([Int])
    /// Erases people.
    case erasePeople([Int])
    /// Erases labels.
    case eraseLabels([Int])
    /// Erases folders.
    case eraseFolders([Int])
    /// Asks one of the questions, with a number in it.
    case ask(Question, Int)
    /// Runs steps as a transaction, which may fail at its end.
    indirect case transaction([RelationStep], fails: Bool)

    /// A folder and what it holds.
    public struct Tree: Sendable, Hashable {
        /// The folder.
        public var id: Int
        /// What it holds; nil for a folder as it is stored, read without what it holds, which is not changed then.
        public var children: [Tree]?

        /// Describes a folder.
        public init(_ id: Int, _ children: [Tree]?) {
            self.id = id
            self.children = children
        }
    }

    /// What can be asked about topics.
    public enum Question: String, Sendable, Hashable, CaseIterable {
        /// Any post of a version.
        case anyPost
        /// Every post of a version.
        case allPosts
        /// As many posts or more.
        case postCount
        /// Exactly as many labels.
        case labelCount
        /// An owner of another version, or none.
        case otherOwner
        /// No owner.
        case noOwner
        /// Any post by a person.
        case anyAuthor
        /// All topics in the order of their owners' names.
        case byOwner
    }
}

extension RelationStep: ScriptedStep {
    /// How many steps it is.
    var size: Int {
        if case .transaction(let steps, _) = self { return steps.reduce(1) { $0 + $1.size } }
        return 1
    }

    /// The step as Swift.
    var source: String {
        switch self {
        case .topic(let id, let version, let owner, let posts, let author, let labels):
            ".topic(\(id), version: \(version), owner: \(text(owner)), posts: \(posts), author: \(text(author)), labels: \(labels))"
        case .post(let id, let version, let author): ".post(\(id), version: \(version), author: \(text(author)))"
        case .person(let id, let version): ".person(\(id), version: \(version))"
        case .label(let id, let version): ".label(\(id), version: \(version))"
        case .folder(let tree, let version): ".folder(\(tree.source), version: \(version))"
        case .retitle(let id, let version): ".retitle(\(id), version: \(version))"
        case .shorten(let id, let count): ".shorten(\(id), by: \(count))"
        case .eraseTopics(let ids): ".eraseTopics(\(ids))"
        case .erasePosts(let ids): ".erasePosts(\(ids))"
        case .erasePeople(let ids): ".erasePeople(\(ids))"
        case .eraseLabels(let ids): ".eraseLabels(\(ids))"
        case .eraseFolders(let ids): ".eraseFolders(\(ids))"
        case .ask(let question, let number): ".ask(.\(question.rawValue), \(number))"
        case .transaction(let steps, let fails):
            ".transaction([\(steps.map(\.source).joined(separator: ", "))], fails: \(fails))"
        }
    }

    private func text(_ id: Int?) -> String { id.map(String.init) ?? "nil" }
}

extension RelationStep.Tree {
    /// The folder as an expression.
    var source: String {
        ".init(\(id), " + (children.map { "[" + $0.map(\.source).joined(separator: ", ") + "]" } ?? "nil") + ")"
    }
}

/// Makes steps from a seed.
struct RelationGenerator {
    private var random: SplitMix64
    private var version = 0

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// A script.
    mutating func script(_ count: Int) -> [RelationStep] {
        var steps: [RelationStep] = []
        var size = 0
        while size < count {
            let step = step(depth: 0)
            size += step.size
            steps.append(step)
        }
        return steps
    }

    private mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    private mutating func list(_ bound: Int, longest: Int) -> [Int] { (0..<number(longest + 1)).map { _ in number(bound) } }

    private mutating func maybe(_ bound: Int) -> Int? { number(3) == 0 ? nil : number(bound) }

    private mutating func step(depth: Int) -> RelationStep {
        version += 1
        switch number(depth < 3 ? 22 : 20) {
        case 0...4:
            return .topic(
                number(4), version: version, owner: maybe(4), posts: list(7, longest: 5), author: maybe(4),
                labels: list(4, longest: 4))
        case 5: return .post(number(7), version: version, author: maybe(4))
        case 6: return .person(number(4), version: version)
        case 7: return .label(number(4), version: version)
        case 8...9:
            var ids = Array(0..<8)
            ids.shuffle(using: &random)
            // The last two are only referred to, as is the root: that makes circles.
            let links = [ids[0], ids.removeLast(), ids.removeLast()]
            ids.reverse()
            return .folder(tree(&ids, links, depth: 0), version: version)
        case 10: return .retitle(number(4), version: version)
        case 11: return .shorten(number(4), by: number(3))
        case 12: return .eraseTopics(list(4, longest: 2))
        case 13: return .erasePosts(list(7, longest: 2))
        case 14: return .erasePeople([number(4)])
        case 15: return .eraseLabels([number(4)])
        case 16: return .eraseFolders(list(8, longest: 2))
        case 17...19:
            return .ask(RelationStep.Question.allCases[number(RelationStep.Question.allCases.count)], number(version + 1))
        default: return .transaction((0...number(4)).map { _ in step(depth: depth + 1) }, fails: number(3) == 0)
        }
    }

    /// A tree without repetitions, with children in it that are only referred to.
    private mutating func tree(_ ids: inout [Int], _ links: [Int], depth: Int) -> RelationStep.Tree {
        let id = ids.popLast() ?? 0
        guard depth < 3 else { return RelationStep.Tree(id, []) }
        var children: [RelationStep.Tree] = []
        for _ in 0..<number(3) where !ids.isEmpty { children.append(tree(&ids, links, depth: depth + 1)) }
        if number(3) == 0 { children.append(RelationStep.Tree(links[number(links.count)], nil)) }
        return RelationStep.Tree(id, children)
    }
}
