import DAOCore

/// N1, N2, N3 and N9: connections that are lost, and a server that lets nobody in.
enum ServersConnections {
    static let cases: [ConformanceCase] = (losing + committing).requiring(.network)

    private static let losing: [ConformanceCase] = [
        ConformanceCase(
            "N.idleLoss", "N1", title: "calls, snapshots and transactions do not notice that connections were lost while idle"
        ) { context in
            let (network, database) = try context.openNetwork()
            defer { network.stop() }
            let items = try database.dao(Item.self)
            try items.create(Item.make(1...3))
            for id in 4...6 {
                network.cut()
                try expectEqual(try items.read().map(\.id), Array(1..<id), "the keys after a loss")
                network.cut()
                try items.create(Item.make([id]))
                network.cut()
                if database.capabilities.hasSnapshotReads {
                    try expectEqual(try database.snapshot { try items.count() }, id, "the number of rows in a snapshot")
                }
                network.cut()
                try database.transaction { try items.persist(items.read()) }
            }
            try expectSame(try context.dao(Item.self).read(), Item.make(1...6))
        },
        ConformanceCase(
            "N.idleLossEveryCall", "N1", "L5",
            title:
                "every call of a database, on statements that it has prepared, does not notice that connections were lost while idle"
        ) { context in
            let (network, database) = try context.openNetwork()
            defer { network.stop() }
            let (topics, posts) = (try database.dao(Topic.self), try database.dao(Post.self))
            let items = try database.dao(Item.self)
            try items.create(Item.make(1...9))
            try topics.persist([Topic(id: "a", posts: Post.make([1, 2])), Topic(id: "b", posts: Post.make([2, 3]))])
            let rows = try database.rows(of: "item")
            var erased = 0
            let calls: [(name: String, run: () throws -> Void)] = [
                ("entities", { try expect(try database.entities().contains { $0.name == "item" }, "the entity is described") }),
                ("rows without types", { try expectEqual(try rows.count(), 9) }),
                ("rows of another entity", { try expectEqual(try database.rows(of: "post").count(), 3 - erased) }),
                ("a read by key", { try expectEqual(try items.read(byPrimaryKey: 2)?.id, 2) }),
                ("a read by keys", { try expectEqual(try items.read(byPrimaryKeys: [3, 1]).map(\.id), [3, 1]) }),
                ("a query", { try expectEqual(try items.read { $0.id > 5 }.map(\.id), Array(6...9)) }),
                ("a count", { try expectEqual(try items.count(), 9) }),
                ("a maximum", { try expectEqual(try items.max(\.id), 9) }),
                ("lists", { try expectEqual(try database.posts("b"), [2, 3].filter { $0 > erased }) }),
                ("a condition on related rows", { try expectEqual(try topics.count { $0.posts.contains { $0.id == 3 } }, 1) }),
                ("explain", { _ = try items.explain { $0.number == 10 } }),
                ("verify", { try expectEqual(try database.verify().problemCount, 0) }),
                ("create", { try items.create(Item.make([100])) }),
                ("an erasure by key", { try expectEqual(try items.erase(byPrimaryKey: 100), 1) }),
                ("set", { try expectEqual(try items.set(\.name, to: "") { $0.id == 1 }, 1) }),
                (
                    "an erasure of a child",
                    {
                        try expectEqual(try posts.erase { $0.id <= erased + 1 }, 1)
                        erased += 1
                    }
                ),
            ]
            // Every call twice: the second time, its statements were prepared on the connection that is lost.
            for call in calls + calls {
                network.cut()
                try expectWorks(call.name, call.run)
            }
        },
        ConformanceCase(
            concurrent: "N.observationGoesOn", "N1", "O1", title: "an observation goes on when connections are lost"
        ) { context in
            let (network, database) = try context.openNetwork()
            defer { network.stop() }
            let items = try context.dao(Item.self)
            var results = try database.dao(Item.self).observe().makeAsyncIterator()
            _ = try await results.next()
            for id in 1...3 {
                network.cut()
                try await items.create(Item.make([id]))
                let ids = try await results.next()?.map(\.id)
                try expectEqual(ids ?? [], Array(1...id), "the keys after a commit of another client")
            }
        },
        ConformanceCase(
            "N.lostTransaction", "N2",
            title: "in a transaction a lost connection is unreachable, nothing of it stays, and the next transaction works"
        ) { context in
            let (network, database) = try context.openNetwork()
            defer { network.stop() }
            let items = try database.dao(Item.self)
            try items.create(Item.make([0]))
            for (round, loss) in [Loss.beforeCall, .inRequest, .inAnswer, .beforeCommit, .caught].enumerated() {
                var runs = 0
                try expectKind(.unreachable, "a transaction whose connection is lost") {
                    try database.transaction {
                        runs += 1
                        try items.create(Item.make([100]))
                        _ = try items.read()
                        switch loss {
                        case .beforeCall, .beforeCommit, .caught: network.cut()
                        case .inRequest: network.disturb(next: .request, .cut)
                        case .inAnswer: network.disturb(next: .answer, .cut)
                        }
                        switch loss {
                        case .beforeCommit: break
                        // A transaction whose calls are lost cannot be committed, whatever the closure does with the error.
                        case .caught: _ = try? items.read()
                        default: try items.create(Item.make([101]))
                        }
                        if loss == .beforeCall || loss == .inRequest || loss == .inAnswer { _ = try items.read() }
                    }
                }
                try expectEqual(runs, 1, "the runs of the closure")
                try expectEqual(try items.read().map(\.id), Array(0...round), "the keys after the loss")
                try database.transaction { try items.create(Item.make([round + 1])) }
            }
            try expectEqual(try context.dao(Item.self).read().map(\.id), Array(0...5), "the keys")
        },
        ConformanceCase(
            "N.lostSnapshot", "N2", title: "in a snapshot a lost connection is unreachable, and the next snapshot works",
            requires: [.snapshotReads]
        ) { context in
            let (network, database) = try context.openNetwork()
            defer { network.stop() }
            let items = try database.dao(Item.self)
            try items.create(Item.make([1]))
            try expectKind(.unreachable, "a snapshot whose connection is lost") {
                try database.snapshot {
                    _ = try items.read()
                    network.cut()
                    _ = try items.read()
                }
            }
            try expectEqual(try database.snapshot { try items.count() }, 1, "the number of rows")
        },
        ConformanceCase(
            "N.stranger", "N9", title: "a user whom the server does not let in is notPermitted, and shown nowhere"
        ) { context in
            let (network, _) = try context.openNetwork()
            defer { network.stop() }
            let error = try expectKind(.notPermitted, "opening as a stranger") { try network.openAsStranger().close() }
            try expect(!"\(error)".contains("stranger"), "no user in '\(error)'")
        },
    ]

