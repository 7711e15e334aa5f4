import Foundation
import Testing

@testable import DAOConformance

/// Every broken database is caught by chance as well, by steps that nobody wrote for it.
@Suite struct RandomMutantTests {
    /// What random steps do not reach: changes of models between openings.
    private static let outOfReach: Set<Fault> = Set(
        Fault.allCases.filter { $0.chapter == .evolution } + [.skipsUnreadableRows, .blamesNoRow, .dropsNilInArrays])

    @Test(arguments: Fault.allCases.filter { !outOfReach.contains($0) }) func isFoundByChance(_ fault: Fault) async {
        let start = ContinuousClock.now
        let result = await RandomProof.run(
            on: FaultyDatabase.target(fault), seed: 1, operations: 10_000, shrinkingFor: .zero)
        FileHandle.standardError.write(
            Data(
                "CHANCE \(fault) \(result.failure == nil ? "MISSED" : "found") \(result.operations) \(ContinuousClock.now - start)\n"
                    .utf8))
        #expect(result.failure != nil, "\(fault) is not found in \(result.operations) operations")
    }
}
