import DAOCore

// The application's values. They depend on neither the wire nor a database.

/// A conversation.
struct Dialog: Plain, Equatable {
    let id: Int
    let title: String
    let isPinned: Bool
    let messages: [Message]

    var uniqueId: UniqueID { UniqueID(id) }
}

/// A message of a dialog.
struct Message: Plain, Equatable {
    let id: Int
    let author: String
    let text: String

    var uniqueId: UniqueID { UniqueID(id) }
}
