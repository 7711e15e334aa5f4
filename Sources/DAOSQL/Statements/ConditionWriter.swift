import DAOCore

/// Writes a ``/DAOCore/Filter`` as the condition of a `WHERE` clause. The condition holds for exactly the rows
/// that the filter matches.
///
/// Negations are only in the leaves. A leaf may therefore be null instead of false: `AND` and `OR` never turn
/// null into true. A leaf is never null when the filter is true.
struct ConditionWriter {
    /// Beyond these limits the engine's parser would fail. A function that runs the filter itself then
    /// handles the part.
    fileprivate static let maximumDepth = 20
    fileprivate static let maximumLeaves = 500
    /// Beyond this number of relationships they are resolved into keys.
    private static let maximumDistance = 4
    /// The depth that a subquery counts for.
    private static let depthOfRelation = 4
    /// A chain of operators is split into parentheses of this length, which keeps the engine's expression
    /// tree flat.
    private static let chainLength = 32
    /// The number of placeholders of an `in` is rounded up to one of these sizes, so that statements are
    /// reused.
    private static let listSizes = [1, 2, 4, 8, 16, 32]

    private var table: SQLTable
    /// The columns as they are written in conditions, and in comparisons.
    private var columns: [String]
    private(set) var comparable: [String]
    /// The name of the rows, by which conditions on their related rows refer to them.
    private var rows: String
    /// The number of relationships from the rows of the query to these rows.
    private var distance = 0
    /// Whether the condition is a part of an alternative.
    private var isAlternative = false
    private let related: RelatedTables?
    private(set) var sql: SQLText

    /// Continues a statement over a table.
    ///
    /// - Parameter related: What conditions on related rows read; nil when there are none.
    init(_ table: SQLTable, _ sql: SQLText, _ related: RelatedTables?) {
        self.table = table
        self.sql = sql
        self.related = related
        (columns, comparable, rows) = (table.columns, table.comparable, table.name)
    }

    /// Continues a statement over a table and another one that may have columns of the same names.
    init(qualifying table: SQLTable, _ sql: SQLText, _ related: RelatedTables?) {
        self.init(table, sql, related)
        (columns, comparable) = (table.qualified.stored, table.qualified.comparable)
    }

    mutating func write(_ text: String) { sql.text += text }

    /// Writes the condition that rows have an element.
    ///
    /// - Parameters:
    ///   - elements: The element.
    ///   - joins: Whether the statement reads the table of elements beside that of the rows.
    ///   - key: The column of the rows' key.
    mutating func write(_ elements: ElementLookUp, joins: Bool, key: String) {
        let isElement = "\(ElementTable.element) = \(bind(.value(elements.value)))"
        let name = table.dialect.quoted(elements.table.name)
        sql.text +=
            joins
            ? "\(key) = \(ElementTable.key) AND \(isElement)"
            : "\(key) IN (SELECT \(ElementTable.key) FROM \(name) WHERE \(isElement))"
    }

    /// Writes the condition of the related rows of a sort: they have a value, and are not before the start.
    mutating func write(relatedRowsFrom sort: RelatedSort, of target: SQLTable, named name: String) throws {
        if let start = sort.start, !start.value.isNull { return try write(start, sort, of: target, named: name) }
        try write(.isNull(field: sort.field, false), of: target, named: name)
    }

    /// Writes the condition of the rows of a sort: they are not before the start. Related rows can be missing.
    mutating func write(rowsFrom sort: RelatedSort, of target: SQLTable, named name: String) throws {
        guard let start = sort.start else { return write("1=1") }
        write("(")
        if !start.value.isNull {
            try write(start, sort, of: target, named: name)
            if !sort.nilsFirst {
                write(" OR ")
                try write(.isNull(field: sort.field, true), of: target, named: name)
            }
        } else {
            // Rows with a value come after them, or before.
            try write(.isNull(field: sort.field, !sort.nilsFirst), of: target, named: name)
            write(sort.nilsFirst ? " OR (" : " AND (")
            try write(start.filter)
            write(")")
        }
        write(")")
    }

