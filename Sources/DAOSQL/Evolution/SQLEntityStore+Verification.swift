import DAOCore

extension SQLEntityStore {
    func verifyStructure(_ report: (StorageError) throws -> Void) throws {
        let entities = try entities()
        for entity in entities {
            do {
                let table = SQLTable(entity, dialect: schema.dialect)
                if let found = try connection.table(of: entity.name, schema.dialect) {
                    try found.check(table)
                    // A trigger that needs a trusted file cannot be judged without trust.
                    let obstacles = (try? connection.obstacles(to: table, beside: entities.map(\.name))) ?? []
                    if !obstacles.isEmpty { try report(StoredSchema.unkept(obstacles, in: entity.name, path)) }
                }
                try schema.checkElements(of: table)
                try checkIndexes(of: table)
                for relation in entity.relations(among: entities) { try checkIndex(of: relation) }
            } catch let error as StorageError where error.kind == .schemaMismatch {
                try report(error)
            }
        }
        for problem in try connection.problems() {
            let entity = problem.table.flatMap { table in entities.first { $0.name == table } }
            let what =
                problem.columns.map { "the index on '\($0)' of '\(problem.table ?? "")' differs from the rows" }
                ?? (problem.table.map { "the table '\($0)' is damaged" } ?? "the file is damaged")
            try report(
                .corrupted(
                    path, what, entity: problem.table, key: try entity.flatMap { try key(of: problem, $0) },
                    field: problem.columns, engineMessage: problem.message))
        }
    }

    /// Checks that the tables of elements have their index. A search would go on without it, row by row.
    private func checkIndexes(of table: SQLTable) throws {
        if table.elementTables.isEmpty { return }
        let taken = try connection.takenNames()
        for elements in table.elementTables where !taken.contains(elements.indexName.asciiLowercased) {
            let quoted = schema.dialect.quoted(elements.indexName)
            guard let statement = elements.create.first(where: { $0.contains("INDEX \(quoted)") }) else { continue }
            throw StorageError(
                .schemaMismatch,
                "'\(elements.indexName)' of the index on '\(elements.index)' of '\(table.entity.name)' is gone; make it anew: \(statement)",
                entity: table.entity.name, field: elements.index.fieldNames, path: path)
        }
    }

    /// Checks that the table of a list's links has its index.
    private func checkIndex(of relation: RelationDescription) throws {
        let links = SQLLinks(relation, dialect: schema.dialect)
        if links.isInRows { return }
        let stored = try StoredLinks(links, session)
        guard stored.hasTable, !stored.hasIndex else { return }
        throw StorageError(
            .schemaMismatch,
            "the table '\(links.name)' has no index on the rows of the list; make it anew: \(links.createIndex(named: links.indexName))",
            entity: relation.entity, field: relation.field, path: path)
    }

    /// The key of the row that a problem concerns; nil when it cannot be found.
    private func key(of problem: SQLProblem, _ entity: EntityDescription) throws -> UniqueID? {
        guard let row = problem.row else { return nil }
        let table = try table(entity.name)
        let column = table.columns[table.entity.keyIndex]
        do {
            return try key("SELECT \(column) FROM \(table.name) \(row)", [], column: 0, table).map { UniqueID($0) }
        } catch let error as StorageError where error.isDamage {
            return nil
        }
    }

    func missing(_ keys: [Key], from entity: String) throws -> [Key] {
        let table = try table(entity)
        return try keys.filter { try key(table.selectByKey, [$0.value], column: table.entity.keyIndex, table) == nil }
    }

    func verify(_ entity: String, onRow: () throws -> Void, _ report: (StorageError) throws -> Void) throws {
        let table = try table(entity)
        let statement = try session.statement(table.selectInKeyOrder(after: nil), entity: entity)
        defer { statement.giveBack() }
        try statement.stream()
        let reader = statement.makeReader(of: table.entity, keyColumn: table.entity.keyIndex)
        while try reader.advance() {
            let hasKey = reader.currentKey != nil
            if !hasKey { try report(reader.corruptedValue(at: table.entity.keyIndex, "it cannot be a key")) }
            for (field, described) in table.entity.fields.enumerated() where hasKey || !described.isPrimaryKey {
                do {
                    if try reader.readValue(at: field).isNull, !described.type.isOptional, described.relation == nil {
                        try report(reader.corruptedValue(at: field, "NULL is stored"))
                    }
                } catch let error as StorageError where error.isDamage {
                    try report(error)
                }
            }
            try onRow()
        }
        for elements in table.elementTables {
            try session.forEachRow(SQLText(schema.dialect.missing(in: elements)), entity: entity) { row in
                try report(
                    .corrupted(
                        path, "the index on '\(elements.index)' of '\(entity)' lacks an entry for a row", entity: entity,
                        key: row.key(inColumn: 0, of: table.entity.keyKind).map { UniqueID($0) },
                        field: elements.index.fieldNames))
            }
        }
    }
}
