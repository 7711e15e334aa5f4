import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import Foundation
import Testing

/// The rows that queries on skewed data look at, as an instrument is told; on SQLite its steps, those of the statements that
/// choose a path included. The best plan is the one that looks at the fewest
/// rows on databases with the same rows, of which each has only one of the indexes, or none.
@Suite struct PlanQualityTests {
    private static let rows = makeTickets()

    @Test(arguments: ["memory", "lmdb", "sqlite"]) func noPlanLooksAtMoreThanThreeTimesTheRowsOfTheBest(_ scheme: String) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("plans-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        func work<Record: TicketModel>(_ type: Record.Type) throws -> [Int] {
            let calls = Calls()
            var configuration = DatabaseConfiguration(
                scheme: scheme, path: scheme == "memory" ? "" : directory.appendingPathComponent("\(type)").path)
            configuration.instrument = Instrument { calls.add($0) }
            let drivers = DatabaseDrivers(.memory, .sqlite, .lmdb)
            var database = try drivers.open(configuration)
            defer { try? database.close() }
            try database.storage(for: type).insert(Self.rows.map { Record(ticket: $0) })
            if scheme != "memory" {
                // SQLite gathers its statistics when a database is closed, or beside the calls after a while.
                try database.close()
                database = try drivers.open(configuration)
            }
            let tickets = try database.storage(for: type)
            // Which indexes the table has is read once for a database, by the first query that has a choice.
            _ = try tickets.read(Query(where: Condition("status == 'lost' AND sender == 0", arguments: [])))
            if scheme != "sqlite" {
                // The store knows how many rows there are.
                calls.forget()
                #expect(try tickets.count(Query()) == Self.rows.count)
                #expect(try calls.only().rowsLookedAt == 0)
            }
            return try Shape.all.map { shape in
                calls.forget()
                let count = try shape.run(tickets)
                #expect(count == shape.expected(Self.rows), "\(shape)")
                let call = try calls.only()
                let steps = call.statements.reduce(0) { $0 + ($1.steps ?? 0) }
                return scheme == "sqlite" ? steps : try #require(call.rowsLookedAt, "\(shape)")
            }
        }
        let chosen = try work(AllIndexes.self)
        let alone = [
            try work(NoIndex.self), try work(ByStatus.self), try work(BySender.self), try work(ByDate.self),
            try work(ByPriority.self), try work(BySenderAndDate.self), try work(ByStatusAndPriority.self),
            try work(ByFolder.self), try work(ByCode.self),
        ]
        for (number, shape) in Shape.all.enumerated() {
            let best = alone.map { $0[number] }.min() ?? 0
            // To begin the statements of a choice takes steps, and so does skipping the first entries.
            let fixed = scheme == "sqlite" ? 1_000 : 0
            #expect(chosen[number] <= best * 3 + fixed, "\(shape): \(chosen[number]), the best \(best)")
        }
    }
}

/// Collects reports.
private final class Calls: Sendable {
    private let calls = Lock<[CallReport]>([])

    func add(_ call: CallReport) { calls.withLock { $0.append(call) } }
    func forget() { calls.withLock { $0 = [] } }
    func only() throws -> CallReport { try #require(calls.withLock { $0.count == 1 ? $0[0] : nil }) }
}

// MARK: - Rows

private struct Ticket: Equatable {
    var id = 0
    var status = ""
    var sender: Int?
    var date = 0
    var priority = 0
    var folder: Int?
    var code = ""
    var isRead = false
    var size = 0
}

/// Rows whose values are far from even: most are closed, the urgent ones are the oldest, half have one sender, and the
/// open ones are the newest.
private func makeTickets() -> [Ticket] {
    let count = 6_000
    return (0..<count).map { id in
        let mixed = id &* 7_919 % count
        return Ticket(
            id: id,
            status: id < 30 ? "urgent" : id >= count - 200 ? "open" : id % 1_500 == 7 ? "lost" : "closed",
            sender: mixed % 2 == 0 ? 0 : mixed % 10 == 1 ? nil : mixed % 100 < 50 ? mixed % 100 : 100 + mixed / 4,
            date: id < 100 ? 0 : id + mixed % 50, priority: mixed % 1_000 == 0 ? 9 : mixed % 5,
            folder: mixed % 20 == 3 ? mixed / 600 : nil, code: "c\(mixed)", isRead: id < count - 300, size: mixed % 977)
    }
}

private protocol TicketModel: Model {
    var ticket: Ticket { get set }
    init(ticket: Ticket)
}

extension TicketModel {
    var id: Int {
        get { ticket.id }
        set { ticket.id = newValue }
    }
    var status: String {
        get { ticket.status }
        set { ticket.status = newValue }
    }
    var sender: Int? {
        get { ticket.sender }
        set { ticket.sender = newValue }
    }
    var date: Int {
        get { ticket.date }
        set { ticket.date = newValue }
    }
    var priority: Int {
        get { ticket.priority }
        set { ticket.priority = newValue }
    }
    var folder: Int? {
        get { ticket.folder }
        set { ticket.folder = newValue }
    }
    var code: String {
        get { ticket.code }
        set { ticket.code = newValue }
    }
    var isRead: Bool {
        get { ticket.isRead }
        set { ticket.isRead = newValue }
    }
    var size: Int {
        get { ticket.size }
        set { ticket.size = newValue }
    }

