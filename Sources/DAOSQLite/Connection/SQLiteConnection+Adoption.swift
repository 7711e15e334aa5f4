import DAOCore
import DAOSQL
import DAOSystemSQLite

// What of a table that another program has made contradicts the contract (Docs/AdoptedTables.md). Where the statements of the
// suite decide, they do: OR ABORT overrides conflict clauses, and COLLATE BINARY the collation of a column.
extension SQLiteConnection {
    /// The collations that every SQLite has. Those of columns are overridden in comparisons.
    static let knownCollations: Set<String> = ["BINARY", "NOCASE", "RTRIM"]

    func obstacles(to table: SQLTable, beside entities: [String]) throws -> [String] {
        let name = table.entity.name
        let text = name.quotedLiteral
        let kind = try rows("SELECT type, wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = \(text)") {
            (type: Self.text($0, 0), isStrict: sqlite3_column_int64($0, 2) != 0)
        }
        guard let kind = kind.first, kind.type == "table" else { return ["it is a \(kind.first?.type ?? "missing") table"] }
        var found = try columnObstacles(table, isStrict: kind.isStrict)
        found += try indexObstacles(table)
        found += try foreignKeyObstacles(table, beside: Set(entities).union([name]))
        if !found.isEmpty { return found }
        return try triggerObstacles(table, beside: entities.filter { $0 != name } + [name])
    }

    func columnsNotComparedByBytes(in table: String, _ entity: EntityDescription) throws -> Set<String> {
        var columns: Set<String> = []
        for field in entity.fields where field.type.kind == .string || field.type.kind == .url {
            if let collation = collation(of: field.name, in: table), collation != "BINARY" { columns.insert(field.name) }
        }
        return columns
    }

    /// The collation of a column, in capital letters; nil when there is no such column.
    func collation(of column: String, in table: String) -> String? {
        var collation: UnsafePointer<CChar>?
        guard sqlite3_table_column_metadata(handle, "main", table, column, nil, &collation, nil, nil, nil) == SQLITE_OK,
            let collation
        else { return nil }
        return String(cString: collation).uppercased()
    }

    private func columnObstacles(_ table: SQLTable, isStrict: Bool) throws -> [String] {
        let name = table.entity.name
        var found: [String] = []
        let hidden = try rows("SELECT name FROM pragma_table_xinfo(\(name.quotedLiteral)) WHERE hidden > 1") { Self.text($0, 0) }
        found += hidden.map { "the column '\($0)' is GENERATED ALWAYS, and cannot be written" }
        for field in table.entity.fields where !field.type.kind.isRelationship {
            let kind = field.type.kind
            if isStrict, kind == .float || kind == .double || kind == .date || kind == .uint64 {
                let what = kind == .uint64 ? "a number beyond Int64.max" : "a value that is no number (NaN)"
                found.append("the table is STRICT, and its column '\(field.name)' refuses \(what)")
            }
            if kind == .uint64, field.isPrimaryKey, isRowID(field.name, name) {
                found.append("the key '\(field.name)' is an INTEGER PRIMARY KEY, which refuses a number beyond Int64.max")
            }
            guard let collation = collation(of: field.name, in: name), collation != "BINARY" else { continue }
            if field.isPrimaryKey || table.stored.fields.contains(where: { $0.name == field.name && $0.type.kind == .toOne }) {
                found.append("the key '\(field.name)' has COLLATE \(collation), by which different keys are equal")
            } else if !Self.knownCollations.contains(collation) {
                found.append("the column '\(field.name)' has COLLATE \(collation), which only another program knows")
            }
        }
        return found
    }

    /// Whether a column is another name of the row's number.
    private func isRowID(_ column: String, _ table: String) -> Bool {
        var type: UnsafePointer<CChar>?
        var isKey: CInt = 0
        guard sqlite3_table_column_metadata(handle, "main", table, column, &type, nil, nil, &isKey, nil) == SQLITE_OK, isKey != 0
        else { return false }
        return type.map { String(cString: $0).asciiLowercased == "integer" } ?? false
    }

    private func indexObstacles(_ table: SQLTable) throws -> [String] {
        let declared = table.entity.uniqueIndexes
        var found: [String] = []
        for index in try storedTable(table.entity.name)?.indexes ?? [] where index.isUnique {
            let columns = try rows("SELECT name, coll FROM pragma_index_xinfo(\(index.name.quotedLiteral)) WHERE key") {
                (name: Self.text($0, 0), collation: Self.text($0, 1).uppercased())
            }
            let names = columns.map(\.name)
            let what =
                index.origin == .statement ? "the UNIQUE INDEX '\(index.name)'" : "UNIQUE (\(names.joined(separator: ", ")))"
            if let other = columns.first(where: { $0.collation != "BINARY" }) {
                found.append("\(what) has COLLATE \(other.collation), by which different values are equal")
            } else if names.contains("") {
                found.append("\(what) is on an expression, which the model cannot declare")
            } else if index.origin != .primaryKey {
                let isDeclared = declared.contains { other in
                    other.isUnique && Set(other.fields.map(\.name)) == Set(names) && (other.condition != nil) == index.isPartial
                        && other.namePrefix.map(index.name.hasPrefix) ?? true
                }
                if !isDeclared {
                    found.append("\(what)\(index.isPartial ? " has WHERE, and" : "") is not declared by the model")
                }
            }
        }
        return found
    }

