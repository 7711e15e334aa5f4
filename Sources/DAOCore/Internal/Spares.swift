import Synchronization

/// Objects that no call uses, for the next call that would have to make one. Threads do not wait for each other, and each prefers
/// the object that it has used last.
package struct Spares<Object: AnyObject>: ~Copyable, @unchecked Sendable {
    // Unchecked because of the objects: each is of the one thread that has taken it. The pointer is constant.

    @usableFromInline let places: UnsafeMutablePointer<SparePlace>
    @usableFromInline let count: Int

    /// Creates places without objects.
    ///
    /// - Parameter count: The number of objects that are kept; at least 1.
    package init(count: Int = ThreadLanes.count) {
        self.count = count
        places = .allocate(capacity: count)
        for place in 0..<count { (places + place).initialize(to: SparePlace()) }
    }

    deinit {
        drain { _ in }
        places.deinitialize(count: count)
        places.deallocate()
    }

    // The first place that the calling thread looks at.
    @inlinable @inline(__always) var own: Int { ThreadLanes.own &* count / ThreadLanes.count }

    /// Takes an object; nil when there is none.
    @inlinable @inline(__always) package func take() -> Object? {
        let own = own
        return take(from: own) ?? takeElsewhere(own)
    }

    /// Leaves an object, which the caller no longer uses.
    ///
    /// - Returns: False when all places have one; then the caller keeps the object.
    @inlinable @inline(__always) package func leave(_ object: Object) -> Bool {
        let own = own
        return leave(object, in: own) || leaveElsewhere(object, own)
    }

    /// Calls a closure with each object, which it takes.
    package func drain(_ body: (Object) -> Void) {
        for place in 0..<count { if let object = take(from: place) { body(object) } }
    }

    /// Calls a closure with each object, and leaves the object again, unless others have been left in all places meanwhile.
    package func forEach(_ body: (Object) -> Void) {
        for place in 0..<count {
            guard let object = take(from: place) else { continue }
            body(object)
            if !leave(object, in: place) { _ = leaveElsewhere(object, place) }
        }
    }

    @inline(never) @usableFromInline func takeElsewhere(_ own: Int) -> Object? {
        for step in 1..<count { if let object = take(from: (own + step) % count) { return object } }
        return nil
    }

    @inline(never) @usableFromInline func leaveElsewhere(_ object: Object, _ own: Int) -> Bool {
        (1..<count).contains { leave(object, in: (own + $0) % count) }
    }

    // Sequentially consistent, so that a caller can look after `leave` whether objects are still to be left, and another one visit
    // the objects after it has decided that they are not: one of the two sees the other.

    @inlinable @inline(__always) func take(from place: Int) -> Object? {
        let place = places + place
        guard place.pointee.object.load(ordering: .sequentiallyConsistent) != nil,
            let object = place.pointee.object.exchange(nil, ordering: .sequentiallyConsistent)
        else { return nil }
        return Unmanaged<Object>.fromOpaque(object).takeRetainedValue()
    }

    @inlinable @inline(__always) func leave(_ object: Object, in place: Int) -> Bool {
        let place = places + place
        guard place.pointee.object.load(ordering: .relaxed) == nil else { return false }
        let owned = Unmanaged.passRetained(object)
        let (isLeft, _) = place.pointee.object.compareExchange(
            expected: nil, desired: owned.toOpaque(), ordering: .sequentiallyConsistent)
        if !isLeft { owned.release() }
        return isLeft
    }
}

/// A place for an object. It is no generic type, so that calls of other modules do not look it up.
@usableFromInline struct SparePlace: ~Copyable {
    @usableFromInline let object = Atomic<UnsafeMutableRawPointer?>(nil)
    /// Fills the cache line.
    private let padding = (SIMD4<UInt64>(), SIMD2<UInt64>(), UInt64())
}
