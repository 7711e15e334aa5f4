import DAOCore
import DAOSystemSQLite
import Foundation

/// Finds out what the tables of another program would become, from their schema and from what is stored.
package struct MappingGuess {
    static let (coreData, grdb, django, room, rails) = ("Core Data", "GRDB", "Django", "Room", "Rails")
    /// The tables by whose presence the program is known that made a file.
    private static let signs: [(program: String, tables: [String])] = [
        (coreData, ["z_primarykey", "z_metadata"]), (grdb, ["grdb_migrations"]), (django, ["django_migrations"]),
        (room, ["room_master_table"]), (rails, ["schema_migrations", "ar_internal_metadata"]),
    ]

    private let connection: SQLiteConnection
    private let schema: ForeignSchema
    private let dialect: String?
    private let timeZone: String?
    private var facts: [String: [String: ColumnFacts]] = [:]
    private var entities: [TableMapping.Entity] = []
    private var left: [TableMapping.Left] = []
    /// The names of the entities by their tables, in lower case.
    private var names: [String: String] = [:]
    /// The number of an entity of Core Data, its name, and the table of its rows.
    private var coreDataEntities: [Int: (name: String, table: String)] = [:]

    /// The mapping that was found.
    var mapping: TableMapping {
        TableMapping(
            dialect: dialect, timeZone: timeZone, entities: entities.sorted { $0.entity < $1.entity },
            left: left.sorted { $0.table < $1.table })
    }

    init(_ connection: SQLiteConnection, taken: Set<String>, timeZone: String?) throws {
        self.connection = connection
        schema = try ForeignSchema(connection, taken: taken)
        let present = Set(schema.tables.map { $0.name.lowercased() })
        dialect = Self.signs.first { present.isSuperset(of: $0.tables) }?.program
        // They write dates without a zone in UTC.
        let writesUTC = [Self.grdb, Self.django, Self.rails].contains(dialect)
        self.timeZone = timeZone ?? (writesUTC ? "UTC" : nil)
        if dialect == Self.coreData { try readCoreDataEntities() }
        let moved = schema.tables.filter { table in
            guard let why = reasonToLeave(table) else { return true }
            left.append(TableMapping.Left(table: table.name, why: why))
            return false
        }
        var joins: [(table: ForeignSchema.Table, join: Join)] = []
        var taken: Set<String> = Set(taken.map { $0.lowercased() })
        var others: [ForeignSchema.Table] = []
        for table in moved {
            if let join = join(of: table, among: moved) { joins.append((table, join)) } else { others.append(table) }
        }
        for table in others {
            names[table.name.lowercased()] = Self.unique(entityName(table), &taken)
            do {
                facts[table.name] = try readFacts(of: table)
            } catch {
                names[table.name.lowercased()] = nil
                left.append(
                    TableMapping.Left(
                        table: table.name,
                        why: "its rows cannot be read: \((error as? StorageError)?.engineMessage ?? "\(error)")",
                        unreadable: true))
            }
        }
        for table in others where names[table.name.lowercased()] != nil { try add(table) }
        for table in others where names[table.name.lowercased()] != nil { try addReferences(of: table) }
        for (table, join) in joins { addList(table.name, join) }
        if dialect == Self.coreData { addOrderedLists(others) }
        for number in entities.indices { addIndexes(number) }
    }

    // MARK: What stays behind

    private static let bookkeeping = [
        "z_primarykey": coreData, "z_metadata": coreData, "z_modelcache": coreData, "achange": coreData, "atransaction": coreData,
        "atransactionstring": coreData, "grdb_migrations": grdb, "django_migrations": django, "room_master_table": room,
        "schema_migrations": rails, "ar_internal_metadata": rails, "android_metadata": "Android", "alembic_version": "Alembic",
        "sequelizemeta": "Sequelize", "_prisma_migrations": "Prisma", "__efmigrationshistory": "Entity Framework",
        "knex_migrations": "Knex", "knex_migrations_lock": "Knex",
    ]

    private func reasonToLeave(_ table: ForeignSchema.Table) -> String? {
        if let program = Self.bookkeeping[table.name.lowercased()],
            program == dialect || !Self.signs.contains(where: { $0.program == program })
        {
            return "it is the bookkeeping of \(program)"
        }
        if dialect == Self.coreData, table.name.hasPrefix("ANSCK") { return "it is the bookkeeping of CloudKit" }
        switch table.kind {
        case "view": return "a view is a query; ask it of the moved rows"
        case "shadow": return "it is a part of a virtual table"
        case "virtual":
            // The texts are in another table, or nowhere.
            return table.sql.contains(/(?i)\bcontent\s*=/) ? "its rows are those of another table; search the moved rows" : nil
        default: return table.columns.isEmpty ? "its columns cannot be read" : nil
        }
    }

    // MARK: Names

    /// A name that Swift can have, as in `orderDate` for `ORDER_DATE`.
    package static func name(_ text: String, or other: String) -> String {
        let words = text.split { !($0.isLetter || ("0"..."9").contains($0)) }.map(String.init)
        var name = ""
        for word in words {
            let isShouted = word.count > 1 && word.allSatisfy { !$0.isLetter || $0.isUppercase } && words.count > 1
            let word = isShouted ? word.lowercased() : word
            name += name.isEmpty ? lowercasedFirst(word) : word.prefix(1).uppercased() + word.dropFirst()
        }
        name = String(
            String.UnicodeScalarView(name.unicodeScalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) }))
        if name.isEmpty { name = other }
        if let first = name.first, ("0"..."9").contains(first) { name = other.prefix(1) + name }
        while name.utf8.count > 100 { name.removeLast() }
        // Every value and every model has such a property.
        return name == "uniqueId" || name == "schema" ? name + "Value" : name
    }

    /// `urlPath` for `URLPath`, `id` for `ID`.
    private static func lowercasedFirst(_ word: String) -> String {
        let capitals = word.prefix { $0.isUppercase }.count
        if capitals == word.count || capitals <= 1 {
            return capitals <= 1 ? word.prefix(1).lowercased() + word.dropFirst() : word.lowercased()
        }
        // The last capital begins the next word, unless a digit follows.
        let next = word[word.index(word.startIndex, offsetBy: capitals)]
        let end = next.isLetter ? capitals - 1 : capitals
        return word.prefix(end).lowercased() + word.dropFirst(end)
    }

    /// Returns a name that is not taken, in any case of its letters, and takes it.
    private static func unique(_ name: String, _ taken: inout Set<String>) -> String {
        var (found, number) = (name, 2)
        while !taken.insert(found.lowercased()).inserted { (found, number) = ("\(name)\(number)", number + 1) }
        return found
    }

    private func entityName(_ table: ForeignSchema.Table) -> String {
        if dialect == Self.coreData,
            let entity = coreDataEntities.values.first(where: { "Z\($0.name.uppercased())" == table.name })
        {
            return Self.name(entity.name, or: "table")
        }
        return Self.name(table.name, or: "table")
    }

    private func fieldName(_ column: String) -> String {
        guard dialect == Self.coreData, column.hasPrefix("Z") else { return Self.name(column, or: "field") }
        if column == "Z_PK" { return "id" }
        return Self.name(column.drop { $0 == "Z" || $0 == "_" }.lowercased(), or: "field")
    }

    // MARK: Fields

    private func readFacts(of table: ForeignSchema.Table) throws -> [String: ColumnFacts] {
        var facts = Array(repeating: ColumnFacts(), count: table.columns.count)
        let columns = table.columns.map { $0.name.quotedIdentifier }.joined(separator: ", ")
        let statement = try connection.prepared("SELECT \(columns) FROM \(table.name.quotedIdentifier)")
        defer { sqlite3_finalize(statement) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                for column in facts.indices { facts[column].add(ForeignValue(statement: statement, column: Int32(column))) }
            case SQLITE_DONE:
                return Dictionary(zip(table.columns.map(\.name), facts), uniquingKeysWith: { $1 })
            case let code: throw connection.failure(code)
            }
        }
    }

    private mutating func add(_ table: ForeignSchema.Table) throws {
        guard let entity = names[table.name.lowercased()], let facts = facts[table.name] else { return }
        var taken: Set<String> = []
        var fields: [TableMapping.Field] = []
        let key = table.key
        // A key needs a value in each row, of a type and a length that a key can have.
        let isUsable =
            !key.isEmpty && key.allSatisfy { facts[$0.name]?.nulls == 0 || isRowNumber($0, table) }
            && key.reduce(key.count) { $0 + (facts[$1.name]?.longestText ?? 0) } <= Key.maximumLength
            && key.allSatisfy { (facts[$0.name]?.isUTF8 ?? true) }
        var single: (column: ForeignSchema.Column, type: (kind: ValueKind, form: StoredForm?))?
        if isUsable, key.count == 1 {
            let type = kind(of: key[0], facts[key[0].name] ?? ColumnFacts(), isKey: true)
            if type.kind == .int64 || type.kind == .string || type.kind == .uuid { single = (key[0], type) }
        }
        if single == nil {
            let name = Self.unique(table.column("id") == nil ? "id" : "key", &taken)
            fields.append(
                isUsable
                    ? TableMapping.Field(field: name, type: "string", columns: key.map(\.name), key: true)
                    : TableMapping.Field(field: name, type: "int64", key: true))
        }
        for column in table.columns where !isLeft(column, table) {
            let name = Self.unique(fieldName(column.name), &taken)
            if column.name == single?.column.name, let single {
                fields.append(
                    TableMapping.Field(
                        field: name, type: single.type.kind.rawValue, column: column.name, form: single.type.form, key: true))
                continue
            }
            let found = facts[column.name] ?? ColumnFacts()
            let (kind, form) = kind(of: column, found, isKey: false)
            let isOptional = found.nulls > 0 || !(column.isNotNull || column.keyPosition > 0 && isUsable)
            var field = TableMapping.Field(
                field: name, type: kind.rawValue + (isOptional ? "?" : ""), column: column.name, form: form)
            if kind == .data, found.blobs < found.count { field.note = "its numbers and texts become the bytes of their texts" }
            if form == .seconds2001, dialect != Self.coreData {
                field.note =
                    "taken for seconds since 2001, \(found.days(as: .seconds2001)); if they begin in 1970, its form is seconds1970, "
                    + found.days(as: .seconds1970)
            }
            if column.name == "Z_ENT", dialect == Self.coreData {
                (field.field, field.type) = (Self.unique("kind", &taken), "string")
                field.names = Dictionary(
                    coreDataEntities.filter { $0.value.table == table.name }.map { ("\($0.key)", $0.value.name) },
                    uniquingKeysWith: { $1 })
            }
            fields.append(field)
        }
        entities.append(TableMapping.Entity(entity: entity, table: table.name, fields: fields, indexes: nil))
    }

    /// Whether a column is another name of the row's number, where NULL cannot be.
    private func isRowNumber(_ column: ForeignSchema.Column, _ table: ForeignSchema.Table) -> Bool {
        table.key.count == 1 && column.type == "INTEGER"
    }

    /// Whether a column has no meaning outside of its program.
    private func isLeft(_ column: ForeignSchema.Column, _ table: ForeignSchema.Table) -> Bool {
        guard dialect == Self.coreData else { return false }
        if column.name == "Z_OPT" || column.name.hasPrefix("Z_FOK_") { return true }
        if column.name == "Z_ENT" { return coreDataEntities.values.filter { $0.table == table.name }.count < 2 }
        // The entity of a related row, beside its key.
        return column.name.contains(/^Z\d+_?[A-Z]/)
            && table.columns.contains { $0.name == "Z" + column.name.drop { $0 == "Z" || $0.isNumber || $0 == "_" } }
    }

    /// The kind of a column's values, by what is declared and by what is stored.
    private func kind(
        of column: ForeignSchema.Column, _ facts: ColumnFacts, isKey: Bool
    ) -> (kind: ValueKind, form: StoredForm?) {
        let type = column.type
        func says(_ words: String...) -> Bool { words.contains { type.contains($0) } }
        let isNumber = facts.integers + facts.reals == facts.count
        if facts.count == 0 {
            if says("BOOL") { return (.bool, nil) }
            if says("DATE", "TIME") { return (.date, dialect == Self.coreData ? .seconds2001 : .text) }
            if says("UUID", "GUID") { return (.uuid, nil) }
            if says("INT") { return (.int64, nil) }
            if says("CHAR", "CLOB", "TEXT", "JSON", "STRING") { return (.string, nil) }
            if says("BLOB", "BINARY") { return (.data, nil) }
            if says("REAL", "FLOA", "DOUB") { return (.double, nil) }
            if says("DEC", "NUM", "MONEY") { return (.decimal, nil) }
            return (.string, nil)
        }
        if !isKey {
            if says("BOOL"), facts.isBoolean { return (.bool, nil) }
            if says("DATE", "TIME"), let form = facts.dateForm(dialect) { return (.date, form) }
            if says("DEC", "NUMERIC", "NUMBER", "MONEY", "CURRENCY"),
                isNumber || facts.texts + facts.integers + facts.reals == facts.count,
                facts.isExactNumber
            {
                // A declared scale promises digits after the point.
                let hasScale = type.contains(/,\s*[1-9]/) || !type.contains("(")
                return facts.integers == facts.count && !hasScale ? (.int64, nil) : (.decimal, nil)
            }
        }
        if facts.isUUID, facts.texts + facts.blobs == facts.count {
            // Django writes no dashes; elsewhere 32 digits can be anything, such as a checksum.
            let isDeclared =
                says("UUID", "GUID") || type.contains(/CHAR\s*\(\s*36\s*\)/)
                || dialect == Self.django && type.contains(/CHAR\s*\(\s*32\s*\)/)
            let name = column.name.lowercased()
            let isNamed = facts.blobs == facts.count && (name.hasSuffix("id") || name.hasSuffix("uuid"))
            if isDeclared || facts.isUppercaseUUID || isNamed { return (.uuid, nil) }
        }
        if facts.integers == facts.count { return (.int64, nil) }
        if isNumber { return (.double, nil) }
        if facts.blobs == 0, facts.isUTF8 { return (.string, nil) }
        let isExternal =
            dialect == Self.coreData && facts.blobs == facts.count && facts.isExternal
            && (facts.hasExternalName
                || FileManager.default.fileExists(atPath: ForeignPlace(path: connection.path, timeZone: nil).folder.path))
        return (.data, isExternal ? .externalData : nil)
    }

    // MARK: References

    private func index(of table: String) -> Int? { entities.firstIndex { $0.table.lowercased() == table.lowercased() } }

    private mutating func addReferences(of table: ForeignSchema.Table) throws {
        guard let number = index(of: table.name) else { return }
        var keys = table.foreignKeys
        if dialect == Self.coreData { try keys += coreDataReferences(of: table) }
        for key in keys {
            guard let other = index(of: key.table),
                let target = schema.tables.first(where: { $0.name.lowercased() == key.table.lowercased() }),
                let targetKey = entities[other].fields.first(where: { $0.key == true })
            else { continue }
            let wanted = key.targets.contains("") ? target.key.map(\.name) : key.targets
            let has = targetKey.columns ?? targetKey.column.map { [$0] } ?? []
            guard wanted.map({ $0.lowercased() }) == has.map({ $0.lowercased() }), wanted.count == key.columns.count else {
                continue
            }
            // A column without its row would lose its value.
            if try isDangling(key, wanted, table, target) { continue }
            let columns = key.columns.compactMap { name in
                entities[number].fields.first { $0.column?.lowercased() == name.lowercased() }
            }
            guard columns.count == key.columns.count, let first = columns.first, first.target == nil else { continue }
            let isOptional = columns.contains { $0.type.hasSuffix("?") }
            let erasure: TargetErasure =
                key.onDelete == "CASCADE" ? .cascade : isOptional && key.onDelete != "RESTRICT" ? .unlink : .restrict
            var taken = Set(entities[number].fields.map { $0.field.lowercased() })
            let isAlone = columns.count == 1 && first.key != true && targetKey.columns == nil
            if isAlone { taken.remove(first.field.lowercased()) }
            let short = first.field.replacing(/(Id|ID|_id)$/, with: "")
            let wish = columns.count == 1 && !short.isEmpty && short != "id" && first.key != true ? short : entities[other].entity
            let name = isAlone && taken.contains(wish.lowercased()) ? first.field : Self.unique(wish, &taken)
            var field = TableMapping.Field(
                field: name, type: "toOne" + (isOptional ? "?" : ""), target: entities[other].entity, erasure: erasure)
            if targetKey.columns == nil { field.column = first.column } else { field.columns = key.columns }
            if isAlone, let position = entities[number].fields.firstIndex(where: { $0.field == first.field }) {
                entities[number].fields[position] = field
            } else {
                entities[number].fields.append(field)
            }
        }
    }

    /// Whether a row refers to one that is missing.
    private func isDangling(
        _ key: ForeignSchema.ForeignKey, _ targets: [String], _ table: ForeignSchema.Table, _ target: ForeignSchema.Table
    ) throws -> Bool {
        let pairs = zip(key.columns, targets).map { child, parent in
            let equal = "o.\(parent.quotedIdentifier) = t.\(child.quotedIdentifier)"
            return (child: "t.\(child.quotedIdentifier)", isSame: connection.sameBytes(equal, parent, in: target.name))
        }
        let isSet = pairs.map { "\($0.child) IS NOT NULL" }.joined(separator: " AND ")
        let isSame = pairs.map(\.isSame).joined(separator: " AND ")
        return try !connection.integers(
            "SELECT 1 FROM \(table.name.quotedIdentifier) AS t WHERE \(isSet) AND NOT EXISTS "
                + "(SELECT 1 FROM \(target.name.quotedIdentifier) AS o WHERE \(isSame)) LIMIT 1"
        ).isEmpty
    }

    // MARK: Lists

    /// A table that has nothing but links.
    private struct Join {
        var parent: (table: String, column: String)
        var child: (table: String, column: String)
        var order: String?
        var name: String?
    }

    private func join(of table: ForeignSchema.Table, among tables: [ForeignSchema.Table]) -> Join? {
        if dialect == Self.coreData, let join = coreDataJoin(table) { return join }
        guard table.kind == "table", table.foreignKeys.count == 2, table.foreignKeys.allSatisfy({ $0.columns.count == 1 }) else {
            return nil
        }
        // Nobody refers to a link.
        if tables.contains(where: { $0.foreignKeys.contains { $0.table.lowercased() == table.name.lowercased() } }) { return nil }
        let links = table.foreignKeys.sorted { left, right in
            let places = [left, right].map { key in table.columns.firstIndex { $0.name == key.columns[0] } ?? 0 }
            return places[0] < places[1]
        }
        let linked = Set(links.map { $0.columns[0].lowercased() })
        guard linked.count == 2 else { return nil }
        // Besides the links, only the number of a row, as in Django.
        let others = table.columns.filter { !linked.contains($0.name.lowercased()) }
        guard others.allSatisfy({ $0.keyPosition > 0 && $0.type.contains("INT") }) else { return nil }
        // A row with one of both is no link.
        let (first, second) = (links[0].columns[0].quotedIdentifier, links[1].columns[0].quotedIdentifier)
        let isWhole = try? connection.integers(
            "SELECT 1 FROM \(table.name.quotedIdentifier) WHERE \(first) IS NULL OR \(second) IS NULL LIMIT 1"
        ).isEmpty
        guard isWhole == true else { return nil }
        for key in links {
            guard let target = tables.first(where: { $0.name.lowercased() == key.table.lowercased() }), target.key.count == 1,
                key.targets[0].isEmpty || key.targets[0].lowercased() == target.key[0].name.lowercased()
            else { return nil }
        }
        return Join(
            parent: (links[0].table, links[0].columns[0]), child: (links[1].table, links[1].columns[0]), order: others.first?.name
        )
    }

    private mutating func addList(_ table: String, _ join: Join) {
        guard let parent = index(of: join.parent.table), let child = index(of: join.child.table),
            entities[child].fields.contains(where: { $0.key == true && $0.columns == nil }),
            entities[parent].fields.contains(where: { $0.key == true && $0.columns == nil })
        else {
            left.append(TableMapping.Left(table: table, why: "it links rows of tables without a key of one column"))
            return
        }
        let target = entities[child].entity
        var taken = Set(entities[parent].fields.map { $0.field.lowercased() })
        let name = Self.unique(join.name ?? (target.hasSuffix("s") ? target : target + "s"), &taken)
        entities[parent].fields.append(
            TableMapping.Field(
                field: name, type: "toMany", target: target,
                list: TableMapping.List(table: table, parent: join.parent.column, child: join.child.column, order: join.order)))
    }

    // MARK: Indexes

    private mutating func addIndexes(_ number: Int) {
        guard let table = schema.tables.first(where: { $0.name == entities[number].table }) else { return }
        func field(_ column: String) -> Int? {
            entities[number].fields.firstIndex { $0.column?.lowercased() == column.lowercased() && $0.key != true }
        }
        /// Whether different stored values are different values of the field.
        func isExact(_ position: Int) -> Bool {
            let field = entities[number].fields[position]
            let found = field.column.flatMap { facts[table.name]?[$0] } ?? ColumnFacts()
            return switch field.fieldType?.kind {
            case .int64, .string, .data, .toOne, .double: true
            case .uuid: found.blobs == found.count || found.isUppercaseUUID
            default: false
            }
        }
        var indexes: [TableMapping.Index] = []
        var all = table.indexes
        if let key = entities[number].fields.first(where: { $0.key == true })?.columns {
            all.append(ForeignSchema.Index(columns: key, isUnique: true))
        }
        for index in all {
            let positions = index.columns.compactMap(field)
            guard positions.count == index.columns.count, positions.count <= IndexDescription.maximumFieldCount,
                Set(positions).count == positions.count
            else { continue }
            let isUnique = index.isUnique && positions.allSatisfy(isExact)
            if positions.count == 1 {
                // A reference has its index.
                if entities[number].fields[positions[0]].target != nil { continue }
                entities[number].fields[positions[0]].indexed = isUnique ? nil : true
                if isUnique { entities[number].fields[positions[0]].unique = true }
            } else {
                let names = positions.map { entities[number].fields[$0].field }
                if let twin = indexes.firstIndex(where: { $0.fields == names }) {
                    if isUnique { indexes[twin].unique = true }
                } else {
                    indexes.append(TableMapping.Index(fields: names, unique: isUnique ? true : nil))
                }
            }
        }
        for position in entities[number].fields.indices where entities[number].fields[position].unique == true {
            entities[number].fields[position].indexed = nil
        }
        if !indexes.isEmpty { entities[number].indexes = indexes }
    }

    // MARK: Core Data

    private mutating func readCoreDataEntities() throws {
        let rows = try connection.rows("SELECT Z_ENT, Z_NAME, coalesce(Z_SUPER, 0) FROM Z_PRIMARYKEY") {
            (
                number: Int(sqlite3_column_int64($0, 0)), name: SQLiteConnection.text($0, 1),
                parent: Int(sqlite3_column_int64($0, 2))
            )
        }
        for row in rows {
            // The rows of an entity are in the table of its root.
            var root = row
            var steps = 0
            while root.parent != 0, steps < rows.count, let parent = rows.first(where: { $0.number == root.parent }) {
                (root, steps) = (parent, steps + 1)
            }
            coreDataEntities[row.number] = (row.name, "Z" + root.name.uppercased())
        }
    }

    /// A table of a many-to-many relationship, such as `Z_2TAGS(Z_2NOTES, Z_3TAGS, Z_FOK_3TAGS)`: the list `tags`, ordered by its last
    /// column. One between rows of an entity can be `Z_2FRIENDS(Z_2FRIENDS, REFLEXIVE)`.
    private func coreDataJoin(_ table: ForeignSchema.Table) -> Join? {
        guard let match = table.name.wholeMatch(of: /Z_(\d+)(.+)/) else { return nil }
        typealias Column = (column: String, name: String, table: String)
        let columns = table.columns.filter { !$0.name.hasPrefix("Z_FOK_") }.compactMap { column -> Column? in
            let parts = column.name.wholeMatch(of: /Z_(\d+)(.+)/)?.output
            guard parts != nil || column.name == "REFLEXIVE" else { return nil }
            return Int(parts?.1 ?? match.output.1).flatMap { coreDataEntities[$0] }.map {
                (column.name, String(parts?.2 ?? match.output.2), $0.table)
            }
        }
        guard columns.count == 2 else { return nil }
        let own = columns.firstIndex { $0.column.hasPrefix("Z_\(match.output.1)") && $0.name != match.output.2 } ?? 0
        var (parent, child) = (columns[own], columns[1 - own])
        func order(_ column: Column) -> String? { table.columns.first { $0.name == "Z_FOK_" + column.column.dropFirst(2) }?.name }
        // Of two lists that are inverse to each other, one comes: that which has an order.
        if order(child) == nil, order(parent) != nil { swap(&parent, &child) }
        return Join(
            parent: (parent.table, parent.column), child: (child.table, child.column), order: order(child),
            name: Self.name(child.name.lowercased(), or: "list"))
    }

    /// The to-one relationships, which Core Data does not declare: integers with an index, or with the name of an entity. Where several
    /// entities have rows with such keys, a person has to say which it is.
    private mutating func coreDataReferences(of table: ForeignSchema.Table) throws -> [ForeignSchema.ForeignKey] {
        let roots = Set(coreDataEntities.values.map(\.table))
        let indexed = Set(table.indexes.filter { $0.columns.count == 1 }.map { $0.columns[0] })
        var keys: [ForeignSchema.ForeignKey] = []
        for column in table.columns {
            guard column.type == "INTEGER", column.name.hasPrefix("Z"), !column.name.hasPrefix("Z_"),
                let found = facts[table.name]?[column.name], found.count > 0, found.integers == found.count,
                roots.contains(column.name) || indexed.contains(column.name)
            else { continue }
            let named = roots.contains(column.name) ? [column.name] : roots.sorted()
            let candidates = try named.compactMap { other in
                let key = ForeignSchema.ForeignKey(table: other, columns: [column.name], targets: ["Z_PK"], onDelete: "SET NULL")
                guard let target = schema.tables.first(where: { $0.name == other }), try !isDangling(key, ["Z_PK"], table, target)
                else { return ForeignSchema.ForeignKey?.none }
                return key
            }
            if candidates.count == 1 { keys += candidates }
            guard candidates.count > 1, let number = index(of: table.name),
                let position = entities[number].fields.firstIndex(where: { $0.column == column.name })
            else { continue }
            let others = candidates.compactMap { self.names[$0.table.lowercased()] }.sorted()
            let order = table.columns.first { $0.name == "Z_FOK_" + column.name.dropFirst() }
            entities[number].fields[position].note =
                "it may refer to a row of \(others.dropLast().joined(separator: ", ")) or \(others.last ?? "")"
                + (order.map { "; '\($0.name)' has the order of a list of it" } ?? "")
        }
        return keys
    }

    /// Ordered to-many relationships: the rows of the list have their place in a column `Z_FOK_` beside the key of the parent.
    private mutating func addOrderedLists(_ tables: [ForeignSchema.Table]) {
        for table in tables {
            for column in table.columns where column.name.hasPrefix("Z_FOK_") {
                let link = "Z" + column.name.dropFirst("Z_FOK_".count)
                guard let number = index(of: table.name),
                    let position = entities[number].fields.firstIndex(where: { $0.column == link && $0.target != nil }),
                    let target = entities[number].fields[position].target,
                    let parent = entities.first(where: { $0.entity == target })?.table
                else { continue }
                entities[number].fields.remove(at: position)
                addList(
                    table.name,
                    Join(parent: (parent, link), child: (table.name, "Z_PK"), order: column.name, name: nil))
            }
        }
    }
}
