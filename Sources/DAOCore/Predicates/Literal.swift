import Foundation

/// Converts the literals of a predicate exactly into the types of their fields. A field may not be able to
/// hold a literal. The comparison then uses the neighbouring value that gives the same answer, or becomes a
/// constant.
enum Literal {

    /// The position of a literal relative to the values that a field can hold.
    private enum Place {
        /// The field can hold the literal.
        case at(Value)
        /// The literal is between two values. The associated value is the next lower value.
        case above(Value)
        /// The literal is between two values. The associated value is the next greater value.
        case below(Value)
        /// The literal is less than all values.
        case belowAll
        /// The literal is greater than all values.
        case aboveAll
    }

    /// Returns the filter that compares a field with a literal.
    static func compare(
        _ field: Int, _ description: FieldDescription, _ comparison: Comparison, _ value: Value, isNegated: Bool, entity: String
    ) throws -> Filter {
        try checkOrder(comparison, description, entity: entity)
        let filter: Filter
        if value.isNull {
            switch comparison {
            case .equal: filter = .isNull(field: field, true)
            case .notEqual: filter = .isNull(field: field, false)
            default: filter = .none
            }
        } else {
            filter = try located(field, comparison, place(of: value, in: description, entity: entity))
        }
        return isNegated ? negation(of: filter, isOptional: description.type.isOptional) : filter
    }

    /// Returns the filter that compares a field with a list of literals.
    static func isIn(
        _ field: Int, _ description: FieldDescription, _ values: [Value], isNegated: Bool, entity: String
    ) throws -> Filter {
        try checkOrder(.equal, description, entity: entity)
        var members: [Value] = []
        var includesNull = false
        members.reserveCapacity(values.count)
        for value in values {
            if value.isNull {
                includesNull = true
            } else if case .at(let member) = try place(of: value, in: description, entity: entity) {
                members.append(member)
            }
        }
        let set = ValueSet(members)
        // A comparison leads to more: to rows in the order of an index, for example.
        let one = set.values.count == 1 ? Filter.compare(field: field, isNegated ? .notEqual : .equal, set.values[0]) : nil
        if isNegated {
            // A nil field is in no set, so the negated set contains it. A nil in the list excludes it again.
            let outside: Filter = one ?? (set.values.isEmpty ? .all : .isIn(field: field, set, isNegated: true))
            return includesNull ? .every([outside, .isNull(field: field, false)]) : outside
        }
        let inside: Filter = one ?? (set.values.isEmpty ? .none : .isIn(field: field, set, isNegated: false))
        return includesNull ? .any([inside, .isNull(field: field, true)]) : inside
    }

    /// Returns the literal in the type of the field when the field can hold it; otherwise the unchanged
    /// literal.
    ///
    /// - Throws: `.invalidPredicate` when the field cannot be compared with the literal's type.
    static func typed(_ value: Value, _ description: FieldDescription, entity: String) throws -> Value {
        if value.isNull { return value }
        if case .at(let value) = try place(of: value, in: description, entity: entity) { return value }
        return value
    }

    /// Whether a field can hold a value. Null is no value.
    static func isValue(_ value: Value, of field: FieldDescription) -> Bool {
        guard !value.isNull, case .at(let place)? = try? place(of: value, in: field, entity: "") else { return false }
        return place == value
    }

    /// Throws when two fields cannot be compared with each other.
    static func checkComparable(_ left: FieldDescription, _ right: FieldDescription, entity: String) throws {
        let (leftKind, rightKind) = (left.type.kind, right.type.kind)
        guard leftKind == rightKind || (leftKind.isNumeric && rightKind.isNumeric) || (leftKind.isText && rightKind.isText) else {
            throw PredicateProblem(
                "'\(left.name)' is \(left.type) and '\(right.name)' is \(right.type), which cannot be compared", field: left.name
            ).error(entity: entity)
        }
    }

    /// Throws when a text operator is used on a field that is not text.
    static func checkText(_ match: TextMatch, _ field: FieldDescription, entity: String) throws {
        guard field.type.kind.isText else {
            throw PredicateProblem(
                "'\(field.name)' is \(field.type), and \(match.rawValue) requires a text field", field: field.name
            )
            .error(entity: entity)
        }
    }

    /// Throws when an ordering comparison is used on a field without an order.
    static func checkOrder(_ comparison: Comparison, _ field: FieldDescription, entity: String) throws {
        // Of related rows, only keys of References are compared by more, which is checked with the relationship.
        let isOrdered = field.type.kind.isOrdered || field.type.kind == .toOne
        if field.type.kind == .toMany || (!isOrdered && comparison != .equal && comparison != .notEqual) {
            throw PredicateProblem(
                "'\(field.name)' is \(field.type) and cannot be compared by \(comparison.rawValue)", field: field.name
            ).error(entity: entity)
        }
    }

    private static func located(_ field: Int, _ comparison: Comparison, _ place: Place) -> Filter {
        let isAscending = comparison == .less || comparison == .lessOrEqual
        switch (place, comparison) {
        case (.at(let value), _): return .compare(field: field, comparison, value)
        case (_, .equal): return .none
        case (_, .notEqual): return .all
        case (.above(let value), _): return .compare(field: field, isAscending ? .lessOrEqual : .greater, value)
        case (.below(let value), _): return .compare(field: field, isAscending ? .less : .greaterOrEqual, value)
        case (.belowAll, _): return isAscending ? .none : .isNull(field: field, false)
        case (.aboveAll, _): return isAscending ? .isNull(field: field, false) : .none
        }
    }

