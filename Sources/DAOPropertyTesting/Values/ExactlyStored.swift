import DAOCore
import Foundation

/// A value of a field that can be had as a raw `Value` and made from one, every bit kept.
protocol ExactlyStored: Sendable {
    var exactValue: Value { get }
    static func from(_ stored: Value) -> Self?
}

protocol ExactlyStoredInteger: ExactlyStored, FixedWidthInteger {}

extension ExactlyStoredInteger {
    var exactValue: Value { Int64(exactly: self).map(Value.integer) ?? .unsigned(UInt64(truncatingIfNeeded: self)) }

    static func from(_ stored: Value) -> Self? {
        switch stored {
        case .integer(let number): Self(exactly: number)
        case .unsigned(let number): Self(exactly: number)
        default: nil
        }
    }
}
extension Int: ExactlyStoredInteger {}
extension Int8: ExactlyStoredInteger {}
extension Int16: ExactlyStoredInteger {}
extension Int32: ExactlyStoredInteger {}
extension Int64: ExactlyStoredInteger {}
extension UInt: ExactlyStoredInteger {}
extension UInt8: ExactlyStoredInteger {}
extension UInt16: ExactlyStoredInteger {}
extension UInt32: ExactlyStoredInteger {}
extension UInt64: ExactlyStoredInteger {}

extension Bool: ExactlyStored {
    var exactValue: Value { .bool(self) }
    static func from(_ stored: Value) -> Bool? { if case .bool(let value) = stored { value } else { nil } }
}
extension Double: ExactlyStored {
    var exactValue: Value { .double(self) }
    static func from(_ stored: Value) -> Double? { if case .double(let value) = stored { value } else { nil } }
}
extension Float: ExactlyStored {
    var exactValue: Value { .double(Double(self)) }
    static func from(_ stored: Value) -> Float? { if case .double(let value) = stored { Float(value) } else { nil } }
}
extension Decimal: ExactlyStored {
    var exactValue: Value { .decimal(self) }
    static func from(_ stored: Value) -> Decimal? { if case .decimal(let value) = stored { value } else { nil } }
}
extension String: ExactlyStored {
    var exactValue: Value { .string(self) }
    static func from(_ stored: Value) -> String? { if case .string(let value) = stored { value } else { nil } }
}
extension Data: ExactlyStored {
    var exactValue: Value { .data(self) }
    static func from(_ stored: Value) -> Data? { if case .data(let value) = stored { value } else { nil } }
}
extension UUID: ExactlyStored {
    var exactValue: Value { .uuid(self) }
    static func from(_ stored: Value) -> UUID? { if case .uuid(let value) = stored { value } else { nil } }
}
extension URL: ExactlyStored {
    var exactValue: Value { .string(absoluteString) }
    static func from(_ stored: Value) -> URL? { if case .string(let text) = stored { URL(string: text) } else { nil } }
}
extension Date: ExactlyStored {
    var exactValue: Value { .date(self) }
    static func from(_ stored: Value) -> Date? { if case .date(let value) = stored { value } else { nil } }
}

extension Optional: ExactlyStored where Wrapped: ExactlyStored {
    var exactValue: Value { self?.exactValue ?? .null }
    static func from(_ stored: Value) -> Self? { stored.isNull ? .some(.none) : Wrapped.from(stored).map(Optional.some) }
}

/// One of the few values that a field can hold.
struct KnownValue: Sendable {
    let value: Value
    /// It in Swift.
    let source: String

    /// The values of a type; nil when they are too many.
    static func all(of type: Any.Type) -> [KnownValue]? { (type as? any EnumeratedFieldValue.Type)?.choices }
}

/// A type of few values.
protocol EnumeratedFieldValue: ExactlyStored {
    static var choices: [KnownValue] { get }
}

extension Optional: EnumeratedFieldValue where Wrapped: EnumeratedFieldValue {
    static var choices: [KnownValue] { Wrapped.choices }
}

/// An embedded value: its JSON is looked up in a list, so that nothing here depends on how it is encoded.
protocol EmbeddedFieldValue: EnumeratedFieldValue, Equatable {
    static var known: [(value: Self, json: String, source: String)] { get }
}

extension EmbeddedFieldValue {
    var exactValue: Value { .string(Self.known.first { $0.value == self }?.json ?? "unknown: \(self)") }

    static func from(_ stored: Value) -> Self? {
        guard case .string(let json) = stored else { return nil }
        return known.first { $0.json == json }?.value
    }

    static var choices: [KnownValue] { known.map { KnownValue(value: .string($0.json), source: $0.source) } }
}

/// An element of an embedded array.
protocol ArrayElement: Sendable, Equatable, Storable {
    static var knownArrays: [(value: [Self], json: String, source: String)] { get }
}

