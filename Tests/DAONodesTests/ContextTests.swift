import DAONodes
import Foundation
import Testing

@Suite struct ContextTests {
    private let log = Log()
    private let context = Context<Int>()

    // MARK: Replay

    @Test func lateListenerIsCalledOnceImmediatelyOnItsThread() {
        context.emit(data: 1)
        let thread = ObjectIdentifier(Thread.current)
        context.onCompleted { value in log.add("\(value) \(ObjectIdentifier(Thread.current) == thread)") }
        #expect(log.all == ["1 true"])
        context.onCompleted { log.add("again \($0)") }
        #expect(log.all == ["1 true"])

        let failed = Context<Int>()
        failed.emit(error: Failure("x"))
        failed.onError { _ in log.add("error \(ObjectIdentifier(Thread.current) == thread)") }
        failed.onError { _ in log.add("again") }
        #expect(log.all == ["1 true", "error true"])
    }

    @Test func onlyTheLatestOutcomeIsReplayed() {
        var log = Log()
        log.follow(Context<String>().emit(data: "Hello"))
        #expect(log.all == ["data Hello", "defer"])
        log = Log()
        log.follow(Context<String>().emit(data: "Hello").emit(error: Failure("Error!")))
        #expect(log.all == ["error Error!", "defer"])
        log = Log()
        log.follow(Context<String>().emit(data: "First").emit(error: Failure("Error!")).emit(data: "Hello"))
        #expect(log.all == ["data Hello", "defer"])
    }

    @Test func nilIsDeliveredAndReplayed() {
        let live = Context<Int?>()
        live.onCompleted { log.add("live \(String(describing: $0))") }
        live.emit(data: nil)
        let late = Context<Int?>()
        late.emit(data: nil)
        late.onCompleted { log.add("late \(String(describing: $0))") }
        #expect(log.all == ["live nil", "late nil"])
    }

    @Test func keptOutcomesAreReplayedInOrder() {
        let context = Context<Int>(keepsEveryOutcome: true)
        context.emit(data: 1).emit(error: Failure("x")).emit(data: 2)
        // The same holds for every operator: each preserves the order.
        let result = context.map { $0 * 10 }.mapError { $0 }.map { Observer<Int>.emit(data: $0) }
        log.follow(result)
        #expect(log.all == ["data 10", "data 20", "error x", "defer"])
        context.emit(data: 3)
        #expect(log.all.suffix(2) == ["data 30", "defer"])
        // A delivered outcome does not wait for another listener.
        result.onCompleted { log.add("again \($0)") }
        #expect(log.all.count == 6)
    }

    // MARK: Listeners

    @Test func secondListenerReplacesTheFirst() {
        context.onCompleted { log.add("first \($0)") }
        context.onCompleted { log.add("second \($0)") }
        context.emit(data: 1)
        #expect(log.all == ["second 1"])
        // An outcome that was delivered live stays available to a replacement of its listener.
        context.onCompleted { log.add("third \($0)") }
        context.onCompleted { log.add("fourth \($0)") }
        #expect(log.all == ["second 1", "third 1"])
    }

    @Test func everyEmissionIsDeliveredInOrderWithDeferAfterIt() {
        log.follow(context)
        context.emit(data: 1).emit(error: Failure("x")).emit(data: 2)
        #expect(log.all == ["data 1", "defer", "error x", "defer", "data 2", "defer"])
    }

    @Test func emissionInsideAListenerIsDeliveredAfterIt() {
        context.onCompleted { [weak context = context] value in
            log.add("begin \(value)")
            if value < 3 { context?.emit(data: value + 1) }
            log.add("end \(value)")
        }.defer { log.add("defer") }
        context.emit(data: 1)
        #expect(log.all == ["begin 1", "end 1", "defer", "begin 2", "end 2", "defer", "begin 3", "end 3", "defer"])
    }

    @Test func deferIsReplayedOnce() {
        context.emit(data: 1)
        context.onCompleted { log.add("data \($0)") }.defer { log.add("defer") }
        context.defer { log.add("again") }
        #expect(log.all == ["data 1", "defer"])
    }

    @Test func unsubscribingRemovesTheListeners() {
        log.follow(context)
        context.unsubscribe()
        context.emit(data: 1)
        context.cancel()
        #expect(log.all.isEmpty)
    }

    // MARK: Cancellation

    @Test func cancellingNotifiesOnceAndStopsOtherEvents() {
        log.follow(context)
        context.cancel()
        context.cancel()
        context.emit(data: 1).emit(error: Failure("x"))
        #expect(log.all == ["cancelled", "defer"])
        #expect(context.isCancelled)
        context.onCompleted { log.add("late \($0)") }.onError { log.add("late \($0)") }
        #expect(log.all == ["cancelled", "defer"])
    }

