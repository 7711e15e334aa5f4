import DAOCore
import Foundation

/// What a screen of reminders shows.
enum ReminderFilter: ConditionConvertible, Sendable, Hashable {
    case list(UUID)
    case all, completed, flagged, scheduled
    /// Due on a day: from its beginning to that of the next one.
    case due(Range<Date>)
    /// With one of some tags.
    case tagged([UUID])

    var condition: Condition<Reminder> {
        switch self {
        case .list(let id): Condition { $0.list == Reference(id) }
        case .all: .all
        case .completed: Condition { $0.status == .completed }
        case .flagged: Condition { $0.isFlagged }
        case .scheduled: Condition { $0.dueDate != nil }
        case .due(let day): Condition { $0.dueDate >= day.lowerBound && $0.dueDate < day.upperBound }
        case .tagged(let tags): Condition { $0.tags.contains { $0.id.in(tags) } }
        }
    }
}

/// The order of a screen of reminders. Completed ones come after all others.
enum Ordering: CaseIterable, Sendable, Hashable {
    case dueDate, priority, position, title

    var sorts: [Sort<Reminder>] {
        let chosen: Sort<Reminder> =
            switch self {
            case .dueDate: .ascending(\.dueDate, nils: .last)
            case .priority: .descending(\.priority)
            case .position: .ascending(\.position)
            case .title: .ascending(\.title, .caseInsensitive)
            }
        return [.last { $0.status == .completed }, chosen]
    }
}

/// What the first screen shows above the lists.
struct Numbers: Equatable, Sendable {
    var open, flagged, scheduled, dueToday: Int
}

/// A list with its number of open reminders.
struct ListRow: Equatable, Sendable {
    var list: ReminderList
    var open: Int
}

/// Everything that the first screen shows.
struct FirstScreen: Equatable, Sendable {
    var numbers: Numbers
    var lists: [ListRow]
    var tags: [Tag]
}
