import DAOCore
import Foundation

/// Numbers at which an implementation goes another way, together with what makes the way visible: an order against that in which
/// rows are found, values that begin alike, and an offset in a stream.
enum ThresholdsQueries {
    private static func around(_ number: Int) -> [Int] { [number - 2, number - 1, number, number + 1, number + 2] }

    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "Q.countsOfMatches", "Q1", "Q3", "P7",
            title:
                "a condition that about a thousand rows meet, in an order of another field: the last row that is found comes first",
            isHeavy: true
        ) { context in
            let sizes = around(1024)
            let most = (sizes.max() ?? 0) + 200
            var rows: [Gauge] = []
            for (group, size) in sizes.enumerated() {
                rows += (0..<size).map { Gauge(id: group * most + $0, group: group, rank: group * most + $0, turn: -$0) }
            }
            let reference = try ReferenceRows(context, rows)
            for (group, size) in sizes.enumerated() {
                let condition = Condition<Gauge> { $0.group == group }
                for (order, isReversed): (Sort<Gauge>, Bool) in [
                    (.descending(\.rank), true), (.ascending(\.rank), false), (.ascending(\.turn), true),
                ] {
                    for limit in [1, 300] {
                        let expected = (0..<size).map { group * most + $0 }
                        try expectEqual(
                            try reference.ids(Query(where: condition, orderedBy: [order], limit: limit)),
                            Array((isReversed ? expected.reversed() : expected).prefix(limit)),
                            "the first \(limit) of \(size) rows")
                    }
                }
                try expectEqual(try reference.dao.count(where: condition), size, "the number of rows")
            }
        },
        ConformanceCase(
            "Q.firstOfManyAlike", "Q1", "Q2", "P2",
            title: "the first of thousands of rows whose sorted values begin alike, whatever the order in which they are found"
        ) { context in
            let count = 3000
            let dao = try context.dao(Alike.self)
            let mixed: [Int] = (0..<count).map { $0 * 1543 % count }
            for order: [Int] in [Array(0..<count), (0..<count).reversed(), mixed] {
                try dao.erase()
                // A key and a text of each row; the texts have their first 13 bytes in common.
                try dao.create(
                    order.enumerated().map { id, number in
                        Alike(id: id, text: "beginning all \(100_000 + number)", half: number / 2)
                    })
                let ids = Dictionary(order.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { $1 })
                let ascending = (0..<count).compactMap { ids[$0] }
                func halves(_ limit: Int) -> [Int] { (0..<limit).map { place in (count - 1 - place) / 2 } }
                for limit in [1, 512, 513] {
                    try expectEqual(
                        try dao.read(orderedBy: .ascending(\.text), limit: limit).map(\.id), Array(ascending.prefix(limit)),
                        "the first \(limit) texts")
                    try expectEqual(
                        try dao.read(orderedBy: .descending(\.text), limit: limit).map(\.id),
                        Array(ascending.reversed().prefix(limit)),
                        "the last \(limit) texts")
                    try expectEqual(
                        try dao.read(orderedBy: .descending(\.half), .ascending(\.text), limit: limit).map(\.half),
                        halves(limit), "the last \(limit) numbers")
                }
            }
        },
        ConformanceCase(
            "W.uniqueLongPart", "W6", "Q9",
            title: "texts that differ after any number of bytes are different in a unique index, whatever the other field is"
        ) { context in
            for length in [50, 79, 80, 81, 119, 120, 121, 239, 240, 241, 400] {
                let dao = try context.dao(LongPart.self)
                try dao.erase()
                let start = String(repeating: "a", count: length)
                let rows = [
                    LongPart(id: 1, first: start + "b", second: "x"), LongPart(id: 2, first: start + "c", second: "x"),
                    LongPart(id: 3, first: "x", second: start + "b"), LongPart(id: 4, first: "x", second: start + "c"),
                    LongPart(id: 5, first: start + "b", second: start + "b"),
                    LongPart(id: 6, first: start + "c", second: start + "b"),
                    LongPart(id: 7, first: start + "b", second: nil), LongPart(id: 8, first: start + "b", second: nil),
                ]
                try dao.create(rows)
                try expectSame(try dao.read(), rows, "the rows with \(length) equal bytes")
                for row in rows.prefix(6) {
                    var other = row
                    other.id = 10
                    try expectError(
                        .uniqueViolation, "\(length) equal bytes and more", entity: "longpart", key: 10,
                        conflictingKey: UniqueID(row.id), field: "first, second"
                    ) { try dao.persist(other) }
                    try expectEqual(
                        try dao.read { $0.first == row.first && $0.second == row.second }.map(\.id), [row.id],
                        "the row by its index")
                }
            }
        },
        ConformanceCase("V.lengthsOfRows", "V1", "V3", title: "a row comes back whole, whatever the length of all its values is")
        {
            context in
            let dao = try context.dao(Sheet.self)
            // The values of a row have some bytes beside its texts, so that each sum is met.
            for middle in [256, 4096, 32_768, 65_536] {
                let ends: [String?] = [nil, "", "e"]
                let rows = (0...80).map { step -> Sheet in
                    let text = String(repeating: "t", count: middle - 70 + step)
                    return Sheet(id: step, text: text, note: step % 2 == 0 ? nil : "", end: ends[step % 3])
                }
                try dao.persist(rows)
                try expectSame(try dao.read(), rows, "rows of about \(middle) bytes")
                try expectEqual(
                    try dao.read { $0.end == nil }.map(\.id), rows.filter { $0.end == nil }.map(\.id), "rows without an end")
                try expectEqual(
                    try dao.read { $0.end == "e" }.map(\.id), rows.filter { $0.end == "e" }.map(\.id), "rows with an end")
            }
        },
        ConformanceCase(
            "Q.streamOfRelated", "Q6", "Q3", "P5",
            title: "a stream of rows by their related rows, with a limit and an offset, over any number of batches"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            let owners = (0..<3).map { Person(id: $0, name: "owner \($0)") }
            try database.dao(Person.self).create(owners)
            let count = 900
            func id(_ number: Int) -> String { "t\(1000 + number)" }
            try topics.create(
                (0..<count).map {
                    Topic(id: id($0), owner: owners[$0 % 3], posts: [Post(id: $0, text: "p", isRead: $0 % 9 == 0)])
                })
            let unread = Condition<Topic> { $0.posts.contains { !$0.isRead } }
            let byOwner: [Sort<Topic>] = [.descending(\.owner, \.name)]
            for (what, condition, order) in [("children", unread, []), ("the owner", .all, byOwner), ("both", unread, byOwner)] {
                let all = try topics.read(Query(where: condition, orderedBy: order)).map(\.id)
                try expect(all.count >= 800, "rows by \(what): \(all.count)")
                for (limit, offset) in [(nil, 0), (nil, 5), (nil, 257), (700, 3), (256, 1), (257, 256), (1, 799), (nil, 900)]
                    as [(Int?, Int)]
                {
                    let cursor = try topics.storage.cursor(
                        Query(where: condition, orderedBy: order, limit: limit, offset: offset))
                    var streamed: [String] = []
                    while case let batch = try cursor.next(100), !batch.isEmpty { streamed += batch.map(\.id) }
                    cursor.close()
                    try expectEqual(
                        streamed, Array(all.dropFirst(offset).prefix(limit ?? .max)), "by \(what), \(limit ?? -1) after \(offset)"
                    )
                }
            }
        },
        ConformanceCase(
            "Q.unreadableRelated", "Q8", "R6", "V3",
            title: "a read that leaves lists out reports only rows that it cannot read itself"
        ) { context in
            let database = try context.open()
            let raw = try database.dao(RawDocument.self)
            let folders = try database.dao(DocumentFolder.self)
            try raw.create((1...4).map { RawDocument(id: $0, mood: "calm", level: 0, text: "") })
            let documents = try database.dao(Document.self).read()
            try expectEqual(documents.map(\.id), [1, 2, 3, 4])
            try folders.create((1...4).map { DocumentFolder(id: $0, mood: .calm, documents: [documents[$0 - 1]]) })
            try raw.persist(RawDocument(id: 2, mood: "?", level: 0, text: ""))
            try database.dao(RawDocumentFolder.self).persist(RawDocumentFolder(id: 3, mood: "?"))
            let errors = Shared<[StorageError]>([])
            let report = UnreadableRows.report { error in errors.change { $0.append(error) } }
            var query = Query<DocumentFolder>()
            try expectEqual(try folders.read(query, unreadable: report).map(\.id), [1, 4], "the rows with their lists")
            try expectEqual(errors.value.map(\.entity), ["document", "folder"], "what cannot be read with lists")
            errors.change { $0 = [] }
            query.includesSubentities = false
            try expectEqual(try folders.read(query, unreadable: report).map(\.id), [1, 2, 4], "the rows without lists")
            try expectEqual(errors.value.map(\.key), [UniqueID(3)], "what cannot be read without lists")
        },
        ConformanceCase(
            "Q.unreadableEndsStream", "Q6", "Q8", "L2",
            title: "a stream that an unreadable row or related row ends holds nothing of the database",
            requires: [.file]
        ) { context in
            for (isRelated, isClosed) in [(true, true), (true, false), (false, true), (false, false)] {
                let database = try context.open()
                let raw = try database.dao(RawDocument.self)
                let folders = try database.dao(DocumentFolder.self)
                try raw.persist((1...4).map { RawDocument(id: $0, mood: "calm", level: 0, text: "") })
                let documents = try database.dao(Document.self).read()
                try folders.persist((1...4).map { DocumentFolder(id: $0, mood: .calm, documents: [documents[$0 - 1]]) })
                if isRelated {
                    try raw.persist(RawDocument(id: 2, mood: "?", level: 0, text: ""))
                } else {
                    try database.dao(RawDocumentFolder.self).persist(RawDocumentFolder(id: 2, mood: "?"))
                }
                var read: [Int] = []
                // A program can keep a cursor that has thrown.
                var cursor: RowCursor<DocumentFolder>?
                try expectError(.corruptedValue, entity: isRelated ? "document" : "folder", key: 2, field: "mood") {
                    let opened = try folders.storage.cursor(Query())
                    cursor = opened
                    while let folder = try opened.next(1).first { read.append(folder.id) }
                }
                try expect(read.isEmpty || read == [1], "at most the rows before it: \(read)")
                if isClosed {
                    cursor?.close()
                    _ = try database.compact()
                }
                try database.close()
                try expectEqual(openFiles(in: context.location.directory), [], "open files after close")
                withExtendedLifetime(cursor) {}
            }
        },
    ]
}

