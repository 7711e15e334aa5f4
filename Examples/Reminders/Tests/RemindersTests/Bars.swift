import DAOCore
import Foundation

@testable import Reminders

/// A query, by a call and by hand. Each gives the number of its rows.
struct Bar {
    let name: String
    var goal = 1.5
    let ours: () throws -> Int
    let byHand: () throws -> Int
}

/// The data of the bars, the same in every database.
struct Filled {
    let lists: [ReminderList]
    let tags: [Tag]
    let reminders: [Reminder]

    init(_ app: Reminders) throws {
        func id(_ kind: Int, _ number: Int) -> UUID {
            // As spread as those that an app makes.
            let spread = UInt64(truncatingIfNeeded: number + 1) &* 0x9E37_79B9_7F4A_7C15
            return UUID(uuid: unsafeBitCast((spread ^ UInt64(kind), spread &* 31), to: uuid_t.self))
        }
        lists = (0..<20).map { number in
            var list = ReminderList(
                id: id(1, number), title: "List \(number)", cover: Cover(id: id(4, number), image: Data(count: 20_000)))
            list.position = number
            return list
        }
        let tags = (0..<50).map { Tag(id: id(2, $0), title: "Tag \($0 * 37 % 50)") }
        self.tags = tags
        let lists = lists
        reminders = (0..<20_000).map { number in
            let due = number % 3 == 0 ? nil : Sample.noon.addingTimeInterval(Double(number * 7919 % 400 - 200) * Sample.day)
            let count = [0, 1, 1, 2, 3][number % 5]
            var reminder = Reminder(
                id: id(3, number), title: "Reminder \(number * 7919 % 20_000) of something", notes: "Some words on it, \(number)",
                list: lists[number % 20].id, dueDate: due, isFlagged: number % 17 == 0, priority: Priority(rawValue: number % 4),
                tags: (0..<count).map { tags[(number / 5 + $0 * 11) % 50] })
            reminder.position = number / 20
            if number % 2 == 0 {
                reminder.status = .completed
                reminder.completedAt = Sample.noon.addingTimeInterval(-Double(number % 90) * Sample.day)
            }
            if number % 100 == 99 { reminder.deletedAt = Sample.noon }
            return reminder
        }
        try app.lists.create(lists)
        try app.tags.create(tags)
        try app.all.create(reminders)
    }

    private static let columns =
        "r.id, r.title, r.notes, r.list, r.dueDate, r.isFlagged, r.priority, r.status, r.completedAt, r.position, r.deletedAt"
    private static let shown = "r.deletedAt IS NULL AND l.deletedAt IS NULL"
    private static let from = "FROM reminder r JOIN list l ON l.id = r.list"
    private static let dueLast = "r.status = 2, r.dueDate IS NULL, r.dueDate, r.id"

    private static func readReminder(_ row: Columns, _ tags: [Tag]?) -> Reminder {
        var reminder = Reminder(
            id: row.id(0), title: row.text(1), notes: row.text(2), list: row.id(3), dueDate: row.date(4),
            isFlagged: row.number(5) != 0,
            priority: Priority(rawValue: row.number(6)))
        reminder.status = Status(rawValue: row.number(7)) ?? .incomplete
        (reminder.completedAt, reminder.position, reminder.deletedAt) = (row.date(8), row.number(9), row.date(10))
        reminder.tags = tags
        return reminder
    }

    private static func readTag(_ row: Columns) -> Tag { Tag(id: row.id(0), title: row.text(1)) }

    /// Reads reminders by hand, and the tags of each with one more statement.
    private static func withTags(
        _ hand: ByHand, _ condition: String, _ values: [ByHand.Value], order: String, limit: String = ""
    ) throws -> [Reminder] {
        let rest = "\(from) WHERE \(shown) AND \(condition)"
        var reminders = try hand.rows("SELECT \(columns) \(rest) ORDER BY \(order) \(limit)", values) { readReminder($0, []) }
        let places = Dictionary(uniqueKeysWithValues: zip(reminders.map(\.id), reminders.indices))
        let chosen =
            limit.isEmpty ? "SELECT r.id \(rest)" : "SELECT id FROM (SELECT \(columns) \(rest) ORDER BY \(order) \(limit))"
        let tags = try hand.rows(
            """
            SELECT t.id, t.title, t.key, k.parent FROM "reminder.tags" k JOIN tag t ON t.id = k.child
            WHERE k.parent IN (\(chosen)) ORDER BY k.parent, k.position
            """, values
        ) { (readTag($0), $0.id(3)) }
        for (tag, parent) in tags { if let place = places[parent] { reminders[place].tags?.append(tag) } }
        return reminders
    }

    func bars(_ app: Reminders, _ hand: ByHand) -> [Bar] { screen(app, hand) + reminders(app, hand) + changes(app, hand) }

