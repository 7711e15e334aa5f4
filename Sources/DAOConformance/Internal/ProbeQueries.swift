import DAOCore
import DAOTestSupport

/// Conditions and orders on probes that nobody would think of, the same for the same seed.
struct ProbeQueries {
    private var random: SeededGenerator
    private let predicates = PredicateGenerator(Probe.schema.description)

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// A condition of up to a few levels.
    mutating func next() -> Condition<Probe> { Condition(predicates.predicate(depth: random.below(4), using: &random)) }

    /// An order of no to three terms.
    mutating func order() -> [Sort<Probe>] { predicates.order(using: &random).map { .by($0.field, ascending: $0.isAscending) } }

    /// A number below a bound.
    mutating func number(below bound: Int) -> Int { random.below(bound) }
}