    static func makeSchema(_ names: Set<String> = [], _ indexes: [Index] = []) -> Schema<Self> {
        func field<Value: FieldValue>(
            _ name: String, _ keyPath: any KeyPath<Self, Value> & Sendable
        ) -> Field<Value> {
            guard names.contains(name) else { return Field(name, keyPath) }
            return Field(name, keyPath, name == "code" ? .unique : .indexed)
        }
        return Schema(
            "ticket",
            {
                Self(
                    ticket: Ticket(
                        id: $0, status: $1, sender: $2, date: $3, priority: $4, folder: $5, code: $6, isRead: $7, size: $8))
            },
            Field("id", \.id, .primaryKey), field("status", \.status), field("sender", \.sender), field("date", \.date),
            field("priority", \.priority), field("folder", \.folder), field("code", \.code), field("isRead", \.isRead),
            field("size", \.size), indexes: indexes)
    }
}

private struct AllIndexes: TicketModel {
    var ticket: Ticket
    static let schema = makeSchema(
        ["status", "sender", "date", "priority", "folder", "code"],
        [Index(orderedBy: .ascending(\.sender), .descending(\.date)), Index(\.status, \.priority)])
}
private struct NoIndex: TicketModel {
    var ticket: Ticket
    static let schema = makeSchema()
}
private struct ByStatus: TicketModel {
    var ticket: Ticket
    static let schema = makeSchema(["status"])
}
private struct BySender: TicketModel {
    var ticket: Ticket
    static let schema = makeSchema(["sender"])
}
private struct ByDate: TicketModel {
    var ticket: Ticket
    static let schema = makeSchema(["date"])
}
private struct ByPriority: TicketModel {
    var ticket: Ticket
    static let schema = makeSchema(["priority"])
}
private struct BySenderAndDate: TicketModel {
    var ticket: Ticket
    static let schema = makeSchema([], [Index(orderedBy: .ascending(\.sender), .descending(\.date))])
}
private struct ByStatusAndPriority: TicketModel {
    var ticket: Ticket
    static let schema = makeSchema([], [Index(\.status, \.priority)])
}
private struct ByFolder: TicketModel {
    var ticket: Ticket
    static let schema = makeSchema(["folder"])
}
private struct ByCode: TicketModel {
    var ticket: Ticket
    static let schema = makeSchema(["code"])
}

// MARK: - Shapes

/// A query, with its meaning in Swift.
private struct Shape: CustomStringConvertible {
    var condition: String
    var sort: (field: String, isAscending: Bool)?
    var limit: Int?
    var counts = false
    var meets: @Sendable (Ticket) -> Bool

    var description: String {
        (counts ? "count" : "read") + " \(condition)" + (sort.map { ", by \($0.isAscending ? "" : "-")\($0.field)" } ?? "")
            + (limit.map { ", limit \($0)" } ?? "")
    }

    func run<Record: TicketModel>(_ tickets: any Storage<Record>) throws -> Int {
        let query = Query(
            where: Condition<Record>(condition, arguments: []),
            orderedBy: sort.map { [Sort.by($0.field, ascending: $0.isAscending)] } ?? [], limit: limit)
        return try counts ? tickets.count(query) : tickets.read(query).count
    }

    func expected(_ rows: [Ticket]) -> Int { min(rows.filter(meets).count, limit ?? .max) }

    /// Conditions, each read in several orders, with limits and without, and counted.
    static let all: [Shape] = {
        let conditions: [(String, @Sendable (Ticket) -> Bool)] = [
            ("status == 'closed'", { $0.status == "closed" }),
            ("status == 'urgent'", { $0.status == "urgent" }),
            ("status == 'lost'", { $0.status == "lost" }),
            ("sender == 0", { $0.sender == 0 }),
            ("sender == 0 AND status == 'open'", { $0.sender == 0 && $0.status == "open" }),
            ("sender == 13 AND status == 'closed'", { $0.sender == 13 && $0.status == "closed" }),
            ("sender == 0 AND status == 'urgent'", { $0.sender == 0 && $0.status == "urgent" }),
            ("priority == 9 AND status == 'closed'", { $0.priority == 9 && $0.status == "closed" }),
            ("priority == 2 AND status == 'lost'", { $0.priority == 2 && $0.status == "lost" }),
            ("priority == 2 AND sender == 0 AND folder == 3", { $0.priority == 2 && $0.sender == 0 && $0.folder == 3 }),
            ("status IN {'urgent', 'open'} AND isRead == false", { ["urgent", "open"].contains($0.status) && !$0.isRead }),
            ("date > 5900 AND sender == 0", { $0.date > 5_900 && $0.sender == 0 }),
            ("date > 100 AND sender == 51", { $0.date > 100 && $0.sender == 51 }),
            ("date < 50 AND status == 'closed'", { $0.date < 50 && $0.status == "closed" }),
            ("code == 'c77' AND status == 'closed'", { $0.code == "c77" && $0.status == "closed" }),
            ("folder == nil AND priority == 9", { $0.folder == nil && $0.priority == 9 }),
            ("folder > 2 AND size > 900 AND sender == 0", { ($0.folder ?? 0) > 2 && $0.size > 900 && $0.sender == 0 }),
            ("isRead == false", { !$0.isRead }),
        ]
        let reads: [((String, Bool)?, Int?)] = [
            (nil, nil), (("date", false), 20), (("date", true), 20), (("priority", false), 50),
        ]
        return conditions.flatMap { condition, meets in
            reads.map { sort, limit in
                Shape(condition: condition, sort: sort.map { (field: $0.0, isAscending: $0.1) }, limit: limit, meets: meets)
            } + [Shape(condition: condition, counts: true, meets: meets)]
        }
    }()
}
