import DAOCore

/// The links of a to-one relationship in the rows of the parents, in arrays.
struct ArrayReferences: LinkStorage {
    let array: ArrayDatabase
    let relation: RelationDescription

    var isInRows: Bool { true }

    func children(of parents: [Key]) throws -> LinkedKeys {
        try read { table, field in
            var linked = LinkedKeys()
            for parent in parents {
                let place = table.position(of: parent)
                linked.append(place.isThere ? child(table.rows[place.index], field).map { [$0] } ?? [] : [])
            }
            return linked
        } ?? LinkedKeys(counts: Array(repeating: 0, count: parents.count))
    }

    func parents(of children: [Key]) throws -> [Key] {
        let children = Set(children)
        return try links().filter { children.contains($0.child) }.map(\.parent)
    }

    func counts() throws -> [(parent: Key, count: Int)] { try links().map { ($0.parent, 1) } }

    func linked(among children: [Key]) throws -> Set<Key> {
        children.isEmpty ? [] : Set(try links().map(\.child)).intersection(children)
    }

    func set(_ children: LinkedKeys, of parents: [Key]) throws {
        let lists = Dictionary(zip(parents, children.lists), uniquingKeysWith: { $1 })
        try write { row, _ in lists[row.key].map { $0.first } }
    }

    func remove(children: [Key]) throws {
        let children = Set(children)
        try write { _, child in child.map(children.contains) == true ? .some(nil) : nil }
    }

    func remove(parents: [Key]) throws {
        let parents = Set(parents)
        try write { row, _ in parents.contains(row.key) ? .some(nil) : nil }
    }

    /// Every link, in the order of the parents.
    private func links() throws -> [(parent: Key, child: Key)] {
        try read { table, field in table.rows.compactMap { row in child(row, field).map { (row.key, $0) } } } ?? []
    }

    private func child(_ row: ArrayTable.Row, _ field: Int) -> Key? { Key(row.values[field], of: relation.targetKeyKind) }

    /// Calls a closure with the rows of the parents and the position of the field; nil when there are none.
    private func read<Result>(_ body: (ArrayTable, Int) throws -> Result) throws -> Result? {
        try array.read { transaction in
            guard let table = transaction.tables[relation.entity], let field = table.entity?.index(of: relation.field) else {
                return nil
            }
            return try body(table, field)
        }
    }

    /// Calls a closure with every row and its child, which returns the new child; nil when the row stays as it is.
    private func write(_ body: (ArrayTable.Row, Key?) -> Key??) throws {
        try array.write(touching: relation.entity) { transaction in
            guard var table = transaction.tables[relation.entity], let field = table.entity?.index(of: relation.field) else {
                return
            }
            for index in table.rows.indices {
                if let child = body(table.rows[index], child(table.rows[index], field)) {
                    table.rows[index].values[field] = child?.value ?? .null
                }
            }
            transaction.tables[relation.entity] = table
        }
    }
}
