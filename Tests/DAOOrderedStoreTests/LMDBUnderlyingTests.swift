import DAOCore
import DAOLMDB
import DAOMemory
import DAOSystemLMDB
import DAOTestSupport
import Foundation
import Testing

@Suite("LMDB: direct access to the transaction (contract T7)")
struct LMDBUnderlyingTests {

    private let place = Place()

    private func opened() throws -> (database: any Database, notes: DAO<Note>) { try Note.opened(in: place) }

    /// Finds the entries whose values contain a text, with an LMDB cursor.
    private static func find(_ text: String, _ handle: LMDBHandle, _ body: (OpaquePointer) throws -> Void = { _ in }) throws
        -> Int
    {
        var count = 0
        for database in handle.databases {
            var cursor: OpaquePointer?
            try #require(mdb_cursor_open(handle.transaction, database, &cursor) == MDB_SUCCESS)
            let opened = try #require(cursor)
            defer { mdb_cursor_close(opened) }
            var (key, value) = (MDB_val(), MDB_val())
            while mdb_cursor_get(opened, &key, &value, MDB_NEXT) == MDB_SUCCESS {
                guard Data(bytes: value.mv_data, count: value.mv_size).range(of: Data(text.utf8)) != nil else { continue }
                let bytes = [UInt8](Data(bytes: key.mv_data, count: key.mv_size))
                #expect(handle.database(of: bytes) == database)
                count += 1
                try body(opened)
            }
        }
        return count
    }

    private static func erase(_ text: String, _ handle: LMDBHandle) throws {
        #expect(try Self.find(text, handle) { try #require(mdb_cursor_del($0, 0) == MDB_SUCCESS) } == 1)
    }

    @Test("direct writes are visible in the transaction, and after its commit")
    func written() throws {
        let (database, notes) = try opened()
        try database.transaction {
            try notes.create(Note(id: 4, text: "text 4"))
            try database.underlying(as: LMDBHandle.self, touching: .models(Note.self)) { handle in
                #expect(try Self.find("text 4", handle) == 1)
                try Self.erase("text 2", handle)
                #expect(try notes.read(byPrimaryKey: 2) == nil)
                try notes.create(Note(id: 5, text: "text 5"))
                #expect(try Self.find("text 5", handle) == 1)
            }
            #expect(try notes.read().map(\.id) == [1, 3, 4, 5])
            try notes.create(Note(id: 2, text: "again"))
        }
        #expect(try notes.read().map(\.text) == ["text 1", "again", "text 3", "text 4", "text 5"])
    }

    @Test("direct writes are rolled back with the transaction, and alone when the closure throws")
    func undone() throws {
        struct Stop: Error {}
        let (database, notes) = try opened()
        #expect(throws: Stop.self) {
            try database.transaction {
                try database.underlying(as: LMDBHandle.self) { try Self.erase("text 1", $0) }
                #expect(try notes.count() == 2)
                throw Stop()
            }
        }
        try database.transaction {
            #expect(throws: Stop.self) {
                try database.underlying(as: LMDBHandle.self) { handle in
                    try Self.erase("text 1", handle)
                    throw Stop()
                }
            }
            let count = try notes.count()
            #expect(count == 3)
        }
        #expect(try notes.read().map(\.id) == [1, 2, 3])
    }

    @Test("direct writes are rolled back with every savepoint around them, and so are the writes of DAOs beside them")
    func undoneOutside() throws {
        struct Stop: Error {}
        let (database, notes) = try opened()
        try database.transaction {
            try notes.create(Note(id: 4, text: "text 4"))
            #expect(throws: Stop.self) {
                try database.transaction {
                    try notes.erase(byPrimaryKey: 3)
                    try database.transaction {
                        try notes.persist(Note(id: 1, text: "changed"))
                        try database.underlying(as: LMDBHandle.self) { try Self.erase("text 2", $0) }
                        try notes.create(Note(id: 5, text: "text 5"))
                    }
                    try database.transaction {
                        try database.underlying(as: LMDBHandle.self) { try Self.erase("text 5", $0) }
                        try notes.erase(byPrimaryKey: 4)
                    }
                    let ids = try notes.read().map(\.id)
                    #expect(ids == [1])
                    throw Stop()
                }
            }
            try database.transaction {
                try notes.create(Note(id: 6, text: "text 6"))
                try database.underlying(as: LMDBHandle.self) { try Self.erase("text 3", $0) }
            }
        }
        #expect(try notes.read().map(\.text) == ["text 1", "text 2", "text 4", "text 6"])
    }

    @Test("the transaction of a snapshot reads the snapshot and cannot write")
    func snapshot() throws {
        let (database, notes) = try opened()
        try database.snapshot {
            try database.underlying(as: LMDBHandle.self) { handle in
                let count = try Self.find("text ", handle)
                #expect(count == 3)
                var (key, value) = (MDB_val(), MDB_val())
                #expect(mdb_put(handle.transaction, handle.database(of: [1]), &key, &value, 0) == EACCES)
                #expect(mdb_txn_env(handle.transaction) == handle.environment)
            }
        }
        #expect(try notes.count() == 3)
    }

    @Test("a call outside a transaction is refused, and so is the handle of another engine")
    func refused() throws {
        struct Other: UnderlyingHandle {}
        let (database, _) = try opened()
        #expect(database.capabilities.underlyingTypes == [UnderlyingType(LMDBHandle.self)])
        #expect(failureKind { try database.underlying(as: LMDBHandle.self) { _ in } } == .invalidTransaction)
        try database.transaction {
            #expect(failureKind { try database.underlying(as: Other.self) { _ in } } == .unsupported)
        }
        let memory = try MemoryDatabase.open()
        #expect(memory.capabilities.underlyingTypes.isEmpty)
        try memory.transaction {
            let error = failure { try memory.underlying(as: LMDBHandle.self) { _ in } }
            #expect(error?.kind == .unsupported)
            #expect(
                error?.message == "a database of memory has no handle of type LMDBHandle; this database has no engine handle")
        }
    }

    @Test(
        "observations run again after direct writes", .timeLimit(.minutes(30)),
        arguments: [TouchedEntities.all, .models(Note.self)])
    func observed(_ touched: TouchedEntities) async throws {
        let (database, notes) = try opened()
        var results = notes.observe().makeAsyncIterator()
        _ = try await results.next()
        try await database.transaction {
            try database.underlying(as: LMDBHandle.self, touching: touched) { try Self.erase("text 2", $0) }
        }
        #expect(try await results.next()?.map(\.id) == [1, 3])
    }
}
