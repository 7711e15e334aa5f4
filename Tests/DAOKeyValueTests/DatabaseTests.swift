import DAOCore
import DAOExamples
import DAOLMDB
import DAOMemory
import DAOTestSupport
import Foundation
import Testing

@testable import DAOKeyValue

/// The entity "note" as declared by another version of an application.
private struct OtherNote: Model {
    var key: String
    var text: Int
    var extra: String?

    static let schema = Schema(
        "note", Self.init, Field("key", \.key, .primaryKey), Field("text", \.text, .indexed), Field("extra", \.extra))
}

@Suite struct DatabaseTests {
    private let place = Place(.lmdb)
    private var directory: String { place.directory.path }

    // MARK: Catalog

    @Test func changedEntityIsRefusedWithTheDifference() throws {
        let database = try makeDatabase()
        try database.withEntityStore(.write) { store in
            try store.create(Note.schema.description)
            try store.store([[.string("a"), .string("x")]], in: "note", replaces: false)
        }
        do {
            _ = try database.storage(for: OtherNote.self)
            Issue.record("a storage for another entity was opened")
        } catch let error as StorageError {
            #expect(error.kind == .schemaMismatch)
            #expect(error.message.contains("'text' is stored as string and declared as int64"))
            #expect(error.message.contains("'extra' is added"))
        }
        #expect(try database.entities() == [Note.schema.description])
        #expect(try database.storage(for: Note.self).count(Query()) == 1)
    }

    /// A store with only the head of a catalog.
    private func store(_ head: String, at key: String = "\0F") throws -> SortedArrayStore {
        let store = SortedArrayStore()
        let transaction = try store.begin(.write)
        let json = Data(head.utf8)
        let hash = json.withUnsafeBytes { XXH64.hash($0) }
        let value = withUnsafeBytes(of: hash.littleEndian) { Data($0) } + json
        try Array(key.utf8).withUnsafeBytes { key in try value.withUnsafeBytes { try transaction.put(key, $0) } }
        try transaction.commit()
        return store
    }

