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

    /// The lists, one by one.
    public var lists: [ArraySlice<Key>] {
        var start = 0
        return counts.map { count in
            defer { start += count }
            return keys[start..<start + count]
        }
    }
}
