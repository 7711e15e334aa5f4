import DAOCore
import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite
import DAOSystemSQLite
import DAOTestSupport
import Foundation

// Measures every row of the budget on both sides in turn, in one process, and prints the median of the ratios of two
// measurements that follow each other. PostgreSQL is measured on the server whose URL is in DAO_POSTGRES_URL.
//
//   swift run -c release dao-bench [--rows N] [--repeat N] [--only sqlite|lmdb|memory|postgres|checksums|encrypted|sqlcipher] [--shape texts|numbers] [--work NAME] [--json PATH]
//   swift run -c release dao-bench --sizes 10000,100000,1000000 [--repeat N] [--only …] [--shape …] [--work NAME]
//   swift run -c release dao-bench --growth 100 [--rows N] [--repeat N] [--only sqlite|lmdb] [--query TEXT]
//   swift run -c release dao-bench --import 5 [--rows N]
//   swift run -c release dao-bench --writers postgres://user@host/database [--seconds N]
//   swift run -c release dao-bench --copy-postgres postgres://user@host/database [--rows N] [--repeat N]
//   swift run -c release dao-bench --follow postgres://user@host/database [--rows N]

struct Options {
    var rows = 100_000
    var repetitions = 5
    var pairs = Pair.allCases.filter { !$0.isOfOptions && ($0 != .postgres || PostgresServer.ofEnvironment != nil) }
    var workloads = Workload.allCases
    var shapes = Shape.allCases
    var json: String?
    /// The numbers of rows at which all is measured, in ascending order; empty to measure one number.
    var sizes: [Int] = []
    /// What is measured beside the pairs.
    var extras = Extra.allCases
    /// How many times the rows the growth is measured on; nil to measure no growth.
    var growth: Int?
    /// A part of the names of the queries whose growth is measured; empty for all.
    var query = ""
    /// How many times the rows the growth of imports is measured on; nil to measure none.
    var importFactor: Int?
    /// The server on which the commits of many clients are counted; nil to count none.
    var writers: String?
    /// The server to which rows are copied; nil to copy none there.
    var postgresCopy: String?
    /// The server that a database which is written to is moved to; nil to move none.
    var follow: String?
    /// How long each count of commits takes.
    var seconds = 5

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            if name == "--help" {
                print(
                    "dao-bench [--rows N] [--repeat N] [--only sqlite|lmdb|memory|postgres|checksums|encrypted|sqlcipher] [--shape texts|numbers] [--work \(Workload.names)] [--json PATH]\ndao-bench --sizes 10000,100000,1000000 [--repeat N] [--only …] [--shape …] [--work NAME]\ndao-bench --growth 100 [--rows N] [--repeat N] [--only sqlite|lmdb] [--query TEXT]\ndao-bench --import 5 [--rows N]\ndao-bench --writers postgres://user@host/database [--seconds N]\ndao-bench --copy-postgres postgres://user@host/database [--rows N] [--repeat N]\ndao-bench --follow postgres://user@host/database [--rows N]"
                )
                exit(0)
            }
            guard let value = rest.popFirst() else { throw BenchError("\(name) needs a value") }
            switch name {
            case "--rows": rows = try Self.positive(value, name)
            case "--repeat": repetitions = try Self.positive(value, name)
            case "--json": json = value
            case "--writers": writers = value
            case "--copy-postgres": postgresCopy = value
            case "--follow": follow = value
            case "--seconds": seconds = try Self.positive(value, name)
            case "--import": importFactor = try Self.positive(value, name)
            case "--sizes":
                sizes = try value.split(separator: ",").map { try Self.positive(String($0), name) }.sorted()
            case "--query": query = value
            case "--growth": growth = try Self.positive(value, name)
            case "--only":
                guard let pair = Pair(rawValue: value) else {
                    throw BenchError(
                        "--only is sqlite, lmdb, memory, postgres, checksums, encrypted or sqlcipher, not '\(value)'")
                }
                pairs = [pair]
                extras = []
            case "--shape":
                guard let shape = Shape(rawValue: value) else { throw BenchError("--shape is texts or numbers, not '\(value)'") }
                shapes = [shape]
            case "--work":
                extras = [Extra(rawValue: value)].compactMap(\.self)
                if !extras.isEmpty {
                    (pairs, workloads) = ([], [])
                    break
                }
                guard let workload = Workload.allCases.first(where: { "\($0)" == value }) else {
                    throw BenchError("--work is \(Workload.names), not '\(value)'")
                }
                workloads = [workload]
            default: throw BenchError("there is no option \(name); try --help")
            }
        }
    }

    private static func positive(_ text: String, _ name: String) throws -> Int {
        guard let number = Int(text), number > 0 else { throw BenchError("\(name) is a positive number, not '\(text)'") }
        return number
    }
}

