import DAOConformance
import DAOCore
import Foundation
import Testing

// What the property tests found before, as they print it: each test is a shrunk script that failed once.

private struct Made0: RandomProofModel {
    var id: Int
    var field1: Int = 0
    var field2: Int = 0

    static let schema = Schema(
        "made", Self.init(id:field1:field2:),
        Field("id", \.id, .primaryKey),
        Field("gr\u{f6}\u{df}e", \.field1),
        Field("GR\u{d6}SSE", \.field2))
    static let keptFields: Set<String> = []
}

private struct Made1: RandomProofModel {
    var field0: UInt16 = 0
    var oid: UInt32

    static let schema = Schema(
        "_", Self.init(field0:oid:),
        Field("_", \.field0),
        Field("oid", \.oid, .primaryKey))
    static let keptFields: Set<String> = []
}

@Suite struct FoundFailures {
    /// On memory and LMDB, a `UInt8` above 127 was negative to `in`.
    @Test(arguments: Targets.all) func inFindsNumbersAboveTheSignedRange(_ target: ConformanceTarget) throws {
        try RandomProof.script(on: target) { open in
            let database = try open()
            let wides = DAO(storage: try database.storage(for: RandomProof.Wide.self))
            RandomProof.outcome { try wides.create(RandomProof.Wide(id: 0, byte: 200)) }
            #expect(
                RandomProof.outcome {
                    try wides.storage.keys(Query<RandomProof.Wide>(where: Condition(.isIn(field: 8, [.integer(200)]))))
                } == "[0]")
        }
    }

    /// The same fault in a sum.
    @Test(arguments: Targets.all) func sumsOfNumbersAboveTheSignedRange(_ target: ConformanceTarget) throws {
        try RandomProof.script(on: target) { open in
            let database = try open()
            let made1 = DAO(storage: try database.storage(for: Made1.self))
            RandomProof.outcome { try made1.create(Made1(field0: 65535, oid: 0)) }
            #expect(RandomProof.total { try made1.sum(\.field0, predicatedBy: .all) } == "65535")
        }
    }

    /// The same fault in a comparison of two fields.
    @Test(arguments: Targets.all) func fieldsAboveTheSignedRangeAreCompared(_ target: ConformanceTarget) throws {
        try RandomProof.script(on: target) { open in
            let database = try open()
            let made1 = DAO(storage: try database.storage(for: Made1.self))
            RandomProof.outcome { try made1.findOrCreate(byPrimaryKey: UniqueID("4294967295")) { Made1(oid: 4_294_967_295) } }
            #expect(
                RandomProof.outcome {
                    try made1.storage.erase(Query<Made1>(where: Condition(.compareFields(1, .lessOrEqual, 0))))
                } == "0")
        }
    }

    /// The same fault in the rows that an evolution sees.
    @Test(arguments: Targets.all) func evolutionReadsKeysAboveTheSignedRange(_ target: ConformanceTarget) throws {
        try RandomProof.replay(
            [
                .open(.init("order", [.init("_rowid_", .uint32, isKey: true)]), reopens: false),
                .persist([[.integer(4_294_967_295)]]),
            ], on: target)
    }

    /// On SQLite, a create that was tried again with its unique value was `uniqueViolation`.
    @Test(arguments: Targets.all) func createTriedAgainIsDuplicateKey(_ target: ConformanceTarget) throws {
        try RandomProof.script(on: target) { open in
            let database = try open()
            let tallies = DAO(storage: try database.storage(for: RandomProof.Tally.self))
            RandomProof.outcome { try tallies.persist([RandomProof.Tally(id: 1, price: Decimal(string: "0.5")!)]) }
            #expect(
                RandomProof.outcome { try tallies.create(RandomProof.Tally(id: 1, price: Decimal(string: "0.5")!)) }
                    == ##"duplicateKey of random_tally, key "1""##)
        }
    }

    /// The reference model looked at the sort terms after the key when it went on after a page.
    @Test(arguments: Targets.all) func pagesGoOnAfterTheKey(_ target: ConformanceTarget) throws {
        try RandomProof.script(on: target) { open in
            let database = try open()
            let notes = DAO(storage: try database.storage(for: RandomProof.Note.self))
            RandomProof.outcome { try notes.create([RandomProof.Note(id: "a"), RandomProof.Note(id: "b")]) }
            #expect(
                RandomProof.outcome { () throws -> [[RandomProof.Note]] in
                    var query = Query<RandomProof.Note>(orderedBy: [.by("id"), .by("rank")])
                    var pages: [[RandomProof.Note]] = []
                    repeat {
                        let page = try notes.page(query, limit: 1)
                        pages.append(page.elements)
                        query.after = page.next
                        if pages.count == 1 {
                            RandomProof.outcome { try notes.storage.persist(objects: [RandomProof.Note(id: "a", rank: 1)]) }
                        }
                    } while query.after != nil && pages.count < 60
                    return pages
                } == ##"[[("a", "", "", nil, nil, 0)], [("b", "", "", nil, nil, 0)], []]"##)
        }
    }

    /// The generator took names for ones that differ in case only: of "ß" in upper case comes "SS", and never back.
    @Test(arguments: Targets.all) func namesThatDifferInMoreThanCaseAreTwo(_ target: ConformanceTarget) throws {
        try RandomProof.script(on: target) { open in
            let database = try open()
            let made0 = DAO(storage: try database.storage(for: Made0.self))
            RandomProof.outcome { try made0.create(Made0(id: 0, field1: 1, field2: 2)) }
            #expect(RandomProof.outcome { try made0.read(Query<Made0>()) } == "[(0, 1, 2)]")
        }
    }
}
