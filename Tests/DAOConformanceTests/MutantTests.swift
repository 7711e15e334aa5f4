import DAOCore
import Foundation
import Testing

@testable import DAOConformance

/// The suite must kill every mutant, which is a database with one planted fault.
@Suite(.serialized) struct MutantTests {
    /// The ids of the cases, in ascending order of their duration on the reference database. A mutant runs
    /// them in this order.
    private static let order = Task {
        let report = await Conformance.run(on: SuiteTests.array) { !$0.isHeavy }
        let quickest = report.results.filter { $0.status == .passed }.sorted { $0.seconds < $1.seconds }.map(\.id)
        return Dictionary(uniqueKeysWithValues: quickest.enumerated().map { ($1, $0) })
    }

    /// The number of cases that must detect a fault before the search ends. One is enough; the second shows
    /// that the first is no accident.
    private static let enough = 2

    @Test(arguments: Fault.allCases) func faultIsDetectedByTheSuite(_ fault: Fault) async throws {
        let order = await Self.order.value
        let tests = Conformance.cases(for: FaultyDatabase.target(fault), chapters: [fault.chapter], timeLimit: fault.timeLimit) {
            fault.onlyCases?.contains($0.id) != false
        }
        var finders: [String] = []
        // The slowest cases are last. They run only when no other case detects the fault.
        let quickFirst = tests.sorted { order[$0.id, default: .max] < order[$1.id, default: .max] }
        for (position, test) in quickFirst.enumerated() {
            let isSlow = position > tests.count * 8 / 10 || order[test.id] == nil
            if finders.count == Self.enough || (isSlow && !finders.isEmpty) { break }
            let status = await test.result().status
            if status != .passed { finders.append(test.id) }
            // A case that hung has waited long enough.
            if status == .hung { break }
        }
        #expect(!finders.isEmpty, "no case of chapter \(fault.chapter.rawValue) detects the database that \(fault)")
        log("\(fault.chapter.rawValue) \(fault.rawValue) is detected by \(finders.joined(separator: ", "))")
    }
}

/// Prints at once, also to a pipe, which case detected which fault.
private func log(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
