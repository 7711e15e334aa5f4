import DAOCore
import Foundation

/// The data of the app. Each method is one call of a DAO.
struct Reminders: Sendable {
    let database: any Database
    let lists: DAO<ReminderList>
    let tags: DAO<Tag>
    /// All reminders, those in the trash included.
    let all: DAO<Reminder>

    /// The reminders that are not in the trash. No query of a screen sees the others.
    var shown: DAO<Reminder> { all.scoped(where: Reminder.isShown) }
    /// The lists that are not in the trash.
    var shownLists: DAO<ReminderList> { lists.scoped { $0.deletedAt == nil } }

    init(_ database: any Database) throws {
        self.database = database
        lists = DAO(storage: try database.storage(for: ReminderList.self))
        tags = DAO(storage: try database.storage(for: Tag.self))
        all = DAO(storage: try database.storage(for: Reminder.self))
    }
}

// MARK: The first screen

extension Reminders {
    /// 1. All lists by position.
    func allLists() throws -> [ReminderList] { try shownLists.read(orderedBy: .ascending(\.position)) }

    /// 2. Each list with its number of open reminders, lists without any included.
    func listRows() throws -> [ListRow] {
        try shownLists.read(
            with: ReminderList.reminders, totals: .count { $0.status == .incomplete && $0.deletedAt == nil },
            orderedBy: .ascending(\.position)
        ).map { ListRow(list: $0.0, open: $0.1) }
    }

    /// 3. The numbers of open, flagged, scheduled and due reminders, at once.
    func numbers(today: Range<Date>) throws -> Numbers {
        let (open, flagged, scheduled, due) = try shown.totals(
            .count, .count { $0.isFlagged }, .count { $0.dueDate != nil }, .count(where: ReminderFilter.due(today).condition)
        ) { $0.status == .incomplete }
        return Numbers(open: open, flagged: flagged, scheduled: scheduled, dueToday: due)
    }

    /// 4. The tags in use, by title.
    func tagsInUse() throws -> [Tag] {
        try tags.read(orderedBy: .ascending(\.title, .caseInsensitive)) {
            $0[Tag.reminders].contains { _ in Reminder.isShown }
        }
    }

    /// 5. The five tags of most reminders, with the numbers, and the others by title.
    func topTags() throws -> (top: [(tag: Tag, count: Int)], others: [Tag]) {
        let shown = GroupTotal<Reminder, Int>.count { $0.deletedAt == nil }
        let counted = try tags.read(
            with: Tag.reminders, totals: shown, orderedByTotals: .descending(shown), orderedBy: .ascending(\.title))
        let top = counted.prefix(5).map { (tag: $0.0, count: $0.1) }
        return (top, counted.dropFirst(5).map { $0.0 }.sorted { $0.title < $1.title })
    }

    /// 31. The whole first screen, again after every change.
    func firstScreen(today: Range<Date>) -> ValueObservation<FirstScreen> {
        database.observe {
            FirstScreen(numbers: try numbers(today: today), lists: try listRows(), tags: try tagsInUse())
        }
    }
}

// MARK: Screens of reminders

extension Reminders {
    /// 6, 7, 8, 9. The reminders of a screen with their tags, in its order.
    ///
    /// - Parameters:
    ///   - showsCompleted: Whether completed reminders are shown, after all others.
    ///   - minimum: The least priority; nil for any, and none.
    func reminders(
        _ filter: ReminderFilter, by ordering: Ordering, showsCompleted: Bool = true, minimum: Priority? = nil
    ) throws -> [Reminder] {
        try shown.including(\.tags).read(query(filter, ordering, showsCompleted, minimum))
    }

    /// 10. A page of 50 of these, and the number of all.
    func page(
        _ filter: ReminderFilter, by ordering: Ordering, showsCompleted: Bool = true, after cursor: PageCursor? = nil
    ) throws -> Page<Reminder> {
        try shown.including(\.tags).page(
            query(filter, ordering, showsCompleted, nil, after: cursor), limit: 50, withTotal: true)
    }

    private func query(
        _ filter: ReminderFilter, _ ordering: Ordering, _ showsCompleted: Bool, _ minimum: Priority?,
        after cursor: PageCursor? = nil
    ) -> Query<Reminder> {
        let condition =
            filter && Condition(unlessNil: showsCompleted ? nil : Status.completed) { $0.status != $1 }
            && Condition(unlessNil: minimum) { $0.priority >= $1 }
        return Query(where: condition, orderedBy: ordering.sorts, after: cursor)
    }

    /// 11. The image of a list, without the list.
    func cover(of list: UUID) throws -> Data? {
        try lists.read(fields: { $0.cover.image }, where: { $0.id == list }).first ?? nil
    }

    /// 11. A list with its image, for the form.
    func list(_ id: UUID) throws -> ReminderList? { try lists.read(byPrimaryKey: id) }

    /// 12. The titles of the next reminders with the titles and colours of their lists, for a widget. Nothing else is read.
    func widget(from date: Date, limit: Int) throws -> [(title: String, list: String?, color: Int?)] {
        try shown.read(
            fields: { ($0.title, $0.list.title, $0.list.color) }, orderedBy: .ascending(\.dueDate), limit: limit
        ) { $0.dueDate >= date && $0.status == .incomplete }
        .map { (title: $0.0, list: $0.1, color: $0.2) }
    }

    /// 14. The tags that begin with what was typed, without those that are chosen.
    func suggestedTags(_ typed: String, without chosen: [UUID]) throws -> [Tag] {
        try tags.read(orderedBy: .ascending(\.title, .caseInsensitive)) {
            $0.title.hasPrefix(typed, .caseInsensitive) && !$0.id.in(chosen)
        }
    }

