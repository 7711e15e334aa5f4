import DAOCore

/// Walks the links of one parent after another, in order.
///
/// What it shows points into the store and is valid until something is written.
struct LinkWalk {
    private let table: LinkTable
    private let cursor: KeyValueCursor
    private let verifies: Bool
    private let buffer: UnsafeMutableRawBufferPointer
    /// What the keys of the list begin with.
    private var prefix = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The hash of that.
    private(set) var list: UInt64 = 0
    /// Whether the cursor stands on an entry that was not looked at.
    private var isAhead = false

    /// The position of the link it stands on.
    private(set) var position: UInt64 = 0
    /// The bytes of the child's key in that link.
    private(set) var child = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The whole key of that link.
    var key: UnsafeRawBufferPointer { cursor.key }

    /// Stands nowhere.
    ///
    /// - Parameters:
    ///   - table: Where the links are.
    ///   - transaction: What to read with.
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
        list = XXH64.hash(prefix.from(KeyParser.keyspaceLength))
        // Lists that are asked for in the order in which they are stored are met without looking for them: the walk has come from a lesser key.
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

    /// Leaves the link it stands on. What it showed stays valid.
    @inline(__always) mutating func leave() throws { isAhead = try cursor.next() }

    private var isInList: Bool {
        cursor.key.count >= prefix.count
            && UnsafeRawBufferPointer(rebasing: cursor.key[..<prefix.count]).order(against: prefix) == 0
    }
}
