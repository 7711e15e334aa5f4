import DAOChildProcesses
import DAOConformance
import DAOCore
import DAOLMDB
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOPropertyTesting

/// Generated steps of three processes, on each backend that several processes may use.
@Suite(.serialized, .timeLimit(.minutes(10))) struct GeneratedSharingTests {
    @Test(arguments: Place.Kind.allCases) func generatedStepsAgreeWithTheReference(_ kind: Place.Kind) async throws {
        let report = await PropertyTesting.run(
            on: Processes.target(kind), seed: 1, operations: 24 * Rounds.count(10), kinds: [.processes])
        if let failure = report.failure { throw failure }
    }

    /// Every run that can start processes contains steps of processes.
    @Test func runsContainStepsOfProcesses() async throws {
        let broken = Processes.target(.sqlite).withProcesses(waiting: .milliseconds(100)) { _ in
            throw ChildFailure("a process was requested")
        }
        let failure = await PropertyTesting.run(on: broken, seed: 1, operations: 10, shrinkingFor: .zero).failure
        #expect(failure?.got.contains("a process was requested") == true)
    }

    /// Steps of every kind.
    private static let steps: [ProcessStep] = [
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
        .publish(.older, 1, 5, by: 1),
        .publish(.part, 1, 6, by: 2),
        .publish(.part, 2, 6, by: 2),
        .publish(.older, 1, 7, by: 1),
        .publish(.newer, 2, 8, by: 1),
        .publish(.newer, 3, 8, by: 0),
        .publishAtOnce([.init(.older, 4, 9, by: 1), .init(.newer, 5, 9, by: 2), .init(.newer, 6, 9, by: 0)]),
        .pamphlets(.newer, by: 2),
        .pamphlets(.older, by: 1),
        .hold(9, by: 2),
        .kill(2),
        .reopen,
        .hold(2, by: 1),
        .end(commits: true),
        .killCommitting(1, after: 3),
        .start(1),
        .read(by: 1),
        .list(by: 0),
    ]

    @Test(arguments: Place.Kind.allCases) func stepsOfEveryKindAgreeWithTheReference(_ kind: Place.Kind) async throws {
        try await onThread { try PropertyTesting.replay(Self.steps, on: Processes.target(kind)) }
    }

    /// A failure prints the steps as they are written above.
    @Test func stepsArePrintedAsSwift() throws {
        let lines = try String(contentsOfFile: #filePath, encoding: .utf8).split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let printed = Self.steps.map { $0.source + "," }
        #expect(lines.indices.contains { lines[$0...].starts(with: printed) }, "printed: \(printed)")
    }

    /// Every planted fault in sharing is detected by generated steps, too.
    @Test(arguments: SharingFault.allCases) func faultIsDetected(_ fault: SharingFault) async throws {
        let target = Processes.target(fault.rawValue, BrokenSharing.driver(fault)) { ["broken", $0, fault.rawValue] }
        // With these faults, a missing event never arrives, so a long wait is pointless.
        let report = await PropertyTesting.run(
            on: target, seed: 1, operations: 24 * 40, kinds: [.processes], shrinkingFor: .zero, patience: .seconds(2))
        #expect(report.failure != nil, "\(fault) is not detected in \(report.operations) steps")
    }
}

/// Kinds of database whose processes wait for each other only as long as a script may take.
private enum Processes {
    /// Returns a target without faults.
    static func target(_ kind: Place.Kind) -> ConformanceTarget {
        target(kind.rawValue, kind == .sqlite ? .sqlite : .lmdb) { ["conformance", $0] }
    }

    /// Returns a target.
    ///
    /// - Parameters:
    ///   - name: The name of the target.
    ///   - driver: The driver in this process.
    ///   - arguments: A closure that returns the arguments of other processes for a URL.
    static func target(
        _ name: String, _ driver: DatabaseDriver, _ arguments: @escaping @Sendable (String) -> [String]
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
            .withProcesses(waiting: .milliseconds(100)) { location in
                try Child(arguments("\(driver.scheme)://\(path(location))?durability=relaxed&timeout=0.1"))
            }
    }
}
