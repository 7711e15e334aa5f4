import DAOCore
import DAOMemory
import DAOSQLite
import DAOSystemSQLite
import DAOTestSupport
import Testing

/// The connection of SQLite inside a transaction (contract T7).
@Suite struct UnderlyingTests {
    private let place = Place()

    private func opened() throws -> (database: SQLiteDatabase, messages: any Storage<Message>) {
        let database = try place.database()
        let messages = try database.storage(for: Message.self)
        try messages.insert((1...3).map(Message.numbered))
        return (database, messages)
    }

    @Test func writesAreSeenInTheTransactionAndAfterItsCommit() throws {
        let (database, messages) = try opened()
        try database.transaction {
            try messages.insert([.numbered(4)])
            let touched = try database.underlying(as: SQLiteHandle.self, touching: .models(Message.self)) { handle in
                try handle.execute("UPDATE message SET subject = 'new' WHERE id >= 3")
            }
            #expect(touched == 2)
            #expect(try messages.read(Query()).map(\.subject) == ["subject 1", "subject 2", "new", "new"])
            #expect(
                try place.database().storage(for: Message.self).read(key: .integer(4))?.subject == "new",
                "the handle of another database on the same file joins the transaction")
        }
        #expect(try messages.read(key: .integer(3))?.subject == "new")
    }

    /// Contract W9: a field that the closure leaves as it was read follows what is stored then.
    @Test func aWriteAroundAWriteThroughTheHandleFollowsIt() throws {
        let database = try place.database()
        let notes = DAO<Note>(storage: try database.storage(for: Note.self))
        let plain = DAO<PlainNote>(storage: try database.storage(for: PlainNote.self))
        for round in 0..<2 {
            try notes.persist(
                Note(id: 1, title: "a", text: "a", revision: Revision(rawValue: Int64(round * 3)), tags: [NoteTag(id: 1)]))
            try plain.persist(PlainNote(id: 1, title: "a", text: "a"))
            try notes.update(where: { $0.id == 1 }) { note in
                try database.underlying(as: SQLiteHandle.self) { handle in
                    _ = try handle.execute("UPDATE note SET text = 'raw', revision = revision + 1")
                }
                note.title = "b"
            }
            try plain.update(where: { $0.id == 1 }) { note in
                try database.underlying(as: SQLiteHandle.self) { _ = try $0.execute("UPDATE plainnote SET text = 'raw'") }
                note.title = "b"
            }
            let revision = Revision(rawValue: Int64(round * 3 + 3))
            #expect(try notes.read() == [Note(id: 1, title: "b", text: "raw", revision: revision, tags: [NoteTag(id: 1)])])
            #expect(try plain.read() == [PlainNote(id: 1, title: "b", text: "raw")])
        }
    }

    @Test func handleIsTheConnectionOfTheTransaction() throws {
        let (database, messages) = try opened()
        let counted = try database.transaction {
            try messages.insert([.numbered(4)])
            return try database.underlying(as: SQLiteHandle.self, touching: .none, count)
        }
        #expect(counted == 4)
    }

    /// Counts the messages by a statement.
    private func count(_ handle: SQLiteHandle) throws -> Int64 {
        var statement: OpaquePointer?
        try #require(sqlite3_prepare_v2(handle.connection, "SELECT count(*) FROM message", -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        try #require(sqlite3_step(statement) == SQLITE_ROW)
        return sqlite3_column_int64(statement, 0)
    }

    @Test func writesAreUndoneWithTheTransactionOrWhenTheClosureThrows() throws {
        let (database, messages) = try opened()
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try database.transaction {
                try database.underlying(as: SQLiteHandle.self) { _ = try $0.execute("DELETE FROM message") }
                throw Stop()
            }
        }
        #expect(try messages.count(Query()) == 3)
        try database.transaction {
            #expect(throws: Stop.self) {
                try database.underlying(as: SQLiteHandle.self) { handle in
                    try handle.execute("DELETE FROM message")
                    // The DAO may be used in between, and its writes are undone together with the others.
                    try messages.insert([.numbered(9)])
                    throw Stop()
                }
            }
            let error = #expect(throws: StorageError.self) {
                try database.underlying(as: SQLiteHandle.self) { handle in
                    try handle.execute("DELETE FROM message WHERE id = 1; SELECT x FROM nowhere")
                }
            }
            #expect(error?.engineMessage == "no such table: nowhere")
            try messages.insert([.numbered(4)])
        }
        #expect(try messages.read(Query()).map(\.id) == [1, 2, 3, 4])
    }

    @Test func handleInASnapshotReadsTheSnapshotAndCannotWrite() throws {
        let (database, messages) = try opened()
        try database.snapshot {
            _ = try messages.count(Query())
            try database.underlying(as: SQLiteHandle.self) { handle in
                let error = #expect(throws: StorageError.self) { try handle.execute("DELETE FROM message") }
                #expect(error?.kind == .readOnly)
                #expect(sqlite3_get_autocommit(handle.connection) == 0)
            }
        }
        #expect(try messages.count(Query()) == 3)
        try messages.insert([.numbered(4)])
    }

    @Test func handleIsRefusedOutsideATransactionAfterCloseAndForAnotherEngine() throws {
        let (database, messages) = try opened()
        let other = try place.database("other.db")
        let memory = try MemoryDatabase.open()
        func kind(_ database: any Database) -> StorageError.Kind? {
            #expect(throws: StorageError.self) { try database.underlying(as: SQLiteHandle.self) { _ in } }?.kind
        }
        #expect(kind(database) == .invalidTransaction)
        try database.transaction {
            try messages.insert([.numbered(4)])
            // The handle of the other database requires a transaction of that database.
            #expect(kind(other) == .invalidTransaction)
            #expect(kind(memory) == .unsupported)
        }
        #expect(kind(database) == .invalidTransaction)
        try database.close()
        #expect(kind(database) == .closed)
    }

    @Test(arguments: ["COMMIT", "ROLLBACK"]) func endingTheTransactionThroughTheHandleIsAnError(_ ending: String) throws {
        let (database, messages) = try opened()
        let later = #expect(throws: StorageError.self) {
            try database.transaction {
                _ = try? database.underlying(as: SQLiteHandle.self) { try $0.execute(ending) }
                try messages.insert([.numbered(50)])
            }
        }
        #expect(later?.kind == .invalidTransaction)
        let commit = #expect(throws: StorageError.self) {
            try database.transaction { _ = try? database.underlying(as: SQLiteHandle.self) { try $0.execute(ending) } }
        }
        #expect(commit?.kind == .invalidTransaction)
        try messages.insert([.numbered(4)])
        #expect(try messages.read(Query()).map(\.id) == [1, 2, 3, 4])
    }

    @Test func capabilitiesContainTheTypeOfTheHandle() throws {
        let database = try place.database()
        #expect(database.capabilities.underlyingTypes == [UnderlyingType(SQLiteHandle.self)])
        #expect(database.capabilities.underlyingTypes.map(\.description) == ["SQLiteHandle"])
    }

    // MARK: Observations

    /// A row changed through the handle is observed, whether its entity was named or all entities were
    /// touched. An entity that was not named is not checked.
    @Test(.timeLimit(.minutes(30)), arguments: [TouchedEntities.all, .models(Message.self), .named("user", "message")])
    func observationsAreNotified(_ touched: TouchedEntities) async throws {
        let (database, storage) = try opened()
        let dao = DAO(storage: storage, translator: Subjects())
        var subjects = dao.observe { $0.id == 1 }.makeAsyncIterator()
        #expect(try await subjects.next()?.map(\.subject) == ["subject 1"])
        try await database.transaction {
            try database.underlying(as: SQLiteHandle.self, touching: touched) { handle in
                _ = try handle.execute("UPDATE message SET subject = 'past the DAO' WHERE id = 1")
            }
        }
        #expect(try await subjects.next()?.map(\.subject) == ["past the DAO"])
    }

    /// A closure that reads through the handle is observed by the entities that it names, by default all.
    @Test(.timeLimit(.minutes(30)), arguments: [TouchedEntities.all, .models(Message.self)])
    func readsOfTheHandleAreObserved(_ touched: TouchedEntities) async throws {
        let (database, messages) = try opened()
        var counts = database.observe {
            try database.underlying(as: SQLiteHandle.self, touching: touched) { try count($0) }
        }.makeAsyncIterator()
        #expect(try await counts.next() == 3)
        try messages.insert([.numbered(4)])
        #expect(try await counts.next() == 4)
    }

    @Test(.timeLimit(.minutes(30))) func observationsOfOtherEntitiesAreNotNotified() async throws {
        let (database, storage) = try opened()
        let dao = DAO(storage: storage, translator: Subjects())
        var subjects = dao.observe { $0.id == 1 }.makeAsyncIterator()
        _ = try await subjects.next()
        for touched in [TouchedEntities.none, .models(User.self)] {
            try await database.transaction {
                try database.underlying(as: SQLiteHandle.self, touching: touched) { handle in
                    _ = try handle.execute("UPDATE message SET subject = subject || '!' WHERE id = 1")
                }
            }
        }
        // The two changes above were not announced. This commit through the DAO makes both visible.
        _ = try storage.update(Query(where: Condition { $0.id == 1 })) { $0.isRead.toggle() }
        #expect(try await subjects.next()?.map(\.subject) == ["subject 1!!"])
    }
}

private struct Subject: Plain {
    let id: Int
    let subject: String
    var uniqueId: UniqueID { UniqueID(id) }
}

private struct Subjects: ReplacingTranslator {
    func translate(model: Message) throws -> Subject { Subject(id: model.id, subject: model.subject) }
    func translate(plain: Subject) throws -> Message { .numbered(plain.id) }
}

private struct PlainNote: Plain, Model, Equatable {
    var id: Int
    var title: String
    var text: String

    static let schema = Schema(
        "plainnote", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("text", \.text))
}

private struct NoteTag: Plain, Model, Equatable {
    var id: Int

    static let schema = Schema("notetag", Self.init, Field("id", \.id, .primaryKey))
}

/// A row with a list, which counts its writes.
private struct Note: Plain, Model, Equatable {
    var id: Int
    var title: String
    var text: String
    var revision: Revision
    var tags: [NoteTag]

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("text", \.text), Field("revision", \.revision),
        Field("tags", \.tags, .linked))
}
