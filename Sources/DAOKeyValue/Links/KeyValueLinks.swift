import DAOCore

/// The links of a relationship, in separate keyspaces; see ``LinkTable`` for the format.
struct KeyValueLinks: LinkStorage {
    let database: KeyValueDatabase
    let relation: RelationDescription

    var verifies: Bool { database.options.usesChecksums }

    func children(of parents: [Key]) throws -> LinkedKeys { try children(of: parents, limit: .max) }

    func children(of parents: [Key], limit: Int) throws -> LinkedKeys {
        var linked = LinkedKeys(counts: Array(repeating: 0, count: parents.count))
        try read { table, handle in
            try withWalk(table, handle) { walk in
                for (index, parent) in parents.enumerated() {
                    try walk.begin(parent)
                    let start = linked.keys.count
                    while linked.keys.count - start < limit, try walk.next() {
                        linked.keys.append(try key(walk.child, table.childForm, table))
                        try walk.leave()
                    }
                    linked.counts[index] = linked.keys.count - start
                }
            }
            return linked.keys.count
        }
        return linked
    }

    func counts() throws -> [(parent: Key, count: Int)] {
        var counts: [(parent: Key, count: Int)] = []
        try read { table, handle in
            let cursor = try handle.transaction.cursor()
            var isThere = try table.keyspace.prefix.withUnsafeBytes(cursor.seek)
            // The keys of a parent have a common prefix. It is copied, because it is compared with many keys.
            var current: [UInt8] = []
            while isThere, table.keyspace.isPrefix(of: cursor.key) {
                guard let parent = table.parent(in: cursor.key),
                    cursor.key.count == table.listLength(parent) + LinkTable.positionLength
                else { throw table.corrupted }
                if counts.isEmpty || parent.bytes.order(against: current) != 0 {
                    current = Array(parent.bytes)
                    counts.append((try key(parent.bytes, table.parentForm, table), 0))
                }
                counts[counts.count - 1].count += 1
                isThere = try cursor.next()
            }
            return counts.reduce(0) { $0 + $1.count }
        }
        // Strings are ordered by length first.
        return counts.sorted { $0.parent < $1.parent }
    }

    func parents(of children: [Key]) throws -> [Key] {
        var parents: Set<Key> = []
        try forEachParent(of: children) { _, parent in
            parents.insert(parent)
            return true
        }
        return parents.sorted()
    }

    func parents(ofEach children: [Key], limit: Int?) throws -> LinkedKeys {
        var parents = Array(repeating: Set<Key>(), count: children.count)
        try forEachParent(of: children) { child, parent in
            parents[child].insert(parent)
            return limit.map { parents[child].count < $0 } ?? true
        }
        return parents.reduce(into: LinkedKeys()) { $0.append($1.sorted()) }
    }

    func forEachList<Child: Model>(
        of parents: [Key], in storage: any Storage<Child>, _ body: (Int, [Child]) throws -> Void
    ) throws {
        guard let storage = storage as? KeyValueStorage<Child>, storage.keyValueDatabase === database else {
            let linked = try children(of: parents)
            return try linked.forEachList(of: storage.read(keys: linked.keys, includesSubentities: false), body)
        }
        try read { table, handle in
            let rows = try storage.table(handle)
            let reader = storage.reader(rows)
            let source = try LinkedSource(table, rows, handle.transaction, verifies: verifies)
            reader.source = source
            var (capacity, count) = (0, 0)
            for (index, parent) in parents.enumerated() {
                try source.begin(parent)
                var children: [Child] = []
                try storage.schema.decode(reader, expecting: capacity, into: &children)
                if children.isEmpty { continue }
                count += children.count
                // Lists often have the same length; a long list does not make the next list reserve much.
                capacity = min(children.count, 64)
                try body(index, children)
            }
            return count
        }
    }
}

// MARK: Shared functions

extension KeyValueLinks {
    /// Runs a closure that reads, and returns the number of links, unless no links were ever stored.
    private func read(_ body: (LinkTable, KeyValueHandle) throws -> Int) throws {
        try database.read { handle in
            guard let table = try database.engine.links(of: relation, in: handle) else { return }
            let timer = StatementTimer.begin()
            let count = try body(table, handle)
            timer?.end("links of \(relation.entity).\(relation.field)", rowsLookedAt: count)
        }
    }

    /// Calls a closure with a walk over lists.
    func withWalk<Result>(
        _ table: LinkTable, _ handle: KeyValueHandle, _ body: (inout LinkWalk) throws -> Result
    ) throws -> Result {
        try withUnsafeTemporaryAllocation(byteCount: KeyBuilder.capacity, alignment: 8) { buffer in
            var walk = try LinkWalk(table, handle.transaction, verifies: verifies, buffer)
            return try body(&walk)
        }
    }

