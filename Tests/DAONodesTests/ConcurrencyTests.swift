import DAONodes
import DAOTransport
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct ConcurrencyTests {
    // MARK: Observers to async

    @Test func valueIsTheFirstOutcome() async throws {
        #expect(try await Observer<Int>.emit(data: 1).value == 1)
        await #expect(throws: Failure("x")) { try await Observer<Int>.emit(error: Failure("x")).value }

        let later = Context<Int>()
        let node = ClosureNode<Void, Int> {
            // When this runs on another thread, the task waits or is about to wait.
            DispatchQueue.global().async { later.emit(data: 2).emit(data: 3).finish() }
            return later.map { $0 * 10 }
        }
        #expect([20, 30].contains(try await node.value()))

        let cancelled = Context<Int>()
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test func cancellingTheTaskCancelsTheObserverDownToItsSource() async throws {
        let source = Context<Int>()
        let (started, start) = AsyncStream<Void>.makeStream()
        let node = ClosureNode<Void, Int> {
            defer { start.finish() }
            return source.map { $0 }.mapError { $0 }
        }
        let task = Task { try await node.value() }
        for await _ in started {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(source.isCancelled)

        let other = Context<Int>()
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await other.map { $0 }.value
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(other.isCancelled)
    }

    @Test func waitEndsWhenNoEmitterIsLeft() async {
        let finished = Context<Int>()
        finished.finish()
        await #expect(throws: ObserverError.finishedWithoutValue) { try await finished.value }
        let swallowed = Observer<Int>.emit(error: Failure("x")).catchError { (_: Failure) in }
        await #expect(throws: ObserverError.finishedWithoutValue) { try await swallowed.value }
        // A node that never emits.
        let forgetful = ClosureNode<Void, Int> { Context<Int>() }
        await #expect(throws: ObserverError.finishedWithoutValue) { try await forgetful.value() }
        await #expect(throws: ObserverError.finishedWithoutValue) { try await forgetful.process().map { $0 }.value }
    }

    @Test func valuesAreAllEmissionsUntilTheEnd() async throws {
        let source = Context<Int>()
        let values = source.map { $0 * 10 }.values
        for value in 1...100 { source.emit(data: value) }
        source.finish()
        var seen: [Int] = []
        for try await value in values { seen.append(value) }
        #expect(seen == (1...100).map { $0 * 10 })
    }

    @Test func valuesEndWithTheErrorOrTheCancellation() async {
        let failing = Context<Int>()
        let values = failing.values
        failing.emit(data: 1).emit(error: Failure("x"))
        await #expect(throws: Failure("x")) { for try await value in values { #expect(value == 1) } }
        let cancelled = Context<Int>()
        let none = cancelled.values
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { for try await _ in none {} }
    }

    @Test func valuesOfAFlatMapEndWithAllInnerObservers() async throws {
        let source = Context<Int>()
        let inner = Context<Int>()
        let values = source.map { _ in inner as Observer<Int> }.values
        source.emit(data: 1).finish()
        inner.emit(data: 7).finish()
        var seen: [Int] = []
        for try await value in values { seen.append(value) }
        #expect(seen == [7])
    }

    @Test func leavingTheLoopCancelsTheSource() async throws {
        let source = Context<Int>()
        do {
            let values = source.map { $0 }.values
            source.emit(data: 1).emit(data: 2)
            for try await value in values {
                #expect(value == 1)
                break
            }
        }
        #expect(await eventually { source.isCancelled })

        let other = Context<Int>()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let task = Task { for try await _ in other.map({ $0 }).values { begin.finish() } }
        other.emit(data: 1)
        for await _ in begun {}
        task.cancel()
        _ = try? await task.value
        #expect(await eventually { other.isCancelled })
    }

    // MARK: Async to observers

    @Test func taskEmitsItsResult() async throws {
        #expect(try await Observer<Int>.task { 1 }.value == 1)
        await #expect(throws: Failure("x")) { try await Observer<Int>.task { throw Failure("x") }.value }
    }

    @Test func cancellingTheObserverCancelsItsTask() async {
        let log = Log()
        let observer = Observer<Int>.task {
            do {
                try await Task.sleep(for: .seconds(60))
                return 1
            } catch {
                log.add("task cancelled")
                throw error
            }
        }
        log.follow(observer.map { $0 }).cancel()
        #expect(await eventually { log.all.contains("task cancelled") })
        #expect(log.all.filter { $0 != "task cancelled" } == ["cancelled", "defer"])
    }

    @Test func cancellationErrorOfATaskCancelsItsObserver() async {
        let log = Log()
        log.follow(Observer<Int>.task { throw CancellationError() })
        #expect(await eventually { log.all == ["cancelled", "defer"] })
    }

    @Test func sequenceIsEmittedElementByElement() async throws {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Int.self)
        for value in 1...5 { continuation.yield(value) }
        continuation.finish()
        var seen: [Int] = []
        for try await value in Observer.sequence(stream).map({ $0 }).values { seen.append(value) }
        #expect(seen == [1, 2, 3, 4, 5])
        await #expect(throws: Failure("x")) {
            try await Observer.sequence(AsyncThrowingStream<Int, any Error> { $0.finish(throwing: Failure("x")) }).value
        }
    }

    // MARK: Races, also run under ThreadSanitizer

    @Test func concurrentEmissionsAreDeliveredOnce() async {
        let context = Context<Int>()
        let sum = Locked((count: 0, total: 0))
        let active = Counter()
        context.map { $0 }.onCompleted { value in
            sum.withLock { $0 = ($0.count + 1, $0.total + value) }
        }.defer { active.increment() }
        await withTaskGroup(of: Void.self) { group in
            for start in 0..<8 {
                group.addTask {
                    for value in 0..<10_000 { context.emit(data: start * 10_000 + value) }
                }
            }
        }
        #expect(await eventually { sum.withLock { $0.count } == 80_000 })
        #expect(sum.withLock { $0.total } == (0..<80_000).reduce(0, +))
        #expect(await eventually { active.value == 80_000 })
    }

    @Test func concurrentSubscriptionAndEmissionDeliverOnce() async {
        let delivered = Counter()
        let rounds = 20_000
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<rounds / 4 {
                        let context = Context<Int>()
                        async let emitted: Void = { _ = context.emit(data: 1) }()
                        context.onCompleted { _ in delivered.increment() }
                        await emitted
                    }
                }
            }
        }
        #expect(await eventually { delivered.value == rounds })
    }

    @Test func cancellationTakesPrecedenceOverAnEmission() async {
        let late = Counter()
        let cancelled = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<5_000 {
                        let context = Context<Int>()
                        let result = context.map { $0 }
                        let isOver = Locked(false)
                        result.onCompleted { _ in if isOver.withLock({ $0 }) { late.increment() } }
                            .onCancelled {
                                isOver.withLock { $0 = true }
                                cancelled.increment()
                            }
                        async let emitted: Void = { for value in 0..<3 { context.emit(data: value) } }()
                        result.cancel()
                        await emitted
                        context.emit(data: 9)
                    }
                }
            }
        }
        #expect(await eventually { cancelled.value == 20_000 })
        #expect(late.value == 0)
    }

    @Test func operatorsSupportConcurrentEmittingSubscribingAndCancelling() async {
        let queue = DispatchQueue(label: "race")
        let contexts: [@Sendable () -> Emitter<Int>] = [
            { Context<Int>() }, { MulticastContext<Int>() }, { AsyncContext<Int>().on(queue) },
        ]
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<6 {
                group.addTask {
                    for round in 0..<1_000 {
                        let context = contexts[(worker + round) % 3]()
                        let result =
                            context
                            .map { $0 + 1 }
                            .map { value -> Observer<Int> in .emit(data: value) }
                            .mapError { $0 }
                            .combine(.emit(data: 1))
                            .map { $0.0 + $0.1 }
                            .throttle(next: .zero)
                            .dispatch(on: queue)
                            .multicast()
                        async let emitted: Void = {
                            for value in 0..<10 { context.emit(data: value).emit(error: Failure("x")) }
                        }()
                        async let subscribed: Void = {
                            for _ in 0..<10 { result.onCompleted { _ in }.onError { _ in }.defer {}.onCancelled {} }
                        }()
                        if round % 2 == 0 { context.cancel() } else { result.cancel() }
                        _ = await (emitted, subscribed)
                    }
                }
            }
        }
        await queue.drained()
    }

    @Test func asyncContextsLoseNoEventUnderContention() async {
        let queue = DispatchQueue(label: "contended", attributes: .concurrent)
        let context = AsyncContext<Int>().on(queue)
        let seen = Locked<[Int]>([])
        context.onCompleted { value in seen.withLock { $0.append(value) } }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask { for index in 0..<10_000 { context.emit(data: worker * 10_000 + index) } }
            }
        }
        #expect(await eventually { seen.withLock { $0.count } == 80_000 })
        // The emissions of each worker are in order.
        var last = [Int](repeating: -1, count: 8)
        for value in seen.withLock({ $0 }) {
            #expect(value % 10_000 == last[value / 10_000] + 1)
            last[value / 10_000] = value % 10_000
        }
    }

    @Test func waitingTasksAllReceiveAValueOrACancellation() async {
        let completed = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for round in 0..<5_000 {
                        let context = Context<Int>()
                        let task = Task { try await context.map { $0 }.value }
                        async let emitted: Void = { _ = context.emit(data: round) }()
                        if round % 3 == 0 { task.cancel() }
                        await emitted
                        _ = await task.result
                        completed.increment()
                    }
                }
            }
        }
        #expect(completed.value == 20_000)
    }

    /// Three threads process the same observers: the first emits, the second subscribes and the third cancels
    /// every third observer. ThreadSanitizer finds in 300,000 rounds races that it misses in 1,000, so
    /// `make tsan` runs 300,000 rounds.
    @Test func raceOfThreeThreadsDeliversOnceOrCancels() async {
        let rounds = ProcessInfo.processInfo.environment["DAO_RACE_ROUNDS"].flatMap(Int.init) ?? 30_000
        let (batches, size) = (max(rounds / 1_000, 1), 1_000)
        let (delivered, cancelled, wrong) = (Counter(), Counter(), Counter())
        for _ in 0..<batches {
            let sources = (0..<size).map { _ in Context<Int>() }
            let results = sources.enumerated().map { index, source in
                switch index % 4 {
                case 0: source.map { $0 }
                case 1: source.mapError { $0 }
                case 2: source.multicast()
                default: source as Observer<Int>
                }
            }
            await withCheckedContinuation { done in
                DispatchQueue.global().async {
                    DispatchQueue.concurrentPerform(iterations: 3) { role in
                        for index in 0..<size {
                            switch role {
                            case 0: sources[index].emit(data: index)
                            case 1:
                                let calls = Counter()
                                results[index].onCompleted { data in
                                    delivered.increment()
                                    if calls.increment() > 1 || data != index { wrong.increment() }
                                }.onCancelled { cancelled.increment() }
                            default: if index % 3 == 0 { results[index].cancel() }
                            }
                        }
                    }
                    done.resume()
                }
            }
            for (source, result) in zip(sources, results) where result.isCancelled && !source.isCancelled { wrong.increment() }
        }
        #expect(wrong.value == 0)
        #expect(cancelled.value == batches * ((size + 2) / 3))
        let kept = batches * (size - (size + 2) / 3)
        #expect((kept...batches * size).contains(delivered.value))
    }

    @Test func chainIsReleasedWithItsSource() async {
        final class Payload: Sendable {}
        weak var payload: Payload?
        weak var result: Observer<Int>?
        do {
            let source = Context<Int>()
            let strong = Payload()
            payload = strong
            let last = source.map { $0 }.map { value -> Observer<Int> in .emit(data: value) }.mapError { $0 }
            last.onCompleted { [strong] _ in _ = strong }
            result = last
            source.emit(data: 1)
            #expect(payload != nil)
        }
        #expect(payload == nil)
        #expect(result == nil)
    }
}
