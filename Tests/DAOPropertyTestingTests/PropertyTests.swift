import DAOConformance
import DAOPropertyTesting
import Testing

/// 20,000 generated steps on every backend; `Docs/CustomStorage.md` has as many on its store.
@Suite struct PropertyTests {
    @Test(
        arguments: [Targets.memory, Targets.sqlite, Targets.lmdb].flatMap {
            PropertyTesting.tests(for: $0, seeds: 1...4, operations: 5000)
        })
    func agrees(_ test: PropertyTest) async throws { try await test.run() }
}
