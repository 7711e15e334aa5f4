import DAOCore
import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite
import Foundation

// Imports the world's countries, subdivisions, languages and currencies into every database on the command
// line (by default memory, SQLite, LMDB, and the PostgreSQL server that DAO_POSTGRES_URL names), asks each the same eleven questions,
// and checks that all answers are the same.
//
//   swift run dao-demo [URL …]        for example  memory:  sqlite:atlas.db  lmdb:///tmp/atlas.mdb  postgres://app@localhost/app

/// Returns the result of a closure and its duration in milliseconds.
func timed<Result>(_ work: () throws -> Result) rethrows -> (Result, Double) {
    let clock = ContinuousClock()
    let start = clock.now
    let result = try work()
    let elapsed = (clock.now - start).components
    return (result, Double(elapsed.seconds) * 1000 + Double(elapsed.attoseconds) / 1e15)
}

func pad(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }

func run(_ urls: [String]) throws {
    let drivers = DatabaseDrivers(.memory, .sqlite, .lmdb, .postgres)
    let (world, parsing) = try timed { try World(IsoCodes()) }
    print(
        """
        Read from JSON: \(world.countries.count) countries, \(world.subdivisions.count) subdivisions, \(world.languages.count) languages, \
        \(world.currencies.count) currencies, \(world.names.count) names of countries in all languages (\(Int(parsing)) ms)

        """)

    var names: [String] = []
    var atlases: [Atlas] = []
    var imports: [(first: Double, again: Double)] = []
    for url in urls {
        let atlas = try Atlas(drivers.open(url))
        names.append(String(atlas.database.capabilities.engine.prefix { $0 != " " }))
        let (_, first) = try timed { try atlas.persist(world) }
        // A field that the import does not have is kept: a favourite stays a favourite.
        try atlas.countries.update(where: { $0.code == "SE" }) { $0.isFavourite = true }
        let (_, again) = try timed { try atlas.persist(world) }
        let favourites = try atlas.countries.count { $0.isFavourite }
        guard favourites == 1 else { throw DemoError("\(atlas.database.configuration): the second import lost the favourite") }
        atlases.append(atlas)
        imports.append((first, again))
    }

    var times: [[Double]] = []
    var disagreements = 0
    for (number, question) in Question.all.enumerated() {
        let answers = try atlases.map { atlas in try timed { try question.ask(atlas) } }
        let expected = answers[0].0
        let marks = zip(names, answers).map { name, answer in "\(answer.0 == expected ? "✓" : "✗") \(name)" }.joined(
            separator: "  ")
        print("\(pad("\(number + 1)", 2)). \(question.code)\n    \(expected)\n    \(marks)")
        for (name, answer) in zip(names, answers) where answer.0 != expected {
            disagreements += 1
            print("    \(name) answered: \(answer.0)")
        }
        times.append(answers.map(\.1))
    }

    print("\n" + pad("milliseconds", 28) + names.map { pad($0, 12) }.joined())
    func row(_ title: String, _ values: [Double]) {
        print(pad(title, 28) + values.map { pad(String(format: "%.2f", $0), 12) }.joined())
    }
    row("import of \(world.count) values", imports.map(\.first))
    row("second import, merged", imports.map(\.again))
    for (number, times) in times.enumerated() { row("question \(number + 1)", times) }

    print("")
    for (url, atlas) in zip(urls, atlases) {
        let configuration = atlas.database.configuration
        let place =
            switch configuration.scheme {
            case "memory": "in memory only, now released"
            case "postgres": "the tables are in the schema \(configuration.options["schema"] ?? "public")"
            default: "the file is \(configuration.path)"
            }
        try atlas.database.close()
        print("\(url.prefix { $0 != ":" }): \(place)")
    }
    guard disagreements == 0 else { throw DemoError("\(disagreements) answers differ") }
    print("All \(Question.all.count) answers are the same on \(names.joined(separator: ", ")).")
}

do {
    var urls = Array(CommandLine.arguments.dropFirst())
    if urls.contains("--help") {
        print(
            """
            dao-demo [URL …]   for example  memory:  sqlite:atlas.db  lmdb:///tmp/atlas.mdb  postgres://app@localhost/app
            Without a URL: memory, SQLite, LMDB, and the PostgreSQL server that DAO_POSTGRES_URL names, side by side.
            """)
        exit(0)
    }
    if urls.isEmpty {
        let name = "dao-demo-\(UUID().uuidString.prefix(8).lowercased())"
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        urls = ["memory:", "sqlite:\(directory.path)/atlas.db", "lmdb:\(directory.path)/atlas.mdb"]
        if let server = ProcessInfo.processInfo.environment["DAO_POSTGRES_URL"] {
            urls.append("\(server)?schema=\(name)")
        } else {
            print("PostgreSQL is left out: DAO_POSTGRES_URL names no server. `make demo` starts one where it can.\n")
        }
    }
    try run(urls)
} catch {
    FileHandle.standardError.write(Data("dao-demo: \(error)\n".utf8))
    exit(1)
}
