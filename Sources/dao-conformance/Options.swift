import DAOConformance
import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import Foundation

/// What the command line asks for.
struct Options {
    static let help = """
        Runs the conformance suite on databases and prints its table.

          --url URL        a kind of database: memory:, sqlite:, lmdb:, with options such as sqlite:?durability=relaxed;
                           each case gets a separate database in a temporary directory. May be repeated; all three by default.
          --chapter K      one chapter of the contract (K, V, P, Q, W, R, T, O, E, C, L). May be repeated; all by default.
          --case ID        one case, or all cases whose ids begin with ID. May be repeated.
          --json PATH      also writes the results as JSON.
          --verbose        prints every case as it ends.
        """

    var targets: [ConformanceTarget] = []
    var chapters = Set(ContractRule.Chapter.allCases)
    var cases: [String] = []
    var json: String?
    var isVerbose = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var urls: [String] = []
        var chosen: Set<ContractRule.Chapter> = []
        while let name = rest.popFirst() {
            switch name {
            case "--help", "-h":
                print(Self.help)
                exit(0)
            case "--verbose": isVerbose = true
            case "--url", "--chapter", "--case", "--json":
                guard let value = rest.popFirst() else { throw UsageError("\(name) needs a value") }
                switch name {
                case "--url": urls.append(value)
                case "--case": cases.append(value)
                case "--json": json = value
                default:
                    guard let chapter = ContractRule.Chapter.allCases.first(where: { $0.rawValue == value.uppercased() }) else {
                        let known = ContractRule.Chapter.allCases.map(\.rawValue).joined(separator: ", ")
                        throw UsageError("there is no chapter '\(value)'; there are: \(known)")
                    }
                    chosen.insert(chapter)
                }
            default: throw UsageError("there is no option '\(name)'; try --help")
            }
        }
        if !chosen.isEmpty { chapters = chosen }
        targets = try (urls.isEmpty ? ["memory:", "sqlite:", "lmdb:"] : urls).map(Self.target)
    }

    private static let drivers: [DatabaseDriver] = [.memory, .sqlite, .lmdb]

    /// The kind of database that a URL without a path describes.
    private static func target(_ url: String) throws -> ConformanceTarget {
        let configuration = try DatabaseConfiguration(url: url)
        guard configuration.path.isEmpty else {
            throw UsageError(
                "'\(url)' names one database, and every case needs a separate database; write '\(configuration.scheme):'")
        }
        guard let driver = drivers.first(where: { $0.scheme == configuration.scheme }) else {
            throw UsageError(
                "there is no driver for '\(url)'; there are: \(drivers.map { "\($0.scheme):" }.joined(separator: ", "))")
        }
        // Every option of the URL, the driver's own and those of every configuration.
        let configured = DatabaseDriver(scheme: driver.scheme, optionNames: driver.optionNames) { asked in
            var merged = asked
            merged.options.merge(configuration.options) { asked, _ in asked }
            if configuration.durability != .full { merged.durability = configuration.durability }
            if configuration.busyTimeout != .seconds(5) { merged.busyTimeout = configuration.busyTimeout }
            return try driver.open(merged)
        }
        let isFile = driver.scheme != "memory"
        @Sendable func path(_ location: ConformanceTarget.Location) -> String {
            isFile ? location.directory.appendingPathComponent("conformance.db").path : location.name
        }
        let target = ConformanceTarget(name: url, driver: configured, isFile: isFile, path: path)
        guard isFile, let program = Bundle.main.executableURL else { return target }
        let query = url.firstIndex(of: "?").map { String(url[$0...]) } ?? ""
        return target.withProcesses { location in
            let file = path(location).addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path(location)
            return try ChildProcess(program, ["--serve", "\(driver.scheme)://\(file)\(query)"])
        }
    }

    /// Opens the database that this process is to serve to another.
    static func openForProcess(_ url: String) throws -> any Database { try DatabaseDrivers(drivers).open(url) }
}

/// What is wrong with the command line.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
