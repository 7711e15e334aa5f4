import DAOCore
import Foundation

/// Who has badges.
struct PairHolder: Plain, Model, Equatable {
    var id: Int
    var name = ""

    static let schema = Schema(
        "pair_holder", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .indexed))
}

/// One of the models of the entity "pair_badge".
protocol PairBadge: Plain, Model {
    var id: Int { get }
    var holder: Reference<PairHolder>? { get set }
    var rank: Int? { get set }
    init(id: Int, holder: Reference<PairHolder>?, rank: Int?)
}

/// A badge that keeps its holder from being erased.
struct RestrictedBadge: PairBadge {
    var id: Int
    var holder: Reference<PairHolder>?
    var rank: Int?

    static let schema = Schema(
        "pair_badge", Self.init,
        Field("id", \.id, .primaryKey), Field("holder", \.holder, .restricted), Field("rank", \.rank))
}

/// A badge that is erased with its holder.
struct CascadingBadge: PairBadge {
    var id: Int
    var holder: Reference<PairHolder>?
    var rank: Int?

    static let schema = Schema(
        "pair_badge", Self.init,
        Field("id", \.id, .primaryKey), Field("holder", \.holder, .cascade), Field("rank", \.rank))
}

/// A badge that loses its holder.
struct LooseBadge: PairBadge {
    var id: Int
    var holder: Reference<PairHolder>?
    var rank: Int?

    static let schema = Schema(
        "pair_badge", Self.init, Field("id", \.id, .primaryKey), Field("holder", \.holder), Field("rank", \.rank))
}

/// A badge with one field and one index more.
struct MarkedBadge: PairBadge {
    var id: Int
    var holder: Reference<PairHolder>?
    var rank: Int?
    var mark = "m"

    init(id: Int, holder: Reference<PairHolder>?, rank: Int?, mark: String) {
        (self.id, self.holder, self.rank, self.mark) = (id, holder, rank, mark)
    }

    init(id: Int, holder: Reference<PairHolder>?, rank: Int?) {
        self.init(id: id, holder: holder, rank: rank, mark: Self.mark(rank))
    }

    /// What the model says of a new value with a rank.
    static func mark(_ rank: Int?) -> String { rank.map { "r\($0)" } ?? "m" }

    static let schema = Schema(
        "pair_badge", { MarkedBadge(id: $0, holder: $1, rank: $2, mark: $3) },
        Field("id", \.id, .primaryKey), Field("holder", \.holder, .restricted), Field("rank", \.rank),
        Field("mark", \.mark, .indexed, .default("m")))
}

/// A seat with an embedded value. Of those in one row only one is taken.
struct PairSeat: Plain, Model, Equatable {
    var id: Int
    var row: Int
    var isLeft: Bool
    var crew: PropertyTesting.Crew

    static let schema = Schema(
        "pair_seat", Self.init,
        Field("id", \.id, .primaryKey), Field("row", \.row), Field("isLeft", \.isLeft), Field("crew", \.crew),
        indexes: [Index(\.row, isUnique: true, where: { !$0.isLeft }), Index(\.isLeft, \.row)])
}

extension PropertyTesting {
    /// An embedded value with sets and dictionaries whose keys are neither texts nor integers.
    struct Crew: Codable, FieldValue, Equatable {
        enum Shift: Int, Codable {
            case day = 1
            case night
        }

        var names: Set<String> = []
        var days: [UUID: Int] = [:]
        var rooms: [Shift: Set<Int>] = [:]

        private static let made = Atomic(0)

        /// How many there are.
        static let count = 4

        /// One of the values. Each time its sets and dictionaries have their elements in another order, as far as their capacity
        /// decides it.
        static func number(_ number: Int) -> Crew {
            let capacity = made.add(1, ordering: .relaxed).newValue * 7 % 90
            var crew = Crew()
            crew.names.reserveCapacity(capacity)
            crew.days.reserveCapacity(capacity)
            crew.rooms.reserveCapacity(capacity)
            func id(_ last: UInt8) -> UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last)) }
            switch number {
            case 1:
                for name in ["b", "a", "a!"] { crew.names.insert(name) }
                for last in [7, 200, 1] as [UInt8] { crew.days[id(last)] = Int(last) - 8 }
                crew.rooms[.night, default: Set(minimumCapacity: capacity)].formUnion([9, 10, -1])
                crew.rooms[.day] = [0]
            case 2: crew.names = ["a", "b"]
            case 3:
                crew.days[id(7)] = 1
                crew.rooms[.day] = []
            default: break
            }
            return crew
        }

        /// The JSON that is stored for it: nothing of it is made by the library.
        static func json(_ number: Int) -> String {
            func id(_ last: String) -> String { "\"00000000-0000-0000-0000-0000000000\(last)\"" }
            return switch number {
            case 1:
                "{\"days\":[\(id("01")),-7,\(id("07")),-1,\(id("C8")),192],\"names\":[\"a!\",\"a\",\"b\"],"
                    + "\"rooms\":[1,[0],2,[-1,10,9]]}"
            case 2: #"{"days":[],"names":["a","b"],"rooms":[]}"#
            case 3: "{\"days\":[\(id("07")),1],\"names\":[],\"rooms\":[1,[]]}"
            default: #"{"days":[],"names":[],"rooms":[]}"#
            }
        }
    }
}
