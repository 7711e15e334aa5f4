import Foundation

// The stored form of every scalar of the standard library and of Foundation. All of this is inlined into the
// code that a schema generates in the application's module.

extension FieldValue where Self: FixedWidthInteger & SignedInteger & Codable {
    /// Reads an integer in the range of this type.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Self {
        let stored = try row.readInt64(at: index)
        guard let value = Self(exactly: stored) else { throw row.corruptedValue(at: index, "an integer out of range") }
        return value
    }

    /// Writes the integer.
    @inlinable public func write(to row: RowWriter, at index: Int) throws {
        try row.writeInt64(Int64(truncatingIfNeeded: self), at: index)
    }

    /// The integer as a value.
    @inlinable public var fieldValue: Value { .integer(Int64(truncatingIfNeeded: self)) }
}

extension FieldValue where Self: FixedWidthInteger & UnsignedInteger & Codable {
    /// Reads an integer in the range of this type.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Self {
        let stored = try row.readUInt64(at: index)
        guard let value = Self(exactly: stored) else { throw row.corruptedValue(at: index, "an integer out of range") }
        return value
    }

    /// Writes the integer.
    @inlinable public func write(to row: RowWriter, at index: Int) throws {
        try row.writeUInt64(UInt64(truncatingIfNeeded: self), at: index)
    }

    /// The integer as a value.
    @inlinable public var fieldValue: Value {
        if let value = Int64(exactly: self) { .integer(value) } else { .unsigned(UInt64(truncatingIfNeeded: self)) }
    }
}

extension Int: FieldValue {
    /// `int64`.
    @inlinable public static var fieldType: FieldType { FieldType(.int64) }
}
extension Int8: FieldValue {
    /// `int8`.
    @inlinable public static var fieldType: FieldType { FieldType(.int8) }
}
extension Int16: FieldValue {
    /// `int16`.
    @inlinable public static var fieldType: FieldType { FieldType(.int16) }
}
extension Int32: FieldValue {
    /// `int32`.
    @inlinable public static var fieldType: FieldType { FieldType(.int32) }
}
extension Int64: FieldValue {
    /// `int64`.
    @inlinable public static var fieldType: FieldType { FieldType(.int64) }
}
extension UInt: FieldValue {
    /// `uint64`.
    @inlinable public static var fieldType: FieldType { FieldType(.uint64) }
}
extension UInt8: FieldValue {
    /// `uint8`.
    @inlinable public static var fieldType: FieldType { FieldType(.uint8) }
}
extension UInt16: FieldValue {
    /// `uint16`.
    @inlinable public static var fieldType: FieldType { FieldType(.uint16) }
}
extension UInt32: FieldValue {
    /// `uint32`.
    @inlinable public static var fieldType: FieldType { FieldType(.uint32) }
}
extension UInt64: FieldValue {
    /// `uint64`.
    @inlinable public static var fieldType: FieldType { FieldType(.uint64) }
}

extension Bool: FieldValue {
    /// `bool`.
    @inlinable public static var fieldType: FieldType { FieldType(.bool) }
    /// Reads 0 or 1.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Bool {
        let stored = try row.readInt64(at: index)
        guard stored == 0 || stored == 1 else { throw row.corruptedValue(at: index, "an integer that is neither 0 nor 1") }
        return stored == 1
    }
    /// Writes 0 or 1.
    @inlinable public func write(to row: RowWriter, at index: Int) throws { try row.writeInt64(self ? 1 : 0, at: index) }
    /// The Boolean as a value.
    @inlinable public var fieldValue: Value { .bool(self) }
}

extension Double: FieldValue {
    /// `double`.
    @inlinable public static var fieldType: FieldType { FieldType(.double) }
    /// Reads the number.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Double { try row.readDouble(at: index) }
    /// Writes the number. `-0.0` becomes `0.0`, and every NaN becomes the same NaN.
    @inlinable public func write(to row: RowWriter, at index: Int) throws { try row.writeDouble(storedForm, at: index) }
    /// The number as a value.
    @inlinable public var fieldValue: Value { .double(storedForm) }
    @usableFromInline var storedForm: Double {
        @inlinable get { isNaN ? .nan : self + 0.0 }
    }
}

