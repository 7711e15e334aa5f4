import DAONodes
import Foundation
import Testing

@Suite struct OperatorTests {
    private let log = Log()
    private let source = Context<Int>()
    private let clock = ManualScheduler()

    @Test func mapTransformsEveryEmissionAndEmitsThrownErrors() {
        log.follow(
            source.map { value in
                if value == 2 { throw Failure("two") }
                return "<\(value)>"
            })
        source.emit(data: 1).emit(data: 2).emit(data: 3).emit(error: Failure("x"))
        #expect(log.all == ["data <1>", "defer", "error two", "defer", "data <3>", "defer", "error x", "defer"])
    }

    @Test func flatMapForwardsDataErrorsAndCancellation() {
        let inner = Context<String>()
        log.follow(source.map { _ in inner as Observer<String> })
        source.emit(data: 1)
        inner.emit(data: "a").emit(error: Failure("b"))
        #expect(log.all == ["data a", "defer", "error b", "defer"])
        inner.cancel()
        #expect(log.all.suffix(2) == ["cancelled", "defer"])
        #expect(source.isCancelled)
    }

    @Test func flatMapMergesItsInnerObservers() {
        let inners = (0..<2).map { _ in Context<String>() }
        source.map { inners[$0] as Observer<String> }.onCompleted { log.add($0) }
        source.emit(data: 0).emit(data: 1)
        inners[1].emit(data: "1a")
        inners[0].emit(data: "0a")
        inners[1].emit(data: "1b")
        #expect(log.all == ["1a", "0a", "1b"])
    }

    @Test func mapErrorMapsErrorsOnly() {
        log.follow(Observer<Int>.emit(error: Failure("a")).mapError { _ in Failure("b") })
        log.follow(Observer<Int>.emit(data: 1).mapError { _ in Failure("b") })
        // The short form.
        log.follow(Observer<Int>.emit(error: Failure("a")).map { (_: any Error) in Failure("c") })
        #expect(log.all == ["error b", "defer", "data 1", "defer", "error c", "defer"])
    }

    @Test func mapErrorRecoversOrReplaces() {
        log.follow(Observer<Int>.emit(error: Failure("a")).mapError { _ in Observer<Int>.emit(data: 2) })
        log.follow(Observer<Int>.emit(error: Failure("a")).mapError { _ -> Observer<Int> in throw Failure("b") })
        #expect(log.all == ["data 2", "defer", "error b", "defer"])
    }

    @Test func documentedExampleOfMapErrorPrintsItsOutput() {
        let context = Context<String>()
        // The listeners belong on the result of the operators, not on the context itself.
        context
            .mapError { error -> Observer<String> in
                guard error as? Failure == Failure("first") else { throw error }
                return .emit(data: "Jack")
            }
            .map { "Hello \($0)!" }
            .onCompleted { log.add($0) }
            .onError { _ in log.add("Error!") }
        context.emit(data: "Word").emit(error: Failure("first")).emit(error: Failure("second"))
        #expect(log.all == ["Hello Word!", "Hello Jack!", "Error!"])
    }

    @Test func combineMakesTheSecondObserverForEachEmission() {
        let made = Counter()
        @Sendable func second() -> Observer<String> { .emit(data: "s\(made.increment())") }
        log.follow(source.combine(second()))
        #expect(made.value == 0)
        source.emit(data: 1).emit(data: 2)
        #expect(made.value == 2)
        source.emit(error: Failure("x"))
        #expect(made.value == 2)
        #expect(log.all == ["data (1, \"s1\")", "defer", "data (2, \"s2\")", "defer", "error x", "defer"])
    }

    @Test func nestedCombinesNestTheirTuples() {
        Observer<Int>.emit(data: 1).combine(.emit(data: 2)).combine(.emit(data: 3)).onCompleted { (value: ((Int, Int), Int)) in
            log.add("\(value)")
        }
        log.follow(Observer<Int>.emit(data: 1).combine(Observer<Int>.emit(error: Failure("second"))))
        #expect(log.all == ["((1, 2), 3)", "error second", "defer"])
    }

