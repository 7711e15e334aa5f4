/// What is asked of groups beside what they are grouped by, and the totals that are returned.
struct GroupRequest<Record: Model>: Sendable {
    let condition: Condition<Record>
    let order: [GroupOrder<Record>]
    let limit: Int?
    let having: GroupCondition<Record>?

    init(
        _ condition: Condition<Record>, order: [GroupOrder<Record>] = [], limit: Int? = nil,
        having: GroupCondition<Record>? = nil
    ) {
        self.condition = condition
        self.order = order
        self.limit = limit
        self.having = having
    }
}

extension Storage {
    /// Returns the groups of a request. Without keys, all rows are one group.
    func groups<each Key: OrderedFieldValue, each Result: OrderedFieldValue>(
        _ request: GroupRequest<Record>, by keys: repeat GroupKey<Record, each Key>,
        totals: repeat GroupTotal<Record, each Result>
    ) throws -> [(repeat each Key, repeat each Result)] {
        var read = try GroupRead(request, self)
        for key in repeat each keys { read.group(by: try key.place.get(), key.part) }
        for total in repeat each totals { try read.add(total.erased) }
        try read.addOwnTotals()
        if !read.resolvesRelated { return try groups(from: read, by: repeat each keys, totals: repeat each totals) }
        return try database.reads { try groups(from: read, by: repeat each keys, totals: repeat each totals) }
    }

    private func groups<each Key: OrderedFieldValue, each Result: OrderedFieldValue>(
        from read: GroupRead<Record>, by keys: repeat GroupKey<Record, each Key>,
        totals: repeat GroupTotal<Record, each Result>
    ) throws -> [(repeat each Key, repeat each Result)] {
        var read = read
        let (places, prepared) = try read.prepare(readsRows: !read.isCounted)
        var values: [(repeat each Key)] = []
        var running: [(repeat RunningTotal<each Result>)] = []
        // Loops over rows are not over packs: these look up types.
        func begin(_ row: RowReader) throws -> [RowCounter] {
            var (place, total) = (FieldCounter(), FieldCounter())
            values.append((repeat try (each keys).read(from: row, at: places[place.next()])))
            running.append((repeat (each totals).begin(prepared[total.next()])))
            let begun = running[running.count - 1]
            var counters: [RowCounter] = []
            for counter in repeat each begun { counters.append(counter) }
            return counters
        }
        var numbers: [Int] = []
        try readingGroups(by: places) { numbers = try read.run(begin) }

        var groups: [(repeat each Key, repeat each Result)] = []
        groups.reserveCapacity(numbers.count)
        for number in numbers {
            let (value, results) = (values[number], running[number])
            groups.append((repeat each value, repeat try (each results).result()))
        }
        return groups
    }

    /// Returns the totals of the rows that belong to each of some rows, for those that a request asks for.
    ///
    /// - Parameters:
    ///   - request: What is asked for. Its condition is not used.
    ///   - related: How rows of this storage belong to the others.
    ///   - parents: The keys of the others. Equal ones stay in their order.
    /// - Returns: The numbers of the others, in order, with their totals.
    func totals<each Result: OrderedFieldValue>(
        _ request: GroupRequest<Record>, of related: RelatedRows<Record>, for parents: [Key],
        _ totals: repeat GroupTotal<Record, each Result>
    ) throws -> [(parent: Int, totals: (repeat each Result))] {
        var read = try GroupRead(request, self)
        for total in repeat each totals { try read.add(total.erased) }
        try read.addOwnTotals()
        let prepared = try read.prepare(readsRows: read.readsRows(of: related)).totals
        var running: [(repeat RunningTotal<each Result>)] = []
        func begin() -> [RowCounter] {
            var total = FieldCounter()
            running.append((repeat (each totals).begin(prepared[total.next()])))
            let begun = running[running.count - 1]
            var counters: [RowCounter] = []
            for counter in repeat each begun { counters.append(counter) }
            return counters
        }
        var groups: [(parent: Int, totals: (repeat each Result))] = []
        for number in try read.run(of: related, for: parents, begin) {
            let results = running[number]
            groups.append((number, (repeat try (each results).result())))
        }
        return groups
    }

