// swift-format-ignore-file
import DAOConformance
import DAOCore
import DAOPropertyTesting
import Foundation
import Testing

private struct Wide: PropertyTestModel {
    var id: Int
    var flag: Bool = false
    var tiny: Int8?
    var short: Int16 = 0
    var middle: Int32?
    var long: Int64 = 0
    var number: Int?
    var numberTwin: Int?
    var byte: UInt8 = 0
    var word: UInt16?
    var span: UInt32?
    var natural: UInt?
    var count: UInt64?
    var ratio: Float?
    var real: Double?
    var realTwin: Double?
    var price: Decimal?
    var text: String?
    var bytes: Data?
    var token: UUID?
    var site: URL?
    var date: Date?
    var mood: PropertyTesting.Mood?
    var tags: [String] = []
    var shape: PropertyTesting.Shape?

    static let schema = Schema(
        "random_wide", Self.init(id:flag:tiny:short:middle:long:number:numberTwin:byte:word:span:natural:count:ratio:real:realTwin:price:text:bytes:token:site:date:mood:tags:shape:),
        Field("id", \.id, .primaryKey), Field("flag", \.flag), Field("tiny", \.tiny), Field("short", \.short),
        Field("middle", \.middle, .indexed), Field("long", \.long), Field("number", \.number, .indexed),
        Field("numberTwin", \.numberTwin), Field("byte", \.byte), Field("word", \.word), Field("span", \.span),
        Field("natural", \.natural), Field("count", \.count, .indexed), Field("ratio", \.ratio, .indexed),
        Field("real", \.real, .indexed), Field("realTwin", \.realTwin), Field("price", \.price, .indexed),
        Field("text", \.text), Field("bytes", \.bytes, .indexed), Field("token", \.token, .indexed),
        Field("site", \.site, .indexed), Field("date", \.date, .indexed), Field("mood", \.mood),
        Field("tags", \.tags), Field("shape", \.shape))
    static let keptFields: Set<String> = ["flag", "number", "numberTwin", "price", "text", "shape"]
}

private struct Note: PropertyTestModel {
    var id: String
    var title: String = ""
    var titleTwin: String = ""
    var body: String?
    var alias: String?
    var rank: Int = 0

    static let schema = Schema(
        "random_note", Self.init(id:title:titleTwin:body:alias:rank:),
        Field("id", \.id, .primaryKey), Field("title", \.title, .indexed), Field("titleTwin", \.titleTwin),
        Field("body", \.body), Field("alias", \.alias, .unique), Field("rank", \.rank, .indexed))
    static let keptFields: Set<String> = ["body", "alias"]
}

private struct Tally: PropertyTestModel {
    var id: UInt64
    var amount: Double = 0.0
    var amountTwin: Double = 0.0
    var delta: Int64?
    var price: Decimal?
    var blob: Data?
    var ratio: Float = 0.0
    var level: Int8 = 0

    static let schema = Schema(
        "random_tally", Self.init(id:amount:amountTwin:delta:price:blob:ratio:level:),
        Field("id", \.id, .primaryKey), Field("amount", \.amount, .indexed), Field("amountTwin", \.amountTwin),
        Field("delta", \.delta), Field("price", \.price, .unique), Field("blob", \.blob, .unique),
        Field("ratio", \.ratio), Field("level", \.level, .indexed))
    static let keptFields: Set<String> = ["delta", "blob"]
}

