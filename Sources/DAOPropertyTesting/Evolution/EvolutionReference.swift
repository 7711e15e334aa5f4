import DAOConformance
import DAOCore
import Foundation

/// Chapter E of the contract, on rows in plain arrays.
struct EvolutionReference: ReferenceModel {
    /// An entity as it is stored.
    struct Stored {
        var description: EntityDescription
        /// In key order.
        var rows: [Row] = []
    }

    /// By name.
    private(set) var entities: [String: Stored] = [:]
    /// Nil when no version was stored.
    private(set) var version: Int?
    /// The model that was opened last, if its storage is still valid.
    private(set) var model: PropertyTesting.GeneratedEntity?
    /// The models that are open, by the names of their entities.
    private var declared: [String: PropertyTesting.GeneratedEntity] = [:]

    mutating func run(_ step: EvolutionStep) -> [String] {
        switch step {
        case .open(let model, let reopens):
            let isRefused = !reopens && declared[model.name].map { !$0.isDeclared(as: model) } ?? false
            let refusal = isRefused ? ", beside another " + (model.fault ?? "schemaMismatch of \(model.name)") : ""
            // Closing the database ends its storages.
            if reopens || isRefused { (self.model, declared) = (nil, [:]) }
            return result { (copy) throws(EvolutionFailure) in try copy.open(model) }.map { $0 + refusal }
        case .persist(let rows): return result { (copy) throws(EvolutionFailure) in try copy.persist(rows) }
        case .part(let fields, let rows):
            guard let part = model?.part(fields), rows.allSatisfy(part.holds) else { return ["does not fit"] }
            let results = result { (copy) throws(EvolutionFailure) in try copy.persist(rows, through: part) }
            return results.map { (typed(part) + [$0]).joined(separator: "; ") }
        case .erase(let keys): return result { (copy) throws(EvolutionFailure) in try copy.erase(keys) }
        case .evolve(let version, let migrations, let model):
            let plan = plan(version, migrations, model)
            var isUseless = false
            let old = self.model
            let results = result { (copy) throws(EvolutionFailure) in
                try copy.evolve(version, migrations, model)
                // A storage of the earlier version goes on while it has its fields.
                isUseless = old.map { copy.entities[$0.name]?.fits($0) == false } ?? false
                (copy.model, copy.declared) = (nil, [:])
                if let model { try copy.open(model) }
            }
            let late = isUseless ? ", the old storage is schemaMismatch of \(old?.name ?? "")" : ""
            return results.map { plan + "; " + $0 + ($0 == "done" ? late : "") }
        case .copy(let size, let interruption):
            let batches = entities.values.reduce(0) { $0 + ($1.rows.count + size - 1) / size }
            let isInterrupted = interruption.map { $0 <= batches } ?? false
            let rows = entities.values.reduce(0) { $0 + $1.rows.count }
            return ["\(isInterrupted ? "interrupted, " : "")\(rows) rows copied"]
        }
    }

    /// Whether an array has elements that are not of the type that the catalog has for them.
    var hasUnreadable: Bool {
        entities.values.contains { stored in
            stored.rows.contains { row in zip(stored.description.fields, row).contains { !$0.holds($1) } }
        }
    }

    private mutating func result(_ body: (inout Self) throws(EvolutionFailure) -> Void) -> [String] {
        var copy = self
        do {
            try body(&copy)
            self = copy
            return ["done"]
        } catch {
            return error.texts
        }
    }

    // MARK: Rows

    private mutating func persist(_ rows: [Row]) throws(EvolutionFailure) {
        guard let model, rows.allSatisfy(model.holds) else { throw EvolutionFailure("does not fit") }
        try persist(rows, as: model)
    }

    /// Stores rows of a part. Where it lacks a required field it changes the stored rows, which it reads, and
    /// inserts none.
    private mutating func persist(_ rows: [Row], through part: PropertyTesting.GeneratedEntity) throws(EvolutionFailure) {
        var failures: [String] = []
        if let model, let stored = entities[part.name], model.fields.contains(where: { $0.isRequired && !part.has($0.name) }) {
            for row in rows {
                let old = stored.row(row[part.keyIndex]).map { stored.part($0, of: part) }
                if let text = old.map(part.text) {
                    if text.hasPrefix("corruptedValue") { failures.append(text) }
                } else {
                    failures.append("unsupported")
                }
            }
        }
        var copy = self
        do {
            try copy.persist(rows, as: part)
        } catch {
            failures += error.texts
        }
        if !failures.isEmpty { throw EvolutionFailure(any: failures) }
        self = copy
    }

