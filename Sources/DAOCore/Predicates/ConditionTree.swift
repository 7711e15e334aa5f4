/// The tree of a condition, in a form that grows cheaply, and only as deep as every walk over it can go.
struct ConditionTree: Sendable {
    /// The maximum depth of a condition; more than a text can have. Every walk over a condition of this depth
    /// fits on a stack of 512 KiB, also the walk that releases it.
    static let maximumDepth = 640

    /// The number of levels that a condition on related rows counts for: it costs the stack of a query, which is 14 KiB
    /// without optimisation.
    fileprivate static let relationDepth = 24

    /// The number of levels that a condition on a part of an embedded value counts for: it costs the stack of a parser.
    fileprivate static let partDepth = 16

    private enum Form {
        case node(PredicateNode)
        case chain(NodeChain, isAnd: Bool)
    }

    private let form: Form
    private let depth: Int

    private init(_ form: Form, depth: Int) {
        let isTooDeep = depth > Self.maximumDepth
        self.form = isTooDeep ? .node(.invalid(.tooDeep(Self.maximumDepth))) : form
        self.depth = isTooDeep ? 1 : depth
    }

    /// Creates the tree of a node; a node that is too deep becomes ``PredicateNode/invalid(_:)``.
    init(_ node: PredicateNode) {
        self.init(.node(node), depth: node.depth(upTo: Self.maximumDepth + 1))
    }

    /// Creates the tree of a condition whose related rows have been looked up, a few levels deeper than it was.
    init(resolved node: PredicateNode) {
        form = .node(node)
        depth = 1
    }

    /// The tree as a node.
    var node: PredicateNode {
        switch form {
        case .node(let node): node
        case .chain(let chain, let isAnd): isAnd ? .and(chain.nodes) : .or(chain.nodes)
        }
    }

    /// The exact negation. Two negations are none.
    var negated: ConditionTree {
        if case .node(.not(let inner)) = form { return ConditionTree(.node(inner), depth: depth - 1) }
        return ConditionTree(.node(.not(node)), depth: depth + 1)
    }

    /// Returns the conjunction or disjunction of two trees. Chains become wider, not deeper, and the next
    /// condition of a long chain does not copy it.
    func joined(_ other: ConditionTree, isAnd: Bool) -> ConditionTree {
        let (first, second) = (parts(isAnd: isAnd), other.parts(isAnd: isAnd))
        let joined = max(first == nil ? depth + 1 : depth, second == nil ? other.depth + 1 : other.depth)
        if let first, first.count >= NodeChain.smallest, first.count >= second?.count ?? 0 {
            let more = second?.nodes ?? [other.node]
            return ConditionTree(.chain(first.appending(more), isAnd: isAnd), depth: joined)
        }
        // A chain that is written from the right grows at its front.
        if let second, second.count >= NodeChain.smallest {
            return ConditionTree(.chain(second.prepending(first?.nodes ?? [node]), isAnd: isAnd), depth: joined)
        }
        var all = first?.nodes ?? [node]
        var deepest = joined
        for node in second?.nodes ?? [other.node] {
            // Conditions on the one row that a row leads to are one condition, for which that row is looked up once.
            guard case .through(let field, let inner) = node,
                let place = all.firstIndex(where: { if case .through(field, _) = $0 { true } else { false } }),
                case .through(_, let earlier) = all[place]
            else {
                all.append(node)
                continue
            }
            let (left, right) = (earlier.parts(isAnd: isAnd), inner.parts(isAnd: isAnd))
            guard left.count + right.count <= NodeChain.smallest else {
                all.append(node)
                continue
            }
            all[place] = .through(field: field, isAnd ? .and(left + right) : .or(left + right))
            deepest = joined + 1
        }
        if all.count >= NodeChain.smallest { return ConditionTree(.chain(NodeChain(all), isAnd: isAnd), depth: deepest) }
        return ConditionTree(.node(all.count == 1 ? all[0] : isAnd ? .and(all) : .or(all)), depth: deepest)
    }

    /// The parts of a conjunction or of a disjunction; nil for every other tree.
    private func parts(isAnd: Bool) -> NodeChain? {
        switch form {
        case .chain(let chain, isAnd): chain
        case .node(.and(let nodes)) where isAnd: NodeChain(nodes)
        case .node(.or(let nodes)) where !isAnd: NodeChain(nodes)
        default: nil
        }
    }
}

extension PredicateNode {
    /// The parts of a conjunction or of a disjunction; any other node is the only part.
    fileprivate func parts(isAnd: Bool) -> [PredicateNode] {
        switch self {
        case .and(let nodes) where isAnd: nodes
        case .or(let nodes) where !isAnd: nodes
        default: [self]
        }
    }
}

/// A part of a list that grows at both ends. Appending to its end, and prepending to its front, copies nothing.
private struct NodeChain: Sendable {
    /// The number of nodes from which not copying pays.
    static let smallest = 16