    @Test func combineToleranceFailsOnlyWhenBothFail() {
        func outcome(_ first: Observer<Int>, _ second: Observer<String>) {
            log.follow(first.combineTolerance(second).map { "\($0.0.map(String.init) ?? "nil") \($0.1 ?? "nil")" })
        }
        outcome(.emit(data: 1), .emit(data: "a"))
        outcome(.emit(data: 1), .emit(error: Failure("second")))
        outcome(.emit(error: Failure("first")), .emit(data: "a"))
        outcome(.emit(error: Failure("first")), .emit(error: Failure("second")))
        #expect(log.all == ["data 1 a", "defer", "data 1 nil", "defer", "data nil a", "defer", "error second", "defer"])
    }

    @Test func chainContinuesWithTheDataOrFails() {
        log.follow(Observer<Int>.emit(data: 1).chain { value -> Observer<String>? in .emit(data: "<\(value)>") })
        log.follow(Observer<Int>.emit(data: 1).chain { _ -> Observer<String>? in nil })
        #expect(log.all.prefix(2) == ["data (1, \"<1>\")", "defer"])
        #expect(log.all.suffix(2) == ["error \(ObserverError.nothingToChain)", "defer"])
    }

    @Test func filterKeepsElementsAndEmitsTheEmptyList() {
        log.follow(Observer<[Int]>.emit(data: [1, 2, 3, 4]).filter { $0 > 2 })
        log.follow(Observer<[Int]>.emit(data: [1, 2]).filter { $0 > 2 })
        #expect(log.all == ["data [3, 4]", "defer", "data []", "defer"])
    }

    @Test func catchErrorRemovesOnlyItsType() {
        struct Other: Error {}
        log.follow(source.catchError { (error: Failure) in log.add("caught \(error.name)") })
        source.emit(error: Failure("a"))
        #expect(log.all == ["caught a"])
        source.emit(error: Other()).emit(data: 1)
        #expect(log.all.suffix(4) == ["error Other()", "defer", "data 1", "defer"])
    }

    @Test func processPassesTheObserver() {
        let same = source.process { observer in log.add("\(observer === source)") }
        #expect(same === source)
        #expect(log.all == ["true"])
    }

    // MARK: Cancellation and defer across operators

    @Test func cancellingTheResultReachesTheSourceAndEveryInnerObserver() {
        let inners = (0..<3).map { _ in Context<Int>() }
        let result = source.map { inners[$0] as Observer<Int> }.mapError { $0 }.map { $0 + 1 }
        source.emit(data: 0).emit(data: 1)
        result.cancel()
        #expect(source.isCancelled)
        #expect(inners.map(\.isCancelled) == [true, true, false])
    }

    /// Someone else may listen to an inner observer that has finished.
    @Test func cancellingTheResultLeavesAFinishedInnerObserverAlone() {
        for ends in [true, false] {
            let shared = MulticastContext<Int>()
            shared.emit(data: 1)
            if ends { shared.finish() }
            let source = Context<Int>()
            let result = source.map { (_: Int) -> Observer<Int> in shared }
            source.emit(data: 0)
            result.cancel()
            #expect(shared.isCancelled != ends)
            let log = Log()
            shared.onCompleted { log.add("\($0)") }
            #expect(log.all == (ends ? ["1"] : []))
        }
    }

    @Test func cancellingTheSourceReachesTheResultOfEveryOperator() async {
        let operators: [(String, @Sendable (Context<[Int]>) -> Observer<[Int]>)] = [
            ("map", { $0.map { $0 } }),
            ("flat map", { $0.map { Observer<[Int]>.emit(data: $0) } }),
            ("mapError", { $0.mapError { $0 } }),
            ("recovering", { $0.mapError { _ in Observer<[Int]>.emit(data: []) } }),
            ("combine", { $0.combine(.emit(data: 1)).map { $0.0 } }),
            ("combineTolerance", { $0.combineTolerance(.emit(data: 1)).map { $0.0 ?? [] } }),
            ("chain", { $0.chain { _ in Observer<Int>.emit(data: 1) }.map { $0.0 } }),
            ("filter", { $0.filter { $0 > 0 } }),
            ("dispatch", { $0.dispatch(on: .global()) }),
            ("multicast", { $0.multicast() }),
            ("catchError", { $0.catchError { (_: Failure) in } }),
            ("debounce", { $0.debounce(after: .milliseconds(1)) }),
            ("throttle", { $0.throttle(next: .milliseconds(1)) }),
        ]
        for (name, apply) in operators {
            let down = Context<[Int]>()
            let result = apply(down)
            let log = Log()
            result.onCancelled { log.add("cancelled") }.defer { log.add("defer") }
            down.cancel()
            #expect(await eventually { log.all == ["cancelled", "defer"] }, "\(name): \(log.all)")

            let up = Context<[Int]>()
            apply(up).cancel()
            #expect(up.isCancelled, "\(name)")
        }
    }

