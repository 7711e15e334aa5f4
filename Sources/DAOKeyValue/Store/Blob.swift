/// Immutable bytes at an address that does not change while the blob lives.
///
/// For stores that keep keys and values in Swift data structures and have to return pointers to them.
public final class Blob: Sendable {

    /// The bytes; valid while the blob lives.
    public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(storage) }

    // Written once, in the initializer, and only read afterwards, so the class is Sendable.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    /// Copies bytes into a new blob.
    ///
    /// - Parameter bytes: The bytes to copy; they can be empty.
    public init(copying bytes: UnsafeRawBufferPointer) {
        storage = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        storage.copyMemory(from: bytes)
    }

    deinit { storage.deallocate() }
}
