import DAOCore

/// Merges segments where transactions run side by side: in transactions of its own, after writers that only insert. A writer that meets such a
/// transaction does not notice it, and of two that merge the same segments the database lets one pass.
enum SegmentMerger {
    /// How many segments a search sees before it asks for a merge, for those who store a row and end.
    private static let many = 8 * IndexWriter.fanIn

    /// Says that a writer has added a segment. When there are enough of them, they are merged soon; after the first of a process, too.
    static func added(by writer: IndexWriter) { ask(writer) { $0.map { $0.added + 1 >= IndexWriter.fanIn } ?? true } }

    /// Says how many segments a search has read.
    static func seen(_ count: Int, _ rows: IndexRows, index: Int64, fields: Int) {
        guard count > many, (try? rows.segments.database.numberBound()) != nil else { return }
        ask(IndexWriter(rows, index: index, fields: fields)) { $0?.hasFailed != true }
    }

    private static func ask(_ writer: IndexWriter, _ isDue: (TextMerges?) -> Bool) {
        let database = writer.rows.segments.database
        let engine = database.engineState
        let begins = engine.textMerges.withLock { merges in
            let known = merges[writer.index]
            let begins = known?.isRunning != true && isDue(known)
            merges[writer.index, default: TextMerges()].added += 1
            if begins { merges[writer.index]?.isRunning = true }
            return begins
        }
        if !begins { return }
        Task.detached(priority: .utility) {
            // The writer's transaction ends before. If it does not, the next merge has its segment.
            try? await Task.sleep(for: .milliseconds(20))
            // What cannot be merged now, because another process does or the database was closed, the next writer asks for.
            var hasFailed = false
            do {
                while try await database.transaction({ try writer.mergeAll() }) {}
            } catch {
                hasFailed = true
            }
            engine.textMerges.withLock { [hasFailed] in $0[writer.index] = TextMerges(hasFailed: hasFailed) }
        }
    }
}

extension IndexWriter {
    /// How much one transaction merges. Where writers run one after another, they wait for it.
    private static var largeSlice: Int { 256 << 10 }

    /// How many merges begin in one transaction at most.
    private static var most: Int64 { 64 }

    /// Merges what can be merged.
    ///
    /// - Returns: Whether there is more to merge.
    func mergeAll() throws -> Bool {
        guard let first = try rows.segments.database.takeTextNumbers(Int(Self.most)) else { return false }
        var (segments, nextID) = (try rows.segments(of: index), first + 1)
        do {
            return try merge(&segments, &nextID, budget: Self.largeSlice, until: first + Self.most)
        } catch is DamagedPostings {
            throw IndexRows.damaged
        }
    }
}
