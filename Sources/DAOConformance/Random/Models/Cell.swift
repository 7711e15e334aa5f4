import DAOCore
import Foundation

/// A value of a field that can be had as a raw `Value` and made of one, every bit kept.
protocol Cell: Sendable {
    var cell: Value { get }
    static func from(_ cell: Value) -> Self?
}

protocol IntegerCell: Cell, FixedWidthInteger {}

extension IntegerCell {
    var cell: Value { Int64(exactly: self).map(Value.integer) ?? .unsigned(UInt64(truncatingIfNeeded: self)) }

    static func from(_ cell: Value) -> Self? {
        switch cell {
        case .integer(let number): Self(exactly: number)
        case .unsigned(let number): Self(exactly: number)
        default: nil
        }
    }
}
extension Int: IntegerCell {}
extension Int8: IntegerCell {}
extension Int16: IntegerCell {}
extension Int32: IntegerCell {}
extension Int64: IntegerCell {}
extension UInt: IntegerCell {}
extension UInt8: IntegerCell {}
extension UInt16: IntegerCell {}
extension UInt32: IntegerCell {}
extension UInt64: IntegerCell {}

extension Bool: Cell {
    var cell: Value { .bool(self) }
    static func from(_ cell: Value) -> Bool? { if case .bool(let value) = cell { value } else { nil } }
}
extension Double: Cell {
    var cell: Value { .double(self) }
    static func from(_ cell: Value) -> Double? { if case .double(let value) = cell { value } else { nil } }
}
extension Float: Cell {
    var cell: Value { .double(Double(self)) }
    static func from(_ cell: Value) -> Float? { if case .double(let value) = cell { Float(value) } else { nil } }
}
extension Decimal: Cell {
    var cell: Value { .decimal(self) }
    static func from(_ cell: Value) -> Decimal? { if case .decimal(let value) = cell { value } else { nil } }
}
extension String: Cell {
    var cell: Value { .string(self) }
    static func from(_ cell: Value) -> String? { if case .string(let value) = cell { value } else { nil } }
}
extension Data: Cell {
    var cell: Value { .data(self) }
    static func from(_ cell: Value) -> Data? { if case .data(let value) = cell { value } else { nil } }
}
extension UUID: Cell {
    var cell: Value { .uuid(self) }
    static func from(_ cell: Value) -> UUID? { if case .uuid(let value) = cell { value } else { nil } }
}
extension URL: Cell {
    var cell: Value { .string(absoluteString) }
    static func from(_ cell: Value) -> URL? { if case .string(let text) = cell { URL(string: text) } else { nil } }
}
extension Date: Cell {
    var cell: Value { .date(self) }
    static func from(_ cell: Value) -> Date? { if case .date(let value) = cell { value } else { nil } }
}

extension Optional: Cell where Wrapped: Cell {
    var cell: Value { self?.cell ?? .null }
    static func from(_ cell: Value) -> Self? { cell.isNull ? .some(.none) : Wrapped.from(cell).map(Optional.some) }
}

/// One of the few values that a field can hold.
struct Choice: Sendable {
    let value: Value
    /// It in Swift.
    let source: String

    /// The values of a type; nil when they are too many.
    static func all(of type: Any.Type) -> [Choice]? { (type as? any ChosenCell.Type)?.choices }

    /// The name of a type that wraps a scalar.
    static func wrapper(of type: Any.Type) -> String? {
        type == RandomProof.Ticket.self || type == RandomProof.Ticket?.self ? "RandomProof.Ticket" : nil
    }
}

/// A type of few values.
protocol ChosenCell: Cell {
    static var choices: [Choice] { get }
}

extension Optional: ChosenCell where Wrapped: ChosenCell {
    static var choices: [Choice] { Wrapped.choices }
}

/// An embedded value: its JSON is looked up in a list, so that nothing here depends on how it is encoded.
protocol EmbeddedCell: ChosenCell, Equatable {
    static var known: [(value: Self, json: String, source: String)] { get }
}

