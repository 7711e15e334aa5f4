/// Rows of models that can lead back to themselves. They are read level by level and then assembled from the
/// leaves to the root.
///
/// A value cannot contain itself. A row that occurs inside itself is returned without its lists, and so is a
/// row at a depth beyond ``maximumDepth``. Every row is assembled once, so the cost is linear in the number
/// of rows and links. No recursion is as deep as the data.
final class NodeGraph {
    /// The maximum number of levels of a value. Releasing a value recurses to this depth, on threads that can
    /// have small stacks.
    static let maximumDepth = 512

    let graph: StorageGraph
    /// The maximum number of levels of the rows that were returned since the property was set to zero.
    var height = 0
    private var tables: [ObjectIdentifier: any NodeTable] = [:]

    init(_ graph: StorageGraph) { self.graph = graph }

    /// Reads the related rows of records and assigns them.
    func attach<Record: Model>(to records: inout [Record]) throws {
        let root = table(of: Record.self)
        try root.add(records, in: self)
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

    /// Returns the table of a model.
    func table<Record: Model>(of model: Record.Type) -> TypedNodeTable<Record> {
        let id = ObjectIdentifier(model)
        if let table = tables[id] as? TypedNodeTable<Record> { return table }
        let table = TypedNodeTable<Record>()
        tables[id] = table
        return table
    }

    /// A row on the path from the root to the row that is being assembled.
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

/// The rows of one model in a graph, without the type of the model.
protocol NodeTable: AnyObject {
    /// Whether rows or the links of rows have not been read yet.
    var isPending: Bool { get }
    /// Reads the requested rows and the links of all new rows.
    func load(in nodes: NodeGraph) throws
    /// Requests rows.
    func want(_ keys: [Key])
    /// Begins to assemble a row.
    ///
    /// - Returns: False when the row does not exist, or when its assembly has already begun.
    func enter(_ key: Key) -> Bool
    /// Returns the children of a row.
    func edges(of key: Key, in nodes: NodeGraph) -> [(table: any NodeTable, key: Key)]
    /// Assembles a row. Its children are already assembled, except children that lead back to the row or are
    /// too deep.
    func leave(_ key: Key, in nodes: NodeGraph) throws
}

/// The rows of one model in a graph.
final class TypedNodeTable<Record: Model>: NodeTable {
    /// The relationships whose rows are read.
    private let relations = Record.schema.relations.filter { !$0.isReference }
    /// The rows as they were read, without related rows.
    private var rows: [Key: Record] = [:]
    /// The keys of the rows to read.
    private var wanted: [Key] = []
    /// The keys of the rows whose links are to be read.
    private var fresh: [Key] = []
    /// The children of the rows, for every relationship.
    private var children: [[Key: ArraySlice<Key>]]
    private var entered: Set<Key> = []
    private var whole: [Key: (record: Record, height: Int)] = [:]
    private var withoutLists: [Key: Record] = [:]

    init() { children = Array(repeating: [:], count: relations.count) }

    /// Adds rows that were already read.
    func add(_ records: [Record], in nodes: NodeGraph) throws {
        var records = records
        try nodes.graph.attachReferences(to: &records)
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
            try add(nodes.graph.rows(of: Record.self).read(keys: keys, includesSubentities: false), in: nodes)
        }
        if fresh.isEmpty { return }
        let keys = fresh
        fresh = []
        for (position, relation) in relations.enumerated() {
            let linked = try relation.links(in: nodes.graph).children(of: keys)
            for (key, list) in zip(keys, linked.lists) { children[position][key] = list }
            relation.table(in: nodes).want(linked.keys)
        }
    }

    func enter(_ key: Key) -> Bool { rows[key] != nil && entered.insert(key).inserted }

    func edges(of key: Key, in nodes: NodeGraph) -> [(table: any NodeTable, key: Key)] {
        relations.enumerated().flatMap { position, relation in
            let table = relation.table(in: nodes)
            return (children[position][key] ?? []).map { (table, $0) }
        }
    }

    func leave(_ key: Key, in nodes: NodeGraph) throws {
        guard var record = rows[key] else { return }
        nodes.height = 0
        for (position, relation) in relations.enumerated() {
            try relation.assemble(children[position][key] ?? [], from: nodes, .whole, into: &record)
        }
        whole[key] = (record, nodes.height + 1)
    }

    /// Returns a row as far as it is assembled. It has no lists while the row is on the path to the row that
    /// contains it, or when it would exceed the maximum depth there.
    func row(_ key: Key, _ form: GraphForm, isRoot: Bool = false, in nodes: NodeGraph) throws -> Record? {
        if form == .whole, let (record, height) = whole[key], isRoot || height < NodeGraph.maximumDepth {
            nodes.height = max(nodes.height, height)
            return record
        }
        if let record = withoutLists[key] { return record }
        guard var record = rows[key] else { return nil }
        // Rows that lead back to this row get this value in the meantime.
        withoutLists[key] = record
        var records = [record]
        for (position, relation) in relations.enumerated() {
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
