import DAOConformance
import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import Testing

/// The suite over the backends of this package, each case a test of its own.
@Suite struct BackendTests {
    static let memory = ConformanceTarget(name: "memory", driver: .memory, isFile: false) { $0.name }
    static let sqlite = ConformanceTarget(name: "sqlite", driver: .sqlite) { $0.directory.appendingPathComponent("test.db").path }
    static let lmdb = ConformanceTarget(name: "lmdb", driver: .lmdb) { $0.directory.appendingPathComponent("test.mdb").path }

    @Test(arguments: Conformance.cases(for: memory))
    func memoryConforms(_ test: ConformanceTest) async throws { try await test.run() }

    @Test(arguments: Conformance.cases(for: sqlite))
    func sqliteConforms(_ test: ConformanceTest) async throws { try await test.run() }

    @Test(arguments: Conformance.cases(for: lmdb))
    func lmdbConforms(_ test: ConformanceTest) async throws { try await test.run() }
}
