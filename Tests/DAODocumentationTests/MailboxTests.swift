// The tests of Docs/Testing.md.

import DAOCore
import DAOMemory
import DAOSQLite
import DAOTesting
import Foundation
import Testing

@testable import DAOExamples

@Suite struct MailboxTests {
    let mailbox: Mailbox
    let noon = Date(timeIntervalSinceReferenceDate: 0)

    init() throws {
        mailbox = try Mailbox(DatabaseDrivers(.memory).open("memory:"))
    }

    func message(_ id: Int, at seconds: Double) -> Message {
        Message(id: id, date: noon.addingTimeInterval(seconds), text: "text \(id)", isRead: false)
    }

    @Test func oldMessagesAreErased() throws {
        try mailbox.receive([message(1, at: -60), message(2, at: 60)], erasingBefore: noon)
        #expect(try mailbox.messages.read().map(\.id) == [2])
    }

    @Test func draftsSurviveAFetch() throws {
        try mailbox.receive([message(1, at: 60)], erasingBefore: noon)
        try mailbox.messages.update(where: { $0.id == 1 }) { $0.draft = "Dear …" }
        try mailbox.receive([message(1, at: 120)], erasingBefore: noon)
        #expect(try mailbox.messages.storage.read(byPrimaryKey: 1)?.draft == "Dear …")
    }

    @Test func failureStoresNothing() throws {
        try mailbox.database.close()
        #expect {
            try mailbox.receive([message(1, at: 60)], erasingBefore: noon)
        } throws: { error in
            (error as? StorageError)?.kind == .closed
        }
    }

    @Test func aFullDiskStoresNothing() throws {
        let database = FailingDatabase(try DatabaseDrivers(.memory).open("memory:"))
        let mailbox = try Mailbox(database)
        try mailbox.receive([message(1, at: -60)], erasingBefore: .distantPast)
        // The next write of messages succeeds, and the one after it fails: erasing what is old.
        database.fail(.write, of: "message", after: 1, with: StorageError(.io, "the disk is full"))
        #expect {
            try mailbox.receive([message(2, at: 60)], erasingBefore: noon)
        } throws: { error in
            (error as? StorageError)?.message == "the disk is full"
        }
        #expect(try mailbox.messages.read().map(\.id) == [1])
        try mailbox.receive([message(2, at: 60)], erasingBefore: noon)
        #expect(try mailbox.messages.read().map(\.id) == [2])
    }

    @Test func unreadCountFollowsEveryCommit() async throws {
        var counts: [Int] = []
        for try await unread in mailbox.database.observe({ [mailbox] in try mailbox.messages.count { !$0.isRead } }) {
            counts.append(unread)
            if unread == 2 { break }
            try await mailbox.messages.persist(message(unread + 1, at: 60))
        }
        #expect(counts == [0, 1, 2])
    }

    @Test func messagesAreInTheFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mailbox-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = "sqlite:\(folder.path)/mailbox.db"

        try Mailbox(DatabaseDrivers(.sqlite).open(url)).receive([message(1, at: 60)], erasingBefore: noon)
        #expect(try Mailbox(DatabaseDrivers(.sqlite).open(url)).messages.count() == 1)
    }
}