    /// Calls a closure with the position of each child and every parent of it, as often as that has it. The closure returns whether
    /// to continue with that child.
    private func forEachParent(of children: [Key], _ body: (Int, Key) throws -> Bool) throws {
        try read { table, handle in
            var count = 0
            try forEachInverseEntry(children, table, handle) { child, inverseEntry, prefix in
                count += 1
                let parent = inverseEntry.from(prefix)
                let length = parent.count - LinkTable.positionLength
                guard length >= 0 else { throw table.corrupted }
                return try body(child, try key(UnsafeRawBufferPointer(rebasing: parent[..<length]), table.parentForm, table))
            }
            return count
        }
    }

    /// Calls a closure with every inverse entry of children: the position of the child, the whole key, and the number of
    /// bytes of keyspace and child in it. The closure returns whether to continue with that child.
    func forEachInverseEntry(
        _ children: [Key], _ table: LinkTable, _ handle: KeyValueHandle,
        _ body: (Int, UnsafeRawBufferPointer, Int) throws -> Bool
    ) throws {
        let cursor = try handle.transaction.cursor()
        try KeyBuilder.with { builder in
            for (position, child) in children.enumerated() {
                builder.truncate(to: 0)
                let isShared = try table.append(inverseEntryOf: child, to: &builder)
                let prefix = builder.bytes
                var isThere = try cursor.seek(prefix)
                while isThere, cursor.key.count >= prefix.count,
                    UnsafeRawBufferPointer(rebasing: cursor.key[..<prefix.count]).order(against: prefix) == 0
                {
                    let isOurs = try !isShared || leads(cursor.key, prefix.count, to: child, table, handle)
                    if isOurs, try !body(position, cursor.key, prefix.count) { break }
                    isThere = try cursor.next()
                }
            }
        }
    }

    /// Whether an inverse entry with only a hash of the child's key belongs to a child.
    private func leads(
        _ inverseEntry: UnsafeRawBufferPointer, _ prefix: Int, to child: Key, _ table: LinkTable, _ handle: KeyValueHandle
    ) throws -> Bool {
        try KeyBuilder.with { link in
            guard table.append(linkOf: inverseEntry, prefix: prefix, to: &link),
                let value = try handle.transaction.get(link.bytes)
            else { throw table.corrupted }
            return try key(value.from(LinkTable.checksumLength), table.childForm, table) == child
        }
    }

    /// The key with the given bytes.
    func key(_ bytes: UnsafeRawBufferPointer, _ form: KeyForm, _ table: LinkTable) throws -> Key {
        guard let key = KeyParser.key(bytes, form: form) else { throw table.corrupted }
        return key
    }
}

extension LinkTable {
    /// The length of the common prefix of the keys of a parent's list.
    func listLength(_ parent: Parent) -> Int {
        keyspace.length + (parentForm == .bytes ? 2 : 0) + parent.bytes.count
    }
}

/// The rows that a parent is linked to, in order, for one list after another.
private final class LinkedSource: RowSource {
    @exclusivity(unchecked) private var walk: LinkWalk
    private let rows: Table
    /// The walk meets rows that are linked in key order without a search.
    private let cursor: KeyValueCursor
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: KeyBuilder.capacity * 2, alignment: 8)
    private let rowKey: UnsafeMutableRawBufferPointer

    init(_ links: LinkTable, _ rows: Table, _ transaction: any KeyValueTransaction, verifies: Bool) throws {
        self.rows = rows
        rowKey = UnsafeMutableRawBufferPointer(rebasing: memory[KeyBuilder.capacity...])
        cursor = try transaction.cursor()
        walk = try LinkWalk(
            links, transaction, verifies: verifies, UnsafeMutableRawBufferPointer(rebasing: memory[..<KeyBuilder.capacity]))
    }

    deinit { memory.deallocate() }

    /// Moves before the first row of a parent.
    func begin(_ parent: Key) throws { try walk.begin(parent) }

    override func next(_ reader: RecordReader) throws -> Bool {
        while try walk.next() {
            var builder = KeyBuilder(rowKey)
            builder.append(rows.keyspace)
            builder.append(raw: walk.child)
            try walk.leave()
            let key = builder.bytes
            if try cursor.seek(key), cursor.key.count == key.count, cursor.key.order(against: key) == 0 {
                try reader.show(cursor.value, key: cursor.key.from(rows.keyspace.length))
                return true
            }
        }
        return false
    }
}
