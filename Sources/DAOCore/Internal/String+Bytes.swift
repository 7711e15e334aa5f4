import Foundation

extension String {
    /// Copies a text; nil when it is not UTF-8.
    @inlinable @inline(__always) package init?(checking bytes: UnsafeRawBufferPointer) {
        // Decoding repairs invalid UTF-8, and a comparison detects the repair. That is several times faster than
        // `String(validating:as:)`, which begins with macOS 15 and iOS 18.
        self.init(decoding: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
        guard withUTF8({ UnsafeRawBufferPointer($0).isSame(as: bytes) }) else { return nil }
    }

    /// Calls a closure with the UTF-8 bytes. Unlike `withUTF8` it neither copies the string nor counts a reference to it, unless it
    /// is a bridged one.
    @inlinable @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        if let result = try utf8.withContiguousStorageIfAvailable({ try body(UnsafeRawBufferPointer($0)) }) { return result }
        var copy = self
        return try copy.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether other bytes are the same ones.
    @inlinable @inline(__always) package func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let address = baseAddress, let otherAddress = other.baseAddress else { return true }
        return memcmp(address, otherAddress, count) == 0
    }
}
