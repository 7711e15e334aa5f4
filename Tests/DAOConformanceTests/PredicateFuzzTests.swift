import DAOCore
import DAOTestSupport
import Foundation
import Testing

@testable import DAOConformance

/// Contract P6, P7: no text predicate ends the process, and every database answers as the reference evaluator does.
/// `MINUTES=10` in the environment runs for longer, `SEED=1` repeats a run.
@Suite(.timeLimit(.minutes(600))) struct PredicateFuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)

    @Test func textPredicatesHaveOneMeaning() async throws { try await run(ProbeTexts.init, 300) }

    @Test func textPredicatesOnRelatedRowsHaveOneMeaning() async throws { try await run(TopicTexts.init, 200) }

    @Test func textPredicatesOnArraysHaveOneMeaning() async throws { try await run(ArrayTexts.init, 200) }

    /// Runs so many rounds, or as many as the minutes of the environment allow.
    private func run<Texts: FuzzedTexts>(
        _ make: @escaping @Sendable ([ConformanceContext]) throws -> Texts, _ usual: Int
    ) async throws {
        let seed = Self.seed
        // Also said when a text ends the process.
        print("predicates: SEED=\(seed)")
        let limit = Self.environment["MINUTES"].flatMap { Double($0) }.map { Duration.seconds($0 * 60) }
        let contexts = try [SuiteTests.array, BackendTests.memory, BackendTests.sqlite, BackendTests.lmdb].map {
            ConformanceContext(target: $0, location: try .make())
        }
        defer { for context in contexts { context.location.remove() } }
        // Not on a thread of the cooperative pool: this blocks for minutes.
        try await withTaskExecutorPreference(TaskThreads.shared) {
            let texts = try make(contexts)
            var random = SeededGenerator(seed: seed)
            var (rounds, valid) = (0, 0)
            let began = ContinuousClock.now
            while limit.map({ ContinuousClock.now - began < $0 }) ?? (rounds < usual) {
                rounds += 1
                // Two texts in three are valid before some of the others turn out to be valid too.
                let predicate = texts.predicate(using: &random)
                let isDamaged = rounds % 3 == 0
                let text = isDamaged ? PredicateWriter.damaged(predicate.text, using: &random) : predicate.text
                let answers = texts.answers(to: text)
                let expected = texts.expected(isDamaged ? nil : predicate.node, text) ?? answers[0]
                if case .success = answers[0] { valid += 1 }
                for (answer, context) in zip(answers, contexts) where answer.description != expected.description {
                    Issue.record(
                        """
                        SEED=\(seed), round \(rounds): \(context.target.name) answers \(answer.description), \
                        not \(expected.description), to \(Dump.text(of: text.format)) with \(text.arguments)
                        """)
                }
            }
            for context in contexts { try context.closeAll() }
            #expect(valid * 2 >= rounds, "\(valid) of \(rounds) texts are valid")
            if limit != nil { print("predicates: \(rounds) texts, \(valid) of them valid, SEED=\(seed)") }
        }
    }
}

/// The keys of the rows that a predicate finds, or its error.
private typealias Answer = Result<[UniqueID], any Error>

extension Answer {
    fileprivate var description: String {
        switch self {
        case .success(let keys): "\(keys.map(\.rawValue))"
        case .failure(let error): "\(error)"
        }
    }
}

/// Reads the keys of a query, and counts them.
private func answer<Record: Model & Plain>(of dao: DAO<Record>, _ query: Query<Record>) -> Answer {
    Answer {
        let keys = try dao.storage.keys(query).map { UniqueID($0) }
        try expectEqual(try dao.count(query), keys.count, "the count of the rows")
        return keys
    }
}

/// Generated texts on one model, and the databases that answer them.
private protocol FuzzedTexts {
    /// A valid text, and the tree that it was written from.
    func predicate(using random: inout SeededGenerator) -> (node: PredicateNode?, text: PredicateWriter.Text)
    /// The answers of all databases.
    func answers(to text: PredicateWriter.Text) -> [Answer]
    /// The answer of the reference evaluator to the tree that a text was written from, or to the tree of the text; nil
    /// when the first database is the reference.
    func expected(_ node: PredicateNode?, _ text: PredicateWriter.Text) -> Answer?
}

/// Predicates on the fields of one row.
private struct ProbeTexts: FuzzedTexts {
    private let references: [ReferenceRows<Probe>]
    private let predicates = PredicateGenerator(Probe.schema.description)
    private let writer = PredicateWriter(Probe.schema.description)

    init(_ contexts: [ConformanceContext]) throws {
        references = try contexts.map { try ReferenceRows($0, Probe.random(60, seed: 91)) }
    }

    func predicate(using random: inout SeededGenerator) -> (node: PredicateNode?, text: PredicateWriter.Text) {
        let node = predicates.predicate(using: &random)
        return (node, writer.text(of: node, using: &random))
    }

    func answers(to text: PredicateWriter.Text) -> [Answer] {
        let query = Query<Probe>(where: Condition(parsed(text)))
        return references.map { answer(of: $0.dao, query) }
    }

    func expected(_ node: PredicateNode?, _ text: PredicateWriter.Text) -> Answer? {
        let query = Query<Probe>(where: Condition(node ?? parsed(text)))
        return Answer { try query.resolved().evaluate(over: references[0].rows).map(\.uniqueId) }
    }