    /// 15. The tags of a reminder, by title.
    func tags(of reminder: UUID) throws -> [Tag] {
        try tags.read(orderedBy: .ascending(\.title, .caseInsensitive)) {
            $0[Tag.reminders].contains { $0.id == reminder }
        }
    }

    /// 16. What is due on a day, grouped by list, three of each.
    func due(_ day: Range<Date>) throws -> [(list: Reference<ReminderList>, first: [Reminder])] {
        try shown.groups(by: \.list, first: 3, orderedBy: .ascending(\.dueDate), where: ReminderFilter.due(day).condition)
            .map { (list: $0.0, first: $0.1) }
    }

    /// 17. The number of reminders by list and status.
    func counts() throws -> [(list: Reference<ReminderList>, status: Status, count: Int)] {
        try shown.groups(by: \.list, \.status, totals: .count).map { (list: $0.0, status: $0.1, count: $0.2) }
    }

    /// 18. The completed reminders of each day since a date.
    func completed(since date: Date, in zone: TimeZone) throws -> [(day: Date?, count: Int)] {
        try shown.groups(per: .day(\.completedAt, in: zone), totals: .count) { $0.completedAt >= date }
            .map { (day: $0.0, count: $0.1) }
    }
}

// MARK: Changes

extension Reminders {
    /// 19. Saves a reminder and replaces its tags.
    func save(_ reminder: Reminder) throws { try all.persist(reminder) }

    /// 20. Saves a list and its cover.
    func save(_ list: ReminderList) throws { try lists.persist(list) }

    /// 21. A new list, after the last one.
    func add(_ list: ReminderList) throws -> ReminderList { try lists.append(list, by: \.position) }

    /// 21. A new reminder, after the last one of its list.
    func add(_ reminder: Reminder) throws -> Reminder {
        try all.append(reminder, by: \.position) { $0.list == reminder.list }
    }

    /// 22. The tag of a title, in any case: a new one unless there is one.
    func tag(_ title: String) throws -> Tag {
        try tags.findOrCreate(where: { $0.key == Tag.key(of: title) }) { Tag(title: title) }
    }

    /// 23. Renames a tag, also to the same title in another case.
    ///
    /// - Throws: `.uniqueViolation` when another tag has the title in any case.
    func rename(_ tag: UUID, to title: String) throws {
        try tags.update(.set(\.title, to: title), .set(\.key, to: Tag.key(of: title))) { $0.id == tag }
    }

    /// 24. Puts the lists in an order.
    func reorderLists(_ ids: [UUID]) throws {
        let positions = Dictionary(uniqueKeysWithValues: zip(ids, ids.indices))
        try lists.update(where: { $0.id.in(ids) }) { $0.position = positions[$0.id] ?? $0.position }
    }

    /// 24. Puts the reminders of a list in an order.
    func reorder(_ ids: [UUID]) throws {
        let positions = Dictionary(uniqueKeysWithValues: zip(ids, ids.indices))
        try all.update(where: { $0.id.in(ids) }) { $0.position = positions[$0.id] ?? $0.position }
    }

    /// 25. Toggles a flag.
    func toggleFlag(_ reminder: UUID) throws {
        try all.update(where: { $0.id == reminder }) { $0.isFlagged.toggle() }
    }

    /// 25. Checks a reminder off, or unchecks it.
    func toggleStatus(_ reminder: UUID) throws {
        try all.update(where: { $0.id == reminder }) { $0.status = $0.status == .incomplete ? .completing : .incomplete }
    }

    /// 25. Finishes the reminders that are completing, after a pause.
    func finishCompleting(at date: Date) throws {
        try all.update(.set(\.status, to: .completed), .set(\.completedAt, to: date)) { $0.status == .completing }
    }

    /// 26. Moves a reminder to another list.
    func move(_ reminder: UUID, to list: UUID) throws {
        try all.update(where: { $0.id == reminder }) { $0.list = Reference(list) }
    }

    /// 26. Moves all reminders of a list to another one.
    func moveAll(from list: UUID, to other: UUID) throws {
        try all.set(\.list, to: Reference(other)) { $0.list == Reference(list) }
    }

    /// 27. Puts reminders into the trash.
    func trash(_ ids: [UUID], at date: Date) throws { try all.set(\.deletedAt, to: date) { $0.id.in(ids) } }

    /// 27. Takes reminders out of the trash.
    func restore(_ ids: [UUID]) throws { try all.set(\.deletedAt, to: nil) { $0.id.in(ids) } }

    /// 27. Empties the trash of what is older than a date.
    func emptyTrash(before date: Date) throws -> Int { try all.erase { $0.deletedAt < date } }

    /// 28. Erases the completed reminders that contain a text, and were completed before a date.
    func eraseCompleted(containing text: String, before date: Date) throws -> Int {
        try all.erase {
            $0.status == .completed && $0.completedAt < date
                && ($0.title.contains(text, .caseInsensitive) || $0.notes.contains(text, .caseInsensitive))
        }
    }

    /// 29. Erases a list: its reminders go with it, tags stay. It can be undone.
    func trashList(_ id: UUID, at date: Date) throws { try lists.set(\.deletedAt, to: date) { $0.id == id } }

    /// 29. Undoes it.
    func restoreList(_ id: UUID) throws { try lists.set(\.deletedAt, to: nil) { $0.id == id } }

    /// 29. Erases the lists that cannot be brought back any more, with their covers and reminders.
    func eraseLists(before date: Date) throws -> Int { try lists.erase { $0.deletedAt < date } }

    /// 30. A list, also where none is left.
    func anyList() throws -> ReminderList {
        try lists.findOrCreate(where: { $0.deletedAt == nil }) { ReminderList(title: "Reminders") }
    }
}
