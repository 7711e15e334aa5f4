import DAOCore
import Foundation

/// Makes scripts out of a seed: the same ones in every run, on every machine.
struct Generator: RandomNumberGenerator {
    private var random: SplitMix64
    /// Makes the scenes, so that a seed makes the same steps between them whatever scenes there are.
    private var others: SplitMix64
    /// The models that were made for the script.
    var models: [MadeModel] = []
    /// How many models were made, those that cannot be stored counted too.
    var modelCount = 0

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        others = SplitMix64(seed: ~seed)
    }

    /// A script of so many steps, those inside others counted too, and the scenes beside them. It begins with an empty transaction and by
    /// filling every table.
    mutating func script(steps: Int) -> [Step] {
        models = [storableModel()]
        if chance(30) { models.append(storableModel()) }
        var script = [Step(verb: .transaction)] + filling()
        var size = script.count
        while size < steps {
            let operation = operation(.top)
            size += operation.size
            script.append(operation)
            swap(&random, &others)
            if chance(9) { script += scene() }
            swap(&random, &others)
        }
        return script
    }

    /// Some rows for every table.
    mutating func filling() -> [Step] {
        (Entity.allCases + models.map(Entity.made)).map { entity in
            Step(verb: .upsert, entity: entity, rows: rows(of: entity, count: 1 + int(5), isPlain: true))
        }
    }

    /// So that what shuffles takes from the seed.
    mutating func next() -> UInt64 { random.next() }

    // MARK: Chances

    mutating func int(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
    mutating func chance(_ percent: Int) -> Bool { int(100) < percent }
    mutating func one<Element>(_ elements: [Element]) -> Element { elements[int(elements.count)] }
    mutating func weighted<Element>(_ elements: [(Int, Element)]) -> Element {
        var ticket = int(elements.reduce(0) { $0 + $1.0 })
        for (weight, element) in elements {
            if ticket < weight { return element }
            ticket -= weight
        }
        return elements[elements.count - 1].1
    }

    // MARK: Steps

    /// Where a step stands.
    enum Place {
        /// Outside of any transaction.
        case top
        /// In transactions, so many of them around it.
        case transaction(Int)
        /// In a transaction, seen from another thread, or in a snapshot: it only reads.
        case reading
        /// On another thread, or between reads: one call.
        case single
    }

    private static let writes: [(Int, Step.Verb)] = [
        (9, .create), (18, .persist), (5, .upsert), (5, .merge), (7, .update), (3, .findOrCreate), (2, .eraseRows),
        (4, .eraseKeys),
        (3, .eraseQuery), (1, .eraseAll),
    ]
    private static let reads: [(Int, Step.Verb)] = [
        (5, .readKey), (5, .readKeys), (20, .read), (6, .count), (3, .keys), (3, .exists), (2, .existsKey), (8, .total),
        (3, .forEach),
    ]
    private static let checks: [(Int, Step.Verb)] = [
        (2, .partition), (2, .inclusion), (4, .indexless), (2, .windows), (2, .reversal), (2, .agreement),
    ]
    private static let blocks: [(Int, Step.Verb)] = [
        (4, .cursor), (4, .pages), (8, .transaction), (2, .snapshot), (3, .second), (1, .reopen), (1, .invalid),
    ]
    private static let nestedBlocks: [(Int, Step.Verb)] = [(2, .cursor), (2, .pages), (4, .transaction), (1, .outside)]

    mutating func operation(_ place: Place) -> Step {
        switch place {
        case .reading: return simple(weighted(Self.reads))
        case .single: return chance(60) ? simple(weighted(Self.writes)) : simple(weighted(Self.reads))
        case .top, .transaction:
            let kind = int(100)
            if kind < 45 { return simple(weighted(Self.writes)) }
            if kind < 78 { return simple(weighted(Self.reads)) }
            if kind < 88 { return simple(weighted(Self.checks)) }
            if case .transaction(let depth) = place {
                var verb = weighted(Self.nestedBlocks)
                if verb == .transaction, depth >= 3 { verb = .pages }
                return block(verb, place)
            }
            return block(weighted(Self.blocks), place)
        }
    }

    mutating func entity() -> Entity {
        chance(40) && !models.isEmpty ? .made(one(models)) : fixedEntity()
    }

    /// One of the models that every script has.
    mutating func fixedEntity() -> Entity { weighted([(2, .wide), (4, .note), (4, .pass), (4, .tally)]) }

    mutating func operations(_ place: Place, upTo count: Int) -> [Step] {
        (0..<1 + int(count)).map { _ in operation(place) }
    }

    private mutating func block(_ verb: Step.Verb, _ place: Place) -> Step {
        var operation = Step(verb: verb, entity: entity())
        switch verb {
        case .cursor:
            operation.query = query(operation.entity)
            operation.number = 1 + int(4)
            operation.inner = operations(.single, upTo: 3)
            operation.flag = chance(40)
        case .pages:
            operation.query = query(operation.entity)
            operation.query.limit = nil
            operation.query.offset = 0
            operation.number = chance(2) ? 0 : 1 + int(5)
            operation.inner = chance(60) ? operations(.single, upTo: 3) : []
            operation.flag = chance(30)
        case .transaction:
            let depth = if case .transaction(let depth) = place { depth + 1 } else { 1 }
            operation.inner = operations(.transaction(depth), upTo: 8)
            operation.flag = chance(35)
        case .snapshot:
            operation.before = operations(.reading, upTo: 2)
            operation.inner = operations(.single, upTo: 3)
            operation.after = operations(.reading, upTo: 3)
            if chance(20) {
                let entity = entity()
                let rows = rows(of: entity, count: 1, isPlain: true)
                operation.after.append(Step(verb: one([.create, .persist, .upsert]), entity: entity, rows: rows))
            }
        case .invalid: operation.entity = .made(invalidModel())
        case .outside: operation.inner = operations(.reading, upTo: 2)
        case .second: operation.inner = operations(.single, upTo: 4)
        default: break
        }
        return operation
    }

    mutating func write(of entity: Entity) -> Step { simple(weighted(Self.writes), of: entity) }

    private mutating func simple(_ verb: Step.Verb, of entity: Entity? = nil) -> Step {
        let entity = entity ?? self.entity()
        var operation = Step(verb: verb, entity: entity)
        switch verb {
        case .create: operation.rows = rows(of: entity, count: weighted([(6, 1), (2, 2), (2, 4)]))
        case .persist, .upsert, .merge, .eraseRows:
            operation.rows = rows(of: entity, count: weighted([(5, 1), (3, 2), (2, 5)]), isPlain: verb == .merge)
            operation.flag = verb != .merge ? chance(50) : chance(25)
            if verb == .merge, chance(25) { operation.number = int(operation.rows.count + 1) }
        case .update:
            operation.query = query(entity)
            operation.changes = changes(of: entity)
            if chance(15) { operation.number = int(4) }
        case .findOrCreate:
            operation.rows = rows(of: entity, count: 1, isPlain: true)
            operation.ids = [chance(85) ? ReferenceState.id(operation.rows[0][operation.entity.key]).rawValue : id(of: entity)]
        case .readKey, .existsKey: operation.ids = [id(of: entity)]
        case .readKeys, .eraseKeys: operation.ids = (0..<int(7)).map { _ in id(of: entity) }
        case .read, .count, .keys, .exists, .eraseQuery, .windows, .reversal, .agreement: operation.query = query(entity)
        case .total:
            operation.total = one(entity.table.numeric.isEmpty ? [.min, .max] : Total.allCases)
            operation.field = one(
                operation.total == .min || operation.total == .max ? entity.table.ordered : entity.table.numeric)
            operation.query.node = condition(entity)
        case .forEach:
            operation.query = query(entity)
            operation.number = chance(50) ? int(5) : nil
        case .partition, .inclusion, .indexless: operation.query.node = condition(entity, mayFail: false)
        default: break
        }
        switch verb {
        case .exists:
            operation.query.limit = 1
            operation.query.offset = 0
        case .windows, .reversal, .agreement:
            operation.query = query(entity, mayFail: false)
            operation.number = 1 + int(4)
            if verb != .agreement { (operation.query.limit, operation.query.offset) = (nil, 0) }
        case .inclusion: operation.other = condition(entity, mayFail: false)
        default: break
        }
        return operation
    }
}
