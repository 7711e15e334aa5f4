import DAOConformance
import DAOCore
import DAOPropertyTesting
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

/// The rows in a JSON file of the same guide pass the conformance suite, the cases about files included. Every write reads and
/// writes the whole file, so of the cases of thousands of rows only those about files run here.
@Suite struct JSONFileTests {
    static let jsonfile = ConformanceTarget(name: "jsonfile", driver: .jsonfile) { location in
        location.directory.appendingPathComponent("test.jsonl").path
    }

    @Test(arguments: Conformance.cases(for: jsonfile) { !$0.isHeavy || $0.id.hasPrefix("L.") })
    func conforms(_ test: ConformanceTest) async throws { try await test.run() }
}

/// The same store passes the property-based tests.
@Suite struct CustomStoragePropertyTests {
    static let mine = CustomStorageTests.mine

    @Test(arguments: PropertyTesting.tests(for: mine, seeds: 1...4, operations: 5000))
    func agrees(_ test: PropertyTest) async throws { try await test.run() }

    @Test(arguments: PropertyTesting.tests(for: JSONFileTests.jsonfile, seeds: 1...1, operations: 1000))
    func fileAgrees(_ test: PropertyTest) async throws { try await test.run() }
}
