import DAOConformance
import DAOPropertyTesting
import Testing

/// The suite on a server. Each case is a separate test.
@Suite(.enabled(if: Server.isThere, "Scripts/with-postgres.sh starts a server"))
struct ContractTests {
    @Test(arguments: Server.target().map { Conformance.cases(for: $0) } ?? [])
    func postgresConforms(_ test: ConformanceTest) async throws { try await test.run() }

    /// What side by side means, without the cases that take long. `make conformance` runs all.
    @Test(
        arguments: Server.target("pool=240&writers=many").map {
            Conformance.cases(for: $0) {
                !$0.isHeavy && ($0.chapter == .servers || !Set($0.rules).isDisjoint(with: ["T4", "T8", "C2"]))
            }
        } ?? [])
    func writersSideBySideConform(_ test: ConformanceTest) async throws { try await test.run() }
}

/// Generated steps on a server, checked against the reference model. `dao-soak --url` runs many more.
@Suite(.enabled(if: Server.isThere, "Scripts/with-postgres.sh starts a server"))
struct GeneratedTests {
    @Test(arguments: [20] as [UInt64])
    func generatedStepsAgree(_ seed: UInt64) async throws {
        let target = try #require(Server.target("pool=60&durability=relaxed&timeout=0.1"))
        let report = await PropertyTesting.run(on: target, seed: seed, operations: 400)
        if let failure = report.failure { Issue.record("\(failure.test)") }
    }

    /// Threads and processes whose writes meet.
    @Test(arguments: [6_673_751_228_972_048_282] as [UInt64])
    func generatedStepsOfWritersSideBySideAgree(_ seed: UInt64) async throws {
        let target = try #require(Server.target("pool=60&durability=relaxed&writers=many"))
        let report = await PropertyTesting.run(on: target, seed: seed, operations: 400)
        if let failure = report.failure { Issue.record("\(failure.test)") }
    }
}
