import DAOConformance
import DAOCore
import Testing

/// 20,000 generated steps on every backend.
@Suite struct ProofTests {
    @Test(arguments: Targets.all.flatMap { RandomProof.tests(for: $0, seeds: 1...4, operations: 5000) })
    func agrees(_ test: RandomProofTest) async throws { try await test.run() }
}
