import DAOConformance
import DAOCore
import DAOSQLite
import Testing

/// The suite over the backends of this package, each case a test of its own.
@Suite struct BackendTests {
    static let sqlite = ConformanceTarget(name: "sqlite", driver: .sqlite) { $0.directory.appendingPathComponent("test.db").path }

    @Test(arguments: Conformance.cases(for: sqlite))
    func sqliteConforms(_ test: ConformanceTest) async throws { try await test.run() }
}
