import DAOCore
import Foundation

/// E9: what a database keeps from its catalog changes no answer, in whatever way the catalog has changed. Each way meets each
/// thing that is kept.
enum EvolutionCaches {
    /// A database of a case.
    private struct Place {
        let context: ConformanceContext
        var suffix: String?

        func open() throws -> any Database { try suffix.map(context.openOther) ?? context.open() }
        func startProcess() throws -> any ConformanceProcess { try context.startProcess(at: suffix) }
    }

    /// A way in which a catalog changes.
    private struct Way: Sendable {
        let name: String
        let requirements: Set<ConformanceCase.Requirement>
        let run: @Sendable (CatalogChange, Place, any Database) throws -> Void

        /// This handle asks for storages, or migrates.
        static let here = Way(name: "Here", requirements: []) { change, _, database in try change.run(database) }
        /// Another handle on the same engine does.
        static let elsewhere = Way(name: "ByHandle", requirements: []) { change, place, _ in
            let other = try place.open()
            try change.run(other)
            try other.close()
        }
        /// Another process does.
        static let process = Way(name: "ByProcess", requirements: [.processes]) { change, place, _ in
            try expectEqual(try place.startProcess().ask("catalog \(change.rawValue)"), "done")
        }
        /// A copy of another database brings what is new.
        static let copy = Way(name: "ByCopy", requirements: []) { change, place, database in
            let source = try place.context.openOther("source")
            try source.dao(Person.self).create(people)
            try change.run(source)
            try database.dao(Person.self).erase()
            try source.copy(to: database)
        }
    }

    private static let people = (1...3).map { Person(id: $0, name: "Person \($0)") }

    /// Opens a database with people, of whom one was erased, so that all that is ever kept about them is kept.
    private static func open(_ context: ConformanceContext) throws -> (any Database, DAO<Person>) {
        let (database, people) = try context.open(with: Person.self)
        try people.create(Self.people + [Person(id: 4, name: "Person 4")])
        try people.erase(byPrimaryKey: 4)
        return (database, people)
    }

    /// Expects that erasing people does what badges and passes say.
    private static func expectRelated(
        _ database: any Database, _ people: DAO<Person>, badge: String = "badge", pass: String = "pass"
    ) throws {
        func expectRestricted() throws {
            try expectError(
                .referenceViolation, "erasing a holder", entity: badge, key: 1, conflictingKey: 1, field: "holder"
            ) { try people.erase(byPrimaryKey: 1) }
        }
        try expectRestricted()
        try database.transaction { try expectRestricted() }
        try expectEqual(try people.erase { $0.id == 2 }, 1, "the erased people")
        try expectEqual(try people.read().map(\.id), [1, 3], "the people")
        try expectEqual(try count(pass, database), 0, "the passes")
        try expectEqual(try database.verify().problems.map(\.description), [], "the problems")
    }

    /// Expects that erasing people meets nothing.
    private static func expectUnrelated(_ database: any Database, _ people: DAO<Person>, passes: Int) throws {
        try expectEqual(try people.erase(byPrimaryKey: 1), 1, "the people erased by their key")
        try expectEqual(try people.erase { $0.id == 2 }, 1, "the people erased by a condition")
        try expectEqual(try people.read().map(\.id), [3], "the people")
        if passes > 0 { try expectEqual(try count("pass", database), passes, "the passes") }
        try expectEqual(try database.verify().problems.map(\.description), [], "the problems")
    }

    private static func count(_ entity: String, _ database: any Database) throws -> Int {
        try database.withEntityStore(.read) { try $0.count(entity) }
    }

    // MARK: Relationships

    private static let appearing: [ConformanceCase] = [Way.here, .elsewhere, .process, .copy].map { way in
        ConformanceCase(
            "E.cachesRelations\(way.name)", "E9", "R10", title: "a relationship that comes later counts at once",
            requires: way.requirements.union([.evolution])
        ) { context in
            let (database, people) = try open(context)
            try way.run(.declare, Place(context: context), database)
            try expectRelated(database, people)
        }
    }

