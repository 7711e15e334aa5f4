/// The format of a stored record.
///
/// | part | bytes |
/// |---|---|
/// | marker | 1: one of ``Marker`` |
/// | reserved | 1: zero |
/// | slot count | 2, little-endian |
/// | offset table | for every slot where its value ends, counted from the first value; 2 bytes each, or 4 in a wide record; little-endian. The top bit marks null |
/// | values | one after another, in the order of slots |
/// | checksum | 8, little-endian, in records that have one: ``WyHash`` of everything before it, seeded by the primary key; ``XXH64`` in records from before format 3 |
///
/// A slot is the stable position that the catalog assigns to a field. A record with fewer slots than the
/// entity was written before the other slots were added; these read as defaults.
///
/// | value | bytes |
/// |---|---|
/// | integer, Boolean | as few as hold it, little-endian, two's complement if signed; none for zero |
/// | floating-point number, date | 8, little-endian |
/// | text, URL, decimal, embedded JSON | UTF-8 |
/// | data | as it is |
/// | UUID | 16 |
enum RecordFormat {
    /// The first byte of a record. Any two markers differ in four bits, so that damage does not turn a marker
    /// into another marker.
    enum Marker {
        static let narrow: UInt8 = 0x0F
        static let wide: UInt8 = 0x33
        static let narrowChecked: UInt8 = 0x5A
        static let wideChecked: UInt8 = 0x66
        /// Records with a checksum from before format 3. They are read, and not written.
        static let narrowEarlier: UInt8 = 0x55
        static let wideEarlier: UInt8 = 0x69
    }

    /// The number of bytes before the offset table.
    static let headerLength = 4
    /// The number of bytes of the checksum.
    static let checksumLength = 8
    /// The maximum total length of the values in a narrow record.
    static let narrowLimit = 0x7FFF
    /// The maximum total length of the values in a record.
    static let wideLimit = 0x7FFF_FFFF

    /// The seed of a record's checksum, so that a record under the key of another row is detected.
    ///
    /// - Parameter key: The primary key as in the store's key.
    @inline(__always) static func seed(_ key: UnsafeRawBufferPointer) -> UInt64 {
        key.count == 8 ? UInt64(littleEndian: key.loadUnaligned(as: UInt64.self)) : WyHash.hash(key)
    }

    /// Whether a record from before format 3 has its checksum.
    ///
    /// - Parameters:
    ///   - record: The record without its checksum, which follows it.
    ///   - key: The primary key as in the store's key.
    @inline(never) static func isSoundEarlier(_ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) -> Bool {
        guard let base = record.baseAddress else { return false }
        let seed = key.count == 8 ? UInt64(littleEndian: key.loadUnaligned(as: UInt64.self)) : XXH64.hash(key)
        return UInt64(littleEndian: base.loadUnaligned(fromByteOffset: record.count, as: UInt64.self))
            == XXH64.hash(record, seed: seed)
    }
}
