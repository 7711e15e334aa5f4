import DAOCore
import DAOSystemSQLite
import Foundation

/// The rows of another program's tables, as the entities of a mapping: what a copy reads, in one snapshot.
///
/// Rows come in the order of their keys. Those that cannot come are found before anything is read, and left out.
final class ForeignTables: EntityStore {
    private let connection: SQLiteConnection
    private let mapping: TableMapping
    private let described: [EntityDescription]
    private let place: ForeignPlace
    private var tables: [String: ForeignTable] = [:]
    /// The rows that are left out.
    private var leftOut: [String: Set<Key>] = [:]
    private var counts: [String: Int] = [:]
    private(set) var problems = ForeignProblems()
    /// The cursor of the last call, which the next call continues.
    private var cursor: (entity: String, last: Key, statement: OpaquePointer)?

    /// Reads all rows, and finds those that cannot come.
    ///
    /// - Parameters:
    ///   - connection: A connection in a snapshot.
    ///   - mapping: The mapping.
    ///   - models: The models that are going to read the rows, as far as they are known.
    ///   - onProgress: Called with an entity and the number of its rows that were looked at.
    init(
        _ connection: SQLiteConnection, _ mapping: TableMapping, _ models: [any Model.Type], path: String,
        onProgress: (String, Int) throws -> Void
    ) throws {
        self.connection = connection
        self.mapping = mapping
        let declarations = Dictionary(
            models.map { TableMapping.declaration(of: $0) }.map { ($0.description.name, $0) }, uniquingKeysWith: { $1 })
        described = try mapping.descriptions().sorted { $0.name < $1.name }
        place = ForeignPlace(path: path, timeZone: try mapping.zone())
        for (entity, description) in zip(mapping.entities.sorted { $0.entity < $1.entity }, described) {
            tables[entity.entity] = try ForeignTable(entity, description, mapping, connection, declarations[entity.entity])
        }
        try check(onProgress)
    }

    deinit { close() }

    /// Checks that the file has what a mapping names.
    static func check(_ mapping: TableMapping, _ connection: SQLiteConnection) throws {
        func prepare(_ text: String, _ entity: String) throws {
            do {
                sqlite3_finalize(try connection.prepared(text))
            } catch {
                throw StorageError(
                    .schemaMismatch, "the mapping of '\(entity)' names what the file does not have; correct it", entity: entity,
                    path: connection.path, engineMessage: String(cString: sqlite3_errmsg(connection.handle)))
            }
        }
        let described = try mapping.descriptions()
        let tables = try zip(mapping.entities, described).map { try ForeignTable($0, $1, mapping, connection) }
        for table in tables {
            try prepare(table.select, table.entity.entity)
            for field in table.entity.fields {
                guard let list = field.list, let target = tables.first(where: { $0.entity.entity == field.target }) else {
                    continue
                }
                try prepare(ForeignTable.select(list, from: table, to: target), table.entity.entity)
            }
        }
    }

    /// Ends the running statement.
    func close() {
        if let cursor { sqlite3_finalize(cursor.statement) }
        cursor = nil
    }

    private func table(_ entity: String) throws -> ForeignTable {
        guard let table = tables[entity] else {
            throw StorageError(.invalidQuery, "the mapping has no entity '\(entity)'", entity: entity)
        }
        return table
    }

    /// A row that is left out is missing for the rows that refer to it, so the rows are looked at until none more is left out.
    private func check(_ onProgress: (String, Int) throws -> Void) throws {
        while true {
            let before = leftOut
            problems = ForeignProblems()
            for entity in described {
                var (count, seen) = (0, 0)
                let table = try table(entity.name)
                let statement = try connection.prepared(table.select)
                defer { sqlite3_finalize(statement) }
                var last: Key?
                var gone: Set<Key> = []
                try step(statement) {
                    seen += 1
                    if seen % 10_000 == 0 { try onProgress(entity.name, seen) }
                    let row = table.row(statement, after: last, place, leftOut)
                    problems.add(row.problems, of: table, key: row.key)
                    if let key = row.key, !row.isRepeated { last = key }
                    if row.values != nil {
                        count += 1
                    } else if let key = row.key, !row.isRepeated {
                        gone.insert(key)
                    }
                    return true
                }
                counts[entity.name] = count
                if !gone.isEmpty { leftOut[entity.name] = gone }
            }
            if before == leftOut { break }
        }
        for entity in mapping.entities {
            for field in entity.fields where field.list != nil { _ = try lists(of: entity, field, reports: true) }
        }
    }

