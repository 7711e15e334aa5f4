// The code of Docs/Observing.md, compiled, and run except for the views.

import DAOCore
import Foundation
import Observation

#if canImport(SwiftUI)
    import SwiftUI

    struct UnreadView: View {
        @State var list: ObservedList<MessageTranslator>

        var body: some View {
            List(list.elements, id: \.uniqueId) { message in
                Text(message.text)
            }
            .overlay {
                if list.isLoading { ProgressView() }
                if list.isEmpty { Text("All read") }
                if list.error != nil { Button("Try again") { list.retry() } }
            }
        }
    }
#endif

/// Shows every result until `show` returns false.
func followUnread(_ messages: DAO<MessageTranslator>, while show: ([Message]) -> Bool) async throws {
    for try await unread in messages.observe(where: { !$0.isRead }) {
        guard show(unread) else { break }
    }
}

/// Shows a message until `show` returns false.
func follow(_ id: Int, in messages: DAO<MessageTranslator>, while show: (String) -> Bool) async throws {
    for try await message in messages.observe(byPrimaryKey: id) {
        guard show(message?.text ?? "deleted") else { break }
    }
}

/// Shows the number of unread messages until `badge` returns false.
func followCount(_ database: any Database, _ messages: DAO<MessageTranslator>, while badge: (Int) -> Bool) async throws {
    for try await unread in database.observe({ try messages.count { !$0.isRead } }) {
        guard badge(unread) else { break }
    }
}

struct Inbox: Equatable {
    var unread: Int
    var newest: Date?
}

/// Several values of a screen, from one commit.
func observeInbox(_ database: any Database, _ messages: DAO<MessageTranslator>) -> ValueObservation<Inbox> {
    let inbox = database.observe {
        Inbox(unread: try messages.count { !$0.isRead }, newest: try messages.max(\.date))
    }
    return inbox
}

/// The list of a view.
@MainActor func unreadList(_ messages: DAO<MessageTranslator>) -> ObservedList<MessageTranslator> {
    ObservedList(messages, orderedBy: .descending(\.date), limit: 50) { !$0.isRead }
}

@MainActor final class MessageTable {  // represents a table view that animates changes
    private let list: ObservedList<MessageTranslator>
    private(set) var rows: [String] = []
    private(set) var reloads = 0
    private var revision = 0

    init(_ list: ObservedList<MessageTranslator>) {
        self.list = list
        follow()
    }

    private func follow() {
        withObservationTracking {
            update(list.elements, list.change, list.revision)
        } onChange: { [weak self] in
            Task { @MainActor in self?.follow() }
        }
    }

    private func update(_ messages: [Message], _ change: ListChange, _ revision: Int) {
        defer { self.revision = revision }
        if revision == self.revision { return }
        guard revision == self.revision + 1 else {
            reloads += 1
            return rows = messages.map(\.text)
        }
        for step in change.difference {
            switch step {
            case .remove(let offset, _, _): rows.remove(at: offset)
            case .insert(let offset, _, _): rows.insert(messages[offset].text, at: offset)
            }
        }
        for offset in change.updated { rows[offset] = messages[offset].text }
    }
}
