import DAOCore

extension [EvolutionStep] {
    /// The script in which no version has a field; the same script when it is a key.
    func without(field name: String) -> [EvolutionStep] {
        var reference = EvolutionReference()
        return compactMap { step in
            let model = reference.model
            _ = reference.run(step)
            switch step {
            case .open(let entity, let reopens): return .open(entity.without(field: name), reopens: reopens)
            case .persist(let rows):
                guard let index = model?.fields.firstIndex(where: { $0.name == name && !$0.isKey }) else { return step }
                return .persist(rows.map { Self.without(index, in: $0) })
            case .part(let fields, let rows):
                guard let index = fields.firstIndex(of: name), model?.fields.first(where: { $0.name == name })?.isKey == false
                else { return step }
                return .part(Self.without(index, in: fields), rows.map { Self.without(index, in: $0) })
            case .evolve(let version, let migrations, let model):
                return .evolve(version: version, migrations, model: model?.without(field: name))
            case .erase, .copy: return step
            }
        }
    }

    private static func without<Item>(_ index: Int, in items: [Item]) -> [Item] {
        items.enumerated().filter { $0.offset != index }.map(\.element)
    }
}

extension PropertyTesting.GeneratedEntity {
    fileprivate func without(field name: String) -> Self {
        var entity = self
        entity.fields.removeAll { $0.name == name && !$0.isKey }
        entity.removeImpossibleIndexes()
        entity.kept = []
        return entity
    }
}

extension EvolutionStep {
    /// The names of the fields that are not keys.
    var fieldNames: [String] {
        switch self {
        case .open(let entity, _), .evolve(_, _, .some(let entity)): entity.fields.filter { !$0.isKey }.map(\.name)
        default: []
        }
    }

    /// The step with less content.
    var smallerForms: [[EvolutionStep]] {
        switch self {
        case .open(let entity, let reopens):
            return (reopens ? [[.open(entity, reopens: false)]] : [])
                + entity.smallerForms.map { [.open($0, reopens: reopens)] }
        case .persist(let rows): return rows.count > 1 ? rows.smaller().map { [.persist($0)] } : []
        case .part(let fields, let rows): return rows.count > 1 ? rows.smaller().map { [.part(fields, $0)] } : []
        case .erase(let keys): return keys.count > 1 ? keys.smaller().map { [.erase($0)] } : []
        case .evolve(let version, let migrations, let model):
            let smaller = migrations.smaller { migration in
                migration.actions.smaller().map { [PropertyTesting.GeneratedMigration(to: migration.version, $0)] }
            }
            return (model == nil ? [] : [[.evolve(version: version, migrations, model: nil)]])
                + smaller.map { [.evolve(version: version, $0, model: model)] }
        case .copy(let size, let interruption):
            return interruption == nil ? [] : [[.copy(rowsAtOnce: size, interruptedAfter: nil)]]
        }
    }
}

extension PropertyTesting.GeneratedEntity {
    /// The model with fewer declarations on its fields. The values of rows stay valid.
    fileprivate var smallerForms: [Self] {
        var withoutDropping = self
        withoutDropping.dropped = []
        return (dropped.isEmpty ? [] : [withoutDropping])
            + indexes.indices.map { position in
                var form = self
                form.indexes.remove(at: position)
                return form
            }
            + fields.smaller { field in
                func without(_ change: (inout PropertyTesting.GeneratedField) -> Void) -> [PropertyTesting.GeneratedField] {
                    var form = field
                    change(&form)
                    return [form]
                }
                return [
                    without { $0.isUnique = false }, without { $0.isIndexed = false }, without { $0.earlierNames = [] },
                    without { $0.defaultValue = nil },
                ]
            }
            .filter { $0.count == fields.count && $0 != fields }.map { fields in
                var form = self
                (form.fields, form.dropped) = (fields, [])
                return form
            }
    }
}
