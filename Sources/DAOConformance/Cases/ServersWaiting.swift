import DAOCore

/// N4 and N5: what is waited for can be cancelled, and ends.
enum ServersWaiting {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "N.cancelled", "N4",
            title: "a cancelled task waits for no other client, its call writes nothing, and the connection works on"
        ) { context in
            let (network, database) = try context.openNetwork()
            defer { network.stop() }
            let (holder, late) = (try context.open(), try database.dao(Item.self))
            let items = try holder.dao(Item.self)
            try await items.create(Item.make([1]))
            _ = try await late.read()
            let (isHeld, mayEnd) = (Signal(), Signal())
            defer { mayEnd.send() }
            let holding = Background {
                try holder.transaction {
                    try items.update(where: { $0.id == 1 }) { $0.name = "held" }
                    _ = try items.read()
                    isHeld.send()
                    try expect(mayEnd.wait(seconds: 20), "the cancelled call ends")
                }
            }
            try expect(isHeld.wait(seconds: 20), "the other client's transaction begins")
            let waiting = Task(executorPreference: TaskThreads.shared) { try await late.persist(Item(id: 1, name: "late")) }
            try await Task.sleep(for: .milliseconds(200))
            let start = ContinuousClock.now
            waiting.cancel()
            let result = await waiting.result
            let took = ContinuousClock.now - start
            guard case .failure(let error) = result, error is CancellationError else {
                throw fail("expected a CancellationError, not \(result)")
            }
            try expect(took < .seconds(3), "the cancelled call ends at once, not after \(took)")
            mayEnd.send()
            try holding.wait(seconds: 20)
            let name = try await items.read(byPrimaryKey: 1)?.name
            try expectEqual(name, "held", "the name after the cancelled write")
            try await late.persist(Item(id: 1, name: "late"))
            let last = try await items.read(byPrimaryKey: 1)?.name
            try expectEqual(last, "late", "the name after the next write")
        },
        ConformanceCase(
            "N.stalled", "N5", title: "a server that stops answering is unreachable after a while, and the next call works"
        ) { context in
            let (network, database) = try context.openNetwork()
            defer { network.stop() }
            let items = try database.dao(Item.self)
            try items.create(Item.make([1]))
            for message in ConformanceMessage.allCases {
                try expectInTime {
                    try expectKind(.unreachable, "a call that is not answered") {
                        try database.transaction {
                            try items.create(Item.make([2]))
                            network.disturb(next: message, .stall)
                            _ = try items.read()
                        }
                    }
                }
                try expectEqual(try items.read().map(\.id), [1], "the keys afterwards")
            }
        },
        ConformanceCase(
            "N.refused", "N5", title: "without a server calls are unreachable, and work again when it is back"
        ) { context in
            let (network, database) = try context.openNetwork()
            defer { network.stop() }
            let items = try database.dao(Item.self)
            try items.create(Item.make([1]))
            network.refuse(true)
            network.cut()
            try expectInTime { try expectKind(.unreachable, "a read without a server") { try items.read() } }
            try expectInTime {
                try expectKind(.unreachable, "a write without a server") { try items.create(Item.make([2])) }
            }
            try expectInTime {
                try expectKind(.unreachable, "opening without a server") { try network.open().storage(for: User.self) }
            }
            network.refuse(false)
            try items.create(Item.make([3]))
            try expectEqual(try items.read().map(\.id), [1, 3], "the keys with the server back")
        },
        ConformanceCase(
            concurrent: "N.observationWithoutServer", "O4", "N5",
            title: "an observation that has delivered a result reads again until a server that cannot be reached is back"
        ) { context in
            try await expectResults(context) { values, isFirst in
                var results = Observations.Results(values)
                _ = try await results.next("the first count")
                isFirst.send()
                return try await results.next("the count when the server is back")
            }
        },
        ConformanceCase(
            concurrent: "N.valueWithoutServer", "O4", "N5",
            title: "a value of a view that was read at once stays without a server, and follows it when it is back"
        ) { context in
            try await expectResults(context) { values, isFirst in
                let value = await ObservedValue(values, initially: -1, immediately: true)
                let first = await value.value
                try expectEqual(first, 0, "the value that was read at once")
                isFirst.send()
                while await value.value == 0 {
                    if let error = await value.error { throw error }
                    try await Task.sleep(for: .milliseconds(5))
                }
                return await value.value
            }
        },
    ].requiring(.network)

    /// Expects that an observation, which says when it has its first result, survives that its next read finds no server.
    private static func expectResults(
        _ context: ConformanceContext, follow: @escaping @Sendable (ValueObservation<Int>, Signal) async throws -> Int
    ) async throws {
        let (network, database) = try context.openNetwork()
        defer { network.stop() }
        let items = try context.dao(Item.self)
        let observed = try database.dao(Item.self)
        let (isFirst, mayCut, isCut) = (Signal(), Shared(false), Signal())
        let values = database.observe {
            if mayCut.value {
                mayCut.change { $0 = false }
                network.refuse(true)
                network.cut()
                isCut.send()
            }
            return try observed.count()
        }
        let reader = Task(executorPreference: TaskThreads.shared) { try await follow(values, isFirst) }
        defer { reader.cancel() }
        func wait(_ signal: Signal, _ what: String) async throws {
            for _ in 0..<1000 where !signal.wait(seconds: 0) { try await Task.sleep(for: .milliseconds(10)) }
            try expect(signal.wait(seconds: 0), what)
        }
        try await wait(isFirst, "a first result")
        mayCut.change { $0 = true }
        try await items.create(Item.make([1, 2]))
        try await wait(isCut, "a read after a commit of another client")
        // Several reads without a server.
        try await Task.sleep(for: .milliseconds(500))
        network.refuse(false)
        let count = try await reader.value
        try expectEqual(count, 2, "the count when the server is back")
    }

    /// Expects that a closure ends long before a wait without an end would be noticed.
    private static func expectInTime(_ body: () throws -> Void) throws {
        let start = ContinuousClock.now
        try body()
        let took = ContinuousClock.now - start
        try expect(took < .seconds(8), "an end within 8 seconds, not after \(took)")
    }
}
