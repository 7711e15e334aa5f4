/// The links of one relationship: the ordered keys of the children of every parent. A database supplies them
/// for relationships.
///
/// A child can have many parents, and can occur several times in one parent. Links do not imply that the rows
/// exist. Every method is an atomic call, as in ``Storage``.
public protocol LinkStorage: Sendable {

    /// Returns the children of each parent, in their order.
    ///
    /// - Parameter parents: The keys of parents. A repeated parent has a list each time.
    /// - Complexity: A fixed number of engine queries.
    func children(of parents: [Key]) throws -> LinkedKeys

    /// Returns the parents of the given children, without duplicates, in ascending order.
    ///
    /// - Complexity: A fixed number of engine queries.
    func parents(of children: [Key]) throws -> [Key]

    /// Returns the number of children of each parent with children, in ascending order of keys.
    func counts() throws -> [(parent: Key, count: Int)]

    /// Sets the children of parents, in the given order. The last list of a repeated parent is used.
    ///
    /// - Parameters:
    ///   - children: A list for each parent.
    ///   - parents: The keys of the parents.
    func set(_ children: LinkedKeys, of parents: [Key]) throws

    /// Removes children from all parents. The remaining children keep their order.
    func remove(children: [Key]) throws

    /// Removes all children from parents.
    func remove(parents: [Key]) throws

    // MARK: With a default

    /// Whether the links are the values of the relationship's field in the rows of the parents; false by default.
    ///
    /// It is only possible for a to-one relationship. A row is then stored with its link, by
    /// `RowWriter.writeReference(_:at:)`, and erased with it, and conditions on the field are conditions on the
    /// related row's key. ``set(_:of:)`` changes the field in stored rows only.
    var isInRows: Bool { get }

    /// Returns some children of each parent, in no particular order.
    ///
    /// The default returns all. A database that can stop early replaces it.
    ///
    /// - Parameters:
    ///   - parents: The keys of parents. A repeated parent has a list each time.
    ///   - limit: How many children of a parent are enough. A list that has not exactly as many has all of them.
    func children(of parents: [Key], limit: Int) throws -> LinkedKeys

    /// Returns the parents of each child, without duplicates, in ascending order.
    ///
    /// The default finds the parents of all, and then the children of these.
    ///
    /// - Parameters:
    ///   - children: The keys of children. A repeated child has a list each time.
    ///   - limit: How many parents of a child are enough; nil for all. A list that has not exactly as many has all of them. Of a
    ///     to-one relationship they are the first ones, since a refused erasure names the first row that refers; of lists they
    ///     can be any.
    func parents(ofEach children: [Key], limit: Int?) throws -> LinkedKeys

    /// Returns the number of parents of each child with parents, in ascending order of keys. A parent that has a child several
    /// times counts once.
    ///
    /// The default reads all lists.
    func parentCounts() throws -> [(child: Key, count: Int)]

    /// Returns the keys that are a child of any parent.
    ///
    /// The default finds one parent of each.
    ///
    /// - Complexity: A fixed number of engine queries.
    func linked(among children: [Key]) throws -> Set<Key>

    /// Calls a closure with the linked rows of each parent, in their order. Missing rows are skipped.
    ///
    /// The default reads the keys, then the rows. A database that can follow links during the read replaces
    /// it.
    ///
    /// - Parameters:
    ///   - parents: The keys of parents. A repeated parent has a list each time.
    ///   - storage: The storage of the children, without related rows.
    ///   - body: A closure that gets the position of a parent and its rows. It is called in order, and not
    ///     for a parent without rows. It must not use the database.
    /// - Complexity: A fixed number of engine queries.
    func forEachList<Child: Model>(
        of parents: [Key], in storage: any Storage<Child>, _ body: (Int, [Child]) throws -> Void
    ) throws

    /// Compares everything that is stored for a link with the link; whether the rows exist is checked elsewhere. The
    /// default does nothing.
    ///
    /// - Parameter report: A closure that gets each problem.
    func verify(_ report: (StorageError) throws -> Void) throws
}

extension LinkStorage {
    /// Does nothing.
    public func verify(_ report: (StorageError) throws -> Void) throws {}

    /// False: the links are stored beside the rows.
    public var isInRows: Bool { false }

