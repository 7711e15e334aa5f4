import DAOCore
import DAOSQL
import Foundation

/// Holds rows back, and writes them with a prepared statement in few messages: many new rows with an array for each column.
final class PostgresRowBatch: SQLRowBatch {
    private let connection: PostgresConnection
    private let text: String
    private let entity: String
    /// The position of the key, of a batch that stores whole rows.
    private let keyIndex: Int?
    /// The numbers of the parameters, by the positions of their fields; -1 for a field that is not bound.
    private let parameters: [Int]
    private var prepared: PreparedStatement?
    /// The statement that stores the rows of arrays; nil until it is prepared.
    private var arrays: PreparedStatement?
    private var row = Parameters()
    private var key: Key?
    private var rows: [Parameters] = []

    /// The number of rows in one message. Their answers fit into the buffers of the connection while nobody reads them.
    private static let maximumCommands = 500

    /// The numbers of rows that arrays have, and the bytes that are enough for one message.
    private static let inArrays = 16...5000
    private static let longMessage = 4 << 20

    init(_ write: SQLRowWrite, of table: SQLTable, _ connection: PostgresConnection) {
        self.connection = connection
        text = table.text(of: write)
        entity = table.entity.name
        let fields = table.entity.fields
        var parameters = Array(repeating: -1, count: fields.count)
        let stored = fields.indices.filter { !fields[$0].type.kind.isRelationship }
        if case .update(let positions) = write {
            for (number, field) in positions.enumerated() { parameters[field] = number }
            keyIndex = nil
        } else {
            for (number, field) in stored.enumerated() { parameters[field] = number }
            keyIndex = table.entity.keyIndex
        }
        self.parameters = parameters
        super.init()
    }

    override var isHolding: Bool { !rows.isEmpty }

    override func begin() {
        row.removeAll()
        key = nil
    }

    private func ready() throws -> PreparedStatement {
        if let prepared, !prepared.isOutdated { return prepared }
        prepared = nil
        // Rows that another batch holds back are written before these.
        if connection.holding !== self { try connection.sendHeld() }
        let new = try PreparedStatement(text, connection, entity: entity)
        prepared = new
        return new
    }

    override func add() throws {
        if connection.holding !== self { try connection.sendHeld() }
        _ = try ready()
        connection.didWrite(key, of: entity)
        rows.append(row)
        connection.holding = self
    }

    override func add(changing key: Key) throws {
        let types = try ready().parameterTypes
        try row.append(key, as: types.last ?? 0)
        self.key = key
        try add()
    }

    override func send() throws {
        if connection.holding === self { connection.holding = nil }
        if rows.isEmpty { return }
        let sent = rows
        rows = []
        var start = 0
        while start < sent.count {
            var (end, length) = (start, 0)
            while end < sent.count, end - start < Self.inArrays.upperBound, length < Self.longMessage {
                length += sent[end].bytes.count
                end += 1
            }
            let isSent = try end - start >= Self.inArrays.lowerBound && sendArrays(sent[start..<end])
            if !isSent { try sendEach(sent, start..<end) }
            start = end
        }
    }

    /// Sends new rows as arrays; false when one has to be sent after another: there is no statement for it, or one was refused.
    private func sendArrays(_ rows: ArraySlice<Parameters>) throws -> Bool {
        let types = try ready().parameterTypes
        if keyIndex == nil { return false }
        if arrays?.isOutdated != false {
            let names = types.compactMap { TypeID.names[$0] }
            let values = "VALUES (\(types.indices.map { "$\($0 + 1)" }.joined(separator: ", ")))"
            guard names.count == types.count, let place = text.firstRange(of: values) else { return false }
            let lists = names.enumerated().map { "$\($0 + 1)::\($1)[]" }.joined(separator: ", ")
            let both = text.replacingCharacters(in: place, with: "SELECT * FROM unnest(\(lists))")
            arrays = try PreparedStatement(both, connection, entity: entity)
        }
        guard let arrays else { return false }
        do {
            _ = try connection.protected([.run(arrays.name, Parameters(arraysOf: rows, types))], text)
            return true
        } catch let error as ServerError where error.state == "23505" || error.state == "21000" {
            // A value is taken, or two of the rows have the same key.
            return false
        } catch let error as ServerError {
            throw error.failure(path: connection.path, entity: entity)
        }
    }

    /// Sends a command for each row.
    private func sendEach(_ sent: [Parameters], _ rows: Range<Int>) throws {
        let name = try ready().name
        for start in stride(from: rows.lowerBound, to: rows.upperBound, by: Self.maximumCommands) {
            let some = sent[start..<min(start + Self.maximumCommands, rows.upperBound)]
            do {
                _ = try connection.protected(some.map { .run(name, $0) }, text)
            } catch let error as ServerError {
                // The rows before it were undone with it. The caller looks for the row that it collides with among them.
                if error.state == "23505", error.number > 0 {
                    _ = try? connection.protected(some.prefix(error.number).map { .run(name, $0) }, text)
                }
                throw refusal(error, start + error.number)
            }
        }
    }

    private func refusal(_ error: ServerError, _ number: Int) -> any Error {
        guard error.state == "23505" else { return error.failure(path: connection.path, entity: entity) }
        let storageError = error.storageError(path: connection.path, entity: entity)
        let isKey = try? !connection.rows(
            "SELECT 1 FROM pg_catalog.pg_constraint WHERE conname = $1 AND contype = 'p' "
                + "AND connamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = current_schema())",
            [error.constraint ?? ""]
        ).isEmpty
        return SQLRefusedRow(isKey == true ? .key : .values(of: nil), number: number, storageError)
    }

    /// Discards the rows.
    func drop() { rows = [] }

    override func finish() {
        drop()
        if connection.holding === self { connection.holding = nil }
        row.removeAll()
    }

    // MARK: Fields

    /// The type of a field's parameter.
    @inline(__always) private func type(_ index: Int) throws -> UInt32 { try ready().parameterTypes[parameters[index]] }

    @inline(__always) private func isBound(_ index: Int) -> Bool { parameters[index] >= 0 }

    override func writeNull(at index: Int) throws { if isBound(index) { row.appendNull() } }

    override func writeInt64(_ value: Int64, at index: Int) throws {
        if index == keyIndex { key = .integer(value) }
        if isBound(index) { try row.append(value, as: type(index)) }
    }

    override func writeUInt64(_ value: UInt64, at index: Int) throws {
        if index == keyIndex { key = Int64(exactly: value).map(Key.integer) ?? .unsigned(value) }
        if isBound(index) { try row.append(value, as: type(index)) }
    }

    override func writeDouble(_ value: Double, at index: Int) throws {
        if isBound(index) { try row.append(value, as: type(index)) }
    }

    override func writeString(_ value: String, at index: Int) throws {
        if index == keyIndex { key = .string(value) }
        if isBound(index) { try row.append(value, as: type(index)) }
    }

    override func writeData(_ value: Data, at index: Int) throws { if isBound(index) { try row.append(value, as: type(index)) } }

    override func writeUUID(_ value: UUID, at index: Int) throws {
        if index == keyIndex { key = .uuid(value) }
        if isBound(index) { try row.append(value, as: type(index)) }
    }
}
