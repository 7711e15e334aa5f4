/// The object that keeps one key and its value alive, in memory of its own. It is written once and then only read.
///
/// Nodes hold it as an ``EntryPointer``, which costs no reference counting to look through.
final class Entry: ManagedBuffer<Void, UInt64> {}

/// The bytes of an ``Entry``: its object, both lengths in one word, the key, and the value at the next multiple of eight.
///
/// Whoever holds one has counted a reference to the object, or got it from a node that has.
struct EntryPointer {
    let base: UnsafeMutableRawPointer

    private static let keyOffset = 16
    private static let keyCountBits = 16

    /// Makes an entry with one reference, which belongs to the caller.
    static func make(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> EntryPointer {
        let valueOffset = keyOffset + (key.count + 7) & ~7
        let words = (valueOffset + value.count + 7) / 8
        let object = Entry.create(minimumCapacity: words) { _ in }
        let base = object.withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
        base.storeBytes(of: Unmanaged.passRetained(object).toOpaque(), as: UnsafeMutableRawPointer.self)
        base.storeBytes(of: value.count << keyCountBits | key.count, toByteOffset: 8, as: Int.self)
        if let start = key.baseAddress { (base + keyOffset).copyMemory(from: start, byteCount: key.count) }
        if let start = value.baseAddress { (base + valueOffset).copyMemory(from: start, byteCount: value.count) }
        return EntryPointer(base: base)
    }

    private var counts: Int { base.load(fromByteOffset: 8, as: Int.self) }

    /// The length of the key.
    @inline(__always)
    var keyCount: Int { counts & (1 << Self.keyCountBits - 1) }

    /// The start of the key's bytes.
    @inline(__always)
    var keyStart: UnsafeRawPointer { UnsafeRawPointer(base + Self.keyOffset) }

    /// The key's bytes; valid while the entry lives.
    @inline(__always)
    var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: keyStart, count: keyCount) }

    /// The value's bytes; valid while the entry lives.
    @inline(__always)
    var value: UnsafeRawBufferPointer {
        let counts = counts
        let keyCount = counts & (1 << Self.keyCountBits - 1)
        return UnsafeRawBufferPointer(start: base + Self.keyOffset + (keyCount + 7) & ~7, count: counts >> Self.keyCountBits)
    }

    private var object: Unmanaged<Entry> { .fromOpaque(base.load(as: UnsafeMutableRawPointer.self)) }

    /// Counts one more reference.
    func retain() { _ = object.retain() }

    /// Gives one reference back; the last one frees the entry.
    func release() { object.release() }
}
