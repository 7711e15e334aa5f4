import DAOCore

extension SQLLinkStorage {
    func set(_ children: LinkedKeys, of parents: [Key]) throws {
        let lists = children.lastLists(of: parents)
        if lists.isEmpty { return }
        if isInRows {
            return try writing(.any, whenMissing: .failure) { session in
                for list in lists {
                    let child = list.range.last.map { children.keys[$0].value } ?? .null
                    let bindings: [SQLBinding] = [.value(child), .value(list.parent.value)]
                    try session.run(SQLText(links.update, bindings), entity: relation.entity)
                }
            }
        }
        try writing(.any) { session in
            let tails = try tails(lists, children, session)
            for (list, tail) in zip(lists, tails) where tail.isStored {
                let bindings: [SQLBinding] = [.value(list.parent.value), .value(.integer(tail.position))]
                try session.run(SQLText(links.deleteTail, bindings), entity: relation.entity)
            }
            let batch = try session.rows(number, links.table).insert()
            defer { batch.finish() }
            for (list, tail) in zip(lists, tails) {
                var position = tail.position
                for child in children.keys[list.range.dropFirst(tail.same)] {
                    batch.begin()
                    try batch.write(list.parent, at: 0)
                    try batch.writeInt64(position, at: 1)
                    try batch.write(child, at: 2)
                    try batch.add()
                    position += 1
                }
            }
            try batch.send()
        }
    }

    func remove(children: [Key]) throws { try remove(links.deleteChildren, children) }

    func remove(parents: [Key]) throws { try remove(links.deleteParents, parents) }

    private func remove(_ text: String, _ keys: [Key]) throws {
        try writing(.statement, whenMissing: .nothingToDo) { session in
            if keys.isEmpty { return }
            try session.run(SQLText(text, [.list(keys.map(\.value))]), entity: relation.entity)
        }
    }

    /// The part of a stored list after its common prefix with the list that is to be stored.
    private struct Tail {
        /// The number of links in the common prefix.
        var same = 0
        /// The first position after the common prefix.
        var position: Int64 = 0
        /// Whether there are stored links from that position on.
        var isStored = false
    }

    /// Compares stored lists with the lists that are to be stored.
    private func tails(_ lists: [LinkedKeys.List], _ children: LinkedKeys, _ session: SQLSession) throws -> [Tail] {
        var tails = Array(repeating: Tail(), count: lists.count)
        try forEachRow(links.select, lists.map(\.parent), session) { row in
            let number = try number(in: row, of: tails.count)
            if tails[number].isStored { return }
            let place = lists[number].range.lowerBound + tails[number].same
            let child = row.key(inColumn: 2, of: relation.targetKeyKind)
            if place < lists[number].range.upperBound, child == children.keys[place] {
                tails[number].same += 1
                tails[number].position = row.integer(inColumn: 1) + 1
            } else {
                tails[number].isStored = true
            }
        }
        return tails
    }

    /// What it means for a write that its table is missing.
    private enum MissingTable {
        /// The table is created.
        case creation
        /// There is nothing to remove.
        case nothingToDo
        /// The write fails.
        case failure
    }

    /// Runs a closure that writes, atomically. The closure runs again when the table was missing or changed.
    ///
    /// - Parameters:
    ///   - scope: The statements that the closure runs.
    ///   - meaning: What a missing table means.
    ///   - body: The closure.
    private func writing(
        _ scope: SQLWrite.Scope, whenMissing meaning: MissingTable = .creation, _ body: (SQLSession) throws -> Void
    ) throws {
        try owner.lifetime.call {
            guard let settings = owner.settings else {
                throw owner.instance.readOnly
            }
            func run() throws {
                let kind: WriteKind = scope == .statement ? .statement : .call
                try owner.instance.coordinator.write(kind, touching: relation.entity) { session in
                    try owner.begin(session, scope)
                    do {
                        try body(session)
                    } catch let refused as SQLRefusedRow {
                        throw refused.underlying
                    }
                }
            }
            try SQLMissingTable.repeating {
                do {
                    try run()
                } catch let missing as SQLMissingTable {
                    if missing.isTable, meaning == .nothingToDo { return }
                    if missing.isTable, meaning == .creation { try owner.instance.make(links, settings) }
                    throw missing
                }
            }
        }
    }
}

extension RowWriter {
    /// Writes a key as a field.
    fileprivate func write(_ key: Key, at index: Int) throws {
        switch key {
        case .integer(let value): try writeInt64(value, at: index)
        case .unsigned(let value): try writeUInt64(value, at: index)
        case .string(let value): try writeString(value, at: index)
        case .uuid(let value): try writeUUID(value, at: index)
        }
    }
}
