import DAOCore

// How a stored entity becomes the declared one (E2, E3).

extension EvolutionReference.Stored {
    /// The entity as a model declares it.
    func changed(to wanted: PropertyTesting.GeneratedEntity) throws(EvolutionFailure) -> Self {
        if isRefused(wanted) { throw EvolutionFailure("schemaMismatch of \(wanted.name)") }
        let origins = origins(wanted)
        var changed = Self(description: wanted.description)
        changed.rows = rows.map { row in
            wanted.fields.indices.map { index in
                let defaultValue = ReferenceState.stored(wanted.fields[index].defaultValue ?? .null)
                guard let origin = origins[index] else { return defaultValue }
                return row[origin].isNull && !wanted.fields[index].isOptional ? defaultValue : row[origin]
            }
        }
        try changed.checkUnique()
        return changed
    }

    /// Whether it takes a migration step: another type or key, or a required field without a default.
    func isRefused(_ wanted: PropertyTesting.GeneratedEntity) -> Bool {
        let origins = origins(wanted)
        let key = description.keyIndex
        if origins[wanted.keyIndex] != key { return true }
        return wanted.fields.indices.contains { index in
            let field = wanted.fields[index]
            let hasDefault = field.defaultValue?.isNull == false
            guard let origin = origins[index] else { return !field.isOptional && !hasDefault }
            let stored = description.fields[origin].type
            return stored.kind != field.type.kind || (stored.isOptional && !field.isOptional && !hasDefault)
        }
    }

    /// For every declared field the stored one that it is.
    ///
    /// A rename is followed where the new name is free: not stored, or gone to another field by a rename.
    /// What was not renamed is the field of its name.
    private func origins(_ wanted: PropertyTesting.GeneratedEntity) -> [Int?] {
        func position(_ name: String) -> Int? { description.fields.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }
        var origins: [Int?] = wanted.fields.map { _ in nil }
        var goesOn = true
        while goesOn {
            goesOn = false
            for (index, field) in wanted.fields.enumerated() where origins[index] == nil {
                let own = position(field.name)
                guard own == nil || origins.contains(own) else { continue }
                guard let old = field.earlierNames.compactMap(position).first(where: { !origins.contains($0) }) else { continue }
                origins[index] = old
                goesOn = true
            }
        }
        for (index, field) in wanted.fields.enumerated() where origins[index] == nil {
            if let own = position(field.name), !origins.contains(own) { origins[index] = own }
        }
        return origins
    }

    /// Fails where two rows have one value in a unique field; of several such fields any may be named.
    func checkUnique() throws(EvolutionFailure) {
        let fields = description.fields.indices.filter { index in
            description.fields[index].isUnique
                && rows.indices.contains { position in
                    !rows[position][index].isNull
                        && rows[..<position].contains {
                            !$0[index].isNull && ReferenceOrder.compare($0[index], rows[position][index]) == 0
                        }
                }
        }
        if fields.isEmpty { return }
        throw EvolutionFailure(any: fields.map { "uniqueViolation of \(description.name), field \(description.fields[$0].name)" })
    }
}
