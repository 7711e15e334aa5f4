import DAOConformance
import DAOCore
import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite
import DAOTestSupport
import Foundation

/// What the command line asks for.
struct SoakOptions {
    static let help = """
        Runs property-based tests on databases until it is stopped, or a database and the contract differ.

          --minutes N      stops after the given minutes; fractions are allowed.
          --url URL        a kind of database: memory:, sqlite:, lmdb:, with options such as sqlite:?durability=relaxed.
                           May be repeated; these three by default, files with relaxed durability. On a server, as in
                           postgres://user@host/database, each run gets a schema of its own.
          --seed N         begins with this seed; a random one by default.
          --operations N   steps for each seed; 2500 by default.
        """

    var targets: [ConformanceTarget] = []
    var minutes: Double?
    var seed: UInt64?
    var operations = 2500

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var urls: [String] = []
        while let name = rest.popFirst() {
            if name == "--help" || name == "-h" {
                print(Self.help)
                exit(0)
            }
            guard ["--minutes", "--url", "--seed", "--operations"].contains(name) else {
                throw UsageError("there is no option '\(name)'; try --help")
            }
            guard let value = rest.popFirst() else { throw UsageError("\(name) needs a value") }
            func number<Number>(_ number: Number?) throws -> Number {
                guard let number else { throw UsageError("\(name) needs a number, not '\(value)'") }
                return number
            }
            switch name {
            case "--minutes": minutes = try number(Double(value))
            case "--url": urls.append(value)
            case "--seed": seed = try number(UInt64(value))
            default: operations = try number(Int(value))
            }
        }
        if urls.isEmpty { urls = ["memory:", "sqlite:?durability=relaxed", "lmdb:?durability=relaxed"] }
        // Now and then a process waits until its time is over, which must not take seconds.
        targets = try urls.map { url in
            let scheme = String(url.prefix { $0 != ":" })
            return try ConformanceTarget(
                url: url, name: scheme, drivers: Self.drivers, timeout: .milliseconds(100),
                dropSchema: PostgresDatabase.dropSchema)
        }
    }

    /// The databases there are.
    static let drivers: [DatabaseDriver] = [.memory, .lmdb, .postgres] + DatabaseDriver.sqlite.encryptingToo
}
