import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Testing

@testable import DAOConformance

// This target is compiled as a program is for release. The optimizer has crashed on models of more fields than `Schema` has
// initializers with the fields written out.

@Suite struct WideModelTests {
    private let place = Place()

    @Test(arguments: ["memory", "sqlite", "lmdb"])
    func eighteenFieldsAreStored(_ scheme: String) throws { try check(scheme, Eighteen.sample, \.f17) { $0.f17 = "changed" } }

    @Test(arguments: ["memory", "sqlite", "lmdb"])
    func fortyFieldsAreStored(_ scheme: String) throws { try check(scheme, Forty.sample, \.f39) { $0.f39 = false } }

    private func check<Wide: Plain & Model & Equatable, Last: FieldValue & Equatable>(
        _ scheme: String, _ sample: (Int) -> Wide, _ last: KeyPath<Wide, Last>, _ change: (inout Wide) -> Void
    ) throws {
        let path = scheme == "memory" ? "" : place.path("wide.\(scheme)")
        let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open("\(scheme):\(path)")
        let dao = try database.dao(Wide.self)
        var rows = (0..<100).map(sample)
        try dao.create(rows)
        #expect(try dao.read() == rows)
        change(&rows[7])
        try dao.persist(rows)
        #expect(try dao.read(byPrimaryKey: 7) == rows[7])
        #expect(try dao.read(last) == rows.map { $0[keyPath: last] })
        try database.close()
    }
}

private struct Eighteen: Plain, Model, Equatable {
    var id: Int
    var f1: String
    var f2: Double
    var f3: Bool
    var f4: Int?
    var f5: String?
    var f6: Int
    var f7: String
    var f8: Double
    var f9: Bool
    var f10: Int?
    var f11: String?
    var f12: Int
    var f13: String
    var f14: Double
    var f15: Bool
    var f16: Int?
    var f17: String?

    static let schema = Schema(
        "eighteen", Self.init, Field("id", \.id, .primaryKey), Field("f1", \.f1), Field("f2", \.f2), Field("f3", \.f3),
        Field("f4", \.f4), Field("f5", \.f5), Field("f6", \.f6), Field("f7", \.f7), Field("f8", \.f8), Field("f9", \.f9),
        Field("f10", \.f10), Field("f11", \.f11), Field("f12", \.f12), Field("f13", \.f13), Field("f14", \.f14),
        Field("f15", \.f15), Field("f16", \.f16), Field("f17", \.f17))

    static func sample(_ id: Int) -> Eighteen {
        Eighteen(
            id: id, f1: "1", f2: 2.5, f3: true, f4: 4, f5: "5", f6: 6, f7: "7", f8: 8.5, f9: true, f10: 10, f11: "11", f12: 12,
            f13: "13", f14: 14.5, f15: true, f16: 16, f17: "17")
    }
}

private struct Forty: Plain, Model, Equatable {
    var id: Int
    var f1: String
    var f2: Double
    var f3: Bool
    var f4: Int?
    var f5: String?
    var f6: Int
    var f7: String
    var f8: Double
    var f9: Bool
    var f10: Int?
    var f11: String?
    var f12: Int
    var f13: String
    var f14: Double
    var f15: Bool
    var f16: Int?
    var f17: String?
    var f18: Int
    var f19: String
    var f20: Double
    var f21: Bool
    var f22: Int?
    var f23: String?
    var f24: Int
    var f25: String
    var f26: Double
    var f27: Bool
    var f28: Int?
    var f29: String?
    var f30: Int
    var f31: String
    var f32: Double
    var f33: Bool
    var f34: Int?
    var f35: String?
    var f36: Int
    var f37: String
    var f38: Double
    var f39: Bool

    static let schema = Schema(
        "forty", Self.init, Field("id", \.id, .primaryKey), Field("f1", \.f1), Field("f2", \.f2), Field("f3", \.f3),
        Field("f4", \.f4), Field("f5", \.f5), Field("f6", \.f6), Field("f7", \.f7), Field("f8", \.f8), Field("f9", \.f9),
        Field("f10", \.f10), Field("f11", \.f11), Field("f12", \.f12), Field("f13", \.f13), Field("f14", \.f14),
        Field("f15", \.f15), Field("f16", \.f16), Field("f17", \.f17), Field("f18", \.f18), Field("f19", \.f19),
        Field("f20", \.f20), Field("f21", \.f21), Field("f22", \.f22), Field("f23", \.f23), Field("f24", \.f24),
        Field("f25", \.f25), Field("f26", \.f26), Field("f27", \.f27), Field("f28", \.f28), Field("f29", \.f29),
        Field("f30", \.f30), Field("f31", \.f31), Field("f32", \.f32), Field("f33", \.f33), Field("f34", \.f34),
        Field("f35", \.f35), Field("f36", \.f36), Field("f37", \.f37), Field("f38", \.f38), Field("f39", \.f39))

    static func sample(_ id: Int) -> Forty {
        Forty(
            id: id, f1: "1", f2: 2.5, f3: true, f4: 4, f5: "5", f6: 6, f7: "7", f8: 8.5, f9: true, f10: 10, f11: "11", f12: 12,
            f13: "13", f14: 14.5, f15: true, f16: 16, f17: "17", f18: 18, f19: "19", f20: 20.5, f21: true, f22: 22, f23: "23",
            f24: 24, f25: "25", f26: 26.5, f27: true, f28: 28, f29: "29", f30: 30, f31: "31", f32: 32.5, f33: true, f34: 34,
            f35: "35", f36: 36, f37: "37", f38: 38.5, f39: true)
    }
}
