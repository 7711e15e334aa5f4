import Foundation

/// How far a copy has come that follows its source.
public struct FollowProgress: Sendable, Equatable {
    /// The entity whose rows are being copied; nil when changes are followed.
    public var entity: String?
    /// The number of its rows in the target; 0 when changes are followed.
    public var rows = 0
    /// The number of its rows; 0 when changes are followed.
    public var total = 0
    /// The number of changes since the copy that the target has.
    public var changes = 0
    /// Whether the target has all that was committed a tenth of a second ago. What comes meanwhile is copied while it takes over.
    public var isCaughtUp = false
}

/// What a copy that follows its source does next.
public enum FollowStep: Sendable {
    /// It goes on. When it is caught up, it waits for the next commit.
    case goOn
    /// It hands over: the source takes no more writes, and the target gets the last changes.
    case handOver
    /// It ends. The next call goes on from here.
    case stop
}

/// The result of a copy that has followed its source.
public struct FollowReport: Sendable, Equatable {
    /// The number of rows of each entity when both sides were compared.
    public internal(set) var rows: [String: Int] = [:]
    /// The number of changes since the copy that the target has.
    public internal(set) var changes = 0
    /// How long neither side took writes; nil when nothing was handed over.
    public internal(set) var pause: Duration?
}

extension Database {
    /// Copies everything into another database of any kind while others write here, keeps the copy up to date, and hands over to it
    /// (contract D6).
    ///
    /// All entities are logged from the first call until ``cancelFollow()``, or until the source has handed over. Rows are copied from one
    /// snapshot, without a pause for those who write. Then the changes since are copied, again and again. When the target is caught up for
    /// the first time, both sides are compared by checksum in one snapshot. Handing over marks the source: the next write of every process
    /// is `detached`, with the place of the target, and nothing of it is stored; reads go on. An interrupted call is continued by the next one,
    /// also while it hands over.
    ///
    /// ```swift
    /// let report = try old.follow(into: new) { $0.isCaughtUp ? .handOver : .goOn }
    /// ```
    ///
    /// It blocks its thread. The log keeps a number of changes (``limitChanges(to:age:)``): when more are made during the copy than that,
    /// the call ends with `.snapshotTooOld`.
    ///
    /// - Parameters:
    ///   - target: The other database. Nobody else writes there until it has taken over.
    ///   - onProgress: A closure that is called after each batch of rows and of changes, and says what happens next.
    /// - Throws: The errors of `copy(to:onProgress:)`; `.detached` when the source has handed over to another target;
    ///   `.snapshotTooOld`.
    @discardableResult public func follow(
        into target: any Database, onProgress: (FollowProgress) throws -> FollowStep = { $0.isCaughtUp ? .handOver : .goOn }
    ) throws -> FollowReport {
        var follow = Follow(source: self, target: target)
        return try follow.run(onProgress)
    }

    /// Copies everything into another database of any kind while others write here, keeps the copy up to date, and hands over to it, without
    /// blocking the thread of the calling task.
    ///
    /// - Throws: The errors of `follow(into:)`; `CancellationError` when the task is cancelled before the source hands over. The
    ///   next call goes on from there.
    @discardableResult public func follow(
        into target: any Database,
        onProgress: @escaping @Sendable (FollowProgress) throws -> FollowStep = { $0.isCaughtUp ? .handOver : .goOn }
    ) async throws -> FollowReport {
        try await engineState.executor.readCancellable { isCancelled in
            try self.follow(into: target) { progress in
                if isCancelled() { throw CancellationError() }
                return try onProgress(progress)
            }
        }
    }

    /// Ends a copy that follows this database: those logs end that `follow(into:)` has begun, and a database that has handed
    /// over takes writes again.
    ///
    /// What was written in the target since it took over stays there alone.
    public func cancelFollow() throws {
        let begun = try Follow.begun(in: self)
        try withEntityStore(.write) { store in
            for entity in try store.entities() {
                if entity.movedTo != nil { try store.apply(EntityChange(moving: entity, to: nil)) }
                guard begun.contains(entity.name), let stored = try store.entity(named: entity.name) else { continue }
                try store.apply(EntityChange(from: stored, to: EntityDeclaration(stored, endsLog: true)))
            }
            try store.setProperty(Follow.begunProperty, to: nil)
        }
        engineState.declarations.forget(Array(begun))
        try forgetConsumer(Follow.consumer)
    }
}

