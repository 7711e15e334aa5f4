import DAOMemory
import Foundation
import Testing

@testable import DAOCore

/// Contract T9: how asynchronous calls share transactions.
@Suite struct SharedCommitTests {
    @Test func callsThatWaitShareTransactions() async throws {
        let database = try CountingDatabase()
        let runs = try await database.run(100)
        #expect(runs.allSatisfy { $0.count == 1 && $0.error == nil })
        // The first call runs alone while the others begin to wait; they need two transactions, or a few more.
        #expect(database.transactions < 50)
    }

    @Test(arguments: [63, 64, 65, 66, 129, 200]) func sharedCommitHasAtMost64Calls(_ number: Int) async throws {
        for _ in 0..<3 {
            let database = try CountingDatabase()
            let executor = database.engineState.executor
            let calls = try await withThrowingTaskGroup(of: Void.self) { group in
                // The others wait meanwhile.
                group.addTask { try await executor.write { Thread.sleep(forTimeInterval: 0.1) } }
                for _ in 0..<number {
                    group.addTask {
                        try await executor.write(sharing: database, mayRunAgain: true) {
                            let transaction = AmbientTransaction.current == nil ? 0 : database.transactions
                            database.lengths.withLock { $0[transaction, default: 0] += 1 }
                        }
                    }
                }
                try await group.waitForAll()
                return database.lengths.withLock { $0 }
            }
            #expect(calls.values.reduce(0, +) == number)
            #expect(calls.values.allSatisfy { $0 <= 64 }, "\(calls)")
        }
    }

    @Test func callsThatFollowEachOtherDoNotShare() async throws {
        let database = try CountingDatabase()
        for _ in 0..<20 { try await database.transaction {} }
        #expect(database.transactions == 20)
    }

    @Test func undoneCommitIsTheErrorOfAllCallsAndNoneRunsAgain() async throws {
        let database = try CountingDatabase()
        database.failure.withLock { $0 = StorageError(.outcomeUnknown, "the sync failed") }
        let runs = try await database.run(100)
        #expect(runs.allSatisfy { $0.count == 1 && $0.error == .outcomeUnknown })
        #expect(database.transactions < 50)
    }

    /// One call that does not fit refuses no neighbour that runs no code of the application.
    @Test func callsWithoutCodeRunAloneAfterACommitThatDidNotFit() async throws {
        let database = try CountingDatabase()
        database.failure.withLock { $0 = StorageError(.outOfSpace, "one of the calls is too long") }
        let runs = try await database.runShared(40) { $0 % 2 == 0 }
        for (number, run) in runs.enumerated() where run.wasShared {
            #expect(run.count == (number % 2 == 0 ? 2 : 1), "the runs of call \(number)")
            #expect(run.error == (number % 2 == 0 ? nil : .outOfSpace), "the error of call \(number)")
        }
        #expect(runs.contains { $0.count == 2 })
        // Another failure is that of every call.
        database.failure.withLock { $0 = StorageError(.outcomeUnknown, "the sync failed") }
        for run in try await database.runShared(40, { _ in true }) where run.wasShared {
            #expect(run.count == 1)
            #expect(run.error == .outcomeUnknown)
        }
    }

    @Test func relaxedAndReportedCallsDoNotShare() async throws {
        for change: @Sendable (inout DatabaseConfiguration) -> Void in [
            { $0.durability = .relaxed }, { $0.instrument = Instrument { _ in } },
        ] {
            let database = try CountingDatabase(change)
            _ = try await database.run(20)
            #expect(database.transactions == 20)
        }
    }
}

/// Counts the transactions that are not inside another, and lets them fail when they end.
private final class CountingDatabase: Database {
    private let base: any Database
    private let count = Atomic(0)
    let failure = Lock<StorageError?>(nil)
    /// The number of calls in each transaction.
    let lengths = Lock<[Int: Int]>([:])
    /// What precedes a transaction.
    let beginning = Lock<(@Sendable () throws -> Void)?>(nil)
    let configuration: DatabaseConfiguration
    let engineState = EngineState(name: "counting", sharesCommits: true)
    var capabilities: Capabilities { base.capabilities }
    var transactions: Int { count.load(ordering: .relaxed) }

