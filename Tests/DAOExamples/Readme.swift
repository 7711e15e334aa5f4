// swift-format-ignore-file
// The code of README.md and Docs/Querying.md, compiled and run. `DAODocumentationTests` checks that both are the same.

import DAOPropertyTesting
import DAOConformance
import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import Foundation

struct Message: Plain {                       // the application's value
    let id: Int
    let date: Date
    let text: String
    let isRead: Bool
    var uniqueId: UniqueID { UniqueID(id) }
}

struct MessageModel: Model {                  // the stored record
    var id: Int
    var date: Date
    var text: String
    var isRead: Bool
    var draft: String?                        // local only: survives every persist

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("date", \.date, .indexed),
        Field("text", \.text),
        Field("isRead", \.isRead),
        Field("draft", \.draft),
        indexes: [Index(orderedBy: .ascending(\.isRead), .descending(\.date))]    // for the newest unread messages
    )
}

struct MessageTranslator: Translator {
    func translate(model: MessageModel) throws -> Message {
        Message(id: model.id, date: model.date, text: model.text, isRead: model.isRead)
    }
    func translate(plain: Message) throws -> MessageModel {
        MessageModel(id: plain.id, date: plain.date, text: plain.text, isRead: plain.isRead, draft: nil)
    }
    func translate(from plain: Message, to model: inout MessageModel) throws {
        model.date = plain.date
        model.text = plain.text
        model.isRead = plain.isRead
    }
}

struct Tag: Plain, Model {                    // both at once: needs no translator
    var id: Int
    var name: String

    static let schema = Schema("tag", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .unique))
}

/// The results of the reads of ``readmeExample(url:fetched:cutoff:)``.
struct ReadmeResults {
    var unread: [Message]
    var same: [Message]
    var texts: [(Int, String)]
    var counts: [(Bool, Int, Date?)]
    var left: Int
}

/// The first example of Docs/Querying.md.
///
/// - Returns: The results of its reads.
func readmeExample(url: String, fetched: [Message], cutoff: Date) throws -> ReadmeResults {
    let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(url)     // "sqlite:///var/lib/app.db", "lmdb:app.mdb", "memory:"
    let messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
    let tags = DAO(storage: try database.storage(for: Tag.self))

    try messages.persist(fetched)
    let unread = try messages.read(orderedBy: .descending(\.date), limit: 50) { !$0.isRead && $0.date > cutoff }
    let same = try messages.read(predicatedBy: Condition("isRead == false AND date > %@", cutoff))
    let texts = try messages.read(\.id, \.text, limit: 20) { !$0.isRead }       // [(Int, String)]; no other column is read
    let counts = try messages.groups(by: \.isRead, totals: .count, .max(\.date))       // [(Bool, Int, Date?)]
    try messages.set(\.isRead, to: true) { $0.date > cutoff }                  // one UPDATE on SQL
    try database.transaction {                    // several DAOs, one commit
        try tags.persist(Tag(id: 1, name: "archived"))
        try messages.erase { $0.date < cutoff }
    }

    return ReadmeResults(unread: unread, same: same, texts: texts, counts: counts, left: try messages.count())
}

/// The conformance suite as the README runs it.
func readmeConformance() async -> ConformanceReport {
    let target = ConformanceTarget(name: "mine") { location in
        try DatabaseDrivers(.mine).open("mine:\(location.name)")
    }
    let report = await Conformance.run(on: target)
    print(report)
    return report
}

/// How the README runs the property-based tests.
func readmePropertyTests(_ target: ConformanceTarget) async {
    let report = await PropertyTesting.run(on: target, seed: 1, operations: 20_000)
    if let failure = report.failure { print(failure.test) }
}

/// The first example of the README.
///
/// - Returns: The titles of the unpaid expenses, and the totals by whether they are paid.
func readmeLedger(url: String, fetched: [Expense], cutoff: Date) throws -> (unpaid: [String], totals: [Decimal?]) {
    let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(url)           // "sqlite:ledger.db", "lmdb:ledger.mdb", "memory:"
    let expenses = DAO(storage: try database.storage(for: Expense.self))

    try expenses.persist(fetched)                                                   // inserts, or changes rows with the same key
    let unpaid = try expenses.read(orderedBy: .descending(\.date), limit: 50) { !$0.isPaid && $0.amount > 10 }
    let totals = try expenses.groups(by: \.isPaid, totals: .count, .sum(\.amount))  // [(Bool, Int, Decimal)]
    try database.transaction {                                                      // all of it, or nothing
        try expenses.set(\.isPaid, to: true) { $0.title.hasPrefix("Train") }
        try expenses.erase { $0.date < cutoff }
    }

    return (unpaid.map(\.title), totals.map(\.2))
}

/// The observation of the README. It ends with an error when the database is closed.
func readmeObservation(_ database: any Database, _ expenses: DAO<Expense>, badge: (Int) -> Void) async throws {
    for try await count in database.observe({ try expenses.count { !$0.isPaid } }) { badge(count) }     // now, and after each commit
}
