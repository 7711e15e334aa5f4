import DAOConformance
import DAOPropertyTesting
import Testing

/// 10,000 generated steps on every backend, the same in each run; `make soak` makes new ones.
@Suite struct PropertyTests {
    @Test(
        arguments: [Targets.memory, Targets.sqlite, Targets.lmdb].flatMap {
            PropertyTesting.tests(for: $0, seeds: 1...2, operations: 5000)
        })
    func agrees(_ test: PropertyTest) async throws { try await test.run() }

    #if Encryption
        /// Fewer steps on encrypted files, in both formats.
        @Test(arguments: Targets.encrypted.flatMap { PropertyTesting.tests(for: $0, seeds: 3...3, operations: 1000) })
        func encryptedFilesAgree(_ test: PropertyTest) async throws { try await test.run() }
    #endif
}

/// Rows and queries alone, on tables of an SQL engine.
@Suite struct SQLRowTests {
    @Test(arguments: 0..<8 as Range<UInt64>)
    func sqliteAgrees(seed: UInt64) async throws { try await expectRowsAgree(on: Targets.sqlite, seed) }
}

/// Rows and queries alone, on ordered keys.
@Suite struct KeyValueRowTests {
    @Test(arguments: [Targets.sortedArray, Targets.memory], 0..<12 as Range<UInt64>)
    func storesAgree(_ target: ConformanceTarget, seed: UInt64) async throws { try await expectRowsAgree(on: target, seed) }
}

private func expectRowsAgree(on target: ConformanceTarget, _ seed: UInt64) async throws {
    let report = await PropertyTesting.run(on: target, seed: seed, operations: 1000, kinds: [.rows])
    if let failure = report.failure { throw failure }
}
