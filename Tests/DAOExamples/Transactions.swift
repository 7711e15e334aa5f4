// The code of Docs/Transactions.md, compiled and run.

import DAOCore

struct Purse: Model, Equatable {
    var owner: String
    var coins: Int

    static let schema = Schema("purse", Self.init, Field("owner", \.owner, .primaryKey), Field("coins", \.coins))
}

struct Payment: Model, Equatable {
    var id: Int
    var from: String
    var to: String
    var coins: Int

    static let schema = Schema(
        "payment", Self.init, Field("id", \.id, .primaryKey), Field("from", \.from), Field("to", \.to), Field("coins", \.coins))
}

struct NotEnough: Error {}

struct Bank {
    let database: any Database
    let purses: DAO<Purse>
    let payments: DAO<Payment>

    init(_ database: any Database) throws {
        self.database = database
        purses = DAO(storage: try database.storage(for: Purse.self))
        payments = DAO(storage: try database.storage(for: Payment.self))
    }

    /// Moves coins from one purse to another: all of it is stored, or nothing.
    func pay(_ payment: Payment) throws {
        try database.transaction {
            try payments.create(payment)
            let paid = try purses.update(.increase(\.coins, by: -payment.coins)) {
                $0.owner == payment.from && $0.coins >= payment.coins
            }
            if paid == 0 { throw NotEnough() }
            try purses.update(.increase(\.coins, by: payment.coins)) { $0.owner == payment.to }
        }
    }

    /// Pays what can be paid, and stores it at once. Each `pay` is a savepoint: one that fails undoes nothing of the others.
    func payAll(_ all: [Payment]) throws -> Int {
        try database.transaction {
            var count = 0
            for payment in all {
                do {
                    try pay(payment)
                    count += 1
                } catch is NotEnough {}
            }
            return count
        }
    }

    /// Halves a purse. What is written follows from what was read, so the work runs again when another one has changed the purse.
    func halve(_ owner: String) async throws {
        try await database.transaction(retrying: 5) {
            guard var purse = try purses.read(byPrimaryKey: owner) else { return }
            purse.coins /= 2
            try purses.persist(purse)
        }
    }

    /// Reads two results that belong together, whatever others store meanwhile.
    func balance() throws -> (coins: Int, payments: Int) {
        try database.snapshot { (try purses.sum(\.coins), try payments.count()) }
    }
}