    @Test func newerFormatAndForeignDataAreRefused() throws {
        let newer = try store(#"{"version":99,"nextKeyspace":1}"#)
        #expect(errorKind { _ = try KeyValueDatabase(store: newer) } == .schemaIsNewer)
        let impossible = try store(#"{"version":-1,"nextKeyspace":1}"#)
        #expect(errorKind { _ = try KeyValueDatabase(store: impossible) } == .corrupted)
        // The keyspace in four bytes, as in files before version 2.
        let early = try store(#"{"version":2,"nextKeyspace":1}"#, at: "\0\0\0\0F")
        #expect(errorKind { _ = try KeyValueDatabase(store: early) } == .notADatabase)

        let foreign = SortedArrayStore()
        let other = try foreign.begin(.write)
        try Array("key".utf8).withUnsafeBytes { try other.put($0, $0) }
        try other.commit()
        #expect(errorKind { _ = try KeyValueDatabase(store: foreign) } == .notADatabase)
    }

    /// An earlier build does not read the records that are written now, and the format says so to it.
    @Test func theFirstWriteRaisesTheFormat() throws {
        func version(_ store: SortedArrayStore) throws -> String? {
            let entry = try store.entries().first { $0.key == Array("\0F".utf8) }
            return entry.map { String(decoding: $0.value.dropFirst(8), as: UTF8.self) }
        }
        let store = try store(#"{"version":2,"nextKeyspace":1}"#)
        let database = try KeyValueDatabase(store: store)
        #expect(try database.entities().isEmpty)
        #expect(try version(store)?.contains("\"version\":2") == true)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try database.transaction {
                try database.storage(for: Note.self).insert([Note(key: "a", text: "x")])
                throw Stop()
            }
        }
        #expect(try version(store)?.contains("\"version\":2") == true)
        try database.storage(for: Note.self).insert([Note(key: "a", text: "x")])
        #expect(try version(store)?.contains("\"version\":3") == true)
        #expect(try database.storage(for: Note.self).read(Query()) == [Note(key: "a", text: "x")])
    }

    @Test func rowsPersistAfterTheDatabaseIsClosed() throws {
        let path = directory + "/app.lmdb"
        do {
            let database = try LMDBDatabase.open(path: path)
            try database.storage(for: Message.self).insert((0..<50).map { .make($0, sender: $0 % 3) })
            try database.close()
        }
        let database = try LMDBDatabase.open(path: path)
        #expect(try database.entities().map(\.name) == ["message"])
        let storage = try database.storage(for: Message.self)
        #expect(try storage.count(Query(where: Condition { $0.sender == 1 })) == 17)
        #expect(try storage.read(Query()) == (0..<50).map { .make($0, sender: $0 % 3) })
    }

    // MARK: Sharing

    @Test func databasesWithTheSameIdentifierShareRows() throws {
        let name = "shared-\(UUID().uuidString)"
        let first = try MemoryDatabase.open(identifier: name)
        let second = try DatabaseDrivers(.memory).open("memory:\(name)")
        try first.storage(for: Note.self).insert([Note(key: "a", text: "x")])
        #expect(try second.storage(for: Note.self).count(Query()) == 1)
        try first.close()
        #expect(errorKind { _ = try first.storage(for: Note.self) } == .closed)
        #expect(try second.storage(for: Note.self).count(Query()) == 1)
        // A transaction of the first database is also a transaction of the second.
        let third = try MemoryDatabase.open(identifier: name)
        try second.transaction {
            try second.storage(for: Note.self).insert([Note(key: "b", text: "y")])
            #expect(try third.storage(for: Note.self).count(Query()) == 2)
        }
        try second.close()
        try third.close()
        #expect(try MemoryDatabase.open(identifier: name).entities().isEmpty)
        #expect(
            errorKind {
                var configuration = DatabaseConfiguration(scheme: "memory", path: "missing-\(name)")
                configuration.createsIfMissing = false
                _ = try MemoryDatabase.open(configuration)
            } == .notFound)
        let unnamed = try MemoryDatabase.open()
        try unnamed.storage(for: Note.self).insert([Note(key: "a", text: "x")])
        #expect(try MemoryDatabase.open().entities().isEmpty)
    }

    @Test func databasesOnTheSameFileShareTheirEngine() throws {
        let first = try LMDBDatabase.open(path: directory + "/app.lmdb")
        let second = try DatabaseDrivers(.lmdb).open("lmdb://\(directory)/./app.lmdb?checksums=false")
        let notes = try first.storage(for: Note.self)
        try second.transaction {
            try second.storage(for: Note.self).insert([Note(key: "a", text: "x")])
            #expect(try notes.count(Query()) == 1)
        }
        try first.close()
        #expect(try second.storage(for: Note.self).read(Query()) == [Note(key: "a", text: "x")])
        var configuration = DatabaseConfiguration(scheme: "lmdb", path: directory + "/app.lmdb")
        configuration.isReadOnly = true
        let reader = try LMDBDatabase.open(configuration)
        #expect(reader.capabilities.isReadOnly)
        #expect(try reader.storage(for: Note.self).count(Query()) == 1)
        #expect(errorKind { try reader.storage(for: Note.self).insert([Note(key: "b", text: "")]) } == .readOnly)
        #expect(try reader.storage(for: Message.self).read(Query()).isEmpty)
    }

    @Test(arguments: ["mapSize=0", "mapSize=12X", "mapSize=99999999999G", "maxReaders=0", "checksums=yes"])
    func invalidOptionsAreRefused(option: String) throws {
        let path = directory + "/app.lmdb"
        #expect(errorKind { _ = try DatabaseDrivers(.lmdb).open("lmdb://\(path)?\(option)") } == .invalidConfiguration)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func fullMapGrowsAutomatically() throws {
        let database = try DatabaseDrivers(.lmdb).open("lmdb://\(directory)/app.lmdb?mapSize=256K&durability=relaxed")
        let notes = try database.storage(for: Note.self)
        let text = String(repeating: "x", count: 1_000)
        for batch in 0..<5 { try notes.insert((0..<2_000).map { Note(key: "\(batch)-\($0)", text: text) }) }
        #expect(try notes.count(Query()) == 10_000)
    }

    // MARK: Closing

    @Test func closeEndsCursorsAndRefusesCalls() throws {
        let database = try makeDatabase()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<10).map { .make($0) })
        let cursor = try storage.cursor(Query())
        #expect(try cursor.next(2).count == 2)
        var inside: RowCursor<Message>?
        try database.transaction {
            #expect(errorKind { try database.close() } == .invalidTransaction)
            inside = try storage.cursor(Query())
            _ = try storage.erase(Query())
            #expect(try inside?.next(1).count == 1)
        }
        #expect(try cursor.next(100).count == 8)
        let other = try storage.cursor(Query())
        try database.close()
        try database.close()
        #expect(errorKind { _ = try other.next(1) } == .closed)
        #expect(errorKind { _ = try inside?.next(1) } == .closed)
        #expect(errorKind { _ = try storage.read(Query()) } == .closed)
        #expect(errorKind { _ = try database.entities() } == .closed)
        #expect(errorKind { try database.transaction {} } == .closed)
    }

    @Test func releasingTheLastReferenceCloses() throws {
        weak var weakDatabase: KeyValueDatabase?
        do {
            let database = try LMDBDatabase.open(path: directory + "/app.lmdb")
            weakDatabase = database
            let cursor = try database.storage(for: Note.self).cursor(Query())
            _ = try cursor.next(1)
        }
        #expect(weakDatabase == nil)
    }

    @Test func abandonedCursorsReleaseTheirSnapshot() throws {
        let database = try DatabaseDrivers(.lmdb).open("lmdb://\(directory)/app.lmdb?maxReaders=4&timeout=1")
        let notes = try database.storage(for: Note.self)
        try notes.insert((0..<10).map { Note(key: "\($0)", text: "") })
        for _ in 0..<20 { _ = try notes.cursor(Query()).next(1) }
        #expect(try notes.count(Query()) == 10)
    }

    // MARK: Damage

    @Test func damagedRowIsNamedInTheError() throws {
        let store = SortedArrayStore()
        let database = try KeyValueDatabase(store: store)
        let storage = try database.storage(for: Message.self)
        try storage.insert([.make(1, sender: 5), .make(2, sender: 6)])
        let transaction = try store.begin(.write)
        let cursor = try transaction.cursor()
        var isThere = try cursor.seek(UnsafeRawBufferPointer(start: nil, count: 0))
        while isThere, cursor.value.count < 20 || cursor.key.count != 9 || cursor.key.last != 2 { isThere = try cursor.next() }
        var bytes = Array(cursor.value)
        bytes[bytes.count / 2] ^= 4
        try bytes.withUnsafeBytes { try transaction.put(cursor.key, $0) }
        try transaction.commit()
        #expect(try storage.read(key: .integer(1)) == .make(1, sender: 5))
        for call in [
            { _ = try storage.read(Query()) }, { _ = try storage.read(key: .integer(2)) }, { try storage.upsert([.make(2)]) },
        ] as [() throws -> Void] {
            do {
                try call()
                Issue.record("a damaged row was read")
            } catch let error as StorageError {
                #expect(error.kind == .corrupted)
                #expect(error.entity == "message")
                #expect(error.key == 2)
            }
        }
    }
}
