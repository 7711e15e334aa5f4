import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOExamples

/// The examples of the guides for beginners do what the pages say.
@Suite struct GuidesTests {
    private let place = Place()

    /// A URL with a file in the place of the test.
    private func inPlace(_ url: String) -> String { url.replacingOccurrences(of: "{directory}", with: place.directory.path) }

    @Test(arguments: ["memory:", "sqlite:{directory}/ledger.db", "lmdb:{directory}/ledger.mdb"])
    func gettingStarted(_ url: String) async throws {
        var lines: [String] = []
        try ledger(inPlace(url)) { lines.append("\($0)") }
        #expect(lines == ["[\"Hotel\", \"Train\"]", "222", "3"])
        #expect(!ledgerURL().isEmpty)
        let expenses = DAO(storage: try DatabaseDrivers(.memory).open("memory:").storage(for: Expense.self))
        #expect(try await ledgerInATask(expenses).isEmpty)
    }

    @Test(arguments: ["memory:", "sqlite:{directory}/bank.db", "lmdb:{directory}/bank.mdb"])
    func paymentsAreStoredWholeOrNotAtAll(_ url: String) async throws {
        let bank = try Bank(try DatabaseDrivers(.memory, .sqlite, .lmdb).open(inPlace(url)))
        try await bank.purses.create([Purse(owner: "Ada", coins: 10), Purse(owner: "Ben", coins: 1)])
        #expect(throws: NotEnough.self) { try bank.pay(Payment(id: 1, from: "Ben", to: "Ada", coins: 5)) }
        let all = [(2, "Ada", "Ben", 4), (3, "Ben", "Ada", 9), (4, "Ben", "Ada", 5)]
        #expect(try bank.payAll(all.map { Payment(id: $0.0, from: $0.1, to: $0.2, coins: $0.3) }) == 2)
        #expect(try await bank.payments.read().map(\.id) == [2, 4])
        #expect(try bank.balance() == (11, 2))
        try await bank.halve("Ada")
        #expect(try await bank.purses.read().map(\.coins) == [5, 0])
    }

