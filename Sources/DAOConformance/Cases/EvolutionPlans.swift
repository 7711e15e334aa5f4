import DAOCore

/// E2, E3: a plan says every change in words.
enum EvolutionPlans {
    static let cases: [ConformanceCase] = [
        ConformanceCase("E.planWords", "E2", "E3", "L7", title: "a plan says each change of fields and indexes") { context in
            let (database, _) = try context.databaseOfNotes()
            try expectPlans(
                of: "note", in: database,
                [
                    (NoteV1.self, []),
                    (
                        NoteWithIndexes.self,
                        [
                            "'title' is now unique", "the index on 'title' is added", "the index on 'rank' is added",
                            "'mark' is now unique", "the index on 'mark' is added",
                        ]
                    ),
                    (NoteWithNumber.self, ["'color' is added"]),
                    (NoteWithHeadline.self, ["'title' becomes 'headline'", "the index on 'headline' is added"]),
                    (
                        NoteWithOtherNils.self,
                        [
                            "'title' becomes optional", "the index on 'title' is added", "'rank' becomes optional",
                            "'mark' is no longer optional, nil becomes the default", "the index on 'mark' is added",
                            "the default of 'mark' changes",
                        ]
                    ),
                    (NoteThatDrops.self, ["'rank' is dropped", "'mark' is dropped"]),
                    (
                        NoteWithLongIndex.self,
                        ["the index on 'mark, title' is added", "the index on 'rank, mark descending' is added"]
                    ),
                    (
                        NoteWithPartialIndex.self,
                        [
                            "the index on 'rank where mark == nil' is added",
                            "the index on 'rank, title descending where rank > 3' is added",
                        ]
                    ),
                ])
        },
        ConformanceCase("E.planObstacles", "E3", "L7", title: "a plan says what needs a migration step") { context in
            let (database, _) = try context.databaseOfNotes()
            try expectPlans(
                of: "note", in: database,
                [
                    (
                        NoteWithLess.self,
                        [
                            "a step: 'rank' is stored, is not optional and has no default, and is not declared; declare it, or say "
                                + ".dropped(\"rank\")"
                        ]
                    ),
                    (NoteWithTextRank.self, ["a step: 'rank' is stored as int64 and declared as string"]),
                    (
                        NoteWithRequiredMark.self,
                        ["a step: 'mark' is stored as string? and declared as string, without a default for nil"]
                    ),
                    (NoteWithRequiredField.self, ["a step: 'extra' is not stored, is not optional and has no default"]),
                    (NoteWithTextKey.self, ["a step: 'id' is stored as int64 and declared as string"]),
                    (
                        NoteByTitle.self,
                        ["a step: 'id' is the stored primary key", "a step: 'title' is not the stored primary key"]
                    ),
                ])
        },
        ConformanceCase("E.planIndexes", "E2", "L7", title: "a plan says which indexes come, change and go") { context in
            var (database, _) = try context.databaseOfNotes()
            _ = try database.storage(for: NoteWithIndexes.self)
            let indexes = ["'title' is no longer unique", "the index on 'title' is dropped", "the index on 'rank' is dropped"]
            try expectPlans(
                of: "note", in: database,
                [(NoteV1.self, indexes + ["'mark' is no longer unique", "the index on 'mark' is dropped"])])
            try context.renew(&database)
            _ = try database.storage(for: NoteWithLongIndex.self)
            let dropped = ["the index on 'mark, title' is dropped", "the index on 'rank, mark descending' is dropped"]
            try expectPlans(
                of: "note", in: database,
                [
                    (NoteV1.self, dropped),
                    (
                        NoteWithOtherLongIndex.self,
                        [
                            "'title' becomes 'headline'", "'mark' becomes 'sign'", "the index on 'sign, headline' is now unique",
                            "the index on 'rank, mark descending' is dropped",
                            "the index on 'rank descending, sign descending' is added",
                        ]
                    ),
                    (NoteThatDrops.self, ["'rank' is dropped", "'mark' is dropped"] + dropped),
                    (NoteWithUniquePartialIndex.self, dropped + ["the index on 'title where mark == nil' is added"]),
                ])
        },
        ConformanceCase("E.planRelations", "E2", "E3", "L7", title: "a plan says what changes about relationships") { context in
            let database = try context.open()
            _ = try database.storage(for: Rack.self)
            try expectPlans(
                of: "rack", in: database,
                [
                    (RackThatCascades.self, ["'items' cascades", "'lead' cascades"]),
                    (
                        RackOfOthers.self,
                        [
                            "a step: 'items' leads to 'item' and is declared to lead to 'label'",
                            "a step: 'lead' leads to 'item' and is declared to lead to 'person'",
                        ]
                    ),
                ])
            let other = try context.openOther()
            _ = try other.storage(for: RackThatCascades.self)
            try expectPlans(of: "rack", in: other, [(Rack.self, ["'items' no longer cascades", "'lead' no longer cascades"])])
        },
    ].requiring(.evolution)

    /// Compares the words of the plans for models of an entity.
    private static func expectPlans(
        of entity: String, in database: any Database, _ expected: [(model: any Model.Type, words: [String])]
    ) throws {
        for (model, words) in expected {
            let plan = try database.pendingMigration(Evolution(version: 1, models: [model]))
            let change = plan?.automaticChanges.first { $0.entity == entity }
            let found = (change?.changes ?? []) + (change?.obstacles.map { "a step: \($0)" } ?? [])
            try expectEqual(found, words, "the plan for \(model)")
        }
    }
}

/// A row with links that do not cascade.
private struct Rack: Model {
    var id: Int
    var items: [Item]
    var lead: Item?

    static let schema = Schema(
        "rack", Self.init, Field("id", \.id, .primaryKey), Field("items", \.items, .linked), Field("lead", \.lead, .linked))
}

/// ``Rack`` with links that cascade.
private struct RackThatCascades: Model {
    var id: Int
    var items: [Item]
    var lead: Item?

    static let schema = Schema(
        "rack", Self.init, Field("id", \.id, .primaryKey), Field("items", \.items, .cascade), Field("lead", \.lead, .cascade))
}

/// ``Rack`` with links to other rows.
private struct RackOfOthers: Model {
    var id: Int
    var items: [Label]
    var lead: Person?

    static let schema = Schema(
        "rack", Self.init, Field("id", \.id, .primaryKey), Field("items", \.items, .linked), Field("lead", \.lead, .linked))
}
