import DAOCore
import Foundation
import Testing

@testable import DAOConformance

/// The suite must kill every mutant, which is a database with one planted fault. `DAO_FAULTS_URL=…` plants the faults in another
/// kind of database (`make mutant-suite`).
@Suite struct MutantTests {
    /// What the suite does on the database without a fault: the ids of the cases that pass, in ascending order of their duration, and
    /// the cases that fail.
    private static let baseline = Task {
        // A busy machine must not make a case fail here, which would then detect no fault.
        let report = await Conformance.run(on: FaultyDatabase.target(.none), timeLimit: .seconds(180)) { !$0.isHeavy }
        for failure in report.failures { log("\(failure.id) does not pass without a fault: \(failure.explanation)") }
        let quickest = report.results.filter { $0.status == .passed }.sorted { $0.seconds < $1.seconds }.map(\.id)
        return (
            positions: Dictionary(uniqueKeysWithValues: quickest.enumerated().map { ($1, $0) }),
            failures: report.failures
        )
    }

    /// The ids of the cases that pass, in ascending order of their duration. A mutant runs them in this order.
    static let order = Task { await baseline.value.positions }

    @Test(arguments: Fault.planted.filter { $0.chapter != .servers && $0.isPossible })
    func faultIsDetectedByTheSuite(_ fault: Fault) async throws {
        let baseline = await Self.baseline.value
        let failures = Set(baseline.failures.map(\.id))
        await expectDetection(of: fault) { failures.contains($0.id) ? nil : baseline.positions[$0.id, default: Int.max] }
    }

    /// A case that failed on the wrapper itself would seem to detect every fault.
    @Test(.enabled(if: !FaultyBase.isChosen, "it is looked at for the other kind of database")) func wrapperWithoutFaultPasses()
        async
    {
        for failure in await Self.baseline.value.failures {
            Issue.record("\(failure.id) fails without a fault: \(failure.explanation)")
        }
    }

    /// The database in a file, without a fault, passes what detects its faults.
    @Test func fileWithoutFaultPasses() async {
        let finders = Fault.planted.filter(\.isOfFiles).reduce(into: Set<String>()) { $0.formUnion($1.onlyCases ?? []) }
        let tests = Conformance.cases(for: FaultyFile.target(.none), timeLimit: .seconds(30)) { finders.contains($0.id) }
        #expect(Set(tests.map(\.id)) == finders)
        for test in tests {
            let result = await test.result()
            #expect(result.status == .passed, "\(test.id): \(result.explanation)")
        }
    }

    @Test(.enabled(if: FaultyBase.hasServer, "there is no server"), arguments: Fault.planted.filter { $0.chapter == .servers })
    func faultOfServersIsDetectedByTheSuite(_ fault: Fault) async { await expectDetection(of: fault) { _ in 0 } }

    /// Runs the cases of the fault's chapter, until one detects it.
    ///
    /// - Parameter position: Returns the position of a case; nil for one that is not run.
    private func expectDetection(of fault: Fault, _ position: (ConformanceCase) -> Int?) async {
        let tests = Conformance.cases(for: FaultyDatabase.target(fault), chapters: [fault.chapter], timeLimit: fault.timeLimit) {
            fault.onlyCases?.contains($0.id) != false && position($0) != nil
        }
        for test in tests.sorted(by: { position($0.conformanceCase) ?? 0 < position($1.conformanceCase) ?? 0 }) {
            if await test.result().status == .passed { continue }
            return log("\(fault.chapter.rawValue) \(fault.rawValue) is detected by \(test.id)")
        }
        Issue.record("no case of chapter \(fault.chapter.rawValue) detects the database that \(fault)")
    }
}

/// Prints at once, also to a pipe, which case detected which fault.
private func log(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