    private static func negation(of filter: Filter, isOptional: Bool) -> Filter {
        switch filter {
        case .all: return .none
        case .none: return .all
        case .isNull(let field, let expected): return .isNull(field: field, !expected)
        case .compare(let field, .equal, let value): return .compare(field: field, .notEqual, value)
        case .compare(let field, .notEqual, let value): return .compare(field: field, .equal, value)
        case .compare(let field, let comparison, let value):
            let turned = Filter.compare(field: field, comparison.negated, value)
            return isOptional ? .any([.isNull(field: field, true), turned]) : turned
        default: return filter
        }
    }

    private static func place(of value: Value, in field: FieldDescription, entity: String) throws -> Place {
        func wrongType() -> StorageError {
            PredicateProblem(
                "'\(field.name)' is \(field.type) and cannot be compared with a value of type \(value.typeName)",
                field: field.name
            ).error(entity: entity)
        }
        let kind = field.type.kind
        switch (kind, value) {
        case (.embedded, .string(let json)): return .at(.string((field.content ?? .value).canonical(json) ?? json))
        case (.bool, .bool), (.string, .string), (.url, .string), (.data, .data), (.uuid, .uuid),
            (.date, .date),
            (.decimal, .decimal):
            return .at(normalized(value))
        // The key of a related row, whose type was checked with the relationship.
        case (.toOne, _): return .at(value)
        case (.bool, .integer(let number)) where number == 0 || number == 1: return .at(.bool(number == 1))
        case (.uuid, .string(let text)):
            guard let uuid = UUID(uuidString: text) else { throw wrongType() }
            return .at(.uuid(uuid))
        case (.decimal, .integer(let number)): return .at(.decimal(Decimal(number)))
        case (.decimal, .unsigned(let number)): return .at(.decimal(Decimal(number)))
        case (.decimal, .double(let number)):
            if number.isNaN { return .at(.decimal(.nan)) }
            // NaN is above every number, and a decimal field can hold it.
            guard number.isFinite, let place = Decimal.place(of: number) else {
                return number < 0 ? .belowAll : .below(.decimal(.nan))
            }
            return place.isExact ? .at(.decimal(place.value)) : .above(.decimal(place.value))
        case (.double, .double(let number)): return .at(.double(number.normalized))
        case (.float, .double(let number)):
            // The compiler rounds a literal of type `Float` to the nearest value, and so does this code. A
            // finite number beyond the range does not become infinite, however.
            let nearest = Double(Float(number))
            if nearest.isInfinite, number.isFinite {
                return .above(.double(number < 0 ? -.infinity : Double(Float.greatestFiniteMagnitude)))
            }
            return .at(.double(nearest.normalized))
        case (.double, .integer), (.double, .unsigned), (.double, .decimal), (.float, .integer), (.float, .unsigned),
            (.float, .decimal):
            return floatingPoint(value, isFloat: kind == .float)
        default:
            guard kind.integerRange != nil else { throw wrongType() }
            return try integer(value, kind, wrongType)
        }
    }

    private static func normalized(_ value: Value) -> Value {
        if case .date(let date) = value {
            return .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.normalized))
        }
        return value
    }

    /// Returns the position of an integer or decimal number among floating-point numbers.
    private static func floatingPoint(_ value: Value, isFloat: Bool) -> Place {
        let nearest: Double =
            switch value {
            case .integer(let number): Double(number)
            case .unsigned(let number): Double(number)
            case .decimal(let number): number.nearestDouble
            default: .nan
            }
        let candidate = isFloat ? Double(Float(nearest)) : nearest
        let order = NumericOrder.order(.double(candidate), value)
        if order == 0 { return .at(.double(candidate.normalized)) }
        if order < 0 { return .above(.double(candidate.normalized)) }
        let below = isFloat ? Double(Float(candidate).nextDown) : candidate.nextDown
        return .above(.double(below.normalized))
    }

    /// Returns the position of a number among the integers of a width.
    private static func integer(_ value: Value, _ kind: ValueKind, _ wrongType: () -> StorageError) throws -> Place {
        let range = kind.integerRange ?? 0...0
        let least = Value.integer(range.lowerBound)
        let greatest = kind == .uint64 ? Value.unsigned(.max) : .integer(range.upperBound)
        switch value {
        case .integer, .unsigned, .double, .decimal: break
        default: throw wrongType()
        }
        if Value.order(value, least) < 0 { return .belowAll }
        if Value.order(value, greatest) > 0 { return .aboveAll }
        switch value {
        case .double(let number):
            let whole = number.rounded(.down)
            let below = Int64(exactly: whole).map(Value.integer) ?? .unsigned(UInt64(exactly: whole) ?? .max)
            return whole == number ? .at(below) : .above(below)
        case .decimal(let number):
            var (source, whole) = (number, Decimal())
            NSDecimalRound(&whole, &source, 0, .down)
            if whole > number { whole -= 1 }
            let text = whole.storedText
            let below = Int64(text).map(Value.integer) ?? .unsigned(UInt64(text) ?? .max)
            return whole == number ? .at(below) : .above(below)
        case .unsigned(let number): return .at(Int64(exactly: number).map(Value.integer) ?? value)
        default: return .at(value)
        }
    }
}