    @Test func lateListenerReceivesTheCancellationOnce() {
        context.emit(data: 1)
        context.cancel()
        log.follow(context)
        log.follow(context, "again ")
        #expect(log.all == ["cancelled", "defer"])
    }

    @Test func cancellingInsideAListenerDropsPendingEvents() {
        log.follow(context)
        context.onCompleted { [weak context = context] value in
            log.add("data \(value)")
            context?.emit(data: value + 1)
            context?.cancel()
        }
        context.emit(data: 1)
        #expect(log.all == ["data 1", "cancelled", "defer"])
    }

    @Test func finishedContextEmitsNothingButStillReplays() {
        context.emit(data: 1).finish().emit(data: 2)
        log.follow(context)
        #expect(log.all == ["data 1", "defer"])
    }

    // MARK: Queues

    @Test func asyncContextCallsListenersOnItsQueue() async {
        let queue = DispatchQueue.named("listeners")
        let context = AsyncContext<Int>().on(queue)
        context.onCompleted { log.add("live \($0) \(DispatchQueue.currentName ?? "")") }.defer {
            log.add("defer \(DispatchQueue.currentName ?? "")")
        }
        context.emit(data: 1)
        await queue.drained()
        let late = AsyncContext<Int>().on(queue).emit(data: 2)
        late.onCompleted { log.add("late \($0) \(DispatchQueue.currentName ?? "")") }
        await queue.drained()
        #expect(log.all == ["live 1 listeners", "defer listeners", "late 2 listeners"])
    }

    @Test func asyncContextNeverBlocksOrDeadlocks() async {
        let queue = DispatchQueue.named("serial")
        queue.suspend()
        let context = AsyncContext<Int>().on(queue)
        context.onCompleted { log.add("\($0)") }
        context.emit(data: 1)
        log.add("emit returned")
        queue.resume()
        await queue.drained()
        #expect(log.all == ["emit returned", "1"])

        // Called on the queue that it delivers on.
        await withCheckedContinuation { continuation in
            queue.async {
                AsyncContext<Int>().on(queue).emit(data: 2).dispatch(on: queue).onCompleted { _ in continuation.resume() }
            }
        }
    }

    @Test func asyncContextKeepsTheOrderOnAConcurrentQueue() async {
        let queue = DispatchQueue.named("concurrent", attributes: .concurrent)
        let context = AsyncContext<Int>().on(queue)
        context.onCompleted { log.add("\($0)") }
        for value in 0..<1000 { context.emit(data: value) }
        #expect(await eventually { log.all.count == 1000 })
        #expect(log.all == (0..<1000).map(String.init))
    }

    @Test func cancellingAnAsyncContextDropsPendingEvents() async {
        let queue = DispatchQueue.named("cancel")
        queue.suspend()
        let context = AsyncContext<Int>().on(queue)
        log.follow(context)
        context.emit(data: 1)
        context.cancel()
        queue.resume()
        await queue.drained()
        await queue.drained()
        #expect(log.all == ["cancelled", "defer"])
    }

    // MARK: Multicast

    @Test func multicastContextCallsEveryListenerInOrder() {
        let context = MulticastContext<Int>()
        for name in ["a", "b", "c"] {
            context.onCompleted { log.add("\(name) \($0)") }.onError { _ in log.add("\(name) error") }
        }
        context.emit(data: 1)
        #expect(log.all == ["a 1", "b 1", "c 1"])
        context.emit(error: Failure("x"))
        #expect(log.all.suffix(3) == ["a error", "b error", "c error"])
    }

    @Test func multicastContextReplaysTheLatestOutcome() {
        let context = MulticastContext<Int>()
        context.emit(data: 1).emit(data: 2)
        log.follow(context, "a ")
        log.follow(context, "b ")
        #expect(log.all == ["a data 2", "a defer", "b data 2", "b defer"])
        context.emit(error: Failure("x"))
        context.onCompleted { log.add("late \($0)") }
        context.onError { _ in log.add("late error") }
        #expect(
            log.all.suffix(5) == ["a error x", "b error x", "a defer", "b defer", "late error"])
    }

    @Test func multicastContextNotifiesAllListenersOfACancellation() {
        let context = MulticastContext<Int>()
        log.follow(context, "a ")
        log.follow(context, "b ")
        context.cancel()
        log.follow(context, "late ")
        #expect(log.all == ["a cancelled", "b cancelled", "a defer", "b defer", "late cancelled", "late defer"])
    }
}
