import DAOCore
import Foundation

/// Conditions in two-valued logic, straight from the tree (P1 to P4).
enum ReferencePredicate {

    static func holds(_ node: PredicateNode, _ row: Row) -> Bool {
        switch node {
        case .constant(let value): value
        case .and(let nodes): nodes.allSatisfy { holds($0, row) }
        case .or(let nodes): nodes.contains { holds($0, row) }
        case .not(let node): !holds(node, row)
        case .compare(let field, let comparison, let value): compare(row[field], comparison, value)
        case .compareFields(let left, let comparison, let right): compare(row[left], comparison, row[right])
        case .isIn(let field, let values): values.contains { compare(row[field], .equal, $0) }
        case .text(let field, let match, let pattern, let options):
            if case .string(let text) = row[field] { ReferenceText.matches(text, match, pattern, options) } else { false }
        case .embedded(let field, let part, let node): holds(node, on: part, of: row[field])
        case .related, .relatedCount, .compareRelated, .through, .invalid: false
        }
    }

    /// A condition on a part of an embedded value (P8).
    private static func holds(_ node: PredicateNode, on part: EmbeddedPart, of stored: Value) -> Bool {
        var content: Any?
        if case .string(let json) = stored { content = try? JSONSerialization.jsonObject(with: Data(json.utf8)) }
        let elements = content as? [Any]
        switch part {
        case .anyElement(let type):
            return elements?.contains { holds(node, [element($0, type.kind)]) } ?? false
        case .count: return holds(node, [elements.map { .integer(Int64($0.count)) } ?? .null])
        case .member(let member):
            return holds(node, [(content as? [String: Any])?[member.name].map { element($0, member.type.kind) } ?? .null])
        }
    }

    /// An element of the kinds that arrays of scripts have.
    private static func element(_ json: Any, _ kind: ValueKind) -> Value {
        if json is NSNull { return .null }
        switch kind {
        case .double:
            switch json as? String {
            case "Infinity": return .double(.infinity)
            case "-Infinity": return .double(-.infinity)
            default: return .double((json as? NSNumber)?.doubleValue ?? .nan)
            }
        case .int64: return .integer((json as? NSNumber)?.int64Value ?? 0)
        default: return .string(json as? String ?? "")
        }
    }

    private static func compare(_ left: Value, _ comparison: Comparison, _ right: Value) -> Bool {
        if left.isNull || right.isNull {
            return switch comparison {
            case .equal: left.isNull && right.isNull
            case .notEqual: left.isNull != right.isNull
            default: false
            }
        }
        let order = ReferenceOrder.compare(left, right)
        return switch comparison {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }

    /// Whether the tree makes sense for an entity: its fields are there, its literals and operators are those
    /// of their fields' types.
    static func isSound(_ node: PredicateNode, _ fields: [FieldDescription]) -> Bool {
        switch node {
        case .constant: true
        case .and(let nodes), .or(let nodes): nodes.allSatisfy { isSound($0, fields) }
        case .not(let node): isSound(node, fields)
        case .compare(let field, let comparison, let value):
            fields.indices.contains(field) && fits(value, fields[field].type.kind) && hasOrder(comparison, fields[field])
        case .compareFields(let left, let comparison, let right):
            fields.indices.contains(left) && fields.indices.contains(right) && isComparable(fields[left], fields[right])
                && hasOrder(comparison, fields[left])
        case .isIn(let field, let values):
            fields.indices.contains(field) && values.allSatisfy { fits($0, fields[field].type.kind) }
        case .text(let field, _, _, _): fields.indices.contains(field) && fields[field].type.kind.isText
        case .embedded(let field, let part, let node):
            fields.indices.contains(field) && fields[field].type.kind == .embedded
                && isSound(node, [FieldDescription(name: "", type: part.type(in: fields[field]))])
        case .related, .relatedCount, .compareRelated, .through, .invalid: false
        }
    }

    private static func hasOrder(_ comparison: Comparison, _ field: FieldDescription) -> Bool {
        comparison == .equal || comparison == .notEqual || field.type.kind != .embedded
    }

    private static func isComparable(_ left: FieldDescription, _ right: FieldDescription) -> Bool {
        let (left, right) = (left.type.kind, right.type.kind)
        return left == right || (left.isNumeric && right.isNumeric) || (left.isText && right.isText)
    }

    private static func fits(_ value: Value, _ kind: ValueKind) -> Bool {
        switch value {
        case .null: true
        case .bool: kind == .bool
        case .integer(let number): kind.isNumeric || (kind == .bool && (0...1).contains(number))
        case .unsigned, .double, .decimal: kind.isNumeric
        case .string(let text): kind.isText || kind == .embedded || (kind == .uuid && UUID(uuidString: text) != nil)
        case .data: kind == .data
        case .uuid: kind == .uuid
        case .date: kind == .date
        }
    }
}
