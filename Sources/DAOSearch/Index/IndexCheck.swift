import DAOCore

/// Compares an index with the rows of its entity: what each row has in the index with what its texts have.
struct IndexCheck {
    private let entity: EntityDescription
    private let index: TextIndex
    private let store: any EntityStore
    private let isCancelled: () -> Bool
    private let number: Int64

    /// - Returns: Nil when the index was not made yet.
    init?(_ entity: EntityDescription, _ store: any EntityStore, _ isCancelled: @escaping () -> Bool) throws {
        guard let index = entity.textIndex else { return nil }
        (self.entity, self.index, self.store, self.isCancelled) = (entity, index, store, isCancelled)
        var found: Int64?
        try Self.forEachRow(of: IndexRow.schema.description, in: store, isCancelled) { row in
            if row["id"] == .uuid(index.id), case .integer(let number) = row["number"] { found = number }
        }
        guard let found else { return nil }
        number = found
    }

    /// - Complexity: It reads the index and the rows, and keeps a number for each row in memory.
    func run(_ report: (StorageError) -> Void) throws {
        var (sums, numbers) = (try sums(), try numbers())
        let fields = index.fields.compactMap { entity.index(of: $0) }
        var count = 0
        func problem(_ key: UniqueID, _ message: String) {
            report(
                StorageError(
                    .corrupted, "the index for searches \(message); make it again with rebuildSearchIndex()", entity: entity.name,
                    key: key))
        }
        try store.forEachRow(of: entity.name, after: nil) { key, values in
            count += 1
            if count % 1000 == 0, isCancelled() { throw CancellationError() }
            let id = UniqueID(key)
            guard let number = numbers.removeValue(forKey: id) else {
                problem(id, "does not have the row")
                return true
            }
            var builder = SegmentBuilder(fields: fields.count)
            _ = builder.add(number, fields.map { values[$0].searchedTexts(entity.fields[$0]) })
            var sum: UInt64 = 0
            builder.forEachPosting { sum &+= Self.hash($0, $1) }
            if sums.removeValue(forKey: number) != sum { problem(id, "has other words of the row than the row has") }
            return true
        }
        for id in numbers.keys.sorted(by: { $0.rawValue < $1.rawValue }) { problem(id, "has a row that is not stored") }
        if !sums.isEmpty, numbers.isEmpty { report(IndexRows.damaged) }
    }

    /// What the index has of each row, by its number: the sum of the hashes of its postings.
    private func sums() throws -> [Int64: UInt64] {
        let segments = try segments()
        let merged = segments.values.merged
        var gone = Set<Int64>()
        try forEachPosting(segments) { segment, term, number, _ in
            if term == ListTerm.erased || term == ListTerm.omitted { gone.insert(number) }
        }
        var sums: [Int64: UInt64] = [:]
        try forEachPosting(segments) { segment, term, number, bytes in
            if term == ListTerm.erased || term == ListTerm.omitted || gone.contains(number) { return }
            if let merged = merged[segment.id], term.precedes(merged.term) || term == merged.term && number <= merged.number {
                return
            }
            sums[number, default: 0] &+= Self.hash(term, bytes)
        }
        return sums
    }

    private static func hash(_ term: [UInt8], _ posting: UnsafeBufferPointer<UInt8>) -> UInt64 {
        // FNV-1a.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in term { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        for byte in posting { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }

    private func forEachPosting(
        _ segments: [Int64: SegmentRow], _ body: (SegmentRow, [UInt8], Int64, UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws {
        let occurrences = Occurrences(fields: index.fields.count)
        try Self.forEachRow(of: BlockRow.schema.description, in: store, isCancelled) { row in
            guard case .string(let id) = row["id"], case .data(let content) = row["content"],
                let segment = BlockKey.segment(id).flatMap({ segments[$0] })
            else { return }
            try Array(content).withUnsafeBufferPointer { bytes in
                var pieces = PieceReader(bytes)
                while try pieces.next() {
                    var reader = PostingReader(bytes, at: pieces.postings.lowerBound)
                    var number = ListTerm.base(of: pieces.term, in: segment.first)
                    while reader.position < pieces.postings.upperBound {
                        number &+= Int64(truncatingIfNeeded: try reader.number())
                        let start = reader.position
                        _ = try reader.number()
                        if !ListTerm.isList(pieces.term) { try occurrences.skip(&reader) }
                        try body(segment, pieces.term, number, UnsafeBufferPointer(rebasing: bytes[start..<reader.position]))
                    }
                }
            }
        }
    }

    private func segments() throws -> [Int64: SegmentRow] {
        var segments: [Int64: SegmentRow] = [:]
        try Self.forEachRow(of: SegmentRow.schema.description, in: store, isCancelled) { row in
            func integer(_ name: String) -> Int64? { if case .integer(let number) = row[name] { number } else { nil } }
            func text(_ name: String) -> String? { if case .string(let text) = row[name] { text } else { nil } }
            guard integer("index") == number, let id = integer("id"), let first = integer("first") else { return }
            segments[id] = SegmentRow(
                id: id, index: number, first: first, end: 0, rows: 0, words: 0, erased: 0, erasedWords: 0, size: 0,
                inputs: text("inputs"),
                term: text("term"), number: integer("number"))
        }
        return segments
    }

    private func numbers() throws -> [UniqueID: Int64] {
        var numbers: [UniqueID: Int64] = [:]
        try Self.forEachRow(of: NumberRow.schema.description, in: store, isCancelled) { row in
            guard case .integer(let number) = row["number"], case .string(let owner) = row["owner"],
                owner.hasPrefix("\(self.number):")
            else { return }
            numbers[NumberRow(number: number, owner: owner, length: 0).id] = number
        }
        return numbers
    }

    private struct Row {
        let entity: EntityDescription
        let values: [Value]
        subscript(name: String) -> Value? { entity.index(of: name).map { values[$0] } }
    }

    private static func forEachRow(
        of own: EntityDescription, in store: any EntityStore, _ isCancelled: () -> Bool, _ body: (Row) throws -> Void
    ) throws {
        guard let entity = try store.entity(named: own.name) else { return }
        var count = 0
        try store.forEachRow(of: entity.name, after: nil) { _, values in
            count += 1
            if count % 1000 == 0, isCancelled() { throw CancellationError() }
            try body(Row(entity: entity, values: values))
            return true
        }
    }
}

extension DAO {
    /// Makes the index for searches again (contract S8), for one that `verify` has found wrong.
    ///
    /// - Throws: `.invalidQuery` when the model has no searchable field.
    public func rebuildSearchIndex() throws {
        let (database, entity) = (storage.database, Record.schema.description.name)
        guard let index = try database.textIndex(of: entity) else {
            throw StorageError(
                .invalidQuery, "the model has no searchable field; declare one with .searchable", entity: entity)
        }
        try database.rebuild(index, of: withoutScope.storage)
    }
}
