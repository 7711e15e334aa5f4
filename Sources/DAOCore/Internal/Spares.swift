#if !canImport(Darwin)
    import Synchronization
#endif

/// Objects that no call uses, for the next call that would have to make one. Threads do not wait for each other, and each prefers
/// the object that it has used last.
package struct Spares<Object: AnyObject>: ~Copyable {

    /// The places, valid as long as this value.
    package let places: SparePlaces<Object>

    /// Creates places without objects.
    ///
    /// - Parameter count: The number of objects that are kept; at least 1.
    package init(count: Int = ThreadLanes.count) {
        places = SparePlaces(count: count)
    }

    deinit {
        drain { _ in }
        places.deallocate()
    }

    /// Takes an object; nil when there is none.
    @inlinable @inline(__always) package func take() -> Object? { places.take() }

    /// Leaves an object, which the caller no longer uses.
    ///
    /// - Returns: Nil; the object itself when all places have one.
    @inlinable @inline(__always) package func leave(_ object: consuming Object) -> Object? { places.leave(object) }

    /// Calls a closure with each object, which it takes.
    package func drain(_ body: (Object) -> Void) { places.drain(body) }

    /// Calls a closure with each object, and leaves the object again, unless others have been left in all places meanwhile.
    package func forEach(_ body: (Object) -> Void) { places.forEach(body) }
}

/// The places of ``Spares``, for an object that knows where it is left, without a reference to it that is counted.
package struct SparePlaces<Object: AnyObject>: @unchecked Sendable {
    // Unchecked because of the objects: each is of the one thread that has taken it. The pointer is constant.

    @usableFromInline let places: UnsafeMutablePointer<SparePlace>
    @usableFromInline let count: Int

    fileprivate init(count: Int) {
        self.count = count
        places = .allocate(capacity: count)
        for place in 0..<count { (places + place).initialize(to: SparePlace()) }
    }

    fileprivate func deallocate() {
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
    /// - Returns: Nil; the object itself when all places have one.
    @inlinable @inline(__always) package func leave(_ object: consuming Object) -> Object? {
        let own = own
        guard let refused = leave(object, in: own) else { return nil }
        return leaveElsewhere(refused, own)
    }

    fileprivate func drain(_ body: (Object) -> Void) {
        for place in 0..<count { if let object = take(from: place) { body(object) } }
    }

    fileprivate func forEach(_ body: (Object) -> Void) {
        for place in 0..<count {
            guard let object = take(from: place) else { continue }
            body(object)
            if let refused = leave(object, in: place) { _ = leaveElsewhere(refused, place) }
        }
    }

    @inline(never) @usableFromInline func takeElsewhere(_ own: Int) -> Object? {
        for step in 1..<count { if let object = take(from: (own + step) % count) { return object } }
        return nil
    }

    @inline(never) @usableFromInline func leaveElsewhere(_ object: Object, _ own: Int) -> Object? {
        (1..<count).contains { leave(object, in: (own + $0) % count) == nil } ? nil : object
    }

    @inlinable @inline(__always) func take(from place: Int) -> Object? {
        guard let taken = places[place].take() else { return nil }
        return unsafeDowncast(taken, to: Object.self)
    }

    @inlinable @inline(__always) func leave(_ object: consuming Object, in place: Int) -> Object? {
        guard let refused = places[place].leave(object) else { return nil }
        return unsafeDowncast(refused, to: Object.self)
    }
}

/// A place for an object. It is no generic type, so that calls of other modules do not look it up.
@usableFromInline struct SparePlace: ~Copyable {
    @usableFromInline let object = Atomic<UnsafeMutableRawPointer?>(nil)
    /// Fills the cache line.
    private let padding = (SIMD4<UInt64>(), SIMD2<UInt64>(), UInt64())

    // Sequentially consistent, so that a caller can look after `leave` whether objects are still to be left, and another one visit
    // the objects after it has decided that they are not: one of the two sees the other.

    @inlinable @inline(__always) func take() -> AnyObject? {
        guard object.load(ordering: .sequentiallyConsistent) != nil,
            let taken = object.exchange(nil, ordering: .sequentiallyConsistent)
        else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(taken).takeRetainedValue()
    }

    @inlinable @inline(__always) func leave(_ object: consuming AnyObject) -> AnyObject? {
        guard self.object.load(ordering: .relaxed) == nil else { return object }
        var kept: AnyObject? = consume object
        withUnsafeMutablePointer(to: &kept) { kept in
            // Its reference moves as a pointer, so that nothing counts it.
            let reference = UnsafeMutableRawPointer(kept).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
            let (isLeft, _) = self.object.compareExchange(
                expected: nil, desired: reference.pointee, ordering: .sequentiallyConsistent)
            if isLeft { reference.pointee = nil }
        }
        return kept
    }
}
