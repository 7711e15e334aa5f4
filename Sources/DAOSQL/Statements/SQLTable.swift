import DAOCore

/// The table of one entity: the text of all its statements.
///
/// The statements for single rows are composed once, here. The statements of queries are composed from the
/// shape of the query, with every value bound.
public struct SQLTable: Sendable {
    /// The entity whose rows the table holds, in ``/DAOCore/EntityDescription/rowForm``.
    public let entity: EntityDescription
    /// The entity as the catalog describes it.
    package let stored: EntityDescription
    /// The SQL dialect of the engine.
    public let dialect: any SQLDialect
    /// The quoted names of the columns, by the position of their fields. A list of models has no column, and
    /// reads as `NULL`.
    public let columns: [String]
    /// The quoted name of the table.
    public let name: String
    /// Reads the declared columns of the row with a key.
    let selectByKey: String
    /// Inserts a row; an existing key is an error of the engine. Every column is bound, in the order of the
    /// fields.
    let insert: String
    /// Inserts a row, or sets the declared columns of the row with the same key. Every column is bound, in order.
    let upsert: String
    /// Removes the row with a key.
    let deleteByKey: String

    /// The columns as they are written in comparisons and sorts.
    let comparable: [String]
    /// The fields whose texts the engine itself does not compare by bytes.
    let otherOrder: Set<Int>
    /// The columns with the name of the table, for statements that read others too.
    let qualified: Columns
    /// The declared columns with the name of the table.
    private let qualifiedList: String
    /// The fields with an index besides that of the key.
    private let indexed: Set<Int>
    /// The conditions of the partial indexes.
    private(set) var partialIndexes: [IndexConditionText] = []
    /// The indexes on elements of arrays.
    private(set) var elementTables: [ElementTable] = []
    /// The look-up by which statements read the table; nil for all rows.
    private var elements: ElementLookUp?
    /// The columns that the model declares, in order.
    let declaredColumns: ArraySlice<String>
    /// The positions and defaults of the retired columns, which the model does not declare.
    private let retired: [(field: Int, defaultValue: Value)]
    /// The quoted name of the table in statements that read it, with what makes them use one of its indexes.
    private var source: String
    private var selectAll: String
    /// What comes before the table in the statement that reads the declared columns.
    private let selectHead: String

    /// Columns with the name of their rows.
    struct Columns: Sendable {
        /// The columns, by the position of their fields.
        let stored: [String]
        /// The columns as they are written in comparisons and sorts.
        let comparable: [String]

        init(_ columns: [String], in rows: String, _ comparable: (String, Int) -> String) {
            let stored = columns.map { $0 == "NULL" ? $0 : "\(rows).\($0)" }
            self.stored = stored
            self.comparable = stored.indices.map { comparable(stored[$0], $0) }
        }
    }

    /// Composes the statements of a model.
    ///
    /// - Parameters:
    ///   - layout: What the table holds, in the order of the model's fields.
    ///   - otherOrder: The names of the columns whose texts the engine itself does not compare by bytes.
    ///   - dialect: The engine's way of writing.
    init(_ layout: RowLayout, otherOrder: Set<String> = [], dialect: any SQLDialect) {
        self.init(
            layout.entity, retired: Array(zip(layout.retired, layout.retiredDefaults)), otherOrder: otherOrder, dialect: dialect)
    }