extension Float: FieldValue {
    /// `float`.
    @inlinable public static var fieldType: FieldType { FieldType(.float) }
    /// Reads a number that this type can represent.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Float {
        let stored = try row.readDouble(at: index)
        let value = Float(stored)
        guard Double(value) == stored || stored.isNaN else {
            throw row.corruptedValue(at: index, "a number with more digits than a Float has, or a greater one")
        }
        return value
    }
    /// Writes the number. `-0.0` becomes `0.0`, and every NaN becomes the same NaN.
    @inlinable public func write(to row: RowWriter, at index: Int) throws { try Double(self).write(to: row, at: index) }
    /// The number as a value.
    @inlinable public var fieldValue: Value { Double(self).fieldValue }
}

extension String: FieldValue {
    /// `string`.
    @inlinable public static var fieldType: FieldType { FieldType(.string) }
    /// Reads the text.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> String { try row.readString(at: index) }
    /// Writes the text.
    @inlinable public func write(to row: RowWriter, at index: Int) throws { try row.writeString(self, at: index) }
    /// The text as a value.
    @inlinable public var fieldValue: Value { .string(self) }
}

extension Data: FieldValue {
    /// `data`.
    @inlinable public static var fieldType: FieldType { FieldType(.data) }
    /// Reads the bytes.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Data { try row.readData(at: index) }
    /// Writes the bytes.
    @inlinable public func write(to row: RowWriter, at index: Int) throws { try row.writeData(self, at: index) }
    /// The bytes as a value.
    @inlinable public var fieldValue: Value { .data(self) }
}

extension UUID: FieldValue {
    /// `uuid`.
    @inlinable public static var fieldType: FieldType { FieldType(.uuid) }
    /// Reads the UUID.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> UUID { try row.readUUID(at: index) }
    /// Writes the UUID.
    @inlinable public func write(to row: RowWriter, at index: Int) throws { try row.writeUUID(self, at: index) }
    /// The UUID as a value.
    @inlinable public var fieldValue: Value { .uuid(self) }
}

extension Date: FieldValue {
    /// `date`.
    @inlinable public static var fieldType: FieldType { FieldType(.date) }
    /// Reads the date.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Date {
        Date(timeIntervalSinceReferenceDate: try row.readDouble(at: index))
    }
    /// Writes the date, to the last bit of its seconds since 2001.
    @inlinable public func write(to row: RowWriter, at index: Int) throws {
        try timeIntervalSinceReferenceDate.write(to: row, at: index)
    }
    /// The date as a value.
    @inlinable public var fieldValue: Value { .date(self) }
}

extension URL: FieldValue {
    /// `url`.
    @inlinable public static var fieldType: FieldType { FieldType(.url) }
    /// Reads the URL.
    public static func read(from row: RowReader, at index: Int) throws -> URL {
        let text = try row.readString(at: index)
        guard let url = URL(string: text) else { throw row.corruptedValue(at: index, "text that is not a URL") }
        return url
    }
    /// Writes the URL's absolute text. A relative URL is resolved against its base.
    public func write(to row: RowWriter, at index: Int) throws { try row.writeString(absoluteString, at: index) }
    /// The URL's absolute text as a value.
    public var fieldValue: Value { .string(absoluteString) }
}

extension Decimal: FieldValue {
    /// `decimal`.
    @inlinable public static var fieldType: FieldType { FieldType(.decimal) }
    /// Reads the number from its text.
    public static func read(from row: RowReader, at index: Int) throws -> Decimal {
        guard let value = Decimal(storedText: try row.readString(at: index)) else {
            throw row.corruptedValue(at: index, "text that is not a decimal number")
        }
        return value
    }
    /// Writes the number as text. Equal numbers have the same text.
    public func write(to row: RowWriter, at index: Int) throws { try row.writeString(storedText, at: index) }
    /// The number as a value.
    @inlinable public var fieldValue: Value { .decimal(self) }
}

