import DAOCore
import DAOSQL
import Foundation

/// Holds rows back, and writes them in few messages: many new rows with COPY, others with an array for each column or with a
/// command each.
final class PostgresRowBatch: SQLRowBatch {
    private let connection: PostgresConnection
    private let text: String
    /// The statement that stores many rows; nil when there is none.
    private let copy: String?
    /// The statement that finds out whether rows with some keys are stored; nil when it does not matter.
    private let searchText: String?
    private let entity: String
    /// The position of the key, of a batch that stores whole rows.
    private let keyIndex: Int?
    /// The numbers of the parameters, by the positions of their fields; -1 for a field that is not bound.
    private let parameters: [Int]
    /// The number of parameters.
    private let width: Int
    /// What stands before and after the rows in the statement that stores the rows of arrays; nil when there is none.
    private let aroundArrays: (before: String, after: String)?
    private var prepared: PreparedStatement?
    /// The types of the parameters; empty until the statement is prepared.
    private var types: [UInt32] = []
    /// The statement that stores the rows of arrays; nil until it is prepared.
    private var arrays: PreparedStatement?
    private var key: Key?
    /// The values of the rows that are held back, one row after another, and of the current one.
    private var values = Parameters()
    /// The number of rows that are held back and of their bytes, and the number of rows that were sent since the batch was asked
    /// to.
    private var (count, length, sent) = (0, 0, 0)
    /// Finds out whether rows with some keys are stored; nil until it is prepared.
    private var search: PreparedStatement?

    /// The number of rows in one message. Their answers fit into the buffers of the connection while nobody reads them.
    private static let maximumCommands = 500

    /// From how many rows on they are sent as arrays, and with COPY, which takes a round trip more.
    private static let rowsOfArrays = 16
    private static let rowsOfCopy = 1000
    /// The number of rows that are sent at once, and the bytes that are enough.
    private static let maximumRows = 10_000
    private static let longMessage = 4 << 20

    init(_ write: SQLRowWrite, of table: SQLTable, _ connection: PostgresConnection) {
        self.connection = connection
        let text = table.text(of: write)
        self.text = text
        entity = table.entity.name
        let fields = table.entity.fields
        var parameters = Array(repeating: -1, count: fields.count)
        let stored = fields.indices.filter { !fields[$0].type.kind.isRelationship }
        if case .update(let positions) = write {
            for (number, field) in positions.enumerated() { parameters[field] = number }
            keyIndex = nil
            width = positions.count + 1
            aroundArrays = Self.aroundArrays(changing: positions, of: table)
        } else {
            for (number, field) in stored.enumerated() { parameters[field] = number }
            keyIndex = table.entity.keyIndex
            width = stored.count
            let values = "VALUES (\(stored.indices.map { "$\($0 + 1)" }.joined(separator: ", ")))"
            aroundArrays = text.firstRange(of: values).map {
                (text[..<$0.lowerBound] + "SELECT * FROM ", String(text[$0.upperBound...]))
            }
        }
        let columns = stored.map { table.columns[$0] }.joined(separator: ", ")
        // A transaction beside others would meet those that store rows near the keys it looks for.
        let looksForKeys = write == .upsert && connection.settings.writers == 1
        copy = write != .insert && !looksForKeys ? nil : "COPY \(table.name) (\(columns)) FROM STDIN (FORMAT binary)"
        let isStored = "\(table.columns[table.entity.keyIndex]) = ANY($1)"
        searchText = looksForKeys ? "SELECT EXISTS (SELECT FROM \(table.name) WHERE \(isStored))" : nil
        self.parameters = parameters
        super.init()
    }

