import DAOCore

/// The statements of a relationship's links.
///
/// A to-one relationship is a column in the table of the parents, with the child's key. A list has a plain join
/// table with a row for each link. People can read and join it by hand:
///
/// ```sql
/// CREATE TABLE "thread.messages" (
///   "parent" INTEGER NOT NULL,
///   "position" INTEGER NOT NULL,
///   "child" INTEGER NOT NULL,
///   PRIMARY KEY ("parent", "position")
/// ) WITHOUT ROWID
/// ```
///
/// Positions ascend in the order of the children and may have gaps. The name of the table is the entity and
/// the field with a dot between them. Names of entities have no dot, so the name never collides.
struct SQLLinks: Sendable {
    /// The relationship.
    let relation: RelationDescription
    /// Whether the links are a column in the table of the parents.
    let isInRows: Bool
    /// The name of the table with the links, unquoted.
    let name: String
    /// The wanted name of the index on the children, unquoted.
    let indexName: String
    /// The declared types of the columns `parent`, `position` and `child`.
    let columnTypes: [String]
    /// Creates the table.
    let createTable: String
    /// Reads the links of a list of parents: the parent's number, the position, the child. The order is that
    /// of the list, then of the position.
    let select: String
    /// Reads the parents of a list of children, each once, ascending.
    let selectParents: String
    /// Reads the numbers of the children in a list that have a parent, and the first parent of each.
    let selectParent: String
    /// Reads the parents of each child of a list: the child's number, the parent. The order is that of the list. A parent that has a
    /// child several times is there as often.
    let selectEachParent: String
    /// Reads every parent and the number of its children, ascending.
    let selectCounts: String
    /// Reads every child and the number of its parents, ascending.
    let selectParentCounts: String
    /// Sets the child of a parent, for a to-one relationship: child, parent.
    let update: String
    /// Removes the links of a parent from a position on: parent, position.
    let deleteTail: String
    /// Removes the links of a list of parents.
    let deleteParents: String
    /// Removes the links to a list of children.
    let deleteChildren: String

    private let dialect: any SQLDialect
    private let quotedName: String
    /// The table in the form of a table of rows, for storing links.
    let table: SQLTable

    /// Composes the statements.
    ///
    /// - Parameters:
    ///   - relation: The relationship.
    ///   - dialect: The SQL dialect of the engine.
    init(_ relation: RelationDescription, dialect: any SQLDialect) {
        self.relation = relation
        self.dialect = dialect
        isInRows = relation.isToOne
        name = isInRows ? relation.entity : Self.name(LinkName(entity: relation.entity, field: relation.field))
        indexName = name + ".child"
        quotedName = dialect.quoted(name)
        func type(_ kind: ValueKind) -> String { dialect.columnType(of: FieldDescription(name: "", type: FieldType(kind))) }
        columnTypes = [type(relation.keyKind), type(.int64), type(relation.targetKeyKind)]
        let (parent, child) = (
            dialect.quoted(isInRows ? relation.keyField : "parent"), dialect.quoted(isInRows ? relation.field : "child")
        )
        let position = dialect.quoted("position")
        createTable = """
            CREATE TABLE \(quotedName) (
              \(parent) \(columnTypes[0]) NOT NULL,
              \(position) \(columnTypes[1]) NOT NULL,
              \(child) \(columnTypes[2]) NOT NULL,
              PRIMARY KEY (\(parent), \(position))
            )\(dialect.orderedTableOptions)
            """
        let fields = [
            FieldDescription(name: "parent", type: FieldType(relation.keyKind), isPrimaryKey: true),
            FieldDescription(name: "position", type: FieldType(.int64)),
            FieldDescription(name: "child", type: FieldType(relation.targetKeyKind)),
        ]
        // Errors have the entity's name, not the table's.
        table = SQLTable(EntityDescription(name: relation.entity, fields: fields), named: name, dialect: dialect)
        let (first, second) = (dialect.placeholder(1), dialect.placeholder(2))
        let parents = "\(dialect.list(first, of: relation.keyKind)) AS list"
        let children = "\(dialect.list(first, of: relation.targetKeyKind)) AS list"
        let place = isInRows ? "0" : "links.\(position)"
        let exists = isInRows ? " AND links.\(child) IS NOT NULL" : ""
        select =
            "SELECT list.number, \(place), links.\(child) FROM \(parents) CROSS JOIN \(quotedName) AS links "
            + "WHERE links.\(parent) = list.value\(exists)" + dialect.nestedOrder(["list.number"] + (isInRows ? [] : [place]))
        selectParents = "SELECT DISTINCT \(parent) FROM \(quotedName) WHERE \(dialect.isIn(child, first)) ORDER BY \(parent)"
        let parentsOfOne = "FROM \(quotedName) AS links WHERE links.\(child) = list.value"
        selectParent =
            "SELECT list.number, (SELECT links.\(parent) \(parentsOfOne) ORDER BY links.\(parent) LIMIT 1) FROM \(children) "
            + "WHERE EXISTS (SELECT 1 \(parentsOfOne))"
        selectEachParent =
            "SELECT list.number, links.\(parent) FROM \(children) CROSS JOIN \(quotedName) AS links WHERE links.\(child) = list.value"
            + dialect.nestedOrder(["list.number", "links.\(parent)"])
        selectCounts =
            "SELECT \(parent), count(*) AS \(dialect.quoted(".count")) FROM \(quotedName) WHERE \(child) IS NOT NULL GROUP BY \(parent) ORDER BY \(parent)"
        // The index on the children has both columns, in this order.
        let links = isInRows ? quotedName : "(SELECT DISTINCT \(child), \(parent) FROM \(quotedName)) AS links"
        selectParentCounts =
            "SELECT \(child), count(*) AS \(dialect.quoted(".count")) FROM \(links) WHERE \(child) IS NOT NULL GROUP BY \(child) ORDER BY \(child)"
        update = "\(dialect.updateHead) \(quotedName) SET \(child) = \(first) WHERE \(parent) = \(second)"
        deleteTail = "DELETE FROM \(quotedName) WHERE \(parent) = \(first) AND \(position) >= \(second)"
        let delete = isInRows ? "\(dialect.updateHead) \(quotedName) SET \(child) = NULL" : "DELETE FROM \(quotedName)"
        deleteParents = "\(delete) WHERE \(dialect.isIn(parent, first))"
        deleteChildren = "\(delete) WHERE \(dialect.isIn(child, first))"
    }

