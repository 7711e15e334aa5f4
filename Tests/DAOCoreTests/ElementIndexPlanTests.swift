import DAOCore
import Foundation
import Testing

/// The rows that queries look at with an index on the elements of an array, as an instrument is told; on SQLite its steps.
@Suite struct ElementIndexPlanTests {
    private struct Photo: Plain, Model, Equatable {
        var id: Int
        var tags: [String]
        var owners: [UUID]
        var rating: Int

        static let schema = Schema(
            "photo", Self.init,
            Field("id", \.id, .primaryKey), Field("tags", \.tags), Field("owners", \.owners),
            Field("rating", \.rating, .indexed),
            indexes: [Index(elements: \.tags), Index(elements: \.owners)])
    }

    private static let owners = (0..<4).map { UUID(uuid: (UInt8($0), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0xAB, 0xCD)) }

    /// All photos are of "life", one of a hundred is of "sea", one of a hundred of "city", and one of a thousand of both.
    private static let photos = (0..<20_000).map { id in
        Photo(
            id: id, tags: ["life"] + (id % 100 == 5 || id % 1000 == 7 ? ["sea"] : []) + (id % 100 == 7 ? ["city", "city"] : []),
            owners: [owners[id % 1_000 == 9 ? 3 : id % 3]], rating: id * 7 % 20_000)
    }

    @Test(arguments: ["memory", "lmdb", "sqlite"]) func rowsAreFoundByTheirElements(_ scheme: String) throws {
        let counted = try CountedDatabase(scheme)
        let storage = try counted.database.storage(for: Photo.self)
        try storage.insert(Self.photos)
        func work(_ query: Query<Photo>) throws -> Int {
            let (rows, work) = try counted.work { try storage.read(query) }
            #expect(try rows == query.resolved().evaluate(over: Self.photos), "\(query)")
            return scheme == "sqlite" ? work / 20 : work
        }
        let best: [Sort<Photo>] = [.descending(\.rating)]
        #expect(try work(Query(where: Condition { $0.tags.contains("sea") })) < 500)
        #expect(try work(Query(where: Condition { $0.tags.contains("sea") }, orderedBy: best)) < 500)
        #expect(try work(Query(where: Condition { $0.tags.contains("sea") && $0.tags.contains("city") })) < 500)
        #expect(try work(Query(where: Condition { $0.owners.contains(Self.owners[3]) })) < 100)
        // In the order of the keys, and of a field, a limit ends the read of an element that all rows have.
        #expect(try work(Query(where: Condition { $0.tags.contains("life") }, limit: 10)) < 100)
        #expect(
            try work(Query(where: Condition { $0.tags.contains("life") }, orderedBy: [.descending(\.id)], limit: 10)) < 100)
        #expect(try work(Query(where: Condition { $0.tags.contains("life") }, orderedBy: best, limit: 10)) < 500)
        #expect(try work(Query(where: Condition { $0.tags.contains("life") && $0.rating < 10 })) < 200)
        let plan = try storage.explain(Query(where: Condition { $0.tags.contains("sea") }, orderedBy: best))
        #expect(plan.access == .index(["tags"]) && plan.sortsRows, "\(plan)")
        #expect(try work(Query(where: Condition { $0.id == 5 && $0.tags.contains("life") })) < 10)
        #expect(try work(Query(where: Condition { $0.id.in([5, 7]) && $0.tags.contains("life") })) < 10)
        // A write costs what its row has, and not what the table has.
        if scheme == "sqlite" {
            let changed = Photo(id: 4, tags: ["life", "river"], owners: [], rating: 1)
            #expect(try counted.work { try storage.upsert([changed]) }.work < 2_000)
            try storage.upsert([Self.photos[4]])
        }
        #expect(try storage.count(Query(where: Condition { $0.tags.contains("city") })) == 200)
        let change = try FieldChange<Photo>.set(\.rating, to: 1).stored()
        #expect(try storage.set([change], counting: nil, where: Condition { $0.tags.contains("city") }) == 200)
        #expect(try storage.erase(Query(where: Condition { $0.tags.contains("city") })) == 200)
        #expect(try storage.count(Query(where: Condition { $0.tags.contains("city") })) == 0)
        #expect(try counted.database.verify().problems.isEmpty)
    }
}