    /// The parts of the statement that changes the rows of arrays; nil for fields of unique indexes: rows that exchange their
    /// values would not be changed one after another.
    private static func aroundArrays(changing positions: [Int], of table: SQLTable) -> (before: String, after: String)? {
        let entity = table.entity
        let isUnique = entity.uniqueIndexes.contains { index in
            entity.positions(of: index).contains(where: positions.contains)
                || index.filter(of: entity).map { !$0.fields.isDisjoint(with: positions) } ?? false
        }
        if isUnique { return nil }
        // No table and no column has such a name.
        let (rows, columns) = ("\".rows\"", (0...positions.count).map { "\".\($0)\"" })
        let changes = zip(positions, columns).map { "\(table.columns[$0]) = \(rows).\($1)" }
        let key = "\(table.name).\(table.columns[table.entity.keyIndex]) = \(rows).\(columns[positions.count])"
        return (
            "UPDATE \(table.name) SET \(changes.joined(separator: ", ")) FROM ",
            " AS \(rows)(\(columns.joined(separator: ", "))) WHERE \(key)"
        )
    }

    override var isHolding: Bool { count + sent > 0 }

    override func begin() {
        discardBegun()
        values.beginRow(width)
        key = nil
    }

    /// Removes the values of a row that was begun and not added.
    private func discardBegun() { values.truncate(to: count * width, length: length) }

    private func ready() throws -> PreparedStatement {
        if let prepared, !prepared.isOutdated { return prepared }
        prepared = nil
        // Rows that another batch holds back are written before these.
        if connection.holding !== self { try connection.sendHeld() }
        let new = try PreparedStatement(text, connection, entity: entity)
        prepared = new
        types = new.parameterTypes
        return new
    }

    override func add() throws {
        if connection.holding !== self { try connection.sendHeld() }
        _ = try ready()
        connection.didWrite(key, of: entity)
        count += 1
        length = values.bytes.count
        connection.holding = self
        guard count == Self.maximumRows || values.bytes.count >= Self.longMessage else { return }
        let number = sent + count
        try sendRows(isLast: false)
        // A refused row can have been looked at with another statement.
        sent = number
        connection.holding = self
    }

    override func add(changing key: Key) throws {
        _ = try ready()
        try values.append(key, as: types.last ?? 0)
        self.key = key
        try add()
    }

    override func send() throws {
        if connection.holding === self { connection.holding = nil }
        defer { sent = 0 }
        discardBegun()
        if count > 0 { try sendRows(isLast: true) }
    }

    /// Sends the rows that are held back.
    ///
    /// - Parameter isLast: Whether no rows follow.
    private func sendRows(isLast: Bool) throws {
        let (rows, number) = (values, count)
        removeAll()
        let isSent =
            try number >= Self.rowsOfCopy && sendCopy(rows) || number >= Self.rowsOfArrays && sendArrays(rows, isLast: isLast)
        if !isSent { try sendEach(rows, isLast: isLast) }
    }

    /// Sends new rows with COPY; false when they have to be sent otherwise: there is no such statement for them, the server
    /// does not allow it for the table, or one of them was refused.
    private func sendCopy(_ rows: Parameters) throws -> Bool {
        guard let copy, try !isStored(rows) else { return false }
        do {
            try connection.copy(copy, rows.bytes)
            return true
        } catch let error as ServerError where error.isRefused || error.state == "0A000" {
            return false
        } catch let error as ServerError {
            throw error.failure(path: connection.path, entity: entity)
        }
    }

    /// Whether one of the rows may replace a stored one.
    private func isStored(_ rows: Parameters) throws -> Bool {
        guard let searchText, let keyIndex else { return false }
        _ = try ready()
        if search?.isOutdated != false { search = try PreparedStatement(searchText, connection, entity: entity) }
        let column = parameters[keyIndex]
        guard let search, TypeID.elements[search.parameterTypes.first ?? 0] == types[column] else { return true }
        let keys = Parameters(arraysOf: rows, types, only: column)
        return try connection.run([search.command(keys)], searchText, entity: entity).first?.integer(0, 0) != 0
    }

    /// Sends rows as arrays; false when one has to be sent after another: there is no statement for it, or one was refused.
    private func sendArrays(_ rows: Parameters, isLast: Bool) throws -> Bool {
        guard let aroundArrays else { return false }
        _ = try ready()
        if arrays?.isOutdated != false {
            let names = types.compactMap { TypeID.names[$0] }
            guard names.count == types.count else { return false }
            let lists = names.enumerated().map { "$\($0 + 1)::\($1)[]" }.joined(separator: ", ")
            let all = "\(aroundArrays.before)unnest(\(lists))\(aroundArrays.after)"
            arrays = try PreparedStatement(all, connection, entity: entity)
        }
        guard let arrays else { return false }
        do {
            try connection.protected([arrays.command(Parameters(arraysOf: rows, types))], text, isLast: isLast)
            return true
        } catch let error as ServerError where error.isRefused {
            return false
        } catch let error as ServerError {
            throw error.failure(path: connection.path, entity: entity)
        }
    }