    private func foreignKeyObstacles(_ table: SQLTable, beside entities: Set<String>) throws -> [String] {
        let name = table.entity.name
        var found: [String] = []
        let known = Set(entities.map(\.asciiLowercased))
        let keys = try rows(
            """
            SELECT m.name, f.id, f."from", f."table", f.on_delete, f.on_update, p.pk
            FROM sqlite_master m, pragma_foreign_key_list(m.name) f
            LEFT JOIN pragma_table_info(f."table") p ON lower(p.name) = lower(coalesce(f."to", '')) WHERE m.type = 'table'
            """
        ) {
            (
                child: Self.text($0, 0), id: sqlite3_column_int64($0, 1), column: Self.text($0, 2), parent: Self.text($0, 3),
                onDelete: Self.text($0, 4), onUpdate: Self.text($0, 5),
                leadsToKey: sqlite3_column_type($0, 6) == SQLITE_NULL || sqlite3_column_int64($0, 6) != 0
            )
        }
        let passive: Set<String> = ["NO ACTION", "RESTRICT"]
        for key in keys {
            let isOurs = [key.child, key.parent].contains { $0.asciiLowercased == name.asciiLowercased }
            guard isOurs, known.contains(key.child.asciiLowercased), known.contains(key.parent.asciiLowercased) else { continue }
            let of = "the foreign key '\(key.column)' of '\(key.child)'"
            if !passive.contains(key.onDelete) {
                found.append("\(of) has ON DELETE \(key.onDelete), which changes rows that the database does not tell of")
            } else if !passive.contains(key.onUpdate), !key.leadsToKey {
                // The key of a row never changes.
                found.append("\(of) has ON UPDATE \(key.onUpdate), which changes rows that the database does not tell of")
            }
        }
        // A row is written before its related row, so the key is checked at the end of the transaction.
        let own = keys.filter { $0.child == name }
        let isReference = { (column: String) in
            table.stored.fields.contains { $0.name == column && $0.type.kind == .toOne }
        }
        if let reference = own.first(where: { isReference($0.column) }) {
            let sql = try texts("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = \(name.quotedLiteral)").first ?? ""
            let deferred = SQLWords(sql).count(of: ["DEFERRABLE", "INITIALLY", "DEFERRED"], notAfter: "NOT")
            if deferred < Set(own.map(\.id)).count {
                found.append("the foreign key '\(reference.column)' is not DEFERRABLE INITIALLY DEFERRED")
            }
        }
        return found
    }

    // MARK: Triggers

    /// What the triggers do that a write fires, and whether there is something that keeps our own statements from being prepared.
    private func triggerObstacles(_ table: SQLTable, beside entities: [String]) throws -> [String] {
        let name = table.entity.name
        var found: [String] = []
        let fields = table.entity.fields.indices.filter {
            $0 != table.entity.keyIndex && !table.entity.fields[$0].type.kind.isRelationship
        }
        var triggers: [(name: String, changes: Set<String>)] = []
        do {
            for write in [SQLRowWrite.insert, .upsert] + (fields.isEmpty ? [] : [.update(fields)]) {
                sqlite3_finalize(try prepared(table.text(of: write), entity: name))
            }
            triggers = try firedTriggers(of: name)
        } catch {
            guard let error = (error as? SQLMissingTable)?.underlying ?? error as? StorageError, error.kind != .notPermitted
            else {
                throw error
            }
            return ["a trigger, an index or a constraint of the table cannot be used: \(error.engineMessage ?? error.message)"]
        }
        let known = Set(entities.map(\.asciiLowercased))
        for entity in entities {
            guard try entity == name || hasTriggers(entity) else { continue }
            for fired in try entity == name ? triggers : firedTriggers(of: entity) where !Self.isOfElements(fired.name) {
                let changed = fired.changes.filter { known.contains($0.asciiLowercased) }
                // Other entities only matter for what they do to this one.
                if entity != name, !changed.contains(where: { $0.asciiLowercased == name.asciiLowercased }) { continue }
                if let other = changed.sorted().first {
                    found.append(
                        "the trigger '\(fired.name)' changes rows of '\(other)', which the database would not tell of")
                }
                if entity != name { continue }
                let trigger = try rows(
                    "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'trigger' AND name = \(fired.name.quotedLiteral)"
                ) { (table: Self.text($0, 0), words: SQLWords(Self.text($0, 1))) }
                guard let trigger = trigger.first else { continue }
                if trigger.table.asciiLowercased == name.asciiLowercased, trigger.words.contains(["RAISE", "(", "IGNORE"]) {
                    found.append(
                        "the trigger '\(fired.name)' has RAISE(IGNORE), which keeps rows from being written without a word")
                }
                for word in ["FAIL", "ROLLBACK"] where trigger.words.contains(["RAISE", "(", word]) {
                    found.append(
                        "the trigger '\(fired.name)' has RAISE(\(word)), which leaves more or less than the failed call undone")
                }
                if let word = trigger.words.conflictClause {
                    found.append("the trigger '\(fired.name)' has \(word), which a statement that fires it overrides")
                }
            }
        }
        return found
    }

