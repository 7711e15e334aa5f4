import DAOCore

/// What is to come of steps in which rules meet, on plain dictionaries.
struct PairReference: ReferenceModel {
    typealias Badges = PairStep.Badges
    typealias Handle = PairStep.Handle

    struct Badge: Equatable {
        var holder: Int?
        var rank: Int?
        var mark: String
    }

    /// An entity with badges.
    struct Entity: Equatable {
        var hasHolder = true
        var hasMark: Bool
        var word: Badges
        var ranksAreTexts = false
        var rows: [Int: Badge] = [:]

        init(_ model: Badges) {
            hasMark = model == .marked
            word = model.word
        }

        /// Whether the storage of a model goes on.
        func fits(_ model: Badges) -> Bool { hasHolder && !ranksAreTexts && (model != .marked || hasMark) }

        /// The entity as a model that is asked for leaves it; nil when its migration needs a step.
        func opened(_ model: Badges) -> Entity? {
            if ranksAreTexts { return nil }
            var entity = self
            if !hasHolder { for id in rows.keys { entity.rows[id]?.holder = nil } }
            entity.hasHolder = true
            if model == .marked, !hasMark {
                entity.hasMark = true
                for id in rows.keys { entity.rows[id]?.mark = "m" }
            }
            entity.word = model.word
            return entity
        }
    }

    struct Content: Equatable {
        var holders: Set<Int> = []
        /// By the name of the entity.
        var entities: [String: Entity] = [:]
        var seats: [Int: PairStep.Seat] = [:]
    }

    private enum Failure: Error {
        case violation
    }

    static let badge = "pair_badge"
    static let medal = "pair_medal"

    private(set) var content = Content()
    /// Which model of badges is open.
    private(set) var declared: Badges?
    /// The model of badges that each database was asked for last.
    private(set) var typed: [Handle: Badges] = [:]
    private var isInside = false

    var lines: [String] { content.lines.flatMap { [$0, $0] } }

    mutating func run(_ step: PairStep) -> [String] { [outcome(step, nil)] }

    /// The outcome of a step, which changes the state.
    ///
    /// - Parameter handle: The database of the transaction around it.
    private mutating func outcome(_ step: PairStep, _ around: Handle?) -> String {
        switch step {
        case .holders(let ids, _): content.holders.formUnion(ids)
        case .open(let model, let handle): return open(model, around ?? handle)
        case .openAtOnce(let model):
            return Handle.allCases.map { open(model, $0) }.joined(separator: ", ")
        case .badges(let badges, let handle):
            return writing(around ?? handle) { (reference, model) throws(Failure) in
                for badge in badges { reference.store(badge, model) }
                try reference.check()
                return "done"
            }
        case .typed(let handle):
            return writing(around ?? handle) { (reference, model) throws(Failure) in
                let rows = reference.content.entities[Self.badge]?.rows ?? [:]
                return rows.sorted { $0.key < $1.key }.map { id, row in
                    let mark = model == .marked ? " \(row.mark)" : ""
                    return "\(id) of \(PairText.of(row.holder)) \(PairText.of(row.rank))\(mark)"
                }.joined(separator: ", ")
            }
        case .eraseHolder(let id, _, _):
            return atomically { (reference) throws(Failure) in
                let count = reference.content.holders.contains(id) ? 1 : 0
                try reference.erase(holder: id)
                return "\(count)"
            }
        case .eraseBadge(let id, _):
            guard content.entities[Self.badge] != nil else { return "left out" }
            return content.entities[Self.badge]?.rows.removeValue(forKey: id) == nil ? "0" : "1"
        case .update(let rank, let holder, let erasure, let handle):
            return writing(around ?? handle) { (reference, _) throws(Failure) in
                var count = 0
                let ids = (reference.content.entities[Self.badge]?.rows.keys).map { $0.sorted() } ?? []
                for (turn, id) in ids.enumerated() where reference.content.entities[Self.badge]?.rows[id] != nil {
                    if turn == 0 { try reference.erase(erasure) }
                    guard reference.content.entities[Self.badge]?.rows[id] != nil else { continue }
                    reference.content.entities[Self.badge]?.rows[id]?.rank = rank
                    if let holder { reference.content.entities[Self.badge]?.rows[id]?.holder = holder }
                    count += 1
                }
                try reference.check()
                return "\(count)"
            }
        case .merge(let id, let rank, let erasure, let handle):
            return writing(around ?? handle) { (reference, model) throws(Failure) in
                let before = reference.content.entities[Self.badge]?.rows[id]
                try reference.erase(erasure)
                guard var row = before else {
                    reference.store(PairStep.Badge(id, holder: nil, rank: rank), model)
                    return "done"
                }
                if let now = reference.content.entities[Self.badge]?.rows[id] {
                    row = now
                } else if model != .marked {
                    // A new row has the default of what the model does not declare.
                    row.mark = "m"
                }
                row.rank = rank
                reference.content.entities[Self.badge]?.rows[id] = row
                try reference.check()
                return "done"
            }
        case .evolve(let change, _): return evolve(change)
        case .copyIn(let model, let holders, let badges):
            guard content.holders.isEmpty, content.entities[Self.badge] == nil, declared ?? model == model,
                badges.allSatisfy({ $0.holder.map(holders.contains) ?? true })
            else { return "left out" }
            content.holders = Set(holders)
            content.entities[Self.badge] = Entity(model)
            for badge in badges { store(badge, model) }
            keep(model)
        case .seats(let seats, _): return store(seats)
        case .setLeft(let isLeft, let row, _):
            let ids = content.seats.values.filter { $0.row == row }.map(\.id).sorted()
            return store(
                ids.compactMap { id in
                    var seat = content.seats[id]
                    seat?.isLeft = isLeft
                    return seat
                }, saying: "\(ids.count)")
        case .groups(let first): return content.groups(first)
        case .groupsBesideAWriter: break
        case .crews(let one, let other): return content.crews(one, other)
        case .compact: break
        case .compactBeside(let steps): return steps.map { outcome($0, around) }.joined(separator: ", ")
        case .transaction(let steps, let fails, let handle): return transaction(steps, fails, around ?? handle)
        case .observed(let steps, let inside, let fails, let handle):
            let first = inside.isEmpty ? "" : transaction(inside, fails, handle) + "; "
            return first + steps.map { outcome($0, around) }.joined(separator: ", ")
        case .reopen: (declared, typed) = (nil, [:])
        }
        return "done"
    }

