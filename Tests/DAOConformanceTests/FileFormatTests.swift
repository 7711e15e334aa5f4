import DAOCore
import DAOLMDB
import DAOSQLite
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOConformance

/// Files that an earlier build has written, with every kind of value, link and index. A change that they fail on loses what users
/// have stored: it needs another format, and a way from this one. `DAO_WRITE_FILES=1` writes them anew.
@Suite struct FileFormatTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Files")
    private static let isWriting = ProcessInfo.processInfo.environment["DAO_WRITE_FILES"] == "1"

    private let place = Place()

    /// `lmdb-2` is of format 2.
    @Test(arguments: ["sqlite", "lmdb", "lmdb-2"])
    func filesOfEarlierBuildsAreReadAndWritten(_ name: String) throws {
        let scheme = name.hasPrefix("lmdb") ? "lmdb" : name
        let path = place.path("app.\(scheme)")
        let kept = Self.folder.appendingPathComponent("\(name).gz")
        func open() throws -> any Database { try DatabaseDrivers(.sqlite, .lmdb).open("\(scheme):\(path)") }
        if Self.isWriting, name == scheme {
            let database = try open()
            try store(in: database)
            try database.close()
            try run("gzip -9 -n -c '\(path)' > '\(kept.path)'")
        } else {
            try run("gzip -d -c '\(kept.path)' > '\(path)'")
        }
        let database = try open()
        try check(database)
        #expect(try database.verify().problems.isEmpty)
        try database.dao(Topic.self).persist(Topic(id: "new", posts: Post.make([1, 9])))
        try database.dao(Crate.self).erase { $0.room == nil }
        #expect(try database.verify().problems.isEmpty)
        try database.close()
        #expect(try open().dao(Topic.self).read(byPrimaryKey: "new")?.posts.map(\.id) == [1, 9])
    }

    /// A format that an earlier build does not read gets another number, and a kept file.
    @Test func theCatalogHasTheFormatOfTheKeptFile() throws {
        func formats(_ path: String) throws -> [Int64] {
            var (handle, statement): (OpaquePointer?, OpaquePointer?)
            defer {
                sqlite3_finalize(statement)
                sqlite3_close_v2(handle)
            }
            try #require(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
            let text = "SELECT DISTINCT format FROM dao_catalog ORDER BY format"
            try #require(sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK)
            var found: [Int64] = []
            while sqlite3_step(statement) == SQLITE_ROW { found.append(sqlite3_column_int64(statement, 0)) }
            return found
        }
        let (kept, new) = (place.path("kept.sqlite"), place.path("new.sqlite"))
        try run("gzip -d -c '\(Self.folder.appendingPathComponent("sqlite.gz").path)' > '\(kept)'")
        let database = try DatabaseDrivers(.sqlite).open("sqlite:\(new)")
        try store(in: database)
        try database.close()
        let expected = try formats(kept)
        #expect(try formats(new) == expected && !expected.isEmpty)
    }

    private static let notes = [1, 2, 3].map(note)

    private static func note(_ id: Int) -> NoteWithEverything {
        let price = Decimal(sign: .minus, exponent: -2, significand: Decimal(1998 + id))
        var note = NoteWithEverything(
            id: id, title: "Title", rank: -id, mark: nil, flag: true, tiny: 3, least: .min, most: .max, ratio: 0.1, edge: -0.5,
            real: 0.3, price: price, text: NoteWithEverything.textValue, bytes: Data([0, 255, 1]),
            uuid: NoteWithEverything.uuidValue, link: NoteWithEverything.link,
            date: Date(timeIntervalSinceReferenceDate: 0.1 * Double(id)), timeout: .milliseconds(-1500), list: [], mood: .calm,
            maybe: nil, number: nil)
        switch id {
        case 1: (note.flag, note.mark, note.ratio, note.list) = (false, "m", .nan, [1, 2])
        case 2: (note.tiny, note.least, note.edge, note.number) = (-128, -1, -.infinity, 2)
        default: (note.most, note.least, note.maybe) = (1 << 63, 1, "yes")
        }
        return note
    }

    private static let topics = [
        Topic(
            id: "", title: "é", owner: Person(id: .min, name: "Ada", age: 36), posts: Post.make([3, 1, 2]), labels: [.make(1)]),
        Topic(id: "b\0c", title: String(repeating: "long ", count: 400), posts: Post.make([4])),
    ]

    private static let errands = [
        Errand(id: 1, title: "whole", owner: Reference(Int.min)), Errand(id: 2, whole: Reference(1), owner: Reference(Int.min)),
    ]

    private func store(in database: any Database) throws {
        try database.dao(NoteWithEverything.self).create(Self.notes)
        try database.dao(Topic.self).create(Self.topics)
        try database.dao(Errand.self).create(Self.errands)
        try database.dao(Crate.self).create(Crate.make(120))
        try database.dao(Parcel.self).create(Parcel.make(120))
        try database.evolve(Evolution(version: 7))
    }

    private func check(_ database: any Database) throws {
        #expect(try database.schemaVersion == 7)
        #expect(try database.pendingMigration(Evolution(version: 7, models: [Topic.self, Parcel.self, Errand.self])) == nil)
        func expectRows<Record: Model & Plain>(_ rows: [Record]) throws {
            let dao: DAO<Record> = try database.dao(Record.self)
            #expect(try dao.read().map { Dump.text(of: $0) } == rows.map { Dump.text(of: $0) })
        }
        try expectRows(Self.notes)
        try expectRows(Self.topics)
        try expectRows(Self.errands)
        try expectRows(Crate.make(120))
        try expectRows(Parcel.make(120))
        let crates = try database.dao(Crate.self)
        for order in [Sort<Crate>.descending(\.title), .descending(\.price), .ascending(\.room)] {
            let query = Query(orderedBy: [order])
            #expect(try crates.read(query).map(\.id) == query.resolved().evaluate(over: Crate.make(120)).map(\.id))
        }
        let parcels = try database.dao(Parcel.self)
        for condition in PartialIndexes.conditions {
            let query = Query(where: condition)
            #expect(try parcels.read(query).map(\.id) == query.resolved().evaluate(over: Parcel.make(120)).map(\.id))
        }
        #expect(try database.dao(NoteWithEverything.self).count { $0.price < -19.99 && $0.least > .min } == 2)
    }

    private func run(_ command: String) throws {
        let shell = Process()
        (shell.executableURL, shell.arguments) = (URL(fileURLWithPath: "/bin/sh"), ["-c", command])
        try shell.run()
        #expect(shell.waitForEnd() == 0)
    }
}
