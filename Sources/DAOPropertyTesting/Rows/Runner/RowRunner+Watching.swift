import DAOConformance
import DAOCore

extension RowRunner {
    /// Does steps while a query is observed.
    func watch<Record: TestRecord>(_ operation: RowStep, _ dao: DAO<IdentityTranslator<Record>>, _ opened: OpenDatabase)
        -> Outcome
    {
        var inner: [Outcome] = []
        let own = Outcome.of {
            let watcher = PropertyTesting.Watcher(dao, operation.query.query(Record.self), patience: patience)
            let first = try watcher.latest()
            for step in operation.inner {
                inner.append(perform(step, on: opened))
                if operation.flag { _ = try watcher.latest() }
            }
            let last = try watcher.latest()
            try watcher.stop()
            return .batches([first.map(\.values), last.map(\.values)])
        }
        if case .batches = own { return .nested(inner, own) }
        return inner.isEmpty ? own : .nested(inner, own)
    }
}
