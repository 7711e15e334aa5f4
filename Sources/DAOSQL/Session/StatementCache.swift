/// The statements of the most recent queries, by their text. The text is the shape of the query: values are
/// bound.
struct StatementCache {
    /// The number of statements that are kept.
    private static let capacity = 128

    private var statements: [String: SQLStatement] = [:]
    private var clock = 0
    private(set) var hits = 0
    private(set) var misses = 0

    /// Takes a statement that is not in use; nil when there is none.
    mutating func take(_ text: String) -> SQLStatement? {
        guard let statement = statements[text], !statement.isInUse else {
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
