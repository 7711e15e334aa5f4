import DAONodes
import DAOTransport
import Foundation
import Testing

private let offline = URLError(.notConnectedToInternet)

@Suite struct StoreNodeTests {
    private func node(_ output: String) -> ClosureNode<Int, String> { ClosureNode { .emit(data: "\(output) \($0)") } }
    private func failing(_ error: any Error & Sendable) -> ClosureNode<Int, String> { ClosureNode { _ in .emit(error: error) } }

    private func all(_ node: some Node<Int, String>) async -> [String] {
        var seen: [String] = []
        do {
            for try await value in node.values(for: 1) { seen.append(value) }
        } catch {
            seen.append("\((error as? Failure)?.name ?? "\(type(of: error))")")
        }
        return seen
    }

    // MARK: Stored result first

    @Test func storedResultIsEmittedBeforeTheFreshResult() async {
        #expect(await all(FirstCacheNode(stored: node("stored"), network: node("fresh"))) == ["stored 1", "fresh 1"])
    }

    @Test func storeWithoutAResultIsSkipped() async {
        let fresh = node("fresh")
        #expect(await all(FirstCacheNode(stored: failing(Failure("empty")), network: fresh)) == ["fresh 1"])
        #expect(await all(FirstCacheNode(stored: node("stored"), network: fresh, isUsable: { _ in false })) == ["fresh 1"])
        let silent = ClosureNode<Int, String> { _ in Context<String>() }
        #expect(await all(FirstCacheNode(stored: silent, network: fresh)) == ["fresh 1"])
    }

    @Test func networkErrorIsEmittedAfterTheStoredResult() async {
        #expect(await all(FirstCacheNode(stored: node("stored"), network: failing(Failure("x")))) == ["stored 1", "x"])
        #expect(await all(FirstCacheNode(stored: failing(Failure("empty")), network: failing(Failure("x")))) == ["x"])
    }

    @Test func networkIsCalledOnceAfterTheStore() {
        let log = Log()
        let stored = Context<String>()
        let first = FirstCacheNode<Int, String>(
            stored: ClosureNode { _ in stored },
            network: ClosureNode { _ in
                log.add("network")
                return .emit(data: "fresh")
            })
        let observer = first.process(1)
        observer.onCompleted { log.add($0) }
        #expect(log.all.isEmpty)
        stored.emit(data: "stored")
        stored.emit(data: "stored again")
        #expect(log.all == ["stored", "network", "fresh"])
    }

    @Test func whoHasCancelledAsksNoNetwork() {
        let log = Log()
        let stored = Context<String>()
        let first = FirstCacheNode<Int, String>(
            stored: ClosureNode { _ in stored },
            network: ClosureNode { _ in
                log.add("network")
                return .emit(data: "fresh")
            })
        let observer = first.process(1)
        observer.onCompleted { _ in observer.cancel() }
        stored.emit(data: "stored")
        #expect(observer.isCancelled)
        #expect(log.all.isEmpty)
    }

    @Test func cancellingStopsTheRunningNode() {
        let stored = Context<String>()
        let network = Context<String>()
        let asked = Counter()
        let first = FirstCacheNode<Int, String>(
            stored: ClosureNode { _ in stored },
            network: ClosureNode { _ in
                asked.increment()
                return network
            })
        first.process(1).cancel()
        #expect(stored.isCancelled)
        #expect(asked.value == 0)

        let later = FirstCacheNode<Int, String>(stored: node("stored"), network: ClosureNode { _ in network })
        later.process(1).cancel()
        #expect(network.isCancelled)
    }

    // MARK: Fallback

    @Test func storedResultIsUsedWithoutAConnection() async {
        for code in [URLError.Code.notConnectedToInternet, .timedOut, .cannotConnectToHost, .networkConnectionLost] {
            let chain = FallbackToStoreNode(network: failing(URLError(code)), stored: node("stored"))
            #expect(await all(chain) == ["stored 1"])
        }
    }

