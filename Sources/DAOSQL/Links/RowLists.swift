import DAOCore

/// Splits the rows of a statement that gives the number of a list first, or the key of its parent, into one
/// list after another.
final class RowLists {
    /// The number of the list that the statement's row belongs to; nil before the first row and after the
    /// last.
    private var number: Int?
    /// Whether the row that the statement stands on was not given out yet.
    private var isWaiting = false
    private var hasBegun = false
    /// The parents, where the statement gives their keys.
    private var run: DenseRun?

    init(_ run: DenseRun?) { self.run = run }

    /// The number of the next list; nil when there are no more.
    func begin(_ reader: SQLRowReader) throws -> Int? {
        if !hasBegun {
            hasBegun = true
            try step(reader)
        }
        return number
    }

    /// Moves to the next row of the list.
    func advance(_ reader: SQLRowReader) throws -> Bool {
        if isWaiting {
            isWaiting = false
            return true
        }
        let list = number
        try step(reader)
        guard number == list, number != nil else { return false }
        isWaiting = false
        return true
    }

    private func step(_ reader: SQLRowReader) throws {
        number = nil
        while number == nil, try reader.step() {
            let first = reader.integer(inColumn: 0)
            // Rows of a parent that nobody asked for are passed over.
            number = run == nil ? Int(first) : run?.number(of: first)
        }
        isWaiting = number != nil
    }
}

/// Ascending integer keys with few or no others between them: walking their range costs less than looking
/// each up.
struct DenseRun {
    let keys: [Int64]
    let first: Int64
    let last: Int64
    /// The place of the key that was found last.
    private var place = 0

    /// Nil for keys that are not so.
    init?(_ parents: [Key]) {
        guard parents.count > 8, case .integer(let first) = parents[0], case .integer(let last) = parents[parents.count - 1],
            let span = Optional(last.subtractingReportingOverflow(first)), !span.overflow, span.partialValue < 2 * parents.count
        else { return nil }
        var keys: [Int64] = []
        keys.reserveCapacity(parents.count)
        for parent in parents {
            guard case .integer(let key) = parent, keys.last.map({ $0 < key }) ?? true else { return nil }
            keys.append(key)
        }
        (self.keys, self.first, self.last) = (keys, first, last)
    }

    /// The number of a key, asked for in ascending order; nil for one between them.
    mutating func number(of key: Int64) -> Int? {
        while place < keys.count, keys[place] < key { place += 1 }
        return place < keys.count && keys[place] == key ? place : nil
    }
}
