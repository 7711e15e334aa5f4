import DAOCore
import Foundation

/// V3: nil beside empty values, enumerations, and unknown raw values.
enum ValuesOptionals {
    static let cases: [ConformanceCase] = optionals + enumerations

    private static let full = OptionalScalars(
        id: 1, int: 0, int8: 0, int16: 0, int32: 0, int64: 0, uint: 0, uint8: 0, uint16: 0, uint32: 0, uint64: 0, bool: false,
        float: 0, double: 0,
        decimal: 0, string: "", data: Data(), uuid: Scalars.zero, url: Scalars.site,
        date: Date(timeIntervalSinceReferenceDate: 0), duration: .zero, mood: .empty,
        level: Level.none)

    private static let optionals: [ConformanceCase] = [
        ConformanceCase("V.allNil", "V3", title: "a row with nil in every optional field is stored") { context in
            try context.expectKept([OptionalScalars(id: 1), OptionalScalars(id: 2)])
        },
        ConformanceCase("V.zerosAreNotNil", "V3", title: "zero, false and empty are not nil, in every type") { context in
            try context.expectKept([full, OptionalScalars(id: 2)])
        },
        ConformanceCase(
            "V.emptyIsFound", "V3", "P1",
            title: "a condition on an empty value finds empty values, a condition on nil finds nil"
        ) {
            context in
            let dao = try context.dao(OptionalScalars.self)
            try dao.create([full, OptionalScalars(id: 2)])
            try expectEqual(try dao.read { $0.string == "" }.map(\.id), [1])
            try expectEqual(try dao.read { $0.string == nil }.map(\.id), [2])
            try expectEqual(try dao.read { $0.data == Data() }.map(\.id), [1])
            try expectEqual(try dao.read { $0.data == nil }.map(\.id), [2])
            try expectEqual(try dao.read { $0.int == 0 }.map(\.id), [1])
            try expectEqual(try dao.read { $0.bool == nil }.map(\.id), [2])
            try expectEqual(try dao.read { $0.uuid != nil }.map(\.id), [1])
        },
        ConformanceCase("V.valueToNil", "V3", "W1", title: "a value replaced by nil is nil in fields and indexes") { context in
            let dao = try context.dao(OptionalScalars.self)
            try dao.create(full)
            try dao.persist(OptionalScalars(id: 1))
            try expectSame(try dao.read(), [OptionalScalars(id: 1)])
            try expectEqual(try dao.count { $0.int == 0 }, 0, "rows by the index on the old value")
            try expectEqual(try dao.count { $0.string == nil && $0.int == nil && $0.date == nil }, 1, "rows with nil")
        },
        ConformanceCase("V.nilToValue", "V3", "W1", title: "nil replaced by a value is that value everywhere") { context in
            let dao = try context.dao(OptionalScalars.self)
            try dao.create(OptionalScalars(id: 1))
            try dao.persist(full)
            try expectSame(try dao.read(), [full])
            try expectEqual(try dao.count { $0.string == "" && $0.int == 0 && $0.uuid == Scalars.zero }, 1)
            try expectEqual(try dao.count { $0.string == nil }, 0, "rows with nil")
        },
        ConformanceCase("V.reinsertedRow", "V3", "W5", title: "a row created again has no value of the old row") { context in
            let (database, dao) = try context.open(with: OptionalScalars.self)
            try dao.create(full)
            try database.transaction {
                try dao.erase(byPrimaryKey: 1)
                try dao.create(OptionalScalars(id: 1, int8: 5))
            }
            try expectSame(try dao.read(), [OptionalScalars(id: 1, int8: 5)])
        },
        ConformanceCase("V.copyIsAValue", "V1", title: "changing a value that was read does not change the row") { context in
            let dao = try context.dao(OptionalScalars.self)
            try dao.create(full)
            var copy = try require(try dao.read(byPrimaryKey: 1), "the row")
            copy.string = "changed"
            copy.data?.append(1)
            try expectSame(try dao.read(), [full])
        },
        ConformanceCase("V.updateKeepsTheRest", "V1", title: "changing one field keeps all bits of the others") { context in
            let dao = try context.dao(Scalars.self)
            let row = Scalars(
                id: 1, int: .min, uint64: .max, float: 0.1, double: .leastNonzeroMagnitude,
                decimal: Decimal(string: "0.1") ?? 0,
                string: "e\u{301}\0", data: Data([0, 255]), date: .distantPast, mood: .other, level: .high)
            try dao.create(row)
            try dao.update(where: { $0.id == 1 }) { $0.int8 = -7 }
            var expected = row
            expected.int8 = -7
            try expectSame(try dao.read(), [expected])
        },
    ]

