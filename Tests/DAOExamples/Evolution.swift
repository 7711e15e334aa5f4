// The code of Docs/Evolution.md, compiled and run. `DAODocumentationTests` checks that both are the same.

import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite

/// An article in four versions of an application.
enum Articles {
    struct V1: Model, Equatable {
        var id: Int
        var title: String
        var stars: String

        static let schema = Schema(
            "article", Self.init,
            Field("id", \.id, .primaryKey), Field("title", \.title), Field("stars", \.stars))
    }

    struct V2: Model, Equatable {
        var id: Int
        var headline: String
        var stars: String
        var language: String
        var note: String?

        static let schema = Schema(
            "article", Self.init,
            Field("id", \.id, .primaryKey),
            Field("headline", \.headline, .renamed(from: "title"), .indexed),
            Field("stars", \.stars),
            Field("language", \.language, .default("en")),
            Field("note", \.note)
        )
    }

    struct V3: Model, Equatable {
        var id: Int
        var headline: String
        var stars: Int
        var language: String

        static let schema = Schema(
            "article", Self.init,
            Field("id", \.id, .primaryKey),
            Field("headline", \.headline, .renamed(from: "title"), .indexed),
            Field("stars", \.stars),
            Field("language", \.language, .default("en"))
        )
    }

    struct V4: Model, Equatable {
        var id: Int
        var headline: String

        static let schema = Schema(
            "article", Self.init,
            Field("id", \.id, .primaryKey),
            Field("headline", \.headline, .renamed(from: "title"), .indexed)
        ).dropped("stars", "note")
    }

    struct Headline: Model, Equatable {
        var id: Int
        var headline: String

        static let schema = Schema(
            partOf: V3.self, Self.init,
            Field("id", \.id, .primaryKey),
            Field("headline", \.headline)
        )
    }

    static let evolution = Evolution(
        version: 3,
        migrations: [
            Migration(to: 2, "erase articles without a title") { step in
                try step.forEachRow(of: "article") { row in
                    if row["title"] == .string("") { row.erase() }
                }
            },
            Migration(to: 3, "store stars as numbers") { step in
                try step.changeType(of: "stars", in: "article", to: FieldType(.int64)) { value in
                    guard case .string(let text) = value else { return .integer(0) }
                    return .integer(Int64(text.count))
                }
            },
        ],
        models: [V3.self]
    )
}

enum EvolutionExample {
    static let drivers = DatabaseDrivers(.memory, .sqlite, .lmdb)

    /// Prints the pending changes, then opens the database and applies them.
    static func open(_ url: String) throws -> any Database {
        if let plan = try drivers.pendingMigration(url, evolution: Articles.evolution) { print(plan) }
        let database = try drivers.open(url, evolution: Articles.evolution) { progress in
            print("\(progress.step): \(progress.rows) of \(progress.total) rows of '\(progress.entity)'")
        }
        return database
    }

    /// Copies a database to another database.
    static func move(from old: String, to new: String) throws {
        let source = try drivers.open(old)
        let target = try drivers.open(new)
        let report = try source.copy(to: target) { progress in
            print("\(progress.entity): \(progress.rows) of \(progress.total)")
        }
        print("\(report.rowsWritten) rows, \(report.bytesWritten >> 20) MB")
    }

    /// Backs a database up, and checks the backup.
    static func backUp(_ database: any Database, to path: String) throws {
        try database.backup(to: path) { progress in
            print("\(progress.bytes) of \(progress.total) bytes")
        }
        let backup = try drivers.open("\(database.configuration.scheme):\(path)")
        defer { try? backup.close() }
        let report = try backup.verify()
        guard report.isSound else { throw report.problems[0] }
    }

    /// Makes a file smaller.
    static func compact(_ database: any Database) async throws {
        let report = try await database.compact()
        print("\((report.bytesBefore - report.bytesAfter) >> 20) MB less")
    }
}
