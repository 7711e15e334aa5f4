import DAOConformance
import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQL
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// The suite over the backends of this package. Each case is a separate test.
@Suite struct BackendTests {
    static let memory = ConformanceTarget(name: "memory", driver: .memory, isFile: false) { $0.name }
    static let sqlite = target(.sqlite)
    static let lmdb = target(.lmdb)
    /// SQLite files whose pages have checksums.
    static let checked = target(.sqlite, ["checksums": "true"])

    private static func target(_ driver: DatabaseDriver, _ options: [String: String] = [:]) -> ConformanceTarget {
        @Sendable func path(_ location: ConformanceTarget.Location) -> String {
            location.directory.appendingPathComponent("test.db").path
        }
        let query = options.map { "\($0)=\($1)" }.joined(separator: "&")
        return ConformanceTarget(name: driver.scheme, driver: driver, options: options, path: path)
            .withProcesses {
                try ChildProcess(Process.built("dao-conformance"), ["--serve", "\(driver.scheme)://\(path($0))?\(query)"])
            }
    }

    @Test(arguments: Conformance.cases(for: memory))
    func memoryConforms(_ test: ConformanceTest) async throws { try await test.run() }

    @Test(arguments: Conformance.cases(for: sqlite))
    func sqliteConforms(_ test: ConformanceTest) async throws {
        ShapePlan.verifies.store(true, ordering: .relaxed)
        try await test.run()
        #expect(ShapePlan.mistakes.load(ordering: .relaxed) == 0, "a text that was kept is not the one of its query")
    }

    /// The cases in which files are damaged, verified and backed up.
    @Test(
        arguments: Conformance.cases(for: checked, chapters: [.lifeCycle]) {
            !Set($0.rules).isDisjoint(with: ["L5", "L9", "L10"])
        })
    func sqliteWithChecksumsConforms(_ test: ConformanceTest) async throws { try await test.run() }

    #if Encryption
        static let encrypted = target(.sqlite.encrypting(as: "sqlite+authenticated", .authenticated))
        static let sqlCipher = target(.sqlite.encrypting(as: "sqlite+sqlcipher", .sqlCipher()))

        @Test(arguments: Conformance.cases(for: encrypted, chapters: [.transactions, .concurrency, .lifeCycle, .evolution]))
        func encryptedSQLiteConforms(_ test: ConformanceTest) async throws { try await test.run() }

        @Test(arguments: Conformance.cases(for: sqlCipher, chapters: [.transactions, .lifeCycle]))
        func sqlCipherConforms(_ test: ConformanceTest) async throws { try await test.run() }
    #endif

    @Test(arguments: Conformance.cases(for: lmdb))
    func lmdbConforms(_ test: ConformanceTest) async throws { try await test.run() }
}
