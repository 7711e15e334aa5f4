import DAOConformance
import DAOCore
import Testing

/// 20,000 random steps on every backend, after the seeds that failed before.
@Suite struct ProofTests {
    @Test(
        arguments: Targets.all.flatMap { target in
            RandomProof.tests(for: target, seeds: (try? Targets.earlierSeeds()) ?? [], operations: RandomProof.roundLength)
        })
    func earlierSeedAgrees(_ test: RandomProofTest) async throws { try await test.run() }

    @Test(arguments: Targets.all.flatMap { RandomProof.tests(for: $0, seeds: 1...4, operations: 5000) })
    func agrees(_ test: RandomProofTest) async throws { try await test.run() }

    @Test func earlierSeedsAreRead() throws {
        #expect(try !Targets.earlierSeeds().isEmpty)
        #expect(RandomProof.seeds(in: "# none\n12 # twelve\n\n 7\nx\n18446744073709551615") == [12, 7, .max])
    }
}