    private mutating func transaction(_ steps: [PairStep], _ fails: Bool, _ handle: Handle) -> String {
        let (before, wasInside) = (content, isInside)
        isInside = true
        let outcomes = steps.map { outcome($0, handle) }
        isInside = wasInside
        if fails { content = before }
        return outcomes.joined(separator: ", ")
    }

    // MARK: Catalog

    private mutating func open(_ model: Badges, _ handle: Handle) -> String {
        if let declared, declared != model { return "schemaMismatch" }
        if let stored = content.entities[Self.badge] {
            guard let opened = stored.opened(model) else { return "schemaMismatch" }
            if isInside, opened != stored { return "invalidTransaction" }
            content.entities[Self.badge] = opened
        } else {
            content.entities[Self.badge] = Entity(model)
        }
        declared = model
        keep(model)
        typed[handle] = model
        return "done"
    }

    /// Storages of another model, which a migration has left behind, are not used any longer: erasing a holder means another thing
    /// for them.
    private mutating func keep(_ model: Badges?) { typed = typed.filter { $0.value == model } }

    private mutating func evolve(_ change: PairStep.Change) -> String {
        guard Self.allows(change, content.entities.mapValues(\.hasHolder), isDeclared: declared != nil) else { return "left out" }
        switch change {
        case .dropHolder(let isMedal): content.entities[Self.name(isMedal)]?.hasHolder = false
        case .dropEntity(let isMedal): content.entities[Self.name(isMedal)] = nil
        case .rename(let toMedal):
            content.entities[Self.name(toMedal)] = content.entities.removeValue(forKey: Self.name(!toMedal))
            if !toMedal { keep(nil) }
        case .retype(let isMedal): content.entities[Self.name(isMedal)]?.ranksAreTexts.toggle()
        }
        if change.isOfBadges { declared = nil }
        return "done"
    }

    static func name(_ isMedal: Bool) -> String { isMedal ? medal : badge }

    /// Whether a migration makes sense: what it changes is there.
    ///
    /// - Parameter entities: The entities with badges, and whether these have holders.
    static func allows(_ change: PairStep.Change, _ entities: [String: Bool], isDeclared: Bool) -> Bool {
        switch change {
        case .dropHolder(let isMedal): entities[name(isMedal)] == true
        case .dropEntity(let isMedal), .retype(let isMedal): entities[name(isMedal)] != nil
        // No declaration is open of an entity that comes by a migration.
        case .rename(let toMedal): entities[name(!toMedal)] != nil && entities[name(toMedal)] == nil && (toMedal || !isDeclared)
        }
    }

    // MARK: Writing

    /// A call of the storage of badges.
    private mutating func writing(
        _ handle: Handle, _ body: (inout Self, Badges) throws(Failure) -> String
    ) -> String {
        guard let model = typed[handle], let entity = content.entities[Self.badge] else { return "left out" }
        if !entity.fits(model) { return "schemaMismatch" }
        return atomically { (reference) throws(Failure) in try body(&reference, model) }
    }

    private mutating func atomically(_ body: (inout Self) throws(Failure) -> String) -> String {
        var copy = self
        do {
            let outcome = try body(&copy)
            self = copy
            return outcome
        } catch {
            return "referenceViolation"
        }
    }

