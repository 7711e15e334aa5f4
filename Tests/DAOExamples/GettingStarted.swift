// swift-format-ignore-file
// The code of Docs/GettingStarted.md, compiled and run. `DAODocumentationTests` checks that both are the same.

import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import Foundation

/// The URL of the program of the page.
func ledgerURL() -> String {
    let url = CommandLine.arguments.dropFirst().first ?? "sqlite:ledger.db"
    return url
}

/// The program of the page, whose `main.swift` prints.
func ledger(_ url: String, print: (Any) -> Void) throws {
    let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(url)
    let expenses = DAO(storage: try database.storage(for: Expense.self))

    try expenses.persist([
        Expense(id: UUID(), title: "Tea", amount: 4, date: Date(), isPaid: true),
        Expense(id: UUID(), title: "Train", amount: 42, date: Date(), isPaid: false),
        Expense(id: UUID(), title: "Hotel", amount: 180, date: Date(), isPaid: false),
    ])

    let open = try expenses.read(orderedBy: .descending(\.amount), limit: 10) { !$0.isPaid && $0.amount > 10 }
    print(open.map(\.title))                                          // ["Hotel", "Train"]
    print(try expenses.sum(\.amount) { !$0.isPaid })                  // 222

    if var train = try expenses.first(where: { $0.title == "Train" }) {
        train.isPaid = true
        try expenses.persist(train)                                   // the same id: the row is changed
    }
    try expenses.set(\.isPaid, to: true) { $0.amount > 100 }          // every row that meets the condition
    try database.transaction {                                        // all of it, or nothing
        try expenses.create(Expense(id: UUID(), title: "Lunch", amount: 12, date: Date(), isPaid: true))
        try expenses.erase { $0.title == "Tea" }
    }
    print(try expenses.count { $0.isPaid })                           // 3
    try database.close()
}

/// The same in a task.
func ledgerInATask(_ expenses: DAO<Expense>) async throws -> [Expense] {
    let open = try await expenses.read { !$0.isPaid }
    return open
}
