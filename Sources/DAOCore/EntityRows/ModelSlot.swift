// A model is a type, and only generic types can be created at run time. The type of a model that is made at run time
// has a slot as its parameter: a type that stands for a number. The declaration of the model is looked up by its slot,
// and a later model reuses the slot. A type that described its fields would stay in memory until the process ends, and
// a soak test creates a model every few milliseconds.

/// A type that stands for a number.
package protocol ModelSlot: Sendable {}

/// The number one.
enum FirstSlot: ModelSlot {}
/// Twice a number.
enum EvenSlot<Half: ModelSlot>: ModelSlot {}
/// Twice a number, and one.
enum OddSlot<Half: ModelSlot>: ModelSlot {}

/// The slots in use, and their declarations.
package enum ModelSlots {
    private struct State {
        var count = 0
        /// Released slots, the oldest release first.
        var free: [any ModelSlot.Type] = []
    }

    /// Some of the declarations, under a separate lock: a declaration is looked up for every row.
    private final class Shard: Sendable {
        /// The declarations by their slots.
        let declarations = Lock<[ObjectIdentifier: any Sendable]>([:])
    }

    private static let state = Lock(State())
    private static let shards = (0..<64).map { _ in Shard() }

    private static func shard(of slot: any ModelSlot.Type) -> Shard {
        // Types are not closer in memory than 32 bytes.
        shards[Int((UInt(bitPattern: ObjectIdentifier(slot)) >> 5) % UInt(shards.count))]
    }

    /// Takes a free slot.
    package static func claim() -> any ModelSlot.Type {
        state.withLock { state in
            // Recently released slots are not reused yet: a thread of the last round may still run.
            if state.free.count > 64 { return state.free.removeFirst() }
            state.count += 1
            return slot(state.count)
        }
    }

    /// Sets the declaration of a slot.
    package static func declare(_ declaration: any Sendable, in slot: any ModelSlot.Type) {
        shard(of: slot).declarations.withLock { $0[ObjectIdentifier(slot)] = declaration }
    }

    /// The declaration of a slot; nil for a free slot.
    package static func declaration(of slot: any ModelSlot.Type) -> (any Sendable)? {
        shard(of: slot).declarations.withLock { $0[ObjectIdentifier(slot)] }
    }

    /// Releases a slot.
    package static func release(_ slot: any ModelSlot.Type) {
        shard(of: slot).declarations.withLock { $0[ObjectIdentifier(slot)] = nil }
        state.withLock { $0.free.append(slot) }
    }

    /// The type that stands for a number above zero.
    private static func slot(_ number: Int) -> any ModelSlot.Type {
        func even<Half: ModelSlot>(_ half: Half.Type) -> any ModelSlot.Type { EvenSlot<Half>.self }
        func odd<Half: ModelSlot>(_ half: Half.Type) -> any ModelSlot.Type { OddSlot<Half>.self }
        if number <= 1 { return FirstSlot.self }
        let half = slot(number / 2)
        return number % 2 == 0 ? even(half) : odd(half)
    }
}
