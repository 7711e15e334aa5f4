import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import Foundation

/// What a database takes beside time: files, memory, allocations and counted references of a row. And how long it takes to open.
///
/// Each is measured in a process of its own, which has nothing of another measurement in its memory.
enum FootprintBench {
    /// The option of such a process. It is followed by ``Part``, ``Shape``, ``Pair``, a side, a place and the number of rows.
    static let option = "--footprint"

    private enum Part: String { case open, store, read }

    private enum Side: String { case raw, dao }

    /// What a process has measured.
    private struct Footprint: Codable {
        var firstOpening = 0.0
        var opening = 0.0
        /// What ``Contender/fetchAll`` adds to the memory of the process at most.
        var peak = 0
        var fetched: Counts?
        var readInside: Counts?
        var read: Counts?
    }

    /// Numbers for each row that was read.
    private struct Counts: Codable {
        let allocations: Double
        let retains: Double
    }

    // MARK: The table

    static func run(_ options: Options, in directory: URL) throws {
        for pair in [Pair.sqlite, .lmdb, .memory] {
            for shape in Shape.allCases { try compare(pair, shape, options, in: directory) }
        }
        try printOpenings(in: directory)
    }

    private static func compare(_ pair: Pair, _ shape: Shape, _ options: Options, in directory: URL) throws {
        let sides = try [Side.raw, .dao].map { side in
            try inFolder("footprint-\(pair)-\(shape)-\(side)", of: directory) { place in
                if pair != .memory { _ = try child(.store, shape, pair, side, place, options.rows) }
                return (bytes: try size(of: place), result: try child(.read, shape, pair, side, place, options.rows))
            }
        }
        print("\n" + line(pair.title + (shape == .texts ? "" : ", one text"), ["raw", "DAO", "ratio"]))
        // The array of a dictionary's values shares their texts, and memory of earlier work is used again.
        if pair != .memory {
            show("file, MB", sides.map { Double($0.bytes) / 1e6 })
            show("memory that fetch-all adds, MB", sides.map { Double($0.result.peak) / 1e6 })
        }
        for (name, counts) in [
            ("fetch-all", \Footprint.fetched), ("point reads, one transaction", \.readInside),
            ("point reads, a call each", \.read),
        ] {
            let counts = sides.compactMap { $0.result[keyPath: counts] }
            if counts.count < sides.count { continue }
            show("allocations a row, \(name)", counts.map(\.allocations))
            show("retains a row, \(name)", counts.map(\.retains))
        }
    }

    private static func printOpenings(in directory: URL) throws {
        print("\n" + line("opening a database with \(ManyEntities.count) entities, ms", ["first", "again"]))
        for pair in [Pair.sqlite, .lmdb] {
            let results = try inFolder("footprint-open-\(pair)", of: directory) { place in
                // The first one makes the file.
                try (0...10).map { _ in try child(.open, .texts, pair, .dao, place, 1) }.dropFirst()
            }
            let cells = [\Footprint.firstOpening, \.opening].map { kind in
                String(format: "%.1f", median(results.map { $0[keyPath: kind] }))
            }
            print(line("\(pair)", cells))
        }
    }

    private static func show(_ name: String, _ sides: [Double]) {
        let ratio = sides[0] > 0.005 ? String(format: "%.2f", sides[1] / sides[0]) : ""
        print(line(name, sides.map { String(format: "%.2f", $0) } + [ratio]))
    }

    private static func size(of place: URL) throws -> Int {
        try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: [.fileSizeKey]).reduce(0) {
            // LMDB's file of locks has the same size whatever is stored.
            try $1.lastPathComponent.hasSuffix("-lock") ? $0 : $0 + ($1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
        }
    }