    @Test func storeIsReadOnlyAfterAConnectionFailure() async {
        let reads = Counter()
        let stored = ClosureNode<Int, String> { _ in
            reads.increment()
            return .emit(data: "stored")
        }
        #expect(await all(FallbackToStoreNode(network: node("fresh"), stored: stored)) == ["fresh 1"])
        #expect(
            await all(FallbackToStoreNode(network: failing(HTTPError(statusCode: 500, url: nil)), stored: stored)) == [
                "HTTPError"
            ])
        #expect(await all(FallbackToStoreNode(network: failing(URLError(.badURL)), stored: stored)) == ["URLError"])
        #expect(reads.value == 0)
        #expect(await all(FallbackToStoreNode(network: failing(offline), stored: stored)) == ["stored"])
        #expect(reads.value == 1)
    }

    @Test func networkErrorIsTheResultWhenTheStoreIsEmpty() async {
        #expect(await all(FallbackToStoreNode(network: failing(offline), stored: failing(Failure("empty")))) == ["URLError"])
        let unusable = FallbackToStoreNode(network: failing(offline), stored: node("stored"), isUsable: { _ in false })
        #expect(await all(unusable) == ["URLError"])
    }

    @Test func mappedErrorsFallBackWithACustomClosure() async {
        let chain = FallbackToStoreNode(
            network: ErrorMapperNode(next: failing(offline)) { _ in Failure("offline") },
            stored: node("stored"),
            when: { $0 as? Failure == Failure("offline") })
        #expect(await all(chain) == ["stored 1"])
    }

    @Test func cancellationDoesNotFallBack() {
        let network = Context<String>()
        let reads = Counter()
        let log = Log()
        let chain = FallbackToStoreNode<Int, String>(
            network: ClosureNode { _ in network },
            stored: ClosureNode { _ in
                reads.increment()
                return .emit(data: "stored")
            })
        let observer = chain.process(1)
        log.follow(observer)
        observer.cancel()
        #expect(network.isCancelled)
        #expect(reads.value == 0)
        #expect(log.all == ["cancelled", "defer"])
    }

    // MARK: Stale results

    @Test(arguments: [(0.0, "stored 1"), (59, "stored 1"), (60, "stored 1"), (60.5, "fresh 1"), (-1, "fresh 1")])
    func networkIsCalledWhenTheStoredResultIsTooOld(_ age: Double, _ expected: String) async {
        let now = Date(timeIntervalSinceReferenceDate: 1_000)
        let chain = StaleAfterNode(stored: node("stored"), network: node("fresh"), after: .seconds(60), now: { now }) { _, _ in
            now.addingTimeInterval(-age)
        }
        #expect(await all(chain) == [expected])
    }

    @Test func missingResultOrMissingDateIsTooOld() async {
        let undated = StaleAfterNode(stored: node("stored"), network: node("fresh"), after: .seconds(60)) { _, _ in nil }
        #expect(await all(undated) == ["fresh 1"])
        let empty = StaleAfterNode(stored: failing(Failure("empty")), network: node("fresh"), after: .seconds(60)) { _, _ in
            Date()
        }
        #expect(await all(empty) == ["fresh 1"])
        let unknowable = StaleAfterNode(stored: node("stored"), network: node("fresh"), after: .seconds(60)) { _, _ in
            throw Failure("no date")
        }
        #expect(await all(unknowable) == ["fresh 1"])
    }

    @Test func fetchTimesRecordSuccessesByInput() async {
        let clock = Locked(Date(timeIntervalSinceReferenceDate: 0))
        let now: @Sendable () -> Date = { clock.withLock { $0 } }
        let times = FetchTimes<Int>(now: now)
        let isDown = Locked(false)
        let network = ClosureNode<Int, String> { input in
            isDown.withLock { $0 } ? .emit(error: offline) : .emit(data: "fresh \(input)")
        }
        let chain = StaleAfterNode(stored: node("stored"), network: times.recording(network), after: .seconds(60), now: now) {
            input, _ in
            times.date(for: input)
        }
        #expect(await all(chain) == ["fresh 1"])
        #expect(await all(chain) == ["stored 1"])
        #expect(times.date(for: 2) == nil)
        clock.withLock { $0 += 61 }
        isDown.withLock { $0 = true }
        #expect(await all(chain) == ["URLError"])
        #expect(await all(FallbackToStoreNode(network: chain, stored: node("old"))) == ["old 1"])
        isDown.withLock { $0 = false }
        #expect(await all(chain) == ["fresh 1"])
        times.forget(1)
        #expect(await all(chain) == ["fresh 1"])
    }
}
