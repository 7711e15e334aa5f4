import Foundation

/// A stored record, read in place. It finds a field without reading the other fields.
///
/// It points into the store's memory and is only valid until the next write of the transaction, or its end.
struct RecordView {
    private let offsets: UnsafeRawPointer
    private let values: UnsafeRawPointer
    private let valuesLength: Int
    private let isWide: Bool
    /// The number of slots of the record.
    let slotCount: Int

    /// The position of a slot's value.
    struct Span {
        fileprivate static let null = -1
        fileprivate static let absent = -2
        fileprivate static let damaged = -3

        /// The first byte; only defined when there is a value.
        let start: UnsafeRawPointer
        /// The number of bytes of the value, or the reason why there is none.
        let count: Int

        @inline(__always) fileprivate init(start: UnsafeRawPointer, count: Int) {
            self.start = start
            self.count = count
        }

        /// Creates a span on the bytes of a value in memory.
        init(_ bytes: UnsafeRawBufferPointer) {
            start = bytes.baseAddress ?? UnsafeRawPointer(StaticString("").utf8Start)
            count = bytes.count
        }

        /// Whether there is a value, which can be empty.
        @inline(__always) var isPresent: Bool { count >= 0 }
        /// Whether the slot is null.
        @inline(__always) var isNull: Bool { count == Self.null }
        /// Whether the record was written before the slot was added.
        @inline(__always) var isAbsent: Bool { count == Self.absent }

        /// The bytes of the value.
        @inline(__always) var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: max(count, 0)) }

        /// Whether two slots are equal: both null, or the same bytes.
        func isSame(as other: Span) -> Bool {
            count == other.count && (count <= 0 || memcmp(start, other.start, count) == 0)
        }
    }

    /// Opens a record.
    ///
    /// - Parameters:
    ///   - record: The stored bytes.
    ///   - key: The primary key as in the store's key, for the checksum.
    ///   - verifies: Whether to verify the checksum, if there is one.
    /// - Returns: Nil when the bytes are not a record or the checksum does not match.
    @inline(__always) init?(_ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, verifies: Bool) {
        guard let base = record.baseAddress, record.count >= RecordFormat.headerLength else { return nil }
        var end = record.count
        switch record[0] {
        case RecordFormat.Marker.narrowChecked, RecordFormat.Marker.wideChecked:
            end -= RecordFormat.checksumLength
            guard end >= RecordFormat.headerLength else { return nil }
            if verifies {
                let stored = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: end, as: UInt64.self))
                let actual = WyHash.hash(UnsafeRawBufferPointer(start: base, count: end), seed: RecordFormat.seed(key))
                guard stored == actual else { return nil }
            }
        case RecordFormat.Marker.narrow, RecordFormat.Marker.wide: break
        case RecordFormat.Marker.narrowEarlier, RecordFormat.Marker.wideEarlier:
            end -= RecordFormat.checksumLength
            guard end >= RecordFormat.headerLength,
                !verifies || RecordFormat.isSoundEarlier(UnsafeRawBufferPointer(start: base, count: end), key: key)
            else { return nil }
        default: return nil
        }
        isWide =
            record[0] == RecordFormat.Marker.wideChecked || record[0] == RecordFormat.Marker.wide
            || record[0] == RecordFormat.Marker.wideEarlier
        slotCount = Int(UInt16(littleEndian: base.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        let tableEnd = RecordFormat.headerLength + slotCount * (isWide ? 4 : 2)
        guard record[1] == 0, tableEnd <= end else { return nil }
        offsets = base + RecordFormat.headerLength
        values = base + tableEnd
        valuesLength = end - tableEnd
    }

    /// A record without slots.
    static var empty: RecordView { RecordView() }

    private init() {
        // Static bytes: without slots they are never read.
        offsets = UnsafeRawPointer(StaticString("").utf8Start)
        values = offsets
        valuesLength = 0
        isWide = false
        slotCount = 0
    }

    /// Finds the value of a slot.
    @inline(__always) func span(_ slot: Int) -> Span {
        guard slot < slotCount else { return Span(start: values, count: Span.absent) }
        var start = 0
        let end: Int
        if isWide {
            let mark = word32(slot)
            if mark >> 31 != 0 { return Span(start: values, count: Span.null) }
            if slot > 0 { start = Int(word32(slot &- 1) & 0x7FFF_FFFF) }
            end = Int(mark)
        } else {
            let mark = word16(slot)
            if mark >> 15 != 0 { return Span(start: values, count: Span.null) }
            if slot > 0 { start = Int(word16(slot &- 1) & 0x7FFF) }
            end = Int(mark)
        }
        guard start <= end, end <= valuesLength else { return Span(start: values, count: Span.damaged) }
        return Span(start: values + start, count: end &- start)
    }

    @inline(__always) private func word16(_ slot: Int) -> UInt16 {
        UInt16(littleEndian: offsets.loadUnaligned(fromByteOffset: slot &* 2, as: UInt16.self))
    }

    @inline(__always) private func word32(_ slot: Int) -> UInt32 {
        UInt32(littleEndian: offsets.loadUnaligned(fromByteOffset: slot &* 4, as: UInt32.self))
    }
}

extension RecordView.Span {
    /// The value as a signed integer; nil when it has too many bytes.
    @inline(__always) var signed: Int64? {
        guard UInt(bitPattern: count) <= 8 else { return nil }
        if count == 0 { return 0 }
        return Int64(bitPattern: word) &>> Int64(64 &- count &* 8)
    }

    /// The value as an unsigned integer; nil when it has too many bytes.
    @inline(__always) var unsigned: UInt64? {
        guard UInt(bitPattern: count) <= 8 else { return nil }
        if count == 0 { return 0 }
        return word &>> UInt64(64 &- count &* 8)
    }

    /// The value as a floating-point number; nil unless it has eight bytes.
    @inline(__always) var floating: Double? {
        guard count == 8 else { return nil }
        return Double(bitPattern: UInt64(littleEndian: start.loadUnaligned(as: UInt64.self)))
    }

    /// The value as text; nil when it is not UTF-8.
    @inline(__always) var text: String? {
        var text = String(decoding: bytes, as: UTF8.self)
        // Decoding repairs invalid UTF-8, so the result then differs from the bytes. ASCII is always valid.
        if bytes.isASCII { return text }
        return text.withUTF8({ UnsafeRawBufferPointer($0).order(against: bytes) == 0 }) ? text : nil
    }

    /// The value as a UUID; nil unless it has sixteen bytes.
    @inline(__always) var uuid: UUID? {
        guard count == 16 else { return nil }
        return UUID(uuid: start.loadUnaligned(as: uuid_t.self))
    }

    /// The bytes of an integer, one to eight, in the upper bytes of a word.
    @inline(__always) private var word: UInt64 {
        // At least six bytes precede every value: the header and one entry of the offset table. The eight
        // bytes that end with a value of two or more bytes therefore begin inside the record.
        if count >= 2 { return UInt64(littleEndian: start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)) }
        return UInt64(start.load(as: UInt8.self)) &<< 56
    }
}

extension UnsafeRawBufferPointer {
    /// Whether no byte has its top bit set.
    @inline(__always) fileprivate var isASCII: Bool {
        var bits: UInt64 = 0
        if count >= 8 {
            // The last eight bytes can overlap the preceding bytes.
            bits = loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            var position = 0
            while position &+ 8 < count {
                bits |= loadUnaligned(fromByteOffset: position, as: UInt64.self)
                position &+= 8
            }
        } else {
            for byte in self { bits |= UInt64(byte) }
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }
}
