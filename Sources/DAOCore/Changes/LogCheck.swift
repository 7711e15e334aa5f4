import Foundation

/// Compares the rows of logged entities with what the log says of them. They differ where something has written the rows past the
/// library, or a part of a commit is gone (contract D1, L9).
struct LogCheck {
    /// What the log says of a row: the hashes of the values that it has, by the positions of their fields; nil when it is gone.
    private typealias State = [Int: Int]?

    private let entities: [String: EntityDescription]

    init(_ entities: [EntityDescription]) {
        self.entities = Dictionary(
            entities.filter { $0.log != nil }.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// - Complexity: It reads the log and the rows of logged entities, and keeps the keys of the log in memory.
    func run(_ store: any EntityStore, _ isCancelled: () -> Bool, _ report: (StorageError) -> Void) throws {
        // A copy that has not ended can have a part of the log beside all rows, or of the rows beside the whole log.
        guard !entities.isEmpty, let log = try store.entity(named: ChangeRow.schema.description.name),
            try !DatabaseCopy.isUnfinished(in: store)
        else { return }
        var states = try states(store, log, isCancelled)
        for (name, entity) in entities.sorted(by: { $0.key < $1.key }) {
            guard var known = states.removeValue(forKey: name) else { continue }
            var count = 0
            try store.forEachRow(of: name, after: nil) { key, values in
                count += 1
                if count % 1000 == 0, isCancelled() { throw CancellationError() }
                guard let state = known.removeValue(forKey: UniqueID(key)) else { return true }
                guard let state else {
                    report(Self.problem(entity, UniqueID(key), nil, "is stored, and the log of changes says that it was erased"))
                    return true
                }
                for (field, hash) in state where Self.hash(values[field], entity, field) != hash {
                    report(
                        Self.problem(
                            entity, UniqueID(key), field,
                            "has another value in '\(entity.fields[field].name)' than the log of changes"))
                }
                return true
            }
            for (key, state) in known where state != nil {
                report(Self.problem(entity, key, nil, "is not stored, and the log of changes does not say that it was erased"))
            }
        }
    }

    private func states(
        _ store: any EntityStore, _ log: EntityDescription, _ isCancelled: () -> Bool
    ) throws -> [String: [UniqueID: State]] {
        var states: [String: [UniqueID: State]] = [:]
        let positions = ["entity", "date", "key", "kind", "after"].compactMap { log.index(of: $0) }
        guard positions.count == 5 else { return [:] }
        var count = 0
        try store.forEachRow(of: log.name, after: nil) { _, values in
            count += 1
            if count % 1000 == 0, isCancelled() { throw CancellationError() }
            guard case .string(let name) = values[positions[0]], case .date(let date) = values[positions[1]],
                case .string(let text) = values[positions[2]], case .integer(let kind) = values[positions[3]],
                let entity = entities[name], date >= entity.logSince ?? .distantPast
            else { return true }
            let key = UniqueID(text)
            if Change.Kind(rawValue: Int(kind)) == .erased {
                states[name, default: [:]].updateValue(nil, forKey: key)
                return true
            }
            var state: [Int: Int] = [:]
            if Change.Kind(rawValue: Int(kind)) == .updated, case .some(.some(let known)) = states[name]?[key] { state = known }
            if case .string(let after) = values[positions[4]] {
                let contents = try ChangedValues.contents(after, entity: name, key: key)
                for (field, value) in contents.values {
                    guard let position = entity.index(of: field) else { continue }
                    state[position] = Self.hash(value, entity, position)
                }
            }
            states[name, default: [:]].updateValue(state, forKey: key)
            return true
        }
        return states
    }

    /// What stands for a value; nil where it is a key of another row, which need not be in the row.
    private static func hash(_ value: Value, _ entity: EntityDescription, _ field: Int) -> Int? {
        if entity.fields[field].type.kind.isRelationship { return nil }
        return (try? entity.canonical(value, at: field))?.hashValue
    }

    private static func problem(_ entity: EntityDescription, _ key: UniqueID, _ field: Int?, _ what: String) -> StorageError {
        StorageError(
            .corruptedValue,
            "the row \(what); a program has written it past the log, or the file is damaged: restore a backup, or end the log with "
                + "'unlogged()' and begin it again",
            entity: entity.name, key: key, field: field.map { entity.fields[$0].name })
    }
}
