/// The statements of the most recent queries, by their text. The text is the shape of the query: values are
/// bound.
struct StatementCache {
    /// The number of statements that are kept.
    private static let capacity = 128

    private var statements: [Text: SQLStatement] = [:]
    private var clock = 0
    private(set) var hits = 0
    private(set) var misses = 0

    /// Takes a statement that is not in use; nil when there is none.
    mutating func take(_ text: String) -> SQLStatement? {
        guard let statement = statements[Text(text: text)], !statement.isInUse else {
            misses += 1
            return nil
        }
        hits += 1
        clock += 1
        statement.isInUse = true
        statement.lastUse = clock
        return statement
    }

    /// Keeps a statement for later. When a statement with the same text is in use, the new statement is not
    /// kept.
    mutating func add(_ statement: SQLStatement, _ text: String) {
        let text = Text(text: text)
        guard statements[text] == nil else { return }
        if statements.count >= Self.capacity {
            // This is rare enough to search all statements.
            let oldest = statements.lazy.filter { !$0.value.isInUse }.min { $0.value.lastUse < $1.value.lastUse }
            if let oldest { statements[oldest.key] = nil }
        }
        clock += 1
        statement.lastUse = clock
        statements[text] = statement
    }

    mutating func removeAll() { statements.removeAll() }
}

/// A text whose hash takes some of its bytes: to hash all would cost as much as to read a row.
private struct Text: Hashable {
    let text: String

    func hash(into hasher: inout Hasher) {
        var mixed = UInt64(truncatingIfNeeded: text.utf8.count)
        text.utf8.withContiguousStorageIfAvailable { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            let word = MemoryLayout<UInt64>.size
            for part in 1...8 where bytes.count >= word {
                let piece = bytes.loadUnaligned(fromByteOffset: (bytes.count - word) * part / 8, as: UInt64.self)
                mixed = (mixed ^ piece) &* 0x9E37_79B9_7F4A_7C15
                mixed ^= mixed >> 32
            }
        }
        hasher.combine(mixed)
    }
}