    /// The first nodes of a list that only grows.
    private struct Part: Sendable {
        private final class Storage: Sendable {
            let nodes: Lock<[PredicateNode]>
            init(_ nodes: [PredicateNode]) { self.nodes = Lock(nodes) }
        }

        private let storage: Storage
        let count: Int

        init(_ nodes: [PredicateNode]) { self.init(Storage(nodes), nodes.count) }

        private init(_ storage: Storage, _ count: Int) {
            self.storage = storage
            self.count = count
        }

        var nodes: [PredicateNode] {
            storage.nodes.withLock { $0.count == count ? $0 : Array($0.prefix(count)) }
        }

        func appending(_ more: [PredicateNode]) -> Part {
            let isWhole = storage.nodes.withLock { nodes in
                guard nodes.count == count else { return false }
                nodes += more
                return true
            }
            return isWhole ? Part(storage, count + more.count) : Part(nodes + more)
        }
    }

    /// The nodes before those of ``back``, the last one first; nil when there are none.
    private let front: Part?
    private let back: Part

    init(_ nodes: [PredicateNode]) { self.init(nil, Part(nodes)) }

    private init(_ front: Part?, _ back: Part) {
        self.front = front
        self.back = back
    }

    var count: Int { (front?.count ?? 0) + back.count }

    var nodes: [PredicateNode] { front.map { $0.nodes.reversed() + back.nodes } ?? back.nodes }

    func appending(_ more: [PredicateNode]) -> NodeChain { NodeChain(front, back.appending(more)) }

    func prepending(_ more: [PredicateNode]) -> NodeChain {
        NodeChain(front?.appending(more.reversed()) ?? Part(more.reversed()), back)
    }
}

extension PredicateProblem {
    /// The problem that a predicate is deeper than a limit.
    static func tooDeep(_ limit: Int) -> PredicateProblem {
        PredicateProblem("the predicate nests more than \(limit) levels deep; nest it less")
    }
}

// The derived comparison and hash of a node recurse; these do not.
extension PredicateNode {
    /// Returns whether both trees are equal.
    func isSame(as other: PredicateNode) -> Bool {
        var pending = [(self, other)]
        while let pair = pending.popLast() {
            switch pair {
            case (.and(let left), .and(let right)), (.or(let left), .or(let right)):
                guard left.count == right.count else { return false }
                pending += zip(left, right)
            case (.not(let left), .not(let right)): pending.append((left, right))
            case (.related(let field, let match, let left), .related(let otherField, let otherMatch, let right)):
                guard field == otherField, match == otherMatch else { return false }
                pending.append((left, right))
            case (.through(let field, let left), .through(let otherField, let right)):
                guard field == otherField else { return false }
                pending.append((left, right))
            case (
                .relatedCount(let field, let left, let comparison, let count),
                .relatedCount(let otherField, let right, let otherComparison, let otherCount)
            ):
                guard field == otherField, comparison == otherComparison, count == otherCount else { return false }
                pending.append((left, right))
            case (.embedded(let field, let part, let left), .embedded(let otherField, let otherPart, let right)):
                guard field == otherField, part == otherPart else { return false }
                pending.append((left, right))
            case (let left, let right): guard left == right else { return false }
            }
        }
        return true
    }

    /// Hashes the tree.
    func hashTree(into hasher: inout Hasher) {
        var pending = [self]
        while let node = pending.popLast() {
            switch node {
            case .and(let nodes), .or(let nodes):
                if case .and = node { hasher.combine(0) } else { hasher.combine(1) }
                hasher.combine(nodes.count)
                pending += nodes
            case .not(let inner):
                hasher.combine(2)
                pending.append(inner)
            case .related(let field, _, let inner), .relatedCount(let field, let inner, _, _), .through(let field, let inner),
                .embedded(let field, _, let inner):
                hasher.combine(field)
                pending.append(inner)
            default: hasher.combine(node)
            }
        }
    }
}

extension PredicateNode {
    /// Returns the depth of the tree, or the limit when it is at least as deep.
    fileprivate func depth(upTo limit: Int) -> Int {
        var deepest = 1
        var pending = [(self, 1)]
        while deepest < limit, let (node, depth) = pending.popLast() {
            deepest = max(deepest, depth)
            switch node {
            case .and(let nodes), .or(let nodes): pending += nodes.map { ($0, depth + 1) }
            case .not(let node): pending.append((node, depth + 1))
            case .related(_, _, let node), .relatedCount(_, let node, _, _), .through(_, let node):
                pending.append((node, depth + ConditionTree.relationDepth))
            case .embedded(_, _, let node): pending.append((node, depth + ConditionTree.partDepth))
            default: continue
            }
        }
        return deepest
    }
}

extension ConditionTree: Hashable {
    /// Whether both have the same nodes.
    static func == (left: ConditionTree, right: ConditionTree) -> Bool { left.node.isSame(as: right.node) }

    /// Hashes the nodes.
    func hash(into hasher: inout Hasher) { node.hashTree(into: &hasher) }
}
