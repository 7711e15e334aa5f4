import DAOConformance
import DAOCore

/// Runs steps on a database.
final class EvolutionRunner: DatabaseRunner {
    private let target: ConformanceTarget
    private let location: ConformanceTarget.Location
    private var database: any Database
    private var copies = 0
    /// Every version of every model keeps its type until the end.
    private var models: [GeneratedModel] = []
    /// The storage of the model that was opened last.
    private var rows: (any EvolutionRows)?
    /// The models that are open, by the names of their entities.
    private var declared: [String: PropertyTesting.GeneratedEntity] = [:]

    init(_ target: ConformanceTarget, at location: ConformanceTarget.Location) throws {
        (self.target, self.location) = (target, location)
        database = try target.open(location)
    }

    var verified: (any Database)? { database }

    func close() throws {
        rows = nil
        try database.close()
    }

    var isAble: Bool { database.capabilities.hasEvolution }

    func run(_ step: EvolutionStep) -> String {
        do {
            switch step {
            case .open(let model, let reopens): return try open(model, reopens: reopens)
            case .persist(let values):
                guard let rows, values.allSatisfy(rows.entity.holds) else { return "does not fit" }
                try rows.persist(values)
            case .part(let fields, let values):
                guard let rows, let part = rows.entity.part(fields), values.allSatisfy(part.holds) else {
                    return "does not fit"
                }
                let stored = try storage(make(part, partOf: rows.model.type), in: database)
                let outcome = Self.text(withKeys: true) { try stored.persist(values) }
                return try (stored.texts() + [outcome]).joined(separator: "; ")
            case .erase(let keys):
                guard let rows, keys.allSatisfy({ rows.entity.fields[rows.entity.keyIndex].holds($0) }) else {
                    return "does not fit"
                }
                try rows.erase(keys)
            case .evolve(let version, let migrations, let model):
                let made = model.map { make($0) }
                let evolution = Evolution(
                    version: version, migrations: migrations.map(\.migration), models: made.map { [$0.type] } ?? [])
                return try plan(evolution) + "; " + Self.outcome { try evolve(evolution, made) }
            case .copy(let size, let interruption): return try copy(size, interruption)
            }
            return "done"
        } catch {
            return Self.text(of: error, withKeys: { if case .persist = step { true } else { false } }())
        }
    }

    private func make(_ entity: PropertyTesting.GeneratedEntity, partOf whole: (any TestRecord.Type)? = nil) -> GeneratedModel {
        let model = GeneratedModel(entity, number: models.count, partOf: whole)
        models.append(model)
        return model
    }

    private func open(_ entity: PropertyTesting.GeneratedEntity, reopens: Bool) throws -> String {
        let model = make(entity)
        let isRefused = !reopens && declared[entity.name].map { !$0.isDeclared(as: entity) } ?? false
        let refusal = isRefused ? ", beside another " + Self.text { _ = try storage(model, in: database) } : ""
        if reopens || isRefused { try reopen() }
        let result = Self.text {
            rows = try storage(model, in: database)
            declared[entity.name] = entity
        }
        return result + refusal
    }

    /// Opens the database again. No model is open then.
    private func reopen() throws {
        (rows, declared) = (nil, [:])
        let old = database
        if old.capabilities.isPersistent { try old.close() }
        database = try target.open(location)
        if !old.capabilities.isPersistent { try old.close() }
    }

    private func evolve(_ evolution: Evolution, _ model: GeneratedModel?) throws -> String {
        try database.evolve(evolution)
        var late = "done"
        if let rows, try database.entities().contains(where: { $0.name == rows.entity.name }) {
            late = Self.text { _ = try rows.texts() }
        }
        try reopen()
        if let model {
            rows = try storage(model, in: database)
            declared[model.entity.name] = model.entity
        }
        return late == "done" ? late : "done, the old storage is \(late)"
    }

    private func plan(_ evolution: Evolution) throws -> String {
        do {
            guard let plan = try database.pendingMigration(evolution) else { return "nothing to do" }
            let changes = plan.automaticChanges.map {
                "\($0.entity) of \($0.rows) rows" + ($0.obstacles.isEmpty ? "" : " needs a step")
            }
            return "\(plan.from) to \(plan.to) by \(plan.steps), \(changes)"
        } catch {
            return Self.text(of: error)
        }
    }

