import DAOConformance
import DAOCore
import Foundation

/// Does steps in which rules meet on a database.
final class PairRunner: DatabaseRunner {
    private typealias Handle = PairStep.Handle

    private let target: ConformanceTarget
    private let location: ConformanceTarget.Location
    /// How many seconds to wait for what should come by itself.
    private let patience: Double
    private var opened: [Handle: OpenPairs] = [:]
    private var sources = 0
    private var version = 0
    /// The model of badges that is open.
    private var declared: PairStep.Badges?

    init(_ target: ConformanceTarget, at location: ConformanceTarget.Location, patience: Double) throws {
        (self.target, self.location, self.patience) = (target, location, patience)
        try open()
    }

    var verified: (any Database)? { opened[.first]?.database }

    /// Whether the database has what the steps are about.
    var isAble: Bool {
        verified.map { $0.capabilities.hasEvolution && $0.capabilities.hasSnapshotReads && $0.capabilities.hasSavepoints }
            ?? false
    }

    func close() throws { for each in opened.values { try each.database.close() } }

    private func open() throws {
        var next: [Handle: OpenPairs] = [:]
        for handle in Handle.allCases { next[handle] = try OpenPairs(target.open(location)) }
        opened = next
    }

    private func reopen() throws {
        let old = opened
        if verified?.capabilities.isPersistent == true { try close() }
        try open()
        for each in old.values { try each.database.close() }
        declared = nil
    }

    private func pairs(_ handle: Handle) throws -> OpenPairs { try require(opened[handle], "a database") }

    func lines() throws -> [String] {
        let (first, second) = (try pairs(.first).rows.lines(), try pairs(.second).rows.lines())
        return zip(first, second).flatMap { [$0, $1] }
    }

    func run(_ step: PairStep) throws -> String { try run(step, nil) }

    /// Runs a step.
    ///
    /// - Parameter around: The database of the transaction around it.
    private func run(_ step: PairStep, _ around: Handle?) throws -> String {
        do {
            return try outcome(step, around)
        } catch let error as StorageError {
            return Self.text(of: error)
        }
    }

    private func run(_ steps: [PairStep], _ around: Handle?) throws -> String {
        try steps.map { try run($0, around) }.joined(separator: ", ")
    }

    private func outcome(_ step: PairStep, _ around: Handle?) throws -> String {
        switch step {
        case .holders(let ids, let handle):
            try pairs(around ?? handle).holders.persist(ids.map { PairHolder(id: $0, name: "h\($0)") })
        case .open(let model, let handle):
            try pairs(around ?? handle).open(model)
            didOpen(model)
        case .openAtOnce(let model): return try openAtOnce(model)
        case .badges(let badges, let handle): return try pairs(around ?? handle).writing { try $0.persist(badges) }
        case .typed(let handle): return try pairs(around ?? handle).writing { try $0.text() }
        case .eraseHolder(let id, let handle, let call): return try erase(holder: id, pairs(around ?? handle), call)
        case .eraseBadge(let id, let handle):
            let pairs = try pairs(around ?? handle)
            guard try pairs.hasBadges else { return "left out" }
            return "\(try pairs.rows.rows(of: PairReference.badge).erase(byPrimaryKey: id))"
        case .update(let rank, let holder, let erasure, let handle):
            let pairs = try pairs(around ?? handle)
            return try pairs.writing { try $0.update(rank, holder) { try pairs.erase(erasure) } }
        case .merge(let id, let rank, let erasure, let handle):
            let pairs = try pairs(around ?? handle)
            return try pairs.writing { try $0.merge(id, rank) { try pairs.erase(erasure) } }
        case .evolve(let change, let handle): return try evolve(change, pairs(handle))
        case .copyIn(let model, let holders, let badges): return try copyIn(model, holders, badges)
        case .seats(let seats, let handle): try pairs(around ?? handle).seats.persist(seats.map(PairSeat.init))
        case .setLeft(let isLeft, let row, let handle):
            return "\(try pairs(around ?? handle).seats.set(\.isLeft, to: isLeft) { $0.row == row })"
        case .groups(let first): return try pairs(around ?? .first).groups(first, isInside: around != nil)
        case .groupsBesideAWriter(let first): return try groupsBesideAWriter(first)
        case .crews(let one, let other): return try pairs(around ?? .second).crews(one, other)
        case .compact: try pairs(.first).database.compact()
        case .compactBeside(let steps): return try compactBeside(steps)
        case .transaction(let steps, let fails, let handle): return try transaction(steps, fails, around ?? handle)
        case .observed(let steps, let inside, let fails, let handle):
            return try observed(steps, inside, fails, handle)
        case .reopen: try reopen()
        }
        return "done"
    }

