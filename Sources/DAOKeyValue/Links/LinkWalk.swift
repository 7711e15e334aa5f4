import DAOCore

/// Reads the links of one parent after another, in order.
///
/// Its bytes point into the store and are valid until the next write.
struct LinkWalk {
    private let table: LinkTable
    private let cursor: KeyValueCursor
    private let verifies: Bool
    private let buffer: UnsafeMutableRawBufferPointer
    /// The common prefix of the list's keys.
    private var prefix = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The hash of that prefix.
    private(set) var list: UInt64 = 0
    /// Whether the cursor is on an entry that was not yet read.
    private var isAhead = false

    /// The position of the current link.
    private(set) var position: UInt64 = 0
    /// The bytes of the child's key in the current link.
    private(set) var child = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The whole key of the current link.
    var key: UnsafeRawBufferPointer { cursor.key }

    /// Creates a walk without a position.
    ///
    /// - Parameters:
    ///   - table: The table of the links.
    ///   - transaction: The transaction to read with.
    ///   - verifies: Whether to verify checksums.
    ///   - buffer: ``KeyBuilder/capacity`` bytes that outlive the walk.
    init(
        _ table: LinkTable, _ transaction: any KeyValueTransaction, verifies: Bool, _ buffer: UnsafeMutableRawBufferPointer
    ) throws {
        self.table = table
        self.verifies = verifies
        self.buffer = buffer
        cursor = try transaction.cursor()
    }

    /// Moves before the first link of a parent.
    mutating func begin(_ parent: Key) throws {
        var builder = KeyBuilder(buffer)
        try table.append(listOf: parent, to: &builder)
        prefix = builder.bytes
        list = XXH64.hash(prefix.from(table.keyspace.length))
        // Lists that are requested in stored order are reached without a search, because the walk comes from
        // a lesser key.
        if isAhead, isInList { return }
        isAhead = try cursor.seek(prefix)
    }

    /// Moves to the next link of the parent.
    ///
    /// - Returns: False when there are no more.
    @inline(__always) mutating func next() throws -> Bool {
        guard isAhead, isInList else { return false }
        let bytes = cursor.key
        guard bytes.count == prefix.count + LinkTable.positionLength else { throw table.corrupted }
        position = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: prefix.count, as: UInt64.self))
        child = try table.child(in: cursor.value, list: verifies ? list : nil, position: position)
        return true
    }

    /// Moves off the current link. Its bytes stay valid.
    @inline(__always) mutating func leave() throws { isAhead = try cursor.next() }

    private var isInList: Bool {
        cursor.key.count >= prefix.count
            && UnsafeRawBufferPointer(rebasing: cursor.key[..<prefix.count]).order(against: prefix) == 0
    }
}
