import DAOCurl
import DAOLoopbackServer
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct Failure: Error, Equatable { let code: Int }

@Suite struct LoadingStateTests {
    @Test func stateExposesContentLoadingAndError() {
        let states: [(LoadingState<Int>, content: Int?, isLoading: Bool, failed: Bool)] = [
            (.initial, nil, false, false), (.loading(cache: nil), nil, true, false), (.loading(cache: 1), 1, true, false),
            (.success(content: 1), 1, false, false), (.failure(error: Failure(code: 1), cache: nil), nil, false, true),
            (.failure(error: Failure(code: 1), cache: 1), 1, false, true),
        ]
        for (state, content, isLoading, failed) in states {
            #expect(state.content == content)
            #expect(state.isLoading == isLoading)
            #expect((state.error != nil) == failed)
        }
    }

    @Test func equalityComparesContentAndIgnoresErrors() {
        #expect(LoadingState<Int>.failure(error: Failure(code: 1), cache: 1) == .failure(error: Failure(code: 2), cache: 1))
        #expect(LoadingState<Int>.failure(error: Failure(code: 1), cache: 1) != .failure(error: Failure(code: 1), cache: 2))
        #expect(LoadingState<Int>.loading(cache: 1) != .success(content: 1))
        #expect(LoadingState<Int>.initial == .initial)
        #expect(LoadingState<Int>.initial != .loading(cache: nil))
    }

    @Test func statesMergeByPrecedence() {
        // The full table: loading takes precedence over failure, then initial, then success; content only
        // when both states have it.
        typealias State = LoadingState<Int>
        let error = Failure(code: 1)
        let states: [State] = [
            .initial, .loading(cache: nil), .loading(cache: 1), .failure(error: error, cache: nil),
            .failure(error: error, cache: 1),
            .success(content: 1),
        ]
        for left in states {
            for right in states {
                let merged = left.merge(right) { $0 + $1 }
                let both: Int? = left.content != nil && right.content != nil ? 2 : nil
                let expected: State
                if left.isLoading || right.isLoading {
                    expected = .loading(cache: both)
                } else if left.error != nil || right.error != nil {
                    expected = .failure(error: error, cache: both)
                } else if left == .initial || right == .initial {
                    expected = .initial
                } else {
                    expected = .success(content: 2)
                }
                #expect(merged == expected, "\(left) with \(right)")
            }
        }
    }

    @Test func mergeOfTwoFailuresKeepsTheFirstError() {
        let first = LoadingState<Int>.failure(error: Failure(code: 1), cache: nil)
        let second = LoadingState<Int>.failure(error: Failure(code: 2), cache: 3)
        #expect(first.merge(second) { $0 + $1 }.error as? Failure == Failure(code: 1))
        #expect(second.merge(first) { $0 + $1 }.error as? Failure == Failure(code: 2))
        #expect(second.merge(.success(content: 4)) { $0 + $1 }.content == 7)
    }
}

