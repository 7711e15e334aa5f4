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
        case .related, .relatedCount, .through, .invalid: false
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
        case .related, .relatedCount, .through, .invalid: false
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
