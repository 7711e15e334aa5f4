import DAOCore

/// The links of a relationship with one planted fault.
struct FaultyLinks: LinkStorage {
    let base: any LinkStorage
    let fault: Fault
    /// Those of some parents that a list holds; nil when it does not matter.
    var held: (@Sendable ([Key]) throws -> Set<Key>)?

    var isInRows: Bool { base.isInRows }

    func children(of parents: [Key]) throws -> LinkedKeys {
        let linked = try base.children(of: parents)
        switch fault {
        case .linksForgetOrder: return changed(linked) { $0.sorted() }
        case .linksMissLastChild: return changed(linked) { Array($0.dropLast()) }
        case .linksMixParents:
            var mixed = LinkedKeys()
            for list in linked.lists.reversed() { mixed.append(list) }
            return mixed
        default: return linked
        }
    }

    func parents(of children: [Key]) throws -> [Key] {
        let parents = try base.parents(of: children)
        if let held = try held?(parents) { return parents.filter { !held.contains($0) } }
        return fault == .linksMissParents ? Array(parents.dropLast()) : parents
    }

    func counts() throws -> [(parent: Key, count: Int)] {
        let counts = try base.counts()
        guard fault == .linksCountOnce else { return counts }
        return counts.map { ($0.parent, min($0.count, 1)) }
    }

    func parentCounts() throws -> [(child: Key, count: Int)] {
        guard fault == .linksCountRepeats else { return try base.parentCounts() }
        let children = try base.children(of: base.counts().map(\.parent)).keys
        return Dictionary(grouping: children) { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value.count) }
    }

    func set(_ children: LinkedKeys, of parents: [Key]) throws {
        switch fault {
        case .linksDropRepeats:
            try base.set(
                changed(children) { list in
                    var seen: Set<Key> = []
                    return list.filter { seen.insert($0).inserted }
                }, of: parents)
        case .linksOnlyGrow:
            var grown = LinkedKeys()
            for (old, new) in zip(try base.children(of: parents).lists, children.lists) {
                grown.append(old.filter { !new.contains($0) } + new)
            }
            try base.set(grown, of: parents)
        default: try base.set(children, of: parents)
        }
    }

    func remove(children: [Key]) throws {
        switch fault {
        case .linksOutliveChildren: break
        case .linksForgetOrderLater:
            let parents = try base.parents(of: children)
            try base.remove(children: children)
            try base.set(changed(try base.children(of: parents)) { $0.sorted() }, of: parents)
        default: try base.remove(children: children)
        }
    }

    func remove(parents: [Key]) throws {
        if fault != .linksOutliveParents { try base.remove(parents: parents) }
    }

    func linked(among children: [Key]) throws -> Set<Key> {
        switch fault {
        case .linksForgetSharing: []
        case .linksHoldEverything: Set(children)
        default: try base.linked(among: children)
        }
    }

    private func changed(_ linked: LinkedKeys, _ change: ([Key]) -> [Key]) -> LinkedKeys {
        var result = LinkedKeys()
        for list in linked.lists { result.append(change(Array(list))) }
        return result
    }
}
