import DAOCore
import Foundation

/// E1, E3 and E4: which changes are refused, with which words, and that a refusal changes nothing.
enum EvolutionRefusals {
    static let cases: [ConformanceCase] = [
        refusal("E.changedType", "a changed type", NoteWithTextRank.self, says: ["'rank'", "int64", "string"]),
        refusal(
            "E.requiredWithoutDefault", "an optional field that is required", NoteWithRequiredMark.self,
            says: ["'mark'", "default"]),
        refusal(
            "E.addedWithoutDefault", "a new field without default", NoteWithRequiredField.self, says: ["'extra'", "default"]),
        refusal(
            "E.retiredWithoutDefault", "a required field without default that is not declared", NoteWithLess.self,
            says: ["'rank'", "declare it", ".dropped(\"rank\")"]),
        refusal(
            "E.renamedSilently", "a required field that goes where one of its type comes", NoteWithLevel.self,
            says: ["'rank'", "'level'", ".renamed(from: \"rank\")", ".dropped(\"rank\")"]),
        refusal(
            "E.renamedSilentlyToRequired", "a required field that comes where an optional one goes", NoteWithLabel.self,
            says: ["'label'", "'mark'", ".renamed(from: \"mark\")"]),
        refusal(
            "E.renamedKeySilently", "a key of another name", NoteWithOtherKey.self,
            says: ["'id'", "'number'", ".renamed(from: \"id\")"]),
        refusal("E.changedKeyType", "a key of another type", NoteWithTextKey.self, says: ["'id'", "int64", "string"]),
        refusal("E.changedKey", "another key", NoteByTitle.self, says: ["'id'", "'title'", "primary key"]),
        ConformanceCase(
            "E.refusalTouchesNothing", "E3", title: "a refusal keeps the file unchanged, byte for byte",
            requires: [.evolution, .persistence, .file]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            try database.close()
            let file = try context.file()
            let before = try Data(contentsOf: file)
            let again = try context.open()
            try expectError(.schemaMismatch, entity: "note") { try again.storage(for: NoteWithTextRank.self) }
            try expectError(.schemaMismatch, entity: "note") {
                try again.evolve(Evolution(version: 2, models: [NoteWithOptional.self, NoteWithTextKey.self]))
            }
            try again.close()
            try expect(try Data(contentsOf: file) == before, "the file to be unchanged")
            try expectSame(try context.open().dao(NoteV1.self).read(), notes)
        },
        ConformanceCase("E.tellsVersion", "E1", title: "a database gives its version, at first 0", requires: [.evolution]) {
            context in
            let database = try context.open()
            try expectEqual(try database.schemaVersion, 0)
            try database.evolve(Evolution(version: 7))
            try expectEqual(try database.schemaVersion, 7)
            try expectEqual(try database.entities().count, 0, "entities")
            try database.evolve(Evolution(version: 9))
            try expectEqual(try database.schemaVersion, 9)
        },
        ConformanceCase(
            "E.keepsVersion", "E1", title: "a reopened database gives the same version", requires: [.evolution, .persistence]
        ) { context in
            let database = try context.open()
            try database.evolve(Evolution(version: 7))
            try expectEqual(try context.reopen(database).schemaVersion, 7)
        },
        ConformanceCase(
            "E.newerIsRefused", "E4",
            title: "opening a database of a later version is schemaIsNewer, with both versions in the message",
            requires: [.evolution]
        ) {
            context in
            let (database, notes) = try context.databaseOfNotes()
            try database.evolve(Evolution(version: 5))
            let error = try expectError(.schemaIsNewer, path: context.path) {
                try database.evolve(Evolution(version: 4, models: [NoteWithLess.self]))
            }
            try expect(error.message.contains("5") && error.message.contains("4"), "both versions in: \(error.message)")
            try expectError(.schemaIsNewer, "the dry run", path: context.path) {
                try database.pendingMigration(Evolution(version: 4))
            }
            try expectEqual(try database.schemaVersion, 5)
            try expectEqual(try database.entities(), [NoteV1.schema.description])
            try expectSame(try database.dao(NoteV1.self).read(), notes)
        },
        ConformanceCase(
            "E.newerIsUntouched", "E4", title: "a file of a later version stays unchanged, byte for byte",
            requires: [.evolution, .persistence, .file]
        ) { context in
            let (database, _) = try context.databaseOfNotes()
            try database.evolve(Evolution(version: 5))
            try database.close()
            let file = try context.file()
            let before = try Data(contentsOf: file)
            let again = try context.open()
            try expectError(.schemaIsNewer, path: context.path) {
                try again.evolve(Evolution(version: 4, migrations: [Migration(to: 4) { try $0.dropEntity("note") }]))
            }
            try again.close()
            try expect(try Data(contentsOf: file) == before, "the file to be unchanged")
        },
    ]

    private static func refusal<Record: Model>(
        _ id: String, _ what: String, _ model: Record.Type, says words: [String]
    ) -> ConformanceCase {
        ConformanceCase(
            id, "E3", title: "\(what) is schemaMismatch with the difference in words; nothing changes", requires: [.evolution]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            for attempt in 1...2 {
                let error = try expectError(.schemaMismatch, "attempt \(attempt)", entity: "note") {
                    try database.storage(for: Record.self)
                }
                for word in words { try expect(error.message.contains(word), "\(word) in: \(error.message)") }
            }
            try expectEqual(try database.entities(), [NoteV1.schema.description])
            let dao = try database.dao(NoteV1.self)
            try expectSame(try dao.read(), notes)
            try dao.create(NoteV1(id: 100, title: "", rank: 0, mark: nil))
        }
    }
}