    private static let disappearing: [ConformanceCase] = [Way.here, .elsewhere, .process].flatMap { way in
        [CatalogChange.dropField, .dropEntity, .rename, .loosen].map { change in
            let word = change.rawValue.prefix(1).uppercased() + change.rawValue.dropFirst()
            return ConformanceCase(
                "E.caches\(word)\(way.name)", "E9", "R10", title: "a relationship that is gone or changed counts no longer",
                requires: way.requirements.union([.evolution])
            ) { context in
                var (database, people) = try open(context)
                try CatalogChange.declare.run(database)
                // The declarations of badges and passes are not open from here on.
                try context.renew(&database)
                people = try database.dao(Person.self)
                try expectError(.referenceViolation, entity: "badge", key: 1, conflictingKey: 1, field: "holder") {
                    try people.erase(byPrimaryKey: 1)
                }
                try way.run(change, Place(context: context), database)
                if change == .rename { return try expectRelated(database, people, badge: "medal", pass: "permit") }
                try expectUnrelated(database, people, passes: change == .dropEntity ? 0 : 1)
            }
        }
    }

    private static let undone: [ConformanceCase] = [
        ConformanceCase("E.cachesUndone", "E9", "T1", "T2", title: "a relationship that was undone counts no longer") { context in
            let (database, people) = try open(context)
            try expectRollback(of: database) {
                try CatalogChange.declare.run(database)
                try expectError(.referenceViolation, entity: "badge", key: 1, conflictingKey: 1, field: "holder") {
                    try people.erase(byPrimaryKey: 1)
                }
            }
            try expectEqual(try people.erase(byPrimaryKey: 1), 1, "people erased after a transaction was undone")
            // What comes in its place can have the same numbers in the catalog.
            try database.dao(Label.self).create(Label.make(1))
            try expectEqual(try people.erase(byPrimaryKey: 2), 1, "people erased when another entity came instead")
        },
        ConformanceCase(
            "E.cachesUndoneLate", "E9", "T1", "R10",
            title: "a relationship that was undone after an erasure has used it counts no longer, whatever comes in its place",
            requires: [.evolution]
        ) { context in
            let declarations: [(any Database) throws -> Void] = [
                { _ = try $0.dao(Label.self) }, { _ = try $0.dao(Counter.self) }, { _ = try $0.dao(Item.self) },
                { _ = try $0.dao(Blob.self) }, { _ = try $0.dao(Reading.self) }, { _ = try $0.dao(Member.self) },
                { _ = try $0.dao(Computed.self) },
            ]
            // What comes instead can have the same numbers in the catalog; each number of entities is one of a database.
            for number in 1...7 {
                let database = try context.openOther("\(number)")
                let people = try database.dao(Person.self)
                try people.create(Self.people)
                try expectRollback(of: database) {
                    try CatalogChange.declare.run(database)
                    // Nothing fails inside, so that only the transaction itself is undone.
                    try expectEqual(try people.erase(byPrimaryKey: 3), 1, "the people erased inside")
                }
                for declare in declarations.prefix(number) { try declare(database) }
                try expectEqual(try people.erase(byPrimaryKey: 1), 1, "the people erased after \(number) entities came")
                try expectEqual(try people.erase { $0.id == 2 }, 1, "the people erased by a condition")
                try database.expectVerified()
                // And the other way: what is declared now counts, though the undone catalog had none of it.
                let other = try context.openOther("other\(number)")
                let others = try other.dao(Person.self)
                try others.create(Self.people)
                try expectRollback(of: other) {
                    for declare in declarations.prefix(number) { try declare(other) }
                    try expectEqual(try others.erase(byPrimaryKey: 3), 1, "the people erased inside")
                }
                try CatalogChange.declare.run(other)
                try expectRelated(other, others)
            }
        },
        ConformanceCase(
            "E.cachesUndoneStorage", "E9", "E2", "T1", "T2",
            title: "a storage that is asked for again after it was undone makes its entity", requires: [.savepoints]
        ) { context in
            let (database, other) = (try context.open(), try context.open())
            func expectEntity(_ what: String) throws {
                for each in [database, other] {
                    try expect(try each.entities().contains { $0.name == Item.schema.description.name }, "the entity, \(what)")
                }
            }
            try expectRollback(of: other) { _ = try other.dao(Item.self) }
            let items = try database.dao(Item.self)
            try expectEntity("asked for by another handle")
            try items.create(Item.make([1]))
            try database.transaction {
                try expectRollback(of: database) { try database.dao(Label.self).create(Label.make(1)) }
                _ = try database.dao(Label.self)
            }
            try expect(try other.entities().contains { $0.name == Label.schema.description.name }, "the entity after a savepoint")
            try expectEqual(try other.dao(Label.self).count(), 0, "the rows")
            try expectEqual(try items.read().map(\.id), [1], "the rows of a storage from before")
        },
        ConformanceCase(
            "E.cachesUndoneInside", "E9", "T2", title: "a relationship that a savepoint undid counts no longer",
            requires: [.savepoints]
        ) { context in
            let (database, people) = try open(context)
            try database.transaction {
                try expectRollback(of: database) {
                    try CatalogChange.declare.run(database)
                    try expectError(.referenceViolation, entity: "badge", key: 1, conflictingKey: 1, field: "holder") {
                        try people.erase(byPrimaryKey: 1)
                    }
                }
                try expectEqual(try people.erase(byPrimaryKey: 1), 1, "people erased in the transaction")
            }
            try expectEqual(try people.erase(byPrimaryKey: 2), 1, "people erased after it")
        },
    ]