    /// Calls a closure for each row until it returns false.
    private func step(_ statement: OpaquePointer, _ body: () throws -> Bool) throws {
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: if try !body() { return }
            case SQLITE_DONE: return
            case let code: throw connection.failure(code)
            }
        }
    }

    // MARK: EntityStore

    func entities() throws -> [EntityDescription] { described }

    func property(_ name: String) throws -> String? { nil }

    func count(_ entity: String) throws -> Int { counts[entity] ?? 0 }

    func forEachRow(of entity: String, after key: Key?, _ body: (Key, [Value]) throws -> Bool) throws {
        let table = try table(entity)
        var last: Key?
        let statement: OpaquePointer
        if let open = cursor, open.entity == entity, open.last == key {
            // A batch follows the one before, and the rows may have been sorted for it.
            (statement, last) = (open.statement, key)
            cursor = nil
        } else {
            close()
            statement = try connection.prepared(table.select)
        }
        var isOpen = false
        defer { if !isOpen { sqlite3_finalize(statement) } }
        try step(statement) {
            let row = table.row(statement, after: last, place, leftOut)
            guard let found = row.key, !row.isRepeated else { return true }
            last = found
            if let key, found <= key { return true }
            guard let values = row.values else { return true }
            if try body(found, values) { return true }
            (isOpen, cursor) = (true, (entity, found, statement))
            return false
        }
    }

    func links(of relation: RelationDescription) throws -> any LinkStorage {
        guard let entity = mapping.entities.first(where: { $0.entity == relation.entity }),
            let field = entity.fields.first(where: { $0.field == relation.field })
        else { throw readOnly }
        return ForeignLinks(isInRows: field.list == nil, refusal: readOnly) {
            if field.list != nil { return try self.lists(of: entity, field, reports: false) }
            // The key of the related row is a value of the row.
            let table = try self.table(entity.entity)
            var lists: [Key: [Key]] = [:]
            guard let position = table.description.index(of: field.field) else { throw self.readOnly }
            try self.forEachRow(of: entity.entity, after: nil) { key, values in
                if let child = Key(values[position], of: relation.targetKeyKind) { lists[key] = [child] }
                return true
            }
            return lists
        }
    }

    /// The lists of a table of links, without the links to rows that do not come.
    private func lists(
        of entity: TableMapping.Entity, _ field: TableMapping.Field, reports: Bool
    ) throws -> [Key: [Key]] {
        guard let list = field.list, let target = field.target else { throw readOnly }
        let (parents, children) = (try table(entity.entity), try table(target))
        let isEntity = mapping.entities.contains { $0.table == list.table }
        var lists: [Key: [Key]] = [:]
        let statement = try connection.prepared(ForeignTable.select(list, from: parents, to: children))
        defer { sqlite3_finalize(statement) }
        try step(statement) {
            let parent = parents.key(ForeignValue(statement: statement, column: 0), place)
            let child = children.key(ForeignValue(statement: statement, column: 1), place)
            // A row of an entity need not be in a list. One of a table of links does nothing else.
            let isNull = [0, 1].map { ForeignValue(statement: statement, column: $0).isNull }
            if isEntity, isNull[0] { return true }
            let comes = [(parent, 2, entity.entity), (child, 3, target)].map { key, column, entity in
                key.map { sqlite3_column_int(statement, column) != 0 && leftOut[entity]?.contains($0) != true } ?? false
            }
            if let parent, let child, comes == [true, true] {
                lists[parent, default: []].append(child)
            } else if reports {
                // The row that is there says which link it is, and the column of the other one what is wrong.
                problems.add(
                    TableProblem(
                        table: list.table, column: comes[0] ? list.child : list.parent,
                        key: (comes[0] ? parent : comes[1] ? child : nil).map { UniqueID($0) },
                        reason: "it links \(isNull.contains(true) ? "no row" : "a row that is missing"); the link is left out",
                        isRow: false))
            }
            return true
        }
        return lists
    }

    // MARK: Nothing is written

    private var readOnly: StorageError {
        StorageError(.readOnly, "another program has made the file, and nothing is written to it", path: connection.path)
    }

    func setProperty(_ name: String, to value: String?) throws { throw readOnly }
    func create(_ entity: EntityDescription) throws { throw readOnly }
    func drop(_ entity: String) throws { throw readOnly }
    func rename(_ entity: String, to name: String) throws { throw readOnly }
    func alter(_ change: EntityChange) throws -> Bool { throw readOnly }
    func store(_ rows: [[Value]], in entity: String, replaces: Bool) throws { throw readOnly }
    func erase(_ keys: [Key], from entity: String) throws { throw readOnly }
}

