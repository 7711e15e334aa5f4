import DAOCore

/// One step in which rules of different chapters meet: a catalog that changes under all that is kept from it, the application's code
/// in the middle of a write, builds that start at once, and what happens beside a call.
///
/// There are people, called holders, badges that refer to them, and seats. A step that makes no sense in a state is left out.
public enum PairStep: Sendable, Hashable {
    /// Through which of two databases that are open on one engine.
    public enum Handle: String, Sendable, Hashable, CaseIterable {
        /// The first.
        case first
        /// The second.
        case second
    }

    /// The models of badges.
    public enum Badges: String, Sendable, Hashable, CaseIterable {
        /// They keep their holders from being erased.
        case restricted
        /// They are erased with their holders.
        case cascading
        /// They lose their holders.
        case loose
        /// They have one field and one index more, and keep their holders.
        case marked
    }

    /// A badge.
    public struct Badge: Sendable, Hashable {
        var id: Int
        var holder: Int?
        var rank: Int?

        /// Describes a badge.
        public init(_ id: Int, holder: Int?, rank: Int?) { (self.id, self.holder, self.rank) = (id, holder, rank) }
    }

    /// A seat in a row.
    public struct Seat: Sendable, Hashable {
        var id: Int
        var row: Int
        var isLeft: Bool
        /// The number of its embedded value.
        var crew: Int

        /// Describes a seat.
        public init(_ id: Int, row: Int, isLeft: Bool, crew: Int) {
            (self.id, self.row, self.isLeft, self.crew) = (id, row, isLeft, crew)
        }
    }

    /// How a holder is erased.
    public enum Call: String, Sendable, Hashable, CaseIterable {
        /// By the key.
        case byKey
        /// By a condition.
        case byCondition
        /// Without types.
        case untyped
    }

    /// What the application's code erases in the middle of a write of a badge.
    public enum Erasure: Sendable, Hashable {
        /// A holder.
        case holder(Int)
        /// A badge, which may be the one that is written.
        case badge(Int)
    }

    /// A change that a migration makes.
    public enum Change: Sendable, Hashable {
        /// Badges, or medals, no longer have holders.
        case dropHolder(ofMedals: Bool)
        /// They are gone.
        case dropEntity(ofMedals: Bool)
        /// Badges become medals, or the reverse.
        case rename(toMedals: Bool)
        /// Ranks become texts, or numbers again.
        case retype(ofMedals: Bool)
    }

    /// Stores holders.
    case holders([Int], by: Handle)
    /// Asks for the storage of a model of badges.
    case open(Badges, by: Handle)
    /// Both databases ask for it in the same moment, while the entities are read.
    case openAtOnce(Badges)
    /// Stores badges through the model that was opened last.
    case badges([Badge], by: Handle)
    /// Reads badges through the model that was opened last, however the catalog has changed since.
    case typed(by: Handle)
    /// Erases a holder.
    case eraseHolder(Int, by: Handle, Call)
    /// Erases a badge without types.
    case eraseBadge(Int, by: Handle)
    /// Gives all badges a rank, and perhaps a holder. The closure erases something in the first turn.
    case update(rank: Int, holder: Int?, erasing: Erasure, by: Handle)
    /// Merges a rank into a badge. The translator erases something.
    case merge(Int, rank: Int, erasing: Erasure, by: Handle)
    /// Migrates to the next version.
    case evolve(Change, by: Handle)
    /// Copies another database into this one, which has no badges and no holders.
    case copyIn(Badges, holders: [Int], badges: [Badge])
    /// Stores seats.
    case seats([Seat], by: Handle)
    /// Sets in a row whether seats are left.
    case setLeft(Bool, row: Int, by: Handle)
    /// Reads the first seats of each row, and totals of them.
    case groups(first: Int)
    /// Reads them while a seat moves from row to row.
    case groupsBesideAWriter(first: Int)
    /// Looks for seats by their embedded value, for one and two values.
    case crews(Int, Int)
    /// Makes the file smaller.
    case compact
    /// Does steps while another thread makes the file smaller.
    indirect case compactBeside([PairStep])
    /// Runs steps as a transaction, which may fail at its end.
    indirect case transaction([PairStep], fails: Bool, by: Handle)
    /// Observes everything while steps run. The observation begins inside a transaction, if there is one.
    indirect case observed([PairStep], inside: [PairStep], fails: Bool, by: Handle)
    /// Closes both databases and opens them again.
    case reopen
}

extension PairStep {
    /// The steps inside this one.
    var nested: [PairStep] {
        switch self {
        case .compactBeside(let steps), .transaction(let steps, _, _): steps
        case .observed(let steps, let inside, _, _): inside + steps
        default: []
        }
    }

    /// Whether it is a call, which can stand inside a transaction.
    var isCall: Bool {
        switch self {
        case .holders, .open, .badges, .typed, .eraseHolder, .eraseBadge, .update, .merge, .seats, .setLeft, .crews: true
        case .groups: true
        case .transaction(let steps, _, _): steps.allSatisfy(\.isCall)
        default: false
        }
    }
}

extension PairStep: ReplayedStep {
    /// How many steps it is.
    var size: Int { nested.reduce(1) { $0 + $1.size } }

    /// Whether it waits for an observation.
    var waits: Bool { if case .observed = self { true } else { nested.contains(where: \.waits) } }

    /// The steps inside it alone, and itself with fewer of them.
    var smallerForms: [[Self]] {
        switch self {
        case .transaction(let steps, let fails, let handle):
            [steps] + steps.smaller(\.smallerForms).map { [.transaction($0, fails: fails, by: handle)] }
        case .compactBeside(let steps): [steps] + steps.smaller(\.smallerForms).map { [.compactBeside($0)] }
        case .observed(let steps, let inside, let fails, let handle):
            [inside + steps]
                + inside.smaller(\.smallerForms).map { [.observed(steps, inside: $0, fails: fails, by: handle)] }
                + steps.smaller(\.smallerForms).map { [.observed($0, inside: inside, fails: fails, by: handle)] }
        case .holders(let ids, let handle): ids.smaller().map { [.holders($0, by: handle)] }
        case .badges(let badges, let handle): badges.smaller().map { [.badges($0, by: handle)] }
        case .seats(let seats, let handle): seats.smaller().map { [.seats($0, by: handle)] }
        case .copyIn(let model, let holders, let badges):
            badges.smaller().map { [.copyIn(model, holders: holders, badges: $0)] }
                + holders.smaller().map { [.copyIn(model, holders: $0, badges: badges)] }
        default: []
        }
    }
}

extension PairStep.Badge: SwiftSource {
    /// The badge as an expression.
    var source: String {
        ".init(\(id), holder: \(SwiftLiteral.source(holder as Any)), rank: \(SwiftLiteral.source(rank as Any)))"
    }
}

extension PairStep.Seat: SwiftSource {
    /// The seat as an expression.
    var source: String { ".init(\(id), row: \(row), isLeft: \(isLeft), crew: \(crew))" }
}
