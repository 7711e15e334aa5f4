import DAOConformance
import DAOCore
import DAOTestSupport
import Foundation

/// Property-based tests of the contract: steps generated from a seed run on a database and, side by side, on
/// a reference model of plain arrays. The outcomes of every step must be the same: rows, their order, counts,
/// errors with their keys and fields, every bit.
///
/// ```swift
/// let report = await PropertyTesting.run(on: target, seed: 1, operations: 20_000)
/// if let failure = report.failure { print(failure.test) }
/// ```
///
/// A seed makes the same steps on every machine. A script that fails is shrunk to its smallest form and
/// printed as a test in Swift. In Swift Testing each seed is a test:
///
/// ```swift
/// @Test(arguments: PropertyTesting.tests(for: target, seeds: 1...4, operations: 5000))
/// func agrees(_ test: PropertyTest) async throws { try await test.run() }
/// ```
public enum PropertyTesting {
    /// What scripts are about.
    public enum Kind: Sendable, CaseIterable {
        /// Rows of four models that every round has, with every kind of field, and of one or two generated
        /// ones: calls, queries, transactions, snapshots, observations and threads.
        case rows
        /// Models that refer to each other.
        case relationships
        /// The life of a database whose application changes: later versions of a model, migrations and
        /// copies.
        case evolution
        /// Rules of different chapters that meet: a catalog that changes under all that is kept from it, the application's
        /// code in the middle of a write, builds that start at once, and what happens beside a call.
        case pairs
        /// Several processes on one database, where the target can start them.
        case processes
    }

    /// How many operations a round has: each round begins with an empty database.
    public static let roundLength = 250

    /// Processes take longer to start than all other steps of a round: one round of so many has them, the
    /// first always.
    private static let roundsPerProcesses = 8

    /// One round of so many logs its changes.
    private static let roundsPerLog: UInt64 = 4

    /// Runs generated steps on a kind of database and on a reference model, and compares their outcomes.
    ///
    /// Rounds of ``roundLength`` operations run, each on an empty database, until there were enough or one
    /// fails. Cancelling the task ends it after the round.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - seed: What the steps are generated from. A failure names the seed of its round, which alone
    ///     repeats it.
    ///   - operations: How many operations.
    ///   - kinds: What scripts are about.
    ///   - shrinkingFor: How long a failed script is shrunk at most.
    ///   - patience: How long to wait for what should come by itself, such as an observation's result. Only a
    ///     failure takes as long.
    ///   - onRound: Called before each round, with the number of operations so far and the seed of the round.
    public static func run(
        on target: ConformanceTarget, seed: UInt64, operations: Int, kinds: Set<Kind> = Set(Kind.allCases),
        shrinkingFor: Duration = .seconds(60), patience: Duration = .seconds(60),
        onRound: @escaping @Sendable (Int, UInt64) -> Void = { _, _ in }
    ) async -> PropertyTestReport {
        let isCancelled = Shared(false)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A separate thread: the steps are synchronous, and deep conditions need a deep stack.
                let thread = Thread {
                    let run = Run(target: target, kinds: kinds, limit: shrinkingFor, patience: patience / .seconds(1))
                    continuation.resume(returning: run.report(from: seed, operations, onRound) { isCancelled.value })
                }
                thread.name = "property testing"
                thread.stackSize = 16 << 20
                thread.start()
            }
        } onCancel: {
            isCancelled.change { $0 = true }
        }
    }

    /// Each seed on a target, ready to run as a test.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - seeds: The seeds, each a test.
    ///   - operations: How many operations each.
    public static func tests(for target: ConformanceTarget, seeds: some Sequence<UInt64>, operations: Int) -> [PropertyTest] {
        seeds.map { PropertyTest(target: target, seed: $0, operations: operations) }
    }

    /// One run: rounds until there were enough or one fails.
    private struct Run {
        let target: ConformanceTarget
        let kinds: Set<Kind>
        let limit: Duration
        let patience: Double

        func report(
            from seed: UInt64, _ operations: Int, _ onRound: (Int, UInt64) -> Void, isCancelled: () -> Bool
        ) -> PropertyTestReport {
            let start = ContinuousClock.now
            var report = PropertyTestReport(target: target.name, seed: seed)
            var seeds = SeededGenerator(seed: seed)
            // The first round's seed is the one that was given, so that a failure's seed repeats it.
            var round = Round(seed: seed, operations: min(roundLength, operations))
            let sharesDatabases = kinds.contains(.processes) && ProcessTest.isPossible(on: target)
            var number = 0
            while report.operations < operations, report.failure == nil, !isCancelled() {
                onRound(report.operations, round.seed)
                var tests: [any ModelBasedTest] = []
                let isLogged = round.seed % roundsPerLog == 0
                func add(_ test: some ModelBasedTest) { tests.append(isLogged ? LoggedTest(base: test) : test) }
                if kinds.contains(.rows) { add(RowTest(target: target, patience: patience)) }
                if kinds.contains(.relationships) { add(RelationshipTest(target: target)) }
                if kinds.contains(.evolution) { tests.append(EvolutionTest(target: target)) }
                if kinds.contains(.pairs) { tests.append(PairTest(target: target, patience: patience)) }
                if sharesDatabases, number % roundsPerProcesses == 0 || kinds.count == 1 {
                    tests.append(ProcessTest(target: target, patience: patience))
                }
                if tests.isEmpty { break }
                for test in tests where report.failure == nil {
                    let result = test.result(of: round, shrinkingFor: limit)
                    report.operations += result.operations
                    report.failure = result.failure
                }
                round = Round(seed: seeds.next(), operations: min(roundLength, max(0, operations - report.operations)))
                number += 1
            }
            report.duration = ContinuousClock.now - start
            return report
        }
    }
}