/// The links of a relationship, read as a whole, when they are asked for: who copies rows that have them does not.
///
/// `@unchecked Sendable`, since only the call has it that has the store, which no other thread uses.
private final class ForeignLinks: LinkStorage, @unchecked Sendable {
    let isInRows: Bool
    private let refusal: StorageError
    private let read: () throws -> [Key: [Key]]
    private var known: [Key: [Key]]?

    init(isInRows: Bool, refusal: StorageError, read: @escaping () throws -> [Key: [Key]]) {
        (self.isInRows, self.refusal, self.read) = (isInRows, refusal, read)
    }

    private func lists() throws -> [Key: [Key]] {
        let lists = try known ?? read()
        known = lists
        return lists
    }

    func children(of parents: [Key]) throws -> LinkedKeys {
        let lists = try lists()
        return parents.reduce(into: LinkedKeys()) { $0.append(lists[$1] ?? []) }
    }

    func parents(of children: [Key]) throws -> [Key] {
        let wanted = Set(children)
        return try lists().filter { !wanted.isDisjoint(with: $0.value) }.keys.sorted()
    }

    func counts() throws -> [(parent: Key, count: Int)] {
        try lists().sorted { $0.key < $1.key }.map { ($0.key, $0.value.count) }
    }

    func set(_ children: LinkedKeys, of parents: [Key]) throws { throw refusal }
    func remove(children: [Key]) throws { throw refusal }
    func remove(parents: [Key]) throws { throw refusal }
}

/// A table of another program, as an entity.
struct ForeignTable {
    let entity: TableMapping.Entity
    let description: EntityDescription
    /// The statement that reads the rows in the order of their keys.
    let select: String
    /// The expression of the key, with the name of the table in front of its columns.
    private let key: KeyExpression
    /// For each field, the kind that its values are read as.
    private let kinds: [ValueKind]
    /// The entity that a field leads to; nil for other fields, and for lists.
    private let targets: [String?]
    /// The declaration of the model that is going to read the rows; nil when it is not known.
    private let declaration: EntityDeclaration?

    init(
        _ entity: TableMapping.Entity, _ description: EntityDescription, _ mapping: TableMapping, _ connection: SQLiteConnection,
        _ declaration: EntityDeclaration? = nil
    ) throws {
        self.entity = entity
        self.description = description
        self.declaration = declaration
        let rowForm = description.rowForm
        kinds = rowForm.fields.map(\.type.kind)
        targets = entity.fields.map { $0.list == nil ? $0.target : nil }
        let keyField = entity.fields[description.keyIndex]
        let rowNumber = try connection.rowNumber(of: entity.table)
        key = KeyExpression(keyField, kinds[description.keyIndex], rowNumber, in: entity.table, connection)
        let name = "t"
        var columns: [String] = []
        var existence: [String] = []
        for (field, kind) in zip(entity.fields, kinds) {
            if field.list != nil {
                columns.append("NULL")
                existence.append("1")
                continue
            }
            let expression = KeyExpression(field, kind, rowNumber, in: entity.table, connection)
            columns.append(expression.sql(of: name))
            guard let target = field.target, let other = mapping.entities.first(where: { $0.entity == target }),
                let otherKey = other.fields.first(where: { $0.key == true })
            else {
                existence.append("1")
                continue
            }
            let wanted = KeyExpression(otherKey, kind, try connection.rowNumber(of: other.table), in: other.table, connection)
            existence.append(
                "EXISTS (SELECT 1 FROM \(other.table.quotedIdentifier) AS o WHERE \(expression.equals(wanted, name, "o")))")
        }
        let isInteger = try keyField.column.map { try connection.declaredType(of: $0, in: entity.table).contains("INT") } ?? false
        select =
            "SELECT \((columns + existence).joined(separator: ", ")) FROM \(entity.table.quotedIdentifier) AS \(name) "
            + "ORDER BY \(key.order(of: name, isInteger: isInteger))"
    }