/// A row in one of some groups, and two orders of its group.
private struct Gauge: Numbered {
    var id: Int
    var group: Int
    var rank: Int
    var turn: Int

    static let schema = Schema(
        "gauge", Self.init,
        Field("id", \.id, .primaryKey), Field("group", \.group, .indexed), Field("rank", \.rank, .indexed), Field("turn", \.turn))
}

private struct Alike: Plain, Model, Equatable {
    var id: Int
    var text: String
    var half: Int

    static let schema = Schema(
        "alike", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text), Field("half", \.half))
}

private struct LongPart: Plain, Model, Equatable {
    var id: Int
    var first: String
    var second: String?

    static let schema = Schema(
        "longpart", Self.init, Field("id", \.id, .primaryKey), Field("first", \.first), Field("second", \.second),
        indexes: [Index(\.first, \.second, isUnique: true)])
}

private struct Sheet: Plain, Model, Equatable {
    var id: Int
    var text: String
    var note: String?
    var end: String?

    static let schema = Schema(
        "sheet", Self.init,
        Field("id", \.id, .primaryKey), Field("text", \.text), Field("note", \.note), Field("end", \.end))
}

private struct DocumentFolder: Plain, Model, Equatable {
    var id: Int
    var mood: Mood
    var documents: [Document]?

    static let schema = Schema(
        "folder", Self.init, Field("id", \.id, .primaryKey), Field("mood", \.mood), Field("documents", \.documents, .linked))
}

/// The same rows, with the text of the mood.
private struct RawDocumentFolder: Plain, Model, Equatable {
    var id: Int
    var mood: String
    var documents: [RawDocument]?

    static let schema = Schema(
        "folder", Self.init, Field("id", \.id, .primaryKey), Field("mood", \.mood), Field("documents", \.documents, .linked))
}