    @Test func deferIsNotInheritedByOperators() {
        source.defer { log.add("source defer") }
        source.map { $0 }.onCompleted { _ in log.add("data") }.defer { log.add("result defer") }
        source.emit(data: 1)
        #expect(log.all == ["data", "result defer", "source defer"])
    }

    // MARK: Queues and time

    @Test func dispatchRunsListenersOnTheQueueWithoutBlocking() async {
        let queue = DispatchQueue.named("end")
        queue.suspend()
        source.dispatch(on: queue)
            .map { value -> Int in
                log.add("map \(DispatchQueue.currentName ?? "")")
                return value
            }
            .onCompleted { log.add("data \($0) \(DispatchQueue.currentName ?? "")") }
        source.emit(data: 1).emit(data: 2)
        log.add("returned")
        queue.resume()
        await queue.drained()
        #expect(log.all == ["returned", "map end", "data 1 end", "map end", "data 2 end"])
    }

    @Test func dispatchToTheCurrentQueueDoesNotDeadlock() async {
        let queue = DispatchQueue.named("same")
        let response: Int = await withCheckedContinuation { continuation in
            queue.async {
                Observer<Int>.emit(data: 1).dispatch(on: queue).dispatchOn(queue).map { $0 + 1 }.dispatch(on: queue)
                    .onCompleted { continuation.resume(returning: $0) }
            }
        }
        #expect(response == 2)
    }

    @Test func debounceEmitsDataThatIsNotFollowedInTime() {
        log.follow(source.debounce(on: clock, after: .seconds(1)))
        source.emit(data: 1)
        clock.advance(by: .milliseconds(999))
        source.emit(data: 2)
        clock.advance(by: .milliseconds(999))
        #expect(log.all.isEmpty)
        clock.advance(by: .milliseconds(1))
        #expect(log.all == ["data 2", "defer"])
        source.emit(data: 3)
        clock.advance(by: .seconds(5))
        #expect(log.all.suffix(2) == ["data 3", "defer"])
    }

    @Test func debounceEmitsErrorsAndTheEndImmediately() {
        log.follow(source.debounce(on: clock, after: .seconds(1)))
        source.emit(data: 1).emit(error: Failure("x"))
        #expect(log.all == ["error x", "defer"])
        clock.advance(by: .seconds(2))
        #expect(log.all == ["error x", "defer"])
        source.emit(data: 2).finish()
        #expect(log.all.suffix(2) == ["data 2", "defer"])
        clock.advance(by: .seconds(2))
        #expect(log.all.count == 4)
    }

    @Test func cancelledDebounceEmitsNothing() {
        let result = source.debounce(on: clock, after: .seconds(1))
        log.follow(result)
        source.emit(data: 1)
        result.cancel()
        clock.advance(by: .seconds(2))
        #expect(log.all == ["cancelled", "defer"])
    }

    @Test func throttleDropsDataWithinTheInterval() {
        source.throttle(next: .seconds(1), on: clock).onCompleted { log.add("\($0)") }.onError { _ in log.add("error") }
        source.emit(data: 1).emit(data: 2)
        clock.advance(by: .milliseconds(999))
        source.emit(data: 3).emit(error: Failure("x"))
        clock.advance(by: .milliseconds(1))
        source.emit(data: 4).emit(data: 5)
        #expect(log.all == ["1", "error", "4"])
    }

