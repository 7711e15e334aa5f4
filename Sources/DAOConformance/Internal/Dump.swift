import DAOCore
import Foundation

/// Prints values as text that shows every bit: floating-point numbers in hex, text with its scalars. Two
/// dumps are equal only when the values are.
package enum Dump {

    /// Returns the rows of a storage, in key order.
    static func rows<Record: Model>(of storage: any Storage<Record>) throws -> [String] {
        try storage.read(Query<Record>()).map { text(of: $0) }
    }

    /// Returns the text of one value.
    package static func text(of value: Any) -> String {
        switch value {
        case let number as Double: hex(number)
        case let number as Float: "f" + String(number.bitPattern, radix: 16)
        case let date as Date: "date(" + hex(date.timeIntervalSinceReferenceDate) + ")"
        case let text as String: self.text(of: text)
        case let data as Data: bytes(data)
        case let url as URL: "url(\(text(of: url.absoluteString)))"
        case let uuid as UUID: uuid.uuidString
        case let decimal as Decimal: "decimal(\(decimal))"
        case let duration as Duration: "duration(\(duration.storedSeconds))"
        case let number as any FixedWidthInteger: "\(number)"
        case let flag as Bool: "\(flag)"
        default: parts(of: value)
        }
    }

    /// Returns a string in quotes, with every scalar beyond printable ASCII as its number.
    package static func text(of string: String) -> String {
        if string.utf8.count > 2000 { return "\"…\"(\(string.utf8.count) bytes, hash \(hash(of: string.utf8)))" }
        var result = "\""
        for scalar in string.unicodeScalars {
            if scalar.isASCII, scalar.value >= 32, scalar != "\"" {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result + "\""
    }

    /// FNV-1a, which gives the same hash in every process.
    static func hash(of bytes: some Sequence<UInt8>) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }

    private static func hex(_ number: Double) -> String { "d" + String(number.bitPattern, radix: 16) }

    private static func bytes(_ data: Data) -> String {
        if data.count > 1000 { return "data(\(data.count) bytes, hash \(hash(of: data)))" }
        return "data(" + data.map { String($0, radix: 16) }.joined(separator: " ") + ")"
    }

    private static func parts(of value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        let children = mirror.children.map { child in (child.label.map { "\($0): " } ?? "") + text(of: child.value) }
        switch mirror.displayStyle {
        case .optional: return children.isEmpty ? "nil" : "some(\(children.joined(separator: ", ")))"
        case .collection, .set: return "[\(children.joined(separator: ", "))]"
        case .enum: return children.isEmpty ? "\(value)" : "\(mirror.subjectType)(\(children.joined(separator: ", ")))"
        default: return children.isEmpty ? "\(value)" : "(\(children.joined(separator: ", ")))"
        }
    }
}
