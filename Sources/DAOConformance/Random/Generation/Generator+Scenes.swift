import DAOCore
import Foundation

/// Some steps in a row that are about one thing, which single steps would seldom come upon.
extension Generator {
    private enum Scene {
        case manyRows, longList, longValue, powersOfTen, letters, closing, leaving, neighbour, race, outliving, unpromised,
            translating
        case watching

        /// Whether it may happen inside a transaction.
        var isAnywhere: Bool {
            switch self {
            case .manyRows, .longList, .longValue, .powersOfTen, .letters, .closing, .unpromised, .translating: true
            case .leaving, .neighbour, .race, .outliving, .watching: false
            }
        }
    }

    private static let scenes: [(Int, Scene)] = [
        (2, .manyRows), (2, .longList), (1, .longValue), (2, .powersOfTen), (2, .letters), (2, .closing), (1, .leaving),
        (2, .neighbour), (3, .race), (3, .outliving), (1, .unpromised), (3, .translating), (4, .watching),
    ]

    /// The steps of a scene, some of them as a transaction.
    mutating func scene() -> [Step] {
        let scene = weighted(Self.scenes)
        let steps = steps(of: scene)
        guard scene.isAnywhere, chance(30) else { return steps }
        return [Step(verb: .transaction, flag: chance(40), inner: steps)]
    }

    private mutating func steps(of scene: Scene) -> [Step] {
        switch scene {
        case .manyRows: return manyRows()
        case .longList: return [longList()]
        case .longValue: return longValue()
        case .powersOfTen: return powersOfTen()
        case .letters: return letters()
        case .closing: return [write(of: entity()), Step(verb: .closeInside), write(of: entity())]
        case .leaving: return [Step(verb: .leave)] + filling() + (chance(50) ? [watching()] : [])
        case .neighbour:
            let entity = entity()
            let steps = [write(of: entity)] + operations(.single, upTo: 2) + [Step(verb: .read, entity: entity)]
            return [Step(verb: .neighbour, entity: entity, inner: steps)]
        case .race: return race()
        case .outliving: return [outliving()]
        case .unpromised: return [Step(verb: .unpromised)]
        case .translating: return [translating()]
        case .watching: return [watching()]
        }
    }

    // MARK: Long things

    /// A row of one of the models that every script has, which no other step makes and which collides with none.
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
    private mutating func manyRows() -> [Step] {
        let entity = fixedEntity()
        let rows = (0..<25 + int(36)).map { plainRow($0, of: entity) }.shuffled(using: &self)
        var step = Step(verb: one([.create, .persist, .upsert]), entity: entity, rows: rows)
        step.flag = step.verb == .persist && chance(30)
        return [step, Step(verb: .eraseKeys, entity: entity, ids: ids(rows))]
    }

    /// A list with more values than engines take as parameters of one statement, or as terms of one condition.
    private mutating func longList() -> Step {
        let entity = one([Entity.wide, .note, .tally])
        let fields = entity.fields.indices.filter { [.int64, .uint64].contains(entity.fields[$0].type.kind) }
        let half = Int64(500 + int(1000))
        let field = one(fields)
        let range = entity.fields[field].type.kind == .uint64 ? 0..<2 * half : -half..<half
        var query = QuerySpec(node: .isIn(field: field, range.map(Value.integer).shuffled(using: &self)))
        if chance(30) { query.node = .not(query.node) }
        return Step(verb: one([.read, .count, .keys]), entity: entity, query: query)
    }

    /// A value of more bytes than a page of any engine, and its end.
    private mutating func longValue() -> [Step] {
        let length = 100_000 + int(100_000)
        let entity = one([Entity.wide, .note, .tally])
        var row = plainRow(one([1, 2]), of: entity)
        let name = entity == .wide ? one(["text", "bytes"]) : (entity == .note ? "body" : "blob")
        if let field = entity.fields.firstIndex(where: { $0.name == name }) {
            row[field] =
                entity.fields[field].type.kind == .string
                ? .string(String(repeating: "x", count: length) + "é") : .data(Data(repeating: 7, count: length) + [8])
        }
        return [
            Step(verb: .upsert, entity: entity, rows: [row]), Step(verb: .readKey, entity: entity, ids: ids([row])),
            Step(verb: .eraseKeys, entity: entity, ids: ids([row])),
        ]
    }

