import DAOConformance
import DAOCore

/// Steps on rows: calls, queries, transactions, observations and threads.
struct RowTest: ModelBasedTest {
    let target: ConformanceTarget
    /// After how many steps the whole state is compared, and at the end; nil for never. The rows of entities
    /// that a step may have changed always are.
    var checkInterval: Int? = 25
    /// How many seconds to wait for what should come by itself: another thread's end, an observation's
    /// result.
    var patience = 60.0

    func script(seed: UInt64, operations: Int) -> [RowStep] {
        var generator = RowGenerator(seed: seed)
        return generator.script(steps: operations)
    }

    func begin(_ script: [RowStep], at location: ConformanceTarget.Location) throws -> RowSession? {
        try RowSession(self, script, at: location)
    }

    func shrinking(isHasty: Bool) -> Self {
        var test = self
        // A check of the whole state that found something stands in the script as a step.
        test.checkInterval = nil
        if isHasty { test.patience = min(0.5, patience) }
        return test
    }

    /// Instead of queries that do not agree with each other, the one of them that is wrong.
    func plainerScripts(than script: [RowStep]) -> [[RowStep]] {
        script.last?.components.map { script.dropLast() + [$0] } ?? []
    }

    func source(of failure: FailedScript<RowStep>) -> ScriptSource { RowScriptPrinter.source(of: failure) }
}

/// The rows of a database, and those of the reference model.
struct RowSession: ModelBasedSession {
    private let runner: RowRunner
    private var reference: RowReference
    private let entities: Set<Entity>
    private let checkInterval: Int?
    private var count = 0

    init(_ test: RowTest, _ script: [RowStep], at location: ConformanceTarget.Location) throws {
        entities = script.reduce(into: Set(Entity.allCases)) { $0.formUnion($1.entities) }
        runner = try RowRunner(
            test.target, at: location, entities.sorted { $0.rawValue < $1.rawValue }, patience: test.patience)
        reference = RowReference(isPersistent: runner.isPersistent)
        checkInterval = test.checkInterval
    }

    var verified: (any Database)? { runner.verified }

    func close() { try? runner.close() }

    mutating func run(_ step: RowStep, isLast: Bool) -> Difference<RowStep>? {
        count += 1
        if let difference = Self.difference(reference.perform(step), runner.perform(step), []) { return difference }
        let checks: [RowStep]
        if let checkInterval, isLast || count % checkInterval == 0 {
            checks = StateCheck.all(reference.state, entities)
        } else {
            checks = step.mayChange ? StateCheck.rows(step.isAboutAll ? entities : step.entities) : []
        }
        for check in checks {
            guard var difference = Self.difference(reference.perform(check), runner.perform(check), []) else { continue }
            difference.check = check
            return difference
        }
        return nil
    }

    /// The innermost step that differs, with the expected outcome and the one that came; nil when all is the
    /// same.
    private static func difference(_ expected: Outcome, _ got: Outcome, _ path: [Int]) -> Difference<RowStep>? {
        if case .nested(let left, let leftOwn) = expected, case .nested(let right, let rightOwn) = got {
            for (index, pair) in zip(left, right).enumerated() {
                if let found = difference(pair.0, pair.1, path + [index]) { return found }
            }
            if left.count == right.count { return difference(leftOwn, rightOwn, path) }
        }
        if Outcome.same(expected, got) { return nil }
        return Difference(path: path, expected: expected.text, got: got.text)
    }
}

/// Steps that look at the whole state.
enum StateCheck {
    /// The rows of entities, in key order.
    static func rows(_ entities: Set<Entity>) -> [RowStep] {
        entities.sorted { $0.rawValue < $1.rawValue }.map { RowStep(verb: .read, entity: $0) }
    }

    /// The rows of every entity, the order of every index, and that values are found through an index as
    /// without one.
    static func all(_ state: ReferenceState, _ entities: Set<Entity>) -> [RowStep] {
        rows(entities) + entities.sorted { $0.rawValue < $1.rawValue }.flatMap { indexes(of: $0, state) }
    }

    private static func indexes(of entity: Entity, _ state: ReferenceState) -> [RowStep] {
        entity.table.indexed.flatMap { field -> [RowStep] in
            let name = entity.fields[field].name
            var operations = [true, false].map { isAscending in
                var operation = RowStep(verb: .keys, entity: entity)
                operation.query.order = [.init(field: name, isAscending: isAscending)]
                return operation
            }
            let present = state[entity].map { $0[field] }
            for value in [present.first, present.last].compactMap({ $0 }) {
                for node in [PredicateNode.compare(field: field, .equal, value), .compare(field: field, .greaterOrEqual, value)] {
                    var operation = RowStep(verb: .keys, entity: entity)
                    operation.query.node = node
                    operations.append(operation)
                    guard let wrapped = node.wrapped(for: entity) else { continue }
                    operation.query.node = wrapped
                    operations.append(operation)
                }
            }
            return operations
        }
    }
}

extension RowStep {
    /// Whether rows may be others afterwards, or should be what they were after a failure.
    var mayChange: Bool {
        switch verb {
        case .create, .persist, .upsert, .merge, .update, .set, .findOrCreate, .eraseRows, .eraseKeys, .eraseQuery, .eraseAll,
            .reopen,
            .compact, .increment, .translate, .closeInside, .leave:
            true
        default: nested.contains(where: \.mayChange)
        }
    }

    /// Whether it is about every entity there is.
    var isAboutAll: Bool { [.reopen, .compact, .leave].contains(verb) }

    /// The entities that it stores or reads, inside others too.
    var entities: Set<Entity> {
        nested.reduce(into: verb == .invalid ? [] : [entity]) { $0.formUnion($1.entities) }
    }
}
