import DAOCore
import Foundation
import Synchronization
import Testing

@testable import DAOConformance

/// Every broken database has to be found by the suite.
@Suite(.serialized) struct MutantTests {
    /// The cases that are quick on the reference database, and the others: mutants meet the quick ones first.
    private static let timed = Task {
        let report = await Conformance.run(on: SuiteTests.array) { !$0.isHeavy }
        let quick = report.results.filter { $0.status == .passed && $0.seconds < 0.1 }.map(\.id)
        return Set(quick)
    }

    /// Which cases found which fault.
    private static let kills = Mutex<[Fault: [String]]>([:])

    @Test(arguments: Fault.allCases) func isFound(_ fault: Fault) async throws {
        let quick = await Self.timed.value
        var found = await failures(fault) { quick.contains($0.id) }
        if found.isEmpty { found = await failures(fault) { !quick.contains($0.id) } }
        let cases = found
        Self.kills.withLock { $0[fault] = cases }
        #expect(!found.isEmpty, "no case of chapter \(fault.chapter.rawValue) finds the database that \(fault)")
        log("\(fault.chapter.rawValue) \(fault.rawValue): \(found.count) cases: \(found.prefix(8).joined(separator: ", "))")
    }

    private func failures(_ fault: Fault, _ filter: @escaping (ConformanceCase) -> Bool) async -> [String] {
        let report = await Conformance.run(
            on: FaultyDatabase.target(fault), chapters: [fault.chapter], timeLimit: .seconds(20)
        ) {
            filter($0) && fault.onlyCases?.contains($0.id) != false
        } onResult: { result in
            if result.status == .hung { log("HUNG \(result.id) on \(fault)") }
        }
        return report.failures.map(\.id)
    }
}

/// Says at once, also to a pipe, which case found what.
private func log(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
