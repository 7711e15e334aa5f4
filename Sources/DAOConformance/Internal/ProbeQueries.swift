import DAOCore
import DAOTestSupport

/// Generates unusual conditions and orders on probes. The same seed gives the same conditions and orders.
struct ProbeQueries {
    private var random: SeededGenerator
    private let predicates = PredicateGenerator(Probe.schema.description)

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Returns a condition with a few levels.
    mutating func next() -> Condition<Probe> { Condition(predicates.predicate(depth: random.below(4), using: &random)) }

    /// Returns an order with zero to three terms.
    mutating func order() -> [Sort<Probe>] { predicates.order(using: &random).map { .by($0.field, ascending: $0.isAscending) } }

    /// Returns a number below a bound.
    mutating func number(below bound: Int) -> Int { random.below(bound) }
}
