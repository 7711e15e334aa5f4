/// One run of a copy, from a snapshot of the source into a target.
///
/// While a copy is unfinished, the target has a bookmark with the name of the source. Rows are copied in key
/// order, so the copy continues after the last key of the target. A source with another name continues the copy when
/// the target has only its rows: the source was moved. An entity whose rows are not all there can be without indexes.
struct DatabaseCopy {
    /// The name of the property with the bookmark.
    static let bookmark = "copy"

    let source: any EntityStore
    let target: any Database
    /// The text of the bookmark.
    let name: String
    /// The maximum number of rows in memory.
    let rowLimit: Int
    private var report = CopyReport()
    /// What a copy does differently whose source goes on to be written.
    var follows: Follows?

    /// A copy that gets the changes of its source afterwards. What was copied before an interruption is not compared: it is of an
    /// older snapshot.
    struct Follows {
        /// The entities whose logs the copy does not have.
        var unlogged: Set<String>
        /// The entities that are copied, with the links that begin or end there; nil for all.
        var only: Set<String>?
        /// Runs in the transaction in which the copy begins.
        var onBegin: (any EntityStore) throws -> Void
    }

    /// Whether a database has an unfinished copy.
    static func isUnfinished(in store: any EntityStore) throws -> Bool { try store.property(bookmark) != nil }

    /// What the target has at the beginning.
    private enum Bookmark: Equatable {
        /// No unfinished copy.
        case none
        /// An unfinished copy of this source.
        case ours
        /// An unfinished copy of a source with another name.
        case other(String)
    }

    init(source: any EntityStore, target: any Database, name: String, rowLimit: Int) {
        self.source = source
        self.target = target
        self.name = name
        self.rowLimit = rowLimit
    }

    /// The start of the copy of an entity.
    private enum Start {
        /// After a row that is in the target. The checksum is that of the rows up to it.
        case after(Key, RowChecksum)
        /// At the first row.
        case first
        /// The copy is complete.
        case done(RowChecksum)
    }

    /// Runs the copy.
    mutating func run(_ isCancelled: () -> Bool, _ onProgress: (CopyProgress) throws -> Void) throws -> CopyReport {
        // Links are copied by relationship, whatever form the source and the target store them in.
        let all = try source.entities().filter {
            follows == nil ? $0.name != LinkRow.schema.description.name && !$0.isOfTextIndex : !$0.isOwn
        }.map { Self.copied($0, unlogged: follows?.unlogged ?? []) }
        let only = follows?.only ?? Set(all.map(\.name))
        let entities = all.filter { only.contains($0.name) }
        let version = try source.version()
        let found = try checkTarget(version)
        if case .other(let bookmark) = found {
            let names = Set(entities.map(\.name) + [LinkRow.schema.description.name])
            let there = try target.entities().map(\.name)
            guard names.isSuperset(of: there) else { throw otherCopy(bookmark) }
        }
        var starts: [Start] = []
        for entity in entities { starts.append(try start(entity, found)) }
        let isFinished = starts.allSatisfy { if case .done = $0 { true } else { false } }
        // Rows are stored past the indexes for searches, which are made afterwards.
        if !isFinished { try target.withEntityStore(.write) { try TextIndexes.forget($0.entities(), in: $0, of: target) } }
        if !isFinished, found != .ours {
            try target.withEntityStore(.write) { store in
                try store.setProperty(Self.bookmark, to: name)
                try follows?.onBegin(store)
            }
        }
        for (entity, start) in zip(entities, starts) { try copy(entity, start, isCancelled, onProgress) }
        for relation in all.flatMap({ $0.relations(among: all) })
        where only.contains(relation.entity) || only.contains(relation.target) {
            try copyLinks(relation, isCancelled)
        }
        if try !isFinished || found != .none || target.withEntityStore(.read, { try $0.version() != version }) {
            try target.withEntityStore(.write) { store in
                try store.setProperty(Self.bookmark, to: nil)
                if let version { try store.setVersion(version) }
            }
        }
        target.makeTextIndexes()
        return report
    }

    /// Counts the rows of an entity that both sides have. The log of changes is copied too, and is nobody's entity.
    private mutating func note(_ checksum: RowChecksum, of entity: EntityDescription) {
        if !entity.isOwn { report.rows[entity.name] = checksum.rows }
    }

    /// An entity as the target has it, which is where its rows are.
    ///
    /// - Parameter unlogged: The entities whose logs the target does not have.
    static func copied(_ entity: EntityDescription, unlogged: Set<String>) -> EntityDescription {
        var entity = entity
        entity.movedTo = nil
        if unlogged.contains(entity.name) { entity.log = nil }
        return entity
    }

    /// Checks that the target can receive the copy.
    private func checkTarget(_ version: Int?) throws -> Bookmark {
        let (bookmark, stored) = try target.withEntityStore(.read) { (try $0.property(Self.bookmark), try $0.version()) }
        // A source that is followed can have been migrated since.
        if let stored, stored != version, follows == nil || bookmark != name {
            throw StorageError(
                .schemaMismatch,
                "the target is of version \(stored), the source of \(version ?? 0); bring them to the same version",
                path: target.configuration.path)
        }
        guard let bookmark else { return .none }
        return bookmark == name ? .ours : .other(bookmark)
    }

    /// The error for a target with rows that an unfinished copy of another database has written.
    private func otherCopy(_ bookmark: String) -> StorageError {
        StorageError(
            .schemaMismatch, "the target has an unfinished copy of '\(bookmark)'; finish that copy, or use an empty target",
            path: target.configuration.path)
    }

