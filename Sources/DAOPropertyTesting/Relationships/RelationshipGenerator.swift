import DAOCore
import DAOTestSupport

/// Generates steps on models that refer to each other from a seed.
struct RelationshipGenerator {
    private var random: SeededGenerator
    private var version = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// A script.
    mutating func script(_ count: Int) -> [RelationshipStep] {
        var steps: [RelationshipStep] = []
        var size = 0
        while size < count {
            let step = step(depth: 0)
            size += step.size
            steps.append(step)
        }
        return steps
    }

    private mutating func list(_ bound: Int, longest: Int) -> [Int] {
        (0..<random.below(longest + 1)).map { _ in random.below(bound) }
    }

    private mutating func maybe(_ bound: Int) -> Int? { random.below(3) == 0 ? nil : random.below(bound) }

    private mutating func step(depth: Int) -> RelationshipStep {
        version += 1
        switch random.below(depth < 3 ? 30 : 28) {
        case 0...4:
            return .topic(
                random.below(4), version: version, owner: maybe(4), posts: list(7, longest: 5), author: maybe(4),
                labels: list(4, longest: 4))
        case 5: return .post(random.below(7), version: version, author: maybe(4))
        case 6: return .person(random.below(4), version: version)
        case 7: return .label(random.below(4), version: version)
        case 8...9:
            var ids = Array(0..<8)
            ids.shuffle(using: &random)
            // The last two are only referred to, as is the root: that makes circles.
            let links = [ids[0], ids.removeLast(), ids.removeLast()]
            ids.reverse()
            return .folder(tree(&ids, links, depth: 0), version: version)
        case 10: return .retitle(random.below(4), version: version)
        case 11: return .shorten(random.below(4), by: random.below(3))
        case 12: return .eraseTopics(list(4, longest: 2))
        case 13: return .erasePosts(list(7, longest: 2))
        case 14: return .erasePeople([random.below(4)])
        case 15: return .eraseLabels([random.below(4)])
        case 16: return .eraseFolders(list(8, longest: 2))
        case 17...19:
            return .ask(
                RelationshipStep.Question.allCases[random.below(RelationshipStep.Question.allCases.count)],
                random.below(version + 1))
        case 20: return .proposals((0...random.below(3)).map { _ in random.below(4) }, version: version, age: random.below(3) - 1)
        case 21: return .updateProposals(list(4, longest: 2), version: version)
        case 22:
            return random.below(3) == 0
                ? .eraseProposals([random.below(4)]) : .proposals([random.below(4)], version: version, age: 0)
        case 23...25: return errands()
        case 26: return .eraseErrands(list(6, longest: 2))
        case 27: return .askErrands(random.below(version + 1))
        default: return .transaction((0...random.below(4)).map { _ in step(depth: depth + 1) }, fails: random.below(3) == 0)
        }
    }

    /// Errands, most of which refer to rows that are stored.
    private mutating func errands() -> RelationshipStep {
        let ids = (0...random.below(3)).map { _ in random.below(6) }
        let errands = ids.map { id in
            RelationshipStep.Errand(
                id, whole: random.below(8) == 0 ? random.below(6) : maybe(ids.count).map { ids[$0] }, owner: random.below(4),
                helper: maybe(4))
        }
        let step = RelationshipStep.errands(errands, version: version)
        if random.below(4) == 0 { return step }
        let people = Set(errands.flatMap { [$0.owner] + ($0.helper.map { [$0] } ?? []) })
        return .transaction(people.sorted().map { .person($0, version: version) } + [step], fails: false)
    }

    /// A tree without repetitions, with children in it that are only referred to.
    private mutating func tree(_ ids: inout [Int], _ links: [Int], depth: Int) -> RelationshipStep.Tree {
        let id = ids.popLast() ?? 0
        guard depth < 3 else { return RelationshipStep.Tree(id, []) }
        var children: [RelationshipStep.Tree] = []
        for _ in 0..<random.below(3) where !ids.isEmpty { children.append(tree(&ids, links, depth: depth + 1)) }
        if random.below(3) == 0 { children.append(RelationshipStep.Tree(links[random.below(links.count)], nil)) }
        return RelationshipStep.Tree(id, children)
    }
}
