import DAOConformance
import DAOPropertyTesting
import Testing

/// The suite on a server. Each case is a separate test.
@Suite(.enabled(if: Server.isThere, "Scripts/with-postgres.sh starts a server"))
struct ContractTests {
    @Test(arguments: Server.target().map { Conformance.cases(for: $0) } ?? [])
    func postgresConforms(_ test: ConformanceTest) async throws { try await test.run() }
}
