import DAOCore
import Foundation

/// Generates predicates and orders over an entity, all of which make sense for its fields.
package struct PredicateGenerator: Sendable {
    /// Gives a value that a field can hold.
    package typealias Values = @Sendable (_ field: Int, _ random: inout SeededGenerator) -> Value

    private let fields: [FieldDescription]
    private let elements: [FieldType?]
    private let members: [[EmbeddedMember]]
    private let mixesDecimalsAndFloats: Bool
    private let nests: Bool
    private let values: Values

    /// Generates for an entity.
    ///
    /// - Parameters:
    ///   - entity: Whose fields the predicates are about.
    ///   - elements: The types of the elements of arrays, by the positions of their fields.
    ///   - members: The members of `Codable` values, by the positions of their fields.
    ///   - mixesDecimalsAndFloats: Whether decimals are compared with floating-point numbers that are not the
    ///     same decimal.
    ///   - nests: Whether conditions on elements have several parts, which the words for them do not have.
    ///   - values: Gives values to compare a field with, beside null and numbers of other types;
    ///     ``HardValues`` by default.
    package init(
        _ entity: EntityDescription, elements: [FieldType?] = [], members: [[EmbeddedMember]] = [],
        mixesDecimalsAndFloats: Bool = true, nests: Bool = true,
        values: Values? = nil
    ) {
        let fields = entity.fields
        self.fields = fields
        self.elements = elements
        self.members = members
        self.mixesDecimalsAndFloats = mixesDecimalsAndFloats
        self.nests = nests
        self.values = values ?? { field, random in random.value(of: fields[field].type.kind) }
    }

    /// A predicate: now and then a constant, mostly a tree of a few levels.
    package func predicate(using random: inout SeededGenerator) -> PredicateNode {
        if random.chance(20) { return .constant(random.chance(90)) }
        return predicate(depth: random.weighted([(4, 0), (4, 1), (3, 2), (2, 3), (1, 4)]), using: &random)
    }

    /// A predicate of so many levels at most.
    package func predicate(depth: Int, using random: inout SeededGenerator) -> PredicateNode {
        func parts() -> [PredicateNode] { (0..<random.below(4)).map { _ in predicate(depth: depth - 1, using: &random) } }
        if depth > 0 {
            switch random.below(10) {
            case 0, 1, 2: return .and(parts())
            case 3, 4, 5: return .or(parts())
            case 6, 7: return .not(predicate(depth: depth - 1, using: &random))
            default: break
            }
        }
        return leaf(using: &random)
    }

    /// The terms of an order: none to three.
    package func order(using random: inout SeededGenerator) -> [(field: String, isAscending: Bool)] {
        let ordered = fields.filter(\.type.kind.isOrdered)
        return (0..<random.weighted([(4, 0), (4, 1), (2, 2), (2, 3)])).map { _ in
            (random.pick(ordered).name, random.chance(50))
        }
    }

    private func leaf(using random: inout SeededGenerator) -> PredicateNode {
        let parts =
            elements.indices.flatMap { field in elements[field].map { [(field, .anyElement($0)), (field, .count)] } ?? [] }
            + members.indices.flatMap { field in members[field].map { (field, .member($0)) } } as [(Int, EmbeddedPart)]
        if !parts.isEmpty, random.chance(15) { return embedded(random.pick(parts), using: &random) }
        let field = random.below(fields.count)
        let kind = fields[field].type.kind
        func comparison() -> Comparison { kind.isOrdered ? random.pick(Comparison.allCases) : random.pick([.equal, .notEqual]) }
        switch random.below(20) {
        case 0: return .constant(random.chance(50))
        case 1...4: return .isIn(field: field, list(for: field, using: &random))
        case 5...9:
            let texts = fields.indices.filter { fields[$0].type.kind.isText }
            if !texts.isEmpty, kind.isText || random.chance(30) { return text(random.pick(texts), using: &random) }
        case 10, 11:
            let others = fields.indices.filter { isComparable(kind, fields[$0].type.kind) }
            return .compareFields(field, comparison(), random.pick(Array(others)))
        case 12...13 where kind.isOrdered:
            let bounds = [literal(for: field, using: &random), literal(for: field, using: &random)]
            return .and([.compare(field: field, .greaterOrEqual, bounds[0]), .compare(field: field, .lessOrEqual, bounds[1])])
        default: break
        }
        return .compare(field: field, comparison(), literal(for: field, using: &random))
    }

    /// A condition on a part of an embedded value.
    private func embedded(_ place: (field: Int, part: EmbeddedPart), using random: inout SeededGenerator) -> PredicateNode {
        let (field, part) = place
        let description = FieldDescription(name: fields[field].name, type: part.type(in: fields[field]))
        let kind = description.type.kind
        let generator = PredicateGenerator(
            EntityDescription(name: "", fields: [description]), mixesDecimalsAndFloats: mixesDecimalsAndFloats
        ) { _, random in
            let few: [Value] =
                switch kind {
                case .string: ["a", "b", "", "null", "/\"é", "box"].map(Value.string)
                case .int64: [0, 1, 2, 4, -2, .max].map(Value.integer)
                case .double: [0, -1.5, .infinity].map(Value.double)
                default: []
                }
            return few.isEmpty || random.chance(20) ? random.value(of: kind) : random.pick(few)
        }
        if nests { return .embedded(field: field, part, generator.predicate(depth: random.below(3), using: &random)) }
        while true {
            let node = generator.predicate(depth: 0, using: &random)
            switch node {
            case .compare, .isIn, .text: return .embedded(field: field, part, node)
            default: continue
            }
        }
    }

    private func text(_ field: Int, using random: inout SeededGenerator) -> PredicateNode {
        let match = random.pick(TextMatch.allCases)
        let options = random.pick(HardValues.options)
        if match == .matches, random.chance(70) { return .text(field: field, match, random.pick(HardValues.patterns), options) }
        if case .string(let text) = values(field, &random), random.chance(40) {
            // What some values begin with.
            let beginning = text.unicodeScalars.prefix(random.below(text.unicodeScalars.count + 1))
            return .text(field: field, match, String(String.UnicodeScalarView(beginning)), options)
        }
        let pattern = random.pick(
            random.chance(60) ? HardValues.strings : ["", "a", "e", "s", "ss", "i", "\u{301}", "\0", "p", "https"])
        return .text(field: field, match, pattern, options)
    }

    private func list(for field: Int, using random: inout SeededGenerator) -> [Value] {
        let count = random.weighted([(1, 0), (3, 1), (4, 3), (3, 6), (1, 200)])
        if count < 200 { return (0..<count).map { _ in literal(for: field, using: &random) } }
        // A long list: every value of a few, many times over.
        let few = (0..<4).map { _ in literal(for: field, using: &random) }
        return (0..<count).map { few[$0 % few.count] }
    }

    private func isComparable(_ left: ValueKind, _ right: ValueKind) -> Bool {
        if left == right { return true }
        if left.isText { return right.isText }
        guard left.isNumeric, right.isNumeric else { return false }
        let floats: Set<ValueKind> = [.float, .double]
        return mixesDecimalsAndFloats
            || !(left == .decimal && floats.contains(right)) && !(right == .decimal && floats.contains(left))
    }

    /// A value to compare a field with: one that it can hold, null, or a number of another type.
    private func literal(for field: Int, using random: inout SeededGenerator) -> Value {
        if random.chance(10) { return .null }
        let kind = fields[field].type.kind
        if kind == .bool, random.chance(10) { return .integer(Int64(random.below(2))) }
        if kind == .uuid, random.chance(20) { return .string(random.pick(HardValues.uuids).uuidString) }
        if kind.isNumeric, random.chance(35) { return number(for: kind, using: &random) }
        if kind == .string, random.chance(30) {
            return .string(random.pick(["", "a", "b", "é", "\u{10000}", HardValues.prefix + "a"]))
        }
        return values(field, &random)
    }

    private func number(for kind: ValueKind, using random: inout SeededGenerator) -> Value {
        switch random.below(4) {
        case 0: return .integer(random.pick(HardValues.integers))
        case 1: return random.pick(HardValues.unsigned).fieldValue
        case 2:
            switch kind {
            case .decimal where !mixesDecimalsAndFloats:
                return .double(random.pick(HardValues.dyadic + [.infinity, -.infinity, .nan]))
            // A literal for a `Float` is first rounded to one, as the compiler does.
            case .float: return random.pick(HardValues.floats).fieldValue
            default: return random.pick(HardValues.doubles).fieldValue
            }
        default:
            if !mixesDecimalsAndFloats, kind == .float || kind == .double {
                return .decimal(Decimal(string: random.pick(HardValues.dyadic).description) ?? 0)
            }
            return .decimal(random.pick(HardValues.decimals))
        }
    }
}
