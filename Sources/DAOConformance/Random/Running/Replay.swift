import DAOCore
import Foundation

/// Runs a script on the reference and on a database, side by side.
struct Replay: Sendable {
    let target: ConformanceTarget
    /// After how many steps the whole state is compared, and at the end; nil for never. The rows of entities that a step may have
    /// changed always are.
    var checkInterval: Int? = 25
    /// How many seconds to wait for what should come by itself: another thread's end, an observation's result.
    var patience = 60.0

    /// Where the two parted.
    struct Divergence: Sendable {
        /// The steps up to the one that differs; that one is last.
        var script: [Step]
        /// Which of the steps inside steps it is, from the outside in; empty for the last step itself.
        var path: [Int]
        let expected: Outcome
        let got: Outcome
    }

    /// What came of a script.
    struct Result: Sendable {
        var divergence: Divergence?
        /// How many steps were done, those inside others and checks of the state counted too.
        var steps = 0
    }

    /// Runs a script in a new place.
    ///
    /// - Throws: What making the place or opening the database throws.
    func run(_ script: [Step]) throws -> Result {
        let location = try ConformanceTarget.Location.make()
        defer { location.remove() }
        let entities = script.reduce(into: Set(Entity.allCases)) { $0.formUnion($1.entities) }
        let runner = try DatabaseRunner(target, at: location, entities.sorted { $0.rawValue < $1.rawValue }, patience: patience)
        defer { try? runner.close() }
        var reference = Reference(isPersistent: runner.isPersistent)
        var result = Result()
        for (index, operation) in script.enumerated() {
            let expected = reference.perform(operation)
            let got = runner.perform(operation)
            result.steps += operation.size
            if let (path, expected, got) = Self.difference(expected, got, []) {
                result.divergence = Divergence(script: Array(script[...index]), path: path, expected: expected, got: got)
                return result
            }
            let checks: [Step]
            if let checkInterval, index == script.count - 1 || index % checkInterval == checkInterval - 1 {
                checks = StateCheck.all(reference.state, entities)
            } else {
                checks = operation.mayChange ? StateCheck.rows(operation.isAboutAll ? entities : operation.entities) : []
            }
            for check in checks {
                let expected = reference.perform(check)
                let got = runner.perform(check)
                if Outcome.same(expected, got) { continue }
                result.divergence = Divergence(script: Array(script[...index]) + [check], path: [], expected: expected, got: got)
                return result
            }
        }
        return result
    }

    /// The innermost step that differs, with what was expected of it and what came; nil when all is the same.
    private static func difference(_ expected: Outcome, _ got: Outcome, _ path: [Int]) -> ([Int], Outcome, Outcome)? {
        if case .nested(let left, let leftOwn) = expected, case .nested(let right, let rightOwn) = got {
            for (index, pair) in zip(left, right).enumerated() {
                if let found = difference(pair.0, pair.1, path + [index]) { return found }
            }
            if left.count != right.count { return (path, expected, got) }
            return Outcome.same(leftOwn, rightOwn) ? nil : (path, leftOwn, rightOwn)
        }
        return Outcome.same(expected, got) ? nil : (path, expected, got)
    }
}

/// Steps that look at the whole state.
enum StateCheck {
    /// The rows of entities, in key order.
    static func rows(_ entities: Set<Entity>) -> [Step] {
        entities.sorted { $0.rawValue < $1.rawValue }.map { Step(verb: .read, entity: $0) }
    }

    /// The rows of every entity, the order of every index, and that values are found through an index as without one.
    static func all(_ state: ReferenceState, _ entities: Set<Entity>) -> [Step] {
        rows(entities) + entities.sorted { $0.rawValue < $1.rawValue }.flatMap { indexes(of: $0, state) }
    }

    private static func indexes(of entity: Entity, _ state: ReferenceState) -> [Step] {
        entity.table.indexed.flatMap { field -> [Step] in
            let name = entity.fields[field].name
            var operations = [true, false].map { isAscending in
                var operation = Step(verb: .keys, entity: entity)
                operation.query.order = [.init(field: name, isAscending: isAscending)]
                return operation
            }
            let present = state[entity].map { $0[field] }
            for value in [present.first, present.last].compactMap({ $0 }) {
                for node in [PredicateNode.compare(field: field, .equal, value), .compare(field: field, .greaterOrEqual, value)] {
                    var operation = Step(verb: .keys, entity: entity)
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

extension Step {
    /// Whether rows may be others afterwards, or should be what they were after a failure.
    var mayChange: Bool {
        switch verb {
        case .create, .persist, .upsert, .merge, .update, .findOrCreate, .eraseRows, .eraseKeys, .eraseQuery, .eraseAll, .reopen,
            .increment, .translate, .closeInside, .leave:
            true
        default: nested.contains(where: \.mayChange)
        }
    }

    /// Whether it is about every entity there is.
    var isAboutAll: Bool { verb == .reopen || verb == .leave }

    /// The entities that it stores or reads, inside others too.
    var entities: Set<Entity> {
        nested.reduce(into: verb == .invalid ? [] : [entity]) { $0.formUnion($1.entities) }
    }
}
