import DAOCore

extension EvolutionReference {
    /// Runs one action of a migration.
    func perform(_ action: PropertyTesting.GeneratedMigration.Action, on entities: inout [String: Stored])
        throws(EvolutionFailure)
    {
        guard let (name, field) = action.subject else { throw EvolutionFailure("Abort") }
        guard var changed = entities[name] else { throw EvolutionFailure("schemaMismatch of \(name)") }
        if case .set = action, changed.rows.isEmpty { return }
        let index = field.map { field in changed.description.fields.firstIndex { $0.name == field } } ?? 0
        guard let index else { throw EvolutionFailure("schemaMismatch of \(name)") }
        guard action.isAbout(changed.description) else { return }
        switch action {
        case .changeType(let field, _, let old, let new):
            guard changed.description.fields[index].type.kind == old.kind else { break }
            changed.description.fields[index].type.kind = new.kind
            if old.kind != new.kind {
                changed.description.fields[index].content = nil
                changed.description.indexes.removeAll {
                    $0.isOnElements(of: field) || $0.condition?.fields.contains(field) ?? false
                }
            }
            changed.description.fields[index].defaultValue = changed.description.fields[index].defaultValue.flatMap {
                Self.converted($0, to: new.kind)
            }
            for row in changed.rows.indices {
                guard let value = Self.converted(changed.rows[row][index], to: new.kind) else {
                    throw changed.corruptedValue(of: field, in: changed.rows[row])
                }
                changed.rows[row][index] = value
            }
        case .renameField(let old, _, let new):
            changed.description.fields[index].name = new
            changed.description.indexes = changed.description.indexes.map { $0.renamed { $0 == old ? new : $0 } }
        case .addField(let field, _):
            changed.description.fields.append(field.description)
            try checkNames(changed)
            let value = ReferenceState.stored(field.defaultValue ?? .null)
            if value.isNull, !field.isOptional { throw EvolutionFailure("schemaMismatch of \(name)") }
            for row in changed.rows.indices { changed.rows[row].append(value) }
        case .dropField(let field, _):
            changed.description.fields.remove(at: index)
            changed.description.indexes.removeAll { $0.allFields.contains(field) }
            for row in changed.rows.indices { changed.rows[row].remove(at: index) }
        case .setIndex(let field, _, let isIndexed, let isUnique):
            let isOrdered = changed.description.fields[index].type.kind.isOrdered
            if !isOrdered, isIndexed || isUnique { throw EvolutionFailure("invalidSchema of \(name), field \(field)") }
            changed.description.fields[index].isIndexed = isIndexed || isUnique
            changed.description.fields[index].isUnique = isUnique
        case .changeKey: changed = try changed.keyed(by: index)
        case .dropEntity:
            entities[name] = nil
            return
        case .renameEntity(_, let new):
            if new != name, entities[new] != nil { throw EvolutionFailure("schemaMismatch of \(new)") }
            changed.description.name = new
        case .set(let field, _, let value):
            // An embedded value that stays as it is may be one that the field cannot read.
            let isEmbedded = changed.description.fields[index].type.kind == .embedded
            let wrong = changed.rows.first { !isEmbedded || !Exact.same($0[index], value) }
            if let wrong, !changed.description.fields[index].holds(value) { throw changed.corruptedValue(of: field, in: wrong) }
            for row in changed.rows.indices { changed.rows[row][index] = ReferenceState.stored(value) }
        case .erase(let number, _):
            changed.rows = changed.rows.enumerated().filter { $0.offset % number != 0 }.map(\.element)
        case .fail: break
        }
        try checkNames(changed)
        try changed.checkUnique()
        entities[name] = nil
        entities[changed.description.name] = changed
    }

    private func checkNames(_ stored: Stored) throws(EvolutionFailure) {
        var names: Set<String> = []
        for field in stored.description.fields where !names.insert(field.name.lowercased()).inserted {
            throw EvolutionFailure("invalidSchema of \(stored.description.name), field \(field.name)")
        }
    }

    /// The value converted to another type, if the conversion is exact; for the pairs of types in scripts.
    private static func converted(_ value: Value, to kind: ValueKind) -> Value? {
        switch (value, kind) {
        case (.null, _): return value
        case (.integer(let number), .string): return .string(String(number))
        case (.unsigned(let number), .string): return .string(String(number))
        case (.bool(let flag), .string): return .string(flag ? "true" : "false")
        case (.uuid(let uuid), .string): return .string(uuid.uuidString)
        case (.string, .string), (.unsigned, .uint64): return value
        case (.integer(let number), _): return kind.integerRange?.contains(number) == true ? value : nil
        case (.string(let text), .int64): return Int64(text).map(Value.integer)
        default: return nil
        }
    }
}

extension PropertyTesting.GeneratedMigration.Action {
    /// What the action changes; nil for none.
    var subject: (entity: String, field: String?)? {
        switch self {
        case .changeType(let field, let entity, _, _), .renameField(let field, let entity, _), .dropField(let field, let entity),
            .setIndex(let field, let entity, _, _), .set(let field, let entity, _), .changeKey(let entity, let field):
            (entity, field)
        case .addField(_, let entity), .dropEntity(let entity), .renameEntity(let entity, _), .erase(_, let entity): (entity, nil)
        case .fail: nil
        }
    }

    /// Whether the action runs on an entity. Actions on the primary key are left out.
    func isAbout(_ entity: @autoclosure () throws -> EntityDescription) rethrows -> Bool {
        if case .renameField = self { return true }
        guard let name = subject?.field else { return true }
        let entity = try entity()
        if case .changeKey = self, let field = entity.fields.first(where: { $0.name == name }) {
            let kinds: Set<ValueKind> = Set(PropertyTesting.GeneratedType.keys.map(\.kind))
            if !kinds.contains(field.type.kind) || field.isIndexed { return false }
        }
        return entity.fields[entity.keyIndex].name != name
    }
}

extension EvolutionReference.Stored {
    /// The failure of a row whose value does not fit.
    fileprivate func corruptedValue(of field: String, in row: Row) -> EvolutionFailure {
        let key = EvolutionReference.id(row[description.keyIndex])
        return EvolutionFailure("corruptedValue of \(description.name), key \(key), field \(field)")
    }

    /// The rows with another field as their key; it is no longer optional.
    fileprivate func keyed(by index: Int) throws(EvolutionFailure) -> Self {
        var keyed = self
        for field in keyed.description.fields.indices { keyed.description.fields[field].isPrimaryKey = field == index }
        keyed.description.fields[index].type.isOptional = false
        keyed.description.fields[index].defaultValue = nil
        if let row = rows.first(where: { $0[index].isNull }) {
            throw corruptedValue(of: description.fields[index].name, in: row)
        }
        keyed.rows.sort { ReferenceOrder.compare($0[index], $1[index]) < 0 }
        var faults: [String] = []
        let isRepeated = zip(keyed.rows, keyed.rows.dropFirst()).contains { ReferenceOrder.compare($0[index], $1[index]) == 0 }
        if isRepeated { faults.append("duplicateKey") }
        if rows.contains(where: { if case .string(let text) = $0[index] { text.utf8.count > 256 } else { false } }) {
            faults.append("invalidKey")
        }
        if !faults.isEmpty { throw EvolutionFailure(any: faults) }
        return keyed
    }
}