/// What has no work of a pair: the speed of copies, commits of many tasks, the cost of the log of changes, searches, and what a database takes
/// beside time.
enum Extra: String, CaseIterable {
    case copy, tasks, log, search, footprint
}

/// The shapes of the measured records.
enum Shape: String, CaseIterable {
    /// ``Message``: three of eight fields are texts.
    case texts
    /// ``Payment``: one is a text.
    case numbers

    /// Whether a pair is measured with the shape.
    func isMeasured(_ pair: Pair) -> Bool { self == .texts || pair != .postgres && !pair.isOfOptions }
}

/// A measured cell.
struct Measurement: Codable {
    let pair: String
    let workload: String
    let rawMilliseconds: [Double]
    let daoMilliseconds: [Double]
    let ratio: Double
    let budget: Double?
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// The median of the ratios of times that were measured one right after the other: the speed of a shared machine changes within
/// a minute.
func medianRatio(_ times: [Double], _ others: [Double]) -> Double { median(zip(times, others).map { $0 / $1 }) }

/// Both sides on the server, in schemas of their own.
func postgres<Record: MeasuredRecord>(_ drivers: DatabaseDrivers) throws -> [Contender<Record>] {
    guard let server = PostgresServer.ofEnvironment else {
        throw BenchError("DAO_POSTGRES_URL names no server; run Scripts/with-postgres.sh --durable dao-bench …")
    }
    let name = UUID().uuidString.lowercased()
    guard let raw = try Contender.rawPostgres(server, schema: "bench-raw-\(name)") as? Contender<Record> else { return [] }
    return [
        raw,
        try .dao(
            "DAO", "\(server.url)?schema=bench-\(name)", drivers, settle: { try server.settle("bench-\(name)") },
            dispose: { server.drop("bench-\(name)") }),
    ]
}

func measure<Record: MeasuredRecord>(
    _ pair: Pair, _ shape: Shape, _ data: Dataset<Record>, _ options: Options, in directory: URL
) throws -> [Measurement] {
    let drivers = DatabaseDrivers([.memory, .lmdb, .postgres] + DatabaseDriver.sqlite.encryptingToo)
    let workloads = options.workloads.filter { $0.isDone(by: pair) && ($0.dependsOnShape || shape == .texts) }
    let title = pair.title + (shape == .texts ? "" : ", one text")
    var raw: [Workload: [Double]] = [:]
    var dao: [Workload: [Double]] = [:]
    var runs = 0
    // The first round is a warm-up and is not counted.
    for round in 0...options.repetitions {
        let place = directory.appendingPathComponent("\(pair.rawValue)-\(round)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let file = { (name: String) in place.appendingPathComponent(name).path }
        func sqlite(_ name: String, _ options: String = "", _ scheme: String = "sqlite") throws -> Contender<Record> {
            let url = "\(scheme):\(file("dao-\(name).db"))\(options)"
            return try .dao(
                name, url, drivers,
                settle: {
                    let database = try drivers.open(url)
                    defer { try? database.close() }
                    guard let database = database as? SQLiteDatabase else { return }
                    // The statistics that are gathered after an import are in the log too.
                    let deadline = ContinuousClock.now + .milliseconds(500)
                    while try !database.withWriterHandle({
                        sqlite3_table_column_metadata($0, nil, "sqlite_stat1", nil, nil, nil, nil, nil, nil) == SQLITE_OK
                    }), ContinuousClock.now < deadline {
                        Thread.sleep(forTimeInterval: 0.01)
                    }
                    try database.withWriterHandle { handle in
                        guard sqlite3_exec(handle, "PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil) == SQLITE_OK else {
                            throw BenchError("the log could not be moved into the file")
                        }
                    }
                }
            ) {}
        }
        let sides: [Contender<Record>] =
            switch pair {
            case .checksums: [try sqlite("without"), try sqlite("with", "?checksums=true")]
            case .encrypted: [try sqlite("plain"), try sqlite("encrypted", "", "sqlite+authenticated")]
            case .sqlcipher: [try sqlite("plain"), try sqlite("encrypted", "", "sqlite+sqlcipher")]
            case .sqlite:
                [
                    try .rawSQLite(file("raw.db")),
                    try sqlite("DAO"),
                ]
            case .lmdb: [try .rawLMDB(file("raw.mdb")), try .dao("DAO", "lmdb:\(file("dao.mdb"))", drivers, settle: {}) {}]
            case .memory: [.dictionary(), try .dao("DAO", "memory:", drivers, settle: {}) {}]
            case .postgres: try postgres(drivers)
            }
        defer { for side in sides { side.dispose() } }
        // Every measurement needs the rows.
        if !workloads.contains(.insert) { for side in sides { try side.insert(data.records) } }
        if !workloads.contains(.insertNested), workloads.contains(where: \.isNested) {
            for side in sides { try side.insertDialogs?(data.dialogs) }
        }
        // What changes nothing is measured more often.
        for (workload, pass) in workloads.flatMap({ workload in (0..<workload.passes).map { (workload, $0) } }) {
            // The first side alternates, so that neither side always has the warmer caches.
            let order = (round + pass) % 2 == 0 ? [0, 1] : [1, 0]
            var checksums = [Checksum(), Checksum()]
            for side in order {
                // Observations are compared with the same database without observations.
                let contender = workload.observations == nil ? sides[side] : sides[1]
                let onlookers = side == 1 ? try workload.observations.map { try contender.observe?($0) } : nil
                defer { onlookers??.stop() }
                runs += 1
                let (milliseconds, checksum) = try workload.run(
                    contender, data, round: runs, warmsUp: pair == .sqlite && pass == 0)
                checksums[side] = checksum
                guard round > 0 else { continue }
                if side == 0 {
                    raw[workload, default: []].append(milliseconds)
                } else {
                    dao[workload, default: []].append(milliseconds)
                }
            }
            guard checksums[0] == checksums[1] else {
                throw BenchError("\(title), \(workload.rawValue): the two sides read different rows")
            }
        }
    }
    return workloads.map { workload in
        let (raw, dao) = (raw[workload] ?? [], dao[workload] ?? [])
        return Measurement(
            pair: title, workload: workload.rawValue, rawMilliseconds: raw, daoMilliseconds: dao,
            ratio: medianRatio(dao, raw),
            budget: workload.budget(pair))
    }
}

func pad(_ text: String, _ width: Int, left: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return left ? space + text : text + space
}

/// A line of a table: a name, and cells that end at the same places.
func line(_ name: String, _ cells: [String], width: Int = 9) -> String {
    pad(name, 46) + cells.map { " " + pad($0, width, left: true) }.joined()
}

/// Calls a closure with a new folder, which is removed afterwards.
func inFolder<Value>(_ name: String, of directory: URL, _ body: (URL) throws -> Value) throws -> Value {
    let place = directory.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    return try body(place)
}

#if canImport(Glibc)
    // Large arrays stay in the process when they are freed. Otherwise it depends on the addresses of other values whether
    // a run pays for their pages anew: half the time of fetch-all, on both sides.
    if let address = dlsym(nil, "mallopt") {
        let set = unsafeBitCast(address, to: (@convention(c) (CInt, CInt) -> CInt).self)
        let (trimThreshold, mapThreshold): (CInt, CInt) = (-1, -3)
        _ = set(mapThreshold, 32 << 20)
        _ = set(trimThreshold, .max)
    }
#endif

/// Does what the options say.
func run(_ options: Options) throws {
    if let url = options.writers { return try WritersBench.run(url, seconds: options.seconds) }
    try inFolder("dao-bench-\(UUID().uuidString)", of: FileManager.default.temporaryDirectory) { try run(options, in: $0) }
}

private func run(_ options: Options, in directory: URL) throws {
    if let factor = options.growth {
        return try GrowthBench.run(options, factor: factor, in: directory)
    }
    if !options.sizes.isEmpty {
        return try SizesBench.run(options, sizes: options.sizes, in: directory)
    }
    if let factor = options.importFactor {
        return try ImportBench.run(rows: options.rows, factor: factor, in: directory)
    }
    if let url = options.follow { return try FollowBench.run(url, rows: options.rows, in: directory) }
    let data = Dataset<Message>(count: options.rows)
    if let url = options.postgresCopy {
        return try PostgresCopyBench.run(data, url, repetitions: options.repetitions, in: directory)
    }
    print(
        "\(options.rows) rows of 8 fields, 2 indexes; 20000 point reads, 2000 queries, 200 ranges, 500 commits; medians of \(options.repetitions), in milliseconds"
    )
    print("durability: full on both sides; SQLite \(String(cString: sqlite3_libversion())); checksums on LMDB: on")
    if options.pairs.count > 1, !options.pairs.contains(.postgres) {
        print("PostgreSQL is not measured: DAO_POSTGRES_URL names no server")
    }
    var results: [Measurement] = []
    for pair in options.pairs {
        for shape in options.shapes where shape.isMeasured(pair) {
            let measured =
                switch shape {
                case .texts: try measure(pair, shape, data, options, in: directory)
                case .numbers:
                    try measure(
                        pair, shape, Dataset<Payment>(count: options.rows), options, in: directory
                    )
                }
            guard let first = measured.first else { continue }
            let head = zip(["raw", "DAO", "ratio", "budget"], [9, 9, 7, 7])
            print("\n" + pad(first.pair, 46) + head.map { " " + pad($0, $1, left: true) }.joined())
            for result in measured {
                results.append(result)
                let over = result.budget.map { result.ratio > $0 ? "  over" : "" } ?? ""
                print(
                    pad(result.workload, 46), pad(String(format: "%.1f", median(result.rawMilliseconds)), 9, left: true),
                    pad(String(format: "%.1f", median(result.daoMilliseconds)), 9, left: true),
                    pad(String(format: "%.2f", result.ratio), 7, left: true),
                    pad(result.budget.map { String(format: "%.2f", $0) } ?? "", 7, left: true) + over)
            }
        }
    }
    for extra in options.extras {
        switch extra {
        case .copy: try CopyBench.run(data, repetitions: options.repetitions, in: directory)
        case .log: try LogBench.run(rows: options.rows, repetitions: options.repetitions, in: directory)
        case .search: try SearchBench.run(rows: options.rows, repetitions: options.repetitions, in: directory)
        case .tasks: try TasksBench.run(repetitions: options.repetitions, in: directory)
        case .footprint: try FootprintBench.run(options, in: directory)
        }
    }
    if let path = options.json {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(results).write(to: URL(fileURLWithPath: path))
        print("\nwritten to \(path)")
    }
}

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == FootprintBench.option {
        try FootprintBench.runChild(Array(arguments.dropFirst()))
    } else {
        try run(Options(arguments))
    }
} catch {
    FileHandle.standardError.write(Data("dao-bench: \(error)\n".utf8))
    exit(1)
}