    /// Fails the case when a call throws, and names the call.
    private static func expectWorks(
        _ call: String, _ body: () throws -> Void, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        do {
            try body()
        } catch let error as StorageError {
            throw ConformanceFailure("\(call) after connections were lost: \(error)", file: file, line: line)
        }
    }

    private enum Loss {
        case beforeCall, inRequest, inAnswer, beforeCommit, caught
    }

    private static let committing: [ConformanceCase] = [
        ConformanceCase(
            "N.lostCommit", "N3", "T6",
            title: "a commit whose connection is lost returns where it is stored, and is unreachable where it is not"
        ) { context in
            let (network, database) = try context.openNetwork()
            defer { network.stop() }
            let (ledger, other) = (try ProcessLedger(database), try ProcessLedger(context.open()))
            var expected = 0
            for message in [ConformanceMessage.answer, .request, .answer] {
                func increment() throws { try database.increment(ledger) { network.disturb(next: message, .cut) } }
                if message == .answer {
                    try increment()
                    expected += 1
                } else {
                    try expectKind(.unreachable, "a commit that did not reach the server", increment)
                }
                try expectEqual(try other.count(), expected, "the count after a commit whose \(message) was lost")
            }
            try ledger.increment()
            try expectEqual(try other.count(), expected + 1, "the count")
        },
        ConformanceCase(
            "N.unknownOutcome", "N3",
            title: "a commit is outcomeUnknown when no server can be asked, and its outcome is known later"
        ) { context in
            let (network, database) = try context.openNetwork()
            defer { network.stop() }
            let (ledger, direct) = (try ProcessLedger(database), try context.open())
            try ledger.increment()
            for (message, outcome) in [(ConformanceMessage.request, CommitOutcome.rolledBack), (.answer, .committed)] {
                let error = try expectKind(.outcomeUnknown, "a commit that nobody can decide") {
                    try database.increment(ledger) {
                        network.disturb(next: message, .cut)
                        network.refuse(true)
                    }
                }
                let token = try require(error.commitToken, "a token")
                try expectKind(.unreachable, "the outcome without a server") { try database.outcome(of: token) }
                network.refuse(false)
                // The next transaction does not take its place.
                try database.transaction { try ledger.counters.persist(Counter(id: 2, value: 1)) }
                try expectEqual(try database.outcome(of: token), outcome, "the outcome")
                try expectEqual(try direct.outcome(of: token), outcome, "the outcome that another client is told")
            }
            try expectEqual(try ledger.count(), 2, "the count")
            try expectKind(.notFound, "the outcome of a token that nobody has given") { try database.outcome(of: "token") }
        },
    ]
}

extension Database {
    /// Adds one to the counter in a transaction, and runs a closure when only the commit is left.
    fileprivate func increment(_ ledger: ProcessLedger, beforeCommit: () -> Void) throws {
        try transaction(retrying: retries) {
            try ledger.set(1, to: try ledger.count() + 1)
            // Rows that were held back are sent.
            _ = try ledger.count()
            beforeCommit()
        }
    }
}

/// Fails the case unless a closure throws a `StorageError` of a kind, and returns the error. What it names depends on the call
/// that noticed the fault.
@discardableResult
func expectKind(
    _ kind: StorageError.Kind, _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line,
    _ body: () throws -> some Any
) throws -> StorageError {
    let result: String
    do {
        result = shortened(try body())
    } catch let error as StorageError where error.kind == kind {
        return error
    } catch let failure as ConformanceFailure {
        throw failure
    } catch {
        result = "\(error)"
    }
    throw ConformanceFailure(what(), expected: kind.rawValue, got: result, file: file, line: line)
}
