import DAOCore

// The application's values, which know of neither wire nor database.

/// A conversation.
struct Dialog: Plain, Equatable {
    let id: Int
    let title: String
    let isPinned: Bool
    let messages: [Message]

    var uniqueId: UniqueID { UniqueID(id) }
}

/// One message of a dialog.
struct Message: Plain, Equatable {
    let id: Int
    let author: String
    let text: String

    var uniqueId: UniqueID { UniqueID(id) }
}
