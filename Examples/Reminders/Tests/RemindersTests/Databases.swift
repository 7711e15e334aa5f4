import DAOCore
import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite
import Foundation

@testable import Reminders

/// The databases that every test runs on; PostgreSQL where DAO_POSTGRES_URL is set.
enum Kind: String, CaseIterable, Sendable {
    case memory, sqlite, lmdb, postgres

    static let available = allCases.filter { $0 != .postgres || server != nil }
    private static let server = ProcessInfo.processInfo.environment["DAO_POSTGRES_URL"]

    /// Runs a body with an app on a new database.
    func withApp(isolation: isolated (any Actor)? = #isolation, _ body: (Reminders) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("reminders-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url =
            switch self {
            case .memory: "memory:"
            case .sqlite: "sqlite:\(folder.path)/reminders.db"
            case .lmdb: "lmdb:\(folder.path)/reminders.mdb"
            case .postgres:
                "\(Self.server ?? "")?schema=reminders_\(UUID().uuidString.lowercased().replacing("-", with: "_"))"
            }
        let database = try DatabaseDrivers(.memory, .sqlite, .lmdb, .postgres).open(url)
        try await body(try Reminders(database))
        try database.close()
    }
}

/// A few lists, tags and reminders, at noon of 15 May 2026.
struct Sample {
    static let noon = Date(timeIntervalSince1970: 1_778_846_400)
    static let day: Double = 86_400
    static let today = noon.addingTimeInterval(-day / 2)..<noon.addingTimeInterval(day / 2)

    let home, work, empty: ReminderList
    let red, blue, old: Tag
    /// In the order of their creation: three at home, then two at work.
    let milk, bread, rent, report, call: Reminder

    init(_ app: Reminders) throws {
        home = try app.add(ReminderList(title: "Home", color: 1, cover: Cover(image: Data([1, 2, 3]))))
        work = try app.add(ReminderList(title: "Work", color: 2))
        empty = try app.add(ReminderList(title: "Empty", color: 3))
        (red, blue, old) = (try app.tag("red"), try app.tag("Blue"), try app.tag("old"))
        func date(_ days: Double) -> Date { Self.noon.addingTimeInterval(days * Self.day) }
        milk = try app.add(Reminder(title: "Milk", list: home.id, dueDate: date(0), tags: [red]))
        bread = try app.add(Reminder(title: "bread", notes: "rye", list: home.id, priority: .low, tags: [red, blue]))
        rent = try app.add(Reminder(title: "Rent", list: home.id, dueDate: date(3), isFlagged: true, priority: .high))
        report = try app.add(Reminder(title: "Report", list: work.id, dueDate: date(0.25), isFlagged: true, tags: [blue]))
        call = try app.add(Reminder(title: "call Ada", list: work.id, dueDate: date(-2), priority: .medium))
    }
}