    private func copy(_ size: Int, _ interruption: Int?) throws -> String {
        copies += 1
        let other = try target.open(location.appending("copy\(copies)"))
        defer { try? other.close() }
        var batches = 0
        var isInterrupted = false
        do {
            try database.copy(to: other, rowLimit: size) { _ in
                batches += 1
                if batches == interruption { throw PropertyTesting.Abort() }
            }
        } catch is PropertyTesting.Abort {
            isInterrupted = true
            try database.copy(to: other, rowLimit: size) { _ in }
        }
        let report = try database.copy(to: other, rowLimit: size) { _ in }
        let here = try lines(of: database, rows)
        let there = try lines(of: other, rows.map { rows in try storage(rows.model, in: other) })
        guard here == there else { return "of \(here.joined(separator: "; ")) the copy is \(there.joined(separator: "; "))" }
        if report.rowsWritten > 0 { return "a finished copy writes \(report.rowsWritten) rows" }
        return "\(isInterrupted ? "interrupted, " : "")\(report.rows.values.reduce(0, +)) rows copied"
    }

    private func storage(_ model: GeneratedModel, in database: any Database) throws -> any EvolutionRows {
        func storage<Record: TestRecord>(_ type: Record.Type) throws -> any EvolutionRows {
            TypedRows(model: model, storage: try database.storage(for: type))
        }
        return try storage(model.type)
    }

    func lines() throws -> [String] { try lines(of: database, rows) }

    private func lines(of database: any Database, _ rows: (any EvolutionRows)?) throws -> [String] {
        let described = try database.entities().sorted { $0.name < $1.name }
        let stored = try database.withEntityStore(.read) { store in
            try store.entities().sorted { $0.name < $1.name }.map { entity in
                EvolutionReference.Stored(description: entity, rows: try store.rows(of: entity.name).map(\.values))
            }
        }
        let version = try database.schemaVersion
        return EvolutionContent.lines(described, stored, version: version) + (try rows?.texts() ?? [])
    }
}

extension EvolutionRunner {
    private static func text(withKeys: Bool = false, _ body: () throws -> Void) -> String {
        outcome(withKeys: withKeys) {
            try body()
            return "done"
        }
    }

    private static func outcome(withKeys: Bool = false, _ body: () throws -> String) -> String {
        do {
            return try body()
        } catch {
            return text(of: error, withKeys: withKeys)
        }
    }

    /// The parts of an error that the contract defines.
    fileprivate static func text(of error: any Error, withKeys: Bool = false) -> String {
        guard let error = error as? StorageError else { return error is PropertyTesting.Abort ? "Abort" : "\(error)" }
        var text = error.kind.rawValue
        func add(_ name: String, _ value: String?) { if let value { text += name + value } }
        switch error.kind {
        case .schemaMismatch: add(" of ", error.entity)
        case .invalidSchema:
            add(" of ", error.entity)
            add(", field ", error.field)
        case .corruptedValue, .uniqueViolation:
            add(" of ", error.entity)
            if error.kind == .corruptedValue || withKeys {
                add(", key ", error.key.map { Dump.text(of: $0.rawValue) })
                add(", conflicting key ", error.conflictingKey.map { Dump.text(of: $0.rawValue) })
            } else if error.key == nil || error.conflictingKey == nil {
                text += " without the keys"
            }
            add(", field ", error.field)
        default: break
        }
        return text
    }
}

extension EntityStore {
    /// The rows of an entity, in key order.
    fileprivate func rows(of entity: String) throws -> [(key: Key, values: Row)] {
        var rows: [(key: Key, values: Row)] = []
        try forEachRow(of: entity, after: nil) { key, values in
            rows.append((key, values))
            return true
        }
        return rows
    }
}

/// The rows of a model, without its type.
private protocol EvolutionRows {
    var model: GeneratedModel { get }
    func persist(_ rows: [Row]) throws
    func erase(_ keys: [Value]) throws
    /// The rows, read in every way.
    func texts() throws -> [String]
}

extension EvolutionRows {
    var entity: PropertyTesting.GeneratedEntity { model.entity }
}

private struct TypedRows<Record: TestRecord>: EvolutionRows {
    let model: GeneratedModel
    let storage: any Storage<Record>

    func persist(_ rows: [Row]) throws { try storage.persist(objects: try rows.map { try Record(values: $0) }) }

    func erase(_ keys: [Value]) throws {
        _ = try storage.erase(keys: keys.map { try Record.schema.key(ReferenceState.id($0)) })
    }