extension Database {
    /// Logs the changes of entities that are stored, whatever their models say.
    ///
    /// - Parameter body: Runs in the transaction from which on they are logged.
    package func log(_ names: [String], _ kept: EntityLog, _ body: (any EntityStore) throws -> Void = { _ in }) throws {
        // Not made inside a transaction that writes: two of them would wait for each other.
        _ = try makeStorage(for: ChangeRow.self)
        try withEntityStore(.write) { store in
            try body(store)
            for name in names {
                guard let stored = try store.entity(named: name) else { continue }
                var logged = stored
                logged.log = kept
                try store.apply(EntityChange(from: stored, to: EntityDeclaration(logged)))
            }
        }
        engineState.declarations.forget(names)
    }
}

/// A copy that follows its source.
private struct Follow {
    /// The consumer of the log, which holds what the target does not have yet.
    static let consumer = "dao_follow"
    /// The property of the source with the entities whose logs were begun.
    static let begunProperty = "followed"
    /// The property of the target with the position up to which it has the changes.
    private static let reachedProperty = "reached"
    /// The property of the target with the entities that were copied.
    private static let copiedProperty = "copied"
    /// What stands for the position before the first change.
    private static let beginning = "-"
    /// How long the last changes may take to copy before the target is caught up: about as long as nobody writes while it takes over.
    private static let moment = Duration.milliseconds(100)
    /// The number of rows that are written at a time.
    private static let batch = 5000

    let source: any Database
    let target: any Database
    private var report = FollowReport()
    /// The catalog that the target was brought to; nil before the first round.
    private var aligned: Catalog?

    init(source: any Database, target: any Database) { (self.source, self.target) = (source, target) }

    /// The entities whose logs were begun.
    static func begun(in source: any Database) throws -> Set<String> { try names(begunProperty, of: source) }

    /// The names in a property.
    private static func names(_ property: String, of database: any Database) throws -> Set<String> {
        guard let text = try database.withEntityStore(.read, { try $0.property(property) }) else { return [] }
        return Set((try? JSONDecoder().decode([String].self, from: Data(text.utf8))) ?? [])
    }

    private static func set(_ property: String, to names: Set<String>, in store: any EntityStore) throws {
        try store.setProperty(property, to: String(decoding: JSONEncoder().encode(names.sorted()), as: UTF8.self))
    }

    mutating func run(_ onProgress: (FollowProgress) throws -> FollowStep) throws -> FollowReport {
        var reached = try reachedByTarget()
        if try reached == nil || isCopying() {
            guard let position = try copyRows(reached, onProgress) else { return report }
            reached = position
        }
        var last = reached.flatMap { $0 }
        if try source.entities().contains(where: { $0.movedTo != nil }) {
            // Interrupted while it handed over: nobody can write anywhere until it has.
            try handOver(last)
            return report
        }
        var isCompared = false
        // Since when a transaction of another program has held back what was committed.
        var held: ContinuousClock.Instant?
        while true {
            let (before, start) = (report.changes, ContinuousClock.now)
            let round = try copyChanges(after: last, comparing: &isCompared)
            last = round.position
            held = round.isHeldBack && report.changes == before ? held ?? start : nil
            // Programs that write all the time are never waited for: it is a matter of how much is missing.
            let isCaughtUp = .now - start < Self.moment && start - (held ?? start) < .seconds(1)
            switch try onProgress(FollowProgress(changes: report.changes, isCaughtUp: isCaughtUp)) {
            case .goOn: if report.changes == before { Thread.sleep(forTimeInterval: 0.02) }
            case .stop: return report
            case .handOver:
                try handOver(last)
                return report
            }
        }
    }

    // MARK: Beginning