    /// Compares the rows of an entity in the target with the first rows in the source.
    private func start(_ entity: EntityDescription, _ found: Bookmark) throws -> Start {
        try target.withEntityStore(.read) { store in
            guard let stored = try store.entity(named: entity.name) else { return .first }
            var last: Key?
            var there = RowChecksum(of: stored)
            try store.forEachRow(of: entity.name, after: nil) { key, values in
                there.add(values)
                last = key
                return true
            }
            guard stored == entity || found != .none && stored == entity.withoutIndexes else {
                if found == .ours || last == nil { return .first }
                if case .other(let bookmark) = found { throw otherCopy(bookmark) }
                throw StorageError(
                    .schemaMismatch, "the target has an entity '\(entity.name)' that is not the source's; use another target",
                    entity: entity.name,
                    path: target.configuration.path)
            }
            if follows != nil, found == .ours, let last { return .after(last, RowChecksum(of: entity)) }
            guard let last else {
                // An entity without rows is there as a whole.
                return try source.count(entity.name) == 0 ? .done(RowChecksum(of: entity)) : .first
            }
            var here = RowChecksum(of: entity)
            var hasMore = false
            try source.forEachRow(of: entity.name, after: nil) { _, values in
                if here.rows == there.rows {
                    hasMore = true
                    return false
                }
                here.add(values)
                return true
            }
            if here == there, !hasMore { return .done(here) }
            if found != .none, here == there { return .after(last, here) }
            if case .other(let bookmark) = found { throw otherCopy(bookmark) }
            if found == .ours { return .first }
            throw StorageError(
                .duplicateKey,
                "the target has other rows in '\(entity.name)'; copy into a target that has none, or erase them",
                entity: entity.name, key: UniqueID(last), field: entity.fields[entity.keyIndex].name,
                path: target.configuration.path)
        }
    }

    private mutating func copy(
        _ entity: EntityDescription, _ start: Start, _ isCancelled: () -> Bool, _ onProgress: (CopyProgress) throws -> Void
    ) throws {
        var last: Key?
        var checksum = RowChecksum(of: entity)
        switch start {
        case .done(let whole):
            try addIndexes(of: entity)
            note(whole, of: entity)
            return
        case .after(let key, let part): (last, checksum) = (key, part)
        case .first:
            try target.withEntityStore(.write) { store in
                if try store.entity(named: entity.name) != nil { try store.drop(entity.name) }
                try store.create(store.fillsIndexesLater ? entity.withoutIndexes : entity)
            }
        }
        let total = try source.count(entity.name)
        while true {
            if isCancelled() { throw CancellationError() }
            let batch = try source.batch(of: entity.name, after: last, rowLimit: rowLimit, byteLimit: 16 << 20)
            guard let key = batch.rows.last?.key else { break }
            try target.withEntityStore(.write) {
                try $0.store(batch.rows.map { entity.copied($0.values) }, in: entity.name, replaces: false)
            }
            for row in batch.rows { checksum.add(row.values) }
            last = key
            report.rowsWritten += batch.rows.count
            report.bytesWritten += batch.bytes
            try onProgress(CopyProgress(entity: entity.name, rows: checksum.rows, total: total))
        }
        try addIndexes(of: entity)
        if follows == nil { try verify(entity, checksum) }
        note(checksum, of: entity)
    }

    /// Creates the indexes of an entity whose rows were stored without them.
    private func addIndexes(of entity: EntityDescription) throws {
        guard let stored = try target.withEntityStore(.read, { try $0.entity(named: entity.name) }), stored != entity else {
            return
        }
        try target.withEntityStore(.write) { store in
            try store.apply(EntityChange(from: stored, to: EntityDeclaration(entity)), path: target.configuration.path)
        }
    }

    /// Sets the children of every parent in the target to those in the source.
    private mutating func copyLinks(_ relation: RelationDescription, _ isCancelled: () -> Bool) throws {
        let links = try source.links(of: relation)
        let copies = try target.makeLinks(for: relation)
        // They were copied and verified with the rows.
        if links.isInRows, copies.isInRows { return }
        let parents = try links.counts().map(\.parent)
        let strangers = Set(try copies.counts().map(\.parent)).subtracting(parents)
        if !strangers.isEmpty { try copies.remove(parents: strangers.sorted()) }
        for start in stride(from: 0, to: parents.count, by: 1000) {
            if isCancelled() { throw CancellationError() }
            let batch = Array(parents[start..<min(start + 1000, parents.count)])
            let linked = try links.children(of: batch)
            if try copies.children(of: batch) == linked { continue }
            try copies.set(linked, of: batch)
            guard try copies.children(of: batch) == linked else {
                throw StorageError(
                    .corrupted,
                    "the copy of the links of '\(relation.entity)' differs from the source; copy again into an empty target",
                    entity: relation.entity,
                    field: relation.field, path: target.configuration.path)
            }
        }
    }

    /// Reads the written rows and compares their checksum.
    private func verify(_ entity: EntityDescription, _ expected: RowChecksum) throws {
        var found = RowChecksum(of: entity)
        try target.withEntityStore(.read) { store in
            try store.forEachRow(of: entity.name, after: nil) { _, values in
                found.add(values)
                return true
            }
        }
        guard found == expected else {
            throw StorageError(
                .corrupted,
                "the copy of '\(entity.name)' differs from the source: \(found.rows) rows instead of \(expected.rows), or other values; copy again into an empty target",
                entity: entity.name, path: target.configuration.path)
        }
    }
}
