// What `Atomic` and `Lock` are on Apple's systems, in threads. ThreadSanitizer watches: an order that is too weak is a race.
import Foundation

enum Colour: UInt8, AtomicRepresentable { case red, green, blue }
struct Number: RawRepresentable, AtomicRepresentable, Equatable { let rawValue: UInt64 }

func expect(_ condition: Bool, _ line: Int = #line) {
    if condition { return }
    print("line \(line) is false")
    exit(1)
}

func holds<Value: AtomicRepresentable & Equatable>(_ values: Value...) {
    for value in values {
        let atomic = Atomic(values[0])
        atomic.store(value, ordering: .relaxed)
        expect(atomic.load(ordering: .relaxed) == value)
        expect(atomic.exchange(values[0], ordering: .sequentiallyConsistent) == value)
        let refused = atomic.compareExchange(expected: value, desired: value, ordering: .releasing)
        expect(refused == (value == values[0], values[0]))
        let done = atomic.weakCompareExchange(expected: values[0], desired: value, ordering: .acquiringAndReleasing)
        expect(done == (true, values[0]) && atomic.load(ordering: .acquiring) == value)
    }
}

let bytes = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
holds(false, true)
holds(0, -1, .min, .max)
holds(UInt16(0), .max)
holds(UInt64(0), .max)
holds(Colour.red, .green, .blue)
holds(Number(rawValue: 0), Number(rawValue: .max))
holds(nil, bytes)

let sum = Atomic(-1)
expect(sum.add(3, ordering: .relaxed) == (-1, 2) && sum.subtract(5, ordering: .relaxed) == (2, -3))
expect(sum.bitwiseAnd(~1, ordering: .relaxed) == (-3, -4) && sum.bitwiseOr(1, ordering: .relaxed) == (-4, -3))
let small = Atomic<UInt8>(200)
expect(small.add(55, ordering: .relaxed) == (200, 255) && small.subtract(255, ordering: .relaxed) == (255, 0))

/// What threads share.
final class Shared: Sendable {
    let isGiven = Atomic(false)
    let turns = Atomic<UInt64>(0)
    let count = Atomic(0)
    let list = Lock<[Int]>([])
    // Of the thread whose turn it is.
    nonisolated(unsafe) var given = 0
}

func inThreads(_ body: @escaping @Sendable (Int) -> Void) {
    let ended = DispatchSemaphore(value: 0)
    for number in 0..<4 {
        Thread.detachNewThread {
            body(number)
            ended.signal()
        }
    }
    for _ in 0..<4 { expect(ended.wait(timeout: .now() + 60) == .success) }
}

let shared = Shared()
inThreads { number in
    for _ in 0..<20_000 {
        shared.count.add(2, ordering: .relaxed)
        shared.count.subtract(1, ordering: .relaxed)
        shared.list.withLock { $0.append(number) }
        // A lock of its own kind, with the weakest orders that it can have.
        while true {
            let turn = shared.turns.load(ordering: .relaxed) & ~1
            if shared.turns.weakCompareExchange(expected: turn, desired: turn | 1, ordering: .acquiring).exchanged { break }
            sched_yield()
        }
        shared.given += 1
        shared.turns.store((shared.turns.load(ordering: .relaxed) & ~1) + 2, ordering: .releasing)
    }
}
expect(shared.count.load(ordering: .relaxed) == 80_000)
expect(shared.list.withLock { $0.count } == 80_000)
expect(shared.given == 80_000 && shared.turns.load(ordering: .relaxed) == 160_000)

// One gives, three take.
inThreads { number in
    if number == 0 {
        shared.given = 7
        shared.isGiven.store(true, ordering: .releasing)
    } else {
        while !shared.isGiven.load(ordering: .acquiring) { sched_yield() }
        expect(shared.given == 7)
    }
}

/// Counts how many of it there are.
final class Counted: Sendable {
    static let existing = Atomic(0)
    init() { Self.existing.add(1, ordering: .relaxed) }
    deinit { Self.existing.subtract(1, ordering: .relaxed) }
}
struct Refusal: Error {}
do {
    let lock = Lock<Counted?>(Counted())
    expect(Counted.existing.load(ordering: .relaxed) == 1)
    do throws(Refusal) {
        try lock.withLock { (counted: inout sending Counted?) throws(Refusal) in throw Refusal() }
        expect(false)
    } catch {}
    // It is open again.
    lock.withLock { $0 = Counted() }
    expect(Counted.existing.load(ordering: .relaxed) == 1)
}
expect(Counted.existing.load(ordering: .relaxed) == 0)
print("right")
