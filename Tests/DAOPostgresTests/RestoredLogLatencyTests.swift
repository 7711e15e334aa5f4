import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

private struct Parcel: Plain, Model, Equatable {
    var id: Int
    var state: String

    static let schema = Schema(
        "parcel", Self.init, Field("id", \.id, .primaryKey), Field("state", \.state)
    ).logged()
}

@Suite("D2 · A log that was restored into another cluster", .enabled(if: Server.isThere, "there is no server"))
struct RestoredLogLatencyTests {
    /// Where transactions have smaller numbers, what is logged comes after what was.
    @Test(arguments: [1, 1500]) func changesComeAfterThoseThatWereRestored(_ count: Int) throws {
        let url = try Server.newURL()
        let schema = try #require(try DatabaseConfiguration(url: url).options["schema"])
        let database = try DatabaseDrivers(.postgres).open(url)
        let parcels = DAO(storage: try database.storage(for: Parcel.self))
        for id in 1...3 { try parcels.create(Parcel(id: id, state: "new")) }
        try parcels.create((1...count).map { Parcel(id: 10 + $0, state: "new") })
        // Transactions of other programs hold changes back, so this runs when no other test does.
        func wait(for database: any Database) throws {
            let deadline = ContinuousClock.now + .seconds(60)
            while try database.pendingChanges() > 0 {
                try #require(ContinuousClock.now < deadline)
                usleep(10_000)
            }
        }
        try wait(for: database)
        let before = try database.changes()
        #expect(before.count == 3 + count)
        try database.acknowledge(before[1].position, by: "mirror")
        try database.close()
        try Server.psql(
            """
            UPDATE "\(schema)".dao_changes SET position = position + (1::bigint << 60), first = first + (1::bigint << 60);
            UPDATE "\(schema)".dao_consumers SET number = number + (1::bigint << 60)
            """)

        let again = try DatabaseDrivers(.postgres).open(url + "&application_name=again")
        let restored = DAO(storage: try again.storage(for: Parcel.self))
        try wait(for: again)
        let consumer = try #require(try again.logConsumers().first)
        try restored.persist(Parcel(id: 3, state: "sent"))
        try wait(for: again)
        let after = try again.changes(after: consumer.position)
        #expect(after.map(\.key.rawValue) == ["3"] + (1...count).map { "\(10 + $0)" } + ["3"])
        #expect(after.map(\.kind) == Array(repeating: .inserted, count: count + 1) + [.updated])
        #expect(Set(after.dropLast().map(\.transaction)).count == 2)
        // A position that was kept elsewhere is of another history.
        #expect(try storageError { try again.changes(after: before[2].position) }.kind == .snapshotTooOld)
        try again.acknowledge(after[0].position, by: "mirror")
        #expect(try again.verify().isSound)
    }
}
