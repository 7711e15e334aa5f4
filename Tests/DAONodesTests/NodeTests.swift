import DAOLoopbackServer
import DAONodes
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// MARK: The program of the documentation: a reader with mapped errors on a queue

private struct Person: Sendable, Equatable {
    let id: String
}

private func readError(_ error: any Error) -> ReadError {
    switch (error as NSError).code {
    case 100: .notFound
    case 101: .cantConnect
    case 102: .badRequest
    default: .undefined
    }
}

private struct PersonReaderNode: Node {
    let log: Log

    func process(_ id: String) -> Observer<Person> {
        log.add("reading on \(DispatchQueue.currentName ?? "the caller's thread")")
        if let code = Int(id) { return .emit(error: NSError(domain: "reader", code: code)) }
        return .emit(data: Person(id: id))
    }
}

@Suite(.timeLimit(.minutes(30))) struct NodeTests {
    private let log = Log()
    private let refreshes = Counter()

    @Test func documentedProgramReadsOnItsQueueAndMapsItsErrors() async {
        let queue = DispatchQueue.named("work")
        let chain = DispatcherNode(
            next: ErrorMapperNode(next: PersonReaderNode(log: log)) { readError($0) },
            on: queue
        )
        queue.suspend()
        let observer = chain.process("ann")
        observer.onCompleted { log.add("\($0.id) on \(DispatchQueue.currentName ?? "")") }
        log.add("returned")
        queue.resume()
        #expect(await eventually { log.all.count == 3 })
        #expect(log.all == ["returned", "reading on work", "ann on work"])

        for (id, expected) in [
            ("100", ReadError.notFound), ("101", .cantConnect), ("102", .badRequest), ("7", .undefined),
        ] {
            await #expect(throws: expected) { try await chain.value(for: id) }
        }
    }

    @Test func dispatcherDeliversOnAnotherQueueAndForwardsCancellation() async {
        let inner = Context<Int>()
        let work = DispatchQueue.named("work")
        let chain = DispatcherNode(next: ClosureNode<Int, Int> { _ in inner }, on: work, deliveringOn: .named("response"))
        let observer = chain.process(1)
        observer.onCompleted { log.add("\($0) \(DispatchQueue.currentName ?? "")") }.onCancelled {
            log.add("cancelled \(DispatchQueue.currentName ?? "")")
        }
        await work.drained()
        inner.emit(data: 5)
        #expect(await eventually { log.all == ["5 response"] })
        inner.cancel()
        #expect(await eventually { log.all == ["5 response", "cancelled response"] })

        // When the result is cancelled before its turn, the next node is not called.
        let asked = Counter()
        let counting = DispatcherNode(
            next: ClosureNode<Void, Int> {
                asked.increment()
                return .emit(data: 1)
            }, on: work)
        work.suspend()
        counting.process().cancel()
        work.resume()
        await work.drained()
        #expect(asked.value == 0)
    }

    @Test func errorMapperKeepsDataAndCancellation() {
        let inner = Context<Int>()
        log.follow(ErrorMapperNode(next: ClosureNode<Void, Int> { inner }) { _ in Failure("mapped") }.process())
        inner.emit(data: 1).emit(error: Failure("x"))
        inner.cancel()
        #expect(log.all == ["data 1", "defer", "error mapped", "defer", "cancelled", "defer"])
    }

    @Test func aborterIsCalledOnceOnCancellation() {
        struct Spy: Aborter {
            let count: Counter
            func cancel() { count.increment() }
        }
        let count = Counter()
        let inner = Context<Int>()
        let node = AborterNode(next: ClosureNode<Void, Int> { inner }, aborter: Spy(count: count))
        let observer = node.process()
        log.follow(observer)
        observer.cancel()
        observer.cancel()
        inner.emit(data: 1)
        #expect(count.value == 1)
        #expect(log.all == ["cancelled", "defer"])
        #expect(inner.isCancelled)

        let quiet = AborterNode(next: ClosureNode<Void, Int> { .emit(data: 1) }, aborter: Spy(count: count)).process()
        quiet.onCompleted { _ in }
        #expect(count.value == 1)
        // The work is done: the aborter must not stop other work.
        quiet.cancel()
        #expect(quiet.isCancelled)
        #expect(count.value == 1)

        // The cancellation of the next node.
        let other = Context<Int>()
        _ = AborterNode(next: ClosureNode<Void, Int> { other }, aborter: Spy(count: count)).process().onCancelled {}
        other.cancel()
        #expect(count.value == 2)
    }

    // MARK: Mapping

    private struct Entry: Codable, RawMappable, Equatable {
        typealias Raw = Json
        let value: Int
    }

    private struct Model: DTOConvertible, Equatable {
        let number: Int
        func toDTO() throws -> Entry {
            guard number >= 0 else { throw MappingError.badValue(field: "number") }
            return Entry(value: number)
        }
        static func from(dto: Entry) throws -> Model {
            guard dto.value < 100 else { throw MappingError.badValue(field: "value") }
            return Model(number: dto.value)
        }
    }

    @Test func modelsAndEntriesAreMappedBothWays() async throws {
        let seen = Locked<[Json]>([])
        let wire = ClosureNode<Json, Json> { raw in
            seen.withLock { $0.append(raw) }
            return .emit(data: ["_array": [raw, ["value": 2, "extra": true]]])
        }
        let chain = ModelInputNode<Model, [Model]>(next: DTOMapperNode<Entry, [Entry]>(next: wire))
        #expect(try await chain.value(for: Model(number: 1)) == [Model(number: 1), Model(number: 2)])
        #expect(seen.withLock { $0 } == [["value": 1]])
    }

    @Test func jsonPassesThroughTheChainUnchanged() async throws {
        let chain = VoidInputNode(
            next: ModelInputNode<Json, Json>(next: DTOMapperNode<Json, Json>(next: ClosureNode { .emit(data: ["got": $0]) })))
        #expect(try await chain.value() == ["got": [:]])
    }

    @Test func failedInputMappingDoesNotCallTheNextNode() async {
        let asked = Counter()
        let chain = ModelInputNode<Model, Model>(
            next: ClosureNode { entry in
                asked.increment()
                return .emit(data: entry)
            })
        for (number, field) in [(-1, "number"), (100, "value")] {
            let error = await #expect(throws: MappingError.self) { try await chain.value(for: Model(number: number)) }
            #expect(error.map { "\($0)" } == "\(MappingError.badValue(field: field))")
        }
        #expect(asked.value == 1)
    }

    @Test func mapperLogsOnlyItsOwnFailures() async throws {
        func chain(_ response: Observer<Json>) -> DTOMapperNode<Json, [Entry]> {
            DTOMapperNode(next: ClosureNode { _ in response }) { log.add("\(type(of: $0))") }
        }
        #expect(try await chain(.emit(data: [:])).value(for: [:]) == [])
        #expect(try await chain(.emit(data: ["_array": [["value": 1]]])).value(for: [:]) == [Entry(value: 1)])
        await #expect(throws: Failure("x")) { try await chain(.emit(error: Failure("x"))).value(for: [:]) }
        #expect(log.all.isEmpty)
        await #expect(throws: MappingError.self) { try await chain(.emit(data: ["_array": [[:]]])).value(for: [:]) }
        #expect(log.all == ["MappingError"])
        let single = DTOMapperNode<Json, Entry>(next: ClosureNode { _ in .emit(data: [:]) }) { log.add("\(type(of: $0))") }
        await #expect(throws: DecodingError.self) { try await single.value(for: [:]) }
        #expect(log.all == ["MappingError", "DecodingError"])
    }

    // MARK: Refreshing access

    @Test func tenCallersShareOneRefresh() async throws {
        let asked = Locked(false)
        let refresher = TokenRefresherNode(
            refresh: ClosureNode<Void, Int>(async: {
                // Waits until all callers have subscribed.
                _ = await eventually { asked.withLock { $0 } }
                return refreshes.increment()
            }))
        let tokens = try await withThrowingTaskGroup(of: Int.self) { group in
            let observers = (0..<10).map { _ in refresher.process() }
            asked.withLock { $0 = true }
            for observer in observers { group.addTask { try await observer.value } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(tokens == Array(repeating: 1, count: 10))
        #expect(try await refresher.value() == 2)
    }

    @Test func failedRefreshFailsAllCallersAndTheNextCallerRetries() async throws {
        let attempts = Counter()
        let asked = Locked(false)
        let refresher = TokenRefresherNode(
            refresh: ClosureNode<Void, Int>(async: {
                _ = await eventually { asked.withLock { $0 } }
                if attempts.increment() == 1 { throw Failure("refused") }
                return 7
            }))
        let observers = (0..<10).map { _ in refresher.process() }
        asked.withLock { $0 = true }
        for observer in observers {
            await #expect(throws: Failure("refused")) { try await observer.value }
        }
        #expect(attempts.value == 1)
        #expect(try await refresher.value() == 7)
        #expect(attempts.value == 2)
    }

    @Test func cancelledCallerDoesNotAffectOtherCallers() async throws {
        let refreshed = Context<Int>()
        let refresher = TokenRefresherNode(refresh: ClosureNode<Void, Int> { refreshed })
        let first = refresher.process()
        let second = refresher.process()
        first.cancel()
        refreshed.emit(data: 1)
        #expect(try await second.value == 1)
        #expect(!refreshed.isCancelled)
    }

    @Test func eachEndOfARefreshLetsTheNextCallerRefresh() {
        let refreshes = Locked<[Context<Int>]>([])
        let refresher = TokenRefresherNode(
            refresh: ClosureNode<Void, Int> {
                let refresh = Context<Int>()
                refreshes.withLock { $0.append(refresh) }
                return refresh
            })
        let ends: [(expected: [String], end: (Context<Int>) -> Void)] = [
            (["cancelled", "defer"], { $0.cancel() }), (["error no", "defer"], { $0.emit(error: Failure("no")) }),
            (["error \(ObserverError.finishedWithoutValue)", "defer"], { $0.finish() }),
            // What a refresh emits later reaches nobody.
            (["data 7", "defer"], { $0.emit(data: 7).emit(data: 8).emit(error: Failure("late")) }),
        ]
        for (round, (expected, end)) in (ends + ends.reversed()).enumerated() {
            let logs = [Log(), Log()]
            let callers = logs.map { $0.follow(refresher.process()) }
            #expect(refreshes.withLock { $0.count } == round + 1, "the refreshes of round \(round)")
            if let refresh = refreshes.withLock({ $0.last }) { end(refresh) }
            for log in logs { #expect(log.all == expected, "round \(round)") }
            _ = callers
        }
    }

    @Test func refreshWithoutAValueFailsItsCallers() async {
        let refresher = TokenRefresherNode(refresh: ClosureNode<Void, Int> { Context<Int>() })
        await #expect(throws: ObserverError.finishedWithoutValue) { try await refresher.value() }
    }

    @Test func refusedAccessIsRetriedOnce() async throws {
        let tries = Counter()
        let refresher = TokenRefresherNode(refresh: ClosureNode<Void, Int> { .emit(data: refreshes.increment()) })
        let refusing = ClosureNode<Int, Int> { _ in
            tries.increment()
            return .emit(error: HTTPError(statusCode: 401, url: nil))
        }
        await #expect(throws: HTTPError.self) { try await AccessSafeNode(next: refusing, refresher: refresher).value(for: 1) }
        #expect(refreshes.value == 1 && tries.value == 2)
        // Any other error causes no refresh.
        let failing = ClosureNode<Int, Int> { _ in .emit(error: HTTPError(statusCode: 500, url: nil)) }
        await #expect(throws: HTTPError.self) { try await AccessSafeNode(next: failing, refresher: refresher).value(for: 1) }
        #expect(refreshes.value == 1)
    }

    @Test func lateRefusalOfARefreshedTokenDoesNotRefreshAgain() async throws {
        let token = Locked(0)
        let refresher = TokenRefresherNode(
            refresh: ClosureNode<Void, Int> {
                refreshes.increment()
                return .emit(
                    data: token.withLock { token in
                        token += 1; return token
                    })
            })
        // A call is answered by its own context, and refused when it was sent with the first token.
        let sent = Locked<[(token: Int, answer: Context<Int>)]>([])
        let next = ClosureNode<Void, Int> {
            let answer = Context<Int>()
            sent.withLock { $0.append((token.withLock { $0 }, answer)) }
            return answer
        }
        func answer(_ index: Int) {
            let (token, answer) = sent.withLock { $0[index] }
            if token == 0 {
                answer.emit(error: HTTPError(statusCode: 401, url: nil)).finish()
            } else {
                answer.emit(data: token).finish()
            }
        }
        let safe = AccessSafeNode(next: next, refresher: refresher)
        let (first, late) = (safe.process(), safe.process())
        answer(0)
        answer(2)
        #expect(try await first.value == 1)
        answer(1)
        answer(3)
        #expect(try await late.value == 1)
        #expect(refreshes.value == 1)

        // A token that is refused although it is new is refreshed, once.
        let refused = safe.process()
        sent.withLock { $0[4].answer }.emit(error: HTTPError(statusCode: 401, url: nil)).finish()
        answer(5)
        #expect(try await refused.value == 2)
        #expect(refreshes.value == 2)
    }

    @Test func refreshUnderContentionCompletesAllCallers() async {
        let refresher = TokenRefresherNode(refresh: ClosureNode<Void, Int>(async: { refreshes.increment() }))
        let completed = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1_000 where (try? await refresher.value()) != nil { completed.increment() }
                }
            }
        }
        #expect(completed.value == 8_000)
        #expect(refreshes.value <= 8_000)
    }
}
