import DAOCore

extension EvolutionReference {
    /// Does one thing of a migration.
    func perform(_ action: PropertyTesting.GeneratedMigration.Action, on entities: inout [String: Stored])
        throws(EvolutionFailure)
    {
        func stored(_ name: String) throws(EvolutionFailure) -> Stored {
            guard let stored = entities[name] else { throw EvolutionFailure("schemaMismatch of \(name)") }
            return stored
        }
        func position(_ field: String, _ stored: Stored) throws(EvolutionFailure) -> Int {
            guard let position = stored.description.fields.firstIndex(where: { $0.name == field }) else {
                throw EvolutionFailure("schemaMismatch of \(stored.description.name)")
            }
            return position
        }
        switch action {
        case .changeType(let field, let entity, let old, let new):
            var changed = try stored(entity)
            let index = try position(field, changed)
            guard action.isAbout(changed.description), changed.description.fields[index].type.kind == old.kind else { return }
            changed.description.fields[index].type.kind = new.kind
            changed.description.fields[index].defaultValue = changed.description.fields[index].defaultValue.flatMap {
                Self.converted($0, to: new.kind)
            }
            for row in changed.rows.indices {
                guard let value = Self.converted(changed.rows[row][index], to: new.kind) else {
                    let key = changed.rows[row][changed.description.keyIndex]
                    throw EvolutionFailure("corruptedValue of \(entity), key \(Self.id(key)), field \(field)")
                }
                changed.rows[row][index] = value
            }
            try changed.checkUnique()
            entities[entity] = changed
        case .renameField(let field, let entity, let name):
            var changed = try stored(entity)
            let index = try position(field, changed)
            changed.description.fields[index].name = name
            try checkNames(changed)
            entities[entity] = changed
        case .addField(let field, let entity):
            var changed = try stored(entity)
            changed.description.fields.append(field.description)
            try checkNames(changed)
            let value = ReferenceState.stored(field.defaultValue ?? .null)
            if value.isNull, !field.isOptional { throw EvolutionFailure("schemaMismatch of \(entity)") }
            for row in changed.rows.indices { changed.rows[row].append(value) }
            try changed.checkUnique()
            entities[entity] = changed
        case .dropField(let field, let entity):
            var changed = try stored(entity)
            let index = try position(field, changed)
            guard action.isAbout(changed.description) else { return }
            changed.description.fields.remove(at: index)
            for row in changed.rows.indices { changed.rows[row].remove(at: index) }
            entities[entity] = changed
        case .setIndex(let field, let entity, let isIndexed, let isUnique):
            var changed = try stored(entity)
            let index = try position(field, changed)
            guard action.isAbout(changed.description) else { return }
            let isOrdered = changed.description.fields[index].type.kind.isOrdered
            if !isOrdered, isIndexed || isUnique { throw EvolutionFailure("invalidSchema of \(entity), field \(field)") }
            changed.description.fields[index].isIndexed = isIndexed || isUnique
            changed.description.fields[index].isUnique = isUnique
            try changed.checkUnique()
            entities[entity] = changed
        case .changeKey(let entity, let field):
            let old = try stored(entity)
            let index = try position(field, old)
            guard action.isAbout(old.description) else { return }
            entities[entity] = try old.keyed(by: index)
        case .dropEntity(let entity):
            _ = try stored(entity)
            entities[entity] = nil
        case .renameEntity(let entity, let name):
            var changed = try stored(entity)
            if entity == name { return }
            if entities[name] != nil { throw EvolutionFailure("schemaMismatch of \(name)") }
            changed.description.name = name
            entities[entity] = nil
            entities[name] = changed
        case .set(let field, let entity, let value):
            var changed = try stored(entity)
            guard let first = changed.rows.first else { return }
            let index = try position(field, changed)
            guard action.isAbout(changed.description) else { return }
            guard changed.description.fields[index].holds(value) else {
                let key = Self.id(first[changed.description.keyIndex])
                throw EvolutionFailure("corruptedValue of \(entity), key \(key), field \(field)")
            }
            for row in changed.rows.indices { changed.rows[row][index] = ReferenceState.stored(value) }
            try changed.checkUnique()
            entities[entity] = changed
        case .erase(let number, let entity):
            var changed = try stored(entity)
            changed.rows = changed.rows.enumerated().filter { $0.offset % number != 0 }.map(\.element)
            entities[entity] = changed
        case .fail: throw EvolutionFailure("Abort")
        }
    }

    private func checkNames(_ stored: Stored) throws(EvolutionFailure) {
        var names: Set<String> = []
        for field in stored.description.fields where !names.insert(field.name.lowercased()).inserted {
            throw EvolutionFailure("invalidSchema of \(stored.description.name), field \(field.name)")
        }
    }

    /// The value in another type, where it is exactly that there; for the pairs that scripts have.
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
    /// Whether the action is done on an entity: what is about the primary key is left out.
    func isAbout(_ entity: EntityDescription) -> Bool {
        let name: String? =
            switch self {
            case .changeType(let field, _, _, _), .dropField(let field, _), .setIndex(let field, _, _, _), .set(let field, _, _),
                .changeKey(_, let field):
                field
            default: nil
            }
        if case .changeKey = self, let field = entity.fields.first(where: { $0.name == name }) {
            let kinds: Set<ValueKind> = Set(PropertyTesting.GeneratedType.keys.map(\.kind))
            if !kinds.contains(field.type.kind) || field.isIndexed { return false }
        }
        return name.map { entity.fields[entity.keyIndex].name != $0 } ?? true
    }
}

extension EvolutionReference.Stored {
    /// The rows with another field as their key; it is no longer optional.
    fileprivate func keyed(by index: Int) throws(EvolutionFailure) -> Self {
        let name = description.name
        var keyed = self
        for field in keyed.description.fields.indices { keyed.description.fields[field].isPrimaryKey = field == index }
        keyed.description.fields[index].type.isOptional = false
        keyed.description.fields[index].defaultValue = nil
        if let row = rows.first(where: { $0[index].isNull }) {
            let key = EvolutionReference.id(row[description.keyIndex])
            throw EvolutionFailure("corruptedValue of \(name), key \(key), field \(description.fields[index].name)")
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
