import DAOConformance
import DAOCore
import DAOMemory
import Testing

/// The proof proved: each of many broken databases is caught.
@Suite struct FaultTests {
    private static func target(_ fault: Fault) -> ConformanceTarget {
        ConformanceTarget(name: fault.rawValue) { location in
            BrokenDatabase(try DatabaseDriver.memory.open(DatabaseConfiguration(scheme: "memory", path: location.name)), fault)
        }
    }

    @Test(arguments: Fault.allCases) func isCaught(_ fault: Fault) async throws {
        let result = await RandomProof.run(on: Self.target(fault), seed: 1, operations: 20_000, shrinkingFor: .zero)
        #expect(result.failure != nil, "\(fault) is not caught in \(result.operations) operations")
    }

    @Test func scriptsAreSmall() async throws {
        let faults: [(Fault, Int)] = [
            (.rollbackLost, 4), (.limitOffByOne, 4), (.eraseCountsKeys, 2), (.nanLost, 3), (.cursorIsLive, 5),
        ]
        for (fault, most) in faults {
            let result = await RandomProof.run(on: Self.target(fault), seed: 1, operations: 20_000, shrinkingFor: .seconds(60))
            let failure = try #require(result.failure)
            #expect(failure.scriptLength <= most, "\(failure)")
        }
    }

    @Test func seedRepeatsFailure() async throws {
        let target = Self.target(.eraseCountsKeys)
        let first = try #require(await RandomProof.run(on: target, seed: 5, operations: 20_000).failure)
        let again = await RandomProof.run(on: target, seed: first.seed, operations: first.operations)
        #expect(again.failure?.script == first.script)
    }
}
