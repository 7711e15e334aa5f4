/// A part of an embedded value that a condition is about.
public enum EmbeddedPart: Sendable, Hashable {
    /// Any element of an array, in the type of the elements: the condition must hold for at least one element.
    case anyElement(FieldType)
    /// The number of elements of an array; nil when the array is nil.
    case count
    /// A member of a `Codable` value; nil when the value is nil, or does not have the member.
    case member(EmbeddedMember)
}

/// A condition on a part of an embedded value (contract P8, P9).
///
/// It needs nothing but the stored text, so a storage can leave it to ``matches(_:)``.
public final class EmbeddedFilter: Sendable, Hashable {
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
        let inner = try condition.filter(for: part.entity(named: part.name(in: description), in: description, entity))
        if case .none = inner { return isNegated ? .all : .none }
        return .embedded(EmbeddedFilter(field: field, part: part, condition: inner), isNegated: isNegated)
    }

    /// Returns whether the stored value of the field meets the condition. Text that is not the JSON of an array, or of a
    /// value with members, counts as nil: reading the row reports it.
    public func matches(_ stored: Value) -> Bool {
        let json = if case .string(let text) = stored { text } else { nil as String? }
        var value = Value.null
        switch part {
        case .anyElement(let type):
            guard let elements = json.flatMap({ try? EmbeddedElements(json: $0) }) else { return false }
            return (0..<elements.count).contains { index in condition.matches { _ in elements.value(at: index, type.kind) } }
        case .count:
            if let elements = json.flatMap({ try? EmbeddedElements(json: $0) }) { value = .integer(Int64(elements.count)) }
        case .member(let member):
            if let json { value = member.value(in: json) }
        }
        return condition.matches { _ in value }
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
    /// Returns the elements of an array as values of a kind, which are null where an element is nil or no value of the kind;
    /// nil when the text is not the JSON of an array of scalars.
    ///
    /// - Parameters:
    ///   - json: The stored text.
    ///   - kind: The kind of the elements.
    package static func elements(of json: String, _ kind: ValueKind) -> [Value]? {
        guard let elements = try? EmbeddedElements(json: json) else { return nil }
        return (0..<elements.count).map { elements.value(at: $0, kind) }
    }

    /// Returns the type of the part in a field.
    package func type(in field: FieldDescription) -> FieldType {
        switch self {
        case .anyElement(let type): type
        case .count: FieldType(.int64, isOptional: field.type.isOptional)
        case .member(let member): member.type
        }
    }

    /// Returns the name of the part, for messages.
    fileprivate func name(in field: FieldDescription) -> String {
        if case .member(let member) = self { "\(field.name).\(member.name)" } else { field.name }
    }

    /// Returns the entity that a condition on the part is about: the part is its only field.
    func entity(named name: String, in field: FieldDescription, _ entity: String) -> EntityDescription {
        EntityDescription(name: entity, fields: [FieldDescription(name: name, type: type(in: field))])
    }
}