    /// Runs a closure in a snapshot of the source in which every entity is logged, or is not written any more: what is read there and the
    /// log have every row. An entity that another program has just made is logged first.
    private func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        while true {
            try beginLogs()
            let result: Result? = try source.snapshot {
                try source.entities().contains(where: Self.isUnlogged) ? nil : try body()
            }
            if let result { return result }
        }
    }

    private static func isUnlogged(_ entity: EntityDescription) -> Bool {
        entity.log == nil && entity.movedTo == nil && !entity.isOwn
    }

    private func beginLogs() throws {
        let target = target.configuration.place
        let entities = try source.entities()
        if let place = entities.lazy.compactMap(\.movedTo).first {
            // One that has not ended handing over goes on with it.
            guard place == target, try reachedByTarget() != nil else {
                throw StorageError.moved(to: place, path: source.configuration.path)
            }
        }
        let unlogged = entities.filter(Self.isUnlogged)
        if unlogged.isEmpty { return }
        let names = unlogged.map(\.name)
        let begun = try Self.begun(in: source).union(names)
        try Self.repeating { try source.log(names, .changes) { try Self.set(Self.begunProperty, to: begun, in: $0) } }
    }

    /// The position up to which the target has the changes, `.some(nil)` for that before the first; nil when it has no copy.
    private func reachedByTarget() throws -> LogPosition?? {
        guard let text = try target.withEntityStore(.read, { try $0.property(Self.reachedProperty) }) else { return nil }
        if text == Self.beginning { return .some(nil) }
        guard let position = LogPosition(text) else {
            throw StorageError(
                .corrupted, "the target does not say how far it has followed; use an empty one", path: target.configuration.path)
        }
        return position
    }

    private func setReached(_ position: LogPosition?, in store: any EntityStore) throws {
        try store.setProperty(Self.reachedProperty, to: position.map(\.description) ?? Self.beginning)
    }

    private func begin(at position: LogPosition?, with entities: Set<String>, in store: any EntityStore) throws {
        try setReached(position, in: store)
        try setCopied(entities, in: store)
    }

    private func isCopying() throws -> Bool { try target.withEntityStore(.read) { try DatabaseCopy.isUnfinished(in: $0) } }

    private func acknowledge(_ position: LogPosition) throws {
        try Self.repeating { try source.acknowledge(position, by: Self.consumer) }
    }

    private func writing(to database: any Database, _ body: (any EntityStore) throws -> Void) throws {
        try Self.repeating { try database.withEntityStore(.write, body) }
    }

    /// Runs a write again that conflicts with those who write meanwhile.
    private static func repeating(_ body: () throws -> Void) throws {
        for _ in 0..<1000 {
            do {
                return try body()
            } catch let error as StorageError where error.kind == .conflict {
                Thread.sleep(forTimeInterval: .random(in: 0.001...0.02))
            }
        }
        try body()
    }

    // MARK: Copying

    /// Copies the rows, or goes on with it.
    ///
    /// - Returns: The position before which the copy has every change; nil when it was stopped.
    private func copyRows(
        _ reached: LogPosition??, _ onProgress: (FollowProgress) throws -> FollowStep
    ) throws -> LogPosition?? {
        struct Stopped: Error {}
        let (source, target) = (source, target)
        try beginLogs()
        // A target that was begun has rows of an older snapshot. It follows from there.
        let position: LogPosition?
        if let reached {
            position = reached
        } else {
            position = try source.lastChange()
            // The log keeps what comes.
            if let position { try acknowledge(position) } else { try Self.repeating { try source.hold(for: Self.consumer) } }
        }
        do {
            try snapshot {
                let all = names(try source.entities())
                try copy(nil, onBegin: { try begin(at: position, with: all, in: $0) }) { progress in
                    let step = try onProgress(
                        FollowProgress(entity: progress.entity, rows: progress.rows, total: progress.total))
                    if step == .stop { throw Stopped() }
                }
                // A source without rows begins nothing.
                try target.withEntityStore(.write) { try begin(at: position, with: all, in: $0) }
            }
        } catch is Stopped {
            return nil
        }
        return .some(position)
    }

    /// Copies entities as they are in the running snapshot of the source; nil for all.
    private func copy(
        _ only: Set<String>?, onBegin: @escaping (any EntityStore) throws -> Void = { _ in },
        _ onProgress: (CopyProgress) throws -> Void = { _ in }
    ) throws {
        let begun = try Self.begun(in: source)
        try source.withEntityStore(.read) { store in
            var copy = DatabaseCopy(source: store, target: target, name: source.configuration.place, rowLimit: 10_000)
            copy.follows = DatabaseCopy.Follows(unlogged: begun, only: only, onBegin: onBegin)
            _ = try copy.run({ false }, onProgress)
        }
    }

    /// The names of the entities that were copied into the target. It can have others of its own.
    private func copied() throws -> Set<String> { try Self.names(Self.copiedProperty, of: target) }

    private func setCopied(_ names: Set<String>, in store: any EntityStore) throws {
        try Self.set(Self.copiedProperty, to: names, in: store)
    }

    private func names(_ entities: [EntityDescription]) -> Set<String> { Set(entities.filter { !$0.isOwn }.map(\.name)) }

    /// What the source has beside its rows.
    private struct Catalog: Equatable {
        var entities: [EntityDescription]
        var version: Int?
    }

    /// The catalog of the source as the running snapshot has it.
    private func catalog() throws -> Catalog {
        try source.withEntityStore(.read) { store in
            Catalog(entities: try store.entities().filter { !$0.isOwn }, version: try store.version())
        }
    }

    /// Copies the entities again that have come to the source since, or have got other fields there: what a migration fills in is in no log.
    /// It runs in a snapshot of the source.
    private func bringEntities(_ entities: [EntityDescription]) throws {
        let there = Dictionary(try target.entities().map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        let begun = try Self.begun(in: source)
        let changed = entities.filter {
            there[$0.name]?.withoutIndexes != DatabaseCopy.copied($0, unlogged: begun).withoutIndexes
        }
        if changed.isEmpty { return }
        let (names, known) = (names(changed), try copied())
        for name in names.subtracting(known) where try there[name] != nil && target.rows(of: name).count() > 0 {
            throw StorageError(
                .schemaMismatch,
                "the source has a new entity '\(name)', and the target has rows of its own in one of that name; rename one of the two",
                entity: name, path: target.configuration.path)
        }
        // Interrupted from here on, the whole copy is compared by the next call.
        try target.withEntityStore(.write) { store in
            for name in names.intersection(known) where there[name] != nil { try store.drop(name) }
            try store.setProperty(DatabaseCopy.bookmark, to: source.configuration.place)
        }
        try copy(names)
        try target.withEntityStore(.write) { try setCopied(known.union(names), in: $0) }
    }

    /// Gives the target the indexes and the version of the source, and drops what the source has dropped. It runs in a snapshot of the
    /// source.
    private func align(_ catalog: Catalog) throws {
        let (entities, version) = (catalog.entities, catalog.version)
        let (there, known, begun) = (try target.entities(), try copied(), try Self.begun(in: source))
        let gone = known.subtracting(entities.map(\.name))
        let changes = entities.compactMap { entity -> EntityChange? in
            guard let stored = there.first(where: { $0.name == entity.name }) else { return nil }
            let wanted = DatabaseCopy.copied(entity, unlogged: begun)
            return stored == wanted ? nil : EntityChange(from: stored, to: EntityDeclaration(wanted))
        }
        if try gone.isEmpty && changes.isEmpty && target.withEntityStore(.read, { try $0.version() }) == version { return }
        try target.withEntityStore(.write) { store in
            for entity in there where gone.contains(entity.name) {
                try store.removeLinks(ofAllRowsOf: entity)
                try store.drop(entity.name)
            }
            for change in changes { try store.apply(change) }
            if let version { try store.setVersion(version) }
            try setCopied(names(entities), in: store)
        }
        target.engineState.declarations.forget(entities.map(\.name) + gone)
    }

    // MARK: Following

    /// Gives the target the rows that have changed since a position, as they are in one snapshot of the source.
    ///
    /// - Parameter isCompared: Whether both sides were compared. It is done when nothing is held back: changes that cannot be read yet
    ///   can be in the snapshot.
    /// - Returns: The position of the last change that the target has, and whether the snapshot has changes after it that cannot be read
    ///   yet. A later snapshot would say of others.
    private mutating func copyChanges(
        after last: LogPosition?, comparing isCompared: inout Bool
    ) throws -> (position: LogPosition?, isHeldBack: Bool) {
        let (source, target, batch, aligned) = (source, target, Self.batch, aligned)
        let wasCompared = isCompared
        let found = try snapshot {
            // Behind the first change, nothing else says that one is missing.
            if try last == nil && source.hasTrimmed() { throw StorageError.behindLog(.beginning) }
            let catalog = try catalog()
            // Nearly every round finds the one before's, and asks the target nothing.
            let isAligned = catalog == aligned
            if !isAligned { try bringEntities(catalog.entities) }
            var (position, count) = (last, 0)
            var keys: [String: Set<UniqueID>] = [:]
            while case let page = try source.changes(after: position, limit: batch), let end = page.last {
                for change in page { keys[change.entity, default: []].insert(change.key) }
                position = end.position
                count += page.count
            }
            if count > 0 {
                try ChangeOrigin.$current.withValue(source.configuration.place) { try write(keys, reached: position) }
            }
            if !isAligned { try align(catalog) }
            let isHeldBack = try source.pendingChanges() > 0
            let rows = try wasCompared || isHeldBack ? nil : source.compare(with: target)
            return (position: position, count: count, rows: rows, isHeldBack: isHeldBack, catalog: catalog)
        }
        self.aligned = found.catalog
        if let rows = found.rows { (report.rows, isCompared) = (rows, true) }
        report.changes += found.count
        if found.count > 0, let position = found.position { try acknowledge(position) }
        return (found.position, found.isHeldBack)
    }

    private func write(_ keys: [String: Set<UniqueID>], reached: LogPosition?) throws {
        let from = try AllUntypedRows(source)
        try target.transaction {
            let to = try AllUntypedRows(target)
            let isSmall = keys.values.reduce(0) { $0 + $1.count } <= Self.batch
            // Rows of a large number are written in parts, and one part must not meet a unique value that a later one takes away.
            if !isSmall { for (entity, ids) in keys { try erase(ids, of: entity, in: to) } }
            for (entity, ids) in keys.sorted(by: { $0.key < $1.key }) {
                let ids = Array(ids)
                for start in stride(from: 0, to: ids.count, by: Self.batch) {
                    try states(of: ids[start..<min(start + Self.batch, ids.count)], of: entity, in: from).write(
                        to: to, checks: false)
                }
            }
            // Links lead to rows of any entity, which are all there by now.
            try target.withEntityStore(.rows) { try setReached(reached, in: $0) }
        }
    }

    private func erase(_ ids: Set<UniqueID>, of entity: String, in to: AllUntypedRows) throws {
        guard let rows = try to.rows(of: entity) else { return }
        try rows.erase(ids.map { try $0.key(as: rows.entity.keyKind, entity: entity) })
    }

    /// What rows are in the snapshot of the source.
    private func states(of ids: ArraySlice<UniqueID>, of name: String, in from: AllUntypedRows) throws -> RowStates {
        guard let rows = try from.rows(of: name) else { return RowStates() }
        let entity = rows.entity
        var states = RowStates()
        let keys = try ids.map { try $0.key(as: entity.keyKind, entity: name) }
        let stored = try rows.read(keys)
        let here = keys.filter { stored[$0] != nil }
        for (id, key) in zip(ids, keys) {
            guard let values = stored[key] else {
                states[name, id] = RowStates.State(isErased: true, isStored: false)
                continue
            }
            var state = RowStates.State(isWhole: true)
            for (field, value) in zip(entity.fields, values) where field.type.kind != .toMany { state.values[field.name] = value }
            states[name, id] = state
        }
        for relation in from.relations.from(name) {
            let links = try source.makeLinks(for: relation)
            if links.isInRows { continue }
            for (key, list) in zip(here, try links.children(of: here).lists) {
                if relation.isToOne {
                    states[name, UniqueID(key)]?.values[relation.field] = list.first?.value ?? .null
                } else {
                    states[name, UniqueID(key)]?.lists[relation.field] = list.map { UniqueID($0) }
                }
            }
        }
        return states
    }

    // MARK: Handing over

    private mutating func handOver(_ last: LogPosition?) throws {
        let start = ContinuousClock.now
        try mark(target.configuration.place)
        do {
            let deadline = start + .seconds(30)
            var isCompared = true
            var round = try copyChanges(after: last, comparing: &isCompared)
            // Nobody writes any more, but a transaction of another program can hold back what was written last.
            while round.isHeldBack {
                if .now > deadline {
                    throw StorageError(
                        .busy,
                        "the source did not hand over: a transaction of another program has run for 30 seconds; end it, and call again",
                        path: source.configuration.path)
                }
                Thread.sleep(forTimeInterval: 0.005)
                round = try copyChanges(after: round.position, comparing: &isCompared)
            }
            try target.withEntityStore(.write) { store in
                for property in [Self.reachedProperty, Self.copiedProperty] { try store.setProperty(property, to: nil) }
            }
        } catch {
            // Whoever writes goes on here, since the target is not whole.
            try mark(nil)
            throw error
        }
        report.pause = ContinuousClock.now - start
    }

    /// Lets the source refuse writes, or take them again.
    private func mark(_ place: String?) throws {
        try writing(to: source) { store in
            for entity in try store.entities() where !entity.isOwn && entity.movedTo != place {
                try store.apply(EntityChange(moving: entity, to: place))
            }
        }
    }
}
