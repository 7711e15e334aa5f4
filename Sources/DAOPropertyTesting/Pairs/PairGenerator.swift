import DAOCore
import DAOTestSupport

/// Generates steps in which rules meet from a seed. It keeps to what the reference says is stored, so that most steps mean
/// something.
struct PairGenerator {
    private var random: SeededGenerator
    private var reference = PairReference()

    init(seed: UInt64) { random = SeededGenerator(seed: seed ^ 0x0070_6169_7273_2121) }

    /// A script of so many steps, those inside others counted too. Most begin with some rows.
    mutating func script(_ count: Int) -> [PairStep] {
        var steps: [PairStep] = []
        if random.chance(80) {
            append(.holders([0, 1, 2, 3], by: handle()), to: &steps)
            let handle = handle()
            append(.open(model(), by: handle), to: &steps)
            append(.badges(badges(among: [0, 1, 2, 3]), by: handle), to: &steps)
        }
        if random.chance(50) { append(seats(), to: &steps) }
        var size = steps.count
        while size < count {
            let step = step()
            var copy = reference
            // Now and then one is left out all the same.
            if copy.run(step).contains(where: { $0.contains("left out") }), random.chance(95) { continue }
            append(step, to: &steps)
            size += step.size
        }
        return steps
    }

    private mutating func append(_ step: PairStep, to steps: inout [PairStep]) {
        _ = reference.run(step)
        steps.append(step)
    }

    private mutating func seats() -> PairStep {
        .seats(
            (0...random.below(3)).map { _ in
                .init(random.below(6), row: random.below(3), isLeft: random.chance(60), crew: random.below(4))
            }, by: handle())
    }

    private mutating func handle() -> PairStep.Handle { random.pick(PairStep.Handle.allCases) }

    private mutating func step() -> PairStep {
        switch random.below(100) {
        case 0..<52: return call()
        case 52..<62: return .evolve(change(), by: handle())
        case 62..<66: return .openAtOnce(model())
        case 66..<70: return .copyIn(model(), holders: [1, 2, 3], badges: badges(among: [1, 2, 3]))
        case 70..<72: return .compact
        case 72..<76: return .compactBeside((0...random.below(3)).map { _ in call() })
        case 76..<84: return .transaction((0...random.below(4)).map { _ in inside() }, fails: random.chance(40), by: handle())
        case 84..<93:
            let begun = random.chance(50) ? (0...random.below(3)).map { _ in inside() } : []
            let steps = (0...random.below(3)).map { _ in random.chance(30) ? .evolve(change(), by: handle()) : inside() }
            return .observed(steps, inside: begun, fails: random.chance(40), by: handle())
        case 93..<96: return .groupsBesideAWriter(first: 1 + random.below(3))
        // Without models another one can be declared, or copied in.
        case 96..<98: return .reopen
        default: return .eraseHolder(random.below(4), by: handle(), random.pick(PairStep.Call.allCases))
        }
    }

    /// A step for a transaction: now and then another one.
    private mutating func inside() -> PairStep {
        random.chance(15)
            ? .transaction((0...random.below(2)).map { _ in call() }, fails: random.chance(50), by: handle()) : call()
    }

    private mutating func call() -> PairStep {
        let handle = handle()
        switch random.below(100) {
        case 0..<10: return .holders((0...random.below(3)).map { _ in random.below(4) }, by: handle)
        case 10..<20: return .open(model(), by: handle)
        case 20..<36: return .badges(badges(among: reference.content.holders.sorted()), by: handle)
        case 36..<41: return .typed(by: handle)
        case 41..<52: return .eraseHolder(random.below(4), by: handle, random.pick(PairStep.Call.allCases))
        case 52..<55: return .eraseBadge(random.below(4), by: handle)
        case 55..<66:
            return .update(
                rank: random.below(100), holder: random.chance(30) ? random.below(4) : nil, erasing: erasure(), by: handle)
        case 66..<77: return .merge(random.below(4), rank: random.below(100), erasing: erasure(), by: handle)
        case 77..<86: return seats()
        case 86..<91: return .setLeft(random.chance(50), row: random.below(3), by: handle)
        case 91..<95: return .groups(first: 1 + random.below(3))
        default: return .crews(random.below(4), random.below(4))
        }
    }

    /// As a rule the model that is open: most calls of another one are refused.
    private mutating func model() -> PairStep.Badges {
        if let declared = reference.declared, random.chance(80) { return declared }
        return random.pick(PairStep.Badges.allCases)
    }

    private mutating func badges(among holders: [Int]) -> [PairStep.Badge] {
        (0...random.below(3)).map { _ in
            let holder = random.chance(5) ? random.below(4) : random.pick(holders.map { Optional($0) } + [nil])
            return .init(random.below(4), holder: holder, rank: random.chance(80) ? random.below(100) : nil)
        }
    }

    private mutating func erasure() -> PairStep.Erasure {
        random.chance(65) ? .holder(random.below(4)) : .badge(random.below(4))
    }

    private mutating func change() -> PairStep.Change {
        let isMedal = random.chance(35)
        switch random.below(10) {
        case 0: return .dropHolder(ofMedals: isMedal)
        case 1: return .dropEntity(ofMedals: isMedal)
        case 2..<6: return .rename(toMedals: !isMedal)
        default: return .retype(ofMedals: isMedal)
        }
    }
}