    /// Makes the statements.
    ///
    /// - Parameters:
    ///   - entity: The entity whose rows the table holds.
    ///   - name: The unquoted name of the table; nil for the name of the entity.
    ///   - retired: The last fields, where the model does not declare them, and their defaults.
    ///   - otherOrder: The names of the columns whose texts the engine itself does not compare by bytes.
    ///   - dialect: The SQL dialect of the engine.
    init(
        _ entity: EntityDescription, named name: String? = nil, retired: [(field: Int, defaultValue: Value)] = [],
        otherOrder: Set<String> = [], dialect: any SQLDialect
    ) {
        stored = entity
        var entity = entity.rowForm
        let elementIndexes = entity.indexes.filter { $0.elements != nil }
        entity.indexes.removeAll { $0.elements != nil }
        self.entity = entity
        self.dialect = dialect
        self.name = dialect.quoted(name ?? entity.name)
        let columns = entity.fields.map { $0.type.kind.isRelationship ? "NULL" : dialect.quoted($0.name) }
        let stored = entity.fields.indices.filter { !entity.fields[$0].type.kind.isRelationship }
        self.columns = columns
        let ordered = Set(entity.fields.indices.filter { otherOrder.contains(entity.fields[$0].name) })
        self.otherOrder = ordered
        func comparable(_ column: String, _ field: Int) -> String {
            Self.comparable(column, entity.fields[field], dialect, hasOtherOrder: ordered.contains(field))
        }
        self.comparable = entity.fields.indices.map { comparable(dialect.quoted(entity.fields[$0].name), $0) }
        qualified = Columns(columns, in: self.name, comparable)
        indexed = Set(entity.allIndexes.flatMap(entity.positions))
        self.retired = retired.filter { !entity.fields[$0.field].type.kind.isRelationship }
        let declaredCount = entity.fields.count - retired.count
        declaredColumns = columns.prefix(declaredCount)
        qualifiedList = qualified.stored.prefix(declaredCount).joined(separator: ", ")
        let list = declaredColumns.joined(separator: ", ")
        let key = columns[entity.keyIndex]
        source = self.name
        selectHead = "SELECT \(list) FROM "
        selectAll = selectHead + source
        selectByKey = "\(selectAll) WHERE \(key) = \(dialect.placeholder(1))"
        deleteByKey = "DELETE FROM \(self.name) WHERE \(key) = \(dialect.placeholder(1))"
        let placeholders = stored.indices.map { dialect.placeholder($0 + 1) }.joined(separator: ", ")
        insert =
            "\(dialect.insertHead) \(self.name) (\(stored.map { columns[$0] }.joined(separator: ", "))) VALUES (\(placeholders))"
        let changes = stored.filter { $0 != entity.keyIndex && $0 < declaredCount }.map {
            "\(columns[$0]) = excluded.\(columns[$0])"
        }
        upsert =
            "\(insert) ON CONFLICT (\(key)) DO " + (changes.isEmpty ? "NOTHING" : "UPDATE SET \(changes.joined(separator: ", "))")
        partialIndexes = entity.indexes.compactMap(condition)
        elementTables = elementIndexes.compactMap { ElementTable($0, of: self) }
    }

    /// Returns a column of a field, with the name of its rows or without, as it is written in comparisons and sorts.
    func comparable(_ column: String, _ field: Int) -> String {
        Self.comparable(column, entity.fields[field], dialect, hasOtherOrder: otherOrder.contains(field))
    }

    private static func comparable(
        _ column: String, _ field: FieldDescription, _ dialect: any SQLDialect, hasOtherOrder: Bool
    ) -> String {
        hasOtherOrder ? dialect.comparedByBytes(column) : dialect.comparable(column, field)
    }

    /// Returns the statement that writes one row.
    public func text(of write: SQLRowWrite) -> String {
        switch write {
        case .insert: insert
        case .upsert: upsert
        case .update(let fields): update(fields)
        }
    }

    /// Binds the defaults of the retired columns, after the declared columns of a new row.
    @inline(__always) func writeRetiredDefaults(to row: RowWriter) throws {
        for retired in retired { try entity.write(retired.defaultValue, at: retired.field, to: row) }
    }

    /// Returns the statement that changes some columns of the row with a key. The columns are bound in
    /// ascending order of position, then the key.
    ///
    /// - Parameter fields: The positions of the columns, ascending.
    func update(_ fields: [Int]) -> String {
        let changes = fields.enumerated().map { "\(columns[$1]) = \(dialect.placeholder($0 + 1))" }
        return "\(dialect.updateHead) \(name) SET \(changes.joined(separator: ", ")) WHERE \(columns[entity.keyIndex]) = "
            + dialect.placeholder(fields.count + 1)
    }

    /// Returns the statement that reads the key of a row in an index with the given values in its fields, except the row
    /// with a key. The values are bound, then the key.
    func conflict(in index: IndexDescription) -> String {
        let key = columns[entity.keyIndex]
        let fields = entity.positions(of: index)
        let values = fields.enumerated().map { "\(columns[$1]) = \(dialect.placeholder($0 + 1)) AND " }
        let conditions = (condition(of: index).map { $0.text + " AND " } ?? "") + values.joined()
        return "SELECT \(key) FROM \(name) WHERE \(conditions)\(key) <> \(dialect.placeholder(fields.count + 1)) LIMIT 1"
    }
}

