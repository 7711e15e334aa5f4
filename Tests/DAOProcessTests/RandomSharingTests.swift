import ChildProcesses
import DAOConformance
import DAOCore
import DAOLMDB
import DAOSQLite
import Foundation
import Testing

/// Several processes by chance: random scripts of three, on each backend that they may share.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RandomSharingTests {
    @Test(arguments: Place.Kind.allCases) func processesAgree(_ kind: Place.Kind) async throws {
        let driver: DatabaseDriver = kind == .sqlite ? .sqlite : .lmdb
        let target = RandomPeers.target(kind.rawValue, driver, patience: .seconds(60)) { ["peer", $0] }
        let result = await RandomProof.runPeers(on: target, seed: 1, rounds: Rounds.count(6))
        print(result)
        if let failure = result.failure { throw failure }
    }

    /// Every database that shares wrongly is found by chance, too.
    @Test(arguments: SharingFault.allCases) func faultIsFound(_ fault: SharingFault) async throws {
        // What is late here never comes, and is not to be waited for.
        let target = RandomPeers.target(fault.rawValue, BrokenSharing.driver(fault), patience: .seconds(2)) {
            ["broken", $0, fault.rawValue]
        }
        let result = await RandomProof.runPeers(on: target, seed: 1, rounds: 40, shrinkingFor: .zero)
        print("\(fault): \(result.failure?.scriptLength ?? 0) steps of \(result.operations), \(result.duration)")
        #expect(result.failure != nil, "\(fault) is not found in \(result.operations) steps")
    }
}

/// Kinds of database whose processes wait no longer for each other than a random script should take.
private enum RandomPeers {
    /// - Parameters:
    ///   - name: What to call it.
    ///   - driver: Opens it in this process.
    ///   - patience: How long to wait for what has to come.
    ///   - arguments: What other processes are started with, from the URL.
    static func target(
        _ name: String, _ driver: DatabaseDriver, patience: Duration, _ arguments: @escaping @Sendable (String) -> [String]
    ) -> ConformanceTarget {
        @Sendable func path(_ location: ConformanceTarget.Location) -> String {
            location.directory.appendingPathComponent("test.db").path
        }
        // Not flushed to the disk after every commit: that is not what is tested here.
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