    private func hasTriggers(_ table: String) throws -> Bool {
        try !texts(
            "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = \(table.quotedLiteral) COLLATE NOCASE LIMIT 1"
        ).isEmpty
    }

    /// Whether a trigger keeps a table of elements.
    private static func isOfElements(_ trigger: String) -> Bool { trigger.contains(".elements.") }

    /// The triggers that writes of a table's rows fire, directly or through others, and the tables that each changes. SQLite tells
    /// while it compiles the writes; none of them runs.
    private func firedTriggers(of table: String) throws -> [(name: String, changes: Set<String>)] {
        let quoted = SQLiteDialect().quoted(table)
        let columns = try texts("SELECT name FROM pragma_table_info(\(table.quotedLiteral))").map(SQLiteDialect().quoted)
        let log = TriggerLog()
        let code = sqlite3_set_authorizer(
            handle,
            { context, action, first, _, _, trigger in
                guard let context, let trigger else { return SQLITE_OK }
                let log = Unmanaged<TriggerLog>.fromOpaque(context).takeUnretainedValue()
                var changes = log.changes[String(cString: trigger)] ?? []
                if [SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE].contains(action), let first {
                    changes.insert(String(cString: first))
                }
                log.changes[String(cString: trigger)] = changes
                return SQLITE_OK
            }, Unmanaged.passUnretained(log).toOpaque())
        if code != SQLITE_OK { throw failure(code) }
        // The log lives until the function returns.
        defer {
            sqlite3_set_authorizer(handle, nil, nil)
            withExtendedLifetime(log) {}
        }
        let changes = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
        for text in ["INSERT INTO \(quoted) DEFAULT VALUES", "UPDATE \(quoted) SET \(changes)", "DELETE FROM \(quoted)"] {
            sqlite3_finalize(try prepared(text, entity: table))
        }
        return log.changes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// What SQLite tells of triggers while it compiles a statement.
private final class TriggerLog {
    /// The tables that each trigger changes.
    var changes: [String: Set<String>] = [:]
}

/// The words of a statement, in capital letters, without comments, texts and quoted names.
struct SQLWords {
    private var words: [String] = []

    init(_ sql: String) {
        var rest = Substring(sql)
        while let first = rest.first {
            if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                rest = rest.range(of: "*/").map { rest[$0.upperBound...] } ?? ""
            } else if "'\"`[".contains(first) {
                // A doubled quote begins another text, which is left out as well.
                let end = first == "[" ? "]" : first
                rest = rest.dropFirst()
                rest = rest.firstIndex(of: end).map { rest[rest.index(after: $0)...] } ?? ""
                words.append("")
            } else if first.isLetter || first == "_" {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
                words.append(word.uppercased())
                rest = rest[word.endIndex...]
            } else {
                if !first.isWhitespace { words.append(String(first)) }
                rest = rest.dropFirst()
            }
        }
    }

    /// How often words follow each other, and not a certain other word.
    func count(of wanted: [String], notAfter other: String? = nil) -> Int {
        words.indices.filter { start in
            words[start...].starts(with: wanted) && (start == 0 || other == nil || words[start - 1] != other)
        }.count
    }

    func contains(_ wanted: [String]) -> Bool { count(of: wanted) > 0 }

    /// The first conflict clause of a statement; nil when there is none.
    var conflictClause: String? {
        for verb in ["INSERT", "UPDATE"] {
            for word in ["IGNORE", "REPLACE", "FAIL", "ROLLBACK"] where contains([verb, "OR", word]) {
                return "\(verb) OR \(word)"
            }
        }
        return contains(["REPLACE", "INTO"]) ? "REPLACE INTO" : nil
    }
}