extension SQLTable {
    /// Returns the statement that reads the declared columns of a query's rows, in the order of the query.
    func select(_ query: ResolvedQuery, _ related: RelatedTables? = nil) throws -> SQLText {
        try completed(selectAll, query, related)
    }

    /// Returns the statement that reads some columns of a query's rows, in the order of the query.
    ///
    /// - Parameters:
    ///   - fields: The positions of the columns, in the wanted order.
    ///   - query: The query.
    ///   - related: What its conditions on related rows read.
    func select(_ fields: [Int], _ query: ResolvedQuery, _ related: RelatedTables?) throws -> SQLText {
        try completed("SELECT \(fields.map { columns[$0] }.joined(separator: ", ")) FROM \(source)", query, related)
    }

    /// Returns the statement that reads some columns of a query's rows, in the order of the query. Every column is at the
    /// position of its field; the others are `NULL`.
    func select(only fields: [Int], _ query: ResolvedQuery, _ related: RelatedTables) throws -> SQLText {
        try completed("SELECT \(list(of: fields) { columns[$0] }) FROM \(source)", query, related)
    }

    /// Returns the statement that reads the different values of some columns, ascending, in the rows that a filter matches.
    /// Every column is at the position of its field; the others are `NULL`. The counts are in the columns after them. Without
    /// fields, all rows are one group.
    ///
    /// - Parameters:
    ///   - fields: The positions of the columns.
    ///   - counts: What is counted. Without counts, an engine may jump from value to value of an index, which SQLite does for
    ///     `DISTINCT` on nothing but columns.
    ///   - order: The numbers of counts by which groups are ordered before the columns.
    ///   - limit: The maximum number of groups; nil for all.
    func groups(
        by fields: [Int], counting counts: [SQLGroupCount], where filter: Filter, _ related: RelatedTables,
        order: [(column: Int, isAscending: Bool)] = [], limit: Int? = nil
    ) throws -> (sql: SQLText, countColumn: Int) {
        func terms(_ column: (Int) -> String) -> [String] {
            fields.map { sortTerm($0, column($0), isAscending: true, nilsFirst: true) }
        }
        let countColumn = (fields.max() ?? 0) + 1
        let groups = ResolvedQuery(filter: .all, order: [], limit: limit)
        if !counts.isEmpty || fields.contains(where: { comparable[$0] != columns[$0] }) {
            var writer = ConditionWriter(self, SQLText("SELECT \(list(of: fields) { columns[$0] })"), nil)
            // No field has such a name: a field may be called "count".
            func alias(_ number: Int) -> String { dialect.quoted(".count\(number)") }
            for (number, count) in counts.enumerated() {
                switch count {
                case .rows: writer.write(", count(*)")
                case .values(let field): writer.write(", count(DISTINCT \(comparable[field]))")
                case .rowsMeeting(let filter):
                    writer.write(", count(CASE WHEN ")
                    try writer.write(filter)
                    writer.write(" THEN 1 END)")
                }
                writer.write(" AS \(alias(number))")
            }
            writer.write(" FROM \(source)")
            var sql = try filtered(writer.sql, filter, related)
            if fields.isEmpty { return (sql, countColumn) }
            sql.text += " GROUP BY " + fields.map { comparable[$0] }.joined(separator: ", ")
            let first = order.map { dialect.sortTerm(alias($0.column), isAscending: $0.isAscending, nilsFirst: nil) }
            sql.text += " ORDER BY " + (first + terms { comparable[$0] }).joined(separator: ", ")
            return (limited(sql, groups), countColumn)
        }
        // SQLite gives columns of a subquery that are called "true" or "false" another name.
        func alias(_ field: Int) -> String { dialect.quoted(".\(field)") }
        let distinct = fields.map { "\(columns[$0]) AS \(alias($0))" }.joined(separator: ", ")
        var sql = try filtered(
            "SELECT \(list(of: fields, alias)) FROM (SELECT DISTINCT \(distinct) FROM \(source)", filter, related)
        sql.text += ") AS \(dialect.quoted(".groups")) ORDER BY " + terms(alias).joined(separator: ", ")
        return (limited(sql, groups), countColumn)
    }