    /// Returns all children.
    public func children(of parents: [Key], limit: Int) throws -> LinkedKeys { try children(of: parents) }

    /// Finds the parents of all children, and then the children of these.
    public func parents(ofEach children: [Key], limit: Int?) throws -> LinkedKeys {
        var lists = Dictionary(children.map { ($0, [Key]()) }, uniquingKeysWith: { $1 })
        let parents = try parents(of: Array(lists.keys))
        for (parent, linked) in zip(parents, try self.children(of: parents).lists) {
            for child in Set(linked) { lists[child]?.append(parent) }
        }
        return children.reduce(into: LinkedKeys()) { $0.append(lists[$1] ?? []) }
    }

    /// Reads all lists.
    public func parentCounts() throws -> [(child: Key, count: Int)] {
        var found: [Key: Int] = [:]
        for children in try children(of: counts().map(\.parent)).lists {
            for child in Set(children) { found[child, default: 0] += 1 }
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Finds one parent of each child.
    public func linked(among children: [Key]) throws -> Set<Key> {
        Set(zip(children, try parents(ofEach: children, limit: 1).counts).lazy.filter { $1 > 0 }.map(\.0))
    }

    /// Reads the keys, then the rows.
    public func forEachList<Child: Model>(
        of parents: [Key], in storage: any Storage<Child>, _ body: (Int, [Child]) throws -> Void
    ) throws {
        let linked = try children(of: parents)
        if linked.keys.isEmpty { return }
        try linked.forEachList(of: storage.read(keys: linked.keys, includesSubentities: false), body)
    }
}

/// Concatenated lists of keys, one list for each parent.
public struct LinkedKeys: Sendable, Hashable {
    /// The number of keys in each list.
    public var counts: [Int]
    /// The keys of all lists, in order.
    public var keys: [Key]

    /// Creates lists.
    ///
    /// - Parameters:
    ///   - counts: The number of keys in each list.
    ///   - keys: The keys of all lists, in order.
    public init(counts: [Int] = [], keys: [Key] = []) {
        self.counts = counts
        self.keys = keys
    }

    /// Appends a list.
    public mutating func append(_ list: some Collection<Key>) {
        counts.append(list.count)
        keys += list
    }

    /// Calls a closure with the rows of each list that has rows.
    ///
    /// - Parameters:
    ///   - rows: The rows that a storage returns for ``keys``: each row once, ordered by the first occurrence
    ///     of its key, without missing rows.
    ///   - body: A closure that gets the position of a list and its rows, in order.
    public func forEachList<Child: Model>(of rows: [Child], _ body: (Int, [Child]) throws -> Void) rethrows {
        // With as many rows as keys, the rows have the order of the keys.
        let places =
            rows.count == keys.count
            ? nil : Dictionary(rows.indices.map { (Child.schema.key(of: rows[$0]), $0) }, uniquingKeysWith: { $1 })
        var start = 0
        for (index, count) in counts.enumerated() where count > 0 {
            let range = start..<start + count
            start += count
            let list = places.map { places in keys[range].compactMap { places[$0].map { rows[$0] } } } ?? Array(rows[range])
            if !list.isEmpty { try body(index, list) }
        }
    }

    /// The lists as separate arrays.
    public var lists: [ArraySlice<Key>] {
        var start = 0
        return counts.map { count in
            defer { start += count }
            return keys[start..<start + count]
        }
    }
}

extension LinkedKeys {
    /// The position of a parent's list among all keys.
    package struct List: Sendable {
        /// The parent.
        package let parent: Key
        /// The range of the list in ``LinkedKeys/keys``.
        package let range: Range<Int>
    }

    /// Returns the list of each parent, in the order of the parents. A repeated parent has only its last
    /// list.
    package func lastLists(of parents: [Key]) -> [List] {
        var lists: [List] = []
        lists.reserveCapacity(parents.count)
        var start = 0
        var isAscending = true
        for (parent, count) in zip(parents, counts) {
            if let last = lists.last, !(last.parent < parent) { isAscending = false }
            lists.append(List(parent: parent, range: start..<start + count))
            start += count
        }
        if isAscending { return lists }
        let last = Dictionary(lists.indices.map { (lists[$0].parent, $0) }, uniquingKeysWith: { $1 })
        return lists.indices.filter { last[lists[$0].parent] == $0 }.map { lists[$0] }
    }
}