extension EmbeddedCell {
    var cell: Value { .string(Self.known.first { $0.value == self }?.json ?? "unknown: \(self)") }

    static func from(_ cell: Value) -> Self? {
        guard case .string(let json) = cell else { return nil }
        return known.first { $0.json == json }?.value
    }

    static var choices: [Choice] { known.map { Choice(value: .string($0.json), source: $0.source) } }
}

/// An element of an embedded array.
protocol CellElement: Sendable, Equatable, Storable {
    static var knownArrays: [(value: [Self], json: String, source: String)] { get }
}

extension Array: EmbeddedCell, ChosenCell, Cell where Element: CellElement {
    static var known: [(value: [Element], json: String, source: String)] { Element.knownArrays }
}
extension String: CellElement {
    static var knownArrays: [(value: [String], json: String, source: String)] {
        [
            ([], "[]", "[]"), (["a"], #"["a"]"#, #"["a"]"#), (["b", ""], #"["b",""]"#, #"["b", ""]"#),
            (["/\"é"], #"["/\"é"]"#, #"["/\"\u{e9}"]"#),
        ]
    }
}
extension Double: CellElement {
    static var knownArrays: [(value: [Double], json: String, source: String)] {
        [
            ([], "[]", "[]"), ([0, -1.5], "[0,-1.5]", "[0, -1.5]"),
            ([.infinity, -.infinity], #"["Infinity","-Infinity"]"#, "[Double.infinity, -Double.infinity]"),
        ]
    }
}
extension Optional: CellElement where Wrapped: OptionalCellElement {
    static var knownArrays: [(value: [Wrapped?], json: String, source: String)] { Wrapped.knownOptionalArrays }
}

/// An element of an embedded array that may have nils in it.
protocol OptionalCellElement: Sendable, Equatable, Storable {
    static var knownOptionalArrays: [(value: [Self?], json: String, source: String)] { get }
}

extension String: OptionalCellElement {
    static var knownOptionalArrays: [(value: [String?], json: String, source: String)] {
        [
            ([], "[]", "[]"), ([nil], "[null]", "[nil]"), ([nil, "a"], #"[null,"a"]"#, #"[nil, "a"]"#),
            (["null", nil, "", nil], #"["null",null,"",null]"#, #"["null", nil, "", nil]"#),
        ]
    }
}
extension Int: OptionalCellElement {
    static var knownOptionalArrays: [(value: [Int?], json: String, source: String)] {
        [
            ([], "[]", "[]"), ([nil, nil], "[null,null]", "[nil, nil]"), ([1, nil, -2], "[1,null,-2]", "[1, nil, -2]"),
            ([.max], "[9223372036854775807]", "[9223372036854775807]"),
        ]
    }
}
extension RandomProof.Shape: EmbeddedCell {
    static var known: [(value: RandomProof.Shape, json: String, source: String)] {
        [
            (RandomProof.Shape(name: "", sides: nil), #"{"name":""}"#, #"RandomProof.Shape(name: "", sides: nil)"#),
            (
                RandomProof.Shape(name: "box", sides: 4), #"{"name":"box","sides":4}"#,
                #"RandomProof.Shape(name: "box", sides: 4)"#
            ),
        ]
    }
}

extension RandomProof.Mood: ChosenCell {
    var cell: Value { .string(rawValue) }
    static func from(_ cell: Value) -> Self? { if case .string(let text) = cell { Self(rawValue: text) } else { nil } }
    static var choices: [Choice] { allCases.map { Choice(value: $0.cell, source: "RandomProof.Mood.\($0)") } }
}
extension RandomProof.Level: ChosenCell {
    var cell: Value { rawValue.cell }
    static func from(_ cell: Value) -> Self? { UInt8.from(cell).flatMap { Self(rawValue: $0) } }
    static var choices: [Choice] { allCases.map { Choice(value: $0.cell, source: "RandomProof.Level.\($0)") } }
}
extension RandomProof.Ticket: Cell {
    var cell: Value { rawValue.cell }
    static func from(_ cell: Value) -> Self? { Int.from(cell).map { Self(rawValue: $0) } }
}
