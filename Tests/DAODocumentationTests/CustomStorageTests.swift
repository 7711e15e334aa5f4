import DAOConformance
import DAOCore
import Testing

@testable import DAOExamples

/// The store of `Docs/CustomStorage.md` passes the conformance suite.
@Suite struct CustomStorageTests {
    static let mine = ConformanceTarget(name: "mine") { location in
        try DatabaseDrivers(.mine).open("mine:\(location.name)")
    }

    @Test(arguments: Conformance.cases(for: mine))
    func conforms(_ test: ConformanceTest) async throws { try await test.run() }
}