    /// Sends a command for each row.
    private func sendEach(_ rows: Parameters, isLast: Bool) throws {
        let prepared = try ready()
        let (count, first) = (rows.count / width, sent)
        // After a refused row the messages are short again: with all others, each refused row would be sent as often as there are
        // refused rows before it.
        var (start, size) = (0, Self.maximumCommands)
        while start < count {
            let commands = (start..<min(start + size, count)).map {
                prepared.command(Parameters(rows, $0 * width..<($0 + 1) * width))
            }
            do {
                try connection.protected(
                    commands, text, isLast: isLast && start + commands.count == count, goesOn: onRefusal != nil)
                start += commands.count
                size = min(size * 2, Self.maximumCommands)
            } catch let error as ServerError {
                // The rows before it were undone with it. The caller looks for the row that it collides with among them.
                if error.state == "23505", error.number > 0 {
                    do {
                        try connection.protected(Array(commands.prefix(error.number)), text)
                    } catch let later as ServerError where onRefusal != nil {
                        throw later.failure(path: connection.path, entity: entity)
                    } catch is ServerError {}
                }
                let failure = refusal(error, first + start + error.number)
                guard let refused = failure as? SQLRefusedRow else { throw failure }
                if onRefusal != nil { connection.moreWritesFollow() }
                try refuse(refused)
                start += error.number + 1
                size = 1
            }
        }
    }

    private func refusal(_ error: ServerError, _ number: Int) -> any Error {
        guard error.state == "23505" else { return error.failure(path: connection.path, entity: entity) }
        let storageError = error.storageError(path: connection.path, entity: entity)
        let isKey = try? !connection.rows(
            "SELECT 1 FROM pg_catalog.pg_constraint WHERE conname = $1 AND contype = 'p' "
                + "AND connamespace = \(connection.namespace)",
            [error.constraint ?? ""]
        ).isEmpty
        return SQLRefusedRow(isKey == true ? .key : .values(of: nil), number: number, storageError)
    }

    private func removeAll() {
        values.removeAll()
        (count, length) = (0, 0)
    }

    /// Discards the rows.
    func drop() {
        removeAll()
        sent = 0
    }

    override func finish() {
        drop()
        if connection.holding === self { connection.holding = nil }
    }

    // MARK: Fields

    /// The type of a field's parameter.
    @inline(__always) private func type(_ index: Int) throws -> UInt32 {
        if types.isEmpty { _ = try ready() }
        return types[parameters[index]]
    }

    @inline(__always) private func isBound(_ index: Int) -> Bool { parameters[index] >= 0 }

    override func writeNull(at index: Int) throws { if isBound(index) { values.appendNull() } }

    override func writeInt64(_ value: Int64, at index: Int) throws {
        if index == keyIndex { key = .integer(value) }
        if isBound(index) { try values.append(value, as: type(index)) }
    }

    override func writeUInt64(_ value: UInt64, at index: Int) throws {
        if index == keyIndex { key = Int64(exactly: value).map(Key.integer) ?? .unsigned(value) }
        if isBound(index) { try values.append(value, as: type(index)) }
    }

    override func writeDouble(_ value: Double, at index: Int) throws {
        if isBound(index) { try values.append(value, as: type(index)) }
    }

    override func writeString(_ value: String, at index: Int) throws {
        if index == keyIndex { key = .string(value) }
        if isBound(index) { try values.append(value, as: type(index)) }
    }

    override func writeData(_ value: Data, at index: Int) throws {
        if isBound(index) { try values.append(value, as: type(index)) }
    }

    override func writeUUID(_ value: UUID, at index: Int) throws {
        if index == keyIndex { key = .uuid(value) }
        if isBound(index) { try values.append(value, as: type(index)) }
    }
}
