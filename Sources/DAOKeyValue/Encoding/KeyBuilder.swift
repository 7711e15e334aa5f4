import DAOCore
import Foundation

/// Builds a key in memory that the caller provides; see ``KeyForm`` for the format.
///
/// The memory has to be large enough for the appended bytes: ``capacity`` bytes hold every key of the store.
struct KeyBuilder {
    /// Enough for any key of the store, with a damaged decimal number in it.
    static let capacity = 544

    private let buffer: UnsafeMutableRawBufferPointer
    /// The current number of bytes.
    private(set) var count = 0

    /// Creates a builder.
    ///
    /// - Parameter buffer: The memory; it has to outlive the builder and the result of ``bytes``.
    init(_ buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

    /// Calls a closure with a builder on stack memory.
    @inline(__always) static func with<Result>(_ body: (inout KeyBuilder) throws -> Result) rethrows -> Result {
        try withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 8) { buffer in
            var builder = KeyBuilder(buffer)
            return try body(&builder)
        }
    }

    /// The current key; valid until the next change and as long as the memory.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    /// Truncates the key to an earlier length.
    mutating func truncate(to count: Int) { self.count = count }

    /// Appends the beginning of a key. Eight bytes of the memory are overwritten.
    @inline(__always) mutating func append(_ keyspace: Keyspace) {
        buffer.storeBytes(of: keyspace.word, toByteOffset: count, as: UInt64.self)
        count &+= keyspace.length
    }

    @inline(__always) mutating func append(byte: UInt8) {
        buffer[count] = byte
        count &+= 1
    }

    /// An unsigned number that is ordered as a signed one.
    @inline(__always) static func ordered(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ (1 << 63) }

    /// An unsigned number that is ordered as a floating-point number.
    @inline(__always) static func ordered(_ value: Double) -> UInt64 {
        let bits = value.normalized.bitPattern
        return bits >> 63 == 1 ? ~bits : bits | (1 << 63)
    }

    @inline(__always) mutating func append(signed value: Int64) { append(unsigned: Self.ordered(value)) }

    @inline(__always) mutating func append(unsigned value: UInt64) { store(value.bigEndian) }

    @inline(__always) mutating func append(floating value: Double) { append(unsigned: Self.ordered(value)) }

    /// Appends a number in four bytes, little-endian.
    @inline(__always) mutating func append(half: UInt32) { store(half.littleEndian) }

    /// Overwrites four bytes that were appended before with a number, little-endian.
    mutating func replace(at offset: Int, with value: UInt32) {
        buffer.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
    }

    /// Appends bytes unchanged.
    @inline(__always) mutating func append(raw bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, let start = buffer.baseAddress else { return }
        memcpy(start + count, source, bytes.count)
        count &+= bytes.count
    }

    /// Appends escaped bytes and their terminator.
    ///
    /// - Parameter limit: The maximum number of escaped bytes, without the terminator.
    /// - Returns: Whether they were truncated.
    mutating func append(escaped bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        let isCut = appendEscapes(of: bytes, limit: limit)
        append(byte: 0)
        append(byte: isCut ? 2 : 1)
        return isCut
    }

    /// Appends escaped bytes without a terminator: the common prefix of all values that begin with these
    /// bytes.
    ///
    /// - Returns: Whether they were truncated.
    mutating func appendEscapes(of bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        guard let source = bytes.baseAddress else { return false }
        if bytes.count <= limit, memchr(source, 0, bytes.count) == nil {
            append(raw: bytes)
            return false
        }
        var length = 0
        for byte in bytes {
            let size = byte == 0 ? 2 : 1
            if length + size > limit { return true }
            length += size
            append(byte: byte)
            if byte == 0 { append(byte: 0xFF) }
        }
        return false
    }

    /// Flips every bit from an offset on, which reverses the order.
    mutating func invert(from start: Int) {
        for index in start..<count { buffer[index] = ~buffer[index] }
    }

    @inline(__always) private mutating func store<Word: FixedWidthInteger & BitwiseCopyable>(_ word: Word) {
        buffer.storeBytes(of: word, toByteOffset: count, as: Word.self)
        count &+= MemoryLayout<Word>.size
    }
}

extension KeyBuilder {
    /// Appends a value that is not null.
    ///
    /// - Parameters:
    ///   - value: A value of a field with this form.
    ///   - form: The encoding.
    ///   - limit: The maximum number of escaped bytes.
    /// - Returns: Whether it was truncated; nil, with nothing appended, when the value does not have the
    ///   form.
    mutating func append(_ value: Value, as form: KeyForm, limit: Int = KeyForm.limit) -> Bool? {
        switch (form, value) {
        case (.signed, .integer(let number)): append(signed: number)
        case (.unsigned, .integer(let number)) where number >= 0: append(unsigned: UInt64(number))
        case (.unsigned, .unsigned(let number)): append(unsigned: number)
        case (.unsigned, .bool(let flag)): append(unsigned: flag ? 1 : 0)
        case (.floating, .double(let number)): append(floating: number)
        case (.floating, .date(let date)): append(floating: date.timeIntervalSinceReferenceDate)
        case (.decimal, .decimal(let number)):
            var text = number.storedText
            guard text.withUTF8({ append(decimal: UnsafeRawBufferPointer($0)) }) else { return nil }
        case (.bytes, .string(var text)):
            return text.withUTF8 { append(escaped: UnsafeRawBufferPointer($0), limit: limit) }
        case (.bytes, .data(let data)):
            return data.withUnsafeBytes { append(escaped: $0, limit: limit) }
        case (.uuid, .uuid(let uuid)): withUnsafeBytes(of: uuid.uuid) { append(raw: $0) }
        default: return nil
        }
        return false
    }

    /// Appends a primary key.
    ///
    /// - Returns: False, with nothing appended, when the key does not have the form or is too long.
    @inline(__always) mutating func append(key: Key, as form: KeyForm) -> Bool {
        switch (form, key) {
        case (.signed, .integer(let number)): append(signed: number)
        case (.unsigned, .integer(let number)) where number >= 0: append(unsigned: UInt64(number))
        case (.unsigned, .unsigned(let number)): append(unsigned: number)
        case (.uuid, .uuid(let uuid)): withUnsafeBytes(of: uuid.uuid) { append(raw: $0) }
        case (.bytes, .string(var text)):
            return text.withUTF8 { bytes in
                guard bytes.count <= Key.maximumLength else { return false }
                append(raw: UnsafeRawBufferPointer(bytes))
                return true
            }
        default: return false
        }
        return true
    }
}
