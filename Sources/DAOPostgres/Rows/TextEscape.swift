import Foundation

/// The stored form of texts. PostgreSQL refuses the character NUL in texts: it is stored as 01 01, and 01 as 01 02. Every other
/// text is stored as it is, equal texts have equal forms, and the order of the bytes is kept.
enum TextEscape {
    /// Whether a byte is among some bytes.
    @inline(__always) private static func has(_ byte: Int32, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.baseAddress.map { memchr($0, byte, bytes.count) != nil } ?? false
    }

    /// Appends the stored form of a text.
    static func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        guard has(0, text) || has(1, text) else {
            bytes.append(contentsOf: text)
            return
        }
        for byte in text {
            if byte <= 1 { bytes.append(1) }
            bytes.append(byte <= 1 ? byte + 1 : byte)
        }
    }

    /// Returns the text of a stored form; nil when it is no such form.
    static func text(of stored: UnsafeBufferPointer<UInt8>) -> String? {
        // The server has checked that it is UTF-8.
        guard has(1, stored) else { return String(decoding: stored, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(stored.count)
        var isEscaped = false
        for byte in stored {
            if isEscaped {
                guard byte == 1 || byte == 2 else { return nil }
                bytes.append(byte - 1)
                isEscaped = false
            } else if byte == 1 {
                isEscaped = true
            } else {
                bytes.append(byte)
            }
        }
        return isEscaped ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
