import DAOCore
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// Values that another program has stored in columns of another type. Each is an error with entity, key and
/// field, and never becomes a default.
@Suite struct DamageTests {
    private let place = Place()

    @Test(arguments: [
        ("flag", "2"), ("flag", "'yes'"), ("flag", "1.5"), ("small", "1000"), ("small", "'x'"), ("small", "x'00'"), ("big", "-1"),
        ("big", "x'0000000000000001'"), ("big", "x'FF'"), ("big", "'12x'"), ("ratio", "'abc'"), ("ratio", "x'7FF0000000000000'"),
        ("maybe", "x''"),
        ("price", "'1,5'"), ("price", "x'31'"), ("price", "''"), ("name", "x'6162'"), ("name", "CAST(x'61FF62' AS TEXT)"),
        ("name", "CAST(x'EDA080' AS TEXT)"), ("bytes", "'text'"), ("bytes", "5"), ("token", "x'0011'"),
        ("token", "'00000000-0000-0000-0000-000000000000'"),
        ("site", "'http://[oops'"), ("date", "'2020-01-01'"), ("mood", "'sad'"), ("tags", "'[1,'"), ("tags", "x'5B5D'"),
    ]) func aWrongValueIsCorrupted(field: String, value: String) throws {
        let database = try place.database()
        let storage = try database.storage(for: Everything.self)
        var random = SeededGenerator(seed: 3)
        try storage.insert((0..<5).map { HardRows.row($0, &random) })
        try Raw(place.path()).run("UPDATE everything SET \(field) = \(value) WHERE id = 3")
        let index = try #require(Everything.schema.description.index(of: field))
        let errors = [
            expectError(.corruptedValue) { try storage.read(Query()) },
            expectError(.corruptedValue) { try storage.read(key: .integer(3)) as Any },
            expectError(.corruptedValue) { try storage.cursor(Query()).next(10) },
            expectError(.corruptedValue) { try storage.merge(keys: [.integer(3)]) { _, _ in } },
        ]
        for error in errors {
            #expect(error?.entity == "everything" && error?.key == 3 && error?.field == field, "\(String(describing: error))")
        }
        #expect(try storage.read(keys: [.integer(1), .integer(2)], includesSubentities: true).count == 2)
        if !["price", "mood", "tags"].contains(field) {
            let error = expectError(.corruptedValue) {
                try storage.readFields([index], Query()) { _ = try $0.readValue(at: index) }
            }
            #expect(error?.key == 3 && error?.field == field)
        }
        // An unreadable row can be replaced.
        try storage.upsert([HardRows.row(3, &random)])
        #expect(try storage.read(Query()).count == 5)
    }

    @Test func nullInARequiredFieldIsCorruptedValue() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<5).map(Message.numbered))
        try database.close()
        let raw = try Raw(place.path())
        try raw.run(
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '\"text\" TEXT NOT NULL', '\"text\" TEXT') WHERE name = 'message'"
        )
        let other = try Raw(place.path())
        try other.run("UPDATE message SET text = NULL WHERE id = 2")
        try other.run(
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '\"text\" TEXT', '\"text\" TEXT NOT NULL') WHERE name = 'message'"
        )
        let again = try place.database().storage(for: Message.self)
        let error = expectError(.corruptedValue) { try again.read(Query()) }
        #expect(error?.key == 2 && error?.field == "text" && error?.message.contains("NULL") == true)
        var senders: [Int] = []
        try again.readFields([1], Query()) { senders.append(try Int.read(from: $0, at: 1)) }
        #expect(senders.count == 5, "the fields that can be read")
        expectError(.corruptedValue) { try again.readFields([3], Query()) { _ = try String.read(from: $0, at: 3) } }
    }

    @Test func decimalsOfOtherProgramsCompareByValue() throws {
        let storage = try place.database().storage(for: Everything.self)
        var random = SeededGenerator(seed: 1)
        var rows = (0..<4).map { HardRows.row($0, &random) }
        for index in rows.indices { rows[index].price = Decimal(index) }
        try storage.insert(rows)
        try Raw(place.path()).run(
            "UPDATE everything SET price = '1.50' WHERE id = 1; UPDATE everything SET price = '-007.0' WHERE id = 3")
        let half = Decimal(string: "1.5")!
        #expect(try storage.keys(Query(where: Condition { $0.price == half })) == [.integer(1)])
        #expect(try storage.keys(Query(where: Condition { $0.price.in([half, -7]) })) == [.integer(1), .integer(3)])
        #expect(try storage.keys(Query(orderedBy: [.ascending(\.price)])) == [3, 0, 1, 2].map { .integer($0) })
    }
}
