import DAOCore
import DAOTestSupport
import Foundation

/// Some steps in a row that are about one thing, which single steps would seldom come upon.
extension RowGenerator {
    private enum Scene {
        case manyRows, longList, longValue, powersOfTen, letters, closing, leaving, neighbour, race, outliving, unpromised,
            translating
        case watching, trading

        /// Whether it may happen inside a transaction.
        var isAnywhere: Bool {
            switch self {
            case .manyRows, .longList, .longValue, .powersOfTen, .letters, .closing, .unpromised, .translating, .trading: true
            case .leaving, .neighbour, .race, .outliving, .watching: false
            }
        }
    }

    private static let scenes: [(Int, Scene)] = [
        (2, .manyRows), (2, .longList), (1, .longValue), (2, .powersOfTen), (2, .letters), (2, .closing), (1, .leaving),
        (2, .neighbour), (3, .race), (3, .outliving), (1, .unpromised), (3, .translating), (4, .watching), (3, .trading),
    ]

    /// The steps of a scene, some of them as a transaction.
    mutating func scene() -> [RowStep] {
        let scene = random.weighted(Self.scenes)
        let steps = steps(of: scene)
        guard scene.isAnywhere, random.chance(30) else { return steps }
        return [RowStep(verb: .transaction, flag: random.chance(40), inner: steps)]
    }

    private mutating func steps(of scene: Scene) -> [RowStep] {
        switch scene {
        case .manyRows: return manyRows()
        case .longList: return [longList()]
        case .longValue: return longValue()
        case .powersOfTen: return powersOfTen()
        case .letters: return letters()
        case .closing: return [write(of: entity()), RowStep(verb: .closeInside), write(of: entity())]
        case .leaving: return [RowStep(verb: .leave)] + filling() + (random.chance(50) ? [watching()] : [])
        case .neighbour:
            let entity = entity()
            let steps = [write(of: entity)] + operations(.single, upTo: 2) + [RowStep(verb: .read, entity: entity)]
            return [RowStep(verb: .neighbour, entity: entity, inner: steps)]
        case .race: return race()
        case .outliving: return [outliving()]
        case .unpromised: return [RowStep(verb: .unpromised)]
        case .translating: return [translating()]
        case .watching: return [watching()]
        case .trading: return trading()
        }
    }

    // MARK: Long things

