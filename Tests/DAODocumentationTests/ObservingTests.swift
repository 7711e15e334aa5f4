import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import Foundation
import Observation
import Testing

@testable import DAOExamples

/// Tests the behaviour that Docs/Observing.md and Docs/DirectAccess.md describe.
@Suite(.timeLimit(.minutes(30))) struct ObservingTests {
    private static func message(_ id: Int, isRead: Bool = false) -> Message {
        Message(id: id, date: Date(timeIntervalSinceReferenceDate: Double(id)), text: "text \(id)", isRead: isRead)
    }

    private static func withMessages(
        _ url: String, _ body: (DAO<MessageTranslator>) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("observing-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(url.replacing("{directory}", with: directory.path))
        try await body(DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator()))
        try database.close()
    }

    @Test func loopReceivesChanges() async throws {
        try await Self.withMessages("memory:") { messages in
            try await messages.persist([Self.message(1), Self.message(2, isRead: true)])
            var seen: [[Int]] = []
            try await followUnread(messages) { unread in
                seen.append(unread.map(\.id))
                if seen.count == 1 { try? messages.persist(Self.message(3)) }
                return seen.count < 2
            }
            #expect(seen == [[1], [1, 3]])
        }
    }

    @Test func rowsAndValuesAreFollowed() async throws {
        try await Self.withMessages("memory:") { messages in
            let database = messages.storage.database
            var texts: [String] = []
            try await follow(1, in: messages) { text in
                texts.append(text)
                if texts.count == 1 { try? messages.persist(Self.message(1)) }
                if texts.count == 2 { _ = try? messages.erase(byPrimaryKey: 1) }
                return texts.count < 3
            }
            #expect(texts == ["deleted", "text 1", "deleted"])
            var counts: [Int] = []
            try await followCount(database, messages) { count in
                counts.append(count)
                if count == 0 { try? messages.persist([Self.message(1), Self.message(2), Self.message(3, isRead: true)]) }
                return count == 0
            }
            #expect(counts == [0, 2])
            var inbox = observeInbox(database, messages).makeAsyncIterator()
            #expect(try await inbox.next() == Inbox(unread: 2, newest: Self.message(3).date))
            try await messages.erase()
            #expect(try await inbox.next() == Inbox(unread: 0, newest: nil))
        }
    }

    /// A table that applies every difference shows the same rows as a table that reloads.
    @Test @MainActor func tableFollowsTheList() async throws {
        let database = try MemoryDatabase.open()
        let messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
        let list = unreadList(messages)
        let table = MessageTable(list)
        func settled(_ texts: [String]) async {
            while table.rows != texts { await Task.yield() }
        }
        for id in 1...5 { try await messages.persist(Self.message(id)) }
        await settled([5, 4, 3, 2, 1].map { "text \($0)" })
        var changed = Self.message(2)
        changed = Message(id: 2, date: changed.date, text: "changed", isRead: false)
        try await messages.persist([changed, Self.message(4, isRead: true), Self.message(9)])
        await settled(["text 9", "text 5", "text 3", "changed", "text 1"])
        try await messages.erase()
        await settled([])
    }

    @Test(arguments: ["memory:", "sqlite:{directory}/app.db", "lmdb:{directory}/app.mdb"])
    func directAccessIsUsedWhereTheDatabaseSupportsIt(_ url: String) async throws {
        try await Self.withMessages(url) { messages in
            try messages.persist([Self.message(1), Self.message(2, isRead: true)])
            #expect(try uppercaseUnreadOnAnyDatabase(messages) == 1)
            #expect(try messages.read().map(\.text) == ["TEXT 1", "text 2"])
            if url.hasPrefix("sqlite") {
                #expect(try uppercaseUnread([Self.message(3)], messages) == 2)
                #expect(try messages.read().map(\.text) == ["TEXT 1", "text 2", "TEXT 3"])
            } else {
                let error = #expect(throws: StorageError.self) { try uppercaseUnread([Self.message(3)], messages) }
                #expect(error?.kind == .unsupported)
                #expect(try messages.count() == 2, "the refusal undid the transaction")
            }
        }
    }
}