    private func didOpen(_ model: PairStep.Badges) {
        declared = model
        keep(model)
    }

    /// Forgets the storages of other models of badges.
    private func keep(_ model: PairStep.Badges?) {
        for each in opened.values where each.badges?.model != model { each.badges = nil }
    }

    private func transaction(
        _ steps: [PairStep], _ fails: Bool, _ handle: Handle, atTheEnd body: () throws -> Void = {}
    ) throws -> String {
        var outcomes = ""
        do {
            try pairs(handle).database.transaction {
                outcomes = try run(steps, handle)
                try body()
                if fails { throw PropertyTesting.Abort() }
            }
        } catch is PropertyTesting.Abort {}
        return outcomes
    }

    private func erase(holder: Int, _ pairs: OpenPairs, _ call: PairStep.Call) throws -> String {
        switch call {
        case .byKey: "\(try pairs.holders.erase(byPrimaryKey: holder))"
        case .byCondition: "\(try pairs.holders.erase { $0.name == "h\(holder)" })"
        case .untyped: "\(try pairs.rows.rows(of: PairHolder.schema.description.name).erase(byPrimaryKey: holder))"
        }
    }

    // MARK: Catalog

    /// Asks for a storage on two threads while this one reads.
    private func openAtOnce(_ model: PairStep.Badges) throws -> String {
        let handles = try Handle.allCases.map(pairs)
        let outcomes = Shared(handles.map { _ in "" })
        let (arrived, count) = (Shared(0), handles.count)
        let threads = handles.indices.map { index in
            // Nobody else uses the handle before the thread has ended.
            nonisolated(unsafe) let pairs = handles[index]
            return Background {
                arrived.change { $0 += 1 }
                while arrived.value < count { sched_yield() }
                var outcome = "done"
                do { try pairs.open(model) } catch let error as StorageError { outcome = Self.text(of: error) }
                outcomes.change { $0[index] = outcome }
            }
        }
        let rows = handles[0].rows
        while threads.contains(where: { !$0.hasEnded }) { _ = try rows.lines() }
        for thread in threads { try thread.wait(seconds: patience, "a database that is asked for a storage") }
        if outcomes.value.contains("done") { didOpen(model) }
        return outcomes.value.joined(separator: ", ")
    }

    private func evolve(_ change: PairStep.Change, _ pairs: OpenPairs) throws -> String {
        let entities = try pairs.database.entities().reduce(into: [String: Bool]()) { entities, entity in
            if [PairReference.badge, PairReference.medal].contains(entity.name) {
                entities[entity.name] = entity.index(of: "holder") != nil
            }
        }
        guard PairReference.allows(change, entities, isDeclared: declared != nil) else { return "left out" }
        version += 1
        try pairs.database.evolve(
            Evolution(version: version, migrations: [Migration(to: version) { try change.perform($0) }], models: []))
        if change.isOfBadges { declared = nil }
        if change == .rename(toMedals: false) { keep(nil) }
        return "done"
    }

    private func copyIn(_ model: PairStep.Badges, _ holders: [Int], _ badges: [PairStep.Badge]) throws -> String {
        let here = try pairs(.first)
        guard try here.holders.count() == 0, try !here.hasBadges, declared ?? model == model,
            badges.allSatisfy({ $0.holder.map(holders.contains) ?? true })
        else { return "left out" }
        sources += 1
        let source = try target.open(location.appending("source\(sources)"))
        defer { try? source.close() }
        try DAO(storage: source.storage(for: PairHolder.self)).persist(holders.map { PairHolder(id: $0, name: "h\($0)") })
        func fill<Record: PairBadge>(_ type: Record.Type) throws {
            _ = try TypedBadges(model: model, dao: DAO(storage: source.storage(for: type))).persist(badges)
        }
        try fill(model.type)
        if version > 0 { try source.evolve(Evolution(version: version, migrations: [], models: [])) }
        try source.copy(to: here.database)
        keep(model)
        return "done"
    }