    private mutating func persist(_ rows: [Row], as model: PropertyTesting.GeneratedEntity) throws(EvolutionFailure) {
        guard var stored = entities[model.name] else { throw EvolutionFailure("does not fit") }
        let key = stored.description.keyIndex
        func isSame(_ left: Row, _ right: Row) -> Bool { ReferenceOrder.compare(left[key], right[key]) == 0 }
        func collisions(of row: Row, without absent: [Row]) -> [String] {
            stored.description.uniqueIndexes.flatMap { index -> [String] in
                let unique = UniqueIndex(index, of: stored.description)
                return stored.rows.filter { other in
                    !isSame(other, row) && !absent.contains { isSame($0, other) } && unique.collides(other, row)
                }.map {
                    "uniqueViolation of \(model.name), key \(Self.id(row[key])), conflicting key \(Self.id($0[key])), field "
                        + index.fieldNames
                }
            }
        }
        func put(_ row: Row) {
            stored.rows.removeAll { isSame($0, row) }
            stored.rows.insert(
                row, at: stored.rows.firstIndex { ReferenceOrder.compare($0[key], row[key]) > 0 } ?? stored.rows.count)
        }
        var waiting: [Row] = []
        for declared in rows.map({ $0.map(ReferenceState.stored) }) {
            let row = stored.whole(declared, of: model)
            waiting.removeAll { isSame($0, row) }
            if collisions(of: row, without: []).isEmpty { put(row) } else { waiting.append(row) }
        }
        // Rows that collide in their turn are stored when the call ends (W6).
        for (place, row) in waiting.enumerated() {
            let found = collisions(of: row, without: Array(waiting[(place + 1)...]))
            if !found.isEmpty { throw EvolutionFailure(any: found) }
            put(row)
        }
        entities[model.name] = stored
    }

    private mutating func erase(_ keys: [Value]) throws(EvolutionFailure) {
        guard let model, keys.allSatisfy({ model.fields[model.keyIndex].holds($0) }) else {
            throw EvolutionFailure("does not fit")
        }
        let key = entities[model.name]?.description.keyIndex ?? 0
        entities[model.name]?.rows.removeAll { row in keys.contains { ReferenceOrder.compare(row[key], $0) == 0 } }
    }

    static func id(_ key: Value) -> String { Dump.text(of: ReferenceState.id(key).rawValue) }

    // MARK: Versions

    private mutating func open(_ wanted: PropertyTesting.GeneratedEntity) throws(EvolutionFailure) {
        if let fault = wanted.fault { throw EvolutionFailure(fault) }
        if let stored = entities[wanted.name] {
            entities[wanted.name] = try stored.changed(to: wanted)
        } else {
            entities[wanted.name] = Stored(description: wanted.description)
        }
        model = wanted
        declared[wanted.name] = wanted
    }

    private mutating func evolve(
        _ version: Int, _ migrations: [PropertyTesting.GeneratedMigration], _ wanted: PropertyTesting.GeneratedEntity?
    ) throws(EvolutionFailure) {
        if let fault = wanted?.fault { throw EvolutionFailure(fault) }
        if let stored = self.version, stored > version { throw EvolutionFailure("schemaIsNewer") }
        for migration in steps(migrations) { for action in migration.actions { try perform(action, on: &entities) } }
        if let wanted, let stored = entities[wanted.name] { entities[wanted.name] = try stored.changed(to: wanted) }
        self.version = version
    }

    /// The migrations that have not run yet; none for an empty database.
    private func steps(_ migrations: [PropertyTesting.GeneratedMigration]) -> [PropertyTesting.GeneratedMigration] {
        if version == nil, entities.isEmpty { return [] }
        return migrations.filter { $0.version > version ?? 0 }.sorted { $0.version < $1.version }
    }

    /// The description of the plan.
    private func plan(
        _ version: Int, _ migrations: [PropertyTesting.GeneratedMigration], _ wanted: PropertyTesting.GeneratedEntity?
    ) -> String {
        if let fault = wanted?.fault { return fault }
        if let stored = self.version, stored > version { return "schemaIsNewer" }
        var changes: [String] = []
        if let wanted, let stored = entities[wanted.name],
            stored.isRefused(wanted) || stored.described(as: wanted) != stored.description
        {
            changes = ["\(wanted.name) of \(stored.rows.count) rows" + (stored.isRefused(wanted) ? " needs a step" : "")]
        }
        if self.version == version, changes.isEmpty { return "nothing to do" }
        return "\(self.version ?? 0) to \(version) by \(steps(migrations).map(\.name)), \(changes)"
    }
}

/// The failure of a step. When there are several faults, any of them may be reported.
struct EvolutionFailure: Error {
    var texts: [String]
    init(_ texts: String...) { self.texts = texts }
    init(any texts: [String]) { self.texts = texts }
}

extension PropertyTesting.GeneratedField {
    /// The field as a database describes it.
    var description: FieldDescription {
        FieldDescription(
            name: name, type: FieldType(type.kind, isOptional: isOptional), isPrimaryKey: isKey, isIndexed: isIndexed,
            isUnique: isUnique, defaultValue: defaultValue.map(ReferenceState.stored), content: content)
    }