    init(_ change: (inout DatabaseConfiguration) -> Void = { _ in }) throws {
        var configuration = DatabaseConfiguration(scheme: "memory", path: UUID().uuidString)
        change(&configuration)
        self.configuration = configuration
        base = try DatabaseDrivers(.memory).open(configuration)
    }

    /// Runs transactions at once, and tells how often each ran and the error that it threw.
    func run(_ number: Int) async throws -> [(count: Int, error: StorageError.Kind?)] {
        try await withThrowingTaskGroup(of: (Int, StorageError.Kind?).self) { group in
            for _ in 0..<number {
                group.addTask {
                    let runs = Runs()
                    do {
                        try await self.transaction {
                            runs.count.add(1, ordering: .relaxed)
                            Thread.sleep(forTimeInterval: 0.0001)
                        }
                    } catch let error as StorageError {
                        return (runs.count.load(ordering: .relaxed), error.kind)
                    }
                    return (runs.count.load(ordering: .relaxed), nil)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Runs calls that wait at once.
    ///
    /// - Parameter isOwn: Whether a call runs no code of the application.
    func runShared(
        _ number: Int, _ isOwn: @escaping @Sendable (Int) -> Bool
    ) async throws -> [(count: Int, error: StorageError.Kind?, wasShared: Bool)] {
        let executor = engineState.executor
        return try await withThrowingTaskGroup(of: (Int, Int, StorageError.Kind?, Bool).self) { group in
            // The others wait meanwhile.
            group.addTask {
                try await executor.write { Thread.sleep(forTimeInterval: 0.05) }
                return (-1, 0, nil, false)
            }
            for index in 0..<number {
                group.addTask {
                    let (runs, shared) = (Runs(), Runs())
                    func result(_ error: StorageError.Kind?) -> (Int, Int, StorageError.Kind?, Bool) {
                        (index, runs.count.load(ordering: .relaxed), error, shared.count.load(ordering: .relaxed) > 0)
                    }
                    do {
                        try await executor.write(sharing: self, mayRunAgain: isOwn(index)) {
                            runs.count.add(1, ordering: .relaxed)
                            if AmbientTransaction.current != nil { shared.count.add(1, ordering: .relaxed) }
                        }
                        return result(nil)
                    } catch let error as StorageError {
                        return result(error.kind)
                    }
                }
            }
            var found = Array(repeating: (count: 0, error: StorageError.Kind?.none, wasShared: false), count: number)
            for try await (index, count, error, wasShared) in group where index >= 0 { found[index] = (count, error, wasShared) }
            return found
        }
    }

    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> { try base.makeStorage(for: model) }

    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        if AmbientTransaction.current != nil { return try base.runTransaction(body) }
        count.add(1, ordering: .relaxed)
        try beginning.withLock { $0 }?()
        return try base.runTransaction {
            let result = try body()
            if let failure = failure.withLock({ $0 }) { throw failure }
            return result
        }
    }

    func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result { try base.runSnapshot(body) }
    func entities() throws -> [EntityDescription] { try base.entities() }
    func close() throws { try base.close() }
}

/// How often a closure has run.
private final class Runs: Sendable {
    let count = Atomic(0)
}

/// How long calls in the queue wait; measured while nothing else runs.
@Suite struct SharedCommitLatencyTests {
    /// Calls in the queue of a call that is busy are busy when it is.
    @Test func callsThatWaitInAQueueAreBusyTogether() async throws {
        let database = try CountingDatabase()
        database.beginning.withLock {
            $0 = {
                Thread.sleep(forTimeInterval: CallDeadline.remaining(of: .milliseconds(300)) / .seconds(1))
                throw StorageError(.busy, "another process writes")
            }
        }
        let began = ContinuousClock.now
        let runs = try await database.run(12)
        #expect(runs.allSatisfy { $0.count == 0 && $0.error == .busy })
        #expect(.now - began < .milliseconds(1200), "twelve calls with a timeout of 0.3 s")
    }
}