    private mutating func store(_ badge: PairStep.Badge, _ model: Badges) {
        let mark =
            model == .marked ? MarkedBadge.mark(badge.rank) : content.entities[Self.badge]?.rows[badge.id]?.mark ?? "m"
        content.entities[Self.badge]?.rows[badge.id] = Badge(holder: badge.holder, rank: badge.rank, mark: mark)
    }

    /// Every Reference of a row leads to a row when a call ends.
    private func check() throws(Failure) {
        for entity in content.entities.values where entity.hasHolder {
            for row in entity.rows.values {
                if let holder = row.holder, !content.holders.contains(holder) { throw .violation }
            }
        }
    }

    private mutating func erase(_ erasure: PairStep.Erasure) throws(Failure) {
        switch erasure {
        case .holder(let id): try erase(holder: id)
        case .badge(let id): content.entities[Self.badge]?.rows[id] = nil
        }
    }

    private mutating func erase(holder: Int) throws(Failure) {
        let referring = content.entities.filter { $0.value.hasHolder }
        for entity in referring.values where entity.word == .restricted {
            if entity.rows.values.contains(where: { $0.holder == holder }) { throw .violation }
        }
        content.holders.remove(holder)
        for (name, entity) in referring {
            for (id, row) in entity.rows where row.holder == holder {
                if entity.word == .cascading {
                    content.entities[name]?.rows[id] = nil
                } else {
                    content.entities[name]?.rows[id]?.holder = nil
                }
            }
        }
    }

    private mutating func store(_ seats: [PairStep.Seat], saying outcome: String = "done") -> String {
        var stored = content.seats
        func other(than seat: PairStep.Seat) -> PairStep.Seat? {
            seat.isLeft ? nil : stored.values.first { !$0.isLeft && $0.row == seat.row && $0.id != seat.id }
        }
        // A row that collides in its turn waits for the end of the call (contract W6).
        var waiting: [PairStep.Seat] = []
        for seat in seats {
            waiting.removeAll { $0.id == seat.id }
            if other(than: seat) == nil { stored[seat.id] = seat } else { waiting.append(seat) }
        }
        for seat in waiting { stored[seat.id] = nil }
        for seat in waiting {
            if let other = other(than: seat) { return "uniqueViolation of \(seat.id) by \(other.id) in row" }
            stored[seat.id] = seat
        }
        content.seats = stored
        return outcome
    }
}

extension PairStep.Badges {
    /// What erasing a holder means: one of the first three.
    var word: Self { self == .marked ? .restricted : self }
}

extension PairStep.Change {
    /// Whether it changes the entity with the name of badges as it was.
    var isOfBadges: Bool {
        switch self {
        case .dropHolder(let isMedal), .dropEntity(let isMedal), .retype(let isMedal): !isMedal
        case .rename(let toMedal): toMedal
        }
    }
}

/// How values are said in outcomes.
enum PairText {
    static func of(_ number: Int?) -> String { number.map { "\($0)" } ?? "-" }
}

extension PairReference.Content {
    /// The rows as they are read without types.
    var lines: [String] {
        [
            "pair_holder: " + holders.sorted().map { "\($0) h\($0)" }.joined(separator: ", "), line(PairReference.badge),
            line(PairReference.medal),
            "pair_seat: "
                + seats.values.sorted { $0.id < $1.id }.map {
                    "\($0.id) \($0.row) \($0.isLeft) \(PropertyTesting.Crew.json($0.crew))"
                }.joined(separator: ", "),
        ]
    }

    private func line(_ name: String) -> String {
        guard let entity = entities[name] else { return "\(name) is absent" }
        let rows = entity.rows.sorted { $0.key < $1.key }.map { id, row in
            let rank = row.rank.map { entity.ranksAreTexts ? "'\($0)'" : "\($0)" } ?? "-"
            return "\(id)" + (entity.hasHolder ? " of \(PairText.of(row.holder))" : "") + " \(rank)"
                + (entity.hasMark ? " \(row.mark)" : "")
        }
        return "\(name): " + rows.joined(separator: ", ")
    }

    /// The last seats of each row, and their number.
    func groups(_ first: Int) -> String {
        let rows = Set(seats.values.map(\.row)).sorted()
        let groups = rows.map { row in
            let ids = seats.values.filter { $0.row == row }.map(\.id).sorted(by: >)
            return "\(row): " + ids.prefix(first).map { "\($0)" }.joined(separator: " ") + " of \(ids.count)"
        }
        let taken = rows.compactMap { row in seats.values.first { $0.row == row && !$0.isLeft }.map { "\(row): \($0.id)" } }
        return groups.joined(separator: ", ") + "; " + taken.joined(separator: ", ")
    }

    /// The seats with one embedded value, with others, and with one of two.
    func crews(_ one: Int, _ other: Int) -> String {
        func ids(_ condition: (Int) -> Bool) -> String {
            seats.values.filter { condition($0.crew) }.map(\.id).sorted().map { "\($0)" }.joined(separator: " ")
        }
        return [ids { $0 == one }, ids { $0 != one }, ids { $0 == one || $0 == other }].joined(separator: " | ")
    }
}