    // MARK: Beside a call

    private func compactBeside(_ steps: [PairStep]) throws -> String {
        let database = try pairs(.second).database
        let compaction = Background {
            do { try database.compact() } catch let error as StorageError where error.kind == .busy {}
        }
        let outcomes = try run(steps, nil)
        try compaction.wait(seconds: patience, "a compaction")
        return outcomes
    }

    /// Reads groups of seats while another thread moves one of them from row to row.
    private func groupsBesideAWriter(_ first: Int) throws -> String {
        let (here, there) = (try pairs(.first), try pairs(.second))
        let others = try here.seats.read()
        // It is left, so it collides with none.
        @Sendable func moved(to row: Int) -> PairStep.Seat {
            .init(99, row: row, isLeft: true, crew: row % PropertyTesting.Crew.count)
        }
        let known = try others.map { seat in
            PairStep.Seat(seat.id, row: seat.row, isLeft: seat.isLeft, crew: try require(seat.number, "a known value"))
        }
        let expected = (0...8).map { number -> String in
            var content = PairReference.Content()
            for seat in known { content.seats[seat.id] = seat }
            if number > 0 { content.seats[99] = moved(to: number) }
            return content.groups(first)
        }
        let seats = there.seats
        let writer = Background { for row in 1...8 { try seats.persist(PairSeat(moved(to: row))) } }
        var last = 0
        repeat {
            let isLast = writer.hasEnded
            let groups = try here.groups(first, isInside: false)
            guard let number = expected[last...].firstIndex(of: groups) else {
                return "after \(expected[last]) comes \(groups)"
            }
            last = number
            if isLast { break }
        } while true
        try writer.wait(seconds: patience, "a seat that moves")
        if last != 8 { return "the last commit is not seen" }
        try here.seats.erase(byPrimaryKey: 99)
        return "done"
    }

    private func observed(
        _ steps: [PairStep], _ inside: [PairStep], _ fails: Bool, _ handle: Handle
    ) throws -> String {
        let pairs = try pairs(handle)
        var first = ""
        let watcher: PairWatcher
        if inside.isEmpty {
            watcher = PairWatcher(pairs)
        } else {
            let committed = try pairs.rows.lines()
            var begun: PairWatcher?
            first =
                try transaction(inside, fails, handle) {
                    let watcher = PairWatcher(pairs)
                    begun = watcher
                    try watcher.expect(committed, patience, "before the commit")
                } + "; "
            watcher = try require(begun, "an observation")
        }
        defer { watcher.stop() }
        try watcher.expect(pairs.rows.lines(), patience, "at first")
        let outcomes = try steps.map { step in
            let outcome = try run(step, nil)
            try watcher.expect(pairs.rows.lines(), patience, "after \(step)")
            return outcome
        }
        return first + outcomes.joined(separator: ", ")
    }

    private static func text(of error: StorageError) -> String {
        guard error.kind == .uniqueViolation else { return error.kind.rawValue }
        func text(_ key: UniqueID?) -> String { key?.rawValue ?? "-" }
        return "\(error.kind.rawValue) of \(text(error.key)) by \(text(error.conflictingKey)) in \(error.field ?? "-")"
    }
}

/// A database and what is kept of it: storages and rows without types.
private final class OpenPairs {
    let database: any Database
    let holders: DAO<PairHolder>
    let seats: DAO<PairSeat>
    let rows: EarlyRows
    var badges: (any OpenBadges)?

    init(_ database: any Database) throws {
        self.database = database
        holders = DAO(storage: try database.storage(for: PairHolder.self))
        seats = DAO(storage: try database.storage(for: PairSeat.self))
        rows = EarlyRows(database)
    }

    var hasBadges: Bool { get throws { try database.entities().contains { $0.name == PairReference.badge } } }

    func open(_ model: PairStep.Badges) throws {
        func open<Record: PairBadge>(_ type: Record.Type) throws {
            badges = TypedBadges(model: model, dao: DAO(storage: try database.storage(for: type)))
        }
        try open(model.type)
    }

    /// A call of the storage of badges that was asked for last, if there are badges.
    func writing(_ body: (any OpenBadges) throws -> String) throws -> String {
        guard let badges, try hasBadges else { return "left out" }
        return try body(badges)
    }

