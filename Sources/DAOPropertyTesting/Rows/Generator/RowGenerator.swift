import DAOCore
import DAOTestSupport

/// Generates scripts on rows from a seed.
struct RowGenerator {
    var random: SeededGenerator
    /// For the scenes, so that a seed makes the same steps between them whatever scenes there are.
    private var others: SeededGenerator
    /// The models that were generated for the script.
    var models: [GeneratedModel] = []
    /// How many models were generated, those that cannot be stored counted too.
    var modelCount = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        others = SeededGenerator(seed: ~seed)
    }

    /// A script of so many steps, those inside others counted too, and the scenes beside them. It begins with
    /// an empty transaction and by filling every table.
    mutating func script(steps: Int) -> [RowStep] {
        models = [storableModel()]
        if random.chance(30) { models.append(storableModel()) }
        var script = [RowStep(verb: .transaction)] + filling()
        var size = script.count
        while size < steps {
            let operation = operation(.top)
            size += operation.size
            script.append(operation)
            swap(&random, &others)
            if random.chance(9) { script += scene() }
            swap(&random, &others)
        }
        return script
    }

    /// Some rows for every table.
    mutating func filling() -> [RowStep] {
        (Entity.allCases + models.map(Entity.generated)).map { entity in
            RowStep(verb: .upsert, entity: entity, rows: rows(of: entity, count: 1 + random.below(5), isPlain: true))
        }
    }

    // MARK: Steps

    /// Where a step stands.
    enum Context {
        /// Outside of any transaction.
        case top
        /// In transactions, so many of them around it.
        case transaction(Int)
        /// In a transaction, seen from another thread, or in a snapshot: it only reads.
        case reading
        /// On another thread, or between reads: one call.
        case single
    }

    private static let writes: [(Int, RowStep.Verb)] = [
        (9, .create), (18, .persist), (5, .upsert), (5, .merge), (7, .update), (3, .set), (3, .findOrCreate), (2, .eraseRows),
        (4, .eraseKeys),
        (3, .eraseQuery), (1, .eraseAll),
    ]
    private static let reads: [(Int, RowStep.Verb)] = [
        (5, .readKey), (5, .readKeys), (20, .read), (6, .count), (3, .keys), (3, .exists), (2, .existsKey), (8, .total),
        (3, .forEach),
    ]
    private static let checks: [(Int, RowStep.Verb)] = [
        (2, .partition), (2, .inclusion), (4, .indexless), (2, .windows), (2, .reversal), (2, .agreement),
    ]
    private static let blocks: [(Int, RowStep.Verb)] = [
        (4, .cursor), (4, .pages), (8, .transaction), (2, .snapshot), (3, .second), (1, .reopen), (1, .compact), (1, .invalid),
    ]
    private static let nestedBlocks: [(Int, RowStep.Verb)] = [(2, .cursor), (2, .pages), (4, .transaction), (1, .outside)]

    mutating func operation(_ context: Context) -> RowStep {
        switch context {
        case .reading: return simple(random.weighted(Self.reads))
        case .single: return random.chance(60) ? simple(random.weighted(Self.writes)) : simple(random.weighted(Self.reads))
        case .top, .transaction:
            let kind = random.below(100)
            if kind < 45 { return simple(random.weighted(Self.writes)) }
            if kind < 78 { return simple(random.weighted(Self.reads)) }
            if kind < 88 { return simple(random.weighted(Self.checks)) }
            if case .transaction(let depth) = context {
                var verb = random.weighted(Self.nestedBlocks)
                if verb == .transaction, depth >= 3 { verb = .pages }
                return block(verb, context)
            }
            return block(random.weighted(Self.blocks), context)
        }
    }

    mutating func entity() -> Entity {
        random.chance(40) && !models.isEmpty ? .generated(random.pick(models)) : fixedEntity()
    }

    /// One of the models that every script has.
    mutating func fixedEntity() -> Entity { random.weighted([(2, .wide), (4, .note), (4, .pass), (4, .tally)]) }

    mutating func operations(_ context: Context, upTo count: Int) -> [RowStep] {
        (0..<1 + random.below(count)).map { _ in operation(context) }
    }

    private mutating func block(_ verb: RowStep.Verb, _ context: Context) -> RowStep {
        var operation = RowStep(verb: verb, entity: entity())
        switch verb {
        case .cursor:
            operation.query = query(operation.entity)
            operation.number = 1 + random.below(4)
            operation.inner = operations(.single, upTo: 3)
            operation.flag = random.chance(40)
        case .pages:
            operation.query = query(operation.entity)
            operation.query.limit = nil
            operation.query.offset = 0
            operation.number = random.chance(2) ? 0 : 1 + random.below(5)
            operation.inner = random.chance(60) ? operations(.single, upTo: 3) : []
            operation.flag = random.chance(30)
        case .transaction:
            let depth = if case .transaction(let depth) = context { depth + 1 } else { 1 }
            operation.inner = operations(.transaction(depth), upTo: 8)
            operation.flag = random.chance(35)
        case .snapshot:
            operation.before = operations(.reading, upTo: 2)
            operation.inner = operations(.single, upTo: 3)
            operation.after = operations(.reading, upTo: 3)
            if random.chance(20) {
                let entity = entity()
                let rows = rows(of: entity, count: 1, isPlain: true)
                operation.after.append(RowStep(verb: random.pick([.create, .persist, .upsert]), entity: entity, rows: rows))
            }
        case .invalid: operation.entity = .generated(invalidModel())
        case .outside: operation.inner = operations(.reading, upTo: 2)
        case .second: operation.inner = operations(.single, upTo: 4)
        default: break
        }
        return operation
    }

    mutating func write(of entity: Entity) -> RowStep { simple(random.weighted(Self.writes), of: entity) }

    private mutating func simple(_ verb: RowStep.Verb, of entity: Entity? = nil) -> RowStep {
        let entity = entity ?? self.entity()
        var operation = RowStep(verb: verb, entity: entity)
        switch verb {
        case .create: operation.rows = rows(of: entity, count: random.weighted([(6, 1), (2, 2), (2, 4)]))
        case .persist, .upsert, .merge, .eraseRows:
            operation.rows = rows(of: entity, count: random.weighted([(5, 1), (3, 2), (2, 5)]), isPlain: verb == .merge)
            operation.flag = verb != .merge ? random.chance(50) : random.chance(25)
            if verb == .merge, random.chance(25) { operation.number = random.below(operation.rows.count + 1) }
        case .update:
            operation.query = query(entity)
            operation.changes = changes(of: entity)
            if random.chance(15) { operation.number = random.below(4) }
        case .set:
            operation.query.node = condition(entity)
            let field = random.pick(entity.fields.indices.filter { entity.table.twins[$0] == nil })
            operation.changes = [FieldChange(field: field, value: value(of: entity.fields[field], in: entity, field))]
        case .findOrCreate:
            operation.rows = rows(of: entity, count: 1, isPlain: true)
            operation.ids = [
                random.chance(85) ? ReferenceState.id(operation.rows[0][operation.entity.key]).rawValue : id(of: entity)
            ]
        case .readKey, .existsKey: operation.ids = [id(of: entity)]
        case .readKeys, .eraseKeys: operation.ids = (0..<random.below(7)).map { _ in id(of: entity) }
        case .read, .count, .keys, .exists, .eraseQuery, .windows, .reversal, .agreement: operation.query = query(entity)
        case .total:
            operation.total = random.pick(entity.table.numeric.isEmpty ? [.min, .max] : Total.allCases)
            operation.field = random.pick(
                operation.total == .min || operation.total == .max ? entity.table.ordered : entity.table.numeric)
            operation.query.node = condition(entity)
        case .forEach:
            operation.query = query(entity)
            operation.number = random.chance(50) ? random.below(5) : nil
        case .partition, .inclusion, .indexless: operation.query.node = condition(entity, mayFail: false)
        default: break
        }
        switch verb {
        case .exists:
            operation.query.limit = 1
            operation.query.offset = 0
        case .windows, .reversal, .agreement:
            operation.query = query(entity, mayFail: false)
            operation.number = 1 + random.below(4)
            if verb == .agreement {
                operation.field = random.pick(entity.table.ordered)
            } else {
                (operation.query.limit, operation.query.offset) = (nil, 0)
            }
        case .inclusion: operation.other = condition(entity, mayFail: false)
        default: break
        }
        return operation
    }
}
