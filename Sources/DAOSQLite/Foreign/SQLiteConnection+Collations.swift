import DAOSystemSQLite
import Foundation

// Collations that only the program knows that made a file.
extension SQLiteConnection {
    /// Runs a closure that reads a file whose collations are not here: what asks for one gets the order of the bytes.
    ///
    /// Rows that are walked in the order of an index come in its order, whatever that is. What is looked up in such an index is not found:
    /// see ``sameBytes(_:isForeign:)``. Nothing may be written meanwhile, and the stand-ins end with the closure.
    func withStandInCollations<Result>(_ body: () throws -> Result) throws -> Result {
        let names = CollationNames()
        return try withExtendedLifetime(names) {
            sqlite3_collation_needed(handle, Unmanaged.passUnretained(names).toOpaque()) { names, connection, _, name in
                guard let names, let name else { return }
                let list = Unmanaged<CollationNames>.fromOpaque(names).takeUnretainedValue()
                if sqlite3_create_collation_v2(connection, name, SQLITE_UTF8, nil, compareBytes, nil) == SQLITE_OK {
                    list.all.append(String(cString: name))
                }
            }
            defer {
                sqlite3_collation_needed(handle, nil, nil)
                for name in names.all { sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, nil, nil) }
            }
            return try body()
        }
    }

    /// Whether a column is compared by a collation that is not here.
    func hasForeignCollation(_ column: String, in table: String) -> Bool {
        collation(of: column, in: table).map { !Self.knownCollations.contains($0) } ?? false
    }

    /// A condition of two equal sides, that holds where they have the same bytes. It can use an index of the left column.
    func sameBytes(_ equation: String, _ column: String, in table: String) -> String {
        Self.sameBytes(equation, isForeign: hasForeignCollation(column, in: table))
    }

    /// A condition of two equal sides, that holds where they have the same bytes. It can use an index of the left column, unless that
    /// has a collation that is not here, by whose order nothing is found.
    static func sameBytes(_ equation: String, isForeign: Bool) -> String {
        isForeign ? "\(equation) COLLATE BINARY" : "\(equation) AND \(equation) COLLATE BINARY"
    }
}

/// The collations that have a stand-in.
private final class CollationNames {
    var all: [String] = []
}

/// The order of the bytes, as that of SQLite's `BINARY`.
private func compareBytes(
    _ context: UnsafeMutableRawPointer?, _ leftCount: Int32, _ left: UnsafeRawPointer?, _ rightCount: Int32,
    _ right: UnsafeRawPointer?
) -> Int32 {
    let count = Int(min(leftCount, rightCount))
    let order = left.flatMap { left in right.map { memcmp(left, $0, count) } } ?? 0
    return order != 0 ? order : leftCount - rightCount
}
