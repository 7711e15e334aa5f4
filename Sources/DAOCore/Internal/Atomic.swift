#if canImport(Darwin)
    import DAOAtomics

    // The standard library's atomic values begin with macOS 15 and iOS 18. This is the part of them that the package uses, by the
    // same names, on the same memory model: that of C. What is public begins with an underscore, and is public for the compiler
    // alone, as in `_Lock`.

    /// A value that different threads read and write without a lock.
    @usableFromInline package typealias Atomic<Value: AtomicRepresentable> = _Atomic<Value>
    /// A type of atomic values.
    @usableFromInline package typealias AtomicRepresentable = _AtomicRepresentable

    /// Orders reads that come before it before the reads and writes that come after it.
    @inlinable package func acquiringFence() { dao_atomic_acquiring_fence() }

    /// A type whose values fit in a word.
    public protocol _AtomicRepresentable {
        /// Creates the value of a word that a value has made.
        init(_atomicWord word: UInt64)
        /// The word, the same one for equal values.
        var _atomicWord: UInt64 { get }
    }

    extension _AtomicRepresentable where Self: FixedWidthInteger {
        /// Creates the value of a word that a value has made.
        @inlinable public init(_atomicWord word: UInt64) { self.init(truncatingIfNeeded: word) }
        /// The word, the same one for equal values.
        @inlinable public var _atomicWord: UInt64 { UInt64(truncatingIfNeeded: self) }
    }
    extension Int: _AtomicRepresentable {}
    extension UInt: _AtomicRepresentable {}
    extension UInt8: _AtomicRepresentable {}
    extension UInt16: _AtomicRepresentable {}
    extension UInt64: _AtomicRepresentable {}

    extension Bool: _AtomicRepresentable {
        /// Creates the value of a word that a value has made.
        @inlinable public init(_atomicWord word: UInt64) { self = word != 0 }
        /// The word, the same one for equal values.
        @inlinable public var _atomicWord: UInt64 { self ? 1 : 0 }
    }

    extension Optional: _AtomicRepresentable where Wrapped == UnsafeMutableRawPointer {
        /// Creates the value of a word that a value has made.
        @inlinable public init(_atomicWord word: UInt64) { self = UnsafeMutableRawPointer(bitPattern: UInt(word)) }
        /// The word, the same one for equal values.
        @inlinable public var _atomicWord: UInt64 { UInt64(UInt(bitPattern: self)) }
    }

    extension _AtomicRepresentable where Self: RawRepresentable, RawValue: _AtomicRepresentable {
        /// Creates the value of a word that a value has made; so it has the raw value of one.
        @inlinable public init(_atomicWord word: UInt64) {
            self = Self(rawValue: RawValue(_atomicWord: word)).unsafelyUnwrapped
        }
        /// The word, the same one for equal values.
        @inlinable public var _atomicWord: UInt64 { rawValue._atomicWord }
    }

    /// Which reads and writes of a thread other threads see before, and which after, an atomic one.
    public struct _AtomicOrdering: Sendable {
        // The numbers are those of C's `memory_order`.
        @usableFromInline let number: Int32
        @inlinable init(_ number: Int32) { self.number = number }

        /// No order with other reads and writes.
        @inlinable public static var relaxed: Self { Self(0) }
        /// What comes after it stays after it.
        @inlinable public static var acquiring: Self { Self(2) }
        /// What comes before it stays before it.
        @inlinable public static var releasing: Self { Self(3) }
        /// Both acquiring and releasing.
        @inlinable public static var acquiringAndReleasing: Self { Self(4) }
        /// Both, and one order of all such accesses for all threads.
        @inlinable public static var sequentiallyConsistent: Self { Self(5) }
    }

    /// An atomic value. It has a word of its own that does not move.
    public struct _Atomic<Value: _AtomicRepresentable>: ~Copyable, @unchecked Sendable {
        // Unchecked because of the pointer: it is constant, and the word is read and written atomically.

        @usableFromInline let word: UnsafeMutablePointer<UInt64>

        /// Creates a value.
        @inlinable public init(_ initialValue: Value) {
            // Of 64 bytes, so that the lanes of threads, which fill cache lines, have words in different ones.
            word = .allocate(capacity: 8)
            word.initialize(to: initialValue._atomicWord)
        }

        @inlinable deinit { word.deallocate() }

        /// Returns the value.
        @inlinable @inline(__always) public borrowing func load(ordering: _AtomicOrdering) -> Value {
            Value(_atomicWord: dao_atomic_load(word, ordering.number))
        }

        /// Replaces the value.
        @inlinable @inline(__always) public borrowing func store(_ desired: Value, ordering: _AtomicOrdering) {
            dao_atomic_store(word, desired._atomicWord, ordering.number)
        }

        /// Replaces the value, and returns the one before.
        @inlinable @inline(__always) public borrowing func exchange(_ desired: Value, ordering: _AtomicOrdering) -> Value {
            Value(_atomicWord: dao_atomic_exchange(word, desired._atomicWord, ordering.number))
        }

        /// Replaces the value if it is the expected one, and returns the one before.
        @inlinable @inline(__always) public borrowing func compareExchange(
            expected: Value, desired: Value, ordering: _AtomicOrdering
        ) -> (exchanged: Bool, original: Value) {
            var found = expected._atomicWord
            let isExchanged = dao_atomic_compare_exchange(word, &found, desired._atomicWord, ordering.number)
            return (isExchanged, Value(_atomicWord: found))
        }

        /// As ``compareExchange(expected:desired:ordering:)``; it may fail without a reason.
        @inlinable @inline(__always) public borrowing func weakCompareExchange(
            expected: Value, desired: Value, ordering: _AtomicOrdering
        ) -> (exchanged: Bool, original: Value) {
            compareExchange(expected: expected, desired: desired, ordering: ordering)
        }
    }

    extension _Atomic where Value: FixedWidthInteger {
        /// Adds to the value.
        @discardableResult @inlinable @inline(__always) public borrowing func add(
            _ operand: Value, ordering: _AtomicOrdering
        ) -> (oldValue: Value, newValue: Value) {
            let old = Value(_atomicWord: dao_atomic_add(word, operand._atomicWord, ordering.number))
            return (old, old + operand)
        }

        /// Subtracts from the value.
        @discardableResult @inlinable @inline(__always) public borrowing func subtract(
            _ operand: Value, ordering: _AtomicOrdering
        ) -> (oldValue: Value, newValue: Value) {
            let old = Value(_atomicWord: dao_atomic_add(word, 0 &- operand._atomicWord, ordering.number))
            return (old, old - operand)
        }

        /// Sets bits.
        @discardableResult @inlinable @inline(__always) public borrowing func bitwiseOr(
            _ operand: Value, ordering: _AtomicOrdering
        ) -> (oldValue: Value, newValue: Value) {
            let old = Value(_atomicWord: dao_atomic_or(word, operand._atomicWord, ordering.number))
            return (old, old | operand)
        }

        /// Clears the bits that the operand does not have.
        @discardableResult @inlinable @inline(__always) public borrowing func bitwiseAnd(
            _ operand: Value, ordering: _AtomicOrdering
        ) -> (oldValue: Value, newValue: Value) {
            let old = Value(_atomicWord: dao_atomic_and(word, operand._atomicWord, ordering.number))
            return (old, old & operand)
        }
    }
#else
    import Synchronization

    /// A value that different threads read and write without a lock: the standard library's.
    @usableFromInline package typealias Atomic<Value: AtomicRepresentable> = Synchronization.Atomic<Value>
    /// A type of atomic values.
    @usableFromInline package typealias AtomicRepresentable = Synchronization.AtomicRepresentable

    /// Orders reads that come before it before the reads and writes that come after it.
    @inlinable package func acquiringFence() { atomicMemoryFence(ordering: .acquiring) }
#endif