private struct GeneratedRecord0: PropertyTestModel {
    var field0: String = ""
    var a_b: Double = 0.0
    var order: PropertyTesting.Ticket
    var field3: UUID = UUID(uuidString: "00000000-0000-0000-0000-000000000000")!
    var field4: String = ""
    var rowid: Int16 = 0
    var plain0: Bool = false
    var maybe0: Bool?
    var plain1: Int = 0
    var maybe1: Int?
    var plain2: Int8 = 0
    var maybe2: Int8?
    var plain3: Int16 = 0
    var maybe3: Int16?
    var plain4: Int32 = 0
    var maybe4: Int32?
    var plain5: Int64 = 0
    var maybe5: Int64?
    var plain6: UInt = 0
    var maybe6: UInt?
    var plain7: UInt8 = 0
    var maybe7: UInt8?
    var plain8: UInt16 = 0
    var maybe8: UInt16?
    var plain9: UInt32 = 0
    var maybe9: UInt32?
    var plain10: UInt64 = 0
    var maybe10: UInt64?
    var plain11: Float = 0.0
    var maybe11: Float?
    var plain12: Double = 0.0
    var maybe12: Double?
    var plain13: Decimal = Decimal(string: "0")!
    var maybe13: Decimal?
    var plain14: String = ""
    var maybe14: String?
    var plain15: Data = Data([])
    var maybe15: Data?
    var plain16: UUID = UUID(uuidString: "00000000-0000-0000-0000-000000000000")!
    var maybe16: UUID?
    var plain17: URL = URL(string: "a")!
    var maybe17: URL?
    var plain18: Date = Date(timeIntervalSinceReferenceDate: 0.0)
    var maybe18: Date?
    var plain19: Duration = Duration.zero
    var maybe19: Duration?
    var plain20: PropertyTesting.Mood = PropertyTesting.Mood.calm
    var maybe20: PropertyTesting.Mood?
    var plain21: PropertyTesting.Level = PropertyTesting.Level.low
    var maybe21: PropertyTesting.Level?
    var plain22: PropertyTesting.Ticket = PropertyTesting.Ticket(rawValue: 0)
    var maybe22: PropertyTesting.Ticket?
    var plain23: PropertyTesting.Shape = PropertyTesting.Shape(name: "", sides: nil)
    var maybe23: PropertyTesting.Shape?
    var plain24: [String] = []
    var maybe24: [String]?
    var plain25: [String?] = []
    var maybe25: [String?]?
    var plain26: [Int?] = []
    var maybe26: [Int?]?
    var plain27: [Double] = []
    var maybe27: [Double]?

    static let schema = Schema(
        "select", Self.init(field0:a_b:order:field3:field4:rowid:plain0:maybe0:plain1:maybe1:plain2:maybe2:plain3:maybe3:plain4:maybe4:plain5:maybe5:plain6:maybe6:plain7:maybe7:plain8:maybe8:plain9:maybe9:plain10:maybe10:plain11:maybe11:plain12:maybe12:plain13:maybe13:plain14:maybe14:plain15:maybe15:plain16:maybe16:plain17:maybe17:plain18:maybe18:plain19:maybe19:plain20:maybe20:plain21:maybe21:plain22:maybe22:plain23:maybe23:plain24:maybe24:plain25:maybe25:plain26:maybe26:plain27:maybe27:),
        Field("_", \.field0), Field("a_b", \.a_b), Field("order", \.order, .primaryKey),
        Field("default", \.field3), Field("gr\u{f6}\u{df}e", \.field4), Field("rowid", \.rowid),
        Field("plain0", \.plain0, .default(false)), Field("maybe0", \.maybe0, .renamed(from: "old0")),
        Field("plain1", \.plain1, .default(0)), Field("maybe1", \.maybe1, .renamed(from: "old1")),
        Field("plain2", \.plain2, .default(0)), Field("maybe2", \.maybe2, .unique, .renamed(from: "old2")),
        Field("plain3", \.plain3, .indexed, .default(0)), Field("maybe3", \.maybe3, .renamed(from: "old3")),
        Field("plain4", \.plain4, .default(0)), Field("maybe4", \.maybe4, .renamed(from: "old4")),
        Field("plain5", \.plain5, .default(0)), Field("maybe5", \.maybe5, .renamed(from: "old5")),
        Field("plain6", \.plain6, .default(0)), Field("maybe6", \.maybe6, .renamed(from: "old6")),
        Field("plain7", \.plain7, .default(0)), Field("maybe7", \.maybe7, .renamed(from: "old7")),
        Field("plain8", \.plain8, .default(0)), Field("maybe8", \.maybe8, .renamed(from: "old8")),
        Field("plain9", \.plain9, .default(0)), Field("maybe9", \.maybe9, .renamed(from: "old9")),
        Field("plain10", \.plain10, .default(0)), Field("maybe10", \.maybe10, .renamed(from: "old10")),
        Field("plain11", \.plain11, .default(0.0)), Field("maybe11", \.maybe11, .renamed(from: "old11")),
        Field("plain12", \.plain12, .default(0.0)), Field("maybe12", \.maybe12, .renamed(from: "old12")),
        Field("plain13", \.plain13, .default(Decimal(string: "0")!)),
        Field("maybe13", \.maybe13, .renamed(from: "old13")), Field("plain14", \.plain14, .default("")),
        Field("maybe14", \.maybe14, .renamed(from: "old14")), Field("plain15", \.plain15, .default(Data([]))),
        Field("maybe15", \.maybe15, .renamed(from: "old15")),
        Field("plain16", \.plain16, .default(UUID(uuidString: "00000000-0000-0000-0000-000000000000")!)),
        Field("maybe16", \.maybe16, .renamed(from: "old16")),
        Field("plain17", \.plain17, .default(URL(string: "a")!)),
        Field("maybe17", \.maybe17, .renamed(from: "old17")),
        Field("plain18", \.plain18, .default(Date(timeIntervalSinceReferenceDate: 0.0))),
        Field("maybe18", \.maybe18, .renamed(from: "old18")),
        Field("plain19", \.plain19, .default(Duration.zero)),
        Field("maybe19", \.maybe19, .renamed(from: "old19")),
        Field("plain20", \.plain20, .default(PropertyTesting.Mood.calm)),
        Field("maybe20", \.maybe20, .renamed(from: "old20")),
        Field("plain21", \.plain21, .default(PropertyTesting.Level.low)),
        Field("maybe21", \.maybe21, .renamed(from: "old21")),
        Field("plain22", \.plain22, .default(PropertyTesting.Ticket(rawValue: 0))),
        Field("maybe22", \.maybe22, .renamed(from: "old22")),
        Field("plain23", \.plain23, .default(PropertyTesting.Shape(name: "", sides: nil))),
        Field("maybe23", \.maybe23, .renamed(from: "old23")), Field("plain24", \.plain24, .default([])),
        Field("maybe24", \.maybe24, .renamed(from: "old24")), Field("plain25", \.plain25, .default([])),
        Field("maybe25", \.maybe25, .renamed(from: "old25")), Field("plain26", \.plain26, .default([])),
        Field("maybe26", \.maybe26, .renamed(from: "old26")), Field("plain27", \.plain27, .default([])),
        Field("maybe27", \.maybe27, .renamed(from: "old27")))
    static let keptFields: Set<String> = ["_", "a_b"]
}

