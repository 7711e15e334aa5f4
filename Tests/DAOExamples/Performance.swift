// The example of Docs/Performance.md.

import DAOCore

/// Stores messages in many tasks.
func storeConcurrently(_ incoming: [Message], in messages: DAO<MessageTranslator>) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for message in incoming {
            group.addTask { try await messages.persist(message) }
        }
        try await group.waitForAll()
    }
}