    /// Runs a closure that reads groups by some fields. A group has no key, and neither has the error of a value of these
    /// fields that cannot be read, whether the database looked at it in a row or in an index (contract Q11).
    func readingGroups(by places: [Int], _ body: () throws -> Void) throws {
        do {
            try body()
        } catch var error as StorageError where error.kind == .corruptedValue {
            if places.contains(where: { Record.schema.description.fields[$0].name == error.field }) { error.key = nil }
            throw error
        }
    }
}

/// How rows of a model belong to rows of another: by a relationship of these, or by one of their own that leads to these.
struct RelatedRows<Record: Model> {
    /// The storage of the rows.
    let storage: any Storage<Record>
    /// The links, from the other rows to these.
    let links: any LinkStorage
    /// The position of the field with the key of the other row; nil where links are beside the rows.
    let place: Int?
}

/// A read of groups, without the types of what they are grouped by and of their totals.
private struct GroupRead<Record: Model> {
    /// What a group is made by.
    private struct Maker {
        let place: Int
        let part: (@Sendable (Value) -> Value)?
    }

    private struct Group {
        /// What the group is made by; empty where the storage gave it.
        let values: [Value]
        let counters: [RowCounter]
    }

    private let request: GroupRequest<Record>
    private let storage: any Storage<Record>
    private var keys: [Maker] = []
    private var totals: [ErasedGroupTotal<Record>] = []
    /// The totals by which groups are ordered and chosen.
    private var ownTotals: ArraySlice<ErasedGroupTotal<Record>> = []
    private var prepared: [PreparedTotal] = []
    private var counts: [GroupCount<Record>] = []

    init(_ request: GroupRequest<Record>, _ storage: any Storage<Record>) throws {
        if let limit = request.limit, limit < 0 {
            throw StorageError.negative("limit", limit, Record.schema.description.name)
        }
        self.request = request
        self.storage = storage
    }

    mutating func group(by place: Int, _ part: (@Sendable (Value) -> Value)?) { keys.append(Maker(place: place, part: part)) }

    mutating func add(_ total: ErasedGroupTotal<Record>) throws {
        var preparedTotal = PreparedTotal()
        switch total.source {
        case .values(let place):
            preparedTotal.place = try place.get()
            preparedTotal.fields = [preparedTotal.place]
        case .count(let count):
            if let column = counts.firstIndex(of: count) {
                preparedTotal.column = column
            } else {
                preparedTotal.column = counts.count
                counts.append(count)
            }
            if case .values(let field) = count {
                preparedTotal.place = field
                preparedTotal.fields = [field]
            }
        }
        totals.append(total)
        prepared.append(preparedTotal)
    }

    mutating func addOwnTotals() throws {
        let count = totals.count
        for total in request.order.map(\.total) + (request.having?.totals ?? []) { try add(total) }
        ownTotals = totals[count...]
    }

    /// Whether a storage counts all that is asked for by itself.
    var isCounted: Bool { keys.allSatisfy { $0.part == nil } && totals.allSatisfy { $0.count != nil } }

    /// Whether conditions of totals are resolved by reads of related rows.
    var resolvesRelated: Bool {
        !isCounted
            && totals.contains {
                guard case .rowsMeeting(let condition)? = $0.count else { return false }
                return condition.node.reachesRelated(Record.schema.description)
            }
    }

    /// Returns the positions of the fields, and what the totals of all groups have in common.
    ///
    /// - Parameter readsRows: Whether rows are read for the totals.
    /// - Throws: `.invalidPredicate` for a condition of a total that is not valid for the model.
    mutating func prepare(readsRows: Bool) throws -> (places: [Int], totals: [PreparedTotal]) {
        if readsRows {
            let including = storage as? any IncludingStorage<Record>
            for (number, total) in totals.enumerated() {
                guard case .rowsMeeting(var condition)? = total.count else { continue }
                if let including, condition.node.reachesRelated(Record.schema.description) {
                    condition = try including.withoutRelated(condition)
                }
                prepared[number].filter = try Record.schema.resolved(Query(where: condition)).filter
                prepared[number].fields = prepared[number].filter.fields
            }
        }
        return (keys.map(\.place), prepared)
    }

