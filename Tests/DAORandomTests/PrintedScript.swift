// swift-format-ignore-file
import DAOConformance
import DAOCore
import Foundation
import Testing

// Made by RandomProof.run(on: target, seed: 42, operations: 250), where target is sqlite.
@Test func seed42() throws {
    try RandomProof.script(on: target) { open, openNeighbour in
        var database = try open()
        var neighbour = try openNeighbour()
        var wides = DAO(storage: try database.storage(for: RandomProof.Wide.self))
        var notes = DAO(storage: try database.storage(for: RandomProof.Note.self))
        var tallies = DAO(storage: try database.storage(for: RandomProof.Tally.self))
        RandomProof.outcome { try notes.create(RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7)) }
        RandomProof.outcome { try notes.create([RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
        RandomProof.outcome { try notes.persist([RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
        RandomProof.outcome { try DAO(storage: notes.storage, translator: RandomProof.Merging<RandomProof.Note>()).persist([RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
        RandomProof.outcome { try wides.storage.persist(objects: [RandomProof.Wide(id: 0, flag: true, count: 18446744073709551615, ratio: -Float.infinity, real: -0.0, realTwin: -0.0, price: Decimal(string: "-2.5")!, text: String(repeating: "p", count: 300) + "\"\\", bytes: Data(repeating: 7, count: 600), token: UUID(uuidString: "7FFFFFFF-0000-0000-0000-000000000000")!, site: URL(string: "a")!, date: Date(timeIntervalSinceReferenceDate: Double.nan), mood: RandomProof.Mood.none, tags: ["a"], shape: RandomProof.Shape(name: "box", sides: 4))]) }
        RandomProof.outcome { () throws -> Int in
            let rows = [RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]
            return try notes.storage.merge(keys: rows.map { try RandomProof.Note.schema.validKey(of: $0) }) { index, record in
                if index == 2 { throw RandomProof.Abort() }
                if var stored = record {
                    try RandomProof.Merging<RandomProof.Note>().translate(from: rows[index], to: &stored)
                    record = stored
                } else { record = rows[index] }
            }
        }
        RandomProof.outcome { () throws -> Int in
            let rows = [RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]
            return try notes.storage.merge(keys: rows.map { try RandomProof.Note.schema.validKey(of: $0) }) { index, record in
                if var stored = record {
                    try RandomProof.Merging<RandomProof.Note>().translate(from: rows[index], to: &stored)
                    record = stored
                }
            }
        }
        RandomProof.outcome { () throws -> Int in
            var index = 0
            return try notes.storage.update(Query<RandomProof.Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))) { record in
                if index == 1 { throw RandomProof.Abort() }
                record.body = "body"
                index += 1
            }
        }
        RandomProof.outcome { () throws -> Int in
            return try notes.storage.update(Query<RandomProof.Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))) { record in
                record.rank = 8
            }
        }
        RandomProof.outcome { try notes.findOrCreate(byPrimaryKey: UniqueID("b\u{0}")) { RandomProof.Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7) } }
        RandomProof.outcome { try notes.erase([RandomProof.Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
        RandomProof.outcome { try notes.erase(byPrimaryKeys: [UniqueID("x"), UniqueID("y")] as [UniqueID]) }
        RandomProof.outcome { try notes.storage.erase(Query<RandomProof.Note>(where: Condition(.constant(false)))) }
        RandomProof.outcome { try tallies.erase() }
        RandomProof.outcome { try notes.read(byPrimaryKey: UniqueID("a")) }
        RandomProof.outcome { try notes.read(byPrimaryKeys: [UniqueID("b\u{0}"), UniqueID("a")] as [UniqueID]) }
        RandomProof.outcome { try notes.count(Query<RandomProof.Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))) }
        RandomProof.outcome { try notes.storage.keys(Query<RandomProof.Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))) }
        RandomProof.outcome { try notes.storage.count(Query<RandomProof.Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))) > 0 }
        RandomProof.outcome { try notes.exists(byPrimaryKey: UniqueID("a")) }
        RandomProof.total { try wides.average(\.realTwin, predicatedBy: .all) }
        RandomProof.outcome { () throws -> [RandomProof.Note] in
            var rows: [RandomProof.Note] = []
            do {
                try notes.forEach(Query<RandomProof.Note>()) { record in
                    if rows.count == 1 { throw RandomProof.Abort() }
                    rows.append(record)
                }
            } catch is RandomProof.Abort {}
            return rows
        }
        RandomProof.outcome { () throws -> [[RandomProof.Note]] in
            let cursor = try notes.storage.cursor(Query<RandomProof.Note>())
            let first = try RandomProof.take(1, from: cursor)
            do {
                RandomProof.outcome { try notes.erase(byPrimaryKeys: [UniqueID("a")] as [UniqueID]) }
            }
            return [first, try RandomProof.take(.max, from: cursor)]
        }
        RandomProof.outcome { () throws -> [[RandomProof.Note]] in
            var query = Query<RandomProof.Note>()
            var pages: [[RandomProof.Note]] = []
            repeat {
                let page = try notes.page(query, limit: 1)
                pages.append(page.elements)
                query.after = try page.next.map(RandomProof.recoded)
                if pages.count == 1 {
                    RandomProof.outcome { try notes.storage.persist(objects: [RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7)]) }
                }
            } while query.after != nil && pages.count < 60
            return pages
        }
        RandomProof.outcome { () throws -> Int in
            return try notes.storage.update(Query<RandomProof.Note>(where: Condition(.compare(field: 0, .equal, .string("a"))))) { record in
                record.rank &+= 1
            }
        }
        RandomProof.outcome { () throws -> Void in
            let calling = RandomProof.Calling<RandomProof.Wide> { index in
                if index == 0 {
                    RandomProof.outcome { try notes.storage.persist(objects: [RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
                }
                if index == 1 { throw RandomProof.Abort() }
            }
            try DAO(storage: wides.storage, translator: calling).persist([RandomProof.Wide(id: 0, flag: true, count: 18446744073709551615, ratio: -Float.infinity, real: -0.0, realTwin: -0.0, price: Decimal(string: "-2.5")!, text: String(repeating: "p", count: 300) + "\"\\", bytes: Data(repeating: 7, count: 600), token: UUID(uuidString: "7FFFFFFF-0000-0000-0000-000000000000")!, site: URL(string: "a")!, date: Date(timeIntervalSinceReferenceDate: Double.nan), mood: RandomProof.Mood.none, tags: ["a"], shape: RandomProof.Shape(name: "box", sides: 4)), RandomProof.Wide(id: 0, flag: true, count: 18446744073709551615, ratio: -Float.infinity, real: -0.0, realTwin: -0.0, price: Decimal(string: "-2.5")!, text: String(repeating: "p", count: 300) + "\"\\", bytes: Data(repeating: 7, count: 600), token: UUID(uuidString: "7FFFFFFF-0000-0000-0000-000000000000")!, site: URL(string: "a")!, date: Date(timeIntervalSinceReferenceDate: Double.nan), mood: RandomProof.Mood.none, tags: ["a"], shape: RandomProof.Shape(name: "box", sides: 4))])
        }
        RandomProof.outcome { () throws -> Void in
            let calling = RandomProof.Calling<RandomProof.Note> { index in
                if index == 0 {
                    RandomProof.outcome { try notes.read(Query<RandomProof.Note>()) }
                }
            }
            try DAO(storage: notes.storage, translator: calling).create([RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7)])
        }
        try RandomProof.atOnce(
            {
                RandomProof.outcome { () throws -> Int in
                    return try notes.storage.update(Query<RandomProof.Note>(where: Condition(.compare(field: 0, .equal, .string("a"))))) { record in
                        record.rank &+= 1
                    }
                }
                RandomProof.outcome { try notes.storage.persist(objects: [RandomProof.Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
            },
            {
                let database = try open()
                let notes = DAO(storage: try database.storage(for: RandomProof.Note.self))
                RandomProof.outcome { () throws -> Int in
                    return try notes.storage.update(Query<RandomProof.Note>(where: Condition(.compare(field: 0, .equal, .string("a"))))) { record in
                        record.rank &+= 1
                    }
                }
            })
        try RandomProof.inherit(in: database, whileItRuns: false) {
            RandomProof.outcome { try notes.read(Query<RandomProof.Note>()) }
            RandomProof.outcome { try notes.erase() }
        }
        try RandomProof.inherit(in: database, whileItRuns: true) {
            RandomProof.outcome { try notes.read(Query<RandomProof.Note>()) }
        }
        RandomProof.outcome { try database.underlying(as: RandomProof.UnknownHandle.self) { _ in } }
        RandomProof.outcome { try database.transaction { () throws -> Void in try database.close() } }
        do {
            let database = neighbour
            let notes = DAO(storage: try database.storage(for: RandomProof.Note.self))
            RandomProof.outcome { try notes.storage.persist(objects: [RandomProof.Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7)]) }
            RandomProof.outcome { try notes.read(Query<RandomProof.Note>()) }
        }
        RandomProof.outcome { () throws -> [[RandomProof.Note]] in
            let watcher = RandomProof.Watcher(notes, Query<RandomProof.Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])]))))
            let first = try watcher.latest()
            RandomProof.outcome { try notes.storage.persist(objects: [RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
            RandomProof.outcome { try notes.erase(byPrimaryKeys: [UniqueID("a")] as [UniqueID]) }
            let last = try watcher.latest()
            try watcher.stop()
            return [first, last]
        }
        RandomProof.outcome { () throws -> [[RandomProof.Note]] in
            let watcher = RandomProof.Watcher(notes, Query<RandomProof.Note>())
            let first = try watcher.latest()
            do {
                let database = try open()
                let notes = DAO(storage: try database.storage(for: RandomProof.Note.self))
                RandomProof.outcome { try notes.storage.persist(objects: [RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
            }
            _ = try watcher.latest()
            let last = try watcher.latest()
            try watcher.stop()
            return [first, last]
        }
        try neighbour.close()
        database = try RandomProof.leave(database, open)
        neighbour = try openNeighbour()
        wides = DAO(storage: try database.storage(for: RandomProof.Wide.self))
        notes = DAO(storage: try database.storage(for: RandomProof.Note.self))
        tallies = DAO(storage: try database.storage(for: RandomProof.Tally.self))
        RandomProof.outcome { try notes.storage.persist(objects: [RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), RandomProof.Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
        do {
            let database = try open()
            let notes = DAO(storage: try database.storage(for: RandomProof.Note.self))
            RandomProof.outcome { try notes.read(Query<RandomProof.Note>()) }
        }
        database = try RandomProof.reopen(database, open)
        wides = DAO(storage: try database.storage(for: RandomProof.Wide.self))
        notes = DAO(storage: try database.storage(for: RandomProof.Note.self))
        tallies = DAO(storage: try database.storage(for: RandomProof.Tally.self))
        // partition of Query<RandomProof.Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))
        RandomProof.outcome { () throws -> Void in
            try database.snapshot { () throws -> Void in
                RandomProof.outcome { try notes.read(Query<RandomProof.Note>()) }
                RandomProof.elsewhere {
                    RandomProof.outcome { try notes.erase(byPrimaryKeys: [UniqueID("b\u{0}")] as [UniqueID]) }
                }
                RandomProof.outcome { try notes.read(Query<RandomProof.Note>()) }
            }
        }
        RandomProof.outcome { () throws -> Void in
            try database.transaction { () throws -> Void in
                RandomProof.elsewhere {
                    RandomProof.outcome { try notes.read(Query<RandomProof.Note>()) }
                }
                RandomProof.outcome { try notes.erase() }
                RandomProof.outcome { () throws -> Void in
                    try database.transaction { () throws -> Void in
                        RandomProof.outcome { try notes.storage.persist(objects: [RandomProof.Note(id: "a", title: "t", titleTwin: "t", rank: 7)]) }
                    }
                }
                // expected: [("a", "t", "t", nil, nil, 7)]
                // got:      []
                #expect(RandomProof.outcome { try notes.read(Query<RandomProof.Note>()) } == ##"[("a", "t", "t", nil, nil, 7)]"##)
                throw RandomProof.Abort()
            }
        }
    }
}