    /// Writes the condition of the related rows from a value on, and of the rows after the start among those with the value.
    private mutating func write(
        _ start: RelatedSort.Start, _ sort: RelatedSort, of target: SQLTable, named name: String
    ) throws {
        func beyond(_ comparison: Comparison) -> Filter { .compare(field: sort.field, comparison, start.value) }
        try write(beyond(sort.isAscending ? .greaterOrEqual : .lessOrEqual), of: target, named: name)
        write(" AND (")
        try write(beyond(sort.isAscending ? .greater : .less), of: target, named: name)
        write(" OR (")
        try write(start.filter)
        write("))")
    }

    mutating func write(_ filter: Filter) throws {
        if filter.leafCount > Self.maximumLeaves { return try writeFunction(filter) }
        try write(filter, depth: distance == 0 ? 0 : 1 + Self.depthOfRelation * distance)
    }

    private mutating func write(_ filter: Filter, depth: Int) throws {
        switch filter {
        case .all: sql.text += "1=1"
        case .none: sql.text += "1=0"
        case .and(let parts): try writeChain(parts[...], filter, " AND ", depth)
        case .or(let parts):
            let wasAlternative = isAlternative
            isAlternative = true
            try writeChain(parts[...], filter, " OR ", depth)
            isAlternative = wasAlternative
        case .isNull(let field, let expected): sql.text += columns[field] + (expected ? " IS NULL" : " IS NOT NULL")
        case .compare(let field, let comparison, let value): writeComparison(field, comparison, value)
        case .compareFields(let left, let comparison, let right, let isNegated):
            try writeFields(left, comparison, right, isNegated: isNegated, filter)
        case .isIn(let field, let set, let isNegated): writeMembership(field, set, isNegated: isNegated)
        case .text(let field, let pattern, let isNegated): try writeText(field, pattern, isNegated: isNegated)
        case .compareFolded: try writeFunction(filter)
        case .related(let filter, let isNegated): try writeRelated(filter, isNegated: isNegated)
        // Functions of an engine on JSON round large numbers, so the suite's function runs the filter.
        case .embedded:
            // Of all other conditions, the path that is chosen for the query has those with an index.
            let elements = isAlternative ? ElementLookUp.all(in: [filter], table).first : nil
            if let elements {
                write(elements, joins: false, key: columns[table.entity.keyIndex])
                write(" AND ")
            }
            try writeFunction(filter)
        }
    }

    private mutating func writeChain(_ parts: ArraySlice<Filter>, _ whole: Filter, _ operation: String, _ depth: Int) throws {
        guard depth < Self.maximumDepth else { return try writeFunction(whole) }
        sql.text += depth == 0 ? "" : "("
        if parts.count > Self.chainLength {
            var start = parts.startIndex
            while start < parts.endIndex {
                if start > parts.startIndex { sql.text += operation }
                let end = min(start + Self.chainLength, parts.endIndex)
                sql.text += "("
                try writeLinks(parts[start..<end], operation, depth + 2)
                sql.text += ")"
                start = end
            }
        } else {
            try writeLinks(parts, operation, depth + 1)
        }
        sql.text += depth == 0 ? "" : ")"
    }

    private mutating func writeLinks(_ parts: ArraySlice<Filter>, _ operation: String, _ depth: Int) throws {
        for (index, part) in parts.enumerated() {
            if index > 0 { sql.text += operation }
            try write(part, depth: depth)
        }
    }

    private mutating func writeComparison(_ field: Int, _ comparison: Comparison, _ value: Value) {
        let column = comparable[field]
        let placeholder = bind(.value(value))
        if comparison == .notEqual, table.entity.fields[field].type.isOptional {
            sql.text += table.dialect.isSame(column, placeholder, isNegated: true)
        } else {
            sql.text += withPrefix(field, comparison, [placeholder]) { column + comparison.sql + placeholder }
        }
    }