    private func parsed(_ text: PredicateWriter.Text) -> PredicateNode {
        .parse(text.format, text.arguments, for: Probe.schema.description)
    }
}

/// Predicates on the elements of arrays.
private struct ArrayTexts: FuzzedTexts {
    private let references: [ReferenceRows<Arrays>]
    private let predicates = PredicateGenerator(
        Arrays.schema.description, elements: Arrays.schema.elementTypes, nests: false)
    private let writer = PredicateWriter(Arrays.schema.description)

    init(_ contexts: [ConformanceContext]) throws {
        var random = SeededGenerator(seed: 93)
        let rows = (1...40).map { id in
            func some<Element>(_ elements: [Element]) -> [Element]? {
                random.maybe((0..<random.below(4)).map { _ in random.pick(elements) })
            }
            return Arrays(
                id: id, bools: some([true, false]), ints: some(HardValues.integers.map { Int($0) }),
                large: some(HardValues.unsigned),
                floats: some(HardValues.floats), doubles: some(HardValues.doubles), decimals: some(HardValues.decimals),
                strings: some(HardValues.strings), blobs: some(HardValues.data), uuids: some(HardValues.uuids),
                gaps: some([nil, 1, 2]), dates: some(HardValues.dates.map { Date(timeIntervalSinceReferenceDate: $0) }),
                moods: some(Mood.allCases))
        }
        references = try contexts.map { try ReferenceRows($0, rows) }
    }

    func predicate(using random: inout SeededGenerator) -> (node: PredicateNode?, text: PredicateWriter.Text) {
        let node = predicates.predicate(using: &random)
        return (node, writer.text(of: node, using: &random))
    }

    func answers(to text: PredicateWriter.Text) -> [Answer] {
        let query = Query(where: Condition<Arrays>(text.format, arguments: text.arguments))
        return references.map { answer(of: $0.dao, query) }
    }

    func expected(_ node: PredicateNode?, _ text: PredicateWriter.Text) -> Answer? {
        let query = Query(where: node.map { Condition<Arrays>($0) } ?? Condition(text.format, arguments: text.arguments))
        return Answer { try query.resolved().evaluate(over: references[0].rows).map(\.uniqueId) }
    }
}

/// Predicates through relationships. The database of arrays, where conditions become sets of keys, is the reference.
private struct TopicTexts: FuzzedTexts {
    private let topics: [DAO<Topic>]

    init(_ contexts: [ConformanceContext]) throws {
        topics = try contexts.map { try $0.dao(Topic.self) }
        var random = SeededGenerator(seed: 92)
        let people = (1...5).map { Person(id: $0, name: random.pick(HardValues.strings), age: random.maybe($0 * 10)) }
        let posts = (1...30).map {
            Post(
                id: $0, text: random.pick(HardValues.strings), isRead: random.chance(50),
                author: random.maybe(random.pick(people)))
        }
        let rows = (1...20).map { id in
            let number = random.below(5)
            return Topic(
                id: "t\(id)", title: random.pick(HardValues.strings), owner: random.maybe(random.pick(people)),
                posts: (0..<number).map { posts[(id * 7 + $0) % posts.count] })
        }
        for dao in topics { try dao.persist(rows) }
    }

    func predicate(using random: inout SeededGenerator) -> (node: PredicateNode?, text: PredicateWriter.Text) {
        var text = leaf(using: &random)
        for _ in 0..<random.below(4) {
            text = random.pick(["NOT (\(text))", "\(text) AND \(leaf(using: &random))", "(\(text)) OR \(leaf(using: &random))"])
        }
        return (nil, PredicateWriter.Text(text))
    }

    private func leaf(using random: inout SeededGenerator) -> String {
        func condition<Related: Model>(on model: Related.Type, _ prefix: String) -> String {
            var entity = Related.schema.description
            entity.fields.removeAll { $0.type.kind == .toOne || $0.type.kind == .toMany }
            let writer = PredicateWriter(entity, prefix: prefix, bindsArguments: false)
            while true {
                let node = PredicateGenerator(entity).predicate(depth: 0, using: &random)
                switch node {
                case .compare, .isIn, .text: return writer.text(of: node, using: &random).format
                default: continue
                }
            }
        }
        let quantifier = random.pick(["ANY", "ALL", "NONE", "any"]) + " "
        switch random.below(7) {
        case 0: return condition(on: Topic.self, "")
        case 1: return condition(on: Person.self, "owner.")
        case 2: return "owner \(random.pick(["==", "!="])) nil"
        case 3: return "posts.@count \(random.pick(["==", "!=", "<", "<=", ">", ">="])) \(random.below(5))"
        case 4: return quantifier + condition(on: Person.self, "posts.author.")
        default: return quantifier + condition(on: Post.self, "posts.")
        }
    }

    func answers(to text: PredicateWriter.Text) -> [Answer] {
        let query = Query(where: Condition<Topic>(stringLiteral: text.format))
        return topics.map { answer(of: $0, query) }
    }

    func expected(_ node: PredicateNode?, _ text: PredicateWriter.Text) -> Answer? { nil }
}
