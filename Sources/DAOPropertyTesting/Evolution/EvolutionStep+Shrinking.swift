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
                return .persist(
                    rows.map { row in
                        var row = row
                        if row.indices.contains(index) { row.remove(at: index) }
                        return row
                    })
            case .evolve(let version, let migrations, let model):
                return .evolve(version: version, migrations, model: model?.without(field: name))
            case .erase, .copy: return step
            }
        }
    }
}

extension PropertyTesting.GeneratedEntity {
    fileprivate func without(field name: String) -> Self {
        var entity = self
        entity.fields.removeAll { $0.name == name && !$0.isKey }
        entity.kept = []
        return entity
    }
}

extension EvolutionStep {
    /// The fields, those that are keys aside.
    var fieldNames: [String] {
        switch self {
        case .open(let entity, _), .evolve(_, _, .some(let entity)): entity.fields.filter { !$0.isKey }.map(\.name)
        default: []
        }
    }

    /// How large the step is.
    var weight: Int {
        switch self {
        case .open(let entity, let reopens): 1000 + entity.weight + (reopens ? 5 : 0)
        case .persist(let rows): 1000 + rows.reduce(0) { $0 + 20 + $1.count }
        case .erase(let keys): 1000 + keys.count
        case .evolve(_, let migrations, let model):
            1000 + (model.map { 100 + $0.weight } ?? 0) + migrations.reduce(0) { $0 + 100 + 20 * $1.actions.count }
        case .copy(_, let interruption): 1000 + (interruption == nil ? 0 : 5)
        }
    }

    /// The step with less in it.
    var smallerForms: [[EvolutionStep]] {
        func without<Element>(_ elements: [Element]) -> [[Element]] {
            elements.indices.map { index in
                var rest = elements
                rest.remove(at: index)
                return rest
            }
        }
        switch self {
        case .open(let entity, let reopens):
            return (reopens ? [[.open(entity, reopens: false)]] : [])
                + entity.smallerForms.map { [.open($0, reopens: reopens)] }
        case .persist(let rows): return rows.count > 1 ? without(rows).map { [.persist($0)] } : []
        case .erase(let keys): return keys.count > 1 ? without(keys).map { [.erase($0)] } : []
        case .evolve(let version, let migrations, let model):
            return (model == nil ? [] : [[.evolve(version: version, migrations, model: nil)]])
                + without(migrations).map { [.evolve(version: version, $0, model: model)] }
                + migrations.indices.flatMap { index in
                    without(migrations[index].actions).map { actions in
                        var forms = migrations
                        forms[index].actions = actions
                        return [.evolve(version: version, forms, model: model)]
                    }
                }
        case .copy(let size, let interruption):
            return interruption == nil ? [] : [[.copy(rowsAtOnce: size, interruptedAfter: nil)]]
        }
    }
}

extension PropertyTesting.GeneratedEntity {
    /// How much is said of the fields.
    fileprivate var weight: Int {
        fields.reduce(0) { weight, field in
            weight + 10 + (field.isUnique ? 1 : 0) + (field.isIndexed ? 1 : 0) + field.earlierNames.count
                + (field.defaultValue == nil ? 0 : 1)
        } + dropped.count
    }

    /// The model with less said of its fields. Rows keep their places.
    fileprivate var smallerForms: [Self] {
        var withoutDropping = self
        withoutDropping.dropped = []
        return (dropped.isEmpty ? [] : [withoutDropping])
            + fields.indices.flatMap { index -> [Self] in
                func with(_ change: (inout PropertyTesting.GeneratedField) -> Void) -> Self {
                    var form = self
                    change(&form.fields[index])
                    return form
                }
                var forms: [Self] = []
                if fields[index].isUnique { forms.append(with { $0.isUnique = false }) }
                if fields[index].isIndexed { forms.append(with { $0.isIndexed = false }) }
                if !fields[index].earlierNames.isEmpty { forms.append(with { $0.earlierNames = [] }) }
                if fields[index].defaultValue != nil { forms.append(with { $0.defaultValue = nil }) }
                return forms
            }
    }
}