    /// Returns a term of an order.
    ///
    /// - Parameter mayBeMissing: Whether there are results without a row of this table.
    private func sortTerm(
        _ field: Int, _ expression: String, isAscending: Bool, nilsFirst: Bool, mayBeMissing: Bool = false
    ) -> String {
        let nilsFirst = mayBeMissing || entity.fields[field].type.isOptional ? nilsFirst : nil
        func term(_ column: String) -> String { dialect.sortTerm(column, isAscending: isAscending, nilsFirst: nilsFirst) }
        return (prefix(of: field, expression).map { term($0) + ", " } ?? "") + term(expression)
    }

    /// Writes the terms of an order.
    ///
    /// - Parameter expression: Returns a column as it is written in sorts.
    /// - Throws: ``/DAOCore/RelatedConditionsUnavailable`` for a term that the engine has no expression for.
    private func write(
        _ order: [SortTerm], to writer: inout ConditionWriter, _ expression: (Int) -> String
    ) throws {
        for (number, term) in order.enumerated() {
            if number > 0 { writer.write(", ") }
            switch term.subject {
            case .field(let field):
                writer.write(
                    sortTerm(field, expression(field), isAscending: term.isAscending, nilsFirst: term.nilsFirst))
            case .folded(let field, let options):
                guard let folded = dialect.folded(columns[field], options) else { throw RelatedConditionsUnavailable() }
                let nilsFirst = entity.fields[field].type.isOptional ? term.nilsFirst : nil
                writer.write(dialect.sortTerm(folded, isAscending: term.isAscending, nilsFirst: nilsFirst))
            case .condition(let filter, _):
                writer.write("CASE WHEN ")
                try writer.write(filter)
                writer.write(dialect.sortTerm(" THEN 1 ELSE 0 END", isAscending: term.isAscending, nilsFirst: nil))
            }
        }
    }

    /// The beginning of a value, as the indexes on its field contain it; nil when they contain the value, and for fields
    /// without an index.
    func prefix(of field: Int, _ expression: String) -> String? {
        indexed.contains(field) ? dialect.prefix(expression, entity.fields[field].type.kind) : nil
    }

    private func list(of fields: [Int], _ column: (Int) -> String) -> String {
        (0...(fields.max() ?? 0)).map { fields.contains($0) ? column($0) : "NULL" }.joined(separator: ", ")
    }

    /// Returns the statement that reads every column of all rows, or of the rows after a key, in the order of
    /// the keys.
    func selectInKeyOrder(after key: Key?) -> SQLText {
        let column = columns[entity.keyIndex]
        let range = key == nil ? "" : " WHERE \(column) > \(dialect.placeholder(1))"
        return SQLText("\(selectAll)\(range) ORDER BY \(column)", key.map { [.value($0.value)] } ?? [])
    }

    /// Returns the statement that counts the rows that a filter matches.
    func count(_ filter: Filter, _ related: RelatedTables? = nil) throws -> SQLText {
        try filtered("SELECT count(*) FROM \(source)", filter, related)
    }

    /// Returns the statement that counts the rows of a query without an order. With a limit it looks at no more rows than that.
    func count(_ query: ResolvedQuery, _ related: RelatedTables) throws -> SQLText {
        guard query.limit != nil else { return try count(query.filter, related) }
        var sql = try completed("SELECT count(*) FROM (SELECT 1 FROM \(source)", query, related)
        // No name of an entity begins with a dot.
        sql.text += ") AS \(dialect.quoted(".counted"))"
        return sql
    }

    /// The table in statements that read it through the path that was chosen for a query; the table itself when the engine
    /// chooses.
    func using(_ choice: PathChoice?) -> SQLTable {
        choice.map { through($0.path) } ?? self
    }

    /// The table in statements that read it through a path.
    private func through(_ path: QueryPath) -> SQLTable {
        var table = self
        table.elements = path.elements
        table.source = (path.elements.map { "\(dialect.quoted($0.table.name)) CROSS JOIN " } ?? "") + name + path.hint
        table.selectAll = selectHead + table.source
        return table
    }

