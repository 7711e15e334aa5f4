import DAOCore
import DAOTestSupport
import Testing

/// Contract Q9: which conditions imply that of a partial index.
@Suite struct ImplicationTests {
    private static let entity = EntityDescription(
        name: "row",
        fields: [
            FieldDescription(name: "id", type: FieldType(.int64), isPrimaryKey: true),
            FieldDescription(name: "a", type: FieldType(.int64, isOptional: true)),
            FieldDescription(name: "b", type: FieldType(.double, isOptional: true)),
        ])

    private func filter(_ text: String) throws -> Filter {
        try PredicateNode.parse(text, for: Self.entity).filter(for: Self.entity)
    }

    @Test(arguments: [
        ("a == 1", "a == 1"), ("a == 1 AND b > 2", "a == 1"), ("a == 1", "a >= 1"), ("a == 1", "a IN {1, 2}"),
        ("a IN {1, 2}", "a IN {3, 2, 1}"), ("a IN {1, 2}", "a > 0"), ("a > 3", "a > 2"), ("a >= 3", "a > 2"),
        ("a < 3", "a <= 3"), ("a > 3", "a != nil"), ("a > 3", "a != 3"), ("a == 1", "a == 1 OR b == 2"),
        ("a == nil", "a == nil OR b == 2"), ("a == nil", "NOT (a > 3)"), ("a IN {1, 2} AND b == 3", "a < 3 AND b != nil"),
        ("a == 1 OR a == 2", "a IN {1, 2, 3}"), ("a > 3", "NOT (a IN {1, 2})"), ("b == 2 OR a == 1", "a == 1 OR b == 2"),
        ("(a == 1 AND b > 4) OR (a == 2 AND b > 5)", "a != nil AND b > 4"),
    ])
    func aNarrowerConditionImplies(_ narrow: String, _ wide: String) throws {
        #expect(try filter(narrow).implies(filter(wide)))
    }

    @Test(arguments: [
        ("a >= 1", "a == 1"), ("a > 2", "a > 3"), ("a >= 3", "a > 3"), ("a != 3", "a != nil"), ("a == 1 OR b == 2", "a == 1"),
        ("b == 1", "a == 1"), ("a > 3", "a < 9"), ("a == nil", "a < 9"), ("a != 2", "a > 2"), ("TRUEPREDICATE", "a == 1"),
        ("a IN {1, 2, 3}", "a IN {1, 2}"), ("a == b", "a == 1"),
    ])
    func aWiderConditionDoesNot(_ wide: String, _ narrow: String) throws {
        #expect(try !filter(wide).implies(filter(narrow)))
    }

    @Test func noRowMatchesAConditionAndNotOneThatItImplies() throws {
        var generator = SeededGenerator(seed: 11)
        func leaf() -> PredicateNode {
            let comparisons = [Comparison.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
            let field = 1 + generator.below(2)
            func value() -> Value {
                let number = generator.below(4)
                return field == 1 ? .integer(Int64(number)) : .double(number == 3 ? .nan : Double(number))
            }
            switch generator.below(4) {
            case 0: return .compare(field: field, generator.chance(50) ? .equal : .notEqual, .null)
            case 1: return .isIn(field: field, [value(), value()])
            default: return .compare(field: field, generator.pick(comparisons), value())
            }
        }
        func node(_ depth: Int) -> PredicateNode {
            switch generator.below(depth == 0 ? 1 : 4) {
            case 0: leaf()
            case 1: .not(node(depth - 1))
            case 2: .and([node(depth - 1), node(depth - 1)])
            default: .or([node(depth - 1), node(depth - 1)])
            }
        }
        let numbers: [Value] = [.null, .integer(0), .integer(1), .integer(2), .integer(3)]
        let reals: [Value] = [.null, .double(0), .double(1), .double(2), .double(.nan)]
        var found = 0
        for _ in 0..<5_000 {
            let (first, second) = (try node(2).filter(for: Self.entity), try node(2).filter(for: Self.entity))
            guard first.implies(second) else { continue }
            found += 1
            let isRight = numbers.allSatisfy { a in
                reals.allSatisfy { b in
                    let row: [Value] = [.integer(0), a, b]
                    return !first.matches { row[$0] } || second.matches { row[$0] }
                }
            }
            #expect(isRight, "\(first) and \(second)")
        }
        #expect(found > 100)
    }
}
