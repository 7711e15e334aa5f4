import DAOCore
import DAOMemory
import Foundation
import Testing

@testable import DAOExamples

@Suite struct ReadmeTests {
    /// The README's first example, and the observation after it.
    @Test func ledgerDoesWhatItSays() async throws {
        let now = Date()
        let fetched = [("Tea", 4), ("Train", 42), ("Hotel", 180)].map { title, amount in
            Expense(id: UUID(), title: title, amount: Decimal(amount), date: now, isPaid: title == "Tea")
        }
        let result = try readmeLedger(url: "memory:", fetched: fetched, cutoff: now)
        #expect(Set(result.unpaid) == ["Train", "Hotel"] && result.totals == [222, 4])
        let database = try DatabaseDrivers(.memory).open("memory:")
        let expenses = DAO(storage: try database.storage(for: Expense.self))
        try await expenses.persist(fetched)
        var counts: [Int] = []
        await #expect(throws: StorageError.self) {
            try await readmeObservation(database, expenses) { count in
                counts.append(count)
                try? database.close()
            }
        }
        #expect(counts == [2])
    }

    /// The first example of Docs/Querying.md has the documented results on each backend.
    @Test(arguments: ["memory:", "sqlite:{directory}/app.db", "lmdb:{directory}/app.mdb"])
    func exampleDoesWhatItSays(_ url: String) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("readme-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let cutoff = Date(timeIntervalSinceReferenceDate: 1000)
        let fetched = (0..<20).map { index in
            Message(id: index, date: cutoff.addingTimeInterval(Double(index - 10)), text: "text \(index)", isRead: index % 2 == 0)
        }
        let result = try readmeExample(
            url: url.replacingOccurrences(of: "{directory}", with: directory.path), fetched: fetched, cutoff: cutoff)
        #expect(result.unread.map(\.id) == [19, 17, 15, 13, 11])
        #expect(result.same.map(\.id) == [11, 13, 15, 17, 19])
        #expect(result.texts.map(\.0) == [1, 3, 5, 7, 9, 11, 13, 15, 17, 19])
        #expect(result.texts.first?.1 == "text 1")
        #expect(result.counts.map { "\($0.0) \($0.1)" } == ["false 10", "true 10"])
        #expect(result.counts.map(\.2) == [19, 18].map { fetched[$0].date })
        #expect(result.left == 10)
    }

    /// The section about groups has the documented results.
    @Test func groupsBehaveAsDocumented() throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        let messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
        try messages.create(
            (0..<6).map {
                Message(
                    id: $0, date: Date(timeIntervalSinceReferenceDate: Double($0) * 43_200), text: "text \($0 / 4)",
                    isRead: $0 % 2 == 0)
            })
        var shown: [String] = []
        try groups(messages) { shown.append($0) }
        #expect(
            shown == ["text 0 false 2", "text 0 true 2", "text 1 false 1", "text 1 true 1", "6 3 216000.0 2 4 3 2"])
    }

    /// The section about relationships has the documented results.
    @Test func relationshipsBehaveAsDocumented() throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        let comments = [Comment(id: 1, text: "First!", isApproved: true), Comment(id: 2, text: "Swift.", isApproved: false)]
        let result = try relationships(database, Writer(id: 1, name: "Ada"), comments[0], comments[1])
        #expect(result.waiting == [1] && result.busy == [1] && result.left == 0)
    }

    /// The section about References has the documented results.
    @Test func referencesBehaveAsDocumented() throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        let result = try references(database, Writer(id: 7, name: "Ada"))
        #expect(result.found.map(\.id) == [2] && result.found[0].parent == Reference(1) && result.owner?.name == "Ada")
        let included = try including(database)
        #expect(included.path == ["/Code of Ada", "Code/Swift of Ada"] && included.sections == [3, 2])
        let (folders, writers) = (try database.storage(for: Folder.self), try database.storage(for: Writer.self))
        #expect { try writers.erase(keys: [.integer(7)]) } throws: { ($0 as? StorageError)?.kind == .referenceViolation }
        #expect(try folders.erase(keys: [.integer(1)]) == 1)
        #expect(try folders.read().isEmpty)
        #expect(try writers.erase(keys: [.integer(7)]) == 1)
    }

    /// The section about inverse relationships has the documented results.
    @Test func inversesBehaveAsDocumented() throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        let (ada, bo) = (Writer(id: 7, name: "Ada"), Writer(id: 8, name: "Bo"))
        let articles = DAO(storage: try database.storage(for: Article.self))
        try articles.create((1...12).map { Article(id: $0, title: "A", writer: $0 == 12 ? bo : ada, comments: []) })
        let (counts, newest) = try inverses(database)
        #expect(counts == [1, 2, 11, 2, 11, 3] && newest == [[11, 10, 9], [12]])
    }

    /// The sections about linked rows and outdated values have the documented results.
    @Test func linkedRowsAndRevisionsBehaveAsDocumented() throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        let stale = Article(id: 1, title: "Hello", writer: Writer(id: 7, name: "Ada"), comments: [])
        try linkedRows(database, stale)
        #expect(try database.storage(for: Writer.self).read().map(\.name) == ["Ada Lovelace"])
        let ticket = try revisions(database, Writer(id: 1, name: "Ada"))
        #expect(ticket?.title == "Printer on fire!" && ticket?.revision == 3)
    }
}