    /// Reads the groups.
    ///
    /// - Parameter begin: A closure that begins a group with its first row, and returns its totals without the own ones.
    /// - Returns: The numbers of the groups that are asked for, in their order. Groups are numbered as they were begun.
    func run(_ begin: (RowReader) throws -> [RowCounter]) throws -> [Int] {
        var groups: [Group] = []
        func append(_ row: RowReader, _ values: [Value]) throws {
            let counters = try begin(row)
            let own = zip(ownTotals, prepared[counters.count...]).map { $0.begin($1) }
            groups.append(Group(values: values, counters: counters + own))
        }
        if isCounted {
            // A group with less is left out here.
            let leading = request.having == nil ? request.limit : nil
            let terms = request.order.indices.map {
                GroupQuery<Record>.Term(
                    count: prepared[ownTotals.startIndex + $0].column, isAscending: request.order[$0].isAscending)
            }
            let query = GroupQuery(
                by: keys.map(\.place), counting: counts, where: request.condition, order: leading == nil ? [] : terms,
                limit: leading)
            try storage.groups(query) { row, numbers in
                try append(row, [])
                guard let group = groups.last else { return }
                for (counter, total) in zip(group.counters, prepared) { counter.count = numbers[total.column] }
            }
        } else {
            try readRows { values, row in
                try append(row, values)
                return groups[groups.count - 1].counters
            }
        }
        // Without keys, all rows are one group.
        if groups.isEmpty, keys.isEmpty { try append(RowReader(entity: Record.schema.description), []) }
        return try chosen(groups, areInOrder: isCounted)
    }

    /// Whether rows are read for their totals, and not counted by a storage.
    func readsRows(of related: RelatedRows<Record>) -> Bool {
        !isCounted
            || related.place == nil
                && counts.contains { count in
                    if case .values = count { true } else { false }
                }
    }

    /// Reads the totals of the rows that belong to each of some rows.
    ///
    /// - Parameter begin: A closure that begins the group of the next of these rows, and returns its totals without the own ones.
    /// - Returns: The numbers of the rows that are asked for, in their order.
    func run(of related: RelatedRows<Record>, for parents: [Key], _ begin: () -> [RowCounter]) throws -> [Int] {
        if parents.isEmpty { return [] }
        let groups = parents.map { _ in
            let counters = begin()
            return Group(values: [], counters: counters + zip(ownTotals, prepared[counters.count...]).map { $0.begin($1) })
        }
        let numbers = Dictionary(zip(parents.map(\.value), groups.indices), uniquingKeysWith: { $1 })
        if readsRows(of: related) {
            try readRows(of: related, for: parents, numbers) { number, row in
                for counter in groups[number].counters { try counter.add(row) }
            }
        } else {
            try count(related, for: parents, numbers) { number, counted in
                for (counter, total) in zip(groups[number].counters, prepared) { counter.count = counted[total.column] }
            }
        }
        return try chosen(groups, areInOrder: true)
    }

    /// Calls a closure with the number of a row that others belong to, and what is counted of these. Rows without others can be left
    /// out.
    private func count(
        _ related: RelatedRows<Record>, for parents: [Key], _ numbers: [Value: Int], _ body: (Int, [Int]) throws -> Void
    ) throws {
        if let place = related.place {
            var (asked, condition) = (counts, Self.condition(at: place, parents))
            // Rows that nothing counts are not looked at.
            if counts.count == 1, case .rowsMeeting(let counted) = counts[0] {
                (asked, condition) = ([.rows], condition && counted)
            }
            return try storage.groups(GroupQuery(by: [place], counting: asked, where: condition)) { row, counted in
                if let number = numbers[try row.readValue(at: place)] { try body(number, counted) }
            }
        }
        if counts == [.rows] {
            for (parent, count) in try related.links.counts() {
                if let number = numbers[parent.value] { try body(number, [count]) }
            }
            return
        }
        let linked = try related.links.children(of: parents)
        let isLinked = Self.condition(at: Record.schema.description.keyIndex, linked.keys)
        let met = try counts.map { count -> Set<Key>? in
            guard case .rowsMeeting(let condition) = count else { return nil }
            return Set(try storage.keys(Query(where: isLinked && condition)))
        }
        for (number, children) in linked.lists.enumerated() {
            try body(number, met.map { met in met.map { met in children.count { met.contains($0) } } ?? children.count })
        }
    }

