import DAOConformance
import DAOCore
import DAOExamples
import DAOKeyValue
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation

/// The databases of this package. Files are not flushed to the disk after every commit: that is not what is
/// tested here.
enum Targets {
    static let memory = ConformanceTarget(name: "memory", driver: .memory, isFile: false, path: \.name)
    static let sqlite = file(.sqlite)
    static let lmdb = file(.lmdb)
    /// The example of a store of one's own.
    static let sortedArray = ConformanceTarget(name: "sorted array", driver: .mine, isFile: false, path: \.name)
    /// SQLite's files, encrypted in both formats.
    static let encrypted = DatabaseDriver.sqlite.encryptingToo.dropFirst().map(file)
    static let all = [memory, sqlite, lmdb, sortedArray]

    private static func file(_ driver: DatabaseDriver) -> ConformanceTarget {
        ConformanceTarget(name: driver.scheme) { location in
            var configuration = DatabaseConfiguration(
                scheme: driver.scheme, path: location.directory.appendingPathComponent("random.db").path)
            configuration.durability = .relaxed
            return try driver.open(configuration)
        }
    }
}

/// What printed scripts call the kind of database they are about.
let target = Targets.sqlite