    func erase(_ erasure: PairStep.Erasure) throws {
        switch erasure {
        case .holder(let id): try holders.erase(byPrimaryKey: id)
        case .badge(let id): try rows.rows(of: PairReference.badge).erase(byPrimaryKey: id)
        }
    }

    /// Outside of a transaction a snapshot makes the reads those of one commit.
    func groups(_ first: Int, isInside: Bool) throws -> String {
        try isInside ? groups(first) : database.snapshot { try groups(first) }
    }

    private func groups(_ first: Int) throws -> String {
        let groups = try seats.groups(by: \.row, first: first, orderedBy: .descending(\.id))
        let counts = try seats.groups(by: \.row, totals: .count)
        let taken = try seats.groups(by: \.row, totals: .max(\.id), where: { !$0.isLeft })
        let texts = zip(groups, counts).map { group, count in
            "\(group.0): " + group.1.map { "\($0.id)" }.joined(separator: " ") + " of \(count.1)"
        }
        return texts.joined(separator: ", ") + "; " + taken.map { "\($0.0): \($0.1 ?? -1)" }.joined(separator: ", ")
    }

    func crews(_ one: Int, _ other: Int) throws -> String {
        func crew(_ number: Int) -> PropertyTesting.Crew { .number(number) }
        let found = [
            try seats.read { $0.crew == crew(one) }, try seats.read { $0.crew != crew(one) },
            try seats.read { $0.crew.in([crew(one), crew(other)]) },
        ]
        return found.map { $0.map { "\($0.id)" }.joined(separator: " ") }.joined(separator: " | ")
    }
}

/// Rows without types, each kept from the first time that its entity was there.
private final class EarlyRows: Sendable {
    private let database: any Database
    private let kept = Lock<[String: EntityRows]>([:])

    init(_ database: any Database) { self.database = database }

    func rows(of name: String) throws -> EntityRows {
        if let rows = kept.withLock({ $0[name] }) { return rows }
        let rows = try database.rows(of: name)
        kept.withLock { $0[name] = rows }
        return rows
    }

    /// Every entity as text.
    func lines() throws -> [String] {
        try ["pair_holder", PairReference.badge, PairReference.medal, "pair_seat"].map { name in
            do {
                let rows = try rows(of: name)
                let fields = (try rows.entity).fields.map(\.name)
                return "\(name): " + (try rows.read()).map { Self.text($0, name, fields) }.joined(separator: ", ")
            } catch let error as StorageError where error.kind == .invalidQuery {
                return "\(name) is absent"
            }
        }
    }

    private static func text(_ row: EntityRow, _ name: String, _ fields: [String]) -> String {
        func value(_ field: String) -> String {
            switch row[field] {
            case .integer(let number): "\(number)"
            case .bool(let flag): "\(flag)"
            case .string(let text): field == "rank" ? "'\(text)'" : text
            case .null: "-"
            case let other: "\(other as Any)"
            }
        }
        switch name {
        case "pair_holder": return "\(value("id")) \(value("name"))"
        case "pair_seat": return "\(value("id")) \(value("row")) \(value("isLeft")) \(value("crew"))"
        default:
            return value("id") + (fields.contains("holder") ? " of \(value("holder"))" : "") + " \(value("rank"))"
                + (fields.contains("mark") ? " \(value("mark"))" : "")
        }
    }
}

/// Observes every entity as text, and seats as their model.
private final class PairWatcher: Sendable {
    private struct State {
        var lines: [String]?
        var seats: [PairSeat]?
        var problem: String?
    }

    private let state = Shared(State())
    private let condition = NSCondition()
    private let tasks = Shared<[Task<Void, Never>]>([])

    init(_ pairs: OpenPairs) {
        let rows = pairs.rows
        watch(pairs.database.observe { try rows.lines() }) { state, lines in
            if state.lines == lines { state.problem = state.problem ?? "an observation gives \(lines) twice" }
            state.lines = lines
        }
        watch(pairs.seats.observe()) { state, seats in
            if state.seats == seats { state.problem = state.problem ?? "an observation gives \(seats.count) equal seats twice" }
            state.seats = seats
        }
    }

    deinit { stop() }

