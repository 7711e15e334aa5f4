import DAOCore
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOExamples

/// The code of Docs/DirectAccess.md.
@Suite struct DirectAccessTests {
    private let place = Place(.sqlite)

    private func messages(_ options: String) throws -> DAO<MessageTranslator> {
        let database = try DatabaseDriver.sqlite.open(DatabaseConfiguration(url: place.url(options)))
        return DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
    }

    private func message(_ id: Int, _ text: String) -> Message { Message(id: id, date: Date(), text: text, isRead: false) }

    @Test func triggersKeepAFullTextIndexUpToDate() throws {
        let messages = try messages("trustedSchema=true")
        try messages.persist(message(1, "a newsletter; unsubscribe here"))
        try indexTexts(messages)
        try messages.persist([message(2, "a newsletter"), message(3, "unsubscribe from the newsletter"), message(4, "hello")])
        try messages.persist(message(2, "another newsletter, unsubscribe there"))
        try messages.erase(byPrimaryKey: 3)
        #expect(try markNewsletters(messages) == 2)
        #expect(try messages.read { $0.isRead }.map(\.id) == [1, 2])
    }

    @Test func filesThatAreNotTrustedSayWhatToDo() throws {
        try indexTexts(messages("trustedSchema=true"))
        let messages = try messages("")
        let error = #expect(throws: StorageError.self) { try messages.persist(message(1, "text")) }
        #expect(error?.kind == .notPermitted && error?.message.contains("trustedSchema=true") == true)
        #expect(try messages.read().isEmpty)
        #expect(throws: StorageError.self) { try self.messages("trustedSchema=true") }
    }
}
