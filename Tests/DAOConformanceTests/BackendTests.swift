import DAOConformance
import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// The suite over the backends of this package. Each case is a separate test.
@Suite struct BackendTests {
    static let memory = ConformanceTarget(name: "memory", driver: .memory, isFile: false) { $0.name }
    static let sqlite = target(.sqlite)
    static let lmdb = target(.lmdb)

    private static func target(_ driver: DatabaseDriver) -> ConformanceTarget {
        @Sendable func path(_ location: ConformanceTarget.Location) -> String {
            location.directory.appendingPathComponent("test.db").path
        }
        return ConformanceTarget(name: driver.scheme, driver: driver, path: path)
            .withProcesses { try ChildProcess(Process.built("dao-conformance"), ["--serve", "\(driver.scheme)://\(path($0))"]) }
    }

    @Test(arguments: Conformance.cases(for: memory))
    func memoryConforms(_ test: ConformanceTest) async throws { try await test.run() }

    @Test(arguments: Conformance.cases(for: sqlite))
    func sqliteConforms(_ test: ConformanceTest) async throws { try await test.run() }

    @Test(arguments: Conformance.cases(for: lmdb))
    func lmdbConforms(_ test: ConformanceTest) async throws { try await test.run() }
}
