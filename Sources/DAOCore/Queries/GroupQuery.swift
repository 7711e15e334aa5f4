/// What is asked of groups of rows: those that meet a condition, grouped by the values of some fields.
public struct GroupQuery<Record: Model>: Sendable {
    /// A term of the order of groups.
    public struct Term: Sendable, Hashable {
        /// The number of the count in ``GroupQuery/counts``.
        public var count: Int
        /// Whether the order is ascending.
        public var isAscending: Bool

        /// Creates a term.
        public init(count: Int, isAscending: Bool) {
            self.count = count
            self.isAscending = isAscending
        }
    }

    /// The positions of the fields. They are not lists. Without fields, all rows are one group.
    public var fields: [Int]
    /// What is counted in each group. Without it, an index leads from group to group.
    public var counts: [GroupCount<Record>]
    /// The condition that rows must meet.
    public var condition: Condition<Record>
    /// The order in which ``limit`` takes groups, before that of the fields.
    public var order: [Term]
    /// How many groups, the first ones in the order, are needed; nil for all. A storage can give others too.
    public var limit: Int?

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - fields: The positions of the fields.
    ///   - counts: What is counted in each group.
    ///   - condition: The condition that rows must meet.
    ///   - order: The order in which the limit takes groups.
    ///   - limit: How many groups are needed; nil for all.
    public init(
        by fields: [Int], counting counts: [GroupCount<Record>] = [], where condition: Condition<Record> = .all,
        order: [Term] = [], limit: Int? = nil
    ) {
        self.fields = fields
        self.counts = counts
        self.condition = condition
        self.order = order
        self.limit = limit
    }

    /// The conditions of ``counts``.
    package var countedConditions: [Condition<Record>] {
        counts.compactMap { if case .rowsMeeting(let condition) = $0 { condition } else { nil } }
    }

    /// Returns the counts with their conditions replaced.
    func counts(changing change: (Condition<Record>) throws -> Condition<Record>) rethrows -> [GroupCount<Record>] {
        try counts.map { if case .rowsMeeting(let condition) = $0 { .rowsMeeting(try change(condition)) } else { $0 } }
    }

    /// Whether groups are made by one of some fields, or have different values of it counted.
    func uses(_ fields: Set<Int>) -> Bool {
        !fields.isDisjoint(with: self.fields)
            || counts.contains { if case .values(let field) = $0 { fields.contains(field) } else { false } }
    }
}

/// Groups of rows while these are counted one by one.
package struct CountedGroups {
    private enum Counter {
        case rows
        case rowsMeeting(Filter)
        case values(field: Int)
    }

    /// A group.
    private struct Group {
        let values: [Value]
        var counts: [Int]
        /// The values that were counted, for each count of values.
        var seen: [Set<Value>]
    }

    /// The fields that rows are read for.
    package let fields: [Int]
    private let entity: EntityDescription
    private let groupFields: [Int]
    private let counters: [Counter]
    private let valueCount: Int
    private var groups: [Group] = []
    private var numbers: [[Value]: Int] = [:]
    /// The number of the group of the last row: rows of one group often follow each other.
    private var last = -1
    private var current: [Value] = []

    /// Creates groups without rows.
    ///
    /// - Throws: `.invalidPredicate` for a condition of a count that is not valid for the model.
    package init<Record: Model>(_ query: GroupQuery<Record>) throws {
        entity = Record.schema.description
        groupFields = query.fields
        var (fields, counters) = (Set(query.fields), [Counter]())
        for count in query.counts {
            switch count {
            case .rows: counters.append(.rows)
            case .rowsMeeting(let condition):
                let filter = try Record.schema.resolved(Query(where: condition)).filter
                fields.formUnion(filter.fields)
                counters.append(.rowsMeeting(filter))
            case .values(let field):
                fields.insert(field)
                counters.append(.values(field: field))
            }
        }
        self.counters = counters
        valueCount = counters.count { if case .values = $0 { true } else { false } }
        self.fields = fields.sorted()
    }

    /// Adds a row to its group.
    package mutating func add(_ row: RowReader) throws {
        current.removeAll(keepingCapacity: true)
        for field in groupFields { current.append(try row.readValue(at: field)) }
        if last < 0 || groups[last].values != current {
            last = numbers[current] ?? groups.count
            if last == groups.count {
                numbers[current] = last
                groups.append(
                    Group(
                        values: current, counts: Array(repeating: 0, count: counters.count),
                        seen: Array(repeating: [], count: valueCount)))
            }
        }
        var valueNumber = 0
        for (number, counter) in counters.enumerated() {
            switch counter {
            case .rows: groups[last].counts[number] += 1
            case .rowsMeeting(let filter):
                if try filter.matches({ try row.readValue(at: $0) }) { groups[last].counts[number] += 1 }
            case .values(let field):
                let value = try row.readValue(at: field)
                if !value.isNull, groups[last].seen[valueNumber].insert(value).inserted { groups[last].counts[number] += 1 }
                valueNumber += 1
            }
        }
    }

    /// Calls a closure for each group, with a reader of its fields and with its counts. Groups ascend by the fields in turn.
    package func forEach(_ body: (RowReader, [Int]) throws -> Void) throws {
        for group in groups.sorted(by: { $0.values.isOrdered(before: $1.values) }) {
            let writer = ValueRowWriter(count: entity.fields.count)
            for (field, value) in zip(groupFields, group.values) {
                if entity.fields[field].type.kind == .toOne {
                    writer.values[field] = value
                } else {
                    try entity.write(value, at: field, to: writer)
                }
            }
            try body(ValueRowReader(entity: entity, values: writer.values), group.counts)
        }
    }
}