    /// Returns a condition together with the same condition on the beginnings of the values, when the index on a field has
    /// only these.
    private func withPrefix(
        _ field: Int, _ comparison: Comparison, _ placeholders: [String], _ condition: () -> String
    ) -> String {
        let kind = table.entity.fields[field].type.kind
        guard let prefix = table.prefix(of: field, comparable[field]) else { return condition() }
        let beginnings = placeholders.compactMap { table.dialect.prefix($0, kind) }
        let operation: Comparison =
            switch comparison {
            case .less, .lessOrEqual: .lessOrEqual
            case .greater, .greaterOrEqual: .greaterOrEqual
            case .equal: .equal
            case .notEqual: .notEqual
            }
        if operation == .notEqual { return condition() }
        let beginning =
            beginnings.count == 1 ? prefix + operation.sql + beginnings[0] : "\(prefix) IN (\(beginnings.joined(separator: ",")))"
        return "(\(beginning) AND \(condition()))"
    }

    private mutating func writeFields(
        _ left: Int, _ comparison: Comparison, _ right: Int, isNegated: Bool, _ filter: Filter
    ) throws {
        let fields = table.entity.fields
        guard table.dialect.canCompare(fields[left].type.kind, with: fields[right].type.kind) else {
            return try writeFunction(filter)
        }
        let (first, second) = (comparable[left], comparable[right])
        guard fields[left].type.isOptional || fields[right].type.isOptional else {
            sql.text += first + (isNegated ? comparison.negated : comparison).sql + second
            return
        }
        switch comparison {
        case .equal: sql.text += table.dialect.isSame(first, second, isNegated: isNegated)
        case .notEqual: sql.text += table.dialect.isSame(first, second, isNegated: !isNegated)
        default: writeCondition(first + comparison.sql + second, isNegated: isNegated)
        }
    }

    private mutating func writeMembership(_ field: Int, _ set: ValueSet, isNegated: Bool) {
        let column = comparable[field]
        guard let last = set.values.last else {
            sql.text += isNegated ? "1=1" : "1=0"
            return
        }
        let condition: String
        if let size = Self.listSizes.first(where: { $0 >= set.values.count }) {
            let list = (0..<size).map { bind(.value($0 < set.values.count ? set.values[$0] : last)) }
            condition = withPrefix(field, .equal, list) { "\(column) IN (\(list.joined(separator: ",")))" }
        } else {
            condition = table.dialect.isIn(column, bind(.set(set)))
        }
        writeCondition(condition, isNegated: isNegated)
    }

    private mutating func writeText(_ field: Int, _ pattern: TextPattern, isNegated: Bool) throws {
        let column = columns[field]
        guard !pattern.needsFunction else {
            if !table.dialect.callsFunctions { throw RelatedConditionsUnavailable() }
            let condition = table.dialect.matches(column, bind(.pattern(pattern)))
            sql.text += isNegated ? "NOT " + condition : condition
            return
        }
        switch pattern.match {
        case .equals: writeComparison(field, isNegated ? .notEqual : .equal, .string(pattern.text))
        case .contains where !table.dialect.canContain(pattern.text): throw RelatedConditionsUnavailable()
        case .contains: writeCondition(table.dialect.contains(column, bind(.value(.string(pattern.text)))), isNegated: isNegated)
        default: writePrefix(field, pattern.text, isNegated: isNegated)
        }
    }

    /// A prefix is a range of texts, which an index on the column serves.
    private mutating func writePrefix(_ field: Int, _ prefix: String, isNegated: Bool) {
        let column = table.otherOrder.contains(field) ? comparable[field] : columns[field]
        if prefix.isEmpty {
            sql.text += column + (isNegated ? " IS NULL" : " IS NOT NULL")
            return
        }
        let lower = bind(.value(.string(prefix)))
        var condition = withPrefix(field, .greaterOrEqual, [lower]) { "\(column) >= \(lower)" }
        if let end = prefix.endOfPrefix {
            let upper = bind(.value(.string(end)))
            condition += " AND " + withPrefix(field, .less, [upper]) { "\(column) < \(upper)" }
        }
        writeCondition("(\(condition))", isNegated: isNegated)
    }

