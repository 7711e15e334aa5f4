import DAOCore
import DAOTestSupport
import Foundation

/// A model that the cases of predicates and queries can find by a number.
protocol Numbered: Plain, Model, Equatable {
    var id: Int { get }
}

extension Item: Numbered {}
extension OptionalScalars: Numbered {}

/// The same values in fields without an index, with an index and with a unique index. Each condition has to
/// give the same rows for all of them.
struct Probe: Numbered {
    var id: Int
    var number: Int?
    var numberIndexed: Int?
    var numberUnique: Int?
    var text: String?
    var textIndexed: String?
    var textUnique: String?
    var real: Double?
    var realIndexed: Double?
    var other: Int?
    var otherText: String?
    var flag: Bool = false
    var small: Int8?
    var big: UInt64?
    var amount: Decimal?

    static let schema = Schema(
        "probe", Self.init,
        Field("id", \.id, .primaryKey),
        Field("number", \.number), Field("numberIndexed", \.numberIndexed, .indexed),
        Field("numberUnique", \.numberUnique, .unique),
        Field("text", \.text), Field("textIndexed", \.textIndexed, .indexed), Field("textUnique", \.textUnique, .unique),
        Field("real", \.real), Field("realIndexed", \.realIndexed, .indexed),
        Field("other", \.other, .indexed), Field("otherText", \.otherText), Field("flag", \.flag, .indexed),
        Field("small", \.small), Field("big", \.big, .indexed), Field("amount", \.amount),
        indexes: [
            Index(orderedBy: .descending(\.big), .ascending(\.text)), Index(\.flag, \.real, \.otherText),
            Index(orderedBy: .ascending(\.other), .descending(\.amount), .descending(\.small)),
        ])

    /// The fields that hold the number.
    static let numbers = ["number", "numberIndexed", "numberUnique"]
    /// The fields that hold the text.
    static let texts = ["text", "textIndexed", "textUnique"]
    /// The fields that hold the floating-point number.
    static let reals = ["real", "realIndexed"]

    /// Returns probes 1, 2, 3 … with these numbers, which are all different except nil.
    static func numbers(_ numbers: [Int?]) -> [Probe] {
        numbers.enumerated().map { Probe(id: $0 + 1, number: $1, numberIndexed: $1, numberUnique: $1) }
    }

    /// Returns probes 1, 2, 3 … with these texts, which are all different except nil.
    static func texts(_ texts: [String?]) -> [Probe] {
        texts.enumerated().map { Probe(id: $0 + 1, text: $1, textIndexed: $1, textUnique: $1) }
    }

    /// Returns probes 1, 2, 3 … with these floating-point numbers.
    static func reals(_ reals: [Double?]) -> [Probe] { reals.enumerated().map { Probe(id: $0 + 1, real: $1, realIndexed: $1) } }

    /// Returns probes generated from a seed, with nil in a third of their fields. The same seed gives the
    /// same probes on every platform.
    static func random(_ count: Int, seed: UInt64) -> [Probe] {
        var random = SeededGenerator(seed: seed)
        return (1...count).map { id in
            let number = random.maybe(Int.random(in: -20...20, using: &random))
            let text = random.maybe(random.pick(HardValues.strings))
            let real = random.maybe(random.pick(HardValues.storedDoubles))
            return Probe(
                id: id, number: number, numberIndexed: number, numberUnique: random.maybe(id * 3), text: text, textIndexed: text,
                textUnique: random.maybe("unique \(id)"), real: real, realIndexed: real,
                other: random.maybe(Int.random(in: -20...20, using: &random)),
                otherText: random.maybe(random.pick(HardValues.strings)),
                flag: Bool.random(using: &random), small: random.maybe(Int8.random(in: .min ... .max, using: &random)),
                big: random.maybe([0, 7, UInt64(Int64.max), UInt64(Int64.max) + 1, .max][Int.random(in: 0..<5, using: &random)]),
                amount: random.maybe(Decimal(Int.random(in: -400...400, using: &random)) / 4))
        }
    }
}
