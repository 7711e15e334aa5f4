import DAOCore
import Foundation

extension EvolutionRound {
    /// The smallest script that still fails, found for as long as there is time: by leaving out steps, fields, then what is in steps.
    func shrink(_ failure: FailedScript<EvolutionStep>, limit: Duration) -> FailedScript<EvolutionStep> {
        let deadline = ContinuousClock.now + limit
        var smallest = failure
        func tries(_ script: [EvolutionStep]) -> Bool {
            guard !script.isEmpty, ContinuousClock.now < deadline, let found = try? run(script) else { return false }
            smallest = found
            return true
        }
        var isSmaller = true
        while isSmaller, ContinuousClock.now < deadline {
            isSmaller = false
            for name in Set(smallest.script.flatMap(\.fieldNames)).sorted() where tries(smallest.script.without(field: name)) {
                isSmaller = true
            }
            var position = 0
            while position < smallest.script.count {
                let forms = [[]] + smallest.script[position].smallerForms.map { [$0] }
                let isFound = forms.contains { form in
                    var candidate = smallest.script
                    candidate.replaceSubrange(position...position, with: form)
                    return tries(candidate)
                }
                if isFound { isSmaller = true } else { position += 1 }
            }
        }
        return smallest
    }
}

extension [EvolutionStep] {
    /// The script in which no version has a field; the same script when it is a key.
    fileprivate func without(field name: String) -> [EvolutionStep] {
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

extension RandomProof.MadeEntity {
    fileprivate func without(field name: String) -> Self {
        var entity = self
        entity.fields.removeAll { $0.name == name && !$0.isKey }
        entity.kept = []
        return entity
    }
}

extension EvolutionStep {
    /// The fields, those that are keys aside.
    fileprivate var fieldNames: [String] {
        switch self {
        case .open(let entity, _), .evolve(_, _, .some(let entity)): entity.fields.filter { !$0.isKey }.map(\.name)
        default: []
        }
    }

    /// The step with less in it. No form is of the same size, so shrinking ends.
    fileprivate var smallerForms: [EvolutionStep] {
        func without<Element>(_ elements: [Element]) -> [[Element]] {
            elements.indices.map { index in
                var rest = elements
                rest.remove(at: index)
                return rest
            }
        }
        switch self {
        case .open(let entity, let reopens):
            return (reopens ? [.open(entity, reopens: false)] : [])
                + entity.smallerForms.map { .open($0, reopens: reopens) }
        case .persist(let rows): return rows.count > 1 ? without(rows).map { .persist($0) } : []
        case .erase(let keys): return keys.count > 1 ? without(keys).map { .erase($0) } : []
        case .evolve(let version, let migrations, let model):
            return (model == nil ? [] : [.evolve(version: version, migrations, model: nil)])
                + without(migrations).map { .evolve(version: version, $0, model: model) }
                + migrations.indices.flatMap { index in
                    without(migrations[index].actions).map { actions in
                        var forms = migrations
                        forms[index].actions = actions
                        return .evolve(version: version, forms, model: model)
                    }
                }
        case .copy(let size, let interruption): return interruption == nil ? [] : [.copy(rowsAtOnce: size, interruptedAfter: nil)]
        }
    }
}

extension RandomProof.MadeEntity {
    /// The model with less said of its fields. Rows keep their places.
    fileprivate var smallerForms: [Self] {
        fields.indices.flatMap { index -> [Self] in
            func with(_ change: (inout RandomProof.MadeField) -> Void) -> Self {
                var form = self
                change(&form.fields[index])
                return form
            }
            var forms: [Self] = []
            if fields[index].isUnique { forms.append(with { $0.isUnique = false }) }
            if fields[index].isIndexed { forms.append(with { $0.isIndexed = false }) }
            if !fields[index].earlierNames.isEmpty { forms.append(with { $0.earlierNames = [] }) }
            if fields[index].standard != nil { forms.append(with { $0.standard = nil }) }
            return forms
        }
    }
}
