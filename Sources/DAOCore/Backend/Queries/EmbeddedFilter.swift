/// A part of an embedded value that a condition is about.
public enum EmbeddedPart: Sendable, Hashable {
    /// Any element of an array, in the type of the elements: the condition must hold for at least one element.
    case anyElement(FieldType)
    /// The number of elements of an array; nil when the array is nil.
    case count
}

/// A condition on a part of an embedded value (contract P8).
///
/// It needs nothing but the stored text, so a storage can leave it to ``matches(_:)``.
public final class EmbeddedFilter: Sendable, Hashable {
    // An object, because a filter of many levels is walked recursively: every level has room for the largest case.

    /// The position of the field with the embedded value.
    public let field: Int
    /// The part.
    public let part: EmbeddedPart
    /// The condition on the part, which is its field zero.
    public let condition: Filter

    private init(field: Int, part: EmbeddedPart, condition: Filter) {
        self.field = field
        self.part = part
        self.condition = condition
    }

    /// Returns the filter of a condition on a part of an embedded value.
    static func filter(
        _ field: Int, _ part: EmbeddedPart, _ condition: PredicateNode, of description: FieldDescription, isNegated: Bool,
        entity: String
    ) throws -> Filter {
        guard description.type.kind == .embedded else {
            throw PredicateProblem(
                "'\(description.name)' is \(description.type), which has neither elements nor members", field: description.name
            ).error(entity: entity)
        }
        let inner = try condition.filter(for: part.entity(named: description.name, in: description, entity))
        if case .none = inner { return isNegated ? .all : .none }
        return .embedded(EmbeddedFilter(field: field, part: part, condition: inner), isNegated: isNegated)
    }

    /// Returns whether the stored value of the field meets the condition. Text that is not the JSON of an array has no
    /// elements and no number of them: reading the row reports it.
    public func matches(_ stored: Value) -> Bool {
        let elements = if case .string(let json) = stored { try? EmbeddedElements(json: json) } else { nil as EmbeddedElements? }
        switch part {
        case .anyElement(let type):
            guard let elements else { return false }
            return (0..<elements.count).contains { index in condition.matches { _ in elements.value(at: index, type.kind) } }
        case .count:
            let count = elements.map { Value.integer(Int64($0.count)) } ?? .null
            return condition.matches { _ in count }
        }
    }

    /// Returns whether both are the same condition on the same part.
    public static func == (left: EmbeddedFilter, right: EmbeddedFilter) -> Bool {
        left.field == right.field && left.part == right.part && left.condition == right.condition
    }

    /// Hashes the part and the condition.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(field)
        hasher.combine(part)
        hasher.combine(condition)
    }
}

extension EmbeddedPart {
    /// Returns the type of the part in a field.
    package func type(in field: FieldDescription) -> FieldType {
        switch self {
        case .anyElement(let type): type
        case .count: FieldType(.int64, isOptional: field.type.isOptional)
        }
    }

    /// Returns the entity that a condition on the part is about: the part is its only field.
    func entity(named name: String, in field: FieldDescription, _ entity: String) -> EntityDescription {
        EntityDescription(name: entity, fields: [FieldDescription(name: name, type: type(in: field))])
    }
}
