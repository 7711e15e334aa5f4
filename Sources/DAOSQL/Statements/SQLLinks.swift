import DAOCore

/// The table of one relationship's links: the text of every statement about it.
///
/// It is a plain join table, a row for each link, which a person can read and join by hand:
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
/// Positions ascend in the order of the children and may have gaps. The name is that of the entity and the
/// field with a dot between them: no entity's name has one, so the table is never in the way of another.
struct SQLLinks: Sendable {
    /// The relationship.
    let relation: RelationDescription
    /// The name of the table, unquoted.
    let name: String
    /// The wanted name of the index on the children, unquoted.
    let indexName: String
    /// The declared types of the columns `parent`, `position` and `child`.
    let columnTypes: [String]
    /// Creates the table.
    let createTable: String
    /// Reads the links of a list of parents: the parent's number, the position, the child; in the order of
    /// the list, then by position.
    let select: String
    /// Reads the parents of a list of children, each once, ascending.
    let selectParents: String
    /// Reads the numbers of those of a list of children that have a parent.
    let selectLinked: String
    /// Reads every parent and how many children it has, ascending.
    let selectCounts: String
    /// Removes the links of a parent from a position on: parent, position.
    let deleteTail: String
    /// Removes the links of a list of parents.
    let deleteParents: String
    /// Removes the links to a list of children.
    let deleteChildren: String

    private let dialect: any SQLDialect
    private let quotedName: String
    /// The table as one of rows, for storing links.
    let table: SQLTable

    /// Makes the statements.
    ///
    /// - Parameters:
    ///   - relation: The relationship.
    ///   - dialect: The engine's way of writing.
    init(_ relation: RelationDescription, dialect: any SQLDialect) {
        self.relation = relation
        self.dialect = dialect
        name = Self.name(LinkName(entity: relation.entity, field: relation.field))
        indexName = name + ".child"
        quotedName = dialect.quoted(name)
        func type(_ kind: ValueKind) -> String { dialect.columnType(of: FieldDescription(name: "", type: FieldType(kind))) }
        columnTypes = [type(relation.keyKind), type(.int64), type(relation.targetKeyKind)]
        let (parent, position, child) = (dialect.quoted("parent"), dialect.quoted("position"), dialect.quoted("child"))
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
        // Errors name the entity, not the table.
        table = SQLTable(EntityDescription(name: relation.entity, fields: fields), named: name, dialect: dialect)
        let (first, second) = (dialect.placeholder(1), dialect.placeholder(2))
        let list = "\(dialect.list(first)) AS list"
        select =
            "SELECT list.number, links.\(position), links.\(child) FROM \(list) CROSS JOIN \(quotedName) AS links "
            + "WHERE links.\(parent) = list.value" + dialect.nestedOrder(["list.number", "links.\(position)"])
        selectParents = "SELECT DISTINCT \(parent) FROM \(quotedName) WHERE \(dialect.isIn(child, first)) ORDER BY \(parent)"
        selectLinked =
            "SELECT list.number FROM \(list) WHERE EXISTS (SELECT 1 FROM \(quotedName) AS links WHERE links.\(child) = list.value)"
        selectCounts = "SELECT \(parent), count(*) FROM \(quotedName) GROUP BY \(parent) ORDER BY \(parent)"
        deleteTail = "DELETE FROM \(quotedName) WHERE \(parent) = \(first) AND \(position) >= \(second)"
        deleteParents = "DELETE FROM \(quotedName) WHERE \(dialect.isIn(parent, first))"
        deleteChildren = "DELETE FROM \(quotedName) WHERE \(dialect.isIn(child, first))"
    }

    /// The name of the table of a relationship's links, unquoted.
    static func name(_ name: LinkName) -> String { "\(name.entity).\(name.field)" }

    /// The statement that creates the index on the children.
    ///
    /// - Parameter name: The unquoted name of the index.
    func createIndex(named name: String) -> String {
        "CREATE INDEX \(dialect.quoted(name)) ON \(quotedName)(\(dialect.quoted("child")))"
    }

    /// Reads the rows that all parents in a range of two bound keys are linked to: the parent's key, then
    /// the declared columns; in the order of the keys, then by position.
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

    /// Reads the rows that a list of parents is linked to: the parent's number, then the declared columns; in
    /// the order of the list, then by position.
    ///
    /// - Parameter target: The table of the children.
    func selectRows(of target: SQLTable) -> String {
        let columns = relatedColumns(of: target)
        let (parent, child) = (dialect.quoted("parent"), dialect.quoted("child"))
        return "SELECT list.number, \(columns.joined(separator: ", ")) FROM \(dialect.list(dialect.placeholder(1))) AS list "
            + "CROSS JOIN \(quotedName) AS links CROSS JOIN \(target.name) AS related WHERE links.\(parent) = list.value "
            + "AND \(columns[target.entity.keyIndex]) = links.\(child)"
            + dialect.nestedOrder(["list.number", "links." + dialect.quoted("position")])
    }
}