    private func screen(_ app: Reminders, _ hand: ByHand) -> [Bar] {
        let today = Sample.today
        return [
            Bar(name: "1 lists", goal: 2, ours: { try app.allLists().count }) {
                try hand.rows(
                    """
                    SELECT l.id, l.title, l.color, l.position, l.deletedAt, c.id, c.image FROM list l LEFT JOIN cover c ON c.id = l.cover
                    WHERE l.deletedAt IS NULL ORDER BY l.position
                    """
                ) {
                    ReminderList(
                        id: $0.id(0), title: $0.text(1), color: $0.number(2), cover: Cover(id: $0.id(5), image: $0.data(6)))
                }
                .count
            },
            Bar(name: "2 lists with open reminders", goal: 2, ours: { try app.listRows().reduce(0) { $0 + $1.open } }) {
                try hand.rows(
                    """
                    SELECT l.id, l.title, l.color, l.position, l.deletedAt, c.id, c.image,
                        (SELECT count(*) FROM reminder r WHERE r.list = l.id AND r.status = 0 AND r.deletedAt IS NULL)
                    FROM list l LEFT JOIN cover c ON c.id = l.cover WHERE l.deletedAt IS NULL ORDER BY l.position
                    """
                ) {
                    ListRow(
                        list: ReminderList(
                            id: $0.id(0), title: $0.text(1), color: $0.number(2), cover: Cover(id: $0.id(5), image: $0.data(6))),
                        open: $0.number(7))
                }.reduce(0) { $0 + $1.open }
            },
            Bar(
                name: "3 numbers",
                ours: {
                    let numbers = try app.numbers(today: today)
                    return numbers.open + numbers.flagged + numbers.scheduled + numbers.dueToday
                }
            ) {
                try hand.rows(
                    """
                    SELECT count(*), count(*) FILTER (WHERE r.isFlagged), count(r.dueDate),
                        count(*) FILTER (WHERE r.dueDate >= ? AND r.dueDate < ?) \(Self.from) WHERE \(Self.shown) AND r.status = 0
                    """, [.date(today.lowerBound), .date(today.upperBound)]
                ) { $0.number(0) + $0.number(1) + $0.number(2) + $0.number(3) }[0]
            },
            Bar(name: "4 tags in use", ours: { try app.tagsInUse().count }) {
                try hand.rows(
                    """
                    SELECT t.id, t.title, t.key FROM tag t WHERE EXISTS (SELECT 1 FROM "reminder.tags" k JOIN reminder r ON r.id = k.parent
                        JOIN list l ON l.id = r.list WHERE k.child = t.id AND \(Self.shown)) ORDER BY lower(t.title), t.id
                    """, [], Self.readTag
                ).count
            },
            Bar(name: "5 top tags", goal: 2, ours: { try app.topTags().top.reduce(0) { $0 + $1.count } }) {
                try hand.rows(
                    """
                    SELECT t.id, t.title, t.key, (SELECT count(*) FROM "reminder.tags" k JOIN reminder r ON r.id = k.parent
                        WHERE k.child = t.id AND r.deletedAt IS NULL) AS n FROM tag t ORDER BY n DESC, t.title, t.id
                    """
                ) { (Self.readTag($0), $0.number(3)) }.prefix(5).reduce(0) { $0 + $1.1 }
            },
        ]
    }

