import DAOCore

/// One step on related models: topics, posts, people, labels, folders, proposals and errands, each identified by a
/// small number. A proposal counts its writes. An errand has References.
///
/// Every row that a step writes contains the version of the step.
public enum RelationshipStep: Sendable, Hashable {
    /// Stores a topic with its related rows. Posts with an even number have the author.
    case topic(Int, version: Int, owner: Int?, posts: [Int], author: Int?, labels: [Int])
    /// Stores a post without its topic.
    case post(Int, version: Int, author: Int?)
    /// Stores a person.
    case person(Int, version: Int)
    /// Stores a label.
    case label(Int, version: Int)
    /// Stores a folder with its children.
    case folder(Tree, version: Int)
    /// Reads a topic without subentities, changes its title and writes it back.
    case retitle(Int, version: Int)
    /// Removes the first posts from the list of a topic, in an update.
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
    /// Stores proposals in one call, the last of them with a revision that is that many writes old.
    case proposals([Int], version: Int, age: Int)
    /// Changes proposals in an update.
    case updateProposals([Int], version: Int)
    /// Erases proposals.
    case eraseProposals([Int])
    /// Stores errands in one call.
    case errands([Errand], version: Int)
    /// Erases errands.
    case eraseErrands([Int])
    /// Runs a query on errands, with a number.
    case askErrands(Int)
    /// Runs one of the queries, with a number.
    case ask(Question, Int)
    /// Runs steps as a transaction, which may fail at its end.
    indirect case transaction([RelationshipStep], fails: Bool)

    /// A folder and its children.
    public struct Tree: Sendable, Hashable {
        /// The folder.
        var id: Int
        /// The children; nil for the stored folder, read without its children, which do not change then.
        var children: [Tree]?

        /// Describes a folder.
        public init(_ id: Int, _ children: [Tree]?) {
            self.id = id
            self.children = children
        }
    }

    /// An errand and the rows that it refers to.
    public struct Errand: Sendable, Hashable {
        /// The errand.
        var id: Int
        /// The errand that it is a part of.
        var whole: Int?
        /// A person.
        var owner: Int
        /// Another person.
        var helper: Int?

        /// Describes an errand.
        public init(_ id: Int, whole: Int?, owner: Int, helper: Int?) {
            (self.id, self.whole, self.owner, self.helper) = (id, whole, owner, helper)
        }
    }

    /// The limit and the offset with which a question is asked a second time.
    static func window(_ number: Int) -> (limit: Int, offset: Int) { (number % 5 + 1, number % 3) }

    /// The queries on topics.
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
        /// Another number of topics of the owner.
        case otherTopicsOfOwner
        /// Any post that is in another topic, too.
        case anySharedPost
        /// No post of a version by the owner.
        case noPostByOwner
        /// As many posts of a version or more.
        case postCountOfVersion
        /// As many posts without an author, in words.
        case postCountInWords
        /// The version of the owner.
        case versionOfOwner
        /// All topics in the order of their owners' names.
        case byOwner
    }
}

extension RelationshipStep {
    /// The text of a version in names and posts. Such texts are ordered as their versions are.
    static func name(_ version: Int) -> String { String(repeating: "0", count: max(0, 6 - "\(version)".count)) + "\(version)" }
}

extension RelationshipStep: ReplayedStep {
    /// How many steps it is.
    var size: Int {
        if case .transaction(let steps, _) = self { return steps.reduce(1) { $0 + $1.size } }
        return 1
    }

    /// The steps of a transaction without the transaction, and the transaction with fewer steps.
    var smallerForms: [[Self]] {
        guard case .transaction(let steps, let fails) = self else { return [] }
        return [steps] + steps.smaller(\.smallerForms).map { [.transaction($0, fails: fails)] }
    }
}

extension RelationshipStep.Tree: SwiftSource {
    /// The folder as an expression.
    var source: String { ".init(\(id), \(SwiftLiteral.source(children as Any)))" }
}

extension RelationshipStep.Errand: SwiftSource {
    /// The errand as an expression.
    var source: String {
        ".init(\(id), whole: \(SwiftLiteral.source(whole as Any)), owner: \(owner), helper: \(SwiftLiteral.source(helper as Any)))"
    }
}
