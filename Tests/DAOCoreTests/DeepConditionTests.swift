import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

private struct Leaf: Model, Plain, Equatable {
    var id: Int
    var age: Int
    var children: [Leaf]?

    static let schema = Schema(
        "leaf", Self.init, Field("id", \.id, .primaryKey), Field("age", \.age), Field("children", \.children, .linked))
}

private struct Bag: Model, Plain, Equatable {
    var id: Int
    var tags: [String]

    static let schema = Schema("bag", Self.init, Field("id", \.id, .primaryKey), Field("tags", \.tags))
}

private typealias C = Condition<Leaf>

@Suite("P · Deep and long conditions")
struct DeepConditionTests {
    /// Runs a body on a thread with the stack of a secondary thread on Apple systems.
    private func onSmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
        let outcome = NSLock()
        nonisolated(unsafe) var failure: (any Error)?
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            do {
                try body()
            } catch {
                outcome.withLock { failure = error }
            }
            done.signal()
        }
        thread.stackSize = 512 << 10
        thread.start()
        done.wait()
        if let failure = outcome.withLock({ failure }) { throw failure }
    }

    /// A condition of an even depth that an age of 1 meets.
    private static func nested(_ depth: Int) -> C {
        var condition = C { $0.age == 1 }
        for _ in 1..<depth / 2 { condition = !(condition && C { $0.id == 0 }) && C { $0.age == 1 } }
        return condition
    }

    @Test(arguments: ["memory:", "sqlite:", "lmdb:"]) func deepestConditionNeedsLittleStack(_ scheme: String) throws {
        #expect(Self.nested(640).node.levels == 640)
        let place = Place()
        try onSmallStack {
            let path = scheme == "memory:" ? "" : place.path("deep")
            let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(scheme + path)
            let leaves = DAO(storage: try database.storage(for: Leaf.self))
            try leaves.persist([Leaf(id: 1, age: 1, children: []), Leaf(id: 2, age: 2, children: [])])
            let deepest = Self.nested(640)
            #expect(try leaves.read(predicatedBy: deepest).map(\.id) == [1])
            #expect(try leaves.count(where: deepest) == 1)
            #expect(try leaves.count(where: Self.nested(638) && C { $0.children.isEmpty }) == 1)
            #expect(deepest == Self.nested(640))
            #expect(Set([deepest]).count == 1)
            let filter = try deepest.node.filter(for: Leaf.schema.description)
            #expect(try filter == Self.nested(640).node.filter(for: Leaf.schema.description))
            #expect(try filter != Self.nested(638).node.filter(for: Leaf.schema.description))
            #expect(Set([filter, filter]).count == 1)
            #expect(filter.fields == [0, 1])
            #expect(filter.implies(filter) && !filter.implies(.isNull(field: 1, true)))
            do {
                _ = try leaves.read(predicatedBy: Self.nested(642))
                Issue.record("a condition of 642 levels is accepted")
            } catch let error as StorageError {
                #expect(error.kind == .invalidPredicate)
                #expect(error.message == "the predicate nests more than 640 levels deep; nest it less")
            }
            try database.close()
        }
    }

    /// A condition on related rows of related rows costs the stack of a query for every level.
    @Test(arguments: ["memory:", "sqlite:", "lmdb:"]) func deepestRelationNeedsLittleStack(_ scheme: String) throws {
        let place = Place()
        try onSmallStack {
            let path = scheme == "memory:" ? "" : place.path("deep")
            let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(scheme + path)
            let leaves = DAO(storage: try database.storage(for: Leaf.self))
            try leaves.persist(Leaf(id: 1, age: 1, children: []))
            func nested(_ levels: Int) -> C {
                C((0..<levels).reduce(PredicateNode.constant(true)) { node, _ in .related(field: 2, .any, node) })
            }
            #expect(try leaves.count(where: nested(26)) == 0)
            #expect(throws: StorageError.self) { try leaves.count(where: nested(27)) }
            try database.close()
        }
    }

    /// A condition of so many levels that the element "a" meets.
    private static func element(_ levels: Int) -> Condition<ListElement<String>> {
        let isA = Condition<ListElement<String>>(.compare(field: 0, .equal, .string("a")))
        var condition = isA
        for _ in 0..<levels / 2 { condition = !(condition && !isA) && isA }
        return condition
    }

    /// A condition of so many levels, each with a condition on elements, that a bag with an "a" meets.
    private static func elements(_ levels: Int) -> Condition<Bag> {
        var condition = Condition<Bag> { $0.tags.contains("a") }
        for _ in 0..<levels / 2 {
            condition = !(condition && Condition { $0.tags.count == 7 }) && Condition { $0.tags.contains { $0 != "b" } }
        }
        return condition
    }

    /// Elements are parsed and compared at the deepest level.
    @Test(arguments: ["memory:", "sqlite:", "lmdb:"]) func deepestElementNeedsLittleStack(_ scheme: String) throws {
        let place = Place()
        try onSmallStack {
            let path = scheme == "memory:" ? "" : place.path("deep")
            let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(scheme + path)
            let bags = DAO(storage: try database.storage(for: Bag.self))
            try bags.persist([Bag(id: 1, tags: ["a"]), Bag(id: 2, tags: [])])
            #expect(try bags.read { $0.tags.contains { _ in Self.element(600) } }.map(\.id) == [1])
            #expect(try bags.read(predicatedBy: Self.elements(600)).map(\.id) == [1])
            #expect(throws: StorageError.self) { try bags.read { $0.tags.contains { _ in Self.element(640) } } }
            try database.close()
        }
    }

    @Test func negationsFold() {
        let condition = C { $0.age == 1 }
        var negated = condition
        for _ in 0..<100_000 { negated = !negated }
        #expect(negated == condition)
        #expect(!negated == C(.not(condition.node)))
        #expect(C("NOT NOT age == 1") == condition)
    }

    /// Two conditions that begin with the same chain do not see each other's ends.
    @Test func chainsShareTheirBeginning() {
        let parts = (0..<40).map { number in C { $0.age == number } }
        let beginning = parts[..<20].dropFirst().reduce(parts[0]) { $0 && $1 }
        let (first, second) = (beginning && parts[20], beginning && parts[30])
        #expect(beginning == C(.and(parts[..<20].map(\.node))))
        #expect(first == C(.and(parts[..<21].map(\.node))))
        #expect(second == C(.and((parts[..<20] + [parts[30]]).map(\.node))))
        #expect((first || second) == C(.or([first.node, second.node])))
        #expect((beginning && beginning) == C(.and((parts[..<20] + parts[..<20]).map(\.node))))
    }
}