    private func reminders(_ app: Reminders, _ hand: ByHand) -> [Bar] {
        let (list, today, some) = (lists[3].id, Sample.today, tags[0..<2].map(\.id))
        func bar(
            _ name: String, _ filter: ReminderFilter, _ ordering: Ordering, _ condition: String, _ values: [ByHand.Value],
            order: String
        ) -> Bar {
            Bar(
                name: name, goal: 2,
                ours: { try app.reminders(filter, by: ordering).reduce(0) { $0 + 1 + ($1.tags?.count ?? 0) } }
            ) {
                try Self.withTags(hand, condition, values, order: order).reduce(0) { $0 + 1 + ($1.tags?.count ?? 0) }
            }
        }
        return [
            bar(
                "6 a list by position", .list(list), .position, "r.list = ?", [.id(list)], order: "r.status = 2, r.position, r.id"
            ),
            bar("7 flagged by due date", .flagged, .dueDate, "r.isFlagged", [], order: Self.dueLast),
            bar(
                "7 due today", .due(today), .dueDate, "r.dueDate >= ? AND r.dueDate < ?",
                [.date(today.lowerBound), .date(today.upperBound)], order: Self.dueLast),
            bar(
                "7 with two tags", .tagged(some), .dueDate,
                "EXISTS (SELECT 1 FROM \"reminder.tags\" k WHERE k.parent = r.id AND k.child IN (?, ?))",
                some.map { ByHand.Value.id($0) },
                order: Self.dueLast),
            bar(
                "9 a list by title", .list(list), .title, "r.list = ?", [.id(list)],
                order: "r.status = 2, lower(r.title), r.id"),
            Bar(name: "10 page of all by due date, total", goal: 2, ours: { try app.page(.all, by: .dueDate).total ?? 0 }) {
                _ = try Self.withTags(hand, "1", [], order: Self.dueLast, limit: "LIMIT 50")
                return try hand.rows("SELECT count(*) \(Self.from) WHERE \(Self.shown)") { $0.number(0) }[0]
            },
            Bar(name: "11 cover", ours: { try app.cover(of: list)?.count ?? 0 }) {
                try hand.rows("SELECT c.image FROM list l JOIN cover c ON c.id = l.cover WHERE l.id = ?", [.id(list)]) {
                    $0.data(0)
                }[0]
                .count
            },
            Bar(name: "12 widget", ours: { try app.widget(from: today.lowerBound, limit: 10).count }) {
                try hand.rows(
                    """
                    SELECT r.title, l.title, l.color \(Self.from) WHERE \(Self.shown) AND r.dueDate >= ? AND r.status = 0
                    ORDER BY r.dueDate, r.id LIMIT 10
                    """, [.date(today.lowerBound)]
                ) { ($0.text(0), $0.text(1), $0.number(2)) }.count
            },
            Bar(name: "14 suggested tags", ours: { try app.suggestedTags("tag 1", without: some).count }) {
                try hand.rows(
                    "SELECT id, title, key FROM tag WHERE title LIKE 'tag 1%' AND id NOT IN (?, ?) ORDER BY lower(title), id",
                    some.map { ByHand.Value.id($0) }, Self.readTag
                ).count
            },
            Bar(name: "15 tags of a reminder", goal: 2, ours: { try app.tags(of: self.reminders[4].id).count }) {
                try hand.rows(
                    """
                    SELECT t.id, t.title, t.key FROM "reminder.tags" k JOIN tag t ON t.id = k.child WHERE k.parent = ?
                    ORDER BY lower(t.title), t.id
                    """, [.id(self.reminders[4].id)], Self.readTag
                ).count
            },
            Bar(name: "16 due, three of each list", ours: { try app.due(today).reduce(0) { $0 + $1.first.count } }) {
                try hand.rows(
                    """
                    SELECT * FROM (SELECT \(Self.columns), row_number() OVER (PARTITION BY r.list ORDER BY r.dueDate, r.id) AS n \(Self.from)
                    WHERE \(Self.shown) AND r.dueDate >= ? AND r.dueDate < ?) WHERE n <= 3
                    """, [.date(today.lowerBound), .date(today.upperBound)]
                ) { Self.readReminder($0, nil) }.count
            },
            Bar(name: "17 by list and status", ours: { try app.counts().reduce(0) { $0 + $1.count } }) {
                try hand.rows("SELECT r.list, r.status, count(*) \(Self.from) WHERE \(Self.shown) GROUP BY 1, 2") {
                    ($0.id(0), $0.number(1), $0.number(2))
                }.reduce(0) { $0 + $1.2 }
            },
            Bar(
                name: "18 completed a day",
                ours: {
                    try app.completed(since: Sample.noon.addingTimeInterval(-30 * Sample.day), in: .gmt).reduce(0) {
                        $0 + $1.count
                    }
                }
            ) {
                try hand.rows(
                    """
                    SELECT CAST(r.completedAt / 86400 AS INTEGER), count(*) \(Self.from) WHERE \(Self.shown) AND r.completedAt >= ? GROUP BY 1
                    """, [.date(Sample.noon.addingTimeInterval(-30 * Sample.day))]
                ) { ($0.number(0), $0.number(1)) }.reduce(0) { $0 + $1.1 }
            },
        ]
    }

    private func changes(_ app: Reminders, _ hand: ByHand) -> [Bar] {
        let of3 = reminders.filter { $0.list == Reference(lists[3].id) }.map(\.id)
        let one = reminders[40].id
        return [
            Bar(
                name: "24 reorder a list of 1,000",
                ours: {
                    try app.reorder(of3.reversed())
                    try app.reorder(of3)
                    return of3.count
                }
            ) {
                for ids in [of3.reversed(), of3] {
                    try hand.run("BEGIN IMMEDIATE")
                    for (position, id) in ids.enumerated() {
                        _ = try hand.rows("UPDATE reminder SET position = ? WHERE id = ?", [.number(position), .id(id)]) { _ in }
                    }
                    try hand.run("COMMIT")
                }
                return of3.count
            },
            Bar(
                name: "25 toggle a flag",
                ours: {
                    for _ in 1...2 { try app.toggleFlag(one) }
                    return 1
                }
            ) {
                for _ in 1...2 {
                    _ = try hand.rows("UPDATE reminder SET isFlagged = NOT isFlagged WHERE id = ?", [.id(one)]) { _ in }
                }
                return 1
            },
            Bar(
                name: "27 trash and restore 100",
                ours: {
                    try app.trash(Array(of3.prefix(100)), at: Sample.noon)
                    try app.restore(Array(of3.prefix(100)))
                    return 100
                }
            ) {
                for date in [ByHand.Value.date(Sample.noon), nil] {
                    try hand.run("BEGIN IMMEDIATE")
                    for id in of3.prefix(100) {
                        let text =
                            "UPDATE reminder SET deletedAt = \(date == nil ? "NULL" : "?1") WHERE id = ?\(date == nil ? 1 : 2)"
                        _ = try hand.rows(text, (date.map { [$0] } ?? []) + [.id(id)]) { _ in }
                    }
                    try hand.run("COMMIT")
                }
                return 100
            },
        ]
    }
}
