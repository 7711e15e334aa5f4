// The code of Docs/Changes.md.
import DAOCore
import Foundation

struct Bill: Plain, Model, Equatable {
    var id: Int
    var customer: String
    var total: Decimal

    static let schema = Schema(
        "bill", Self.init, Field("id", \.id, .primaryKey), Field("customer", \.customer), Field("total", \.total)
    ).logged(values: true)
}

/// Writes what has changed since a position, and returns the last one.
func report(_ database: any Database, after last: LogPosition?) throws -> LogPosition? {
    let changes = try database.changes(after: last, limit: 1000)
    for change in changes { print(change.date, change.kind, change.entity, change.key, change.after ?? [:]) }
    return changes.last?.position ?? last
}

/// Keeps an index of another program up to date, until its task is cancelled.
func keepUpToDate(_ database: any Database, index: (Change) async throws -> Void) async throws {
    let last = try database.logConsumers().first { $0.name == "index" }?.position
    for try await changes in database.followChanges(after: last) {
        for change in changes { try await index(change) }
        if let end = changes.last?.position { try database.acknowledge(end, by: "index") }
    }
}

/// Changes a bill for a user, who is named in the log.
func charge(_ id: Int, by amount: Decimal, user: String, in bills: DAO<Bill>) throws {
    try bills.storage.database.withOrigin(user) {
        _ = try bills.update(where: { $0.id == id }) { $0.total += amount }
    }
}

/// Who has changed a bill, when, and what its total was before and after.
func history(of id: Int, in database: any Database) throws -> [String] {
    func total(_ values: [String: Value]?, _ otherwise: String) -> String {
        if case .decimal(let total)? = values?["total"] { "\(total)" } else { otherwise }
    }
    return try database.changes(of: ["bill"]).filter { $0.key == UniqueID(id) }.map { change in
        "\(change.origin ?? "nobody"): \(total(change.before, "new")) -> \(total(change.after, "erased"))"
    }
}

/// Brings a replica up to date with the changes of a database.
func bringUpToDate(_ replica: any Database, from main: any Database) throws {
    while true {
        let last = try replica.appliedPosition(of: "main")
        let changes = try main.changes(after: last, limit: 1000, keepsTransactions: true)
        if changes.isEmpty { return }
        try replica.apply(changes, origin: "main")
    }
}
