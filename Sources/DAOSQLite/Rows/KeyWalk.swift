import DAOCore
import DAOSystemSQLite

/// Finds the rows of ascending keys by walking along the table, from one row to the next, in place of looking each of them up,
/// which begins and ends a statement for each. While each row is written before the next one is looked for, the walk reads some
/// rows ahead: after a write, SQLite has to find the place of the statement again.
///
/// What SQLite shows of rows that are written after a statement has begun is not defined, apart from the row that it is on and
/// those before it, and rows that were read ahead are as they were. So a walk only goes on while no others are written: ``rest()``
/// ends it, and so does a write of more than one row between two keys, which is that of a trigger. Source: [Isolation in SQLite](https://sqlite.org/isolation.html).
final class KeyWalk {
    /// How many rows that are not wanted are passed before the next one is looked up.
    private static let patience = 4
    /// How many rows may have to be looked up before a walk is given up.
    private static let limit = 8
    /// How many rows are read ahead.
    private static let mostAhead = 32

    /// Reads the rows from a key on, in the order of the keys.
    let statement: OpaquePointer
    /// Outlives the walk, which only its `SQLiteStatement` and the reader of that keep.
    private unowned(unsafe) let connection: SQLiteConnection
    private let entity: String
    private let keyColumn: Int32

    // Never accessed during another access, so that a row does not pay for the check of that.
    /// The key whose row is looked for.
    @exclusivity(unchecked) private var wanted: Int64 = 0
    /// The key that was looked for before.
    @exclusivity(unchecked) private var before: Int64 = 0
    @exclusivity(unchecked) private var place = Place.nowhere
    /// The key of the row that the statement is on.
    @exclusivity(unchecked) private var key: Int64 = 0
    /// How many rows were looked up.
    @exclusivity(unchecked) private var lookedUp = 0
    /// How many rows the connection had written when the walk moved.
    @exclusivity(unchecked) private var changes: Int32 = 0
    /// How many rows are to be read ahead, from two on.
    @exclusivity(unchecked) private var ahead = 0
    /// Whether rows are too long to be copied.
    @exclusivity(unchecked) private var hasLongRows = false
    /// The rows that were read ahead; nil before the first ones.
    @exclusivity(unchecked) private var copies: RowCopies?
    /// The number of the row among them; nil when the statement is on it.
    @exclusivity(unchecked) private var copyNumber: Int?
    /// What follows the rows that were read ahead.
    @exclusivity(unchecked) private var afterCopies = AfterCopies.row

    private enum AfterCopies {
        /// The next row of the statement.
        case row
        case end
        /// An error. The row is looked up to get it.
        case failure
    }

    private enum Place {
        case nowhere
        /// On a row that was wanted.
        case onFound
        /// On the row that follows a key without a row.
        case onNext
        case atEnd
    }

    /// - Parameters:
    ///   - select: Reads the row with a key; it ends with the condition that the key is equal to the only parameter. It outlives
    ///     this object.
    ///   - keyColumn: The column of the key.
    init(_ select: OpaquePointer, _ connection: SQLiteConnection, entity: String, keyColumn: Int) throws {
        let text = sqlite3_sql(select).map { String(cString: $0) } ?? ""
        statement = try connection.prepared(text.dropLast(3) + ">= ? ORDER BY \(keyColumn + 1)", entity: entity)
        self.connection = connection
        self.entity = entity
        self.keyColumn = Int32(keyColumn)
    }

    deinit { sqlite3_finalize(statement) }

    /// Whether the rows of these keys may be so close to each other that walking pays.
    static func pays(_ keys: [Key]) -> Bool {
        guard case .integer(let first)? = keys.first, case .integer(let last)? = keys.last, first < last else { return false }
        let (distance, isFar) = last.subtractingReportingOverflow(first)
        return !isFar && distance / 2 < keys.count
    }

