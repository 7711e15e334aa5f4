extension Database {
    /// Checks everything that is stored, in one snapshot, and reports what is damaged (contract L9).
    ///
    /// Every row is decoded; every checksum is compared; every index has exactly the entries of its rows; both ends of
    /// every link exist; rows are as the log of changes says. An engine with pages checks their structure first. When that is damaged so that rows cannot
    /// be found, the report has nothing else. Nothing is changed or repaired. Other calls are not disturbed, but an
    /// engine keeps what was overwritten since the beginning, as for every snapshot.
    ///
    /// Inside a transaction of this database, the check includes its writes.
    ///
    /// - Parameter onProgress: A closure that is called after every 1,000 rows, and after the last row of each entity,
    ///   on this thread.
    /// - Returns: The report. Damage is not an error of this call.
    /// - Throws: `.unsupported` when the database offers no rows without types; `.closed`, `.busy` and `.io`.
    /// - Complexity: It reads everything that is stored, and searches one entry for each row and index.
    public func verify(onProgress: (VerificationProgress) -> Void = { _ in }) throws -> VerificationReport {
        try verify(isCancelled: { false }, onProgress)
    }

    /// Checks everything that is stored without blocking the thread of the calling task; see
    /// ``verify(onProgress:)-(_)``.
    ///
    /// - Throws: The errors of the synchronous form; `CancellationError` when the task is cancelled.
    public func verify(
        onProgress: @escaping @Sendable (VerificationProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await engineState.executor.readCancellable { try self.verify(isCancelled: $0, onProgress) }
    }

    private func verify(
        isCancelled: () -> Bool, _ onProgress: (VerificationProgress) -> Void
    ) throws -> VerificationReport {
        try reporting(.verify) {
            try withoutActuallyEscaping(isCancelled) { isCancelled in
                try withoutActuallyEscaping(onProgress) { onProgress in
                    try withEntityStore(.read) { store in
                        let check = Verification(store: store, isCancelled: isCancelled, onProgress: onProgress)
                        try check.run()
                        return check.report
                    }
                }
            }
        }
    }
}

/// One run of a verification.
private final class Verification {
    private static let batchSize = 1000

    private let store: any EntityStore
    private let isCancelled: () -> Bool
    private let onProgress: (VerificationProgress) -> Void
    private(set) var report = VerificationReport()

    init(store: any EntityStore, isCancelled: @escaping () -> Bool, onProgress: @escaping (VerificationProgress) -> Void) {
        self.store = store
        self.isCancelled = isCancelled
        self.onProgress = onProgress
    }

    func run() throws {
        var canRead = false
        try reporting {
            try store.verifyStructure { report.add($0) }
            canRead = true
        }
        guard canRead else { return }
        var entities: [EntityDescription] = []
        try reporting { entities = try store.entities() }
        for entity in entities { try verify(entity) }
        try reporting { try LogCheck(entities).run(store, isCancelled) { report.add($0) } }
        for entity in entities where entity.textIndex?.isCurrent == true {
            try reporting { try TextIndexes.shared?.verify(entity, in: store, isCancelled) { report.add($0) } }
        }
        for relation in entities.flatMap({ $0.relations(among: entities) }) {
            try reporting(relation) { try verify(relation) }
        }
    }

    /// Runs a step that ends with the first damage that it cannot pass.
    private func reporting(_ relation: RelationDescription? = nil, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch var error as StorageError where error.isDamage {
            if let relation, error.entity == nil { (error.entity, error.field) = (relation.entity, relation.field) }
            report.add(error)
        }
    }

    private func verify(_ entity: EntityDescription) throws {
        try reporting {
            if !entity.isOwn { report.rows[entity.name] = 0 }
            let total = try store.count(entity.name)
            var count = 0
            func tell() { onProgress(VerificationProgress(entity: entity.name, rows: count, total: max(total, count))) }
            // The count is kept when damage ends the reading.
            defer { if !entity.isOwn { report.rows[entity.name] = count } }
            try store.verify(
                entity.name,
                onRow: {
                    count += 1
                    guard count % Self.batchSize == 0 else { return }
                    if isCancelled() { throw CancellationError() }
                    tell()
                }, { report.add($0) })
            do {
                try verifyEmbedded(entity)
            } catch let error as StorageError where error.isDamage {
                // It is in the report.
            }
            if count % Self.batchSize != 0 || count == 0 { tell() }
        }
    }

    /// Checks that embedded values are JSON of what their fields contain.
    private func verifyEmbedded(_ entity: EntityDescription) throws {
        let fields = entity.fields.indices.filter { entity.fields[$0].content != nil }
        if fields.isEmpty { return }
        var count = 0
        try store.forEachRow(of: entity.name, after: nil) { key, values in
            count += 1
            if count % Self.batchSize == 0, isCancelled() { throw CancellationError() }
            for field in fields where (try? entity.canonical(values[field], at: field)) == nil {
                report.add(
                    .corruptedValue(
                        entity, key: UniqueID(key), field: field, "text that is not \(entity.fields[field].content ?? .value)"))
            }
            return true
        }
    }

    /// Checks that both ends of every link exist.
    private func verify(_ relation: RelationDescription) throws {
        let links = try store.links(of: relation)
        try links.verify { report.add($0) }
        func add(_ message: String, _ parent: Key) {
            report.add(
                StorageError(.corrupted, message, entity: relation.entity, key: UniqueID(parent), field: relation.field))
        }
        let parents = try links.counts().map(\.parent)
        for start in stride(from: 0, to: parents.count, by: Self.batchSize) {
            if isCancelled() { throw CancellationError() }
            let batch = Array(parents[start..<min(start + Self.batchSize, parents.count)])
            for parent in try store.missing(batch, from: relation.entity) {
                add("links of a row that does not exist are stored; restore the database from a backup", parent)
            }
            let linked = try links.children(of: batch)
            let missing = Set(try store.missing(Set(linked.keys).sorted(), from: relation.target))
            if missing.isEmpty { continue }
            for (parent, children) in zip(batch, linked.lists) where children.contains(where: missing.contains) {
                add(
                    "the row refers to a row of '\(relation.target)' that does not exist; store that row, or this one again",
                    parent)
            }
        }
    }
}

extension StorageError {
    /// Whether the error reports damaged data.
    package var isDamage: Bool { kind == .corrupted || kind == .corruptedValue }
}
