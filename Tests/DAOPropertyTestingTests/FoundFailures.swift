import DAOConformance
import DAOCore
import DAOPropertyTesting
import Foundation
import Testing

// What the property tests found before, as they print it: each test is a shrunk script that failed once.

private struct Note: PropertyTestModel {
    var id: String
    var rank: Int = 0

    static let schema = Schema(
        "note", Self.init(id:rank:),
        Field("id", \.id, .primaryKey),
        Field("rank", \.rank, .indexed))
    static let keptFields: Set<String> = []
}

private struct Tally: PropertyTestModel {
    var id: UInt64
    var price: Decimal? = nil

    static let schema = Schema(
        "tally", Self.init(id:price:),
        Field("id", \.id, .primaryKey),
        Field("price", \.price, .unique))
    static let keptFields: Set<String> = []
}

private struct Model0: PropertyTestModel {
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

private struct Model1: PropertyTestModel {
    var field0: UInt16 = 0
    var oid: UInt32
    var byte: UInt8 = 0

    static let schema = Schema(
        "_", Self.init(field0:oid:byte:),
        Field("_", \.field0),
        Field("oid", \.oid, .primaryKey),
        Field("byte", \.byte))
    static let keptFields: Set<String> = []
}

@Suite struct FoundFailures {
    /// On memory and LMDB, a `UInt8` above 127 was negative to `in`.
    @Test(arguments: Targets.all) func inFindsNumbersAboveTheSignedRange(_ target: ConformanceTarget) throws {
        try PropertyTesting.script(on: target) { open in
            let database = try open()
            let model1 = DAO(storage: try database.storage(for: Model1.self))
            PropertyTesting.outcome { try model1.create(Model1(oid: 0, byte: 200)) }
            #expect(
                PropertyTesting.outcome {
                    try model1.storage.keys(Query<Model1>(where: Condition(.isIn(field: 2, [.integer(200)]))))
                } == "[0]")
        }
    }

    /// The same fault in a sum.
    @Test(arguments: Targets.all) func sumsOfNumbersAboveTheSignedRange(_ target: ConformanceTarget) throws {
        try PropertyTesting.script(on: target) { open in
            let database = try open()
            let model1 = DAO(storage: try database.storage(for: Model1.self))
            PropertyTesting.outcome { try model1.create(Model1(field0: 65535, oid: 0)) }
            #expect(PropertyTesting.outcome { try model1.sum(\.field0, where: .all) } == "65535")
        }
    }

    /// The same fault in a comparison of two fields.
    @Test(arguments: Targets.all) func fieldsAboveTheSignedRangeAreCompared(_ target: ConformanceTarget) throws {
        try PropertyTesting.script(on: target) { open in
            let database = try open()
            let model1 = DAO(storage: try database.storage(for: Model1.self))
            PropertyTesting.outcome {
                try model1.findOrCreate(byPrimaryKey: UniqueID("4294967295")) { Model1(oid: 4_294_967_295) }
            }
            #expect(
                PropertyTesting.outcome {
                    try model1.storage.erase(Query<Model1>(where: Condition(.compareFields(1, .lessOrEqual, 0))))
                } == "0")
        }
    }

    /// The same fault in the rows that an evolution sees.
    @Test(arguments: Targets.all) func evolutionReadsKeysAboveTheSignedRange(_ target: ConformanceTarget) throws {
        try PropertyTesting.replay(
            [
                .open(.init("order", [.init("_rowid_", .uint32, isKey: true)]), reopens: false),
                .persist([[.integer(4_294_967_295)]]),
            ], on: target)
    }

    /// The reference model expected the text of an integer where a model reads floating-point numbers.
    @Test(arguments: Targets.all) func integersAreReadAsFloatingPointNumbers(_ target: ConformanceTarget) throws {
        try PropertyTesting.replay(
            [
                .open(
                    .init("index", [.init("名前", .optionalInts, isOptional: true), .init("is", .int16, isKey: true)]),
                    reopens: false),
                .persist([[.string("[9223372036854775807]"), .integer(1)]]),
                .open(
                    .init("index", [.init("名前", .doubles, isOptional: true), .init("is", .int16, isKey: true)]), reopens: false),
                // A copy lost the digits that the numbers of the new type cannot have.
                .copy(rowsAtOnce: 1, interruptedAfter: nil),
            ], on: target)
    }

    /// On SQLite, a create that was tried again with its unique value was `uniqueViolation`.
    @Test(arguments: Targets.all) func createTriedAgainIsDuplicateKey(_ target: ConformanceTarget) throws {
        try PropertyTesting.script(on: target) { open in
            let database = try open()
            let tallies = DAO(storage: try database.storage(for: Tally.self))
            PropertyTesting.outcome { try tallies.persist([Tally(id: 1, price: Decimal(string: "0.5")!)]) }
            #expect(
                PropertyTesting.outcome { try tallies.create(Tally(id: 1, price: Decimal(string: "0.5")!)) }
                    == ##"duplicateKey of tally, key "1""##)
        }
    }

    /// The reference model looked at the sort terms after the key when it went on after a page.
    @Test(arguments: Targets.all) func pagesGoOnAfterTheKey(_ target: ConformanceTarget) throws {
        try PropertyTesting.script(on: target) { open in
            let database = try open()
            let notes = DAO(storage: try database.storage(for: Note.self))
            PropertyTesting.outcome { try notes.create([Note(id: "a"), Note(id: "b")]) }
            #expect(
                PropertyTesting.outcome { () throws -> [[Note]] in
                    var query = Query<Note>(orderedBy: [.by("id"), .by("rank")])
                    var pages: [[Note]] = []
                    repeat {
                        let page = try notes.page(query, limit: 1)
                        pages.append(page.elements)
                        query.after = page.next
                        if pages.count == 1 {
                            PropertyTesting.outcome { try notes.storage.persist(objects: [Note(id: "a", rank: 1)]) }
                        }
                    } while query.after != nil && pages.count < 60
                    return pages
                } == ##"[[("a", 0)], [("b", 0)]]"##)
        }
    }

    /// The generator took names for ones that differ in case only: of "ß" in upper case comes "SS", and never
    /// back.
    @Test(arguments: Targets.all) func namesThatDifferInMoreThanCaseAreTwo(_ target: ConformanceTarget) throws {
        try PropertyTesting.script(on: target) { open in
            let database = try open()
            let model0 = DAO(storage: try database.storage(for: Model0.self))
            PropertyTesting.outcome { try model0.create(Model0(id: 0, field1: 1, field2: 2)) }
            #expect(PropertyTesting.outcome { try model0.read(Query<Model0>()) } == "[(0, 1, 2)]")
        }
    }
}
