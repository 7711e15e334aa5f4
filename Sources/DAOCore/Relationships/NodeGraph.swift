/// Rows of models that may lead back to themselves, read level by level and then put together from the leaves up.
///
/// A value cannot hold itself: where a row is met again inside itself, it is given without its lists. So it is where values would nest deeper than
/// ``maximumDepth``. Every row is put together once, so the cost is linear in rows and links, and nothing recurs as deep as the data does.
final class NodeGraph {
    /// How many levels a value has at most: letting go of one recurs that deep, on threads whose stacks may be small.
    static let maximumDepth = 512

    let graph: StorageGraph
    /// How many levels the highest row has that was taken since this was set to zero.
    var height = 0
    private var tables: [ObjectIdentifier: any NodeTable] = [:]

    init(_ graph: StorageGraph) { self.graph = graph }

    /// Reads what is related to rows, and puts it in.
    func attach<Record: Model>(to records: inout [Record]) throws {
        let root = table(of: Record.self)
        root.add(records)
        while let level = Optional(tables.values.filter(\.isPending)), !level.isEmpty {
            for table in level { try table.load(in: self) }
        }
        let schema = Record.schema
        for index in records.indices {
            let key = schema.key(of: records[index])
            try assemble(root, key)
            if let row = try root.row(key, .whole, isRoot: true, in: self) { records[index] = row }
        }
    }

    /// The table of a model.
    func table<Record: Model>(of model: Record.Type) -> TypedNodeTable<Record> {
        let id = ObjectIdentifier(model)
        if let table = tables[id] as? TypedNodeTable<Record> { return table }
        let table = TypedNodeTable<Record>()
        tables[id] = table
        return table
    }

    /// A row on the way from the root to the one that is being put together.
    private struct Frame {
        let table: any NodeTable
        let key: Key
        var edges: ArraySlice<(table: any NodeTable, key: Key)>
    }

    private func assemble(_ table: any NodeTable, _ key: Key) throws {
        guard table.enter(key) else { return }
        var path = [Frame(table: table, key: key, edges: table.edges(of: key, in: self)[...])]
        while !path.isEmpty {
            if let edge = path[path.count - 1].edges.popFirst() {
                guard path.count < Self.maximumDepth, edge.table.enter(edge.key) else { continue }
                path.append(Frame(table: edge.table, key: edge.key, edges: edge.table.edges(of: edge.key, in: self)[...]))
            } else {
                let frame = path.removeLast()
                try frame.table.leave(frame.key, in: self)
            }
        }
    }
}

/// The rows of one model in a graph, with the model hidden.
protocol NodeTable: AnyObject {
    /// Whether there are rows whose links have not been read.
    var isPending: Bool { get }
    /// Reads the rows that are waited for, and the links of all new ones.
    func load(in nodes: NodeGraph) throws
    /// Waits for rows.
    func want(_ keys: [Key])
    /// Begins to put a row together.
    ///
    /// - Returns: False when it is not there, begun or ready.
    func enter(_ key: Key) -> Bool
    /// The children of a row.
    func edges(of key: Key, in nodes: NodeGraph) -> [(table: any NodeTable, key: Key)]
    /// Puts a row together whose children are ready, as far as they can be.
    func leave(_ key: Key, in nodes: NodeGraph) throws
}

/// The rows of one model in a graph.
final class TypedNodeTable<Record: Model>: NodeTable {
    /// The rows as they were read, alone.
    private var rows: [Key: Record] = [:]
    /// Rows to be read.
    private var wanted: [Key] = []
    /// Rows whose links are to be read.
    private var fresh: [Key] = []
    /// For each relationship the children of the rows.
    private var children: [[Key: ArraySlice<Key>]]
    private var entered: Set<Key> = []
    private var whole: [Key: (record: Record, height: Int)] = [:]
    private var withoutLists: [Key: Record] = [:]

    init() { children = Array(repeating: [:], count: Record.schema.relations.count) }

    /// Adds rows that were read already.
    func add(_ records: [Record]) {
        for record in records {
            let key = Record.schema.key(of: record)
            if rows.updateValue(record, forKey: key) == nil { fresh.append(key) }
        }
    }

    var isPending: Bool { !wanted.isEmpty || !fresh.isEmpty }

    func want(_ keys: [Key]) { for key in keys where rows[key] == nil { wanted.append(key) } }

    func load(in nodes: NodeGraph) throws {
        if !wanted.isEmpty {
            let keys = wanted
            wanted = []
            add(try nodes.graph.rows(of: Record.self).read(keys: keys, includesSubentities: false))
        }
        if fresh.isEmpty { return }
        let keys = fresh
        fresh = []
        for (position, relation) in Record.schema.relations.enumerated() {
            let linked = try relation.links(in: nodes.graph).children(of: keys)
            for (key, list) in zip(keys, linked.lists) { children[position][key] = list }
            relation.table(in: nodes).want(linked.keys)
        }
    }

    func enter(_ key: Key) -> Bool { rows[key] != nil && entered.insert(key).inserted }

    func edges(of key: Key, in nodes: NodeGraph) -> [(table: any NodeTable, key: Key)] {
        Record.schema.relations.enumerated().flatMap { position, relation in
            let table = relation.table(in: nodes)
            return (children[position][key] ?? []).map { (table, $0) }
        }
    }

    func leave(_ key: Key, in nodes: NodeGraph) throws {
        guard var record = rows[key] else { return }
        nodes.height = 0
        for (position, relation) in Record.schema.relations.enumerated() {
            try relation.assemble(children[position][key] ?? [], from: nodes, .whole, into: &record)
        }
        whole[key] = (record, nodes.height + 1)
    }

    /// A row as far as it is put together: without its lists while it is on the way to the row that asks, and where it would be too deep in it.
    func row(_ key: Key, _ form: GraphForm, isRoot: Bool = false, in nodes: NodeGraph) throws -> Record? {
        if form == .whole, let (record, height) = whole[key], isRoot || height < NodeGraph.maximumDepth {
            nodes.height = max(nodes.height, height)
            return record
        }
        if let record = withoutLists[key] { return record }
        guard var record = rows[key] else { return nil }
        // Stands here meanwhile for what leads back to it.
        withoutLists[key] = record
        var records = [record]
        for (position, relation) in Record.schema.relations.enumerated() {
            if relation.isToOne {
                try relation.assemble(children[position][key] ?? [], from: nodes, .withoutLists, into: &records[0])
            } else {
                try relation.markUnread(&records)
            }
        }
        record = records[0]
        withoutLists[key] = record
        return record
    }
}