private struct GeneratedRecord1: PropertyTestModel {
    var id: Int
    var field1: [String] = []
    var key: String = ""

    static let schema = Schema(
        "invalid", Self.init(id:field1:key:),
        Field("id", \.id, .primaryKey), Field("a.b", \.field1), Field("key", \.key))
    static let keptFields: Set<String> = []
}

// Printed by PropertyTesting.run(on: target, seed: 42, operations: 250),
// where target is sqlite.
@Test func seed42() throws {
    try PropertyTesting.script(on: target) { open, openNeighbour in
        var database = try open()
        var neighbour = try openNeighbour()
        var wides = DAO(storage: try database.storage(for: Wide.self))
        var notes = DAO(storage: try database.storage(for: Note.self))
        var tallies = DAO(storage: try database.storage(for: Tally.self))
        var model0 = DAO(storage: try database.storage(for: GeneratedRecord0.self))
        PropertyTesting.outcome { try notes.create(Note(id: "a", title: "t", titleTwin: "t", rank: 7)) }
        PropertyTesting.outcome { try notes.create([Note(id: "a", title: "t", titleTwin: "t", rank: 7), Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
        PropertyTesting.outcome { try notes.persist([Note(id: "a", title: "t", titleTwin: "t", rank: 7), Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
        PropertyTesting.outcome { try DAO(storage: notes.storage, translator: PropertyTesting.Merging<Note>()).persist([Note(id: "a", title: "t", titleTwin: "t", rank: 7), Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
        PropertyTesting.outcome { try wides.storage.persist(objects: [Wide(id: 0, flag: true, count: 18446744073709551615, ratio: -Float.infinity, real: -0.0, realTwin: -0.0, price: Decimal(string: "-2.5")!, text: String(repeating: "p", count: 300) + "\"\\", bytes: Data(repeating: 7, count: 600), token: UUID(uuidString: "7FFFFFFF-0000-0000-0000-000000000000")!, site: URL(string: "a")!, date: Date(timeIntervalSinceReferenceDate: Double.nan), mood: PropertyTesting.Mood.none, tags: ["a"], shape: PropertyTesting.Shape(name: "box", sides: 4))]) }
        PropertyTesting.outcome { try PropertyTesting.merge([Note(id: "a", title: "t", titleTwin: "t", rank: 7), Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)], into: notes.storage, failsAt: 2) }
        PropertyTesting.outcome { try PropertyTesting.merge([Note(id: "a", title: "t", titleTwin: "t", rank: 7), Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)], into: notes.storage, inserts: false) }
        PropertyTesting.outcome { () throws -> Int in
            var index = 0
            return try notes.storage.update(Query<Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))) { record in
                if index == 1 { throw PropertyTesting.Abort() }
                record.body = "body"
                index += 1
            }
        }
        PropertyTesting.outcome { () throws -> Int in
            return try notes.storage.update(Query<Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))) { record in
                record.rank = 8
            }
        }
        PropertyTesting.outcome { try notes.findOrCreate(byPrimaryKey: UniqueID("b\u{0}")) { Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7) } }
        PropertyTesting.outcome { try notes.erase([Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
        PropertyTesting.outcome { try notes.erase(byPrimaryKeys: [UniqueID("x"), UniqueID("y")] as [UniqueID]) }
        PropertyTesting.outcome { try notes.storage.erase(Query<Note>(where: Condition(.constant(false)))) }
        PropertyTesting.outcome { try notes.set(\.rank, to: 9, where: Condition(.constant(false))) }
        PropertyTesting.outcome { try tallies.erase() }
        PropertyTesting.outcome { try notes.read(byPrimaryKey: UniqueID("a")) }
        PropertyTesting.outcome { try notes.read(byPrimaryKeys: [UniqueID("b\u{0}"), UniqueID("a")] as [UniqueID]) }
        PropertyTesting.outcome { try notes.count(Query<Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))) }
        PropertyTesting.outcome { try notes.storage.keys(Query<Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))) }
        PropertyTesting.outcome { try notes.storage.count(Query<Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))) > 0 }
        PropertyTesting.outcome { try notes.exists(byPrimaryKey: UniqueID("a")) }
        PropertyTesting.outcome { try wides.average(\.realTwin, where: .all) }
        PropertyTesting.outcome { try PropertyTesting.walk(notes, Query<Note>(), upTo: 1) }
        PropertyTesting.outcome { () throws -> [[Note]] in
            try PropertyTesting.stream(notes, Query<Note>(), first: 1) {
                PropertyTesting.outcome { try notes.erase(byPrimaryKeys: [UniqueID("a")] as [UniqueID]) }
            }
        }
        PropertyTesting.outcome { () throws -> [[Note]] in
            try PropertyTesting.pages(notes, Query<Note>(), of: 1, recodes: true) {
                PropertyTesting.outcome { try notes.storage.persist(objects: [Note(id: "a", title: "t", titleTwin: "t", rank: 7)]) }
            }
        }
        PropertyTesting.outcome { try model0.storage.persist(objects: [GeneratedRecord0(order: PropertyTesting.Ticket(rawValue: 0)), GeneratedRecord0(field0: "a\"", a_b: 1.5, order: PropertyTesting.Ticket(rawValue: 5), field3: UUID(uuidString: "7FFFFFFF-0000-0000-0000-000000000000")!, field4: "a\"", rowid: 7, plain0: true, maybe0: true, plain1: 7, maybe1: 7, plain2: 7, maybe2: 7, plain3: 7, maybe3: 7, plain4: 7, maybe4: 7, plain5: 7, maybe5: 7, plain6: 7, maybe6: 7, plain7: 7, maybe7: 7, plain8: 7, maybe8: 7, plain9: 7, maybe9: 7, plain10: 7, maybe10: 7, plain11: 1.5, maybe11: 1.5, plain12: 1.5, maybe12: 1.5, plain13: Decimal(string: "-2.5")!, maybe13: Decimal(string: "-2.5")!, plain14: "a\"", maybe14: "a\"", plain15: Data([1, 2]), maybe15: Data([1, 2]), plain16: UUID(uuidString: "7FFFFFFF-0000-0000-0000-000000000000")!, maybe16: UUID(uuidString: "7FFFFFFF-0000-0000-0000-000000000000")!, plain17: URL(string: "https://a.example/")!, maybe17: URL(string: "https://a.example/")!, plain18: Date(timeIntervalSinceReferenceDate: 0.1), maybe18: Date(timeIntervalSinceReferenceDate: 0.1), plain19: Duration(_high: .max, low: .max), maybe19: Duration(_high: .max, low: .max), plain20: PropertyTesting.Mood.none, maybe20: PropertyTesting.Mood.none, plain21: PropertyTesting.Level.high, maybe21: PropertyTesting.Level.high, plain22: PropertyTesting.Ticket(rawValue: 7), maybe22: PropertyTesting.Ticket(rawValue: 7), plain23: PropertyTesting.Shape(name: "box", sides: 4), maybe23: PropertyTesting.Shape(name: "box", sides: 4), plain24: ["/\"\u{e9}"], maybe24: ["/\"\u{e9}"], plain25: ["null", nil, "", nil], maybe25: ["null", nil, "", nil], plain26: [9223372036854775807], maybe26: [9223372036854775807], plain27: [Double.infinity, -Double.infinity], maybe27: [Double.infinity, -Double.infinity])]) }
        PropertyTesting.outcome { _ = try database.storage(for: GeneratedRecord1.self) }
        PropertyTesting.outcome { () throws -> Int in
            return try model0.storage.update(Query<GeneratedRecord0>()) { record in
                record.field4 = "x"
            }
        }
        PropertyTesting.outcome { try model0.max(\.field0, where: .all) }
        PropertyTesting.outcome { try DAO(storage: model0.storage, translator: PropertyTesting.Merging<GeneratedRecord0>()).persist([GeneratedRecord0(order: PropertyTesting.Ticket(rawValue: 0))]) }
        PropertyTesting.outcome { try model0.read(Query<GeneratedRecord0>()) }
        PropertyTesting.outcome { () throws -> Int in
            return try notes.storage.update(Query<Note>(where: Condition(.compare(field: 0, .equal, .string("a"))))) { record in
                record.rank &+= 1
            }
        }
        PropertyTesting.outcome { () throws -> Void in
            let calling = PropertyTesting.Calling<Wide> { index in
                if index == 0 {
                    PropertyTesting.outcome { try notes.storage.persist(objects: [Note(id: "a", title: "t", titleTwin: "t", rank: 7), Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
                }
                if index == 1 { throw PropertyTesting.Abort() }
            }
            try DAO(storage: wides.storage, translator: calling).persist([Wide(id: 0, flag: true, count: 18446744073709551615, ratio: -Float.infinity, real: -0.0, realTwin: -0.0, price: Decimal(string: "-2.5")!, text: String(repeating: "p", count: 300) + "\"\\", bytes: Data(repeating: 7, count: 600), token: UUID(uuidString: "7FFFFFFF-0000-0000-0000-000000000000")!, site: URL(string: "a")!, date: Date(timeIntervalSinceReferenceDate: Double.nan), mood: PropertyTesting.Mood.none, tags: ["a"], shape: PropertyTesting.Shape(name: "box", sides: 4)), Wide(id: 0, flag: true, count: 18446744073709551615, ratio: -Float.infinity, real: -0.0, realTwin: -0.0, price: Decimal(string: "-2.5")!, text: String(repeating: "p", count: 300) + "\"\\", bytes: Data(repeating: 7, count: 600), token: UUID(uuidString: "7FFFFFFF-0000-0000-0000-000000000000")!, site: URL(string: "a")!, date: Date(timeIntervalSinceReferenceDate: Double.nan), mood: PropertyTesting.Mood.none, tags: ["a"], shape: PropertyTesting.Shape(name: "box", sides: 4))])
        }
        PropertyTesting.outcome { () throws -> Void in
            let calling = PropertyTesting.Calling<Note> { index in
                if index == 0 {
                    PropertyTesting.outcome { try notes.read(Query<Note>()) }
                }
            }
            try DAO(storage: notes.storage, translator: calling).create([Note(id: "a", title: "t", titleTwin: "t", rank: 7)])
        }
        try PropertyTesting.atOnce(
            {
                PropertyTesting.outcome { () throws -> Int in
                    return try notes.storage.update(Query<Note>(where: Condition(.compare(field: 0, .equal, .string("a"))))) { record in
                        record.rank &+= 1
                    }
                }
                PropertyTesting.outcome { try notes.storage.persist(objects: [Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
            },
            {
                let database = try open()
                let notes = DAO(storage: try database.storage(for: Note.self))
                PropertyTesting.outcome { () throws -> Int in
                    return try notes.storage.update(Query<Note>(where: Condition(.compare(field: 0, .equal, .string("a"))))) { record in
                        record.rank &+= 1
                    }
                }
            })
        try PropertyTesting.inherit(in: database, whileItRuns: false) {
            PropertyTesting.outcome { try notes.read(Query<Note>()) }
            PropertyTesting.outcome { try notes.erase() }
        }
        try PropertyTesting.inherit(in: database, whileItRuns: true) {
            PropertyTesting.outcome { try notes.read(Query<Note>()) }
        }
        PropertyTesting.outcome { try database.underlying(as: UnknownHandle.self) { _ in } }
        PropertyTesting.outcome { try database.transaction { () throws -> Void in try database.close() } }
        do {
            let database = neighbour
            let notes = DAO(storage: try database.storage(for: Note.self))
            PropertyTesting.outcome { try notes.storage.persist(objects: [Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7)]) }
            PropertyTesting.outcome { try notes.read(Query<Note>()) }
        }
        PropertyTesting.outcome { () throws -> [[Note]] in
            try PropertyTesting.watch(notes, Query<Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))) { _ in
                PropertyTesting.outcome { try notes.storage.persist(objects: [Note(id: "a", title: "t", titleTwin: "t", rank: 7), Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
                PropertyTesting.outcome { try notes.erase(byPrimaryKeys: [UniqueID("a")] as [UniqueID]) }
            }
        }
        PropertyTesting.outcome { () throws -> [[Note]] in
            try PropertyTesting.watch(notes, Query<Note>()) { watcher in
                do {
                    let database = try open()
                    let notes = DAO(storage: try database.storage(for: Note.self))
                    PropertyTesting.outcome { try notes.storage.persist(objects: [Note(id: "a", title: "t", titleTwin: "t", rank: 7), Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
                }
                _ = try watcher.latest()
            }
        }
        try neighbour.close()
        try database.close()
        database = try open()
        neighbour = try openNeighbour()
        wides = DAO(storage: try database.storage(for: Wide.self))
        notes = DAO(storage: try database.storage(for: Note.self))
        tallies = DAO(storage: try database.storage(for: Tally.self))
        model0 = DAO(storage: try database.storage(for: GeneratedRecord0.self))
        PropertyTesting.outcome { try notes.storage.persist(objects: [Note(id: "a", title: "t", titleTwin: "t", rank: 7), Note(id: "b\u{0}", title: "t", titleTwin: "t", rank: 7), Note(id: "\u{e9}", title: "t", titleTwin: "t", rank: 7)]) }
        do {
            let database = try open()
            let notes = DAO(storage: try database.storage(for: Note.self))
            PropertyTesting.outcome { try notes.read(Query<Note>()) }
        }
        database = try PropertyTesting.reopen(database, open)
        wides = DAO(storage: try database.storage(for: Wide.self))
        notes = DAO(storage: try database.storage(for: Note.self))
        tallies = DAO(storage: try database.storage(for: Tally.self))
        model0 = DAO(storage: try database.storage(for: GeneratedRecord0.self))
        _ = try database.compact()
        // partition of Query<Note>(where: Condition(.or([.not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])), .isIn(field: 0, [.null, .string("a")]), .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive])])))
        PropertyTesting.outcome { () throws -> Void in
            try database.snapshot { () throws -> Void in
                PropertyTesting.outcome { try notes.read(Query<Note>()) }
                PropertyTesting.elsewhere {
                    PropertyTesting.outcome { try notes.erase(byPrimaryKeys: [UniqueID("b\u{0}")] as [UniqueID]) }
                }
                PropertyTesting.outcome { try notes.read(Query<Note>()) }
            }
        }
        PropertyTesting.outcome { () throws -> Void in
            try database.transaction { () throws -> Void in
                PropertyTesting.elsewhere {
                    PropertyTesting.outcome { try notes.read(Query<Note>()) }
                }
                PropertyTesting.outcome { try notes.erase() }
                PropertyTesting.outcome { () throws -> Void in
                    try database.transaction { () throws -> Void in
                        PropertyTesting.outcome { try notes.storage.persist(objects: [Note(id: "a", title: "t", titleTwin: "t", rank: 7)]) }
                    }
                }
                // expected: [("a", "t", "t", nil, nil, 7)]
                // got:      []
                #expect(PropertyTesting.outcome { try notes.read(Query<Note>()) } == ##"[("a", "t", "t", nil, nil, 7)]"##)
                throw PropertyTesting.Abort()
            }
        }
    }
}