@MainActor
@Suite(.timeLimit(.minutes(30))) struct ContentLoaderTests {
    private let loader = ContentLoader<Int>()
    private let counter = Counter()

    private final class Counter {
        var count = 0
    }

    @Test func startLoadingNotifiesObserversOnce() {
        let observation = loader.observe { counter.count += 1 }
        #expect(loader.state == .initial)
        #expect(loader.startLoading())
        #expect(loader.state == .loading(cache: nil))
        #expect(!loader.startLoading())
        #expect(counter.count == 1)
        observation.cancel()
    }

    @Test func failureKeepsTheLoadedContentAsCache() {
        loader.finishLoading(.success(10))
        #expect(loader.state == .success(content: 10))
        #expect(loader.startLoading())
        #expect(loader.state == .loading(cache: 10))
        loader.finishLoading(.failure(Failure(code: 1)))
        #expect(loader.state == .failure(error: Failure(code: 1), cache: 10))
        #expect(loader.state.error as? Failure == Failure(code: 1))
    }

    @Test func updateNotifiesOnlyWhenTheStateChanges() {
        let observation = loader.observe { counter.count += 1 }
        loader.update(.success(content: 1))
        loader.update(.success(content: 1))
        loader.update(.success(content: 2))
        #expect(counter.count == 2)
        observation.cancel()
    }

    @Test func observationEndsWhenItsObjectIsReleased() {
        var observation: LoaderObservation? = loader.observe { counter.count += 1 }
        let other = loader.observe { counter.count += 10 }
        loader.startLoading()
        #expect(counter.count == 11)
        #expect(observation != nil)
        observation = nil
        loader.finishLoading(.success(1))
        #expect(counter.count == 21)
        other.cancel()
        other.cancel()
        loader.startLoading()
        #expect(counter.count == 21)
    }

    @Test func observerCanEndTheObservationOfAnother() {
        final class Box { var observation: LoaderObservation? }
        let box = Box()
        let first = loader.observe { box.observation?.cancel() }
        box.observation = loader.observe { counter.count += 1 }
        loader.startLoading()
        #expect(counter.count == 0)
        first.cancel()
    }

    @Test func observersAreCalledInOrderOfRegistration() {
        final class Names { var all: [Int] = [] }
        let names = Names()
        let observations = (0..<5).map { index in loader.observe { names.all.append(index) } }
        loader.startLoading()
        #expect(names.all == [0, 1, 2, 3, 4])
        #expect(observations.count == 5)
    }

    @Test func statesStreamBeginsWithTheCurrentState() async {
        loader.finishLoading(.success(1))
        var iterator = loader.states.makeAsyncIterator()
        #expect(await iterator.next() == .success(content: 1))
        loader.startLoading()
        #expect(await iterator.next() == .loading(cache: 1))
        loader.finishLoading(.success(2))
        loader.startLoading()
        #expect(await iterator.next() == .loading(cache: 2))
    }

    // MARK: Loading from a server

    private struct Number: JsonEndpoint, URLRequestBuildable {
        typealias Content = Int
        var path = "body?is=7"
        func makeRequest() throws -> URLRequest { try get(path) }
    }

    private final class NumberLoader: WebLoader<Int> {
        func load(_ endpoint: Number = Number()) {
            guard startLoading() else { return }
            request(endpoint)
        }
    }

    private func settled<Content>(_ loader: ContentLoader<Content>) async -> LoadingState<Content> {
        for await state in loader.states where !state.isLoading { return state }
        return .initial
    }

    @Test func webLoaderReportsSuccessAndFailure() async throws {
        let server = try LoopbackServer()
        let loader = NumberLoader(client: CurlClient(baseURL: server.url, configuration: .patient))
        loader.load()
        #expect(loader.state == .loading(cache: nil))
        #expect(await settled(loader) == .success(content: 7))
        loader.load(Number(path: "status/500"))
        let failed = await settled(loader)
        #expect((failed.error as? HTTPError)?.statusCode == 500)
        #expect(failed.content == 7)

        let text = WebLoader<String>(client: CurlClient(baseURL: server.url, configuration: .patient))
        text.startLoading()
        text.request(Number()) { "number \($0)" }
        #expect(await settled(text) == .success(content: "number 7"))
    }

    @Test func aRequestThatAnotherOneReplacesHasNoEffect() async throws {
        /// Answers the first request when the second one has been answered, with an error or, where it is not cancelled in time, a value.
        struct Slow: Client {
            let isCancelled: Bool
            let first = Locked<CheckedContinuation<Void, Never>?>(nil)
            let count = Locked(0)

            func request<Request: Endpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number == 1 {
                    await withCheckedContinuation { continuation in first.withLock { $0 = continuation } }
                    if isCancelled { throw CancellationError() }
                }
                return try endpoint.content(from: nil, with: Data("\(number)".utf8))
            }
            func upload<Request: UploadEndpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
                throw CancellationError()
            }
        }
        for isCancelled in [true, false] {
            let client = Slow(isCancelled: isCancelled)
            let loader = NumberLoader(client: client)
            var states: [LoadingState<Int>] = []
            let observation = loader.observe { states.append(loader.state) }
            loader.load()
            while client.first.withLock({ $0 == nil }) { await Task.yield() }
            loader.request(Number())
            #expect(await settled(loader) == .success(content: 2))
            client.first.withLock { $0 }?.resume()
            // The first request ends on another thread, and would then wait for this one.
            for _ in 0..<20 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(states == [.loading(cache: nil), .success(content: 2)], "cancelled: \(isCancelled)")
            observation.cancel()
        }
    }

    @Test func releasingAWebLoaderCancelsItsRequest() async throws {
        struct Waiting: Client {
            let ended: AsyncStream<Bool>.Continuation
            func request<Request: Endpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
                do {
                    try await Task.sleep(for: .seconds(60))
                } catch {
                    ended.yield(error is CancellationError)
                }
                throw CancellationError()
            }
            func upload<Request: UploadEndpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
                throw CancellationError()
            }
        }
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        var loader: NumberLoader? = NumberLoader(client: Waiting(ended: continuation))
        loader?.load()
        await Task.yield()
        loader = nil
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == true)
        #expect(loader == nil)
    }
}
