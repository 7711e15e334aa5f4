import DAOCore
import DAOTestSupport
import Foundation
import Testing

@testable import DAOExamples

/// What Docs/Changes.md says.
@Suite struct ChangesTests {
    @Test(arguments: Place.Kind.allCases) func anAuditTrailNamesWhoHasChangedWhat(_ kind: Place.Kind) throws {
        let place = Place(kind)
        let database = try Scaling.drivers.open(place.url())
        let bills = DAO<Bill>(storage: try database.storage(for: Bill.self))
        try bills.create([Bill(id: 1, customer: "Ada", total: 10), Bill(id: 2, customer: "Eve", total: 1)])
        try charge(1, by: 5, user: "anna", in: bills)
        try charge(2, by: 5, user: "anna", in: bills)
        try charge(1, by: -2, user: "ben", in: bills)
        try bills.erase(byPrimaryKey: 1)
        #expect(
            try history(of: 1, in: database) == ["nobody: new -> 10", "anna: 10 -> 15", "ben: 15 -> 13", "nobody: 13 -> erased"])
        let last = try report(database, after: nil)
        #expect(try last != nil && report(database, after: last) == last)
    }

    @Test func anIndexIsKeptUpToDate() async throws {
        let place = Place(.sqlite)
        let database = try Scaling.drivers.open(place.url())
        let bills = DAO<Bill>(storage: try database.storage(for: Bill.self))
        try await bills.create((1...5).map { Bill(id: $0, customer: "c", total: 1) })
        let seen = Lock<[UniqueID]>([])
        struct Enough: Error {}
        for enough in [3, 7] {
            if enough == 7 { try await bills.create(Bill(id: 6, customer: "d", total: 1)) }
            do {
                try await keepUpToDate(database) { change in
                    seen.withLock { $0.append(change.key) }
                    if seen.withLock(\.count) == enough { throw Enough() }
                }
            } catch is Enough {}
        }
        // What was not acknowledged comes again.
        #expect(seen.withLock { $0 } == ([1, 2, 3] + [1, 2, 3, 4]).map { UniqueID($0) })
    }

    @Test func aReplicaIsBroughtUpToDate() throws {
        let places = (Place(.sqlite), Place(.lmdb))
        let (main, replica) = (try Scaling.drivers.open(places.0.url()), try Scaling.drivers.open(places.1.url()))
        let bills = DAO<Bill>(storage: try main.storage(for: Bill.self))
        let copies = DAO<Bill>(storage: try replica.storage(for: Bill.self))
        for round in 1...3 {
            try bills.create((1...700).map { Bill(id: round * 1000 + $0, customer: "c", total: Decimal(round)) })
            try bills.erase { $0.total < Decimal(round) }
            try bringUpToDate(replica, from: main)
            #expect(try copies.read() == bills.read())
        }
    }
}