    func texts() throws -> [String] {
        let all = try Self.unlessUnreadable { try storage.read(Query()).map(text).joined(separator: " ") }
        let keys = try storage.database.withEntityStore(.read) { try $0.rows(of: entity.name).map(\.key) }
        let each = try keys.map { key in
            try Self.unlessUnreadable {
                try storage.read(keys: [key], includesSubentities: true).map(text).joined(separator: " ")
            }
        }
        let reported = Shared<[String]>([])
        let report = UnreadableRows.report { error in reported.change { $0.append(EvolutionRunner.text(of: error)) } }
        let given = try DAO(storage: storage).read(unreadable: report).map(text) + reported.value
        var lines = [
            "read: " + all, "one by one: " + each.joined(separator: " "),
            "given and reported: " + given.joined(separator: " "),
        ]
        guard !all.hasPrefix("corruptedValue") else { return lines }
        for (index, field) in entity.fields.enumerated() where field.isIndexed || field.isUnique {
            for value in try EvolutionContent.sample(storage.read(Query()).map { Record.schema.value(at: index, of: $0) }) {
                let found = try storage.keys(Query(where: Condition(.compare(field: index, .equal, value))))
                lines.append("\(field.name) \(Exact.text(value)): " + found.map { Exact.text($0.value) }.joined(separator: " "))
            }
            let order = try storage.keys(Query(orderedBy: [.by(field.name)])).map { Exact.text($0.value) }
            lines.append("by \(field.name): " + order.joined(separator: " "))
        }
        for index in entity.indexes {
            if index.elements != nil {
                for record in EvolutionContent.sample(try storage.read(Query())) {
                    let key = Exact.text(Record.schema.key(of: record).value)
                    let row = entity.fields.indices.map { Record.schema.value(at: $0, of: record) }
                    for condition in entity.conditions(on: index, of: row) {
                        let found = try storage.keys(Query(where: Condition(condition))).map { Exact.text($0.value) }
                        lines.append("with an element of \(key) in \(index): " + found.joined(separator: " "))
                    }
                }
                continue
            }
            let terms = entity.terms(of: index)
            if let condition = index.condition?.node(of: entity.fields.map(\.name)) {
                let found = try storage.keys(Query(where: Condition(condition))).map { Exact.text($0.value) }
                lines.append("in \(index): " + found.joined(separator: " "))
            }
            let order = try storage.keys(Query(orderedBy: index.fields.map { .by($0.name, ascending: $0.isAscending) }))
            lines.append("by \(index): " + order.map { Exact.text($0.value) }.joined(separator: " "))
            for record in EvolutionContent.sample(try storage.read(Query())) {
                let values = terms.map {
                    Condition<Record>(.compare(field: $0.field, .equal, Record.schema.value(at: $0.field, of: record)))
                }
                let count = try storage.count(Query(where: values.dropFirst().reduce(values[0]) { $0 && $1 }))
                lines.append("as \(Exact.text(Record.schema.key(of: record).value)) in \(index): \(count)")
            }
        }
        return lines
    }

    private func text(_ record: Record) -> String {
        let schema = Record.schema
        return Exact.text(entity.fields.indices.map { schema.value(at: $0, of: record) })
    }

    private static func unlessUnreadable(_ body: () throws -> String) throws -> String {
        do {
            return try body()
        } catch let error as StorageError where error.kind == .corruptedValue {
            return EvolutionRunner.text(of: error)
        }
    }
}

extension PropertyTesting.GeneratedMigration {
    /// The migration itself.
    fileprivate var migration: Migration {
        Migration(to: version, name) { step in for action in actions { try action.perform(step) } }
    }
}

extension PropertyTesting.GeneratedMigration.Action {
    fileprivate func perform(_ step: MigrationStep) throws {
        if let name = subject?.entity, try !isAbout(step.entity(name)) { return }
        switch self {
        case .changeType(let field, let name, let old, let new):
            let stored = try step.entity(name).fields.first { $0.name == field }?.type
            if let stored, stored.kind != old.kind { return }
            try step.changeType(of: field, in: name, to: FieldType(new.kind, isOptional: stored?.isOptional ?? false))
        case .renameField(let field, let name, let newName): try step.renameField(field, of: name, to: newName)
        case .addField(let field, let name): try step.addField(field.description, to: name, value: field.defaultValue ?? .null)
        case .dropField(let field, let name): try step.dropField(field, of: name)
        case .setIndex(let field, let name, let isIndexed, let isUnique):
            try step.setIndex(on: field, of: name, isIndexed: isIndexed, isUnique: isUnique)
        case .changeKey(let name, let field): try step.changeKey(of: name, to: field)
        case .dropEntity(let name): try step.dropEntity(name)
        case .renameEntity(let name, let newName): try step.renameEntity(name, to: newName)
        case .set(let field, let name, let value): try step.forEachRow(of: name) { $0[field] = value }
        case .erase(let number, let name):
            var position = 0
            try step.forEachRow(of: name) { row in
                if position % number == 0 { row.erase() }
                position += 1
            }
        case .fail: throw PropertyTesting.Abort()
        }
    }
}