    private var content: EmbeddedContent? {
        type.kind == .embedded ? type.elements.map { .array(of: $0) } ?? .value : nil
    }

    /// Whether a row cannot be inserted without a value of the field.
    var isRequired: Bool { !isOptional && defaultValue == nil }

    /// Whether a value is one of the field's type.
    func holds(_ value: Value) -> Bool {
        if value.isNull { return isOptional }
        if let choices = KnownValue.all(of: type.type) { return choices.contains { Exact.same($0.value, value) } }
        return description.holds(value)
    }

    /// Whether a stored value can be read as a value of the field's type.
    func reads(_ value: Value) -> Bool {
        switch (type, value) {
        case (_, .null): isOptional
        case (.mood, _), (.level, _): holds(value)
        case (.duration, _): Duration.from(value) != nil
        case (.strings, .string(let json)): Self.decodes([String].self, json)
        case (.optionalStrings, .string(let json)): Self.decodes([String?].self, json)
        case (.optionalInts, .string(let json)): Self.decodes([Int?].self, json)
        case (.doubles, .string(let json)): holds(value) || Self.decodes([Double].self, json)
        case (.shape, .string(let json)): json.hasPrefix("{")
        default: true
        }
    }

    /// A stored value as a model with the field gives it: an array of integers that is read as floating-point numbers is
    /// encoded as these.
    func given(_ value: Value) -> Value {
        guard type == .doubles, case .string(let json) = value,
            let numbers = try? JSONDecoder().decode([Double].self, from: Data(json.utf8))
        else { return value }
        return numbers.fieldValue
    }

    private static func decodes<Array: Decodable>(_ type: Array.Type, _ json: String) -> Bool {
        (try? JSONDecoder().decode(type, from: Data(json.utf8))) != nil
    }
}

extension FieldDescription {
    /// Whether a value is one of the stored type.
    func holds(_ value: Value) -> Bool {
        switch (type.kind, value) {
        case (_, .null): return type.isOptional
        case (.embedded, .string(let json)): return (content ?? .value).canonical(json) != nil
        case (.bool, .bool), (.double, .double), (.decimal, .decimal), (.string, .string), (.data, .data),
            (.uuid, .uuid), (.url, .string), (.date, .date), (.uint64, .unsigned):
            return true
        case (.float, .double(let number)): return number.isNaN || Double(Float(number)) == number
        case (let kind, .integer(let number)): return kind.integerRange?.contains(number) == true
        default: return false
        }
    }
}

extension PropertyTesting.GeneratedEntity {
    /// The model as a database describes it.
    var description: EntityDescription {
        EntityDescription(
            name: name, fields: fields.map(\.description), indexes: indexes)
    }

    /// A part with the fields of these names; nil when there is no such field, or none of them is the key.
    func part(_ names: [String]) -> Self? {
        let fields = names.compactMap { name in self.fields.first { $0.name.hasSameBytes(as: name) } }.map {
            PropertyTesting.GeneratedField($0.name, $0.type, isOptional: $0.isOptional, isKey: $0.isKey)
        }
        return fields.count == names.count && fields.contains(where: \.isKey) ? Self(name, fields) : nil
    }

    func has(_ field: String) -> Bool { fields.contains { $0.name.hasSameBytes(as: field) } }

    /// A row as text, or the error of reading it.
    func text(_ row: Row) -> String {
        // The error names the first of several unreadable fields.
        guard let field = zip(fields, row).first(where: { !$0.reads($1) })?.0 else { return Exact.text(row) }
        return "corruptedValue of \(name), key \(EvolutionReference.id(row[keyIndex])), field \(field.name)"
    }

    /// What contradicts itself in the declaration: fields that trade names. Nil when nothing does.
    var fault: String? {
        let field = fields.first { field in
            var reached = Set(before(field))
            var count = 0
            while count < reached.count {
                count = reached.count
                for name in reached { reached.formUnion(fields.first { $0.name == name }.map(before) ?? []) }
            }
            return reached.contains(field.name)
        }
        return field.map { "invalidSchema of \(name), field \($0.name)" }
    }

    /// Whether another model declares the same.
    func isDeclared(as other: Self) -> Bool {
        description == other.description && fields.map(\.earlierNames) == other.fields.map(\.earlierNames)
            && dropped == other.dropped
    }

    /// The other fields of the model that have an earlier name of a field.
    private func before(_ field: PropertyTesting.GeneratedField) -> [String] {
        fields.map(\.name).filter { $0 != field.name && field.earlierNames.contains($0) }
    }

    /// Whether a row is one of the model's.
    func holds(_ row: Row) -> Bool { row.count == fields.count && zip(fields, row).allSatisfy { $0.holds($1) } }
}
