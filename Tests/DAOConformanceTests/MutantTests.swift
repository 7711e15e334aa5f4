import DAOCore
import Foundation
import Testing

@testable import DAOConformance

/// The suite must kill every mutant, which is a database with one planted fault.
@Suite struct MutantTests {
    /// The ids of the cases, in ascending order of their duration on the reference database. A mutant runs
    /// them in this order.
    static let order = Task {
        let report = await Conformance.run(on: SuiteTests.array) { !$0.isHeavy }
        let quickest = report.results.filter { $0.status == .passed }.sorted { $0.seconds < $1.seconds }.map(\.id)
        return Dictionary(uniqueKeysWithValues: quickest.enumerated().map { ($1, $0) })
    }

    @Test(arguments: Fault.allCases) func faultIsDetectedByTheSuite(_ fault: Fault) async throws {
        let order = await Self.order.value
        let tests = Conformance.cases(for: FaultyDatabase.target(fault), chapters: [fault.chapter], timeLimit: fault.timeLimit) {
            fault.onlyCases?.contains($0.id) != false
        }
        for test in tests.sorted(by: { order[$0.id, default: .max] < order[$1.id, default: .max] }) {
            if await test.result().status == .passed { continue }
            return log("\(fault.chapter.rawValue) \(fault.rawValue) is detected by \(test.id)")
        }
        Issue.record("no case of chapter \(fault.chapter.rawValue) detects the database that \(fault)")
    }
}

/// Prints at once, also to a pipe, which case detected which fault.
private func log(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