    /// The table in statements that write. They join it with no other table.
    private var written: SQLTable {
        if elements == nil { return self }
        var table = self
        (table.elements, table.source) = (nil, name)
        return table
    }

    /// The column of the key in the order of the path by which the table is read.
    private func orderColumn(_ field: Int) -> String {
        elements != nil && field == entity.keyIndex ? ElementTable.key : comparable[field]
    }

    /// Returns the statement that has one row for each entry of a path that conditions restrict.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - conditions: The conditions.
    ///   - count: The number of entries to skip, to have one row at most; nil for all rows.
    func entries(of path: QueryPath, where conditions: Filter, after count: Int? = nil) throws -> SQLText {
        let sql: SQLText
        if let elements = path.elements {
            let text = "SELECT 1 FROM \(dialect.quoted(elements.table.name)) WHERE \(ElementTable.element) = "
            sql = SQLText(text + dialect.placeholder(1), [.value(elements.value)])
        } else {
            let table = through(path)
            sql = try table.filtered("SELECT 1 FROM \(table.source)", .every([conditions, path.condition]))
        }
        return count.map { one(of: sql, after: $0) } ?? sql
    }

    /// Returns the statement that has a row when the table has more than a number of rows.
    func entries(after count: Int) -> SQLText { one(of: SQLText("SELECT 1 FROM \(name)"), after: count) }

    /// Returns the statement that has a row when a field is nil in a row.
    ///
    /// - Parameters:
    ///   - field: The position of the field.
    ///   - hint: What makes the statement use an index on the field.
    func hasNull(in field: Int, hint: String) -> SQLText {
        SQLText("SELECT 1 FROM \(name)\(hint) WHERE \(columns[field]) IS NULL LIMIT 1")
    }

    private func one(of sql: SQLText, after count: Int) -> SQLText {
        limited(sql, ResolvedQuery(filter: .all, order: [], limit: 1, offset: count))
    }

    /// Returns the statement that has one row for each entry of a path, in the order of the path: one where the row matches a
    /// filter, and then each field of the order, at the position after its own, where groups of rows are sorted.
    func entries(
        of path: QueryPath, where conditions: Filter, matching filter: Filter, _ query: ResolvedQuery
    ) throws -> SQLText {
        var writer = ConditionWriter(self, SQLText("SELECT CASE WHEN "), nil)
        try writer.write(filter)
        let fields = path.sortsGroups ? ", " + list(of: path.ordered) { columns[$0] } : ""
        let table = through(path)
        writer.write(" THEN 1 END\(fields) FROM \(table.source)")
        let sql = try table.filtered(writer.sql, .every([conditions, path.condition]))
        let order = query.order.filter { $0.field.map(path.ordered.contains) == true }
        return try table.sorted(sql, by: order)
    }

    /// Returns the statement that removes the rows of a query.
    func delete(_ query: ResolvedQuery) throws -> SQLText {
        if query.limit == nil, query.offset == 0 { return try written.filtered("DELETE FROM \(written.source)", query.filter) }
        let key = columns[entity.keyIndex]
        var sql = try completed("DELETE FROM \(name) WHERE \(key) IN (SELECT \(key) FROM \(source)", query)
        sql.text += ")"
        return sql
    }

    /// Returns the statement that changes columns in the rows that a filter matches.
    ///
    /// - Parameters:
    ///   - changes: What the columns get.
    ///   - counter: The position of a column that counts up by one; nil for none.
    ///   - filter: The filter.
    func set(
        _ changes: [StoredChange], counting counter: Int?, where filter: Filter, _ related: RelatedTables
    ) throws -> SQLText {
        var terms = changes.enumerated().map { number, change in
            let column = columns[change.field]
            return "\(column) = \(change.isIncrease ? "\(column) + " : "")\(dialect.placeholder(number + 1))"
        }
        if let counter { terms.append("\(columns[counter]) = \(columns[counter]) + 1") }
        let head = "\(dialect.updateHead) \(written.source) SET \(terms.joined(separator: ", "))"
        return try written.filtered(SQLText(head, changes.map { .value($0.value) }), filter, related)
    }