extension Array: EmbeddedFieldValue, EnumeratedFieldValue, ExactlyStored where Element: ArrayElement {
    static var known: [(value: [Element], json: String, source: String)] { Element.knownArrays }
}
extension String: ArrayElement {
    static var knownArrays: [(value: [String], json: String, source: String)] {
        [
            ([], "[]", "[]"), (["a"], #"["a"]"#, #"["a"]"#), (["b", ""], #"["b",""]"#, #"["b", ""]"#),
            (["/\"é"], #"["/\"é"]"#, #"["/\"\u{e9}"]"#),
        ]
    }
}
extension Double: ArrayElement {
    static var knownArrays: [(value: [Double], json: String, source: String)] {
        [
            ([], "[]", "[]"), ([0, -1.5], "[0,-1.5]", "[0, -1.5]"),
            ([.infinity, -.infinity], #"["Infinity","-Infinity"]"#, "[Double.infinity, -Double.infinity]"),
        ]
    }
}
extension Optional: ArrayElement where Wrapped: OptionalArrayElement {
    static var knownArrays: [(value: [Wrapped?], json: String, source: String)] { Wrapped.knownOptionalArrays }
}

/// An element of an embedded array that may have nils in it.
protocol OptionalArrayElement: Sendable, Equatable, Storable {
    static var knownOptionalArrays: [(value: [Self?], json: String, source: String)] { get }
}

extension String: OptionalArrayElement {
    static var knownOptionalArrays: [(value: [String?], json: String, source: String)] {
        [
            ([], "[]", "[]"), ([nil], "[null]", "[nil]"), ([nil, "a"], #"[null,"a"]"#, #"[nil, "a"]"#),
            (["null", nil, "", nil], #"["null",null,"",null]"#, #"["null", nil, "", nil]"#),
        ]
    }
}
extension Int: OptionalArrayElement {
    static var knownOptionalArrays: [(value: [Int?], json: String, source: String)] {
        [
            ([], "[]", "[]"), ([nil, nil], "[null,null]", "[nil, nil]"), ([1, nil, -2], "[1,null,-2]", "[1, nil, -2]"),
            ([.max], "[9223372036854775807]", "[9223372036854775807]"),
        ]
    }
}
extension PropertyTesting.Shape: EmbeddedFieldValue {
    static var known: [(value: PropertyTesting.Shape, json: String, source: String)] {
        [
            (PropertyTesting.Shape(name: "", sides: nil), #"{"name":""}"#, #"PropertyTesting.Shape(name: "", sides: nil)"#),
            (
                PropertyTesting.Shape(name: "box", sides: 4), #"{"name":"box","sides":4}"#,
                #"PropertyTesting.Shape(name: "box", sides: 4)"#
            ),
        ]
    }
}

extension Duration: EnumeratedFieldValue {
    var exactValue: Value {
        let attoseconds = Decimal(_high) * Decimal(1 << 32) * Decimal(1 << 32) + Decimal(_low)
        return .decimal(Decimal(sign: .plus, exponent: -18, significand: attoseconds))
    }
    static func from(_ stored: Value) -> Duration? {
        guard case .decimal(let seconds) = stored, let attoseconds = Decimal(string: "\(seconds)e18"),
            !attoseconds.description.contains(".")
        else { return nil }
        // Not by arithmetic of durations, which overflows near their limits.
        let word = Decimal(UInt64.max) + 1
        var (quotient, whole) = (attoseconds / word, Decimal())
        NSDecimalRound(&whole, &quotient, 0, .down)
        var rest = attoseconds - whole * word
        // A quotient is rounded to the digits of a decimal number.
        if rest < 0 { (whole, rest) = (whole - 1, rest + word) }
        if rest >= word { (whole, rest) = (whole + 1, rest - word) }
        guard let high = Int64("\(whole)"), let low = UInt64("\(rest)") else { return nil }
        return Duration(_high: high, low: low)
    }
    /// A few of all durations; the decimal numbers of scripts are not all durations.
    static var choices: [KnownValue] {
        [
            ("0", "Duration.zero"), ("1.5", "Duration.milliseconds(1500)"), ("-90", "Duration.seconds(-90)"),
            ("-0.000000000000000001", "Duration(secondsComponent: 0, attosecondsComponent: -1)"),
            ("-170141183460469231731.687303715884105728", "Duration(_high: .min, low: 0)"),
            ("170141183460469231731.687303715884105727", "Duration(_high: .max, low: .max)"),
        ].map { KnownValue(value: .decimal(Decimal(string: $0) ?? 0), source: $1) }
    }
}

extension PropertyTesting.Mood: EnumeratedFieldValue {
    var exactValue: Value { .string(rawValue) }
    static func from(_ stored: Value) -> Self? { if case .string(let text) = stored { Self(rawValue: text) } else { nil } }
    static var choices: [KnownValue] { allCases.map { KnownValue(value: $0.exactValue, source: "PropertyTesting.Mood.\($0)") } }
}
extension PropertyTesting.Level: EnumeratedFieldValue {
    var exactValue: Value { rawValue.exactValue }
    static func from(_ stored: Value) -> Self? { UInt8.from(stored).flatMap { Self(rawValue: $0) } }
    static var choices: [KnownValue] { allCases.map { KnownValue(value: $0.exactValue, source: "PropertyTesting.Level.\($0)") } }
}
extension PropertyTesting.Ticket: ExactlyStored {
    var exactValue: Value { rawValue.exactValue }
    static func from(_ stored: Value) -> Self? { Int.from(stored).map { Self(rawValue: $0) } }
}
