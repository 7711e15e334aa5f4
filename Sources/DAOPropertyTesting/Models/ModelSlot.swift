import DAOCore
import Synchronization

// A model is a type, and types cannot be made at run time but for generic ones. A generated model's type is
// `GeneratedRecord<Slot>`, where the slot is one of ever so many types that stand for numbers. What the model
// declares is looked up by its slot, which is another's when the model is gone: a type that said everything
// about its fields would stay in memory to the end of the process, and a soak test makes a model every few
// milliseconds.

/// A type that stands for a number.
protocol ModelSlot: Sendable {}

/// The number one.
enum FirstSlot: ModelSlot {}
/// Twice a number.
enum EvenSlot<Half: ModelSlot>: ModelSlot {}
/// Twice a number, and one.
enum OddSlot<Half: ModelSlot>: ModelSlot {}

/// Which slots are taken, and by what.
enum ModelSlots {
    private struct State {
        var count = 0
        /// Slots that were given back, the longest ago first.
        var free: [any ModelSlot.Type] = []
    }

    /// A part of what models declare, under a lock of its own: a declaration is looked up for every row.
    private final class Shard: Sendable {
        /// Each is the declaration of the slot that its key stands for.
        let declarations = Mutex<[ObjectIdentifier: any Sendable]>([:])
    }

    private static let state = Mutex(State())
    private static let shards = (0..<64).map { _ in Shard() }

    private static func shard(of slot: any ModelSlot.Type) -> Shard {
        // Types are not closer in memory than 32 bytes.
        shards[Int((UInt(bitPattern: ObjectIdentifier(slot)) >> 5) % UInt(shards.count))]
    }

    /// Takes a slot that nobody has.
    static func claim() -> any ModelSlot.Type {
        state.withLock { state in
            // Those that were given back a moment ago are left alone for a while: a thread of the last round
            // may still run.
            if state.free.count > 64 { return state.free.removeFirst() }
            state.count += 1
            return slot(state.count)
        }
    }

    /// Says what the model of a slot declares.
    static func declare<Slot: ModelSlot>(_ declaration: GeneratedDeclaration<Slot>) {
        shard(of: Slot.self).declarations.withLock { $0[ObjectIdentifier(Slot.self)] = declaration }
    }

    /// What the model of a slot declares; nil when nobody has the slot.
    static func declaration<Slot: ModelSlot>(of slot: Slot.Type) -> GeneratedDeclaration<Slot>? {
        shard(of: slot).declarations.withLock { $0[ObjectIdentifier(slot)] } as? GeneratedDeclaration<Slot>
    }

    /// Gives a slot back.
    static func release(_ slot: any ModelSlot.Type) {
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
