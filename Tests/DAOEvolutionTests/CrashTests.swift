import DAOConformance
import DAOCore
import DAOEvolutionTestModels
import DAOTestSupport
import Foundation
import Testing

/// The state of a database after a process was killed during a migration or a copy.
@Suite(.serialized) struct CrashTests {
    @Test(arguments: Place.Kind.allCases, Moment.allCases)
    func killedMigrationLeavesTheOldVersion(_ kind: Place.Kind, _ moment: Moment) throws {
        let place = Place(kind)
        let entries = OldEntry.make(9000)
        do {
            let database = try drivers.open(place.url())
            try database.storage(for: OldEntry.self).insert(entries)
            try database.evolve(Evolution(version: 1))
            try database.close()
        }
        let child = try ChildProcess("migrate", place.url(), moment.rawValue)
        #expect(try child.ending() == .killed)
        let database = try drivers.open(place.url())
        #expect(try database.schemaVersion == 1)
        #expect(try database.entities() == [OldEntry.schema.description])
        let old = try database.storage(for: OldEntry.self)
        #expect(try old.read(Query()) == entries)
        #expect(try old.read(Query(where: Condition { $0.text == "text 77" })).map(\.id) == [77])
        // The migration then succeeds.
        try database.evolve(evolution { _ in })
        #expect(try database.schemaVersion == 3)
        let expected = entries.map { NewEntry(id: $0.id, title: $0.text, count: $0.id, color: "red") }
        let new = try database.storage(for: NewEntry.self)
        #expect(try new.read(Query()) == expected)
        #expect(try new.count(Query(where: Condition { $0.color == "red" })) == 9000)
    }

    @Test(arguments: Place.Kind.allCases) func killedCopyContinues(_ kind: Place.Kind) throws {
        let (source, target) = (Place(kind), Place(kind == .sqlite ? .lmdb : .sqlite))
        let entries = OldEntry.make(35_000)
        do {
            let database = try drivers.open(source.url())
            try database.storage(for: OldEntry.self).insert(entries)
            try database.close()
        }
        for limit in [10_000, 20_000] {
            let child = try ChildProcess("copy", source.url(), target.url(), "\(limit)")
            #expect(try child.ending() == .killed)
        }
        let child = try ChildProcess("copy", source.url(), target.url(), "40000")
        // Each process was killed after a committed batch. The third process writes the remaining rows.
        #expect(try child.ending() == .said(["15000"]))
        let database = try drivers.open(target.url())
        let copied = try database.storage(for: OldEntry.self)
        #expect(try copied.read(Query()) == entries)
        #expect(try copied.read(Query(where: Condition { $0.text == "text 30001" })).map(\.id) == [30_001])
    }

    /// Another process has the old model open while this process adds fields. It goes on, and loses nothing.
    @Test(arguments: Place.Kind.allCases) func processesWithTheOldModelKeepNewFields(_ kind: Place.Kind) throws {
        let place = Place(kind)
        let entries = OldEntry.make(50)
        let first = try drivers.open(place.url())
        try first.storage(for: OldEntry.self).insert(entries)
        try first.close()
        let database = try drivers.open(place.url())
        let child = try ChildProcess("old", place.url())
        #expect(try child.line() == "ready 50")
        let wider = try database.storage(for: WiderEntry.self)
        try wider.upsert(entries.map { WiderEntry($0, size: $0.id, note: nil) })
        try child.say("go on")
        #expect(try child.ending() == .said(["ok ok ok"]))
        var expected = entries.map { WiderEntry($0, size: $0.id, note: nil) }
        (expected[4].text, expected[4].count) = ("late", 0)
        expected.append(WiderEntry(id: 1000, text: "new", count: 0, size: .min, note: "none"))
        #expect(try wider.read(Query()) == expected)
        #expect(try wider.read(Query(where: Condition { $0.size == 5 })) == [expected[4]])
        #expect(try wider.read(Query(where: Condition { $0.size == Int.min })) == [expected[50]])
    }

    /// Another process has the old model open while this process renames one of its fields.
    @Test(arguments: Place.Kind.allCases) func processesWithTheOldModelAreRefused(_ kind: Place.Kind) throws {
        let place = Place(kind)
        let entries = OldEntry.make(50)
        let first = try drivers.open(place.url())
        try first.storage(for: OldEntry.self).insert(entries)
        try first.close()
        let database = try drivers.open(place.url())
        let child = try ChildProcess("old", place.url())
        #expect(try child.line() == "ready 50")
        let new = try database.storage(for: NewEntry.self)
        try child.say("go on")
        #expect(try child.ending() == .said(["schemaMismatch schemaMismatch schemaMismatch"]))
        #expect(try new.read(Query()) == entries.map { NewEntry($0) })
        #expect(try new.count(Query(where: Condition { $0.color == "red" })) == 50)
    }

    /// A map that is too small grows. The steps run again from the beginning.
    @Test func smallMapGrowsDuringMigrationAndCopy() throws {
        let (source, target) = (Place(.lmdb), Place(.lmdb))
        let entries = OldEntry.make(9000)
        let database = try drivers.open(source.url() + "?mapSize=1M")
        let old = try database.storage(for: OldEntry.self)
        for start in stride(from: 0, to: 9000, by: 1000) { try old.insert(Array(entries[start..<start + 1000])) }
        try database.evolve(evolution { _ in })
        let expected = entries.map { NewEntry(id: $0.id, title: $0.text, count: $0.id, color: "red") }
        #expect(try database.storage(for: NewEntry.self).read(Query()) == expected)
        let copy = try drivers.open(target.url() + "?mapSize=1M")
        try database.copy(to: copy)
        #expect(try copy.storage(for: NewEntry.self).read(Query()) == expected)
    }
}
