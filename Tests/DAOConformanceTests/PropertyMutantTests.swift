import DAOPropertyTesting
import Testing

@testable import DAOConformance

/// Property-based tests detect every planted fault too, by generated steps.
@Suite struct PropertyMutantTests {
    @Test(arguments: Fault.detectedByProperties) func faultIsDetectedByPropertyBasedTests(_ fault: Fault) async {
        await ParallelCases.shared.enter()
        let result = await PropertyTesting.run(
            on: FaultyDatabase.target(fault), seed: 1, operations: 20_000, shrinkingFor: .zero, patience: .seconds(2))
        await ParallelCases.shared.leave()
        #expect(result.failure != nil, "\(fault) is not detected in \(result.operations) operations")
    }

    /// Scripts that failed on the wrapper itself would seem to detect every fault.
    @Test func wrapperWithoutFaultAgrees() async {
        let result = await PropertyTesting.run(on: FaultyDatabase.target(.none), seed: 1, operations: 5_000)
        if let failure = result.failure { Issue.record("\(failure)") }
    }

    @Test(arguments: [
        (Fault.forgetsRollback, 4), (.limitOffByOne, 4), (.eraseCountsAsked, 2), (.losesNaN, 3), (.cursorIsLive, 5),
        (.dropsLastOfMany, 3), (.closesInside, 2), (.translatesOutside, 5), (.observersMissErasures, 4),
        (.dropsNilInArrays, 2), (.losesRenamedValues, 3), (.skipsUnreadableRows, 3), (.copiesForgetHowFar, 4),
    ]) func scriptsAreSmall(_ fault: Fault, _ most: Int) async throws {
        let result = await PropertyTesting.run(
            on: FaultyDatabase.target(fault), seed: 1, operations: 20_000, shrinkingFor: .seconds(600), patience: .seconds(2))
        let failure = try #require(result.failure)
        #expect(failure.scriptLength <= most, "\(failure)")
    }

    @Test func seedRepeatsFailure() async throws {
        let target = FaultyDatabase.target(.eraseCountsAsked)
        let first = try #require(await PropertyTesting.run(on: target, seed: 5, operations: 20_000).failure)
        let again = await PropertyTesting.run(on: target, seed: first.seed, operations: first.operations)
        #expect(again.failure?.test == first.test)
    }
}