extension Decimal {
    /// Parses the stored text of a number; nil when the text is not a number.
    package init?(storedText text: String) {
        if text == "NaN" {
            self = .nan
        } else {
            // Foundation's parser stops at an invalid character and returns the number before it.
            let parts = text.utf8.drop { $0 == UInt8(ascii: "-") }.split(
                separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (48...57).contains($0) } }),
                !text.hasPrefix("--"),
                let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
            else { return nil }
            self = value
        }
    }

    /// The number in decimal digits without redundant zeros. Equal numbers have equal texts.
    package var storedText: String {
        if isNaN { return "NaN" }
        // It has no locale. An `NSDecimalNumber` for each value would stay until its thread ends where objects are autoreleased.
        let text = description
        guard text.contains(".") else { return text }
        var trimmed = Substring(text)
        while trimmed.last == "0" { trimmed.removeLast() }
        if trimmed.last == "." { trimmed.removeLast() }
        return trimmed == "-0" ? "0" : String(trimmed)
    }
}

extension Duration: FieldValue {
    /// `decimal`: the seconds.
    @inlinable public static var fieldType: FieldType { FieldType(.decimal) }
    /// Reads the seconds.
    public static func read(from row: RowReader, at index: Int) throws -> Duration {
        guard let value = Duration(storedSeconds: try Decimal.read(from: row, at: index)) else {
            throw row.corruptedValue(at: index, "a number of seconds that is not a duration")
        }
        return value
    }
    /// Writes the seconds, to the last attosecond.
    public func write(to row: RowWriter, at index: Int) throws { try storedSeconds.write(to: row, at: index) }
    /// The seconds as a value.
    public var fieldValue: Value { .decimal(storedSeconds) }
}

extension Decimal {
    /// The whole number of two words, exactly: a decimal number has room for 128 bits and a sign.
    init(high: Int64, low: UInt64) { self = Decimal(high) * (Decimal(UInt64.max) + 1) + Decimal(low) }
}

extension Duration {
    /// The duration of a number of seconds; nil when that is not a whole number of attoseconds or too large.
    init?(storedSeconds seconds: Decimal) {
        let attoseconds = Decimal(sign: .plus, exponent: 18, significand: seconds)
        // The magnitude in two words, digit by digit.
        var (high, low): (UInt64, UInt64) = (0, 0)
        for digit in "\(attoseconds.magnitude)".utf8 {
            guard (48...57).contains(digit), high < 1 << 60 else { return nil }
            let product = low.multipliedFullWidth(by: 10)
            let (sum, isCarried) = product.low.addingReportingOverflow(UInt64(digit - 48))
            (high, low) = (high * 10 + product.high + (isCarried ? 1 : 0), sum)
        }
        if attoseconds < 0 { (high, low) = (~high &+ (low == 0 ? 1 : 0), 0 &- low) }
        guard (high >> 63 == 1) == (attoseconds < 0) else { return nil }
        self.init(_high: Int64(bitPattern: high), low: low)
    }

    /// The seconds, exactly: the 128 bits of a duration fit into the digits of a decimal number. The components
    /// of the standard library overflow for the longest durations.
    package var storedSeconds: Decimal {
        Decimal(sign: .plus, exponent: -18, significand: Decimal(high: _high, low: _low))
    }
}

extension FieldValue where Self: RawRepresentable, RawValue: FieldValue {
    /// The type of the raw value.
    @inlinable public static var fieldType: FieldType { RawValue.fieldType }
    /// Reads the raw value and converts it.
    ///
    /// - Throws: `.corruptedValue` for a raw value that this type does not have.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Self {
        guard let value = Self(rawValue: try RawValue.read(from: row, at: index)) else {
            throw row.corruptedValue(at: index, "a raw value that \(String(describing: Self.self)) does not know")
        }
        return value
    }
    /// Writes the raw value.
    @inlinable public func write(to row: RowWriter, at index: Int) throws { try rawValue.write(to: row, at: index) }
    /// The raw value as a value.
    @inlinable public var fieldValue: Value { rawValue.fieldValue }
}