    // MARK: Rows

    private static let retyped: [ConformanceCase] = [Way.here, .elsewhere, .process].map { way in
        ConformanceCase(
            "E.cachesRetype\(way.name)", "E9", "E2",
            title: "no call uses a field as it was before its type changed", requires: way.requirements.union([.evolution])
        ) { context in
            // Each call is the first one after the change, in a database of its own.
            for (number, call) in calls.enumerated() {
                let place = Place(context: context, suffix: "\(number)")
                let database = try place.open()
                let gauges = try database.dao(Gauge.self)
                try gauges.create((1...9).map { Gauge(id: $0, number: $0, mark: "m") })
                let rows = try database.rows(of: "gauge")
                // Everything that is ever kept for these calls is kept.
                for _ in 1...3 { for call in calls { try call.run(gauges) } }
                try expectEqual(try rows.read().map { $0["number"] }, (1...9).map { .integer($0) }, "the numbers")
                try way.run(.retype, place, database)
                try expectError(.schemaMismatch, call.name, entity: "gauge") { try call.run(gauges) }
                try expectEqual(
                    try rows.read().map { $0["number"] }, (1...9).map { .string("\($0)") }, "the texts after \(call.name)")
                try database.close()
            }
        }
    }

    private static let retypedRows: [ConformanceCase] = [Way.here, .elsewhere, .process].map { way in
        ConformanceCase(
            "E.cachesRetypedRows\(way.name)", "E9", "E8", "L9", "E5",
            title: "rows without types, a verification and a copy are those of the new type from the first call after the change",
            requires: way.requirements.union([.evolution])
        ) { context in
            // Each call is the first one after the change, in a database of its own.
            for (number, call) in rowCalls.enumerated() {
                let place = Place(context: context, suffix: "\(number)")
                let database = try place.open()
                try database.dao(Gauge.self).create((1...9).map { Gauge(id: $0, number: $0, mark: "m") })
                let rows = try database.rows(of: "gauge")
                let before = (1...9).map { Value.integer($0) }
                for _ in 1...3 {
                    for call in rowCalls {
                        try expectEqual(try call.run(rows, context), before, "\(call.name) before the change")
                    }
                }
                try way.run(.retype, place, database)
                try expectEqual(try call.run(rows, context), (1...9).map { .string("\($0)") }, call.name)
                try database.close()
            }
        }
    }

    /// A call on the rows of gauges, which gives their numbers.
    private struct RowCall: Sendable {
        let name: String
        let run: @Sendable (EntityRows, ConformanceContext) throws -> [Value]

