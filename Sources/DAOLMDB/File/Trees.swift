import DAOCore
import DAOSystemLMDB

/// The trees of a file: named databases of LMDB that are made with the file and opened with it.
///
/// The first byte of a key is the number of its tree; the last tree has all keys with greater first bytes.
/// The order of the trees is therefore the order of their keys. The database gives each of its first tables
/// and indexes a first byte, hence a tree. In a separate tree rows that ascend fill their pages: 100,000 rows
/// of 80 bytes take 2,500 pages, and 5,000 in a tree with a single greater key.
///
/// Trees are never opened later. Another process can give the number of a handle to another tree, and a
/// transaction cannot use a tree that was opened after it began. All trees are therefore open at all times,
/// and every transaction pays for each. Measured with 100,000 rows, in nanoseconds; a tree's first use in a
/// transaction reads its position, which is included:
///
/// | trees | renew and reset | renew, get and reset | commit of one row, no sync |
/// |---|---|---|---|
/// | the unnamed | 11 | 529 | 4,050 |
/// | 16 | 30 | 521 | 4,460 |
/// | 32 | 50 | 529 | 4,290 |
/// | 64 | 105 | 668 | 5,290 |
/// | 128 | 205 | 775 | 8,880 |
struct Trees: Sendable {

    /// The number of trees.
    static let count = 32

    /// LMDB's handles, in the order of the trees.
    let handles: [MDB_dbi]

    /// Opens the trees of a file.
    ///
    /// - Parameters:
    ///   - transaction: A transaction, the first one in the environment.
    ///   - creates: Whether the trees are created.
    /// - Throws: `notADatabase` when a tree does not exist.
    init(_ transaction: OpaquePointer, creates: Bool, errors: LMDBErrors) throws {
        handles = try (0..<Self.count).map { tree in
            var handle: MDB_dbi = 0
            let code = mdb_dbi_open(transaction, Self.name(tree), creates ? UInt32(MDB_CREATE) : 0, &handle)
            if code == MDB_NOTFOUND || code == MDB_INCOMPATIBLE { throw Self.foreign(errors) }
            guard code == 0 else { throw errors.error(code, "opening the database") }
            return handle
        }
    }

    /// The handle of the tree with a key.
    @inline(__always) subscript(key: UnsafeRawBufferPointer) -> MDB_dbi { handles[Self.number(of: key)] }

    /// The number of the tree with a key.
    @inline(__always) static func number(of key: UnsafeRawBufferPointer) -> Int {
        key.isEmpty ? 0 : min(Int(key[0]), count - 1)
    }

    /// The name of a tree. Names are ordered like the trees.
    static func name(_ tree: Int) -> String { (tree < 10 ? "0" : "") + String(tree) }

    /// The error for an LMDB file with other trees.
    static func foreign(_ errors: LMDBErrors) -> StorageError {
        .notADatabase(errors.path, "an LMDB file of another program, or of an early version of swift-dao")
    }
}
