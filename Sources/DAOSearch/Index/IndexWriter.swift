import DAOCore

/// Keeps the index of an entity (contract S8): writes add segments, and merge some of those that are there.
///
/// Segments of about the same size are merged, so that a posting is written again as often as the index is eight times larger than what one
/// write adds. A large merge goes on in slices, each in proportion to what its write adds: no write waits for one. While it does, a
/// search finds words up to the last merged one in the output, and the others in the inputs.
struct IndexWriter: TextIndexWriting {
    let rows: IndexRows
    /// The number of the index.
    let index: Int64
    /// The number of searchable fields.
    let fields: Int

    /// How many segments of one size are merged.
    static let fanIn = 8
    /// The size of the smallest segments.
    private static let smallest = 4096
    /// How much of a merge goes on at least in each write.
    private static let slice = 16384
    /// How many erased rows wait for the merges of their segments.
    private static let fewErased = 500
    /// The words of a segment at most, when a call adds many rows.
    private static let segmentWords = 250_000

    init(_ rows: IndexRows, index: Int64, fields: Int) { (self.rows, self.index, self.fields) = (rows, index, fields) }

    func apply(erased: [Key], added: [IndexedTexts]) throws {
        if erased.isEmpty, added.isEmpty { return }
        do {
            try change(erased, added)
        } catch is DamagedPostings {
            throw IndexRows.damaged
        }
    }

    private func change(_ erased: [Key], _ added: [IndexedTexts]) throws {
        // Beside other writers: no two meet at a segment, a number or a statistic.
        let shared = try rows.segments.database.takeTextNumbers(added.count + 1)
        var segments = shared == nil ? try rows.segments(of: index) : []
        var nextID = try shared == nil ? newID() : 0
        var nextNumber = shared ?? segments.map(\.end).max() ?? index << NumberRow.bits
        var builder = SegmentBuilder(fields: fields)
        var numbers: [NumberRow] = []
        let gone = try rows.numbered(erased, in: index)
        guard gone.allSatisfy({ 0...1 << 40 ~= $0.length }) else { throw DamagedPostings() }
        for row in gone { builder.erase(row) }
        _ = try rows.numbers.erase(keys: gone.map { .integer($0.number) })
        func flush() throws {
            if builder.rows == 0, builder.erased == 0 { return }
            let first = numbers.first?.number ?? nextNumber
            var segment = SegmentRow(
                id: shared == nil ? nextID : first + 1, index: index, first: first, end: nextNumber, rows: builder.rows,
                words: builder.words, erased: builder.erased, erasedWords: builder.erasedWords, size: 0)
            var writer = BlockWriter(segment.id, first: segment.first)
            try builder.write(to: &writer)
            try rows.blocks.insert(writer.finish())
            segment.size = writer.size
            try rows.segments.insert([segment])
            try rows.numbers.insert(numbers)
            segments.append(segment)
            nextID += 1
            (builder, numbers) = (SegmentBuilder(fields: fields), [])
            if shared == nil { _ = try merge(&segments, &nextID, budget: max(segment.size * 3 / 2, Self.slice)) }
        }
        for row in added {
            let length = builder.add(nextNumber, row.texts)
            numbers.append(NumberRow(number: nextNumber, owner: NumberRow.owner(index, row.key), length: length))
            nextNumber += 1
            if builder.words >= Self.segmentWords { try flush() }
        }
        try flush()
        if shared != nil { SegmentMerger.added(by: self) }
    }

    private func newID() throws -> Int64 {
        guard case .integer(let last)? = try rows.segments.keys(Query(orderedBy: [.descending(\.id)], limit: 1)).first else {
            return 1
        }
        guard 1..<1 << 60 ~= last else { throw DamagedPostings() }
        return last + 1
    }

    // MARK: Merging

    /// Goes on with the merges, and begins those that are due.
    ///
    /// - Parameters:
    ///   - budget: About how many bytes of each are merged.
    ///   - limit: The first number that no new segment may have; nil for any.
    /// - Returns: Whether something was merged.
    func merge(
        _ segments: inout [SegmentRow], _ nextID: inout Int64, budget: Int, until limit: Int64? = nil
    ) throws -> Bool {
        var hasMerged = false
        for output in segments where output.inputs != nil {
            try advance(output, &segments, budget)
            hasMerged = true
        }
        var busy = Set(segments.flatMap(\.inputIDs))
        func begin(_ inputs: [SegmentRow]) throws {
            if let limit, nextID >= limit { return }
            hasMerged = true
            busy.formUnion(inputs.map(\.id))
            let numbers = inputs.numbers
            let output = SegmentRow(
                id: nextID, index: index, first: numbers.lowerBound, end: numbers.upperBound, rows: 0, words: 0, erased: 0,
                erasedWords: 0,
                size: 0, inputs: inputs.map { "\($0.id)" }.joined(separator: " "))
            nextID += 1
            try advance(output, &segments, budget)
        }
        // Rows that were erased and are still there cost each search: they go when a third of all rows is of them.
        let idle = segments.filter { $0.inputs == nil && !busy.contains($0.id) }
        let (stored, erased) = idle.reduce((0, 0)) { ($0.0 + $1.rows, $0.1 + $1.erased) }
        if idle.count > 1, erased > Self.fewErased, erased > stored / 3 { try begin(idle) }
        for group in Dictionary(grouping: segments.filter { $0.inputs == nil && !busy.contains($0.id) }, by: Self.level)
            .sorted(by: { $0.key < $1.key })
        where group.value.count >= Self.fanIn {
            try begin(Array(group.value.sorted { $0.id < $1.id }.prefix(Self.fanIn)))
        }
        return hasMerged
    }