    /// Writes a condition that is null where the filter is false.
    ///
    /// `IS NOT TRUE` is not used: an engine would take `TRUE` for a column when a field has that name.
    private mutating func writeCondition(_ condition: String, isNegated: Bool) {
        sql.text += isNegated ? "NOT COALESCE(\(condition), 1=0)" : condition
    }

    private mutating func writeFunction(_ filter: Filter) throws {
        if filter.reachesRelated || !table.dialect.callsFunctions { throw RelatedConditionsUnavailable() }
        let fields = filter.fields.sorted()
        guard fields.count <= 100 else {
            throw StorageError(
                .unsupported, "a predicate this deep or long reads \(fields.count) fields, more than 100; split the predicate",
                entity: table.entity.name)
        }
        let contents = filter.comparedContents(of: table.entity)
        let placeholder = bind(
            .filter(filter, fields.map { (field: $0, kind: table.entity.fields[$0].type.kind, content: contents[$0]) }))
        sql.text += table.dialect.matchesFilter(fields.map { columns[$0] }, placeholder)
    }

    /// Writes a condition on the related rows: a subquery, which an engine runs for each row and ends at the first match.
    private mutating func writeRelated(_ filter: RelatedFilter, isNegated: Bool) throws {
        guard let related, distance < Self.maximumDistance else { throw RelatedConditionsUnavailable() }
        if filter.isInverse { return try writeReferring(filter, related, isNegated: isNegated) }
        let relation = filter.relation
        guard let field = table.entity.index(of: relation.field) else { throw RelatedConditionsUnavailable() }
        let key = "\(rows).\(table.columns[table.entity.keyIndex])"
        let links = try related.links(relation)
        // No name of an entity or of a table of links begins with a dot.
        let alias = table.dialect.quoted(".links\(distance)")
        let list = "FROM \(links.table.name) AS \(alias)"
        let isInList = " WHERE \(alias).\(links.table.columns[0]) = \(key)"
        switch filter.test {
        case .isLinked where links.isInRows: sql.text += columns[field] + (isNegated ? " IS NULL" : " IS NOT NULL")
        case .isLinked: sql.text += (isNegated ? "NOT " : "") + "EXISTS (SELECT 1 \(list)\(isInList))"
        case .count(let comparison, let number):
            if links.isInRows { throw RelatedConditionsUnavailable() }
            writeCount(filter, isNegated ? comparison.negated : comparison, number, of: "SELECT 1 \(list)\(isInList)")
        case .countMatching, .compares: throw RelatedConditionsUnavailable()
        case .any(let inner):
            let target = try related.table(filter.target)
            let name = table.dialect.quoted(".rows\(distance)")
            let key = "\(name).\(target.columns[target.entity.keyIndex])"
            let source = "\(target.name) AS \(name)"
            if related.isMetByFew(filter) {
                sql.text += "\(rows).\(table.columns[table.entity.keyIndex]) \(isNegated ? "NOT IN" : "IN") "
                sql.text += "(SELECT \(alias).\(links.table.columns[0]) FROM \(source) CROSS JOIN \(links.table.name) AS \(alias)"
                sql.text += " WHERE \(alias).\(links.table.columns[2]) = \(key) AND "
                try write(inner, of: target, named: name)
                sql.text += ")"
                return
            }
            if links.isInRows, !related.readsFewRows {
                // There are usually fewer related rows than rows, and an index on the field leads to the rows.
                sql.text += isNegated ? "NOT COALESCE(" : ""
                sql.text += "\(columns[field]) IN (SELECT \(key) FROM \(source) WHERE "
                try write(inner, of: target, named: name)
                sql.text += isNegated ? "), 1=0)" : ")"
                return
            }
            sql.text += (isNegated ? "NOT " : "") + "EXISTS (SELECT 1 "
            sql.text +=
                links.isInRows
                ? "FROM \(source) WHERE \(key) = \(rows).\(table.columns[field])"
                : "\(list) CROSS JOIN \(source)\(isInList) AND \(key) = \(alias).\(links.table.columns[2])"
            sql.text += " AND "
            try write(inner, of: target, named: name)
            sql.text += ")"
        }
    }

