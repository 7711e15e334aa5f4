import DAOCore

/// One step of a script, as plain data: what is not used by its verb keeps its default. Being of one shape,
/// all steps are shrunk alike.
struct RowStep: Sendable {
    /// What is done.
    enum Verb: String, Sendable, CaseIterable {
        /// `dao.create(rows)`.
        case create
        /// `dao.persist(rows)` with a translator that replaces, or, when `flag`, merges.
        case persist
        /// `storage.persist(objects: rows)`.
        case upsert
        /// `storage.merge(keys: of rows)`; throws at row `number`; when `flag`, makes no new rows.
        case merge
        /// `storage.update(query)` with `changes`; throws at row `number`.
        case update
        /// `dao.set` of the one field in `changes`, with the query's condition.
        case set
        /// `dao.findOrCreate(byPrimaryKey: ids[0]) { rows[0] }`.
        case findOrCreate
        /// `dao.erase(rows)`.
        case eraseRows
        /// `dao.erase(byPrimaryKeys: ids)`.
        case eraseKeys
        /// `storage.erase(query)`.
        case eraseQuery
        /// `dao.erase()`.
        case eraseAll
        /// `dao.read(byPrimaryKey: ids[0])`.
        case readKey
        /// `dao.read(byPrimaryKeys: ids)`.
        case readKeys
        /// `dao.read(query)`.
        case read
        /// `dao.count(query)`.
        case count
        /// `storage.keys(query)`.
        case keys
        /// Whether `storage.count` of the query with limit 1 is above zero, as `dao.exists` asks it.
        case exists
        /// `dao.exists(byPrimaryKey: ids[0])`.
        case existsKey
        /// `dao.min` and its like of `field`, with the query's condition.
        case total
        /// `dao.forEach(query)`, left by an error after `number` rows.
        case forEach
        /// `storage.cursor(query)`: reads `number` rows, does `inner`, reads the rest unless `flag`.
        case cursor
        /// `dao.page(query)` of `number` rows until the end, `inner` after the first one; when `flag`,
        /// cursors are encoded between.
        case pages
        /// `database.transaction { inner }`; when `flag`, it throws at its end.
        case transaction
        /// `database.snapshot { before; inner on another thread; after }`.
        case snapshot
        /// `inner`, which only reads, on another thread: it sees the last commit.
        case outside
        /// `inner` on another database of the same location.
        case second
        /// Closes everything and opens it again, or where data does not outlive that, opens another and
        /// closes the first.
        case reopen
        /// `database.compact()`.
        case compact
        /// Asks for the storage of a model that contradicts itself.
        case invalid
        /// `storage.update` of the row with the key `ids[0]`, which adds one to `field`.
        case increment
        /// `dao.create(rows)`, or when `flag` `dao.persist(rows)`, with a translator that does the k-th of
        /// `inner` when it comes to the k-th row, and throws at row `number`. When ``mergesRow``, it merges.
        case translate
        /// `inner`, dealt out to `number` threads that run at once; when `flag`, every other thread has
        /// another database of the location.
        case race
        /// `inner` in a task that has inherited a transaction: after its end, or when `flag` while it waits.
        case outlive
        /// `database.underlying(as:)` with a type that no database has.
        case unpromised
        /// `database.close()` in a transaction, which is refused.
        case closeInside
        /// Closes every database there is and opens them again: everything is there where data outlives that,
        /// nothing elsewhere.
        case leave
        /// `inner` on a database of another location.
        case neighbour
        /// `dao.observeChanges(query)`, and `database.observe` of its keys, while `inner` runs; when `flag`, the result is waited for after each
        /// of the steps.
        case watch
        /// What meets the condition and what meets its negation are together everything, each once.
        case partition
        /// What meets both of two conditions and what meets either are together as many as meet each.
        case inclusion
        /// The condition on twin fields without an index, and inside one that no index serves, gives the
        /// same.
        case indexless
        /// Windows of `number` rows put together are the whole.
        case windows
        /// Every term turned round, the key's too, gives the rows in reverse.
        case reversal
        /// Counting, reading keys, walking, reading `field` alone and grouping by it agree with reading.
        case agreement
    }

    var verb: Verb
    var entity = Entity.note
    var rows: [Row] = []
    /// Keys in their portable form.
    var ids: [String] = []
    var query = QueryDescription()
    var changes: [FieldChange] = []
    /// A second condition.
    var other = PredicateNode.constant(true)
    var field = 0
    var total = Total.min
    var number: Int?
    var flag = false
    var before: [RowStep] = []
    var inner: [RowStep] = []
    var after: [RowStep] = []

    /// All steps inside this one, in the order in which they run.
    var nested: [RowStep] { before + inner + after }

    /// Whether the translator of the step is one that merges: it does its step between reading a row and storing it.
    var mergesRow: Bool { verb == .translate && flag && field == 1 && rows.count == 1 }

    /// The number of steps, including nested steps.
    var size: Int { nested.reduce(1) { $0 + $1.size } }
}

/// A field set to a value by an update.
struct FieldChange: Sendable {
    var field: Int
    var value: Value
}

/// A query as plain data.
struct QueryDescription: Sendable {
    /// One sort term: a field by its stored name, which may be one that is not there, or a condition.
    struct Term: Sendable, Equatable {
        var field: String
        var isAscending: Bool
        var options: TextOptions = []
        var nils: NilPlacement?
        /// The condition whose rows come last in ascending order; nil for a field.
        var condition: PredicateNode?

        /// Whether the rows without a value come first.
        var nilsFirst: Bool { nils.map { $0 == .first } ?? isAscending }

        /// The same term in the opposite order.
        var reversed: Term {
            var term = self
            (term.isAscending, term.nils) = (!isAscending, nils.map { $0 == .first ? .last : .first })
            return term
        }

        func sort<Record: Model>(_ type: Record.Type) -> Sort<Record> {
            if let condition { return isAscending ? .last(Condition(condition)) : .first(Condition(condition)) }
            return .by(field, ascending: isAscending, options, nils: nils)
        }
    }

    var node = PredicateNode.constant(true)
    var order: [Term] = []
    var limit: Int?
    var offset = 0

    func query<Record: Model>(_ type: Record.Type) -> Query<Record> {
        Query(
            where: Condition(node), orderedBy: order.map { $0.sort(type) }, limit: limit,
            offset: offset)
    }
}