    /// A row of one of the models that every script has, which no other step makes and which collides with
    /// none.
    private func plainRow(_ number: Int, of entity: Entity) -> Row {
        var row = entity.table.blank
        row[0] =
            switch entity.fields[0].type.kind {
            case .string: .string("row \(number)")
            case .uuid:
                .uuid(UUID(uuid: (1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number >> 8 & 255), UInt8(number & 255))))
            default: .integer(Int64(1000 + number))
            }
        for field in entity.table.unique where !entity.fields[field].type.isOptional && field != 0 {
            row[field] = .integer(Int64(1_000_000 + number))
        }
        return row
    }

    private func ids(_ rows: [Row]) -> [String] { rows.map { ReferenceState.id($0[0]).rawValue } }

    /// More rows in one call than any of the others has, and the end of them.
    private mutating func manyRows() -> [RowStep] {
        let entity = fixedEntity()
        let rows = (0..<25 + random.below(36)).map { plainRow($0, of: entity) }.shuffled(using: &random)
        var step = RowStep(verb: random.pick([.create, .persist, .upsert]), entity: entity, rows: rows)
        step.flag = step.verb == .persist && random.chance(30)
        return [step, RowStep(verb: .eraseKeys, entity: entity, ids: ids(rows))]
    }

    /// Rows that trade their unique values in one call. Some of them may not be among its rows, or be given twice.
    private mutating func trading() -> [RowStep] {
        let entity = random.pick([Entity.note, .pass, .pass, .tally])
        let unique = entity.table.unique.filter { $0 != entity.key }
        var rows = (0..<3 + random.below(5)).map { plainRow(700 + $0, of: entity) }
        for field in unique where entity.fields[field].type.isOptional {
            for index in rows.indices where random.chance(80) {
                switch entity.fields[field].type.kind {
                case .string: rows[index][field] = .string("trade \(index)")
                case .data: rows[index][field] = .data(Data([7, 7, UInt8(index)]))
                case .int64: rows[index][field] = .integer(Int64(2_000_000 + index))
                case .double: rows[index][field] = .double(2e9 + Double(index))
                case .decimal: rows[index][field] = .decimal(Decimal(2_000_000 + index))
                case .date: rows[index][field] = .date(Date(timeIntervalSinceReferenceDate: 2e9 + Double(index)))
                default: break
                }
            }
        }
        var traded = rows
        for field in unique {
            let values = random.chance(60) ? rows.map { $0[field] }.shuffled(using: &random) : rows.map { $0[field] }
            for index in rows.indices { traded[index][field] = values[index] }
        }
        if random.chance(50) { traded.shuffle(using: &random) }
        if random.chance(30) { traded.removeLast() }
        if random.chance(20) { traded.append(random.pick(rows)) }
        var step = RowStep(verb: random.pick([.persist, .persist, .upsert, .merge]), entity: entity, rows: traded)
        step.flag = step.verb == .persist && random.chance(50)
        return [
            RowStep(verb: .upsert, entity: entity, rows: rows), step, RowStep(verb: .read, entity: entity),
            RowStep(verb: .eraseKeys, entity: entity, ids: ids(rows)),
        ]
    }

    /// A list with more values than engines take as parameters of one statement, or as terms of one
    /// condition.
    private mutating func longList() -> RowStep {
        let entity = random.pick([Entity.wide, .note, .tally])
        let fields = entity.fields.indices.filter { [.int64, .uint64].contains(entity.fields[$0].type.kind) }
        let half = Int64(500 + random.below(1000))
        let field = random.pick(fields)
        let range = entity.fields[field].type.kind == .uint64 ? 0..<2 * half : -half..<half
        var query = QueryDescription(node: .isIn(field: field, range.map(Value.integer).shuffled(using: &random)))
        if random.chance(30) { query.node = .not(query.node) }
        return RowStep(verb: random.pick([.read, .count, .keys]), entity: entity, query: query)
    }

    /// A value of more bytes than a page of any engine, and its end.
    private mutating func longValue() -> [RowStep] {
        let length = 100_000 + random.below(100_000)
        let entity = random.pick([Entity.wide, .note, .tally])
        var row = plainRow(random.pick([1, 2]), of: entity)
        let name = entity == .wide ? random.pick(["text", "bytes"]) : (entity == .note ? "body" : "blob")
        if let field = entity.fields.firstIndex(where: { $0.name == name }) {
            row[field] =
                entity.fields[field].type.kind == .string
                ? .string(String(repeating: "x", count: length) + "é") : .data(Data(repeating: 7, count: length) + [8])
        }
        return [
            RowStep(verb: .upsert, entity: entity, rows: [row]), RowStep(verb: .readKey, entity: entity, ids: ids([row])),
            RowStep(verb: .eraseKeys, entity: entity, ids: ids([row])),
        ]
    }

    /// Numbers whose texts begin alike.
    private mutating func powersOfTen() -> [RowStep] {
        let entity = random.pick([Entity.wide, .note])
        let name = entity == .note ? "rank" : random.pick(["number", "long"])
        guard let field = entity.fields.firstIndex(where: { $0.name == name }) else { return [] }
        let rows = [9, 10, 11, 90, 99, 100, 101, 1000].shuffled(using: &random).prefix(5).enumerated().map { index, number in
            var row = plainRow(index, of: entity)
            row[field] = .integer(Int64(number))
            if let twin = entity.table.twins[field] { row[twin] = row[field] }
            return row
        }
        let reads = (0..<4).map { _ in
            let node = PredicateNode.compare(
                field: field, random.pick([.less, .lessOrEqual, .greater, .greaterOrEqual]),
                .integer(random.pick([9, 10, 10, 99, 100, 100])))
            return RowStep(verb: .read, entity: entity, query: QueryDescription(node: node))
        }
        return [RowStep(verb: .upsert, entity: entity, rows: rows)] + reads
            + [RowStep(verb: .eraseKeys, entity: entity, ids: ids(rows))]
    }

    /// Texts that are the same but for case or marks.
    private mutating func letters() -> [RowStep] {
        let group = random.pick([
            ["é", "É", "e\u{301}", "E", "e"], ["Straße", "STRASSE", "strasse", "Strasse"],
            ["Σίσυφος", "ΣΊΣΥΦΟΣ", "σίσυφοσ", "Σισυφος"],
            ["résumé", "RÉSUMÉ", "resume", "Re\u{301}sume\u{301}"], ["İ", "i", "I", "ı", "i\u{307}"],
        ])
        let field = random.pick(
            Entity.note.fields.indices.filter { ["title", "titleTwin", "body"].contains(Entity.note.fields[$0].name) })
        let rows = group.enumerated().map { index, text in
            var row = plainRow(index, of: .note)
            row[field] = .string(text)
            if let twin = Entity.note.table.twins[field] { row[twin] = row[field] }
            return row
        }
        let reads = (0..<3).map { _ in
            let node = PredicateNode.text(
                field: field, random.pick([.equals, .contains, .hasPrefix, .matches]), random.pick(group),
                random.pick(HardValues.options))
            return RowStep(verb: .read, query: QueryDescription(node: random.chance(20) ? .not(node) : node))
        }
        return [RowStep(verb: .upsert, rows: rows)] + reads + [RowStep(verb: .eraseKeys, ids: ids(rows))]
    }

    // MARK: Threads and transactions

    /// Calls that come to the same in whatever order they are done: new rows of each thread's own, and
    /// additions.
    private mutating func race() -> [RowStep] {
        let entity = Entity.note
        guard let rank = entity.fields.firstIndex(where: { $0.name == "rank" }) else { return [] }
        let count = 2 + random.below(3)
        let shared = plainRow(500, of: entity)
        let rows = (0..<count * (3 + random.below(4))).map { plainRow(600 + $0, of: entity) }
        let steps = rows.map { row in
            random.chance(35)
                ? RowStep(verb: .increment, entity: entity, ids: ids([shared]), field: rank)
                : RowStep(verb: random.pick([.create, .create, .persist, .upsert]), entity: entity, rows: [row])
        }
        return [
            RowStep(verb: .upsert, entity: entity, rows: [shared]),
            RowStep(verb: .race, entity: entity, number: count, flag: random.chance(50), inner: steps),
            RowStep(verb: .eraseKeys, entity: entity, ids: ids([shared] + rows)),
        ]
    }

    private mutating func outliving() -> RowStep {
        let steps = (0..<1 + random.below(2)).map { _ in
            let entity = fixedEntity()
            switch random.below(7) {
            case 0: return RowStep(verb: .read, entity: entity)
            case 1: return RowStep(verb: .count, entity: entity)
            case 2: return RowStep(verb: .keys, entity: entity)
            case 3: return RowStep(verb: .readKey, entity: entity, ids: ids([plainRow(1, of: entity)]))
            case 4: return RowStep(verb: .eraseAll, entity: entity)
            default:
                return RowStep(verb: random.pick([.create, .persist, .upsert]), entity: entity, rows: [plainRow(1, of: entity)])
            }
        }
        return RowStep(verb: .outlive, flag: random.chance(30), inner: steps)
    }

    private mutating func translating() -> RowStep {
        let entity = entity()
        var step = RowStep(verb: .translate, entity: entity, flag: random.chance(50))
        step.rows = rows(of: entity, count: 1 + random.below(3), isPlain: true)
        step.inner = step.rows.map { _ in write(of: self.entity()) }
        if step.flag, step.rows.count == 1, random.chance(50) {
            step.field = 1
            if random.chance(60) {
                var other = rows(of: entity, count: 1, isPlain: true)[0]
                other[entity.key] = step.rows[0][entity.key]
                step.inner = [RowStep(verb: random.pick([.persist, .upsert]), entity: entity, rows: [other])]
            }
        }
        if random.chance(40) { step.number = random.below(step.rows.count) }
        return step
    }

    /// Steps on rows that are observed and on others, some of them in transactions that fail or through
    /// another database.
    private mutating func watching() -> RowStep {
        let entity = entity()
        var step = RowStep(verb: .watch, entity: entity, flag: random.chance(60))
        if random.chance(60) { step.query = query(entity, mayFail: false) }
        for _ in 0..<2 + random.below(3) {
            var steps = (0..<2 + random.below(3)).map { _ in write(of: random.chance(60) ? entity : self.entity()) }
            if random.chance(40) { steps.insert(RowStep(verb: .outside, inner: [RowStep(verb: .read, entity: entity)]), at: 1) }
            switch random.below(4) {
            case 0: step.inner.append(write(of: entity))
            case 1: step.inner.append(RowStep(verb: .second, inner: Array(steps.filter { $0.verb != .outside })))
            default: step.inner.append(RowStep(verb: .transaction, flag: random.chance(30), inner: steps))
            }
        }
        return step
    }
}
