import DAOCore
import Testing

@testable import DAOConformance

/// The suite itself: its list of cases, and its first green column.
@Suite struct SuiteTests {
    static let array = ConformanceTarget(name: "array") { try ArrayDatabase($0.name) }

    @Test(arguments: Conformance.cases(for: array))
    func conforms(_ test: ConformanceTest) async throws { try await test.run() }
}