    private func watch<Element>(
        _ observation: ValueObservation<Element>, _ take: @escaping @Sendable (inout State, Element) -> Void
    ) {
        tasks.change { tasks in
            tasks.append(
                Task.detached(executorPreference: TaskThreads.shared) { [weak self] in
                    do {
                        for try await element in observation { self?.change { take(&$0, element) } }
                    } catch {
                        self?.change { $0.problem = $0.problem ?? "an observation ends with \(error)" }
                    }
                })
        }
    }

    private func change(_ body: (inout State) -> Void) {
        condition.lock()
        state.change(body)
        condition.broadcast()
        condition.unlock()
    }

    func stop() { for task in tasks.value { task.cancel() } }

    /// Waits until these lines were observed.
    ///
    /// - Throws: A failure when they are not in time, or when the observation has a fault.
    func expect(_ lines: [String], _ seconds: Double, _ when: String) throws {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while state.value.problem == nil, state.value.lines != lines, condition.wait(until: deadline) {}
        let state = state.value
        if let problem = state.problem { throw fail("\(problem), \(when)") }
        if state.lines != lines {
            throw fail("an observation gives \(state.lines.map { "\($0)" } ?? "nothing") and not \(lines), \(when)")
        }
    }
}

/// The storage of a model of badges, without its type.
private protocol OpenBadges {
    var model: PairStep.Badges { get }
    func persist(_ badges: [PairStep.Badge]) throws -> String
    func text() throws -> String
    func update(_ rank: Int, _ holder: Int?, _ body: () throws -> Void) throws -> String
    func merge(_ id: Int, _ rank: Int, _ body: () throws -> Void) throws -> String
}

private struct TypedBadges<Record: PairBadge>: OpenBadges {
    let model: PairStep.Badges
    let dao: DAO<Record>

    func persist(_ badges: [PairStep.Badge]) throws -> String {
        try dao.persist(badges.map { Record(id: $0.id, holder: $0.holder.map { Reference($0) }, rank: $0.rank) })
        return "done"
    }

    func text() throws -> String {
        try dao.read().map { badge in
            let mark = (badge as? MarkedBadge).map { " \($0.mark)" } ?? ""
            return "\(badge.id) of \(badge.holder?.uniqueId.rawValue ?? "-") \(PairText.of(badge.rank))\(mark)"
        }.joined(separator: ", ")
    }

    func update(_ rank: Int, _ holder: Int?, _ body: () throws -> Void) throws -> String {
        var isFirst = true
        let count = try dao.storage.update(Query()) { badge in
            if isFirst { try body() }
            isFirst = false
            badge.rank = rank
            if let holder { badge.holder = Reference(holder) }
        }
        return "\(count)"
    }

    func merge(_ id: Int, _ rank: Int, _ body: () throws -> Void) throws -> String {
        _ = try dao.storage.merge(keys: [Record.schema.key(UniqueID(id))]) { _, badge in
            try body()
            if badge == nil { badge = Record(id: id, holder: nil, rank: rank) } else { badge?.rank = rank }
        }
        return "done"
    }
}

extension PairStep.Badges {
    fileprivate var type: any PairBadge.Type {
        switch self {
        case .restricted: RestrictedBadge.self
        case .cascading: CascadingBadge.self
        case .loose: LooseBadge.self
        case .marked: MarkedBadge.self
        }
    }
}

extension PairStep.Change {
    fileprivate func perform(_ step: MigrationStep) throws {
        switch self {
        case .dropHolder(let isMedal): try step.dropField("holder", of: PairReference.name(isMedal))
        case .dropEntity(let isMedal): try step.dropEntity(PairReference.name(isMedal))
        case .rename(let toMedal): try step.renameEntity(PairReference.name(!toMedal), to: PairReference.name(toMedal))
        case .retype(let isMedal):
            let name = PairReference.name(isMedal)
            let isText = try step.entity(name).fields.first { $0.name == "rank" }?.type.kind == .string
            try step.changeType(of: "rank", in: name, to: FieldType(isText ? .int64 : .string, isOptional: true))
        }
    }
}

extension PairSeat {
    fileprivate init(_ seat: PairStep.Seat) {
        self.init(id: seat.id, row: seat.row, isLeft: seat.isLeft, crew: .number(seat.crew))
    }

    /// The number of its embedded value.
    fileprivate var number: Int? { (0..<PropertyTesting.Crew.count).first { .number($0) == crew } }
}

private func fail(_ sentence: String) -> ConformanceFailure { ConformanceFailure(sentence, file: #fileID, line: #line) }