    /// Writes a condition on the rows that refer to the row.
    private mutating func writeReferring(_ filter: RelatedFilter, _ related: RelatedTables, isNegated: Bool) throws {
        let links = try related.links(filter.relation)
        let source = try related.table(filter.target)
        guard let field = source.entity.index(of: filter.relation.field) else { throw RelatedConditionsUnavailable() }
        let (name, alias) = (table.dialect.quoted(".rows\(distance)"), table.dialect.quoted(".links\(distance)"))
        let key = "\(rows).\(table.columns[table.entity.keyIndex])"
        let sourceKey = "\(name).\(source.columns[source.entity.keyIndex])"
        let target = links.isInRows ? "\(name).\(source.columns[field])" : "\(alias).\(links.table.columns[2])"
        let (linkRows, sourceRows) = ("\(links.table.name) AS \(alias)", "\(source.name) AS \(name)")
        let isMetByFew = related.isMetByFew(filter)
        let joined = isMetByFew ? "\(sourceRows) CROSS JOIN \(linkRows)" : "\(linkRows) CROSS JOIN \(sourceRows)"
        let list =
            links.isInRows
            ? "FROM \(sourceRows) WHERE 1=1" : "FROM \(joined) WHERE \(sourceKey) = \(alias).\(links.table.columns[0])"
        switch filter.test {
        case .isLinked: sql.text += "\(isNegated ? "NOT " : "")EXISTS (SELECT 1 \(list) AND \(target) = \(key))"
        case .count(let comparison, let number):
            let counted = filter.mayRepeat ? "DISTINCT \(sourceKey)" : "1"
            writeCount(
                filter, isNegated ? comparison.negated : comparison, number,
                of: "SELECT \(counted) \(list) AND \(target) = \(key)")
        case .countMatching, .compares: throw RelatedConditionsUnavailable()
        case .any(let inner) where related.readsFewRows && !isMetByFew:
            sql.text += "\(isNegated ? "NOT " : "")EXISTS (SELECT 1 \(list) AND \(target) = \(key) AND "
            try write(inner, of: source, named: name)
            sql.text += ")"
        case .any(let inner):
            sql.text += "\(isNegated ? "NOT COALESCE(" : "")\(key) IN (SELECT \(target) \(list) AND "
            try write(inner, of: source, named: name)
            sql.text += isNegated ? "), 1=0)" : ")"
        }
    }

    /// Writes a condition on the number of rows of a subquery, which an engine counts no further than it needs.
    private mutating func writeCount(_ filter: RelatedFilter, _ comparison: Comparison, _ number: Int, of rows: String) {
        let numbers = comparison.countBindings(number, mayRepeat: filter.mayRepeat).map { bind($0) }
        if numbers.count == 1 {
            let isAtLeast = comparison == .greater || comparison == .greaterOrEqual
            sql.text += "\(isAtLeast ? "" : "NOT ")EXISTS (\(rows) LIMIT 1 OFFSET \(numbers[0]))"
        } else {
            let counted = table.dialect.quoted(".counted")
            sql.text += "(SELECT count(*) FROM (\(rows) LIMIT \(numbers[0])) AS \(counted))\(comparison.sql)\(numbers[1])"
        }
    }

    /// Writes a condition on the rows of a subquery.
    private mutating func write(_ filter: Filter, of table: SQLTable, named name: String) throws {
        var inner = self
        inner.table = table
        inner.rows = name
        inner.distance += 1
        let columns = SQLTable.Columns(table.columns, in: name, table.comparable)
        (inner.columns, inner.comparable) = (columns.stored, columns.comparable)
        try inner.write(filter)
        sql = inner.sql
    }

    private mutating func bind(_ binding: SQLBinding) -> String {
        sql.bindings.append(binding)
        return table.dialect.placeholder(sql.bindings.count)
    }
}

extension RelatedFilter {
    /// Whether a related row can be linked to a row more than once, and counts once.
    var mayRepeat: Bool { isInverse && !relation.isToOne }
}

extension Comparison {
    /// What a condition on a number of rows binds: how many rows come before the one that decides, or how many are counted at
    /// most and what that is compared with. It is the same for the negated comparison.
    ///
    /// - Parameter mayRepeat: Whether repeated rows count once. An engine does not look for them to find whether there is a row.
    func countBindings(_ number: Int, mayRepeat: Bool) -> [SQLBinding] {
        switch self {
        case .greater where !mayRepeat, .lessOrEqual where !mayRepeat: [.count(number)]
        case .less where !mayRepeat, .greaterOrEqual where !mayRepeat: [.count(max(number, 1) - 1)]
        default: [.count(number == .max ? number : number + 1), .count(number)]
        }
    }

