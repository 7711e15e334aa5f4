/// Adds changes of rows without the application's types to the log, where their entity has one (contract D1).
struct RowLog {
    private let log: ChangeLog
    private let entity: EntityDescription

    /// Creates the log of an entity's rows; nil when their changes are not logged.
    init?(of entity: EntityDescription, in database: any Database) throws {
        if entity.log == nil { return nil }
        (self.entity, log) = (entity, try ChangeLog(database))
    }

    private var keepsValues: Bool { entity.log == .values }

    /// Logs new rows.
    func insert(_ rows: [[Value]]) throws {
        try add(rows.map { ChangeLog.Entry(key: try entity.key(of: $0), kind: .inserted, after: keepsValues ? text($0) : nil) })
    }

    /// Logs changed rows: what was stored, and what is.
    func update(_ rows: [(before: [Value], after: [Value])]) throws {
        try add(
            rows.compactMap { before, after in
                let changed = entity.fields.indices.filter { !isList($0) && before[$0] != after[$0] }
                if changed.isEmpty { return nil }
                return ChangeLog.Entry(
                    key: try entity.key(of: after), kind: .updated, before: keepsValues ? text(before) : nil,
                    after: keepsValues ? text(after) : text(after, changed))
            })
    }

    /// Logs erased rows.
    func erase(_ rows: [[Value]]) throws {
        try add(rows.map { ChangeLog.Entry(key: try entity.key(of: $0), kind: .erased, before: keepsValues ? text($0) : nil) })
    }

    /// Returns the changes of a row whose entity is rewritten: it is gone, or new under another key, or has other values.
    ///
    /// - Parameters:
    ///   - before: The values of the row in the entity as it was.
    ///   - stored: That entity.
    ///   - after: The values of the row; nil when it is omitted.
    func rewriting(_ before: [Value], of stored: EntityDescription, as after: [Value]?) throws -> [ChangeLog.Entry] {
        let key = try stored.key(of: before)
        let old = keepsValues ? Self.text(before, of: stored) : nil
        let erased = ChangeLog.Entry(key: key, kind: .erased, before: old)
        guard let after else { return [erased] }
        let newKey = try entity.key(of: after)
        guard newKey == key else {
            return [erased, ChangeLog.Entry(key: newKey, kind: .inserted, after: keepsValues ? text(after) : nil)]
        }
        let changed = entity.fields.indices.filter { index in
            if isList(index) { return false }
            guard let position = stored.index(of: entity.fields[index].name) else { return !after[index].isNull }
            return before[position] != after[index]
        }
        if changed.isEmpty { return [] }
        return [
            ChangeLog.Entry(key: key, kind: .updated, before: old, after: keepsValues ? text(after) : text(after, changed))
        ]
    }

    /// Adds changes.
    func add(_ entries: [ChangeLog.Entry]) throws { try log.add(entries, of: entity.name) }

    private func isList(_ field: Int) -> Bool { entity.fields[field].type.kind == .toMany }

    private func text(_ values: [Value], _ fields: [Int]? = nil) -> String { Self.text(values, of: entity, fields) }

    private static func text(_ values: [Value], of entity: EntityDescription, _ fields: [Int]? = nil) -> String {
        let fields = fields ?? entity.fields.indices.filter { entity.fields[$0].type.kind != .toMany }
        return ChangedValues.text(fields.map { (entity.fields[$0].name, values[$0]) })
    }
}
