import DAOCore
import Foundation

extension PropertyTesting {
    /// The Swift types that a field of a generated model can have, by their source.
    public enum GeneratedType: String, Sendable, Hashable, CaseIterable {
        /// `Bool`.
        case bool = "Bool"
        /// `Int`.
        case int = "Int"
        /// `Int8`.
        case int8 = "Int8"
        /// `Int16`.
        case int16 = "Int16"
        /// `Int32`.
        case int32 = "Int32"
        /// `Int64`.
        case int64 = "Int64"
        /// `UInt`.
        case uint = "UInt"
        /// `UInt8`.
        case uint8 = "UInt8"
        /// `UInt16`.
        case uint16 = "UInt16"
        /// `UInt32`.
        case uint32 = "UInt32"
        /// `UInt64`.
        case uint64 = "UInt64"
        /// `Float`.
        case float = "Float"
        /// `Double`.
        case double = "Double"
        /// `Decimal`.
        case decimal = "Decimal"
        /// `String`.
        case string = "String"
        /// `Data`.
        case data = "Data"
        /// `UUID`.
        case uuid = "UUID"
        /// `URL`.
        case url = "URL"
        /// `Date`.
        case date = "Date"
        /// `Duration`.
        case duration = "Duration"
        /// An enumeration of texts.
        case mood = "PropertyTesting.Mood"
        /// An enumeration of numbers.
        case level = "PropertyTesting.Level"
        /// A number with a separate type.
        case ticket = "PropertyTesting.Ticket"
        /// A `Codable` value.
        case shape = "PropertyTesting.Shape"
        /// An array of texts.
        case strings = "[String]"
        /// An array of texts and nils.
        case optionalStrings = "[String?]"
        /// An array of numbers and nils.
        case optionalInts = "[Int?]"
        /// An array of floating-point numbers.
        case doubles = "[Double]"
    }
}

extension PropertyTesting.GeneratedType {
    /// The type itself.
    var type: any GeneratedValue.Type {
        switch self {
        case .bool: Bool.self
        case .int: Int.self
        case .int8: Int8.self
        case .int16: Int16.self
        case .int32: Int32.self
        case .int64: Int64.self
        case .uint: UInt.self
        case .uint8: UInt8.self
        case .uint16: UInt16.self
        case .uint32: UInt32.self
        case .uint64: UInt64.self
        case .float: Float.self
        case .double: Double.self
        case .decimal: Decimal.self
        case .string: String.self
        case .data: Data.self
        case .uuid: UUID.self
        case .url: URL.self
        case .date: Date.self
        case .duration: Duration.self
        case .mood: PropertyTesting.Mood.self
        case .level: PropertyTesting.Level.self
        case .ticket: PropertyTesting.Ticket.self
        case .shape: PropertyTesting.Shape.self
        case .strings: [String].self
        case .optionalStrings: [String?].self
        case .optionalInts: [Int?].self
        case .doubles: [Double].self
        }
    }

    /// The case for a type, optional or not; nil for a type that generated fields do not have.
    init?(_ stored: any ExactlyStored.Type) {
        func optional<Stored: GeneratedValue>(_ type: Stored.Type) -> any ExactlyStored.Type { Stored?.self }
        guard let type = Self.allCases.first(where: { $0.type == stored || optional($0.type) == stored }) else { return nil }
        self = type
    }

    /// What is stored.
    var kind: ValueKind { type.fieldType.kind }

    /// The type of the elements of an array of scalars; nil for other types.
    var elements: FieldType? { type.elementType }

    /// The types that can be a key.
    static let keys: [Self] = allCases.filter { $0.type is any PrimaryKeyValue.Type }

    /// The value that a required field has in scripts where nothing is said of it.
    var empty: Value {
        if let choice = (type as? any EnumeratedFieldValue.Type)?.choices.first { return choice.value }
        switch kind {
        case .bool: return .bool(false)
        case .float, .double: return .double(0)
        case .decimal: return .decimal(0)
        case .string, .embedded: return .string("")
        case .url: return .string("a")
        case .data: return .data(Data())
        case .uuid: return .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: 0))
        default: return .integer(0)
        }
    }
}

/// What a field of a generated model can hold.
typealias GeneratedValue = ExactlyStored & FieldValue