    private func filtered(_ head: String, _ filter: Filter, _ related: RelatedTables? = nil) throws -> SQLText {
        try filtered(SQLText(head), filter, related)
    }

    private func filtered(_ head: SQLText, _ filter: Filter, _ related: RelatedTables? = nil) throws -> SQLText {
        if filter == .all, elements == nil { return head }
        var writer = ConditionWriter(self, SQLText(head.text + " WHERE ", head.bindings), related)
        if let elements = elements ?? (source == name ? elementsAlone(in: filter) : nil) {
            writer.write(elements, joins: self.elements != nil, key: "\(name).\(columns[entity.keyIndex])")
            writer.write(" AND (")
            try writer.write(filter)
            writer.write(")")
            return writer.sql
        }
        try write(filter, to: &writer, \.text)
        return writer.sql
    }

    /// Writes a filter, with the conditions of the partial indexes that serve it as text.
    private func write(
        _ filter: Filter, to writer: inout ConditionWriter, _ text: (IndexConditionPart) -> String
    ) throws {
        let (met, rest) = dividedByIndexes(filter)
        if met.isEmpty { return try writer.write(filter) }
        if rest != .all {
            let isOpen = if case .or = rest { true } else { false }
            if isOpen { writer.write("(") }
            try writer.write(rest)
            writer.write(isOpen ? ") AND " : " AND ")
        }
        writer.write(met.map(text).joined(separator: " AND "))
    }

    /// The look-up by an element for a statement whose path nobody chose; nil when the rows are known by their keys.
    private func elementsAlone(in filter: Filter) -> ElementLookUp? {
        if elementTables.isEmpty { return nil }
        let conjuncts = filter.conjuncts
        let unique = entity.fields.indices.filter { entity.fields[$0].isPrimaryKey || entity.fields[$0].isUnique }
        let isKnown = conjuncts.contains { conjunct in unique.contains { conjunct.hasSingleValues(of: $0) } }
        return isKnown ? nil : ElementLookUp.all(in: conjuncts, self).first
    }

    /// The conditions of the partial indexes that serve a filter, and what has to be checked beside them.
    private func dividedByIndexes(_ filter: Filter) -> (met: [IndexConditionPart], rest: Filter) {
        var met: [IndexConditionPart] = []
        for index in partialIndexes where filter.implies(index.filter) {
            met += index.parts.filter { part in !met.contains { $0.filter == part.filter } }
        }
        if met.isEmpty { return ([], filter) }
        return (met, .every(filter.conjuncts.filter { conjunct in !met.contains { $0.filter == conjunct } }))
    }

    /// Returns the statement that reads the declared columns of a query's rows in the order of a field of their related rows,
    /// then in the order of the query.
    func select(
        _ query: ResolvedQuery, sortedBy sort: RelatedSort, _ join: RelatedJoin, _ related: RelatedTables
    ) throws -> SQLText {
        guard let link = entity.index(of: sort.relation.field) else { throw RelatedConditionsUnavailable() }
        let target = try related.table(sort.target)
        // No name of an entity begins with a dot.
        let alias = dialect.quoted(".sorted")
        let keys = "\(name).\(columns[link]) = \(alias).\(target.columns[target.entity.keyIndex])"
        let tables =
            switch join {
            case .rowsFirst: "\(source) LEFT JOIN \(target.name) AS \(alias) ON \(keys)"
            case .relatedFirst(let hint, let rowHint, _):
                "\(target.name) AS \(alias)\(hint) CROSS JOIN \(name)\(rowHint) ON \(keys)"
            case .chosenByEngine: "\(target.name) AS \(alias) JOIN \(name) ON \(keys)"
            }
        var writer = ConditionWriter(qualifying: self, SQLText("SELECT \(qualifiedList) FROM \(tables) WHERE "), related)
        var mayBeMissing = false
        if case .rowsFirst = join {
            mayBeMissing = true
            try writer.write(rowsFrom: sort, of: target, named: alias)
        } else {
            try writer.write(relatedRowsFrom: sort, of: target, named: alias)
            if case .relatedFirst(_, let rowHint, true) = join {
                writer.write(" AND NOT EXISTS (\(hasNull(in: link, hint: rowHint).text))")
            }
        }
        if let elements {
            writer.write(" AND ")
            writer.write(elements, joins: true, key: "\(name).\(columns[entity.keyIndex])")
        }
        if query.filter != .all {
            writer.write(" AND (")
            try write(query.filter, to: &writer, \.qualifiedText)
            writer.write(")")
        }
        let field = target.comparable("\(alias).\(target.columns[sort.field])", sort.field)
        let first = target.sortTerm(
            sort.field, field, isAscending: sort.isAscending, nilsFirst: sort.nilsFirst, mayBeMissing: mayBeMissing)
        writer.write(" ORDER BY \(first), ")
        let columns = writer.comparable
        try write(query.order, to: &writer) { columns[$0] }
        return limited(writer.sql, query)
    }

