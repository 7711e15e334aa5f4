import DAOConformance
import DAOCore

extension RowRunner {
    /// A step that is one reading call.
    func read<Record: TestRecord>(_ operation: RowStep, _ dao: DAO<Record>) throws -> Outcome {
        let query = operation.query.query(Record.self)
        switch operation.verb {
        case .readKey: return .row(try dao.read(byPrimaryKey: UniqueID(operation.ids[0]))?.values)
        case .readKeys: return .rows(try dao.read(byPrimaryKeys: operation.ids.map { UniqueID($0) }).map(\.values))
        case .read: return .rows(try dao.read(query).map(\.values))
        case .count: return .number(try dao.count(query))
        case .keys: return .keys(try dao.storage.keys(query).map(\.value))
        case .exists: return .flag(try dao.storage.count(query) > 0)
        case .existsKey: return .flag(try dao.exists(byPrimaryKey: UniqueID(operation.ids[0])))
        case .total:
            guard let total = Record.columns[operation.field].total else { return .wrong("the field has no totals") }
            // The sign and payload of a NaN that arithmetic produces are not defined.
            return .value(ReferenceState.stored(try total(dao, operation.total, query.predicate)))
        case .forEach: return .rows(try PropertyTesting.walk(dao, query, upTo: operation.number).map(\.values))
        default: return .wrong("'\(operation.verb)' is not a reading call")
        }
    }

    /// A step that is one writing call.
    func write<Record: TestRecord>(_ operation: RowStep, _ dao: DAO<Record>) throws -> Outcome {
        let records = try operation.rows.map { try Record(values: $0) }
        switch operation.verb {
        case .create:
            if records.count == 1 { try dao.create(records[0]) } else { try dao.create(records) }
        case .persist:
            if operation.flag {
                try DAO(storage: dao.storage, translator: PropertyTesting.Merging<Record>()).persist(records)
            } else {
                try dao.persist(records)
            }
        case .upsert: try dao.storage.persist(objects: records)
        case .merge:
            return .number(
                try PropertyTesting.merge(records, into: dao.storage, inserts: !operation.flag, failsAt: operation.number))
        case .update:
            var index = 0
            return .number(
                try dao.storage.update(operation.query.query(Record.self)) { record in
                    if index == operation.number { throw PropertyTesting.Abort() }
                    for change in operation.changes { Record.columns[change.field].set(&record, change.value) }
                    index += 1
                })
        case .set:
            let change = operation.changes[0]
            let condition = operation.query.query(Record.self).predicate
            return .number(try Record.columns[change.field].setAll(dao, change.value, condition))
        case .increment:
            let (key, column) = (try Record.schema.key(UniqueID(operation.ids[0])), Record.columns[operation.field])
            let query = Query<Record>(where: Condition(.compare(field: 0, .equal, key.value)))
            return .number(try dao.storage.update(query) { column.set(&$0, column.get($0).incremented) })
        case .findOrCreate: return .row(try dao.findOrCreate(byPrimaryKey: UniqueID(operation.ids[0])) { records[0] }.values)
        case .eraseRows: return .number(try dao.erase(records))
        case .eraseKeys: return .number(try dao.erase(byPrimaryKeys: operation.ids.map { UniqueID($0) }))
        case .eraseQuery: return .number(try dao.storage.erase(operation.query.query(Record.self)))
        case .eraseAll: return .number(try dao.erase())
        default: return .wrong("'\(operation.verb)' is not a writing call")
        }
        return .done
    }
}
