import DAOChildProcesses
import DAOConformance
import DAOCore
import DAOLMDB
import DAOSQLite
import Foundation
import Testing

/// Property-based tests of several processes: generated scripts of three processes, on each backend that
/// processes can share.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RandomSharingTests {
    @Test(arguments: Place.Kind.allCases) func generatedScriptsFindNoDifference(_ kind: Place.Kind) async throws {
        let result = await RandomProof.runPeers(on: RandomPeers.target(kind), seed: 1, rounds: Rounds.count(10))
        if let failure = result.failure { throw failure }
    }

    /// The property-based tests of a target with processes include them.
    @Test func testsOfTargetsWithPeersIncludeProcesses() async throws {
        let broken = RandomPeers.target(.sqlite).withPeers(waiting: .milliseconds(100)) { _ in
            throw ChildFailure("a process was wanted")
        }
        let failure = await RandomProof.run(on: broken, seed: 1, operations: 10, shrinkingFor: .zero).failure
        #expect(failure?.got.contains("a process was wanted") == true)
    }

    /// A script with every kind of step, as a failure prints it.
    @Test(arguments: Place.Kind.allCases) func printedScriptCanBeReplayed(_ kind: Place.Kind) async throws {
        try await onThread {
            try RandomProof.replay(
                [
                    .start(1),
                    .start(2),
                    .add(4, by: 0),
                    .hold(3, by: 1),
                    .add(1, by: 0, waiting: 60),
                    .add(1, by: 2),
                    .hold(1, by: 2),
                    .read(by: 2),
                    .queue(2, by: 0, commits: true),
                    .hold(7, by: 0),
                    .read(by: 0),
                    .read(by: 1),
                    .queue(5, by: 2, commits: false),
                    .race([0, 1, 2], times: 5),
                    .observe(2, by: 1),
                    .give([1, 2, 1, 3], by: 1),
                    .take(1, by: 0),
                    .list(by: 2),
                    .hold(9, by: 2),
                    .kill(2),
                    .reopen,
                    .hold(2, by: 1),
                    .end(commits: true),
                    .killCommitting(1, after: 3),
                    .start(1),
                    .read(by: 1),
                    .list(by: 0),
                ], on: RandomPeers.target(kind))
        }
    }

    /// The property-based tests must detect every planted fault in sharing.
    @Test(arguments: SharingFault.allCases) func plantedFaultIsDetected(_ fault: SharingFault) async throws {
        // With these faults, a missing event never arrives, so a long wait is pointless.
        let target = RandomPeers.target(fault.rawValue, BrokenSharing.driver(fault), patience: .seconds(2)) {
            ["broken", $0, fault.rawValue]
        }
        let result = await RandomProof.runPeers(on: target, seed: 1, rounds: 40, shrinkingFor: .zero)
        #expect(result.failure != nil, "\(fault) is not detected in \(result.operations) steps")
    }
}

/// Databases whose processes wait for each other only as long as a generated script should take.
private enum RandomPeers {
    /// Returns a target without faults.
    static func target(_ kind: Place.Kind) -> ConformanceTarget {
        target(kind.rawValue, kind == .sqlite ? .sqlite : .lmdb, patience: .seconds(60)) { ["peer", $0] }
    }

    /// Returns a target.
    ///
    /// - Parameters:
    ///   - name: The name of the target.
    ///   - driver: The driver in this process.
    ///   - patience: The maximum time to wait for an event.
    ///   - arguments: A closure that returns the arguments of other processes for a URL.
    static func target(
        _ name: String, _ driver: DatabaseDriver, patience: Duration, _ arguments: @escaping @Sendable (String) -> [String]
    ) -> ConformanceTarget {
        @Sendable func path(_ location: ConformanceTarget.Location) -> String {
            location.directory.appendingPathComponent("test.db").path
        }
        // Commits are not flushed to the disk, because these tests do not test durability.
        let relaxed = DatabaseDriver(scheme: driver.scheme) { configuration in
            var configuration = configuration
            configuration.durability = .relaxed
            return try driver.open(configuration)
        }
        return ConformanceTarget(name: name, driver: relaxed, path: path)
            .withPeers(waiting: .milliseconds(100), patience: patience) { location in
                try Child(arguments("\(driver.scheme)://\(path(location))?durability=relaxed&timeout=0.1"))
            }
    }
}
