import DAOCore
import DAOTestSupport

extension SeededGenerator {
    /// A value that a field can hold.
    ///
    /// - Parameter choices: The only values; nil when they are too many.
    mutating func value(of field: FieldDescription, choices: [KnownValue]?) -> Value {
        if field.type.isOptional, chance(30) { return .null }
        return choices.map { pick($0).value } ?? value(of: field.type.kind, isUnique: field.isUnique)
    }
}
