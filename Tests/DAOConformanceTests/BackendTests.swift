import DAOConformance
import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
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
            .withProcesses { try ChildProcess(Self.program, ["--serve", "\(driver.scheme)://\(path($0))"]) }
    }

    /// Programs are built in the same directory as the tests.
    private static var program: URL {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let directory = (bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])).deletingLastPathComponent()
        return directory.appendingPathComponent("dao-conformance")
    }

    @Test(arguments: Conformance.cases(for: memory))
    func memoryConforms(_ test: ConformanceTest) async throws { try await test.run() }

    @Test(arguments: Conformance.cases(for: sqlite))
    func sqliteConforms(_ test: ConformanceTest) async throws { try await test.run() }

    @Test(arguments: Conformance.cases(for: lmdb))
    func lmdbConforms(_ test: ConformanceTest) async throws { try await test.run() }
}
