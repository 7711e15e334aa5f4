import Foundation

/// The portable form of a primary key: what a ``Plain`` identifies itself with, whatever the type of the stored key.
///
/// Two unique ids are equal when their ``rawValue``s are the same bytes, so `UniqueID(value: 5)` equals
/// `UniqueID(rawValue: "5")`, while "é" composed and decomposed are two ids.
///
/// ```swift
/// let byNumber = UniqueID(42)
/// let byText = UniqueID("article-42")
/// let byUUID = UniqueID(UUID())
/// ```
public struct UniqueID: Sendable, RawRepresentable {

    /// The id in the form it was given, or in the canonical form that equals it.
    @usableFromInline enum Form: Sendable {
        case signed(Int64)
        /// Only values beyond `Int64.max`.
        case unsigned(UInt64)
        case uuid(UUID)
        /// Anything that is not the canonical text of one of the above.
        case text(String)
    }

    @usableFromInline let form: Form

    /// The id as text: integers in decimal, UUIDs in upper case with dashes, strings as they are.
    public var rawValue: String {
        switch form {
        case .signed(let value): String(value)
        case .unsigned(let value): String(value)
        case .uuid(let value): value.uuidString
        case .text(let value): value
        }
    }

    /// Creates an id from its text.
    ///
    /// - Parameter rawValue: Any text, the empty one included.
    public init(rawValue: String) {
        form = Self.canonicalForm(of: rawValue)
    }

    /// Creates an id from its text.
    ///
    /// - Parameter text: Any text, the empty one included.
    public init(_ text: String) { self.init(rawValue: text) }

    /// Creates an id from any integer type of the standard library, up to 64 bits wide.
    ///
    /// - Parameter value: The integer. One wider than 64 bits is kept as its decimal text.
    @inlinable public init<Integer: FixedWidthInteger>(value: Integer) {
        if let signed = Int64(exactly: value) {
            form = .signed(signed)
        } else if let unsigned = UInt64(exactly: value) {
            form = .unsigned(unsigned)
        } else {
            form = .text(String(value))
        }
    }

    /// Creates an id from any integer type of the standard library.
    ///
    /// - Parameter value: The integer.
    @inlinable public init<Integer: FixedWidthInteger>(_ value: Integer) { self.init(value: value) }

    /// Creates an id from a UUID.
    ///
    /// - Parameter uuid: The UUID.
    public init(_ uuid: UUID) { form = .uuid(uuid) }

    /// The integer or UUID that a text is the canonical spelling of, else the text itself: two spellings, one id.
    private static func canonicalForm(of text: String) -> Form {
        let utf8 = text.utf8
        guard let first = utf8.first else { return .text(text) }
        if utf8.count <= 20, first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) {
            if let value = Int64(text), String(value) == text { return .signed(value) }
            if let value = UInt64(text), String(value) == text { return .unsigned(value) }
        }
        if utf8.count == 36, let value = UUID(uuidString: text), value.uuidString == text { return .uuid(value) }
        return .text(text)
    }
}

extension UniqueID: Hashable {
    /// Whether two ids have the same raw value, byte by byte.
    public static func == (left: UniqueID, right: UniqueID) -> Bool {
        switch (left.form, right.form) {
        case (.signed(let left), .signed(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        default: false
        }
    }

    /// Hashes the id consistently with `==`.
    public func hash(into hasher: inout Hasher) {
        switch form {
        case .signed(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .text(let value):
            var value = value
            value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }
}

extension UniqueID: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates an id from a string literal.
    public init(stringLiteral value: String) { self.init(rawValue: value) }
    /// Creates an id from an integer literal.
    public init(integerLiteral value: Int64) { self.init(value: value) }
    /// The raw value.
    public var description: String { rawValue }
}

extension UniqueID: Codable {
    /// Decodes the id from its text.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the id as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
