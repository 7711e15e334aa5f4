import DAOCore

/// Good links with one fault put in front of them.
struct BrokenLinks: LinkStorage {
    let base: any LinkStorage
    let fault: Fault

    func children(of parents: [Key]) throws -> LinkedKeys {
        let linked = try base.children(of: parents)
        guard fault == .linksSorted else { return linked }
        var sorted = LinkedKeys()
        for list in linked.lists { sorted.append(list.sorted()) }
        return sorted
    }

    func parents(of children: [Key]) throws -> [Key] {
        let parents = try base.parents(of: children)
        return fault == .linksMissParents ? Array(parents.dropFirst()) : parents
    }

    func counts() throws -> [(parent: Key, count: Int)] { try base.counts() }
    func set(_ children: LinkedKeys, of parents: [Key]) throws { try base.set(children, of: parents) }
    func remove(children: [Key]) throws { if fault != .linksOutliveChildren { try base.remove(children: children) } }
    func remove(parents: [Key]) throws { try base.remove(parents: parents) }
    func linked(among children: [Key]) throws -> Set<Key> {
        fault == .linksForgetSharing ? [] : try base.linked(among: children)
    }
}
