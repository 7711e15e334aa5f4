/// The links of one relationship: for every parent the ordered keys of its children. What a database supplies for relationships.
///
/// A child may stand in many parents and several times in one. Links say nothing about whether the rows themselves are there. Every method is
/// one atomic call, as those of ``Storage`` are.
public protocol LinkStorage: Sendable {

    /// The children of each parent, in their order.
    ///
    /// - Parameter parents: Keys of parents; a repeated one is answered each time.
    /// - Complexity: A fixed number of engine queries.
    func children(of parents: [Key]) throws -> LinkedKeys

    /// The parents that have any of these children, each once, ascending.
    ///
    /// - Complexity: A fixed number of engine queries.
    func parents(of children: [Key]) throws -> [Key]

    /// How many children each parent has, for the parents that have any, ascending by key.
    func counts() throws -> [(parent: Key, count: Int)]

    /// Gives parents exactly these children, in this order. Of a repeated parent the last list counts.
    ///
    /// - Parameters:
    ///   - children: One list for each parent.
    ///   - parents: The keys of the parents.
    func set(_ children: LinkedKeys, of parents: [Key]) throws

    /// Takes children out of every parent; the others keep their order.
    func remove(children: [Key]) throws

    /// Takes all children from parents.
    func remove(parents: [Key]) throws

    /// Those of the keys that are a child of some parent.
    ///
    /// - Complexity: A fixed number of engine queries.
    func linked(among children: [Key]) throws -> Set<Key>

    // MARK: With a default

    /// The rows that each parent is linked to, in their order. Rows that are not there are left out.
    ///
    /// By default the keys are read, then the rows. A database that can follow links while it reads them replaces this.
    ///
    /// - Parameters:
    ///   - parents: Keys of parents; a repeated one is answered each time.
    ///   - storage: The children's own rows.
    ///   - body: Gets the position of a parent and its rows; called in order, and not for a parent without any. It does not use the database.
    /// - Complexity: A fixed number of engine queries.
    func forEachList<Child: Model>(
        of parents: [Key], in storage: any Storage<Child>, _ body: (Int, [Child]) throws -> Void
    ) throws
}

extension LinkStorage {
    /// Reads the keys, then the rows.
    public func forEachList<Child: Model>(
        of parents: [Key], in storage: any Storage<Child>, _ body: (Int, [Child]) throws -> Void
    ) throws {
        let linked = try children(of: parents)
        if linked.keys.isEmpty { return }
        try linked.forEachList(of: storage.read(keys: linked.keys, includesSubentities: false), body)
    }
}

/// Lists of keys, one after another: some for each parent.
public struct LinkedKeys: Sendable, Hashable {
    /// How many keys each list has.
    public var counts: [Int]
    /// The keys of all lists.
    public var keys: [Key]

    /// Creates lists.
    ///
    /// - Parameters:
    ///   - counts: How many keys each list has.
    ///   - keys: The keys of all lists.
    public init(counts: [Int] = [], keys: [Key] = []) {
        self.counts = counts
        self.keys = keys
    }

    /// Appends a list.
    public mutating func append(_ list: some Collection<Key>) {
        counts.append(list.count)
        keys += list
    }

    /// Gives out the rows of each list that has any.
    ///
    /// - Parameters:
    ///   - rows: What a storage gives for ``keys``: each row once, in the order of its key's first appearance, missing ones left out.
    ///   - body: Gets the position of a list and its rows, in order.
    public func forEachList<Child: Model>(of rows: [Child], _ body: (Int, [Child]) throws -> Void) rethrows {
        // With as many rows as keys, they stand as the keys do.
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

    /// The lists, one by one.
    public var lists: [ArraySlice<Key>] {
        var start = 0
        return counts.map { count in
            defer { start += count }
            return keys[start..<start + count]
        }
    }
}

extension LinkedKeys {
    /// The place of one parent's list among all keys.
    package struct List: Sendable {
        /// The parent.
        package let parent: Key
        /// Where its list is in ``LinkedKeys/keys``.
        package let range: Range<Int>
    }

    /// The list of each parent, in the order of the parents; of a repeated parent only the last.
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
