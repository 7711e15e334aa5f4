import DAOCore
import DAOPostgres
import Testing

@Suite("The code of Docs/PostgreSQL.md works", .enabled(if: Server.isThere, "there is no server"))
struct GuideTests {
    @Test func theOutcomeOfACommitIsAskedLater() throws {
        let place = try ProxiedBooks("connect_timeout=1")
        let database = place.database
        let orders = try database.books
        var hasAsked = false
        func waitForTheServer() {
            hasAsked = true
            place.proxy.setDown(false)
        }
        // The connection is cut a few bytes later each time, until it is cut in the commit.
        for id in 1...200 where !hasAsked {
            try place.increase()
            let order = Book(id: id, title: "", shelf: nil)
            place.proxy.setDown(true)
            place.proxy.disturb(.toServer, after: 20 * id)
            do {
                do {
                    try database.transaction { try orders.create(order) }
                } catch let error as StorageError where error.kind == .outcomeUnknown {
                    waitForTheServer()
                    if try database.outcome(of: error.commitToken ?? "") == .rolledBack { try orders.create(order) }
                }
                #expect(try place.direct.books.read(byPrimaryKey: id) == order)
            } catch let error as StorageError where error.kind == .unreachable {
                #expect(try place.direct.books.read(byPrimaryKey: id) == nil)
            }
            _ = place.proxy.forgetPlan()
            place.proxy.setDown(false)
        }
        #expect(hasAsked)
        try place.close()
    }
}
