/// The statements of queries that were used last, by their text. The text is the shape of the query: values
/// are bound.
struct StatementCache {
    /// How many are kept.
    private static let capacity = 128

    private var statements: [String: SQLStatement] = [:]
    private var clock = 0
    private(set) var hits = 0
    private(set) var misses = 0

    /// A statement that nobody uses; nil when there is none.
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

    /// Keeps a statement for later. When one of its text is there, in use, the new one is for once only.
    mutating func add(_ statement: SQLStatement, _ text: String) {
        guard statements[text] == nil else { return }
        if statements.count >= Self.capacity {
            // Rare enough to look at all of them.
            let oldest = statements.lazy.filter { !$0.value.isInUse }.min { $0.value.lastUse < $1.value.lastUse }
            if let oldest { statements[oldest.key] = nil }
        }
        clock += 1
        statement.lastUse = clock
        statements[text] = statement
    }

    mutating func removeAll() { statements.removeAll() }
}
