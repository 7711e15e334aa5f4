import DAOCore
import DAOSQLite
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

/// Reading and writing rows, as far as it is particular to SQLite.
@Suite struct StorageTests {
    private let place = Place()

    /// A table of another program that erases its rows with a user.
    @Test func rowsThatTradeTheirValuesAreNotErased() throws {
        let database = try place.database()
        let users = try database.storage(for: User.self)
        try users.insert((1...9).map { User(name: "user \($0)", email: "\($0)@x", age: $0) })
        func execute(_ sql: String) throws -> Int {
            try database.transaction { try database.underlying(as: SQLiteHandle.self) { try $0.execute(sql) } }
        }
        _ = try execute("CREATE TABLE badge (user TEXT NOT NULL REFERENCES user (name) ON DELETE CASCADE)")
        _ = try execute("INSERT INTO badge SELECT name FROM user")
        let changed = (1...9).map { User(name: "user \($0)", email: "\($0 % 9 + 1)@x", age: $0) }
        try users.upsert(changed)
        #expect(try users.read(Query()) == changed)
        #expect(try users.update(Query()) { $0.email = "\($0.age)@x" } == 9)
        #expect(try execute("DELETE FROM badge") == 9)
    }

    @Test func uniqueViolationHasFieldAndBothKeys() throws {
        let users = try place.database().storage(for: User.self)
        try users.insert([
            User(name: "ann", email: "a@x", age: 1), User(name: "bob", email: nil, age: 2), User(name: "cid", email: nil, age: 3),
        ])
        for isUpsert in [false, true] {
            let error = expectError(.uniqueViolation) {
                let clash = [User(name: "eve", email: "e@x", age: 0), User(name: "dan", email: "a@x", age: 1)]
                if isUpsert { try users.upsert(clash) } else { try users.insert(clash) }
            }
            #expect(
                error?.field == "email" && error?.key == "dan" && error?.conflictingKey == "ann", "\(String(describing: error))")
        }
        let error = expectError(.uniqueViolation) { try users.merge(keys: [.string("bob")]) { _, user in user?.email = "a@x" } }
        #expect(error?.key == "bob" && error?.conflictingKey == "ann")
        let duplicate = expectError(.duplicateKey) {
            try users.insert([User(name: "new", email: nil, age: 1), User(name: "ann", email: nil, age: 1)])
        }
        #expect(duplicate?.key == "ann" && duplicate?.entity == "user" && duplicate?.field == "name")
        #expect(try users.count(Query()) == 3)
        try users.upsert([User(name: "ann", email: "a@y", age: 9), User(name: "ann", email: "a@x", age: 1)])
        #expect(try users.read(key: .string("ann"))?.email == "a@x")
    }

    /// A merge walks from a row to the next one, while a trigger of another program writes that.
    @Test func mergeSeesWhatTriggersHaveWritten() throws {
        let database = try place.database()
        let messages = try database.storage(for: Message.self)
        try messages.insert((1...20).map(Message.numbered))
        try database.withWriterHandle { handle in
            let trigger = """
                CREATE TRIGGER next AFTER UPDATE ON message WHEN NEW.id < 10 BEGIN
                    UPDATE message SET sender = 100 + NEW.id WHERE id = NEW.id + 1;
                    DELETE FROM message WHERE id = NEW.id + 10;
                END;
                CREATE TRIGGER made AFTER INSERT ON message WHEN NEW.id IN (30, 40) BEGIN
                    INSERT INTO message (id, sender, date, text, subject, draft, isRead, score)
                        SELECT NEW.id + 1, 200, date, text, subject, draft, isRead, score FROM message WHERE id = NEW.id;
                END
                """
            #expect(sqlite3_exec(handle, trigger, nil, nil, nil) == SQLITE_OK)
        }
        var seen: [Int?] = []
        _ = try messages.merge(keys: (1...20).map { .integer($0) }) { _, message in
            seen.append(message?.sender)
            message?.date += 1
        }
        var expected: [Int?] = [Message.numbered(1).sender]
        for id in 1...9 { expected.append(100 + id) }
        for _ in 11...19 { expected.append(nil) }
        expected.append(Message.numbered(20).sender)
        #expect(seen == expected)
        // The row that follows is made by the insertion of the one before, between rows and after the last one.
        try messages.insert([Message.numbered(35)])
        seen = []
        _ = try messages.merge(keys: [29, 30, 31, 35, 39, 40, 41].map { .integer($0) }) { index, message in
            seen.append(message?.sender)
            if [1, 5].contains(index) { message = Message.numbered(index == 1 ? 30 : 40) }
        }
        #expect(seen == [nil, nil, 200, Message.numbered(35).sender, nil, nil, 200])
    }

    /// A merge that writes row after row reads the next ones ahead. Some are long, some are missing, and some stay as they are.
    @Test func mergedRowsAreReadAheadAsTheyAre() throws {
        let storage = try place.database().storage(for: Everything.self)
        var random = SeededGenerator(seed: 3)
        var rows = (1...600).filter { ![0, 5].contains($0 % 9) }.map { HardRows.row($0, &random) }
        try storage.insert(rows)
        for round in 0..<3 {
            // What is read with a call for each row.
            let stored = try rows.map { try storage.read(key: $0.id.key) }
            var seen: [Everything?] = []
            let keys = (1...700).filter { round == 0 || $0 % (round + 5) != 0 }
            _ = try storage.merge(keys: keys.map(\.key)) { index, row in
                guard var changed = row else { return }
                seen.append(changed)
                if index % 40 == 7 { return }
                changed.flag.toggle()
                if index % 3 == 0 { changed.name += "+" }
                if index % 5 == 0 { changed.blob = changed.blob == nil ? Data([1]) : nil }
                row = changed
            }
            let wanted = Set(keys)
            #expect(seen.elementsEqual(stored.filter { wanted.contains($0?.id ?? 0) }, by: isSame), "round \(round)")
            for (index, key) in keys.enumerated() where index % 40 != 7 {
                guard let place = rows.firstIndex(where: { $0.id == key }) else { continue }
                rows[place].flag.toggle()
                if index % 3 == 0 { rows[place].name += "+" }
                if index % 5 == 0 { rows[place].blob = rows[place].blob == nil ? Data([1]) : nil }
            }
            #expect(try storage.read(Query()).elementsEqual(rows, by: isSame), "round \(round)")
        }
    }

    private func isSame(_ left: Everything?, _ right: Everything?) -> Bool { values(left) == values(right) }

    /// The values of a row, of which NaN is equal to itself.
    private func values(_ row: Everything?) -> [Value] {
        guard let row, let reader = try? Everything.schema.reader(of: row) else { return [] }
        return Everything.schema.description.fields.indices.compactMap { try? reader.readValue(at: $0) }
    }

    @Test func failedCallKeepsItsTransactionUsable() throws {
        let database = try place.database()
        let users = try database.storage(for: User.self)
        try database.transaction { try stumbling(users, database) }
        #expect(try users.keys(Query()) == [.string("ann"), .string("dan")])
    }

    private struct Stop: Error {}

    private func stumbling(_ users: any Storage<User>, _ database: SQLiteDatabase) throws {
        try users.insert([User(name: "ann", email: "a@x", age: 1)])
        let twice = [User(name: "bob", email: nil, age: 1), User(name: "ann", email: nil, age: 1)]
        expectError(.duplicateKey) { try users.insert(twice) }
        expectError(.duplicateKey) { try users.insert([User(name: "ann", email: nil, age: 1)]) }
        #expect(throws: Stop.self) { try failing(users, database) }
        try users.insert([User(name: "dan", email: nil, age: 1)])
    }

    private func failing(_ users: any Storage<User>, _ database: SQLiteDatabase) throws {
        try database.transaction {
            try users.insert([User(name: "cid", email: nil, age: 1)])
            throw Stop()
        }
    }

    @Test func integersBeyondInt64MaxAreKeysInOrder() throws {
        let storage = try place.database().storage(for: Big.self)
        var random = SeededGenerator(seed: 1)
        try storage.insert(HardRows.unsigned.shuffled(using: &random).map { Big(id: $0, value: Double($0)) })
        #expect(try storage.read(Query()).map(\.id) == HardRows.unsigned.sorted())
        #expect(try storage.keys(Query(where: Condition { $0.id > UInt64(Int64.max) })).count == 4)
        for id in HardRows.unsigned { #expect(try storage.read(key: id.key)?.value == Double(id)) }
        #expect(try storage.erase(keys: [UInt64.max.key, UInt64.max.key]) == 1)
    }

    @Test func hundredThousandKeysAndValuesAreRead() throws {
        let storage = try place.database().storage(for: Message.self)
        try storage.insert((0..<5000).map(Message.numbered))
        let keys = (0..<100_000).map { Key.integer(Int64(99_999 - $0)) }
        let found = try storage.read(keys: keys + keys, includesSubentities: true)
        #expect(found.map(\.id) == Array((0..<5000).reversed()))
        let many = Query<Message>(where: Condition { $0.id.in(stride(from: 0, to: 200_000, by: 2)) })
        #expect(try storage.count(many) == 2500)
        #expect(try storage.explain(many).access == .primaryKey)
        #expect(try storage.count(Query(where: Condition { !$0.id.in(stride(from: 0, to: 200_000, by: 2)) })) == 2500)
        #expect(try storage.count(Query(where: Condition { $0.text.in((0..<100_000).map { "text \($0)" }) })) == 5000)
    }

    @Test func deepAndLongPredicatesGiveTheRightRows() throws {
        let storage = try place.database().storage(for: Message.self)
        try storage.insert((0..<100).map(Message.numbered))
        let alternatives = (0..<5000).map { PredicateNode.compare(field: 0, .equal, .integer(Int64($0 * 2))) }
        #expect(try storage.count(Query(where: Condition(.or(alternatives)))) == 50)
        #expect(try storage.count(Query(where: Condition(.or(Array(alternatives.prefix(300)))))) == 50)
        func deep(_ levels: Int) -> Condition<Message> {
            var deep = PredicateNode.compare(field: 0, .less, .integer(10))
            for level in 0..<levels {
                deep =
                    level % 2 == 0
                    ? .or([deep, .compare(field: 0, .equal, .integer(-1))])
                    : .and([deep, .compare(field: 1, .greaterOrEqual, .integer(0))])
            }
            return Condition(deep)
        }
        #expect(try storage.count(Query(where: deep(630))) == 10)
        expectError(.invalidPredicate) { try storage.count(Query(where: deep(900))) }
    }

    @Test func queryIsPreparedOnceForAllValues() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<100).map(Message.numbered))
        let before = try database.statementStatistics
        for value in 0..<500 {
            _ = try storage.read(
                Query(where: Condition { $0.sender == value && $0.score > 1 }, orderedBy: [.descending(\.date)], limit: value + 1)
            )
        }
        let after = try database.statementStatistics
        // Which index is used depends on the values, and on what small statements count.
        #expect(after.misses - before.misses <= 5 && after.hits - before.hits >= 499, "\(before) \(after)")
        for shape in 0..<300 {
            _ = try storage.read(
                Query(where: Condition(.or((0...shape).map { .compare(field: 1, .equal, .integer(Int64($0))) })), limit: 1))
        }
        #expect(try storage.read(Query(where: Condition { $0.sender == 3 })).count == 10)
    }

    @Test func explainNamesTheUsedIndex() throws {
        let storage = try place.database().storage(for: Message.self)
        try storage.insert((0..<1000).map(Message.numbered))
        let cutoff = Date(timeIntervalSinceReferenceDate: 990)
        let byDate = try storage.explain(Query(where: Condition { $0.date > cutoff }, orderedBy: [.ascending(\.date)]))
        #expect(byDate.access == .index(["date"]) && !byDate.filtersRows && !byDate.sortsRows && !byDate.details.isEmpty)
        let sorted = try storage.explain(Query(orderedBy: [.descending(\.date)], limit: 5))
        #expect(sorted.access == .index(["date"]))
        let filtered = try storage.explain(
            Query(where: Condition { $0.sender == 3 && $0.isRead }, orderedBy: [.ascending(\.text)]))
        #expect(filtered.access == .index(["sender"]) && filtered.filtersRows && filtered.sortsRows)
        #expect(try storage.explain(Query(where: Condition { $0.text == "x" })).access == .scan)
        #expect(try storage.explain(Query(where: Condition { $0.id == 5 })).access == .primaryKey)
        #expect(try storage.explain(Query(where: .none)).access == .nothing)
        let place2 = Place()
        let everything = try place2.database().storage(for: Everything.self)
        #expect(try everything.explain(Query(where: Condition { $0.name.hasPrefix("ab") })).access == .index(["name"]))
    }

    @Test func mergingWritesOnlyChangedColumns() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<50).map(Message.numbered))
        let raw = try Raw(place.path())
        try raw.run(
            "CREATE TABLE log(what TEXT); CREATE TRIGGER changed AFTER UPDATE ON message BEGIN INSERT INTO log VALUES("
                + "CASE WHEN old.text IS NOT new.text THEN 'text' ELSE '' END || old.id); END")
        let keys = (0..<60).map { Key.integer($0) }
        let stored = try storage.merge(keys: keys) { index, message in
            if message == nil {
                message = index < 55 ? .numbered(index) : nil
            } else if index % 10 == 0 {
                message?.text = "new"
            } else if index % 10 == 1 {
                message?.isRead.toggle()
            }
        }
        #expect(stored == 55)
        #expect(try raw.texts("SELECT count(*) FROM log") == ["10"])
        #expect(try raw.texts("SELECT count(*) FROM log WHERE what LIKE 'text%'") == ["5"])
        expectError(.keyChanged) { try storage.merge(keys: [.integer(1)]) { $1?.id = 2 } }
        expectError(.keyChanged) { try storage.merge(keys: [.integer(1000)]) { $1 = .numbered(2) } }
        #expect(try storage.update(Query(where: Condition { $0.text == "new" })) { $0.text = "old" } == 5)
    }

    @Test func mergeClosureMayReadAndWriteTheSameRows() throws {
        let storage = try place.database().storage(for: Message.self)
        try storage.insert((0..<20).map(Message.numbered))
        _ = try storage.merge(keys: (0..<20).map { .integer($0) }) { index, message in
            let next = try storage.read(key: .integer(Int64((index + 1) % 20)))
            message?.subject = next?.subject ?? ""
            if index == 3 { try storage.upsert([.numbered(100)]) }
            _ = try storage.read(Query(where: Condition { $0.sender == index }))
        }
        #expect(try storage.read(key: .integer(5))?.subject == "subject 6")
        #expect(try storage.count(Query()) == 21)
    }

    @Test func cursorKeepsItsSnapshotUntilItEnds() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<1000).map(Message.numbered))
        let cursor = try storage.cursor(Query(where: Condition { $0.text.hasPrefix("text") }))
        #expect(try cursor.next(10).map(\.id) == Array(0..<10))
        #expect(try storage.erase(Query()) == 1000)
        var count = 10
        while true {
            let batch = try cursor.next(100)
            if batch.isEmpty { break }
            count += batch.count
        }
        #expect(count == 1000)
        for _ in 0..<1000 { _ = try storage.cursor(Query()).next(1) }
        try database.transaction {
            try storage.insert((0..<10).map(Message.numbered))
            let inside = try storage.cursor(Query())
            try storage.insert((10..<20).map(Message.numbered))
            #expect(try inside.next(100).count == 10)
        }
    }

    @Test func swappedFieldsAreDetected() throws {
        struct Swapped: Model {
            var id: Int
            var first: String
            var last: String
            init(_ id: Int, _ last: String, _ first: String) { (self.id, self.first, self.last) = (id, first, last) }
            static let schema = Schema(
                "swapped", { Swapped($0, $1, $2) }, Field("id", \.id, .primaryKey), Field("first", \.first), Field("last", \.last)
            )
        }
        let storage = try place.database().storage(for: Swapped.self)
        let error = expectError(.invalidSchema) { try storage.insert([Swapped(1, "a", "b")]) }
        #expect(error?.message.contains("'first' and 'last'") == true)
        #expect(try storage.count(Query()) == 0)
    }

    @Test func modelsWithManyFieldsAndWithOnlyAKey() throws {
        let tokens = try place.database().storage(for: Token.self)
        let token = Token(id: UUID())
        try tokens.upsert([token, token])
        #expect(try tokens.merge(keys: [token.id.key]) { _, _ in } == 1)
        #expect(try tokens.read(Query()) == [token])
    }
}