    private func completed(_ head: String, _ query: ResolvedQuery, _ related: RelatedTables? = nil) throws -> SQLText {
        limited(try sorted(filtered(head, query.filter, related), by: query.order), query)
    }

    private func sorted(_ sql: SQLText, by order: [SortTerm]) throws -> SQLText {
        if order.isEmpty { return sql }
        var writer = ConditionWriter(self, sql, nil)
        writer.write(" ORDER BY ")
        try write(order, to: &writer, orderColumn)
        return writer.sql
    }

    private func limited(_ sql: SQLText, _ query: ResolvedQuery) -> SQLText {
        var sql = sql
        if query.limit != nil || query.offset > 0 {
            sql.bindings.append(.count(query.limit))
            sql.text += " LIMIT " + dialect.placeholder(sql.bindings.count)
        }
        if query.offset > 0 {
            sql.bindings.append(.count(query.offset))
            sql.text += " OFFSET " + dialect.placeholder(sql.bindings.count)
        }
        return sql
    }
}

extension SQLTable {
    /// The statement that creates the table, with line breaks for readers. An engine passes all that is before a column to find it,
    /// and a long row is on several pages: so what can be long comes last, and before that the numbers for which there is an index
    /// instead of a scan.
    var createTable: String {
        let indexed = Set(entity.allIndexes.compactMap(\.fields.first?.name))
        var (short, found, long): ([String], [String], [String]) = ([], [], [])
        for (index, field) in entity.fields.enumerated() where !field.type.kind.isRelationship {
            var line = "  \(columns[index]) \(dialect.columnType(of: field))"
            if field.isPrimaryKey {
                line += " PRIMARY KEY"
            }
            if !field.type.isOptional, !field.isPrimaryKey { line += " NOT NULL" }
            switch field.type.kind {
            case .string, .data, .url, .embedded: long.append(line)
            default: if indexed.contains(field.name) { found.append(line) } else { short.append(line) }
            }
        }
        return "CREATE TABLE \(name) (\n\((short + found + long).joined(separator: ",\n"))\n)\(dialect.tableOptions(for: entity))"
    }

    /// Returns the name of an index, where no other object has it. It is not quoted.
    func indexName(_ index: IndexDescription) -> String {
        (index.namePrefix ?? "") + ([entity.name] + index.fields.map(\.name)).joined(separator: "_")
    }

    /// Returns the statement that creates an index.
    ///
    /// - Parameters:
    ///   - index: The index.
    ///   - indexName: The unquoted name of the index.
    ///
    /// - Throws: `.unsupported` for a partial index with a value that the dialect has no text for.
    func create(_ index: IndexDescription, named indexName: String) throws -> String {
        var rows = ""
        if index.condition != nil {
            guard let condition = condition(of: index) else {
                throw StorageError(
                    .unsupported,
                    "the condition of the index on '\(index)' has a value that this database cannot have in an index",
                    entity: entity.name, field: index.fieldNames)
            }
            rows = " WHERE \(condition.text)"
        }
        let terms = dialect.terms(of: index, in: self)
        return "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(dialect.quoted(indexName)) ON \(name)(\(terms))\(rows)"
    }
}

/// What a statement counts in each group of rows.
enum SQLGroupCount {
    /// The rows.
    case rows
    /// The rows that a filter matches.
    case rowsMeeting(Filter)
    /// The different values of a column.
    case values(field: Int)
}