    /// The statement that reads the links of a list.
    static func select(_ list: TableMapping.List, from parents: ForeignTable, to children: ForeignTable) -> String {
        let (table, parent, child) = ("l", list.parent.quotedIdentifier, list.child.quotedIdentifier)
        func exists(_ column: String, _ other: ForeignTable) -> String {
            let link = KeyExpression(columns: [column], kind: other.description.keyKind)
            return
                "EXISTS (SELECT 1 FROM \(other.entity.table.quotedIdentifier) AS o WHERE \(link.equals(other.key, table, "o")))"
        }
        let order = list.order.map { "\(table).\($0.quotedIdentifier)" }
        return "SELECT \(table).\(parent), \(table).\(child), \(exists(list.parent, parents)), \(exists(list.child, children)) "
            + "FROM \(list.table.quotedIdentifier) AS \(table)" + (order.map { " ORDER BY \($0)" } ?? "")
    }

    /// A row of the table.
    struct Row {
        var key: Key?
        /// The values; nil for a row that does not come.
        var values: [Value]?
        /// Whether the row before has the same key.
        var isRepeated = false
        var problems: [(column: String, reason: String, isRow: Bool)] = []
    }

    /// Reads a key.
    func key(_ value: ForeignValue, _ place: ForeignPlace) -> Key? {
        let field = entity.fields[description.keyIndex]
        guard let found = try? value.value(as: description.keyKind, of: field, place) else { return nil }
        return Key(found, of: description.keyKind)
    }

    /// Reads the current row of the statement.
    func row(_ statement: OpaquePointer, after last: Key?, _ place: ForeignPlace, _ leftOut: [String: Set<Key>]) -> Row {
        var row = Row()
        var values: [Value] = []
        values.reserveCapacity(kinds.count)
        var comes = true
        for position in kinds.indices {
            let field = entity.fields[position]
            if field.list != nil {
                values.append(.null)
                continue
            }
            let isOptional = description.fields[position].type.isOptional
            func leaveOut(_ reason: String) {
                comes = false
                row.problems.append((field.source, reason, true))
            }
            do {
                let value = ForeignValue(statement: statement, column: Int32(position))
                var found = try value.value(as: kinds[position], of: field, place)
                if let target = targets[position], !found.isNull {
                    let isThere =
                        sqlite3_column_int(statement, Int32(kinds.count + position)) != 0
                        && Key(found, of: kinds[position]).map { leftOut[target]?.contains($0) != true } == true
                    if !isThere, isOptional {
                        row.problems.append(
                            (field.source, "it refers to a row that is missing; the reference is left out", false))
                        found = .null
                    } else if !isThere {
                        leaveOut("it refers to a row that is missing")
                    }
                }
                if case .string(let json) = found, kinds[position] == .embedded,
                    declaration?.reads(json, of: field.field) == false
                {
                    leaveOut("it has JSON that the model does not read")
                }
                if found.isNull, !isOptional {
                    leaveOut("NULL is stored, which \(description.fields[position].type) cannot hold")
                }
                values.append(found)
            } catch {
                let refusal = error as? ForeignValue.Refusal
                let reason = "it has \(refusal?.reason ?? "\(error)")"
                if refusal?.isMissingFile == true, isOptional {
                    row.problems.append((field.source, reason + "; the value is left out", false))
                } else {
                    leaveOut(reason)
                }
                values.append(.null)
            }
        }
        row.key = Key(values[description.keyIndex], of: description.keyKind)
        if case .string(let text)? = row.key, text.utf8.count > Key.maximumLength {
            (row.key, comes) = (nil, false)
            row.problems.append(
                (entity.fields[description.keyIndex].source, "its key has more than \(Key.maximumLength) bytes", true))
        }
        if let key = row.key, let last, key <= last {
            (row.isRepeated, comes) = (true, false)
            row.problems.append((entity.fields[description.keyIndex].source, "another row has the same key", true))
        }
        if comes, row.key != nil { row.values = values }
        return row
    }
}

