import DAOConformance
import DAOCore
import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite
import Foundation

/// What the command line asks for.
struct Options {
    static let help = """
        Runs the conformance suite on databases and prints its table.

          --url URL        a kind of database: memory:, sqlite:, lmdb:, with options such as sqlite:?durability=relaxed;
                           each case gets a database of its own in a temporary directory. On a server, as in
                           postgres://user@host/database, each case gets a schema of its own, which is dropped. May be
                           repeated; memory, SQLite and LMDB by default.
          --chapter K      one chapter of the contract (K, V, P, Q, W, R, T, O, E, C, L, N). May be repeated; all by default.
          --case ID        one case, or those whose ids begin so. May be repeated.
          --time-limit S   after so many seconds a case is reported as hung; otherwise each case has its own limit.
          --json PATH      also writes the results as JSON.
          --verbose        prints every case as it ends.
        """

    var targets: [ConformanceTarget] = []
    var chapters = Set(ContractRule.Chapter.allCases)
    var cases: [String] = []
    var json: String?
    var timeLimit: Duration?
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
            case "--url", "--chapter", "--case", "--json", "--time-limit":
                guard let value = rest.popFirst() else { throw UsageError("\(name) needs a value") }
                switch name {
                case "--url": urls.append(value)
                case "--case": cases.append(value)
                case "--json": json = value
                case "--time-limit":
                    guard let seconds = Double(value), seconds > 0, seconds < 1e6 else {
                        throw UsageError("--time-limit needs a number of seconds, not '\(value)'")
                    }
                    timeLimit = .seconds(seconds)
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
        if urls.isEmpty { urls = ["memory:", "sqlite:", "lmdb:"] }
        targets = try urls.map { try ConformanceTarget(url: $0, drivers: Self.drivers, dropSchema: PostgresDatabase.dropSchema) }
    }

    /// The databases there are.
    static let drivers: [DatabaseDriver] = [.memory, .sqlite, .lmdb, .postgres]
}
