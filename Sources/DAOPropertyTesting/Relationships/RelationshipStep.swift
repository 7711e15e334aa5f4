import DAOCore

/// One step on models that refer to each other: topics, posts, people, labels and folders, each by a small
/// number.
///
/// Every row that a step writes has the step's version in it.
public enum RelationshipStep: Sendable, Hashable {
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
    indirect case transaction([RelationshipStep], fails: Bool)

    /// A folder and what it holds.
    public struct Tree: Sendable, Hashable {
        /// The folder.
        var id: Int
        /// What it holds; nil for a folder as it is stored, read without what it holds, which is not changed
        /// then.
        var children: [Tree]?

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

extension RelationshipStep: ReplayedStep {
    /// How many steps it is.
    var size: Int {
        if case .transaction(let steps, _) = self { return steps.reduce(1) { $0 + $1.size } }
        return 1
    }

    /// Of a transaction, its steps alone, or fewer of them.
    var smallerForms: [[Self]] {
        guard case .transaction(let steps, let fails) = self else { return [] }
        return [steps]
            + steps.indices.flatMap { index in
                ([[]] + steps[index].smallerForms).map { form in
                    var rest = steps
                    rest.replaceSubrange(index...index, with: form)
                    return [.transaction(rest, fails: fails)]
                }
            }
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

extension RelationshipStep.Tree {
    /// The folder as an expression.
    var source: String {
        ".init(\(id), " + (children.map { "[" + $0.map(\.source).joined(separator: ", ") + "]" } ?? "nil") + ")"
    }
}