    /// The operator between two operands that are not null.
    var sql: String {
        switch self {
        case .equal: " = "
        case .notEqual: " <> "
        case .less: " < "
        case .lessOrEqual: " <= "
        case .greater: " > "
        case .greaterOrEqual: " >= "
        }
    }
}

extension Filter {
    /// Divides a filter into the part that the engine of a table evaluates, and the rest.
    ///
    /// - Returns: The engine's part, and the rest, which is nil when there is none. A row matches when it matches both.
    /// - Throws: ``/DAOCore/RelatedConditionsUnavailable`` when the rest is about related rows.
    func divided(for table: SQLTable) throws -> (evaluated: Filter, rest: Filter?) {
        if table.dialect.callsFunctions || isEvaluated(by: table, ConditionWriter.maximumLeaves) { return (self, nil) }
        var rest = self
        var evaluated = Filter.all
        if case .and(let parts) = self, parts.count < ConditionWriter.maximumLeaves {
            let own = parts.filter { $0.isEvaluated(by: table, ConditionWriter.maximumLeaves / parts.count) }
            let others = parts.filter { !$0.isEvaluated(by: table, ConditionWriter.maximumLeaves / parts.count) }
            evaluated = own.count > 1 ? .and(own) : own.first ?? .all
            rest = others.count > 1 ? .and(others) : others.first ?? .all
        }
        if rest.reachesRelated { throw RelatedConditionsUnavailable() }
        return (evaluated, rest)
    }

    /// Whether an engine evaluates the filter without a function of the suite, as a part of a statement.
    func isEvaluated(by dialect: any SQLDialect, of entity: EntityDescription) -> Bool {
        isEvaluated(by: dialect, entity, ConditionWriter.maximumLeaves)
    }

    private func isEvaluated(by table: SQLTable, _ leaves: Int) -> Bool { isEvaluated(by: table.dialect, table.entity, leaves) }

    private func isEvaluated(by dialect: any SQLDialect, _ entity: EntityDescription, _ leaves: Int, depth: Int = 0) -> Bool {
        if leafCount > leaves || depth > ConditionWriter.maximumDepth / 3 { return false }
        switch self {
        case .and(let parts), .or(let parts):
            return parts.allSatisfy { $0.isEvaluated(by: dialect, entity, leaves, depth: depth + 1) }
        case .text(_, let pattern, _):
            return !pattern.needsFunction && (pattern.match != .contains || dialect.canContain(pattern.text))
        case .compareFields(let left, _, let right, _):
            let fields = entity.fields
            // What another program wrote may be JSON in another form.
            return fields[left].type.kind != .embedded
                && dialect.canCompare(fields[left].type.kind, with: fields[right].type.kind)
        case .compare(let field, _, _), .isIn(let field, _, _): return entity.fields[field].type.kind != .embedded
        case .compareFolded, .embedded: return false
        case .all, .none, .isNull, .related: return true
        }
    }
}

extension TextPattern {
    /// Whether SQL has no condition for the pattern.
    fileprivate var needsFunction: Bool { !options.isEmpty || match == .matches || match == .hasSuffix }
}

extension String {
    /// The first text after all those that begin with this text; nil when there is none.
    fileprivate var endOfPrefix: String? {
        var scalars = Array(unicodeScalars)
        while let last = scalars.popLast() {
            // There are no scalars from D800 to DFFF.
            guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { continue }
            return String(String.UnicodeScalarView(scalars + [next]))
        }
        return nil
    }
}