        init(_ name: String, _ run: @escaping @Sendable (EntityRows, ConformanceContext) throws -> [Value]) {
            (self.name, self.run) = (name, run)
        }
    }

    private static let rowCalls = [
        RowCall("a read") { rows, _ in try rows.read().map { $0["number"] ?? .null } },
        RowCall("a read by key") { rows, _ in
            try (1...9).map { try rows.read(byPrimaryKey: $0)?["number"] ?? .null }
        },
        RowCall("a stream") { rows, _ in
            var values: [Value] = []
            try rows.forEach { values.append($0["number"] ?? .null) }
            return values
        },
        RowCall("a page") { rows, _ in try rows.page(limit: 20).elements.map { $0["number"] ?? .null } },
        RowCall("a snapshot") { rows, _ in
            try rows.database.snapshot {
                try expectEqual(try rows.count(), 9, "the count")
                return try rows.read().map { $0["number"] ?? .null }
            }
        },
        RowCall("a verification") { rows, _ in
            try expectEqual(try rows.database.verify().problems.map(\.description), [], "the problems")
            return try rows.read().map { $0["number"] ?? .null }
        },
        RowCall("a copy") { rows, context in
            let target = try context.openOther("copy\(UUID().uuidString.prefix(8))")
            try rows.database.copy(to: target)
            defer { try? target.close() }
            return try target.rows(of: "gauge").read().map { $0["number"] ?? .null }
        },
    ]

