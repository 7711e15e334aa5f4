import DAONodes
import DAOTransport
import Testing

@Suite struct PagingTests {
    /// Returns pages of the numbers from 0 up to a count.
    private func numbers(upTo count: Int, asked: Log = Log()) -> ClosureNode<PageRequest, OffsetPage<[Int]>> {
        ClosureNode { request in
            asked.add("\(request.index)+\(request.size)")
            let end = min(count, request.index + request.size)
            return .emit(data: OffsetPage(Array(min(request.index, end)..<end)))
        }
    }

    @Test func pagesAdvanceByTheirElements() async throws {
        let asked = Log()
        let pager = OffsetPager(provider: numbers(upTo: 100, asked: asked), pageSize: 10, startIndex: 5)
        #expect(try await pager.next().value == Array(5..<15))
        #expect(try await pager.next().value == Array(15..<25))
        #expect(asked.all == ["5+10", "15+10"])
        #expect(pager.index == 25)
        #expect(!pager.isAtEnd)
    }

    @Test func shortOrEmptyPageIsTheEnd() async throws {
        let ends = Log()
        let short = OffsetPager(provider: numbers(upTo: 3), pageSize: 2)
        short.onEnd { ends.add("short") }
        #expect(try await short.next().value == [0, 1])
        #expect(ends.all.isEmpty)
        #expect(try await short.next().value == [2])
        #expect(ends.all == ["short"])
        #expect(short.isAtEnd)

        let even = OffsetPager(provider: numbers(upTo: 2), pageSize: 2)
        even.onEnd { ends.add("empty") }
        #expect(try await even.next().value == [0, 1])
        #expect(!even.isAtEnd)
        #expect(try await even.next().value == [])
        #expect(ends.all == ["short", "empty"])
        #expect(even.index == 2)
    }

    @Test func renewReturnsToTheStart() async throws {
        let pager = OffsetPager(provider: numbers(upTo: 3), pageSize: 2)
        _ = try await pager.next().value
        _ = try await pager.next().value
        pager.renew()
        #expect(!pager.isAtEnd)
        #expect(try await pager.next().value == [0, 1])
    }

    @Test func savedPositionsAreRestoredInReverseOrder() async throws {
        let pager = OffsetPager(provider: numbers(upTo: 5), pageSize: 2)
        _ = try await pager.next().value
        pager.saveState()
        _ = try await pager.next().value
        pager.saveState()
        _ = try await pager.next().value
        #expect(pager.isAtEnd)
        pager.restoreState()
        #expect(!pager.isAtEnd)
        #expect(try await pager.next().value == [4])
        pager.restoreState()
        #expect(try await pager.next().value == [2, 3])
        pager.restoreState()
        #expect(pager.index == 4)
        pager.saveState()
        pager.clearStates()
        pager.renew()
        pager.restoreState()
        #expect(pager.index == 0)
    }

    @Test func pageOfARequestBeforeAMoveIsDeliveredAndMovesNothing() throws {
        let moves: [(name: String, move: (OffsetPager<[Int]>) -> Void)] = [
            ("renew", { $0.renew() }), ("restore", { $0.restoreState() }),
        ]
        let pages = Locked<[Context<OffsetPage<[Int]>>]>([])
        for (name, move) in moves {
            for isLate in [false, true] {
                let asked = Log()
                pages.withLock { $0 = [] }
                let pager = OffsetPager<[Int]>(
                    provider: ClosureNode { request in
                        asked.add("\(request.index)+\(request.size)")
                        let page = Context<OffsetPage<[Int]>>()
                        pages.withLock { $0.append(page) }
                        return page
                    }, pageSize: 2)
                let ends = Counter()
                pager.onEnd { ends.increment() }
                pager.saveState()
                let (first, second) = (Log(), Log())
                let observers = [first.follow(pager.next())]
                move(pager)
                // The next request does not wait for the one before the move.
                let next = second.follow(pager.next())
                let requests = pages.withLock { $0 }
                try #require(requests.count == 2, "\(name), late: \(isLate)")
                let (former, latter) = (requests[0], requests[1])
                if isLate { latter.emit(data: OffsetPage([0, 1])) }
                former.emit(data: OffsetPage([7]))
                #expect(first.all == ["data [7]", "defer"], "\(name), late: \(isLate)")
                #expect(pager.index == (isLate ? 2 : 0) && !pager.isAtEnd, "\(name), late: \(isLate)")
                if !isLate { latter.emit(data: OffsetPage([0, 1])) }
                #expect(second.all == ["data [0, 1]", "defer"], "\(name), late: \(isLate)")
                #expect(pager.index == 2 && !pager.isAtEnd && ends.value == 0, "\(name), late: \(isLate)")
                #expect(asked.all == ["0+2", "0+2"], "\(name), late: \(isLate)")
                _ = (observers, next)
            }
        }
    }

    @Test func pagerWithoutAProviderThrows() async throws {
        let pager = OffsetPager<[Int]>(pageSize: 2)
        await #expect(throws: PagingError.dataProviderNotSet) { try await pager.next().value }
        pager.setProvider(numbers(upTo: 3))
        #expect(try await pager.next().value == [0, 1])
    }

    @Test func failedOrCancelledPageDoesNotMoveThePager() async throws {
        let outcome = Locked<Context<OffsetPage<[Int]>>>(.init())
        let pager = OffsetPager<[Int]>(provider: ClosureNode { _ in outcome.withLock { $0 } }, pageSize: 2)
        pager.onEnd { Issue.record("this page is not the last") }
        let failing = pager.next()
        outcome.withLock { $0 }.emit(error: Failure("x"))
        await #expect(throws: Failure("x")) { try await failing.value }
        #expect(pager.index == 0)

        outcome.withLock { $0 = .init() }
        pager.next().cancel()
        #expect(outcome.withLock { $0.isCancelled })
        #expect(pager.index == 0)

        outcome.withLock { $0 = .init() }
        let page = pager.next()
        outcome.withLock { $0 }.emit(data: OffsetPage([1, 2]))
        #expect(try await page.value == [1, 2])
        #expect(pager.index == 2)
    }

    @Test func onePageIsRequestedAtATimeAndALatePageDoesNotMoveThePager() async throws {
        let asked = Locked<[Context<OffsetPage<[Int]>>]>([])
        let pager = OffsetPager<[Int]>(
            provider: ClosureNode { _ in
                let context = Context<OffsetPage<[Int]>>()
                asked.withLock { $0.append(context) }
                return context
            }, pageSize: 2)
        let first = pager.next()
        await #expect(throws: PagingError.pageUnderWay) { try await pager.next().value }
        pager.renew()
        let second = pager.next()
        asked.withLock { $0[0] }.emit(data: OffsetPage([8]))
        #expect(try await first.value == [8])
        #expect(pager.index == 0)
        #expect(!pager.isAtEnd)
        asked.withLock { $0[1] }.emit(data: OffsetPage([1, 2]))
        #expect(try await second.value == [1, 2])
        #expect(pager.index == 2)
    }

    @Test func concurrentCallersReceiveEachPageOnce() async throws {
        let pager = OffsetPager(provider: numbers(upTo: 1_000_000), pageSize: 10)
        let seen = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<50 { group.addTask { (try? await pager.next().value) ?? [] } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(seen).count == seen.count)
        #expect(seen.sorted() == Array(0..<pager.index))
    }
}
