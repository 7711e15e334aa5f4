import DAOCore
import Foundation
import Testing

@testable import DAOConformance

/// Every broken database has to be found by the suite.
@Suite(.serialized) struct MutantTests {
    /// The ids of the cases, the quickest on the reference database first: a mutant meets them in this order.
    private static let order = Task {
        let report = await Conformance.run(on: SuiteTests.array) { !$0.isHeavy }
        let quickest = report.results.filter { $0.status == .passed }.sorted { $0.seconds < $1.seconds }.map(\.id)
        return Dictionary(uniqueKeysWithValues: quickest.enumerated().map { ($1, $0) })
    }

    /// As many finders as are asked for: one is enough, and a second shows that it is no accident.
    private static let enough = 2

    @Test(arguments: Fault.allCases) func isFound(_ fault: Fault) async throws {
        let order = await Self.order.value
        let tests = Conformance.cases(for: FaultyDatabase.target(fault), chapters: [fault.chapter], timeLimit: fault.timeLimit) {
            fault.onlyCases?.contains($0.id) != false
        }
        var finders: [String] = []
        // The slowest, last, are run only when nothing else finds the fault.
        let quickFirst = tests.sorted { order[$0.id, default: .max] < order[$1.id, default: .max] }
        for (position, test) in quickFirst.enumerated() {
            let isSlow = position > tests.count * 8 / 10 || order[test.id] == nil
            if finders.count == Self.enough || (isSlow && !finders.isEmpty) { break }
            let status = await test.result().status
            if status != .passed { finders.append(test.id) }
            // Who waited in vain has waited long enough.
            if status == .hung { break }
        }
        #expect(!finders.isEmpty, "no case of chapter \(fault.chapter.rawValue) finds the database that \(fault)")
        log("\(fault.chapter.rawValue) \(fault.rawValue) is found by \(finders.joined(separator: ", "))")
    }
}

/// Says at once, also to a pipe, which case found what.
private func log(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
