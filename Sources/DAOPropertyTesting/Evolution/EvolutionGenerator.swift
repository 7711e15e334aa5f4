import DAOCore
import DAOTestSupport

/// Generates the lives of databases from a seed. It keeps to what the reference says is stored, so that most
/// steps mean something.
struct EvolutionGenerator {
    private var random: SeededGenerator
    private var reference = EvolutionReference()
    /// The models that were opened, the last one last.
    private var opened: [PropertyTesting.GeneratedEntity] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed ^ 0x0065_766f_6c76_6521) }

    /// A script of so many steps.
    mutating func script(_ count: Int) -> [EvolutionStep] {
        var steps = [EvolutionStep.open(first(), reopens: false)]
        _ = reference.run(steps[0])
        while steps.count < count {
            let step = step(isSecond: steps.count == 1)
            _ = reference.run(step)
            if case .open(let model, _) = step { opened.append(model) }
            steps.append(step)
        }
        return steps
    }

    private mutating func step(isSecond: Bool) -> EvolutionStep {
        guard let model = reference.model else { return .open(matching(), reopens: random.chance(30)) }
        if isSecond { return .persist(rows(of: model, count: 4 + random.below(4))) }
        let stored = reference.entities[model.name]
        let storedKeys = stored?.rows.map { $0[stored?.description.keyIndex ?? 0] } ?? []
        switch random.below(100) {
        case 0..<27: return .persist(rows(of: model, count: 1 + random.below(3)))
        case 27..<33:
            let keys = storedKeys + HardValues.keys(model.fields[model.keyIndex].type.kind)
            return .erase((0..<1 + random.below(2)).map { _ in random.pick(keys) })
        case 33..<41: return part(of: model, storedKeys)
        case 41..<74: return .open(changed(model), reopens: random.chance(30))
        case 74..<90: return evolution(model)
        default:
            return .copy(
                rowsAtOnce: random.pick([1, 2, 3, 5, 100]), interruptedAfter: random.chance(60) ? 1 + random.below(4) : nil)
        }
    }

    /// Rows of a part, most of them stored ones.
    private mutating func part(of model: PropertyTesting.GeneratedEntity, _ keys: [Value]) -> EvolutionStep {
        var names = model.fields.filter { $0.isKey || random.chance(50) }.map(\.name)
        if random.chance(50) { names.shuffle(using: &random) }
        let part = model.part(names) ?? model
        var rows = rows(of: part, count: 1 + random.below(3))
        for index in rows.indices where !keys.isEmpty && random.chance(75) { rows[index][part.keyIndex] = random.pick(keys) }
        return .part(names, rows)
    }

    // MARK: Rows

    private mutating func rows(of model: PropertyTesting.GeneratedEntity, count: Int) -> [Row] {
        (0..<count).map { _ in
            model.fields.map { field in
                field.isKey ? random.pick(HardValues.keys(field.type.kind)) : value(of: field)
            }
        }
    }

    /// A value of a field, often one that a narrower type has too.
    private mutating func value(of field: PropertyTesting.GeneratedField) -> Value {
        if field.isOptional, random.chance(25) { return .null }
        switch field.type {
        case .string where random.chance(50): return .string(random.pick(["calm", "", "7", "a", "-1"]))
        case .uint8 where random.chance(50): return .integer(random.pick([1, 200]))
        default:
            var description = field.description
            description.type.isOptional = false
            return random.value(of: description, choices: KnownValue.all(of: field.type.type))
        }
    }

    // MARK: Models

    private mutating func first() -> PropertyTesting.GeneratedEntity {
        var entity = random.generatedEntity(named: random.pick(HardNames.entities))
        entity.kept = []
        for index in entity.fields.indices
        where entity.fields[index].type != .string && !entity.fields[index].isKey && random.chance(25) {
            // What narrows and widens comes often.
            entity.fields[index].type = random.pick([.string, .uint8, .optionalStrings, .int16])
            entity.fields[index].defaultValue = nil
            if entity.fields[index].type == .optionalStrings {
                (entity.fields[index].isIndexed, entity.fields[index].isUnique) = (false, false)
            }
        }
        entity.removeImpossibleIndexes()
        return entity
    }

    /// The model that a stored entity has as it is.
    private mutating func matching() -> PropertyTesting.GeneratedEntity {
        let names = reference.entities.keys.sorted()
        guard let stored = reference.entities[random.pick(names.isEmpty ? [""] : names)] else { return first() }
        var entity = PropertyTesting.GeneratedEntity(
            stored.description.name,
            stored.description.fields.map { field in
                PropertyTesting.GeneratedField(
                    field.name,
                    Self.type(of: field.type.kind, stored.rows.map { $0[stored.description.index(of: field.name) ?? 0] }),
                    isOptional: field.type.isOptional, isKey: field.isPrimaryKey, isIndexed: field.isIndexed && !field.isUnique,
                    isUnique: field.isUnique)
            }, indexes: stored.description.indexes)
        // The type of an array's elements is a guess.
        entity.removeImpossibleIndexes()
        return entity
    }

    /// A type for what is stored.
    private static func type(of kind: ValueKind, _ values: [Value]) -> PropertyTesting.GeneratedType {
        PropertyTesting.GeneratedType.allCases.filter { $0.kind == kind }.max { left, right in
            func readable(_ type: PropertyTesting.GeneratedType) -> Int {
                let field = PropertyTesting.GeneratedField("", type, isOptional: true)
                return values.count { field.reads($0) } * 2 + ([.string, .uint8, .optionalInts].contains(type) ? 1 : 0)
            }
            return readable(left) < readable(right)
        } ?? .string
    }

    /// A later version of a model.
    private mutating func changed(_ model: PropertyTesting.GeneratedEntity) -> PropertyTesting.GeneratedEntity {
        if random.chance(3) { return first() }
        // An older build of the application, or one that has the fields in another order.
        let others = opened.filter { $0.name == model.name }
        if random.chance(20), !others.isEmpty { return random.pick(others) }
        var model = model
        model.dropped = model.dropped.filter { _ in random.chance(30) }
        // Most applications drop a rename when everybody has it.
        if random.chance(60) { for index in model.fields.indices { model.fields[index].earlierNames = [] } }
        for _ in 0..<random.weighted([(5, 1), (3, 2), (1, 4)]) { change(&model) }
        if random.chance(20) { changeIndexes(of: &model) }
        model.removeImpossibleIndexes()
        model.dropped.removeAll { name in model.fields.contains { $0.name == name } }
        return model
    }

    /// Adds, removes or changes an index over several fields.
    private mutating func changeIndexes(of model: inout PropertyTesting.GeneratedEntity) {
        guard !model.indexes.isEmpty, random.chance(60) else {
            if let index = random.generatedIndex(of: model) { model.indexes.append(index) }
            return
        }
        let position = random.below(model.indexes.count)
        switch random.below(3) {
        case 0: model.indexes.remove(at: position)
        case 1 where model.indexes[position].elements == nil: model.indexes[position].isUnique.toggle()
        default: model.indexes.shuffle(using: &random)
        }
    }

    private mutating func freeName(_ model: PropertyTesting.GeneratedEntity) -> String {
        let taken = Set(model.fields.map { $0.name.lowercased() })
        return random.pick(HardNames.fields.filter { !taken.contains($0.lowercased()) })
    }

    private mutating func change(_ model: inout PropertyTesting.GeneratedEntity) {
        let others = model.fields.indices.filter { !model.fields[$0].isKey }
        let kind = random.below(100)
        if kind < 22 || others.isEmpty { return add(to: &model) }
        let index = random.pick(others)
        switch kind {
        case 22..<30:
            let field = model.fields.remove(at: index)
            // Another field may get its name.
            model.removeImpossibleIndexes()
            // What is not dropped stays, when rows can do without it.
            if random.chance(field.isOptional || field.defaultValue?.isNull == false ? 25 : 70) { model.dropped = [field.name] }
        case 30..<42: rename(index, of: &model)
        case 42..<46:
            // The other way round, in one version, which is refused.
            let other = random.pick(others)
            (model.fields[index].earlierNames, model.fields[other].earlierNames) = (
                [model.fields[other].name], [model.fields[index].name]
            )
        case 46..<52: model.fields[index].isOptional = true
        case 52..<60:
            model.fields[index].isOptional = false
            model.fields[index].defaultValue = random.chance(80) ? defaultValue(model.fields[index]) : nil
        case 60..<70:
            let related = others.filter { Self.kin(of: model.fields[$0].type).count > 1 }
            if let index = related.isEmpty ? nil : random.pick(related) {
                model.fields[index].type = random.pick(Self.kin(of: model.fields[index].type))
                if let value = model.fields[index].defaultValue, !model.fields[index].holds(value) {
                    model.fields[index].defaultValue = nil
                }
            }
        case 70..<74:
            model.fields[index].type = random.pick([.int, .string, .int32, .data, .strings])
            model.fields[index].defaultValue = nil
        case 74..<80: model.fields[index].isIndexed.toggle()
        case 80..<87: model.fields[index].isUnique.toggle()
        case 87..<93: model.fields.shuffle(using: &random)
        case 93..<95: model.fields[index].defaultValue = defaultValue(model.fields[index])
        case 95..<97:
            guard
                let other = others.first(where: {
                    PropertyTesting.GeneratedType.keys.contains(model.fields[$0].type) && !model.fields[$0].isOptional
                })
            else { return }
            for position in model.fields.indices { model.fields[position].isKey = position == other }
            model.fields[other].defaultValue = nil
            (model.fields[other].isIndexed, model.fields[other].isUnique) = (false, false)
        default: rename(model.keyIndex, of: &model)
        }
        guard model.fields.indices.contains(index) else { return }
        if !model.fields[index].type.kind.isOrdered || model.fields[index].isKey {
            (model.fields[index].isIndexed, model.fields[index].isUnique) = (false, false)
        }
        if let value = model.fields[index].defaultValue, !model.fields[index].holds(value) {
            model.fields[index].defaultValue = nil
        }
    }

    private mutating func add(to model: inout PropertyTesting.GeneratedEntity) {
        guard model.fields.count < 12 else { return }
        var field = random.generatedField(freeName(model))
        field.defaultValue = random.chance(60) ? defaultValue(field) : nil
        if !field.isOptional, field.defaultValue == nil { field.isOptional = random.chance(80) }
        model.fields.insert(field, at: random.below(model.fields.count + 1))
    }

    private mutating func defaultValue(_ field: PropertyTesting.GeneratedField) -> Value {
        var required = field
        required.isOptional = false
        return field.isOptional && random.chance(10) ? .null : value(of: required)
    }

    /// Gives a field another name; now and then the old one goes to a new field.
    private mutating func rename(_ index: Int, of model: inout PropertyTesting.GeneratedEntity) {
        let old = model.fields[index].name
        let isCase = random.chance(10) && old != old.uppercased()
        model.fields[index].name = isCase ? old.uppercased() : freeName(model)
        let new = model.fields[index].name
        model.indexes = model.indexes.map { $0.renamed { $0 == old ? new : $0 } }
        model.fields[index].earlierNames = [old] + model.fields[index].earlierNames
        if random.chance(10) { model.fields[index].earlierNames.insert("neverStored", at: 0) }
        guard !isCase, random.chance(25) else { return }
        var successor = random.generatedField(old)
        if !successor.isOptional { successor.defaultValue = defaultValue(successor) }
        model.fields.append(successor)
    }

    /// The types that are stored alike.
    private static func kin(of type: PropertyTesting.GeneratedType) -> [PropertyTesting.GeneratedType] {
        let families: [[PropertyTesting.GeneratedType]] = [
            [.string, .mood], [.uint8, .level], [.int, .int64, .ticket], [.uint, .uint64], [.decimal, .duration],
            [.strings, .optionalStrings],
        ]
        return families.first { $0.contains(type) } ?? [type]
    }

    // MARK: Evolutions

    private mutating func evolution(_ model: PropertyTesting.GeneratedEntity) -> EvolutionStep {
        let stored = reference.version ?? 0
        if random.chance(15), stored > 1 { return .evolve(version: 1 + random.below(stored - 1), [], model: nil) }
        let version = stored + random.weighted([(2, 0), (4, 1), (3, 2), (2, 3)])
        guard version > 0 else { return .evolve(version: 1, [], model: model) }
        var migrations: [PropertyTesting.GeneratedMigration] = []
        // Steps are made for what those before leave.
        var entities = reference.entities
        for number in max(1, stored - 1)...version where random.chance(60) {
            var migration = PropertyTesting.GeneratedMigration(to: number, [])
            for _ in 0..<1 + random.below(3) {
                guard let action = action(entities) else { continue }
                migration.actions.append(action)
                if number > stored { try? reference.perform(action, on: &entities) }
            }
            migrations.append(migration)
        }
        return .evolve(version: version, migrations, model: random.chance(30) ? changed(model) : nil)
    }

    private mutating func action(
        _ entities: [String: EvolutionReference.Stored]
    ) -> PropertyTesting.GeneratedMigration.Action? {
        let names = entities.keys.sorted()
        guard !names.isEmpty, let entity = entities[random.pick(names)]?.description else { return nil }
        let others = entity.fields.filter { !$0.isPrimaryKey }
        let name = entity.name
        if random.chance(10) { return .fail }
        if random.chance(4) { return .dropField("nothing", of: name) }
        guard !others.isEmpty else {
            return .addField(PropertyTesting.GeneratedField("added", .string, isOptional: true), to: name)
        }
        let field = random.pick(others)
        switch random.below(11) {
        case 9: return .changeKey(of: name, to: (others.first { !$0.isIndexed && $0.type.kind == entity.keyKind } ?? field).name)
        case 10: return random.chance(20) ? .dropEntity(name) : .changeKey(of: name, to: field.name)
        case 0, 1:
            guard let type = PropertyTesting.GeneratedType.allCases.first(where: { $0.kind == field.type.kind }) else {
                return nil
            }
            let wider = Self.wider(type.kind)
            return wider.isEmpty ? nil : .changeType(of: field.name, in: name, from: type, to: random.pick(wider))
        case 2: return .renameField(field.name, of: name, to: random.pick(HardNames.fields))
        case 3:
            var added = random.generatedField(random.pick(HardNames.fields))
            if !added.isOptional || random.chance(50) { added.defaultValue = defaultValue(added) }
            return .addField(added, to: name)
        case 4: return .dropField(field.name, of: name)
        case 5: return .setIndex(on: field.name, of: name, isIndexed: random.chance(60), isUnique: random.chance(25))
        case 6:
            let taken = Set(names.map { $0.lowercased() })
            let free = HardNames.entities.filter { !taken.contains($0.lowercased()) }
            return .renameEntity(name, to: random.pick(random.chance(90) ? free : names))
        case 7:
            guard let type = PropertyTesting.GeneratedType.allCases.first(where: { $0.kind == field.type.kind }) else {
                return nil
            }
            return .set(
                field.name, of: name, to: value(of: PropertyTesting.GeneratedField("", type, isOptional: field.type.isOptional)))
        default: return .erase(every: 2 + random.below(3), of: name)
        }
    }

    /// What the values of a kind can become.
    private static func wider(_ kind: ValueKind) -> [PropertyTesting.GeneratedType] {
        switch kind {
        case .string: [.int]
        case .bool, .uuid: [.string]
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: [.int, .int16, .uint64, .string]
        default: []
        }
    }
}
