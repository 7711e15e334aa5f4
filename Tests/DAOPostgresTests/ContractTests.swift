import DAOConformance
import DAOPropertyTesting
import Foundation
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

/// The suite on connections that databases share. `make conformance` runs all.
@Suite(.enabled(if: Server.isThere, "Scripts/with-postgres.sh starts a server"))
struct SharedConnectionContractTests {
    @Test(
        arguments: Server.target("pooler=process&pool=120").map {
            Conformance.cases(for: $0) {
                !$0.isHeavy && [.servers, .concurrency].contains($0.chapter)
                    || $0.id.hasPrefix("E.cachesRetype") && $0.id.hasSuffix("ByProcess")
            }
        } ?? [])
    func conformsOnSharedConnections(_ test: ConformanceTest) async throws { try await test.run() }
}

/// The suite behind PgBouncer in transaction mode, beside a client that changes all that its connections remember.
@Suite(.enabled(if: PgBouncer.isThere, "Scripts/with-postgres.sh starts PgBouncer"))
struct PoolerContractTests {
    private static let isShort = ProcessInfo.processInfo.environment["POOLER"] == nil
    /// It runs as long as the process, beside thousands of other tests, and what it sets stays set.
    private static let hostile = Result {
        try HostileClient(
            URL(fileURLWithPath: Server.directory).appendingPathComponent("pooler").path, clients: isShort ? 2 : 4,
            pause: isShort ? 30_000 : 2000)
    }

    /// The cases about what a connection could remember, and about what the server cannot: that a statement is outdated. `POOLER=all`
    /// runs all, as `make conformance` does.
    private static func isChosen(_ test: ConformanceCase) -> Bool {
        !isShort || !test.isHeavy && [.transactions, .servers, .concurrency].contains(test.chapter)
            || test.id.hasPrefix("E.cachesRetype") && test.id.hasSuffix("ByProcess")
    }

    @Test(
        arguments: Server.target("pooler=transaction&pool=130", pooled: true).map { Conformance.cases(for: $0, where: isChosen) }
            ?? [])
    func conformsBehindAPooler(_ test: ConformanceTest) async throws {
        _ = try Self.hostile.get()
        try await test.run()
    }

    @Test(
        arguments: Server.target("pooler=transaction&pool=240&writers=many", pooled: true).map {
            Conformance.cases(for: $0) {
                isShort ? !$0.isHeavy && ($0.chapter == .servers || !Set($0.rules).isDisjoint(with: ["T4", "T8", "C2"])) : true
            }
        } ?? [])
    func writersSideBySideConformBehindAPooler(_ test: ConformanceTest) async throws {
        _ = try Self.hostile.get()
        try await test.run()
    }
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