    /// The delay ends on one thread while the source finishes on another.
    @Test func debounceLosesNothingThatIsLetGo() {
        for _ in 0..<3000 {
            let (source, clock, emitted) = (Context<Int>(), ManualScheduler(), Counter())
            source.debounce(on: clock, after: .seconds(1)).onCompleted { _ in emitted.increment() }
            source.emit(data: 1)
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                if number == 0 { clock.advance(by: .seconds(1)) } else { source.finish() }
            }
            #expect(emitted.value == 1)
        }
    }

    @Test func debounceWorksWithAQueue() async throws {
        let result = source.debounce(on: DispatchQueue.named("debounce"), after: .milliseconds(30))
        source.emit(data: 1)
        #expect(try await result.value == 1)
    }

    @Test func multicastSharesOneSource() {
        let made = Counter()
        let shared = source.map { value -> Int in
            made.increment()
            return value
        }.multicast()
        shared.onCompleted { log.add("a \($0)") }
        shared.map { $0 * 10 }.onCompleted { log.add("b \($0)") }
        source.emit(data: 1)
        shared.onCompleted { log.add("c \($0)") }
        #expect(log.all == ["a 1", "b 10", "c 1"])
        #expect(made.value == 1)
    }

    // MARK: Keeping every outcome

    @Test func derivedObserversInheritKeepingEveryOutcome() async {
        let inner = Context<Int>(keepsEveryOutcome: true)
        let queue = DispatchQueue.named("keeping")
        let result = source.map { _ in inner as Observer<Int> }.map { $0 }.mapError { $0 }.dispatch(on: queue).map { $0 * 10 }
        source.emit(data: 1)
        inner.emit(data: 1).emit(data: 2).emit(error: Failure("x")).emit(data: 3)
        await queue.drained()
        result.onCompleted { log.add("\($0)") }
        #expect(log.all == ["10", "20", "30"])
    }

    @Test func multicastReplaysOnlyTheLatestOutcomeOfAKeepingSource() {
        let source = Context<Int>(keepsEveryOutcome: true)
        let shared = source.multicast()
        source.emit(data: 1)
        shared.onCompleted { log.add("a \($0)") }
        source.emit(data: 2)
        shared.onCompleted { log.add("b \($0)") }
        #expect(log.all == ["a 1", "a 2", "b 2"])
    }

    // MARK: mapInOrder

    @Test func mapInOrderProcessesOneElementAtATime() async {
        let source = Context<Int>(keepsEveryOutcome: true)
        for value in 1...3 { source.emit(data: value) }
        source.emit(error: Failure("x")).emit(data: 4).finish()
        let (log, running) = (Log(), Counter())
        log.follow(
            source.mapInOrder { value -> Int in
                #expect(running.increment() == value)
                try await Task.sleep(for: .milliseconds(20 - 5 * value))
                if value == 2 { throw Failure("second") }
                return value * 10
            })
        #expect(await eventually { log.all.count == 10 })
        #expect(log.all.filter { $0 != "defer" } == ["data 10", "error second", "data 30", "error x", "data 40"])
    }

    @Test func cancellingMapInOrderCancelsTheWorkAndTheSource() async throws {
        let (log, begun) = (Log(), Counter())
        let result = source.mapInOrder { value -> Int in
            begun.increment()
            do { try await Task.sleep(for: .seconds(60)) } catch { log.add("work cancelled") }
            return value
        }
        log.follow(result)
        source.emit(data: 1).emit(data: 2)
        #expect(await eventually { begun.value == 1 })
        result.cancel()
        #expect(source.isCancelled)
        #expect(await eventually { log.all.contains("work cancelled") })
        try await Task.sleep(for: .milliseconds(20))
        #expect(begun.value == 1)
        #expect(log.all.filter { $0 != "work cancelled" } == ["cancelled", "defer"])

        let other = Context<Int>()
        let cancelling = other.mapInOrder { _ -> Int in throw CancellationError() }
        other.emit(data: 1)
        await #expect(throws: CancellationError.self) { try await cancelling.value }
        #expect(other.isCancelled)
        // A source that is released.
        await #expect(throws: ObserverError.finishedWithoutValue) { try await Context<Int>().mapInOrder { $0 }.value }
    }
}
