/// The object that keeps a key and its value alive, in separate memory. It is written once and then only
/// read.
///
/// Nodes hold it as an ``EntryPointer``, which is read without reference counting.
final class Entry: ManagedBuffer<Void, UInt64> {}

/// The lengths of a key and of its value, in one word.
struct EntryLengths: Equatable {
    private let word: Int
    private static let keyBits = 16

    init(key: Int, value: Int) { word = value << Self.keyBits | key }

    /// The length of the key.
    @inline(__always)
    var key: Int { word & (1 << Self.keyBits - 1) }

    /// The length of the value.
    @inline(__always)
    var value: Int { word >> Self.keyBits }
}

/// The bytes of an ``Entry``: its object, the key, and the value at the next multiple of eight. The owner of
/// the pointer keeps the lengths.
///
/// The owner of a pointer has retained the object, or received the pointer from a node that has.
struct EntryPointer {
    let base: UnsafeMutableRawPointer

    private static let keyOffset = 8

    /// Creates an entry with one reference, which belongs to the caller.
    static func make(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> EntryPointer {
        let valueOffset = keyOffset + (key.count + 7) & ~7
        let words = (valueOffset + value.count + 7) / 8
        let object = Entry.create(minimumCapacity: words) { _ in }
        let base = object.withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
        base.storeBytes(of: Unmanaged.passRetained(object).toOpaque(), as: UnsafeMutableRawPointer.self)
        if let start = key.baseAddress { (base + keyOffset).copyMemory(from: start, byteCount: key.count) }
        if let start = value.baseAddress { (base + valueOffset).copyMemory(from: start, byteCount: value.count) }
        return EntryPointer(base: base)
    }

    /// The start of the key's bytes.
    @inline(__always)
    var keyStart: UnsafeRawPointer { UnsafeRawPointer(base + Self.keyOffset) }

    /// The key's bytes; valid while the entry lives.
    @inline(__always)
    func key(_ lengths: EntryLengths) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: keyStart, count: lengths.key)
    }

    /// The value's bytes; valid while the entry lives.
    @inline(__always)
    func value(_ lengths: EntryLengths) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + Self.keyOffset + (lengths.key + 7) & ~7, count: lengths.value)
    }

    private var object: Unmanaged<Entry> { .fromOpaque(base.load(as: UnsafeMutableRawPointer.self)) }

    /// Adds a reference.
    func retain() { _ = object.retain() }

    /// Releases a reference; releasing the last reference frees the entry.
    func release() { object.release() }
}