    /// Sets the key whose row is looked for.
    ///
    /// - Returns: False when the walk cannot lead there, or had to look up so many rows that it does not pay.
    func leads(to key: Key) -> Bool {
        guard case .integer(let number) = key, lookedUp <= Self.limit else { return false }
        (before, wanted) = (wanted, number)
        return true
    }

    /// Leaves the row, so that the next one is looked up.
    func rest() { rest(.nowhere) }

    private func rest(_ place: Place) {
        sqlite3_reset(statement)
        self.place = place
        copyNumber = nil
        ahead = 0
    }

    /// Ends the walk. Another one can begin.
    func end() {
        rest()
        lookedUp = 0
        copies = nil
        hasLongRows = false
    }

    /// The row that was found, where it was read ahead; nil where the statement is on it.
    @inline(__always) var copy: UnsafePointer<RowValue.Copy>? {
        guard let copyNumber, let copies else { return nil }
        return copies.row(copyNumber)
    }

    /// Moves to the row of the wanted key.
    ///
    /// - Returns: False when there is no such row.
    func find() throws -> Bool {
        let changesBefore = changes
        changes = sqlite3_total_changes(sqlite3_db_handle(statement))
        switch changes &- changesBefore {
        case 0: break
        case 1: if place != .nowhere, !hasLongRows { ahead = min(max(ahead * 2, 2), Self.mostAhead) }
        default: rest()
        }
        return try move()
    }

    private func move() throws -> Bool {
        switch place {
        case .onFound where key < wanted, .onNext where key < wanted:
            for _ in 0..<Self.patience {
                if try !step() { return false }
                if key >= wanted { return arrive() }
            }
        // There was no row between the key before, which was not found, and this one.
        case .onNext where wanted > before: return arrive()
        case .atEnd where wanted > before: return false
        default: break
        }
        lookedUp += 1
        rest()
        sqlite3_bind_int64(statement, 1, wanted)
        return try step() && arrive()
    }

    private func arrive() -> Bool {
        let isFound = key == wanted
        place = isFound ? .onFound : .onNext
        return isFound
    }

    private func step() throws -> Bool {
        if let copyNumber, let copies {
            if copyNumber + 1 < copies.count {
                show(copyNumber + 1, of: copies)
                return true
            }
            self.copyNumber = nil
            switch afterCopies {
            case .row: break
            case .end:
                rest(.atEnd)
                return false
            case .failure:
                lookedUp += 1
                rest()
                sqlite3_bind_int64(statement, 1, wanted)
            }
        }
        let code = sqlite3_step(statement)
        if code == SQLITE_ROW {
            key = sqlite3_column_int64(statement, keyColumn)
            if ahead > 1 { try readAhead() }
            return true
        }
        defer { rest(code == SQLITE_DONE ? .atEnd : .nowhere) }
        if code != SQLITE_DONE { throw connection.failure(code, entity: entity) }
        return false
    }

    /// Copies the row that the statement is on and those that follow it.
    ///
    /// - Throws: An error that has ended the transaction.
    private func readAhead() throws {
        let copies = self.copies ?? RowCopies(statement, room: Self.mostAhead)
        self.copies = copies
        copies.removeAll()
        guard copies.append() else { return }
        (hasLongRows, afterCopies) = (copies.isFull, .row)
        if hasLongRows { ahead = 0 }
        while copies.count < ahead, !copies.isFull {
            let code = sqlite3_step(statement)
            if code == SQLITE_ROW, copies.append() { continue }
            afterCopies = code == SQLITE_DONE ? .end : .failure
            if sqlite3_get_autocommit(sqlite3_db_handle(statement)) != 0 {
                defer { rest() }
                throw connection.failure(code, entity: entity)
            }
            break
        }
        show(0, of: copies)
    }

    @inline(__always) private func show(_ number: Int, of copies: RowCopies) {
        copyNumber = number
        key = copies.integer(number, keyColumn)
    }
}