    /// Calls a closure with each row and the number of the row that it belongs to, in the order of the keys of the former. A row
    /// that is in a list several times belongs to it as often.
    private func readRows(
        of related: RelatedRows<Record>, for parents: [Key], _ numbers: [Value: Int], _ body: (Int, RowReader) throws -> Void
    ) throws {
        let fields = prepared.reduce(into: Set<Int>()) { $0.formUnion($1.fields) }
        if let place = related.place {
            let query = Query(where: Self.condition(at: place, parents))
            return try storage.readFields(fields.union([place]).sorted(), query) { row in
                if let number = numbers[try row.readValue(at: place)] { try body(number, row) }
            }
        }
        let linked = try related.links.children(of: parents)
        var owners: [Value: [Int]] = [:]
        for (number, children) in linked.lists.enumerated() {
            for child in children { owners[child.value, default: []].append(number) }
        }
        let key = Record.schema.description.keyIndex
        let query = Query(where: Self.condition(at: key, linked.keys))
        try storage.readFields(fields.union([key]).sorted(), query) { row in
            for number in owners[try row.readValue(at: key)] ?? [] { try body(number, row) }
        }
    }

    /// The condition that a field is one of some keys; that of all rows where there are many.
    private static func condition(at place: Int, _ keys: [Key]) -> Condition<Record> {
        keys.count > 1_000 ? .all : Condition(ConditionTree(resolved: .isIn(field: place, keys.map(\.value))))
    }

    /// Reads the rows, and adds each to the totals of its group.
    ///
    /// - Parameter begin: A closure that begins a group, and returns its totals.
    private func readRows(_ begin: ([Value], RowReader) throws -> [RowCounter]) throws {
        let fields = prepared.reduce(into: Set(keys.map(\.place))) { $0.formUnion($1.fields) }.sorted()
        var known: [[Value]: [RowCounter]] = [:]
        // Rows of one group often follow each other.
        var last: (values: [Value], counters: [RowCounter])?
        var values: [Value] = []
        try storage.readFields(fields, Query(where: request.condition)) { row in
            values.removeAll(keepingCapacity: true)
            for key in keys {
                let value = try row.readValue(at: key.place)
                values.append(key.part?(value) ?? value)
            }
            if last?.values != values {
                let counters = try known[values] ?? begin(values, row)
                known[values] = counters
                last = (values, counters)
            }
            for counter in last?.counters ?? [] { try counter.add(row) }
        }
    }

    /// Returns the numbers of the groups that are asked for, in their order.
    ///
    /// - Parameter areInOrder: Whether equal groups are in their order already.
    private func chosen(_ groups: [Group], areInOrder: Bool) throws -> [Int] {
        var numbers = Array(groups.indices)
        if !areInOrder { numbers.sort { groups[$0].values.isOrdered(before: groups[$1].values) } }
        if !ownTotals.isEmpty {
            let own = try groups.map { try $0.counters[ownTotals.startIndex...].map { try $0.value() } }
            if let having = request.having { numbers.removeAll { !having.holds(for: own[$0][request.order.count...]) } }
            let places = Dictionary(zip(numbers, 0...), uniquingKeysWith: { $1 })
            numbers.sort { left, right in
                for (number, term) in request.order.enumerated() {
                    let order = Value.order(own[left][number], own[right][number])
                    if order != 0 { return (order < 0) == term.isAscending }
                }
                return places[left, default: 0] < places[right, default: 0]
            }
        }
        return request.limit.map { Array(numbers.prefix($0)) } ?? numbers
    }
}
