import DAOCore

extension KeyValueLinks {
    func set(_ children: LinkedKeys, of parents: [Key]) throws {
        let lists = children.lastLists(of: parents)
        if lists.isEmpty { return }
        try write { table, handle in
            let removals = KeyList()
            let tails = try tails(lists, children, table, handle, removals)
            try removals.remove(handle)
            for (list, tail) in zip(lists, tails) {
                try append(
                    children.keys[list.range.dropFirst(tail.same)], to: list.parent, from: tail.position, table, handle)
            }
        }
    }

    func remove(parents: [Key]) throws {
        if parents.isEmpty { return }
        try write(removes: true) { table, handle in
            let removals = KeyList()
            try withWalk(table, handle) { walk in
                for parent in parents {
                    try walk.begin(parent)
                    try collectRest(&walk, table, removals)
                }
            }
            try removals.remove(handle)
        }
    }

    func remove(children: [Key]) throws {
        if children.isEmpty { return }
        try write(removes: true) { table, handle in
            let removals = KeyList()
            // A repeated child must not be collected twice.
            try forEachInverseEntry(children.count == 1 ? children : Array(Set(children)), table, handle) {
                _, inverseEntry, prefix in
                var isLink = false
                removals.add { isLink = table.append(linkOf: inverseEntry, prefix: prefix, to: &$0) }
                guard isLink else { throw table.corrupted }
                removals.add { $0.append(raw: inverseEntry) }
                return true
            }
            guard try removals.remove(handle) else { throw table.corrupted }
        }
    }

    /// Runs a closure that writes, atomically.
    ///
    /// - Parameters:
    ///   - removes: Whether the closure only removes links, so it is skipped when no links were ever stored.
    ///   - body: The closure.
    private func write(removes: Bool = false, _ body: (LinkTable, KeyValueHandle) throws -> Void) throws {
        try database.write(.call, touching: relation.entity) { handle in
            let engine = database.engine
            let table = try removes ? engine.links(of: relation, in: handle) : engine.makeLinks(of: relation, in: handle)
            guard let table else { return }
            try body(table, handle)
            handle.writeCount += 1
        }
    }

    /// The remainder of a stored list from its first difference to the new list.
    private struct Tail {
        /// The length of the common prefix of both lists.
        var same = 0
        /// The first position after the common prefix.
        var position: UInt64 = 0
    }

    /// Compares stored lists with the new lists, and collects the links to remove.
    private func tails(
        _ lists: [LinkedKeys.List], _ children: LinkedKeys, _ table: LinkTable, _ handle: KeyValueHandle, _ removals: KeyList
    ) throws -> [Tail] {
        try withWalk(table, handle) { walk in
            try KeyBuilder.with { wanted in
                try lists.map { list in
                    var tail = Tail()
                    try walk.begin(list.parent)
                    while tail.same < list.range.count, try walk.next() {
                        wanted.truncate(to: 0)
                        let child = children.keys[list.range.lowerBound + tail.same]
                        guard wanted.append(key: child, as: table.childForm) else {
                            throw table.invalidKey(child, table.childForm)
                        }
                        if walk.child.count != wanted.count || walk.child.order(against: wanted.bytes) != 0 { break }
                        tail.same += 1
                        tail.position = walk.position + 1
                        try walk.leave()
                    }
                    try collectRest(&walk, table, removals)
                    return tail
                }
            }
        }
    }

    /// Collects the remaining links of the walk's parent, with their inverse entries.
    private func collectRest(_ walk: inout LinkWalk, _ table: LinkTable, _ removals: KeyList) throws {
        while try walk.next() {
            guard let parent = table.parent(in: walk.key) else { throw table.corrupted }
            removals.add { $0.append(raw: walk.key) }
            removals.add { table.append(inverseEntryOf: walk.child, to: parent, position: walk.position, to: &$0) }
            try walk.leave()
        }
    }

    /// Writes the links to children, with their inverse entries.
    private func append(
        _ children: ArraySlice<Key>, to parent: Key, from position: UInt64, _ table: LinkTable, _ handle: KeyValueHandle
    ) throws {
        if children.isEmpty { return }
        try KeyBuilder.with { link in
            try KeyBuilder.with { inverseEntry in
                try KeyBuilder.with { value in
                    try table.append(listOf: parent, to: &link)
                    guard let parent = table.parent(in: link.bytes) else { throw table.corrupted }
                    let length = link.count
                    let list = XXH64.hash(link.bytes.from(table.keyspace.length))
                    var position = position
                    for child in children {
                        link.truncate(to: length)
                        link.append(unsigned: position)
                        value.truncate(to: 0)
                        value.append(half: 0)
                        guard value.append(key: child, as: table.childForm) else {
                            throw table.invalidKey(child, table.childForm)
                        }
                        let bytes = value.bytes.from(LinkTable.checksumLength)
                        value.replace(at: 0, with: LinkTable.checksum(bytes, list: list, position: position))
                        inverseEntry.truncate(to: 0)
                        table.append(inverseEntryOf: bytes, to: parent, position: position, to: &inverseEntry)
                        try handle.transaction.put(link.bytes, value.bytes)
                        try handle.transaction.put(inverseEntry.bytes, UnsafeRawBufferPointer(start: nil, count: 0))
                        position += 1
                    }
                }
            }
        }
    }
}

/// Keys to remove, collected while they are read.
private final class KeyList {
    private let keys = ByteArena()
    private var ends: [Int] = []

    /// Adds a key.
    func add(_ build: (inout KeyBuilder) -> Void) {
        keys.extend(KeyBuilder.capacity, build)
        ends.append(keys.count)
    }

    /// Removes all keys.
    ///
    /// - Returns: Whether all keys existed.
    @discardableResult func remove(_ handle: KeyValueHandle) throws -> Bool {
        var wereThere = true
        var start = 0
        for end in ends {
            if try !handle.transaction.delete(UnsafeRawBufferPointer(rebasing: keys.bytes[start..<end])) { wereThere = false }
            start = end
        }
        return wereThere
    }
}