extension TableMapping.Field {
    /// The columns, as problems name them.
    var source: String { column ?? columns?.joined(separator: ", ") ?? "the number of the row" }
}

/// The expression of a field's values in SQL.
private struct KeyExpression {
    private let columns: [String]
    private let isDerived: Bool
    private let kind: ValueKind
    /// The name of the row's number, where there are no columns.
    private let rowNumber: String
    /// Whether the column has a collation that is not here.
    private let isForeign: Bool

    init(_ field: TableMapping.Field, _ kind: ValueKind, _ rowNumber: String, in table: String, _ connection: SQLiteConnection) {
        columns = field.columns ?? field.column.map { [$0] } ?? []
        isDerived = field.columns != nil
        isForeign = columns.contains { connection.hasForeignCollation($0, in: table) }
        (self.kind, self.rowNumber) = (kind, rowNumber)
    }

    init(columns: [String], kind: ValueKind) {
        (self.columns, self.kind, isDerived, rowNumber, isForeign) = (columns, kind, false, "", false)
    }

    /// The value. A key of several columns is their texts with slashes in between.
    func sql(of table: String) -> String {
        if columns.isEmpty { return "\(table).\(rowNumber)" }
        let names = columns.map { "\(table).\($0.quotedIdentifier)" }
        guard isDerived else { return names[0] }
        return names.map { name in
            // The text of a floating-point number has 15 digits.
            let text =
                "CASE typeof(\(name)) WHEN 'blob' THEN hex(\(name)) WHEN 'real' THEN printf('%!.17g', \(name)) "
                + "ELSE CAST(\(name) AS TEXT) END"
            return "replace(replace(\(text), '%', '%25'), '/', '%2F')"
        }.joined(separator: " || '/' || ")
    }

    /// The order of the keys.
    ///
    /// - Parameter isInteger: Whether the column holds integers as integers, so that its index has their order.
    func order(of table: String, isInteger: Bool) -> String {
        let value = sql(of: table)
        switch kind {
        case .string: return value + " COLLATE BINARY"
        // The digits of a text have the order of the bytes.
        case .uuid:
            return "CASE typeof(\(value)) WHEN 'blob' THEN lower(hex(\(value))) ELSE lower(replace(\(value), '-', '')) END"
        default: return isInteger || columns.isEmpty ? value : "CAST(\(value) AS INTEGER)"
        }
    }

    /// The condition that the values are those of a key.
    func equals(_ key: KeyExpression, _ table: String, _ other: String) -> String {
        if key.isDerived, isDerived, columns.count == key.columns.count {
            return zip(columns, key.columns).map {
                "\(other).\($1.quotedIdentifier) = \(table).\($0.quotedIdentifier) COLLATE BINARY"
            }.joined(separator: " AND ")
        }
        return SQLiteConnection.sameBytes("\(key.sql(of: other)) = \(sql(of: table))", isForeign: key.isForeign)
    }
}

/// What of another program's tables cannot come.
public struct TableProblem: Sendable, Equatable, CustomStringConvertible {
    /// The table.
    public var table: String
    /// The column, or the columns.
    public var column: String
    /// The key of the row in its entity, and of a link that of the linked row which is there; nil when there is none.
    public var key: UniqueID?
    /// What is wrong with the row. It contains no value.
    public var reason: String
    /// Whether the row is left out; otherwise only a link or a reference is.
    public var isRow: Bool

    /// The table, the row, the column and the reason in one line.
    public var description: String {
        "\(table), \(key.map { "the row with the key \($0)" } ?? "a row without a key"), \(column): \(reason)"
    }
}

/// The first problems, and the number of all.
struct ForeignProblems {
    private(set) var list: [TableProblem] = []
    private(set) var count = 0
    private(set) var rows = 0

    private static let maximum = 100_000

    mutating func add(_ problem: TableProblem) {
        count += 1
        if list.count < Self.maximum { list.append(problem) }
    }

    mutating func add(_ problems: [(column: String, reason: String, isRow: Bool)], of table: ForeignTable, key: Key?) {
        if problems.contains(where: \.isRow) { rows += 1 }
        for problem in problems {
            add(
                TableProblem(
                    table: table.entity.table, column: problem.column, key: key.map { UniqueID($0) }, reason: problem.reason,
                    isRow: problem.isRow))
        }
    }
}
