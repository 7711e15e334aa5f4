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

/// An embedded value: its JSON is looked up in a list, so that nothing here depends on how it is encoded.
protocol EmbeddedCell: Cell, Equatable {
    static var known: [(value: Self, json: String)] { get }
}

extension EmbeddedCell {
    var cell: Value { .string(Self.known.first { $0.value == self }?.json ?? "unknown: \(self)") }

    static func from(_ cell: Value) -> Self? {
        guard case .string(let json) = cell else { return nil }
        return known.first { $0.json == json }?.value
    }
}

extension [String]: EmbeddedCell, Cell {
    static var known: [(value: [String], json: String)] {
        [([], "[]"), (["a"], #"["a"]"#), (["b", ""], #"["b",""]"#), (["/\"é"], #"["/\"é"]"#)]
    }
}
extension RandomProof.Shape: EmbeddedCell {
    static var known: [(value: RandomProof.Shape, json: String)] {
        [
            (RandomProof.Shape(name: "", sides: nil), #"{"name":""}"#),
            (RandomProof.Shape(name: "box", sides: 4), #"{"name":"box","sides":4}"#),
        ]
    }
}
extension RandomProof.Mood: Cell {
    var cell: Value { .string(rawValue) }
    static func from(_ cell: Value) -> Self? { if case .string(let text) = cell { Self(rawValue: text) } else { nil } }
}
