import Foundation

/// The format of a stored record.
///
/// | part | bytes |
/// |---|---|
/// | marker | 1: one of ``Marker`` |
/// | reserved | 1: zero |
/// | slot count | 2, little-endian |
/// | offset table | for every slot where its value ends, counted from the first value; 2 bytes each, or 4 in a wide record; little-endian. The top bit marks null |
/// | values | one after another, in the order of slots |
/// | checksum | 8, little-endian, in records that have one: XXH64 of everything before it, seeded by the primary key |
///
/// A slot is the stable position that the catalog gives a field. A record with fewer slots than the entity was written before the
/// others were there; they read as defaults.
///
/// | value | bytes |
/// |---|---|
/// | integer, Boolean | as few as hold it, little-endian, two's complement if signed; none for zero |
/// | floating-point number, date | 8, little-endian |
/// | text, URL, decimal, embedded JSON | UTF-8 |
/// | data | as it is |
/// | UUID | 16 |
enum RecordFormat {
    /// The first byte of a record; any two differ in four bits, so that damage does not make one of another.
    enum Marker {
        static let narrow: UInt8 = 0x0F
        static let wide: UInt8 = 0x33
        static let narrowChecked: UInt8 = 0x55
        static let wideChecked: UInt8 = 0x69
    }

    /// Bytes before the offset table.
    static let headerLength = 4
    /// Bytes of the checksum.
    static let checksumLength = 8
    /// The longest run of values that a narrow record holds.
    static let narrowLimit = 0x7FFF
    /// The longest run of values that a record holds.
    static let wideLimit = 0x7FFF_FFFF

    /// What the checksum of a record is seeded with, so that a record under another's key shows.
    ///
    /// - Parameter key: The primary key as it stands in the store's key.
    @inline(__always) static func seed(_ key: UnsafeRawBufferPointer) -> UInt64 {
        key.count == 8 ? UInt64(littleEndian: key.loadUnaligned(as: UInt64.self)) : XXH64.hash(key)
    }
}
