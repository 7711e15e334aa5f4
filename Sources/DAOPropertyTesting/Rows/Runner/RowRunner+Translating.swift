import DAOConformance
import DAOCore

extension RowRunner {
    /// Stores rows through a translator that does steps.
    func translate<Record: TestRecord>(
        _ operation: RowStep, _ dao: DAO<Record>, _ opened: OpenDatabase
    ) -> Outcome {
        var inner: [Outcome] = []
        let own = Outcome.of {
            let records = try operation.rows.map { try Record(values: $0) }
            try withoutActuallyEscaping({ (index: Int) throws in
                if index == operation.number { throw PropertyTesting.Abort() }
                guard operation.inner.indices.contains(index) else { return }
                inner.append(self.perform(operation.inner[index], on: opened))
            }) { call in
                if operation.mergesRow {
                    try DAO(storage: dao.storage, translator: PropertyTesting.CallingMerging<Record>(call)).persist(records)
                    return
                }
                let calling = DAO(storage: dao.storage, translator: PropertyTesting.Calling<Record>(call))
                if operation.flag { try calling.persist(records) } else { try calling.create(records) }
            }
            return .done
        }
        return .nested(inner, own)
    }
}