    private static func level(_ segment: SegmentRow) -> Int {
        var (level, size) = (0, smallest)
        while segment.size >= size { (level, size) = (level + 1, size * fanIn) }
        return level
    }

    /// Goes on with a merge.
    private func advance(_ output: SegmentRow, _ segments: inout [SegmentRow], _ budget: Int) throws {
        var output = output
        let ids = Set(output.inputIDs)
        let inputs = segments.filter { ids.contains($0.id) }
        guard inputs.count == ids.count else { throw DamagedPostings() }
        let isDone = try SegmentMerge(rows: rows, fields: fields).advance(&output, inputs, budget)
        if isDone {
            _ = try rows.segments.erase(keys: inputs.map { .integer($0.id) })
            segments.removeAll { ids.contains($0.id) }
        }
        try rows.segments.upsert([output])
        segments.removeAll { $0.id == output.id }
        segments.append(output)
    }
}

/// Merges segments, slice by slice.
struct SegmentMerge {
    let rows: IndexRows
    let fields: Int

    /// Goes on with a merge.
    ///
    /// - Parameters:
    ///   - output: The segment that they are merged into. It says how far.
    ///   - inputs: The segments.
    ///   - budget: About how many bytes are merged.
    /// - Returns: Whether it is complete.
    func advance(_ output: inout SegmentRow, _ inputs: [SegmentRow], _ budget: Int) throws -> Bool {
        let occurrences = Occurrences(fields: fields)
        let cursors = try inputs.map { try SegmentCursor(rows, $0, occurrences) }
        var omitted = NumberSet(inputs.numbers)
        var omittedWriter = BlockWriter(output.id, first: 0)
        omittedWriter.begin(ListTerm.omitted)
        let reader = TermReader(rows: rows, fields: fields)
        if let term = output.term.map({ Array($0.utf8) }) {
            for cursor in cursors { try cursor.skip(to: term, output.number) }
            try reader.forEachRow(of: ListTerm.omitted, in: output) { number, _ in omitted.insert(number) }
        }
        var erased = NumberSet(inputs.numbers)
        if output.term == nil || output.term == "" {
            for input in inputs where input.erased > 0 {
                try reader.forEachRow(of: ListTerm.erased, in: input) { number, _ in erased.insert(number) }
            }
        }
        var writer = BlockWriter(output.id, first: output.first)
        var used = 0
        while used < budget, let term = cursors.lazy.compactMap(\.term).min(by: { $0.precedes($1) }) {
            output.term = String(decoding: term, as: UTF8.self)
            var current = cursors.filter { $0.term == term }
            if term == ListTerm.erased {
                try mergeErased(current, omitted, &output, &writer, &used)
                continue
            }
            writer.begin(term)
            while used < budget, !current.isEmpty {
                var first = 0
                for index in current.indices.dropFirst() where current[index].number < current[first].number { first = index }
                let next = current[first]
                let number = next.number
                if term.isEmpty {
                    let length = try next.length
                    if erased.contains(number) {
                        omitted.insert(number)
                        try next.withPosting { try omittedWriter.add(number, $0) }
                    } else {
                        try next.withPosting { try writer.add(number, $0) }
                        (output.rows, output.words) = (output.rows + 1, output.words + length)
                    }
                } else if omitted.isEmpty || !omitted.contains(number) {
                    try next.withPosting { try writer.add(number, $0) }
                }
                used += next.size + 2
                output.number = number
                if try !next.advance() { current.remove(at: first) }
            }
        }
        try rows.blocks.insert(writer.finish() + omittedWriter.finish())
        output.size += writer.size
        let isDone = cursors.allSatisfy { $0.term == nil }
        var gone = cursors.flatMap(\.passed)
        if isDone {
            (output.inputs, output.term, output.number) = (nil, nil, nil)
            gone += try reader.blocks(of: ListTerm.omitted, in: output).map(\.id).filter { BlockKey.term($0) == ListTerm.omitted }
                .map {
                    .string($0)
                }
        }
        _ = try rows.blocks.erase(keys: gone)
        return isDone
    }

    /// Writes which rows of other segments the inputs take away, without those that this merge has left out.
    private func mergeErased(
        _ cursors: [SegmentCursor], _ omitted: NumberSet, _ output: inout SegmentRow, _ writer: inout BlockWriter,
        _ used: inout Int
    ) throws {
        var erased: [(number: Int64, length: Int)] = []
        for cursor in cursors {
            while cursor.term == ListTerm.erased {
                let length = try cursor.length
                if !omitted.contains(cursor.number) { erased.append((cursor.number, length)) }
                used += cursor.size + 2
                try cursor.advance()
            }
        }
        erased.sort { $0.number < $1.number }
        writer.begin(ListTerm.erased)
        for (number, length) in erased {
            var posting = PostingWriter()
            posting.append(length)
            try posting.bytes.withUnsafeBufferPointer { try writer.add(number, $0) }
            (output.erased, output.erasedWords) = (output.erased + 1, output.erasedWords + length)
        }
        output.number = nil
    }
}