    private static func child(
        _ part: Part, _ shape: Shape, _ pair: Pair, _ side: Side, _ place: URL, _ rows: Int
    ) throws -> Footprint {
        guard let program = Bundle.main.executableURL else { throw BenchError("the program does not know its own path") }
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = [option, part.rawValue, shape.rawValue, pair.rawValue, side.rawValue, place.path, "\(rows)"]
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchError("the process that should \(part.rawValue) rows has failed") }
        return try JSONDecoder().decode(Footprint.self, from: data)
    }

    // MARK: In a process of its own

    /// Measures, and prints the result.
    static func runChild(_ arguments: [String]) throws {
        guard arguments.count == 6, let part = Part(rawValue: arguments[0]), let shape = Shape(rawValue: arguments[1]),
            let pair = Pair(rawValue: arguments[2]), let side = Side(rawValue: arguments[3]), let rows = Int(arguments[5])
        else { throw BenchError("\(option) is for the program itself") }
        let file = arguments[4] + "/file"
        let result =
            switch (part, shape) {
            case (.open, _): try open("\(pair)://\(file)")
            case (_, .texts): try measure(part, Message.self, pair, side, file, rows)
            case (_, .numbers): try measure(part, Payment.self, pair, side, file, rows)
            }
        FileHandle.standardOutput.write(try JSONEncoder().encode(result))
    }

    /// Opens a database with its entities for the first time in the process, when Swift prepares their types, and again.
    private static func open(_ url: String) throws -> Footprint {
        let first = try ManyEntities.open(url)
        let again = try (0..<5).map { _ in try ManyEntities.open(url) / .milliseconds(1) }
        return Footprint(firstOpening: first / .milliseconds(1), opening: median(again))
    }

    private static func measure<Record: MeasuredRecord>(
        _ part: Part, _: Record.Type, _ pair: Pair, _ side: Side, _ file: String, _ rows: Int
    ) throws -> Footprint {
        let contender: Contender<Record> =
            switch (pair, side) {
            case (.sqlite, .raw): try .rawSQLite(file)
            case (.lmdb, .raw): try .rawLMDB(file)
            case (_, .raw): .dictionary()
            case (.memory, .dao): try .dao("DAO", "memory:", DatabaseDrivers(.memory), settle: {}) {}
            case (_, .dao): try .dao("DAO", "\(pair)://\(file)", DatabaseDrivers(.sqlite, .lmdb), settle: {}) {}
            }
        defer { contender.dispose() }
        if part == .store || pair == .memory {
            try contender.insert(Dataset<Record>(count: rows, points: 1, queries: 1).records)
        }
        var result = Footprint()
        guard part == .read else { return result }
        // The first read makes what is kept for later ones.
        _ = try contender.read(0)
        result.peak = try Self.peak { try contender.fetchAll() }
        let keys = stride(from: 0, to: rows, by: max(rows / 1000, 1)).map { $0 }
        // What opens and is kept after some reads is not counted.
        for key in keys { _ = try contender.read(key) }
        func counted(_ count: Int, _ body: () throws -> Void) rethrows -> Counts? {
            try RuntimeCounts.count(body).map {
                Counts(allocations: Double($0.allocations) / Double(count), retains: Double($0.retains) / Double(count))
            }
        }
        result.fetched = try counted(rows) { _ = try contender.fetchAll() }
        result.readInside = try counted(keys.count) { try contender.readInside(keys) { _ in } }
        result.read = try counted(keys.count) { for key in keys { _ = try contender.read(key) } }
        return result
    }

    /// The bytes that a closure adds to the memory of the process at most; 0 where the system does not say.
    private static func peak<Value>(_ body: () throws -> Value) throws -> Int {
        func status(_ name: String) -> Int {
            let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.split(separator: "\n") ?? []
            let line = lines.first { $0.hasPrefix(name) }?.split(whereSeparator: \.isWhitespace)
            return (line.flatMap { Int($0[1]) } ?? 0) * 1024
        }
        // Begins the highest value anew, from what is used now.
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        let before = status("VmRSS:")
        let value = try body()
        return withExtendedLifetime(value) { status("VmHWM:") - before }
    }
}
