// swift-format-ignore-file
// The code of Docs/Querying.md that is not in Readme.swift, compiled and run.

import DAOCore
import Foundation

/// The ids that each condition of the page finds.
func conditions(_ messages: DAO<MessageTranslator>, _ noon: Date) throws -> [[Int]] {
    let found = [
        try messages.read { $0.text.contains("résumé", [.caseInsensitive, .diacriticInsensitive]) },
        try messages.read { $0.text.hasPrefix("Re:") || $0.text.matches("*invoice*") },
        try messages.read { $0.id.in([1, 3, 9]) && !$0.isRead },
        try messages.read { $0.date.between(noon, and: noon.addingTimeInterval(60)) },
    ]
    return found.map { $0.map(\.id) }
}

/// What a screen of messages shows.
enum Show: ConditionConvertible {
    case everything, unread
    case since(Date)

    var condition: Condition<MessageModel> {
        switch self {
        case .everything: .all
        case .unread: Condition { !$0.isRead }
        case .since(let date): Condition { $0.date >= date }
        }
    }
}

/// The ids of the messages that a screen shows.
func chosen(_ messages: DAO<MessageTranslator>, _ show: Show, _ typed: String?) throws -> [Int] {
    let found = try messages.read(
        orderedBy: .descending(\.date), where: show && Condition(unlessNil: typed) { $0.text.contains($1, .caseInsensitive) })
    return found.map(\.id)
}

/// Reads pages, a stream and one row, and counts what it has read.
func pagesAndStreams(_ messages: DAO<MessageTranslator>) async throws -> (pages: [Int], streamed: Int, first: Int?) {
    var (pages, after): ([Int], PageCursor?) = ([], nil)
    repeat {
        let page = try await messages.page(orderedBy: .descending(\.date), limit: 2, after: after)
        pages.append(page.elements.count)
        after = page.next                                                      // nil after the last page; it can be sent as text
    } while after != nil

    var streamed = 0
    for try await _ in messages.stream(Query(where: Condition { !$0.isRead })) {     // one snapshot, constant memory
        streamed += 1
    }
    let newest = try await messages.first(orderedBy: .descending(\.date))
    return (pages, streamed, newest?.id)
}

/// Totals of all messages, and those of groups.
func groups(_ messages: DAO<MessageTranslator>, _ show: (String) -> Void) throws {
    let (all, unread, newest) = try messages.totals(.count, .count { !$0.isRead }, .max(\.date))
    for (text, isRead, count) in try messages.groups(by: \.text, \.isRead, totals: .count) { show("\(text) \(isRead) \(count)") }
    let often = try messages.groups(
        by: \.text, totals: .count, .countDistinct(\.isRead), orderedBy: .descending(.count), limit: 5, having: .count > 1)
    let sizes = try messages.groups(by: \.text, \.isRead, totals: .count).map { $0.2 }
    let perDay = try messages.groups(per: .day(\.date, in: .gmt), totals: .count)          // [(Date, Int)]
    let perMonth = try messages.groups(per: .month(\.date, in: .gmt), by: \.isRead, totals: .count)
    show("\(all) \(unread) \(newest?.timeIntervalSinceReferenceDate ?? 0) \(often.count) \(sizes.count) \(perDay.count) \(perMonth.count)")
}

/// Reads what can be read, and says how a query finds its rows.
func plansAndUnreadableRows(_ messages: DAO<MessageTranslator>, _ show: @escaping @Sendable (String) -> Void) throws {
    let readable = try messages.read(unreadable: .report { error in show("\(error)") })
    show("\(try messages.explain { $0.isRead == false })")
    show("\(readable.count)")
    let inbox = messages.scoped { !$0.isRead }
    show("\(try inbox.count()) of \(try messages.count())")
}

/// A reminder in a list.
struct Reminder: Plain, Model {
    var id: Int
    var title: String
    var dueDate: Date?
    var isCompleted: Bool
    var list: Reference<ReminderList>?

    static let schema = Schema(
        "reminder", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("dueDate", \.dueDate, .indexed),
        Field("isCompleted", \.isCompleted), Field("list", \.list))
}

/// A list of reminders.
struct ReminderList: Plain, Model {
    var id: Int
    var name: String

    static let schema = Schema("reminderList", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
}

/// Reads a page of reminders as a list shows them.
func sortedReminders(_ reminders: DAO<Reminder>) throws -> [String] {
    let order: [Sort<Reminder>] = [
        .last { $0.isCompleted },                            // those that are not completed, then the others
        .ascending(\.dueDate, nils: .last),                  // a reminder without a date comes after those with one
        .ascending(\.list, \.name, .caseInsensitive),        // "Work" and "work" are equal, and the next term decides
        .by("title", ascending: false),                      // by a name that is known at run time
    ]
    let page = try reminders.page(Query(orderedBy: order), limit: 20)
    return page.elements.map(\.title)
}
