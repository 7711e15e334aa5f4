import DAOConformance
import DAOCore
import Foundation
import Testing

private struct Coin: Plain, Model {
    var id: Int
    var name: String
    var value: Int

    static let schema = Schema(
        "coin", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .unique), Field("value", \.value))
}

/// The calls of a storage that an engine behind a network may combine.
@Suite struct BatchingTests {
    static let target = ConformanceTarget(name: "batching", driver: .batching()) { location in
        location.directory.appendingPathComponent("test.db").path
    }

    @Test(arguments: Conformance.cases(for: target))
    func conforms(_ test: ConformanceTest) async throws { try await test.run() }

    /// Calls a closure with a database, its storage and a counter of its round trips.
    private func withCoins(_ body: (any Database, any Storage<Coin>, RoundTrips) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("batching-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let roundTrips = RoundTrips()
        let database = try DatabaseDrivers(.batching(roundTrips)).open("batching://\(directory.path)/test.db")
        defer { try? database.close() }
        try body(database, try database.makeStorage(for: Coin.self), roundTrips)
    }

    private func coins(_ numbers: Range<Int>) -> [Coin] { numbers.map { Coin(id: $0, name: "coin \($0)", value: $0) } }

    @Test func aCallOfManyRowsIsOneRoundTrip() throws {
        try withCoins { _, storage, roundTrips in
            func count(_ call: () throws -> Void) rethrows -> Int {
                let before = roundTrips.count
                try call()
                return roundTrips.count - before
            }
            let keys = (0..<150).map { Key.integer($0) }
            var (read, erased): ([Coin], Int) = ([], 0)
            let trips = [
                try count { try storage.insert(coins(0..<100)) },
                try count { try storage.upsert(coins(50..<150)) },
                try count { read = try storage.read(keys: keys, includesSubentities: true) },
                try count { erased = try storage.erase(keys: Array(keys[..<50])) },
            ]
            #expect(trips == [1, 1, 1, 1])
            #expect(read.count == 150)
            #expect(erased == 50)
        }
    }

    @Test func settingAFieldOfManyRowsIsOneRoundTrip() throws {
        try withCoins { _, storage, roundTrips in
            try storage.insert(coins(0..<100))
            let before = roundTrips.count
            let change = try FieldChange<Coin>.set(\.value, to: 7).stored()
            let count = try storage.set([change], counting: nil, where: Condition { $0.value < 50 })
            #expect(roundTrips.count - before == 1)
            #expect(count == 50)
            #expect(try storage.count(Query(where: Condition { $0.value == 7 })) == 50)
        }
    }

    @Test func aRowThatIsRefusedWithOthersIsNamed() throws {
        try withCoins { _, storage, _ in
            try storage.insert(coins(0..<10))
            let twin = Coin(id: 12, name: "coin 3", value: 0)
            let inserted = #expect(throws: StorageError.self) { try storage.insert(coins(10..<12) + [twin] + coins(13..<15)) }
            #expect(inserted?.kind == .uniqueViolation)
            #expect(inserted?.key == UniqueID(12))
            #expect(inserted?.conflictingKey == UniqueID(3))
            let merged = #expect(throws: StorageError.self) {
                try storage.merge(keys: (10..<15).map { .integer($0) }) { index, coin in
                    coin = Coin(id: index + 10, name: index == 2 ? "coin 4" : "new \(index)", value: 0)
                }
            }
            #expect(merged?.kind == .uniqueViolation)
            #expect(merged?.key == UniqueID(12))
            #expect(merged?.conflictingKey == UniqueID(4))
            #expect(try storage.count(Query()) == 10)
        }
    }
}
