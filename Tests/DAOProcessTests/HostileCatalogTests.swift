import DAOConformance
import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOSystemLMDB
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOKeyValue

/// Contract L5: a catalog with right checksums that says what no schema says gives typed errors, and never ends the process. Set
/// `ROUNDS=10000` in the environment for more of them.
@Suite(.serialized, .timeLimit(.minutes(120))) struct HostileCatalogTests {
    private struct Tag: Plain, Model, Equatable {
        var id: String
        var rank: Int?
        static let schema = Schema("tag", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank, .indexed))
    }

    private struct Page: Plain, Model, Equatable {
        var id: Int
        var title: String = ""
        var words: [String] = []
        var cover: Tag?
        var tags: [Tag] = []
        static let schema = Schema(
            "page", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .unique), Field("words", \.words),
            Field("cover", \.cover, .owned), Field("tags", \.tags, .linked),
            indexes: [
                Index(orderedBy: .descending(\.title), .ascending(\.id)), Index(elements: \.words),
                Index(\.title, where: { $0.id > 1 || $0.title == "" }),
            ])
    }

    private static let drivers = DatabaseDrivers(.sqlite, .lmdb, .memory)

    private func makeWhole(_ place: Place) throws {
        let database = try Self.drivers.open(place.url("durability=relaxed"))
        let tags = (1...3).map { (number: Int) in Tag(id: "t\(number)", rank: number) }
        try DAO(storage: database.storage(for: Page.self)).persist(
            (1...5).map { number in Page(id: number, title: "page \(number)", words: ["a", "b"], cover: tags[0], tags: tags) })
        try database.close()
    }

    /// Replaces what the catalog of a file says of an entity.
    private func rewrite(_ place: Place, _ entity: String, _ change: (inout Any) -> Void) throws {
        func changed(_ json: Data) throws -> Data {
            var value = try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
            change(&value)
            return Data(Self.json(value).utf8)
        }
        let database = try Self.drivers.open(place.url("durability=relaxed"))
        defer { try? database.close() }
        try database.transaction {
            if database is SQLiteDatabase {
                try database.underlying(as: SQLiteHandle.self) { handle in
                    var statement: OpaquePointer?
                    sqlite3_prepare_v2(
                        handle.connection, "SELECT description FROM dao_catalog WHERE entity = '\(entity)'", -1, &statement, nil)
                    sqlite3_step(statement)
                    let text = String(cString: sqlite3_column_text(statement, 0))
                    sqlite3_finalize(statement)
                    let new = String(decoding: try changed(Data(text.utf8)), as: UTF8.self)
                    try handle.execute(
                        "UPDATE dao_catalog SET description = '\(new.replacing("'", with: "''"))' WHERE entity = '\(entity)'")
                }
            } else {
                try database.underlying(as: LMDBHandle.self) { handle in
                    var key = Keyspace.catalog.prefix + [UInt8(ascii: "E")] + Array(entity.utf8)
                    let tree = handle.database(of: key)
                    try key.withUnsafeMutableBytes { key in
                        var (name, value) = (MDB_val(mv_size: key.count, mv_data: key.baseAddress), MDB_val())
                        #expect(mdb_get(handle.transaction, tree, &name, &value) == 0)
                        let json = Data(bytes: try #require(value.mv_data) + 8, count: value.mv_size - 8)
                        let new = try changed(json)
                        var bytes = withUnsafeBytes(of: new.withUnsafeBytes { XXH64.hash($0) }.littleEndian) { Data($0) } + new
                        let code = bytes.withUnsafeMutableBytes { bytes in
                            var value = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
                            return mdb_put(handle.transaction, tree, &name, &value, 0)
                        }
                        #expect(code == 0)
                    }
                }
            }
        }
    }

    /// The JSON of a value, however deeply it nests: Foundation writes no more than 512 levels.
    private static func json(_ value: Any) -> String {
        enum Part {
            case value(Any)
            case text(String)
        }
        var (json, rest) = ("", [Part.value(value)])
        while let part = rest.popLast() {
            switch part {
            case .text(let text): json += text
            case .value(let list as [Any]):
                rest.append(.text("]"))
                for (place, element) in list.enumerated().reversed() {
                    rest += [.value(element), .text(place == 0 ? "[" : ",")]
                }
                if list.isEmpty { rest.append(.text("[")) }
            case .value(let object as [String: Any]):
                rest.append(.text("}"))
                for (place, (key, value)) in object.sorted(by: { $0.key < $1.key }).enumerated().reversed() {
                    rest += [.value(value), .text(":"), .value(key), .text(place == 0 ? "{" : ",")]
                }
                if object.isEmpty { rest.append(.text("{")) }
            case .value(let scalar):
                let data = try? JSONSerialization.data(withJSONObject: scalar, options: .fragmentsAllowed)
                json += data.map { String(decoding: $0, as: UTF8.self) } ?? "null"
            }
        }
        return json
    }

    /// Does all that a program does with a file whose models it does not know, and a few calls with models, on a small stack.
    ///
    /// - Returns: How the calls ended.
    private func probe(_ place: Place) throws -> Set<String> {
        let outcomes = Shared<Set<String>>([])
        let run = Background(stackSize: 512 << 10) {
            let found = probeHere(place)
            outcomes.change { $0 = found }
        }
        try run.wait(seconds: 120, "the probe")
        return outcomes.value
    }

    private func probeHere(_ place: Place) -> Set<String> {
        var outcomes: Set<String> = []
        func run(_ what: String, _ body: () throws -> Void) {
            do {
                try body()
                outcomes.insert("works")
            } catch let error as StorageError {
                outcomes.insert(error.kind.rawValue)
                #expect(!"\(error)".unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" }, "\(what)")
            } catch {
                Issue.record("\(what) throws \(error)")
            }
        }
        run("opening") {
            let database = try Self.drivers.open(place.url("durability=relaxed"))
            defer { try? database.close() }
            run("inspecting") {
                for entity in try database.entities() {
                    for text in [entity.name, entity.description] + entity.fields.map(\.name) {
                        #expect(!text.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
                    }
                    let rows = try database.rows(of: entity.name)
                    run("counting") { _ = try rows.count() }
                    run("reading") { _ = try rows.read() }
                    run("explaining") { _ = try rows.explain(RowQuery()) }
                    for field in entity.fields {
                        run("related rows") { _ = try rows.related(field.name, of: 1) }
                        run("a condition") { _ = try rows.read(where: TextPredicate("\(field.name) == nil")) }
                        run("an order") { _ = try rows.read(RowQuery(orderedBy: [.descending(field.name)])) }
                    }
                    run("storing") { try rows.persist([["id": .integer(9)]]) }
                    run("erasing") { try rows.erase(byPrimaryKey: 1) }
                }
            }
            run("verifying") { _ = try database.verify() }
            run("copying") {
                let copy = try Self.drivers.open("memory:\(UUID())")
                try database.copy(to: copy)
                try copy.close()
            }
            run("models") {
                let pages = DAO(storage: try database.storage(for: Page.self))
                run("reading models") { _ = try pages.read { $0.tags.contains { $0.rank == 1 } } }
                run("storing models") { try pages.persist(Page(id: 7, title: "7", tags: [Tag(id: "t1")])) }
                run("erasing models") { try pages.erase { $0.words.contains("a") } }
            }
        }
        return outcomes
    }

    /// Catalogs made by hand.
    private static let hostile: [(what: String, change: @Sendable (inout [String: Any]) -> Void)] = [
        ("no fields", { $0["fields"] = [Any]() }),
        ("a name that controls a terminal", { $0["name"] = "\u{1B}[2J\u{202E}" }),
        ("the name of another entity", { $0["name"] = "tag" }),
        (
            "a field twice",
            { entity in (entity["fields"] as? [Any]).map { entity["fields"] = $0 + $0 } }
        ),
        (
            "many fields",
            { entity in
                (entity["fields"] as? [Any]).map { entity["fields"] = [[Any]](repeating: $0, count: 20_000).flatMap { $0 } }
            }
        ),
        ("a key without a field", { entity in (entity["fields"] as? [Any]).map { entity["fields"] = Array($0.dropFirst()) } }),
        ("only a relationship", { entity in (entity["fields"] as? [Any]).map { entity["fields"] = Array($0.suffix(1)) } }),
        ("an index on nothing", { $0["indexes"] = [["fields": [Any](), "isUnique": true]] }),
        ("a condition of 17 levels", { $0["indexes"] = [indexing(nested(16))] }),
        ("a condition of 150 levels", { $0["indexes"] = [indexing(nested(150))] }),
        ("a condition of 160 levels in one part each", { $0["indexes"] = [indexing(nested(160, parts: 1))] }),
        ("a condition of 2,000 levels", { $0["indexes"] = [indexing(nested(2_000))] }),
        ("a condition of 20,000 parts", { $0["indexes"] = [indexing(["and": ["conditions": parts(20_000)]])] }),
        (
            "a condition of 20,000 values",
            {
                let values = (0..<20_000).map { ["integer": "\($0)"] }
                $0["indexes"] = [indexing(["isIn": ["field": "id", "values": values, "isNegated": false] as [String: Any]])]
            }
        ),
        ("an array of arrays of 250 levels", { entity in contain(250, &entity) }),
        ("an array of arrays of 2,000 levels", { entity in contain(2_000, &entity) }),
        ("something else of 2,000 levels", { $0["more"] = (0..<2_000).reduce(0 as Any) { inner, _ in [inner] } }),
    ]

    private static func indexing(_ condition: Any) -> [String: Any] {
        ["fields": [["name": "title", "isAscending": true] as [String: Any]], "isUnique": false, "condition": condition]
    }

    private static func parts(_ count: Int) -> [Any] {
        (0..<count).map { ["compare": ["field": "id", "comparison": "greater", "value": ["integer": "\($0)"]] as [String: Any]] }
    }

    /// A condition of conjunctions and disjunctions in turn.
    private static func nested(_ levels: Int, parts count: Int = 2) -> Any {
        (0..<levels).reduce(parts(1)[0]) { inner, level in
            let conditions: [Any] = [inner] + parts(count - 1)
            return [level % 2 == 0 ? "and" : "or": ["conditions": conditions]]
        }
    }

    /// Makes the content of the field with words nest.
    private static func contain(_ levels: Int, _ entity: inout [String: Any]) {
        guard var fields = entity["fields"] as? [[String: Any]],
            let words = fields.firstIndex(where: { $0["name"] as? String == "words" })
        else { return }
        let type: [String: Any] = ["kind": "embedded", "isOptional": false]
        fields[words]["content"] = (0..<levels).reduce(["elements": type, "inner": [Any]()] as [String: Any]) { inner, _ in
            ["elements": type, "inner": [inner]]
        }
        entity["fields"] = fields
    }

    @Test(arguments: Place.Kind.allCases, hostile.map(\.what)) func aCatalogMadeByHandIsCorrupted(
        _ kind: Place.Kind, _ what: String
    ) throws {
        let place = Place(kind)
        try makeWhole(place)
        let change = try #require(Self.hostile.first { $0.what == what }).change
        try rewrite(place, "page") { value in
            guard var entry = value as? [String: Any] else { return }
            if var description = entry["description"] as? [String: Any] {
                change(&description)
                entry["description"] = description
            } else {
                change(&entry)
            }
            value = entry
        }
        #expect(try probe(place).contains("corrupted"))
        let database = try Self.drivers.open(place.url())
        // Damage is no error of a verification.
        #expect(try !database.verify().isSound)
        let error = #expect(throws: StorageError.self) { try database.entities() }
        #expect(error?.kind == .corrupted)
        try database.close()
    }

    @Test(arguments: Place.Kind.allCases) func generatedCatalogsNeverEndTheProcess(_ kind: Place.Kind) throws {
        let whole = Place(kind)
        try makeWhole(whole)
        var seed = Rounds.seed
        var outcomes: [String: Int] = [:]
        for _ in 0..<Rounds.count(60) {
            let place = Place(kind)
            try FileManager.default.copyItem(at: whole.file, to: place.file)
            var random = SeededGenerator(seed: seed)
            // A trap ends the process: the seed is on the terminal then.
            let entity = Bool.random(using: &random) ? "page" : "tag"
            try rewrite(place, entity) { value in
                for _ in 0..<Int.random(in: 1...3, using: &random) { damage(&value, &random) }
            }
            try? Data("\(seed)".utf8).write(to: whole.directory.appendingPathComponent("seed"))
            for outcome in try probe(place) { outcomes[outcome, default: 0] += 1 }
            seed = random.next()
        }
        print("\(kind): \(outcomes.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" })")
    }

    /// Changes one place of a JSON value.
    private func damage(_ value: inout Any, _ random: inout SeededGenerator) {
        if Int.random(in: 0..<10, using: &random) > 0 {
            if var object = value as? [String: Any], let key = object.keys.sorted().randomElement(using: &random) {
                switch Int.random(in: 0..<12, using: &random) {
                case 0: object[key] = nil
                case 1: object[key + "x"] = object[key]
                default:
                    var inner = object[key] ?? NSNull()
                    damage(&inner, &random)
                    object[key] = inner
                }
                return value = object
            }
            if var list = value as? [Any], !list.isEmpty {
                let place = list.indices.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<10, using: &random) {
                case 0: list.remove(at: place)
                case 1: list.insert(list[place], at: 0)
                case 2: list = []
                case 3: list = [[Any]](repeating: list, count: 300).flatMap { $0 }
                default: damage(&list[place], &random)
                }
                return value = list
            }
        }
        let strange: [Any] = [
            -1, 0, 1, 7, 65_535, 4_294_967_295, Int.max, Int.min, 1e300, true, false, NSNull(), "", "\u{1B}[2J", "a\u{202E}b",
            "int8",
            "int64", "uint64", "double", "decimal", "string", "data", "uuid", "url", "date", "embedded", "toOne", "toMany",
            "page", "tag",
            "none", "id", "dao_links", String(repeating: "x", count: 5000), [Any](), [String: Any](), ["fields": [Any]()],
            Self.nested(140), Self.nested(3, parts: 30), Self.indexing(Self.nested(14)), Self.indexing(Self.nested(60)),
        ]
        value = strange.randomElement(using: &random) ?? 0
    }
}