extension PredicateNode {
    fileprivate var levels: Int {
        switch self {
        case .and(let nodes), .or(let nodes): (nodes.map(\.levels).max() ?? 0) + 1
        case .not(let node), .related(_, _, let node), .through(_, let node): node.levels + 1
        default: 1
        }
    }
}

/// What long conditions cost; measured while nothing else runs.
@Suite struct DeepConditionLatencyTests {
    @Test func chainsAreFlatAndCheap() {
        let parts = (0..<10_000).map { number in C { $0.age == number } }
        let start = ContinuousClock.now
        let left = parts.dropFirst().reduce(parts[0]) { $0 && $1 }
        let either = parts.dropFirst().reduce(parts[0]) { $0 || $1 }
        #expect(ContinuousClock.now - start < .milliseconds(800))
        #expect(left == C(.and(parts.map(\.node))))
        #expect(either == C(.or(parts.map(\.node))))
        let right = parts[..<1000].dropLast().reversed().reduce(parts[999]) { $1 && $0 }
        #expect(right == C(.and(parts[..<1000].map(\.node))))
    }

    /// A chain that is written from the right is as cheap as one from the left.
    @Test func chainsFromTheRightAreLinear() {
        let parts = (0..<60_000).map { number in C { $0.age == number } }
        let began = ContinuousClock.now
        let right = parts.dropLast().reversed().reduce(parts[59_999]) { $1 && $0 }
        #expect(.now - began < .seconds(5))
        #expect(right == C(.and(parts.map(\.node))))
        // Both ends of one chain grow, and earlier conditions stay as they were.
        let middle = parts[100..<200].dropFirst().reduce(parts[100]) { $0 && $1 }
        let (longer, other) = (parts[99] && (middle && parts[200]), parts[0] && middle)
        #expect(middle == C(.and(parts[100..<200].map(\.node))))
        #expect(longer == C(.and(parts[99...200].map(\.node))))
        #expect(other == C(.and([parts[0].node] + parts[100..<200].map(\.node))))
    }
}
