import DAOCore

// The types of fields that are neither of the defaultValue library nor of Foundation.

extension PropertyTesting {
    /// An enumeration of texts.
    public enum Mood: String, OrderedFieldValue, CaseIterable {
        /// A text.
        case calm
        /// The empty text.
        case none = ""
    }

    /// An enumeration of numbers.
    public enum Level: UInt8, OrderedFieldValue, CaseIterable {
        /// A small number.
        case low = 1
        /// A number beyond the signed range.
        case high = 200
    }

    /// A number with a separate type, which is common for keys.
    public struct Ticket: RawRepresentable, PrimaryKeyValue, OrderedFieldValue {
        /// The number.
        public let rawValue: Int
        /// Creates a ticket.
        public init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// A `Codable` value.
    public struct Shape: CompositeFieldValue, Equatable {
        /// A text.
        var name: String
        /// A number, or nil.
        var sides: Int?
        /// Creates a value.
        public init(name: String, sides: Int?) { (self.name, self.sides) = (name, sides) }

        /// The members that conditions of scripts use.
        public static let members = [EmbeddedMember("name", \Shape.name), EmbeddedMember("sides", \Shape.sides)]
    }
}