    /// A call of a model of gauges.
    private struct Call: Sendable {
        let name: String
        let run: @Sendable (DAO<Gauge>) throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (DAO<Gauge>) throws -> Void) {
            (self.name, self.run) = (name, run)
        }
    }

    private static let calls = [
        Call("a read by key") { _ = try $0.read(byPrimaryKey: 3) },
        Call("a read of keys") { _ = try $0.read(byPrimaryKeys: Array(1...9)) },
        Call("a read") { _ = try $0.read() },
        Call("a condition") { _ = try $0.read { $0.number > 4 } },
        Call("a count") { _ = try $0.count { $0.number > 4 } },
        Call("a sum") { _ = try $0.sum(\.number) },
        Call("some fields") { _ = try $0.read(\.id, \.number) },
        Call("a page") { _ = try $0.page(orderedBy: .descending(\.number), limit: 3) },
        Call("a set") { try $0.set(\.number, to: 7) { $0.id == 7 } },
        Call("a persist") { try $0.persist(Gauge(id: 8, number: 8, mark: "m")) },
        Call("an erasure by a condition") { try $0.erase { $0.number > 1_000 } },
    ]

    // MARK: Builds that start at once

    private static let starts: [ConformanceCase] = [
        ConformanceCase(
            "E.buildsStartAtOnce", "E9", "E2", "C2",
            title: "two builds that declare an entity at once both go on, and so does who reads it without types or verifies it",
            requires: [.processes, .evolution, .snapshotReads], isHeavy: true
        ) { context in
            typealias Build = ConformanceProcesses.Build
            let pairs: [(Build, Build)] = [(.newer, .newer), (.newer, .indexed), (.older, .newer), (.older, .indexed)]
            for round in 0..<12 {
                let place = Place(context: context, suffix: "\(round)")
                let database = try place.open()
                let isOlder = round / 4 > 0
                let ledger = try ProcessLedger(database)
                if isOlder {
                    for number in 1...40 { try expectEqual(try ledger.publish(.older, number, number), "done") }
                }
                let pair = pairs[round % 4]
                let processes = try (0..<2).map { _ in try place.startProcess() }
                try processes[0].say("publish \(pair.0.rawValue) 101 101")
                try processes[1].say("publish \(pair.1.rawValue) 102 102")
                for _ in 0..<12 {
                    try expectEqual(try database.verify().problems.map(\.description), [], "the problems meanwhile")
                    if isOlder {
                        let rows = try database.rows(of: "pamphlet").read(where: "id < 100")
                        try expectEqual(rows.count, 40, "the rows meanwhile")
                        try expect(try ledger.pamphlets(.older).split(separator: ",").count >= 40, "the rows of the older build")
                    }
                    _ = try database.entities()
                }
                for (number, process) in processes.enumerated() {
                    let build = number == 0 ? pair.0 : pair.1
                    try expectEqual(
                        try process.next(), "done",
                        "round \(round), \(build.rawValue) of \(pair.0.rawValue) and \(pair.1.rawValue)")
                }
                try expectEqual(
                    try database.rows(of: "pamphlet").read(where: "id > 100").map(\.key), [101, 102], "the new rows")
                try expectEqual(try database.verify().problems.map(\.description), [], "the problems")
                try database.close()
            }
        },
        ConformanceCase(
            "E.buildStartsBesideAnother", "E9", "E2", "C2",
            title: "a build of this process goes on when one of another process declares the entity in the same moment",
            requires: [.processes, .evolution]
        ) { context in
            typealias Build = ConformanceProcesses.Build
            let pairs: [(Build, Build)] = [(.newer, .newer), (.newer, .indexed), (.older, .newer), (.indexed, .older)]
            // Each later start of this process is a little later.
            for round in 0..<8 {
                let place = Place(context: context, suffix: "\(round)")
                let database = try place.open()
                let ledger = try ProcessLedger(database)
                let process = try place.startProcess()
                let (own, others) = pairs[round % 4]
                try process.say("publish \(others.rawValue) 1 1")
                Thread.sleep(forTimeInterval: 0.002 * Double(round))
                try expectEqual(try ledger.publish(own, 2, 2), "done", "\(own.rawValue) beside \(others.rawValue)")
                try expectEqual(try process.next(), "done", "\(others.rawValue) beside \(own.rawValue)")
                try expectEqual(try ledger.publish(own, 3, 3), "done", "the next row here")
                try expectEqual(try process.ask("publish \(others.rawValue) 4 4"), "done", "the next row there")
                try expectEqual(try database.rows(of: "pamphlet").read().map(\.key), [1, 2, 3, 4], "the rows")
                try database.expectVerified()
                try database.close()
            }
        },
        ConformanceCase(
            "E.migrateAtOnce", "E9", "E3", "C2",
            title: "two processes that migrate at once migrate once, and reads beside them see one version",
            requires: [.processes, .evolution, .snapshotReads], isHeavy: true
        ) { context in
            for round in 0..<8 {
                let place = Place(context: context, suffix: "\(round)")
                let database = try place.open()
                try database.dao(Gauge.self).create((1...300).map { Gauge(id: $0, number: $0, mark: "m") })
                let rows = try database.rows(of: "gauge")
                let processes = try (0..<2).map { _ in try place.startProcess() }
                for process in processes { try process.say("catalog retype") }
                func expectOneVersion(_ what: String) throws {
                    let values = try rows.read().map { $0["number"] ?? .null }
                    let numbers = (1...300).map { Value.integer($0) }
                    try expect(
                        values == numbers || values == (1...300).map { .string("\($0)") },
                        "the numbers, or the texts, \(what): \(shortened(values))")
                }
                for _ in 0..<12 {
                    try expectOneVersion("meanwhile")
                    try database.snapshot {
                        let before = try rows.entity
                        try expectOneVersion("in a snapshot")
                        try expectEqual(try rows.entity, before, "the entity in a snapshot")
                    }
                    try expectEqual(try database.verify().problems.map(\.description), [], "the problems meanwhile")
                }
                for process in processes { try expectEqual(try process.next(), "done", "round \(round)") }
                try expectEqual(try database.schemaVersion, 1, "the version")
                try expectEqual(try rows.read(byPrimaryKey: 7)?["number"], .string("7"), "a row")
                try database.close()
            }
        },
    ]

    static let cases = appearing + disappearing + undone + retyped + retypedRows + starts
}

private struct Gauge: Plain, Model, Equatable {
    var id: Int
    var number: Int
    var mark: String
    static let schema = Schema(
        "gauge", Self.init, Field("id", \.id, .primaryKey), Field("number", \.number, .indexed), Field("mark", \.mark))
}
