import DAOCore
import Foundation

/// A list of reminders.
struct ReminderList: Plain, Model, Equatable {
    var id: UUID
    var title: String
    var color: Int
    var position: Int
    /// When the list was erased; nil while it is shown. It can be brought back.
    var deletedAt: Date?
    var cover: Cover?

    init(id: UUID = UUID(), title: String, color: Int = 0x4A_99_EF, cover: Cover? = nil) {
        (self.id, self.title, self.color, self.position, self.cover) = (id, title, color, 0, cover)
    }

    private init(id: UUID, title: String, color: Int, position: Int, deletedAt: Date?, cover: Cover?) {
        (self.id, self.title, self.color) = (id, title, color)
        (self.position, self.deletedAt, self.cover) = (position, deletedAt, cover)
    }

    static let schema = Schema(
        "list", Self.init(id:title:color:position:deletedAt:cover:),
        Field("id", \.id, .primaryKey),
        Field("title", \.title),
        Field("color", \.color),
        Field("position", \.position, .indexed),
        Field("deletedAt", \.deletedAt),
        Field("cover", \.cover, .cascade)
    )

    /// The reminders of the list.
    static let reminders = Inverse(\Reminder.list)
}

/// The image of a list.
struct Cover: Plain, Model, Equatable {
    var id: UUID
    var image: Data

    init(id: UUID = UUID(), image: Data) { (self.id, self.image) = (id, image) }

    static let schema = Schema(
        "cover", Self.init(id:image:), Field("id", \.id, .primaryKey), Field("image", \.image))
}

enum Priority: Int, OrderedFieldValue, Sendable { case low = 1, medium, high }

/// A reminder that is checked off is completing for some seconds, in which it can be unchecked.
enum Status: Int, OrderedFieldValue, Sendable { case incomplete, completing, completed }

/// A reminder.
struct Reminder: Plain, Model, Equatable {
    var id: UUID
    var title: String
    var notes: String
    var list: Reference<ReminderList>
    var dueDate: Date?
    var isFlagged: Bool
    var priority: Priority?
    var status: Status
    var completedAt: Date?
    var position: Int
    /// When the reminder went into the trash; nil while it is shown.
    var deletedAt: Date?
    /// Nil where a read has left the tags out.
    var tags: [Tag]?

    init(
        id: UUID = UUID(), title: String, notes: String = "", list: UUID, dueDate: Date? = nil, isFlagged: Bool = false,
        priority: Priority? = nil, tags: [Tag] = []
    ) {
        (self.id, self.title, self.notes, self.list) = (id, title, notes, Reference(list))
        (self.dueDate, self.isFlagged, self.priority, self.tags) = (dueDate, isFlagged, priority, tags)
        (status, completedAt, position, deletedAt) = (.incomplete, nil, 0, nil)
    }

    private init(
        id: UUID, title: String, notes: String, list: Reference<ReminderList>, dueDate: Date?, isFlagged: Bool,
        priority: Priority?, status: Status, completedAt: Date?, position: Int, deletedAt: Date?, tags: [Tag]?
    ) {
        (self.id, self.title, self.notes, self.list, self.dueDate) = (id, title, notes, list, dueDate)
        (self.isFlagged, self.priority, self.status, self.completedAt) = (isFlagged, priority, status, completedAt)
        (self.position, self.deletedAt, self.tags) = (position, deletedAt, tags)
    }

    static let schema = Schema(
        "reminder",
        Self.init(
            id:title:notes:list:dueDate:isFlagged:priority:status:completedAt:position:deletedAt:tags:),
        Field("id", \.id, .primaryKey),
        Field("title", \.title),
        Field("notes", \.notes),
        Field("list", \.list, .cascade),
        Field("dueDate", \.dueDate, .indexed),
        Field("isFlagged", \.isFlagged),
        Field("priority", \.priority),
        Field("status", \.status),
        Field("completedAt", \.completedAt, .indexed),
        Field("position", \.position),
        Field("deletedAt", \.deletedAt),
        Field("tags", \.tags, .linked),
        indexes: [
            // The number of open reminders of each list, and the reminders of one list in their order.
            Index(\.list, \.status, \.deletedAt), Index(\.list, \.position),
            Index(\.isFlagged, where: { $0.isFlagged }),
        ]
    )

    /// The condition of every reminder that a screen shows: neither it nor its list is in the trash.
    static let isShown = Condition<Reminder> { $0.deletedAt == nil && $0.list.deletedAt == nil }
}

/// A tag. Its title is one whatever its case.
struct Tag: Plain, Model, Equatable {
    var id: UUID
    var title: String
    /// What makes the title one in any case.
    var key: String

    init(id: UUID = UUID(), title: String) { self.init(id: id, title: title, key: Tag.key(of: title)) }

    private init(id: UUID, title: String, key: String) { (self.id, self.title, self.key) = (id, title, key) }

    static let schema = Schema(
        "tag", Self.init(id:title:key:),
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("key", \.key, .unique))

    static func key(of title: String) -> String { title.lowercased() }

    /// The reminders with the tag.
    static let reminders = Inverse(\Reminder.tags)
}
