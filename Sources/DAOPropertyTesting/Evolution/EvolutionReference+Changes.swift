import DAOCore

// How a stored entity becomes what a model declares (E2, E3, E6).

extension EvolutionReference.Stored {
    /// The entity as a model asks for it: fields that the model does not declare stay, except those it drops.
    func changed(to wanted: PropertyTesting.GeneratedEntity) throws(EvolutionFailure) -> Self {
        if isRefused(wanted) { throw EvolutionFailure("schemaMismatch of \(wanted.name)") }
        let origins = origins(wanted)
        func fallback(_ index: Int) -> Value { ReferenceState.stored(wanted.fields[index].defaultValue ?? .null) }
        var changed = Self(description: described(as: wanted))
        let kept = kept(wanted)
        changed.rows = rows.map { row in
            let old = kept.map { position -> Value in
                guard let index = origins.firstIndex(of: position), row[position].isNull, !wanted.fields[index].isOptional else {
                    return row[position]
                }
                return fallback(index)
            }
            return old + wanted.fields.indices.filter { origins[$0] == nil }.map(fallback)
        }
        try changed.checkUnique()
        return changed
    }

    /// What the database says of the entity when a model has been opened.
    func described(as wanted: PropertyTesting.GeneratedEntity) -> EntityDescription {
        let origins = origins(wanted)
        let old = kept(wanted).map { position -> FieldDescription in
            let stored = description.fields[position]
            guard let index = origins.firstIndex(of: position) else { return stored }
            var field = wanted.fields[index].description
            field.defaultValue = field.defaultValue ?? stored.defaultValue
            if field.defaultValue?.isNull == true, !field.type.isOptional { field.defaultValue = nil }
            return field
        }
        let indexes = wanted.indexes + retiredIndexes(wanted, origins)
        return EntityDescription(
            name: description.name,
            fields: old + wanted.fields.indices.filter { origins[$0] == nil }.map { wanted.fields[$0].description },
            indexes: indexes)
    }

    /// The stored indexes over several fields of which a model does not declare one, and drops none.
    private func retiredIndexes(_ wanted: PropertyTesting.GeneratedEntity, _ origins: [Int?]) -> [IndexDescription] {
        let kept = kept(wanted)
        return description.indexes.compactMap { old in
            let positions = old.allFields.compactMap(description.index(of:))
            if !positions.allSatisfy(kept.contains) || positions.allSatisfy(origins.contains) { return nil }
            func current(_ name: String) -> String {
                let declared = description.index(of: name).flatMap { origins.firstIndex(of: $0) }
                return declared.map { wanted.fields[$0].name } ?? name
            }
            return old.renamed(current)
        }
    }

    /// The positions of the stored fields that a model declares or leaves alone.
    private func kept(_ wanted: PropertyTesting.GeneratedEntity) -> [Int] {
        let origins = origins(wanted)
        return description.fields.indices.filter { position in
            origins.contains(position)
                || !wanted.dropped.contains { $0.hasSameBytes(as: description.fields[position].name) }
        }
    }

    /// Whether it takes a migration step: another type or key, a required field without a default, one that is
    /// not declared too, one that can have been renamed, or a name in another case.
    func isRefused(_ wanted: PropertyTesting.GeneratedEntity) -> Bool {
        let origins = origins(wanted)
        let key = description.keyIndex
        if origins[wanted.keyIndex] != key { return true }
        let retired = kept(wanted).filter { !origins.contains($0) }
        if retired.contains(where: { !description.fields[$0].hasValueForNewRows }) { return true }
        let types = Set(wanted.fields.indices.filter { origins[$0] == nil }.map { wanted.fields[$0].description.type })
        if retired.contains(where: { types.contains(description.fields[$0].type) }) { return true }
        if Set(described(as: wanted).fields.map { $0.name.lowercased() }).count < described(as: wanted).fields.count {
            return true
        }
        return wanted.fields.indices.contains { index in
            let field = wanted.fields[index]
            let hasDefault = field.defaultValue?.isNull == false
            guard let origin = origins[index] else { return !field.isOptional && !hasDefault }
            let stored = description.fields[origin].type
            return stored.kind != field.type.kind || (stored.isOptional && !field.isOptional && !hasDefault)
        }
    }

    /// Whether a model can use the entity as it is.
    func fits(_ model: PropertyTesting.GeneratedEntity) -> Bool {
        let isThere = model.fields.allSatisfy { field in
            description.index(of: field.name).map { position in
                let stored = description.fields[position]
                return stored.type == field.description.type && stored.isPrimaryKey == field.isKey
            } ?? false
        }
        return isThere
            && description.fields.allSatisfy { stored in
                stored.hasValueForNewRows || model.has(stored.name)
            }
    }

    /// The row of a model with the fields that it does not declare: as they were, or with their defaults.
    func whole(_ row: Row, of model: PropertyTesting.GeneratedEntity) -> Row {
        let old = self.row(row[model.keyIndex])
        return description.fields.enumerated().map { position, field in
            if let index = model.fields.firstIndex(where: { $0.name.hasSameBytes(as: field.name) }) { return row[index] }
            return old?[position] ?? field.defaultValue ?? .null
        }
    }

    /// The row with a key.
    func row(_ key: Value) -> Row? { rows.first { ReferenceOrder.compare($0[description.keyIndex], key) == 0 } }

    /// The fields of a model in a row.
    func part(_ row: Row, of model: PropertyTesting.GeneratedEntity) -> Row {
        model.fields.map { field in description.index(of: field.name).map { field.given(row[$0]) } ?? .null }
    }

    /// For every declared field the stored one that it is.
    ///
    /// A rename is followed where the new name is free: not stored, or gone to another field by a rename.
    /// What was not renamed is the field of its name.
    private func origins(_ wanted: PropertyTesting.GeneratedEntity) -> [Int?] {
        var origins: [Int?] = wanted.fields.map { _ in nil }
        var goesOn = true
        while goesOn {
            goesOn = false
            for (index, field) in wanted.fields.enumerated() where origins[index] == nil {
                let own = description.index(of: field.name)
                guard own == nil || origins.contains(own) else { continue }
                guard let old = field.earlierNames.compactMap(description.index(of:)).first(where: { !origins.contains($0) })
                else { continue }
                origins[index] = old
                goesOn = true
            }
        }
        for (index, field) in wanted.fields.enumerated() where origins[index] == nil {
            if let own = description.index(of: field.name), !origins.contains(own) { origins[index] = own }
        }
        return origins
    }

    /// Fails where two rows have one value in a unique field; of several such fields any may be named.
    func checkUnique() throws(EvolutionFailure) {
        let indexes = description.uniqueIndexes.filter { index in
            let unique = UniqueIndex(index, of: description)
            return rows.indices.contains { position in
                rows[..<position].contains { unique.collides($0, rows[position]) }
            }
        }
        if indexes.isEmpty { return }
        throw EvolutionFailure(
            any: indexes.map { "uniqueViolation of \(description.name), field \($0.fieldNames)" })
    }
}

extension FieldDescription {
    /// Whether a row can be stored by a model without the field.
    fileprivate var hasValueForNewRows: Bool { type.isOptional || defaultValue.map { !$0.isNull } ?? false }
}