    /// Numbers whose texts begin alike.
    private mutating func powersOfTen() -> [Step] {
        let entity = one([Entity.wide, .note])
        let name = entity == .note ? "rank" : one(["number", "long"])
        guard let field = entity.fields.firstIndex(where: { $0.name == name }) else { return [] }
        let rows = [9, 10, 11, 90, 99, 100, 101, 1000].shuffled(using: &self).prefix(5).enumerated().map { index, number in
            var row = plainRow(index, of: entity)
            row[field] = .integer(Int64(number))
            if let twin = entity.table.twins[field] { row[twin] = row[field] }
            return row
        }
        let reads = (0..<4).map { _ in
            let node = PredicateNode.compare(
                field: field, one([.less, .lessOrEqual, .greater, .greaterOrEqual]), .integer(one([9, 10, 10, 99, 100, 100])))
            return Step(verb: .read, entity: entity, query: QuerySpec(node: node))
        }
        return [Step(verb: .upsert, entity: entity, rows: rows)] + reads
            + [Step(verb: .eraseKeys, entity: entity, ids: ids(rows))]
    }

    /// Texts that are the same but for case or marks.
    private mutating func letters() -> [Step] {
        let group = one([
            ["é", "É", "e\u{301}", "E", "e"], ["Straße", "STRASSE", "strasse", "Strasse"],
            ["Σίσυφος", "ΣΊΣΥΦΟΣ", "σίσυφοσ", "Σισυφος"],
            ["résumé", "RÉSUMÉ", "resume", "Re\u{301}sume\u{301}"], ["İ", "i", "I", "ı", "i\u{307}"],
        ])
        let field = one(
            Entity.note.fields.indices.filter { ["title", "titleTwin", "body"].contains(Entity.note.fields[$0].name) })
        let rows = group.enumerated().map { index, text in
            var row = plainRow(index, of: .note)
            row[field] = .string(text)
            if let twin = Entity.note.table.twins[field] { row[twin] = row[field] }
            return row
        }
        let reads = (0..<3).map { _ in
            let node = PredicateNode.text(
                field: field, one([.equals, .contains, .hasPrefix, .matches]), one(group), one(Pools.options))
            return Step(verb: .read, query: QuerySpec(node: chance(20) ? .not(node) : node))
        }
        return [Step(verb: .upsert, rows: rows)] + reads + [Step(verb: .eraseKeys, ids: ids(rows))]
    }

    // MARK: Threads and transactions

    /// Calls that come to the same in whatever order they are done: new rows of each thread's own, and additions.
    private mutating func race() -> [Step] {
        let entity = Entity.note
        guard let rank = entity.fields.firstIndex(where: { $0.name == "rank" }) else { return [] }
        let count = 2 + int(3)
        let shared = plainRow(500, of: entity)
        let rows = (0..<count * (3 + int(4))).map { plainRow(600 + $0, of: entity) }
        let steps = rows.map { row in
            chance(35)
                ? Step(verb: .increment, entity: entity, ids: ids([shared]), field: rank)
                : Step(verb: one([.create, .create, .persist, .upsert]), entity: entity, rows: [row])
        }
        return [
            Step(verb: .upsert, entity: entity, rows: [shared]),
            Step(verb: .race, entity: entity, number: count, flag: chance(50), inner: steps),
            Step(verb: .eraseKeys, entity: entity, ids: ids([shared] + rows)),
        ]
    }

    private mutating func outliving() -> Step {
        let steps = (0..<1 + int(2)).map { _ in
            let entity = fixedEntity()
            switch int(7) {
            case 0: return Step(verb: .read, entity: entity)
            case 1: return Step(verb: .count, entity: entity)
            case 2: return Step(verb: .keys, entity: entity)
            case 3: return Step(verb: .readKey, entity: entity, ids: ids([plainRow(1, of: entity)]))
            case 4: return Step(verb: .eraseAll, entity: entity)
            default: return Step(verb: one([.create, .persist, .upsert]), entity: entity, rows: [plainRow(1, of: entity)])
            }
        }
        return Step(verb: .outlive, flag: chance(30), inner: steps)
    }

    private mutating func translating() -> Step {
        let entity = entity()
        var step = Step(verb: .translate, entity: entity, flag: chance(50))
        step.rows = rows(of: entity, count: 1 + int(3), isPlain: true)
        step.inner = step.rows.map { _ in write(of: self.entity()) }
        if chance(40) { step.number = int(step.rows.count) }
        return step
    }

    /// Steps on rows that are observed and on others, some of them in transactions that fail or through another database.
    private mutating func watching() -> Step {
        let entity = entity()
        var step = Step(verb: .watch, entity: entity, flag: chance(60))
        if chance(60) { step.query = query(entity, mayFail: false) }
        for _ in 0..<2 + int(3) {
            var steps = (0..<2 + int(3)).map { _ in write(of: chance(60) ? entity : self.entity()) }
            if chance(40) { steps.insert(Step(verb: .outside, inner: [Step(verb: .read, entity: entity)]), at: 1) }
            switch int(4) {
            case 0: step.inner.append(write(of: entity))
            case 1: step.inner.append(Step(verb: .second, inner: Array(steps.filter { $0.verb != .outside })))
            default: step.inner.append(Step(verb: .transaction, flag: chance(30), inner: steps))
            }
        }
        return step
    }
}