    private static let enumerations: [ConformanceCase] = [
        ConformanceCase("V.enums", "V3", title: "enumerations keep their raw values and are found by them") { context in
            try context.expectKept(Mood.allCases, in: \.mood, \.mood)
            let database = try context.expectKept(Level.allCases, in: \.level, \.level)
            let dao = try database.dao(Scalars.self)
            try expectEqual(try dao.count { $0.level == .low }, 1)
            try expectEqual(try dao.count { $0.mood == .empty }, 0)
        },
        ConformanceCase("V.enumIsRawValue", "V3", title: "an enumeration is stored as its raw value") { context in
            let database = try context.open()
            try database.dao(Document.self).create(Document(id: 1, mood: .other, level: .high, text: "t"))
            let raw = try database.dao(RawDocument.self)
            try expectSame(try raw.read(), [RawDocument(id: 1, mood: "something else", level: 1_000_000, text: "t")])
        },
        unknown(
            "V.unknownText", "an unknown raw text", RawDocument(id: 2, mood: "unheard of", level: 0, text: "t"), field: "mood"
        ),
        unknown(
            "V.unknownNumber", "an unknown raw number", RawDocument(id: 2, mood: "busy", level: 3, text: "t"), field: "level"),
        unknown(
            "V.unknownForm", "a raw text in a different normal form or case",
            RawDocument(id: 2, mood: "Busy", level: 0, text: "t"), field: "mood"),
        ConformanceCase("V.unknownBesideOthers", "V3", title: "the rows beside an unreadable row can be read") { context in
            let database = try context.open()
            let (raw, dao) = (try database.dao(RawDocument.self), try database.dao(Document.self))
            try raw.create((1...5).map { RawDocument(id: $0, mood: $0 == 3 ? "?" : "calm", level: 0, text: "text \($0)") })
            try expectSame(try dao.read(byPrimaryKeys: [1, 5]).map(\.id), [1, 5])
            try expectSame(try dao.read { $0.id > 3 }.map(\.id), [4, 5])
            try expectSame(try dao.read { $0.mood == .calm }.map(\.id), [1, 2, 4, 5])
            try expectError(.corruptedValue, entity: "document", key: 3, field: "mood") { try dao.read() }
        },
        ConformanceCase(
            "Q.unreadableRowsAreReported", "Q8", "V3", title: "a read that reports unreadable rows gives all others"
        ) { context in
            let database = try context.open()
            let (raw, dao) = (try database.dao(RawDocument.self), try database.dao(Document.self))
            try raw.create(
                (1...6).map { RawDocument(id: $0, mood: $0 == 3 ? "?" : "calm", level: $0 == 5 ? 7 : 0, text: "text \($0)") })
            let errors = Shared<[StorageError]>([])
            let report = UnreadableRows.report { error in errors.change { $0.append(error) } }
            try expectSame(
                try dao.read(Query(orderedBy: [.descending(\.text)]), unreadable: report).map(\.id), [6, 4, 2, 1])
            try expectSame(errors.value.map(\.key), [UniqueID(5), UniqueID(3)])
            try expectSame(errors.value.map(\.field), ["level", "mood"])
            try expectSame(errors.value.map(\.kind), [.corruptedValue, .corruptedValue])
            try expectSame(try dao.read(unreadable: report).map(\.id), [1, 2, 4, 6])
            try expectEqual(errors.value.count, 4, "reports")
            try expectSame(try dao.read(Query(where: Condition { $0.id > 5 }), unreadable: report).map(\.id), [6])
            try expectEqual(errors.value.count, 4, "reports after a read of readable rows")
            try expectSame(try dao.storage.keys(Query()), (1...6).map { .integer($0) })
            try expectError(.corruptedValue, entity: "document", key: 3, field: "mood") { try dao.read(unreadable: .fail) }
            try expectError(.corruptedValue, entity: "document", key: 3, field: "mood") { try dao.read() }
        },
        ConformanceCase("V.unknownCanBeMended", "V3", title: "an unreadable row can be erased or replaced") { context in
            let database = try context.open()
            let (raw, dao) = (try database.dao(RawDocument.self), try database.dao(Document.self))
            try raw.create((1...3).map { RawDocument(id: $0, mood: "?", level: 0, text: "") })
            try expectEqual(try dao.erase(byPrimaryKey: 1), 1)
            try dao.persist(Document(id: 2, mood: .busy, level: .low, text: "mended"))
            try expectSame(try dao.read(byPrimaryKey: 2), Document(id: 2, mood: .busy, level: .low, text: "mended"))
            try expectError(.corruptedValue, entity: "document", key: 3, field: "mood") { try dao.read(byPrimaryKey: 3) }
        },
        ConformanceCase(
            "V.unknownInMerge", "V3", "W3", title: "merging into an unreadable row fails completely and changes nothing"
        ) { context in
            let database = try context.open()
            let (raw, storage) = (try database.dao(RawDocument.self), try database.storage(for: Document.self))
            try raw.create((1...3).map { RawDocument(id: $0, mood: $0 == 2 ? "?" : "calm", level: 0, text: "before") })
            try expectError(.corruptedValue, entity: "document", key: 2, field: "mood") {
                try storage.merge(keys: [.integer(1), .integer(2), .integer(3)]) { _, record in record?.text = "after" }
            }
            try expectSame(try raw.read().map(\.text), ["before", "before", "before"])
        },
    ]

    private static func unknown(_ id: String, _ what: String, _ row: RawDocument, field: String) -> ConformanceCase {
        ConformanceCase(id, "V3", title: "\(what) is corruptedValue with entity, key and field when it is read") { context in
            let database = try context.open()
            let (raw, dao) = (try database.dao(RawDocument.self), try database.dao(Document.self))
            try raw.create([RawDocument(id: 1, mood: "calm", level: -1, text: "good"), row])
            for (way, read) in [
                ("all", { _ = try dao.read() }), ("by key", { _ = try dao.read(byPrimaryKey: 2) }),
                ("by keys", { _ = try dao.read(byPrimaryKeys: [1, 2]) }), ("by query", { _ = try dao.read { $0.text == "t" } }),
                ("one by one", { try dao.forEach { _ in } }),
            ] as [(String, () throws -> Void)] {
                let error = try expectError(
                    .corruptedValue, "reading \(way)", entity: "document", key: 2, field: field, read)
                try expect(!"\(error)".contains("unheard of"), "no stored value in the error: \(error)")
            }
            try expectSame(try dao.read(byPrimaryKey: 1)?.text, "good")
        }
    }
}