    @Test(arguments: ["memory:", "sqlite:{directory}/todos.db", "lmdb:{directory}/todos.mdb"])
    func recipesWork(_ url: String) throws {
        let todos = try Todos(try DatabaseDrivers(.memory, .sqlite, .lmdb).open(inPlace(url)))
        let ids = (0..<5).map { _ in UUID() }
        let titles = ["Milk", "Bread", "Crème", "Rake", "Soap"]
        try todos.seed([])
        for (id, title) in zip(ids, titles) {
            _ = try todos.add(Todo(id: id, title: title, list: title == "Rake" ? "Garden" : "Shop"))
        }
        try todos.seed([Todo(id: UUID(), title: "never", list: "Shop")])
        func shop() throws -> [String] { try todos.found(list: "Shop", typed: nil, onlyOpen: true).map(\.title) }
        #expect(try shop() == ["Milk", "Bread", "Crème", "Soap"])
        let places = try todos.all.read(orderedBy: .ascending(\.position)) { $0.list == "Shop" }.map(\.position)
        try todos.move(ids[4], to: places[0])
        #expect(try shop() == ["Soap", "Milk", "Bread", "Crème"])
        try todos.move(ids[4], to: places[2])
        #expect(try shop() == ["Milk", "Bread", "Soap", "Crème"])
        #expect(Set(try todos.all.read { $0.list == "Shop" }.map(\.position)) == Set(places))
        try todos.didOpen(ids[0])
        try todos.didOpen(ids[0])
        #expect(try todos.all.read(byPrimaryKey: ids[0])?.timesOpened == 2)
        let fetched = [Todo(id: ids[3], title: "Spade", list: "Garden"), Todo(id: UUID(), title: "Seeds", list: "Garden")]
        #expect(try todos.didFetch(fetched, for: "Garden") == [fetched[1].uniqueId])
        #expect(try todos.didFetch([fetched[0]], for: "Garden") == [])
        #expect(try todos.all.read { $0.list == "Garden" } == [fetched[0]])
        let noon = Date(timeIntervalSinceReferenceDate: 0)
        try todos.trash(ids[0], at: noon)
        try todos.trash(ids[1], at: noon.addingTimeInterval(60))
        try todos.emptyTrash(before: noon.addingTimeInterval(1))
        try todos.restore(ids[1])
        #expect(try shop() == ["Bread", "Soap", "Crème"])
        #expect(try todos.found(list: nil, typed: "creme", onlyOpen: false).map(\.id) == [ids[2]])
        #expect(try todos.sections().map(\.0) == ["Garden", "Shop"])
        #expect(try todos.sections().map(\.1.count) == [1, 3])
        #expect(try todos.sidebar().map(\.0) == ["Shop", "Garden"])
        #expect(try todos.sidebar().map(\.2) == [3, 1])
        #expect(
            try todosConfiguration(["TODOS_DATABASE": "postgres://app@localhost/app"], in: place.directory).scheme == "postgres")
        #expect(try todosConfiguration([:], in: place.directory).path.hasSuffix("/todos.db"))
    }

    @Test(arguments: ["memory:", "sqlite:{directory}/chats.db", "lmdb:{directory}/chats.mdb"])
    func chatsAreStoredByTheirTranslators(_ url: String) throws {
        let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(inPlace(url))
        let service = try ChatService(database)
        func chat(_ id: String, _ title: String, _ lines: [Int64]) -> Chat {
            Chat(id: id, title: title, lines: lines.map { ChatLine(id: $0, text: "line \($0)") })
        }
        try service.didFetch([chat("swift", "Swift", [1, 2, 3]), chat("c", "C", [4]), chat("cafe", "Café", [])])
        let records = DAO<ChatModel>(storage: try database.storage(for: ChatModel.self))
        try records.set(\.isMuted, to: true) { $0.id == "swift" }
        let fetched = chat("swift", "Swift on Linux", [1, 5, 2])
        try service.didFetch([fetched])
        #expect(try service.chat("swift") == fetched)
        #expect(try service.count() == 3)
        #expect(try service.chats(named: "caf").map(\.id) == ["cafe"])
        #expect(
            try classicCalls(service.chats) == [["swift", "cafe", "c"], ["swift"], ["c", "swift"], ["1"], ["swift", "c"]])
        let lines = DAO<ChatLineModel>(storage: try database.storage(for: ChatLineModel.self))
        #expect(try lines.read().map(\.id) == [1, 2, 4, 5])
        try service.leave(fetched)
        #expect(try lines.read().map(\.id) == [4])
        let invoices = DAO<Invoice>(storage: try database.storage(for: Invoice.self))
        let items = DAO<InvoiceItem>(storage: try database.storage(for: InvoiceItem.self))
        try invoices.persist([Invoice(id: 1, customer: "Ada"), Invoice(id: 2, customer: "Ben")])
        try items.persist([
            InvoiceItem(id: 1, invoice: Reference(1), text: "tea"), InvoiceItem(id: 2, invoice: Reference(2), text: "ink"),
        ])
        try invoices.erase(byPrimaryKey: 1)
        #expect(try items.read().map(\.id) == [2])
    }

    @Test func whatHappenedIsSaid() async throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        let errands = DAO<Errand>(storage: try database.storage(for: Errand.self))
        let milk = Errand(id: UUID(), title: "Milk", isDone: false)
        #expect(try await save(milk, in: errands) == "Saved.")
        #expect(try await save(milk, in: errands) == "There is such an errand already (id).")
        try database.close()
        let error = await #expect(throws: StorageError.self) { try await save(milk, in: errands) }
        #expect(error?.kind == .closed)
    }

    @Test func errandsAreKeptSharedAndRefreshed() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("Errands of \(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let errands = try Errands.stored(in: directory)
        try await errands.add("Milk")
        let milk = try #require(try await errands.all.read().first)
        try await errands.toggle(milk)
        try await errands.refresh([Errand(id: UUID(), title: "Stamps", isDone: false)])
        // An extension opens the same file.
        #expect(try await Errands.stored(in: directory).all.read(orderedBy: .ascending(\.title)).map(\.isDone) == [true, false])
        #expect(try await Errands.inMemory("Milk", "Stamps").all.count() == 2)
    }

    @Test func modellingFindsItsProjects() throws {
        #expect(try modelling(DatabaseDrivers(.memory).open("memory:")) == [[2], [2], [1]])
    }

    @Test func queriesFindTheirRows() async throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        let messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
        let noon = Date(timeIntervalSinceReferenceDate: 0)
        let texts = ["My RESUME", "Re: tea", "An invoice", "Tea", "Milk"]
        try await messages.persist(
            texts.enumerated().map { index, text in
                Message(id: index + 1, date: noon.addingTimeInterval(Double(index) * 30), text: text, isRead: index == 2)
            })
        #expect(try conditions(messages, noon) == [[1], [2, 3], [1], [1, 2, 3]])
        #expect(try chosen(messages, .everything, nil).count == 5 && chosen(messages, .unread, "nothing").isEmpty)
        #expect(try chosen(messages, .since(noon), nil).count == 5)
        let read = try await pagesAndStreams(messages)
        #expect(read.pages == [2, 2, 1] && read.streamed == 4 && read.first == 5)
        let reminders = DAO(storage: try database.storage(for: Reminder.self))
        try await DAO(storage: database.storage(for: ReminderList.self)).persist([
            ReminderList(id: 1, name: "work"), ReminderList(id: 2, name: "Home"), ReminderList(id: 3, name: "Work"),
        ])
        try await reminders.persist([
            Reminder(id: 1, title: "a", dueDate: nil, isCompleted: false, list: Reference(1)),
            Reminder(id: 2, title: "b", dueDate: noon, isCompleted: true, list: Reference(2)),
            Reminder(id: 3, title: "c", dueDate: noon, isCompleted: false, list: Reference(1)),
            Reminder(id: 4, title: "d", dueDate: noon, isCompleted: false, list: Reference(3)),
            Reminder(id: 5, title: "e", dueDate: noon, isCompleted: false, list: Reference(2)),
        ])
        #expect(try sortedReminders(reminders) == ["e", "d", "c", "a", "b"])
        let lines = AsyncStream.makeStream(of: String.self)
        try plansAndUnreadableRows(messages) { lines.continuation.yield($0) }
        lines.continuation.finish()
        #expect(await lines.stream.reduce(into: []) { $0.append($1) }.last == "4 of 5")
    }

    @Test func callsOfOtherLibrariesHaveTheirCounterparts() async throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        let messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
        let noon = Date(timeIntervalSinceReferenceDate: 0)
        let message = Message(id: 7, date: noon, text: "My Résumé", isRead: false)
        #expect(try classicDAO(messages, message) == 1)
        #expect(try await messages.count() == 0)
        try await messages.persist(message)
        #expect(try textPredicates(messages, noon.addingTimeInterval(-1), ["x"]) == [[7], [7]])
        #expect(try changeInPlace(messages) == 1)
        #expect(try await blocks(messages) == 1)

        let comments = DAO(storage: try database.storage(for: Comment.self))
        let shelves = DAO(storage: try database.storage(for: ShelfModel.self), translator: ShelfTranslator(comments: comments))
        for title in ["Old", "New"] {
            let comment = Comment(id: 1, text: title, isApproved: true)
            try await shelves.persist(Shelf(id: 1, title: title, comments: [comment]))
            #expect(try await shelves.read().first?.comments.map(\.text) == [title])
        }
        let (name, age) = try jsonValues()
        #expect(name == "Ada" && age == 36)
    }

    @Test func theFirstLaunchMovesTheOldRows() throws {
        let place = Place()
        let path = place.path("old.sqlite")
        let old = try SQLiteDatabase(path: path)
        _ = try old.transaction {
            try old.underlying(as: SQLiteHandle.self) { handle in
                try handle.execute(
                    """
                    CREATE TABLE Singer(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE Song(id INTEGER PRIMARY KEY, title TEXT NOT NULL, singer_id INTEGER NOT NULL REFERENCES Singer);
                    INSERT INTO Singer VALUES(3, 'Elis'); INSERT INTO Song VALUES(1, 'Águas de março', 3)
                    """)
            }
        }
        let text = try old.tableMapping().text
        try old.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let database = try DatabaseDrivers(.memory).open("memory:")
        #expect(throws: StorageError.self) {
            try firstLaunch(path, text.replacing("\"field\":\"title\"", with: "\"field\":\"name\""), database)
        }
        #expect(try database.entities().isEmpty)
        for _ in 0..<2 { try firstLaunch(path, text, database) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        #expect(try DAO(storage: database.storage(for: Song.self)).read().map(\.title) == ["Águas de março"])
        #expect(try DAO(storage: database.storage(for: Singer.self)).read().map(\.id) == [3])
    }
}
