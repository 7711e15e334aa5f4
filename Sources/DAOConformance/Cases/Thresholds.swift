import DAOCore
import Foundation

/// Numbers at which an implementation goes another way: batches, buffers, lists that become tables, texts that an index cuts. A
/// backend names its own in `Scripts/constants.json`; these are all of them, each with the number before and after.
enum Thresholds {
    /// Numbers of rows, keys and values.
    private static let counts = around([8, 16, 32, 64, 100, 128, 256, 500, 1000, 1024])
    /// Numbers of rows that take longer.
    private static let manyCounts = around([4096, 5000, 10_000])
    /// Lengths of texts and data, in bytes.
    private static let lengths = around([8, 16, 64, 80, 120, 128, 240, 256, 511, 1000, 1024, 4096, 32_768, 65_536])

    private static func around(_ numbers: [Int]) -> [Int] { numbers.flatMap { [$0 - 1, $0, $0 + 1] } }

    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "W.countsOfRows", "W1", "W5", "Q4", title: "a call writes, reads and erases any number of rows", isHeavy: true
        ) {
            context in
            try checkWrites(of: counts, context)
        },
        ConformanceCase(
            "W.countsOfManyRows", "W1", "W5", "Q4", title: "a call writes, reads and erases any number of thousands of rows",
            isHeavy: true
        ) { context in
            try checkWrites(of: manyCounts, context)
        },
        ConformanceCase(
            "Q.countsOfRows", "Q3", "Q6", "Q7", "Q11", title: "limits, offsets, streams, groups and totals of any number of rows",
            isHeavy: true
        ) { context in
            let most = counts.max() ?? 0
            let rows = (0..<most + 10).map { Item(id: $0, name: "\($0)", number: $0 * 7 % 5, note: $0 % 3 == 0 ? nil : "n\($0)") }
            let reference = try ReferenceRows(context, rows)
            let (dao, storage) = (reference.dao, reference.dao.storage)
            for count in counts {
                for order: [Sort<Item>] in [[], [.descending(\.number)], [.ascending(\.note)]] {
                    try reference.checkReference(Query(orderedBy: order, limit: count), "\(count) rows, \(order.count) sorts")
                    try reference.checkReference(Query(orderedBy: order, limit: 3, offset: count), "rows after \(count)")
                }
                let condition = Condition<Item> { $0.id < count }
                let cursor = try storage.cursor(Query(where: condition))
                var streamed: [Int] = []
                while case let batch = try cursor.next(256), !batch.isEmpty { streamed += batch.map(\.id) }
                cursor.close()
                try expectEqual(streamed, Array(0..<count), "a stream of \(count) rows")
                try expectEqual(try dao.sum(\.id, where: { $0.id < count }), count * (count - 1) / 2, "the sum of \(count) rows")
                try expectEqual(try dao.distinct(\.name, where: { $0.id < count }).count, count, "\(count) different names")
            }
        },
        ConformanceCase(
            "Q.countsOfEntities", "Q7", "E3", "E8", title: "each of any number of entities has its own rows",
            requires: [.evolution, .snapshotReads], isHeavy: true
        ) { context in
            // Only a database with entities has steps to run.
            let (database, items) = try context.open(with: Item.self)
            try items.create(Item.make(1...3))
            let numbers = Array(1...40)
            func rows(_ number: Int) -> Int { number % 3 + 1 }
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            for number in numbers {
                                let key = FieldDescription(name: "id", type: FieldType(.int64), isPrimaryKey: true)
                                // The first have no index.
                                let size = FieldDescription(name: "size", type: FieldType(.int64), isIndexed: number > 34)
                                try step.createEntity(EntityDescription(name: "entity\(number)", fields: [key, size]))
                            }
                        }
                    ]))
            try database.transaction {
                for number in numbers {
                    let new = (1...rows(number)).map { ["id": Value.integer(Int64($0)), "size": .integer(Int64(number))] }
                    try database.rows(of: "entity\(number)").persist(new)
                }
            }
            func check(_ what: String, _ expected: (Int) -> Int) throws {
                for number in numbers {
                    let entity = try database.rows(of: "entity\(number)")
                    try expectEqual(try entity.count(), expected(number), "the number of rows of entity \(number) \(what)")
                    let found = try entity.read()
                    try expectEqual(
                        found.map { $0["size"] }, Array(repeating: .integer(Int64(number)), count: expected(number)),
                        "the rows of entity \(number) \(what)")
                    try expectEqual(
                        try entity.count(where: TextPredicate("size == %@", number)), expected(number),
                        "the number of rows with a value of entity \(number) \(what)")
                }
            }
            try check("at first", rows)
            try expectEqual(try items.count(), 3, "the number of items")
            try database.transaction {
                for number in numbers where number % 2 == 0 { try database.rows(of: "entity\(number)").erase(byPrimaryKey: 1) }
            }
            try check("after an erasure") { rows($0) - ($0 % 2 == 0 ? 1 : 0) }
            try expectEqual(try database.verify().rows["entity31"], rows(31), "the rows that a verification finds")
        },
        ConformanceCase("P.countsOfValues", "P4", title: "a list of any number of values, by key, by index and by neither") {
            context in
            let most = (counts + [5000]).max() ?? 0
            // Every second number is stored.
            let rows = stride(from: 0, to: 2100, by: 2).map { Item(id: $0, name: "\($0)", number: $0) }
            let reference = try ReferenceRows(context, rows)
            for count in counts + [most - 1, most, most + 1] {
                // The last value of the list is stored, and decides.
                let values = (0..<count).map { $0 == count - 1 ? 2098 : $0 * 2 + 1 }
                let expected = [2098]
                try expectEqual(try reference.ids(Condition { $0.id.in(values) }), expected, "\(count) keys")
                try expectEqual(try reference.ids(Condition { $0.number.in(values) }), expected, "\(count) values by an index")
                try expectEqual(try reference.ids(Condition { $0.name.in(values.map(String.init)) }), expected, "\(count) texts")
                let members = Array(0..<min(count, 1050)).map { $0 * 2 }
                try expectEqual(try reference.ids(Condition { $0.number.in(members) }), members, "\(members.count) stored values")
            }
        },
        ConformanceCase(
            "Q.distancesOfKeys", "Q4", "W2", title: "rows by keys that are any distance apart, stored or not", isHeavy: true
        ) {
            context in
            let dao = try context.dao(Item.self)
            let rows = Item.make((0...1100).filter { $0 % 7 != 3 })
            try dao.create(rows)
            // All keys are the same distance apart, or only each tenth one is.
            for (distance, isTenth) in (1...40).flatMap({ [($0, false), ($0, true)] }) {
                for first in [0, 3, 5] {
                    var keys = [first]
                    while let last = keys.last, last < 1150 {
                        keys.append(last + (isTenth && keys.count % 10 > 0 ? 1 : distance))
                    }
                    try expectEqual(
                        try dao.read(byPrimaryKeys: keys.map { UniqueID($0) }).map(\.id),
                        keys.filter { $0 <= 1100 && $0 % 7 != 3 },
                        "rows \(distance) keys apart\(isTenth ? " at each tenth" : ""), from \(first)")
                    var isThere: [Bool] = []
                    _ = try dao.storage.merge(keys: keys.map { .integer(Int64($0)) }) { isThere.append($1 != nil) }
                    try expectEqual(
                        isThere, keys.map { $0 <= 1100 && $0 % 7 != 3 },
                        "what a merge finds \(distance) keys apart\(isTenth ? " at each tenth" : ""), from \(first)")
                }
            }
        },
        ConformanceCase("P.countsOfConditions", "P1", "P7", title: "conditions of any number of parts and levels") { context in
            let rows = (0..<60).map { Item(id: $0, name: "\($0 % 7)", number: $0 % 11, note: $0 % 4 == 0 ? nil : "\($0 % 5)") }
            let reference = try ReferenceRows(context, rows)
            // No part says what another one does, and those of an index are beside others.
            func part(_ number: Int) -> Condition<Item> {
                switch number % 3 {
                case 0: Condition { $0.number == number % 11 && $0.id > number % 50 }
                case 1: Condition { $0.name == "\(number % 7)" }
                default: Condition { $0.note == "\(number % 5)" && $0.number < number % 13 }
                }
            }
            for count in around([3, 4, 8, 16, 20, 32, 64, 100, 500]) {
                let parts = (0..<count).map(part)
                let any = parts.dropFirst().reduce(parts[0]) { $0 || $1 }
                try reference.checkReference(any, "any of \(count) conditions")
                let none = parts.dropFirst().reduce(!parts[0]) { $0 && !$1 }
                try reference.checkReference(none, "none of \(count) conditions")
            }
            for depth in around([4, 8, 16, 20, 32, 64]) {
                let levels = (1...depth).reduce(part(0)) { $1 % 2 == 0 ? $0 && !part($1 * 7) : $0 || part($1 * 5) }
                try reference.checkReference(levels, "\(depth) levels")
                try reference.checkReference(
                    Query(where: levels, orderedBy: [.descending(\.number)], limit: 9), "the first of \(depth) levels")
            }
        },
        ConformanceCase(
            "P.lengthsOfTexts", "P2", "V1", "Q1", title: "texts of any length are found, compared and sorted to their last byte",
            isHeavy: true
        ) { context in
            // Of each length two texts that differ in their last byte, and one that ends in a combining mark.
            let texts = lengths.flatMap { length -> [String] in
                let start = String(repeating: "a", count: length - 1)
                return [start + "b", start + "c", String(start.dropLast()) + "\u{301}"]
            }
            let rows = texts.enumerated().map { Computed(id: $0.offset, text: $0.element) }
            let reference = try ReferenceRows(context, rows)
            try expectSame(try reference.dao.read(), rows)
            try reference.checkReference(Query(orderedBy: [.ascending(\.text)]), "the order of texts")
            try reference.checkReference(Query(orderedBy: [.descending(\.text)], limit: 7), "the last texts")
            for row in rows {
                let length = row.text.utf8.count
                let text = row.text
                try reference.checkReference(Query(where: Condition { $0.text == text }), "a text of \(length) bytes")
                try reference.checkReference(Query(where: Condition { $0.text.hasPrefix(text) }), "a prefix of \(length) bytes")
                try reference.checkReference(Query(where: Condition { $0.text > text }), "what is after \(length) bytes")
                try reference.checkReference(Query(where: Condition { $0.text.in([text, "-"]) }), "a list with \(length) bytes")
                try reference.checkReference(
                    Query(where: Condition { $0.text.contains(String(text.suffix(9))) }, limit: 5), "the end of \(length) bytes")
            }
        },
        ConformanceCase("V.lengthsOfData", "V1", title: "texts and data of any length come back, beside others that are nil") {
            context in
            let dao = try context.dao(Blob.self)
            let rows = lengths.enumerated().map { index, length in
                Blob(
                    id: index, text: String(repeating: "é", count: length / 2) + (length % 2 == 0 ? "" : "."),
                    data: Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ length) }))
            }
            try dao.create(rows)
            try expectSame(try dao.read(), rows)
            try dao.persist(
                rows.reversed().enumerated().map { Blob(id: $0.offset, text: $0.element.text, data: $0.element.data) })
            try expectSame(
                try dao.read(),
                rows.reversed().enumerated().map { Blob(id: $0.offset, text: $0.element.text, data: $0.element.data) },
                "the rows with the lengths of others")
        },
        ConformanceCase("R.countsOfParents", "R1", "R4", title: "lists of any number of parents, with and without gaps") {
            context in
            let (database, dao) = try context.open(with: Digest.self)
            let digests = (1...520).map { id in
                Digest(id: id, posts: (0..<id % 3).map { Post(id: id * 10 + $0, text: "\(id) \($0)") })
            }
            try dao.create(digests)
            for count in around([3, 8, 16, 64, 256, 500]) {
                try expectSame(
                    try dao.read(byPrimaryKeys: (1...count).map { UniqueID($0) }), Array(digests.prefix(count)),
                    "\(count) parents")
                let apart: [Int] = Array(stride(from: 1, through: 520, by: max(1, 520 / count)).prefix(count))
                try expectSame(
                    try dao.read(byPrimaryKeys: apart.map { UniqueID($0) }), apart.map { digests[$0 - 1] },
                    "\(apart.count) parents with gaps")
            }
            // The rows of these lists have lists themselves, those of others have none.
            let queues = (1...520).map { id in
                Queue(id: id, name: "\(id)", entries: (0..<id % 3).map { QueueEntry(id: id * 10 + $0, rank: id * 10 + $0) })
            }
            let others = try database.dao(Queue.self)
            try others.create(queues)
            func expectQueues(_ expected: [Queue], _ found: [Queue], _ what: String) throws {
                try expectEqual(
                    found.map { "\($0.id) \($0.entries.map(\.id))" }, expected.map { "\($0.id) \($0.entries.map(\.id))" }, what)
            }
            // The parents around one that a condition leaves out, and around one that is not there.
            for gap in [2, 5, 9, 257, 500] {
                try expectSame(
                    try dao.read { $0.id != gap }, digests.filter { $0.id != gap }, "the parents but for number \(gap)")
                try expectQueues(
                    queues.filter { $0.id != gap }, try others.read { $0.id != gap }, "the parents but for number \(gap)")
                try expectQueues(
                    queues.filter { $0.id > gap - 2 && $0.id < gap + 20 && $0.id != gap },
                    try others.read { $0.id > gap - 2 && $0.id < gap + 20 && $0.id != gap }, "the parents around number \(gap)")
            }
            try expectRollback(of: database) {
                try dao.erase { $0.id.in([3, 11, 260]) }
                try expectSame(try dao.read(), digests.filter { ![3, 11, 260].contains($0.id) }, "the parents that are left")
            }
            try dao.erase { $0.id > 520 - 65 }
            try expectEqual(try dao.count(), 520 - 65, "the parents that are left")
            let left = digests.prefix(520 - 65)
            try expectEqual(
                try database.dao(Post.self).count(), left.map(\.posts.count).reduce(0, +), "the children of those that are left")
        },
        ConformanceCase(
            "R.countsOfTotals", "R13", "R12", title: "totals of the related rows of any number of rows", isHeavy: true
        ) { context in
            let (database, digests) = try context.open(with: Digest.self)
            let errands = try database.dao(Errand.self)
            let people = try database.dao(Person.self)
            let most = 1200
            try digests.create(
                (1...most).map { Digest(id: $0, posts: [Post(id: $0, text: "1"), Post(id: 5000 + $0, text: "2")]) })
            try people.create((1...most).map { Person(id: $0, name: "\($0)") })
            try errands.create((1...most).map { Errand(id: $0, owner: Reference($0), helper: Reference($0)) })
            for count in around([16, 64, 256, 1000]) + [most] {
                let lists = try digests.read(with: \.posts, totals: .count, .sum(\.id)) { $0.id <= count }
                try expectEqual(lists.map(\.1), Array(repeating: 2, count: count), "the lengths of \(count) lists")
                try expectEqual(lists.map(\.2), (1...count).map { 5000 + 2 * $0 }, "the sums of \(count) lists")
                let inverses = try people.read(with: Person.help, totals: .count, .max(\.id)) { $0.id <= count }
                try expectEqual(inverses.map(\.1), Array(repeating: 1, count: count), "those that refer to \(count) rows")
                try expectEqual(inverses.map { $0.2 ?? 0 }, Array(1...count), "the last that refer to \(count) rows")
                let last = try people.read(
                    with: Person.help, totals: .count, orderedByTotals: .descending(.max(\.id)), limit: 1
                ) { $0.id <= count }
                try expectEqual(last.map(\.0.id), [count], "the first of \(count) rows by a total")
            }
        },
        ConformanceCase(
            "E.countsOfIndexedRows", "E2", "E3", "Q9", title: "an index is added to any number of rows", requires: [.evolution],
            isHeavy: true
        ) { context in
            for count in [1001, 4096, 4097, 8193] {
                func check(_ rows: DAO<NoteWithIndexes>, _ what: String) throws {
                    // The ranks are those from 0, in another order.
                    try expectEqual(try rows.count { $0.rank >= 0 }, count, "\(count) rows by an index that \(what) has added")
                    for rank in [0, 998, count - 1] {
                        try expectEqual(try rows.count { $0.rank == rank }, 1, "one of \(count) rows by an index of \(what)")
                    }
                    try expectEqual(
                        try rows.read(orderedBy: .descending(\.rank), limit: 3).map(\.rank), [count - 1, count - 2, count - 3],
                        "the last of \(count) rows by an index of \(what)")
                    try expectError(
                        .uniqueViolation, "the last title", entity: "note", key: -1, conflictingKey: UniqueID(count),
                        field: "title"
                    ) {
                        try rows.create(NoteWithIndexes(id: -1, title: "Title \(count) é", rank: 0, mark: nil))
                    }
                }
                var database = try context.openOther("m\(count)")
                let notes = (0..<count).map { NoteV1(id: $0 + 1, title: "Title \($0 + 1) é", rank: $0 * 1009 % count, mark: nil) }
                try database.dao(NoteV1.self).create(notes)
                try database.evolve(
                    Evolution(
                        version: 1,
                        migrations: [
                            Migration(to: 1) { step in
                                try step.setIndex(on: "rank", of: "note", isIndexed: true)
                                try step.setIndex(on: "title", of: "note", isIndexed: true, isUnique: true)
                            }
                        ]))
                try check(try database.dao(NoteWithIndexes.self), "a step")
                try database.close()
                database = try context.openOther("d\(count)")
                try database.dao(NoteV1.self).create(notes)
                try context.renew(&database, other: "d\(count)")
                try check(try database.dao(NoteWithIndexes.self), "a declaration")
                try database.close()
            }
        },
        ConformanceCase("R.lengthsOfKeys", "R1", "R4", "K3", title: "parents and children whose keys have any length") {
            context in
            let (database, dao) = try context.open(with: KeyRing.self)
            let keys = [1, 8, 16, 118, 119, 120, 121, 239, 240, 241, 255, 256].map { length -> [String] in
                (0..<2).map { String(repeating: "k", count: length - 1) + "\($0)" }
            }
            let rings = keys.flatMap { pair -> [KeyRing] in
                pair.map { id in
                    KeyRing(id: id, keys: keys.reversed().map { KeyedBy(id: $0[id.hasSuffix("1") ? 1 : 0], note: id) })
                }
            }
            // A child has the note of the ring that was written last.
            for ring in rings { try dao.persist(ring) }
            for ring in rings {
                try expectEqual(
                    try require(try dao.read(byPrimaryKey: ring.id), "the ring").keys.map(\.id), ring.keys.map(\.id),
                    "the children of a parent of \(ring.id.utf8.count) bytes")
            }
            let children = try database.dao(KeyedBy<String>.self)
            for pair in keys {
                try children.erase(byPrimaryKey: pair[1])
                let left = try require(try dao.read(byPrimaryKey: keys[0][1]), "the ring")
                try expect(!left.keys.map(\.id).contains(pair[1]), "no erased child of \(pair[1].utf8.count) bytes")
                let other = try require(try dao.read(byPrimaryKey: keys[0][0]), "the other ring")
                try expectEqual(other.keys.count, keys.count, "the children of the other ring")
                let gone = keys.prefix { $0 != pair }.count + 1
                try expectEqual(
                    try dao.count { $0.keys.count == keys.count - gone }, keys.count,
                    "the rings without the erased children of up to \(pair[1].utf8.count) bytes")
                try expectEqual(
                    try dao.count { $0.keys.contains { $0.id == pair[0] } }, keys.count,
                    "the rings with a child of \(pair[0].utf8.count) bytes")
            }
            try database.expectVerified()
        },
        ConformanceCase(
            "E.countsOfCopiedRows", "E5", "L9", title: "a copy and a verification have any number of rows and lists",
            requires: [.evolution], isHeavy: true
        ) { context in
            for (lists, rows) in [(999, 4095), (1000, 4096), (1001, 4097), (2, 9999), (2, 10_000), (2, 10_001)] {
                let source = try context.openOther("s\(rows)")
                try source.dao(Item.self).create(Item.make(1...rows))
                let digests = (1...lists).map { Digest(id: $0, posts: [Post(id: $0, text: "\($0)")]) }
                try source.dao(Digest.self).create(digests)
                let target = try context.openOther("t\(rows)")
                try source.copy(to: target)
                try expectSame(try target.dao(Item.self).read(), Item.make(1...rows), "\(rows) rows of a copy")
                try expectSame(try target.dao(Digest.self).read(), digests, "\(lists) lists of a copy")
                try expectEqual(try target.verify().rows["item"], rows, "the rows of a verification")
                try source.close()
                try target.close()
            }
        },
    ]

    /// Writes, reads and erases numbers of rows, each in one call.
    private static func checkWrites(of counts: [Int], _ context: ConformanceContext) throws {
        let (database, dao) = try context.open(with: Item.self)
        for count in counts {
            let rows = Item.make(1...count)
            try dao.create(rows)
            try expectEqual(try dao.count(), count, "the count of \(count) rows")
            let last = try require(rows.last, "a row")
            try expectSame(try dao.read(byPrimaryKey: count), last, "the last of \(count) rows")
            try expectSame(try dao.read { $0.number == count * 10 }, [last], "the last of \(count) rows, by its index")
            try expectEqual(
                try dao.read(byPrimaryKeys: (1...count).reversed().map { UniqueID($0) }).map(\.id), (1...count).reversed(),
                "\(count) rows by their keys")
            try expectError(.duplicateKey, "\(count) rows again", entity: "item", key: UniqueID(count), field: "id") {
                try dao.create((0..<count - 1).map { Item(id: -1 - $0, name: "") } + [last])
            }
            try expectEqual(try dao.count(), count, "the count after a call that failed")
            try dao.persist(rows.map { Item(id: $0.id, name: $0.name, number: -$0.id) })
            try expectEqual(try dao.count { $0.number < 0 }, count, "\(count) rows that were persisted")
            try expectEqual(try dao.update(where: { $0.id > 0 }) { $0.number = 5 }, count, "\(count) rows that were updated")
            try expectEqual(try dao.set(\.number, to: 6) { $0.number == 5 }, count, "\(count) rows that were set")
            try expectRollback(of: database) { try expectEqual(try dao.erase { $0.number == 6 }, count, "\(count) erased rows") }
            try expectEqual(try dao.count { $0.number == 6 }, count, "the count after a rollback")
            try expectEqual(try dao.erase(), count, "\(count) erased rows")
            try expectEqual(try dao.count(), 0, "the rows that are left of \(count)")
        }
    }
}

extension Computed: Numbered {}