    /// Returns the unquoted name of the table of a relationship's links.
    static func name(_ name: LinkName) -> String { "\(name.entity).\(name.field)" }

    /// Returns the statement that creates the index on the children.
    ///
    /// - Parameter name: The unquoted name of the index.
    func createIndex(named name: String) -> String {
        "CREATE INDEX \(dialect.quoted(name)) ON \(quotedName)(\(dialect.quoted("child")))"
    }

    /// Returns the statement that reads the rows linked to the parents between two bound keys: the parent's
    /// key, then the declared columns. The order is that of the keys, then of the position.
    ///
    /// - Parameter target: The table of the children.
    func selectRowsInRange(of target: SQLTable) -> String {
        let columns = relatedColumns(of: target)
        let parent = "links." + dialect.quoted("parent")
        return
            "SELECT \(parent), \(columns.joined(separator: ", ")) FROM \(quotedName) AS links CROSS JOIN \(target.name) AS related "
            + "WHERE \(parent) BETWEEN \(dialect.placeholder(1)) AND \(dialect.placeholder(2)) "
            + "AND \(columns[target.entity.keyIndex]) = links.\(dialect.quoted("child")) "
            + "ORDER BY \(parent), links.\(dialect.quoted("position"))"
    }

    private func relatedColumns(of target: SQLTable) -> [String] {
        zip(target.declaredColumns, target.entity.fields).map { $1.type.kind.isRelationship ? $0 : "related." + $0 }
    }

    /// Returns the statement that reads the rows linked to a list of parents: the parent's number, then the
    /// declared columns. The order is that of the list, then of the position.
    ///
    /// - Parameter target: The table of the children.
    func selectRows(of target: SQLTable) -> String {
        let columns = relatedColumns(of: target)
        let (parent, child) = (dialect.quoted("parent"), dialect.quoted("child"))
        return
            "SELECT list.number, \(columns.joined(separator: ", ")) FROM \(dialect.list(dialect.placeholder(1), of: relation.keyKind)) AS list "
            + "CROSS JOIN \(quotedName) AS links CROSS JOIN \(target.name) AS related WHERE links.\(parent) = list.value "
            + "AND \(columns[target.entity.keyIndex]) = links.\(child)"
            + dialect.nestedOrder(["list.number", "links." + dialect.quoted("position")])
    }
}
