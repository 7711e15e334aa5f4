import DAOCore
import Foundation

/// Reads fields of rows from the entries of the index that leads to them, so that the rows are not looked up.
///
/// An entry has a value in the form of keys (``KeyForm``), in which a long text is truncated, and zero has no sign. The row of
/// such a value is looked up.
final class EntryReader: RowReader {
    private let reader: RecordReader
    private let index: Table.Index
    private let access: RowAccess
    /// The number of the index's components, by the positions of their fields; -1 for a field that is not in the index.
    private let components: [Int]
    /// The current entry, and where each of its values begins; nil when the row was read.
    @exclusivity(unchecked) private var entry: UnsafeRawBufferPointer?
    @exclusivity(unchecked) private var values: [Int]

    /// Creates a reader; nil when the path of a query is no index that has all of some fields.
    ///
    /// - Parameters:
    ///   - fields: The positions of the fields.
    ///   - run: The query.
    ///   - reader: The reader that its source moves.
    convenience init?(of fields: [Int], _ run: QueryRun, _ reader: RecordReader) {
        guard let plan = reader.plan, plan.order == .path, plan.race == nil, let path = plan.path, path.residual.isEmpty,
            case .index(let index) = path.target
        else { return nil }
        self.init(of: Set(fields), in: index, run, reader)
    }

    /// Creates a reader of the entries of an index; nil when it lacks one of some fields.
    init?(of fields: Set<Int>, in index: Table.Index, _ run: QueryRun, _ reader: RecordReader) {
        var components = Array(repeating: -1, count: run.table.description.fields.count)
        if index.elements == nil {
            for (number, component) in index.components.enumerated() { components[component.field] = number }
        }
        guard
            fields.allSatisfy({
                $0 == run.table.keyField || components[$0] >= 0 && index.components[components[$0]].form != .decimal
            })
        else { return nil }
        self.reader = reader
        self.index = index
        self.components = components
        access = RowAccess(transaction: run.transaction, table: run.table, filter: nil, verifies: run.verifies)
        values = Array(repeating: 0, count: index.components.count)
        super.init(entity: run.table.description)
    }

    /// Moves to the row that the source has moved the other reader to.
    func show() throws {
        entry = reader.entry
        guard let entry else { return }
        var end = index.keyspace.length
        for (number, component) in index.components.enumerated() {
            values[number] = end
            guard
                let value = KeyParser.indexedValue(in: entry, from: end, form: component.form, isAscending: component.isAscending)
            else { throw access.table.corruptedIndex(index) }
            if value.isCut { return try lookUp() }
            end = value.end
        }
    }

    /// Reads the row.
    private func lookUp() throws {
        guard try access.show(reader.key, in: reader) else { throw access.table.corruptedIndex(index) }
        reader.lookedAt -= 1
        entry = nil
    }

    override var currentKey: Key? { reader.currentKey }

    override func isNull(at index: Int) -> Bool {
        guard (try? hasValue(at: index)) == true, let entry else { return reader.isNull(at: index) }
        return !isKey(index) && entry[values[components[index]]] != 1
    }

    override func readInt64(at index: Int) throws -> Int64 {
        guard let word = try word(at: index) else { return try reader.readInt64(at: index) }
        return form(of: index) == .signed ? Int64(bitPattern: word ^ 1 << 63) : Int64(bitPattern: word)
    }

    override func readUInt64(at index: Int) throws -> UInt64 {
        guard let word = try word(at: index) else { return try reader.readUInt64(at: index) }
        return word
    }

    override func readDouble(at index: Int) throws -> Double {
        if let word = try word(at: index) {
            let number = Double(bitPattern: word >> 63 == 1 ? word & ~(1 << 63) : ~word)
            if number.isNaN { return .nan }
            if number != 0 { return number }
            try lookUp()
        }
        return try reader.readDouble(at: index)
    }

    override func readString(at index: Int) throws -> String {
        guard let bytes = try bytes(at: index) else { return try reader.readString(at: index) }
        guard let text = bytes.withUnsafeBytes({ String(checking: $0) }) else {
            throw corruptedValue(at: index, "text that is not UTF-8")
        }
        return text
    }

    override func readData(at index: Int) throws -> Data {
        guard let bytes = try bytes(at: index) else { return try reader.readData(at: index) }
        return Data(bytes)
    }

    override func readUUID(at index: Int) throws -> UUID {
        if isKey(index), case .uuid(let id)? = currentKey { return id }
        guard let value = try value(at: index), value.count >= 16 else { return try reader.readUUID(at: index) }
        var id = value.loadUnaligned(as: uuid_t.self)
        if !isAscending(index) { withUnsafeMutableBytes(of: &id) { for place in $0.indices { $0[place] = ~$0[place] } } }
        return UUID(uuid: id)
    }

    // MARK: Values

    /// Whether a field is the primary key, and not read from a record.
    private func isKey(_ index: Int) -> Bool { entry != nil && index == access.table.keyField }

    private func form(of index: Int) -> KeyForm {
        isKey(index) ? access.table.keyForm : self.index.components[components[index]].form
    }

    private func isAscending(_ index: Int) -> Bool { isKey(index) || self.index.components[components[index]].isAscending }

    /// Whether the current entry has a field. The row is looked up when a type reads a field that was not asked for.
    private func hasValue(at index: Int) throws -> Bool {
        if entry == nil { return false }
        if isKey(index) || components.indices.contains(index) && components[index] >= 0 { return true }
        try lookUp()
        return false
    }

    /// The bytes from a value in the current entry on; nil when the row was read.
    private func value(at index: Int) throws -> UnsafeRawBufferPointer? {
        guard try hasValue(at: index), let entry else { return nil }
        return isKey(index) ? reader.key : entry.from(values[components[index]] + 1)
    }

    /// A value of eight bytes.
    private func word(at index: Int) throws -> UInt64? {
        guard let value = try value(at: index) else { return nil }
        guard value.count >= 8 else { throw access.table.corruptedIndex(self.index) }
        let word = UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
        return isAscending(index) ? word : ~word
    }

    /// A value of the form ``KeyForm/bytes``.
    private func bytes(at index: Int) throws -> [UInt8]? {
        guard let value = try value(at: index) else { return nil }
        // A key is the last component, and is not escaped.
        if isKey(index) { return Array(value) }
        let mask: UInt8 = isAscending(index) ? 0 : 0xFF
        var bytes: [UInt8] = []
        var place = 0
        while place + 1 < value.count {
            let byte = value[place] ^ mask
            if byte == 0, value[place + 1] ^ mask != 0xFF { return bytes }
            bytes.append(byte)
            place += byte == 0 ? 2 : 1
        }
        throw access.table.corruptedIndex(self.index)
    }
}
