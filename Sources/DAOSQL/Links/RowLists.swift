import DAOCore

/// Splits the rows of a statement into lists. The first column is the number of the list, or the key of its
/// parent.
final class RowLists: RowSelection {
    // Never accessed during another access, so that a row does not pay for the check of that.
    /// The number of the list that the statement's current row belongs to; nil before the first row and after
    /// the last.
    @exclusivity(unchecked) private var number: Int?
    /// Whether the current row of the statement was not delivered yet.
    @exclusivity(unchecked) private var isWaiting = false
    private var hasBegun = false
    /// The parents, when the statement gives their keys.
    @exclusivity(unchecked) private var run: DenseRun?

    init(_ run: DenseRun?) { self.run = run }

    /// Moves to the next list and returns its number; nil when there are no more lists.
    func begin(_ reader: SQLRowReader) throws -> Int? {
        if !hasBegun {
            hasBegun = true
            try step(reader)
        }
        return number
    }

    /// Moves to the next row of the list.
    override func advance(_ reader: SQLRowReader) throws -> Bool {
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
        while number == nil, try reader.next() {
            let first = reader.integer(inColumn: 0)
            // Rows of parents that are not in the list are skipped.
            number = run == nil ? Int(first) : run?.number(of: first)
        }
        isWaiting = number != nil
    }
}

/// Ascending integer keys with few or no missing keys between them. Walking their range costs less than
/// looking up each key.
struct DenseRun {
    let keys: [Int64]
    let first: Int64
    let last: Int64
    /// The position of the key that was found last.
    private var place = 0

    /// Nil for keys that are not dense.
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

    /// Returns the number of a key; nil for a key that is not in the list. The calls have to be in ascending
    /// order.
    mutating func number(of key: Int64) -> Int? {
        while place < keys.count, keys[place] < key { place += 1 }
        return place < keys.count && keys[place] == key ? place : nil
    }
}
