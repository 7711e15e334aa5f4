import DAOCore
import DAOKeyValue
import DAOTestSupport
import Testing

/// Each number of fields up to sixteen has an initializer of its own. These are the numbers that no model of another test has.
@Suite struct FieldCountTests {
    private struct Fields11: Model, Equatable {
        var id: Int
        var f1: Int, f2: Int, f3: Int, f4: Int, f5: Int, f6: Int, f7: Int, f8: Int, f9: Int, f10: Int
        static let schema = Schema(
            "fields11", Self.init, Field("id", \.id, .primaryKey),
            Field("f1", \.f1), Field("f2", \.f2), Field("f3", \.f3), Field("f4", \.f4), Field("f5", \.f5), Field("f6", \.f6),
            Field("f7", \.f7), Field("f8", \.f8), Field("f9", \.f9), Field("f10", \.f10))
    }

    private struct Fields13: Model, Equatable {
        var id: Int
        var f1: Int, f2: Int, f3: Int, f4: Int, f5: Int, f6: Int, f7: Int, f8: Int, f9: Int, f10: Int, f11: Int, f12: Int
        static let schema = Schema(
            "fields13", Self.init, Field("id", \.id, .primaryKey),
            Field("f1", \.f1), Field("f2", \.f2), Field("f3", \.f3), Field("f4", \.f4), Field("f5", \.f5), Field("f6", \.f6),
            Field("f7", \.f7), Field("f8", \.f8), Field("f9", \.f9), Field("f10", \.f10), Field("f11", \.f11),
            Field("f12", \.f12))
    }

    private struct Fields14: Model, Equatable {
        var id: Int
        var f1: Int, f2: Int, f3: Int, f4: Int, f5: Int, f6: Int, f7: Int, f8: Int, f9: Int, f10: Int, f11: Int, f12: Int,
            f13: Int
        static let schema = Schema(
            "fields14", Self.init, Field("id", \.id, .primaryKey),
            Field("f1", \.f1), Field("f2", \.f2), Field("f3", \.f3), Field("f4", \.f4), Field("f5", \.f5), Field("f6", \.f6),
            Field("f7", \.f7), Field("f8", \.f8), Field("f9", \.f9), Field("f10", \.f10), Field("f11", \.f11),
            Field("f12", \.f12), Field("f13", \.f13))
    }

    private struct Fields16: Model, Equatable {
        var id: Int
        var f1: Int, f2: Int, f3: Int, f4: Int, f5: Int, f6: Int, f7: Int, f8: Int, f9: Int, f10: Int, f11: Int, f12: Int,
            f13: Int, f14: Int, f15: Int
        static let schema = Schema(
            "fields16", Self.init, Field("id", \.id, .primaryKey),
            Field("f1", \.f1), Field("f2", \.f2), Field("f3", \.f3), Field("f4", \.f4), Field("f5", \.f5), Field("f6", \.f6),
            Field("f7", \.f7), Field("f8", \.f8), Field("f9", \.f9), Field("f10", \.f10), Field("f11", \.f11),
            Field("f12", \.f12), Field("f13", \.f13), Field("f14", \.f14), Field("f15", \.f15))
    }

    @Test func everyFieldKeepsItsPlace() throws {
        try check { (id: Int, start: Int) in
            Fields11(
                id: id, f1: start + 1, f2: start + 2, f3: start + 3, f4: start + 4, f5: start + 5, f6: start + 6,
                f7: start + 7, f8: start + 8, f9: start + 9, f10: start + 10)
        }
        try check { (id: Int, start: Int) in
            Fields13(
                id: id, f1: start + 1, f2: start + 2, f3: start + 3, f4: start + 4, f5: start + 5, f6: start + 6,
                f7: start + 7, f8: start + 8, f9: start + 9, f10: start + 10, f11: start + 11, f12: start + 12)
        }
        try check { (id: Int, start: Int) in
            Fields14(
                id: id, f1: start + 1, f2: start + 2, f3: start + 3, f4: start + 4, f5: start + 5, f6: start + 6,
                f7: start + 7, f8: start + 8, f9: start + 9, f10: start + 10, f11: start + 11, f12: start + 12, f13: start + 13)
        }
        try check { (id: Int, start: Int) in
            Fields16(
                id: id, f1: start + 1, f2: start + 2, f3: start + 3, f4: start + 4, f5: start + 5, f6: start + 6,
                f7: start + 7, f8: start + 8, f9: start + 9, f10: start + 10, f11: start + 11, f12: start + 12,
                f13: start + 13, f14: start + 14, f15: start + 15)
        }
    }

    /// Rows are the same after each way to write and to read them.
    private func check<Row: Model & Equatable>(_ make: (Int, Int) -> Row) throws {
        let storage = try makeDatabase().storage(for: Row.self)
        let rows = (1...3).map { make($0, $0 * 100) }
        try storage.insert(rows)
        #expect(try storage.read(Query()) == rows)
        #expect(try storage.read(key: .integer(2)) == rows[1])
        let changed = make(2, 700)
        let count = try storage.merge(keys: [.integer(2), .integer(3), .integer(4)]) { index, row in
            if index == 0 { row = changed }
            if index == 1 { #expect(row == rows[2]) }
        }
        #expect(count == 2)
        #expect(try storage.read(Query()) == [rows[0], changed, rows[2]])
    }
}
