import DAOConformance
import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import Foundation

/// What the command line asks for.
struct SoakOptions {
    static let help = """
        Runs property-based tests on databases until it is stopped, or a database and the contract differ.

          --minutes N      stops after the given minutes; fractions are allowed.
          --url URL        a kind of database: memory:, sqlite:, lmdb:, with options such as sqlite:?durability=relaxed.
                           May be repeated; all three by default, files with relaxed durability.
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
        targets = try (urls.isEmpty ? ["memory:", "sqlite:?durability=relaxed", "lmdb:?durability=relaxed"] : urls).map(
            Self.target)
    }

    private static func target(_ url: String) throws -> ConformanceTarget {
        let configuration = try DatabaseConfiguration(url: url)
        guard configuration.path.isEmpty else {
            throw UsageError(
                "'\(url)' names one database, and every round needs a separate database; write '\(configuration.scheme):'")
        }
        let drivers: [DatabaseDriver] = [.memory, .sqlite, .lmdb]
        guard let driver = drivers.first(where: { $0.scheme == configuration.scheme }) else {
            throw UsageError(
                "there is no driver for '\(url)'; there are: \(drivers.map { "\($0.scheme):" }.joined(separator: ", "))")
        }
        let isFile = driver.scheme != "memory"
        @Sendable func path(_ location: ConformanceTarget.Location) -> String {
            isFile ? location.directory.appendingPathComponent("soak.db").path : location.name
        }
        let configured = DatabaseDriver(scheme: driver.scheme, optionNames: driver.optionNames) { asked in
            var merged = configuration
            (merged.path, merged.busyTimeout) = (asked.path, asked.busyTimeout)
            return try driver.open(merged)
        }
        let target = ConformanceTarget(name: configuration.scheme, driver: configured, isFile: isFile, path: path)
        guard isFile, let program = Bundle.main.executableURL else { return target }
        // Now and then a process waits until its time is over, which must not take seconds.
        var query = url.firstIndex(of: "?").map { String(url[$0...]) } ?? "?"
        var wait = configuration.busyTimeout
        if !query.contains("timeout=") {
            query += "&timeout=0.1"
            wait = .milliseconds(100)
        }
        let options = query
        return target.withProcesses(waiting: wait) { location in
            let file = path(location).addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path(location)
            return try ChildProcess(program, ["--serve", "\(driver.scheme)://\(file)\(options)"])
        }
    }

    /// Opens the database that this process is to serve to another.
    static func openForProcess(_ url: String) throws -> any Database {
        try DatabaseDrivers(.sqlite, .lmdb).open(url)
    }
}

/// What is wrong with the command line.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
