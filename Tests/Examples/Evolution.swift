// The code of Docs/Evolution.md, compiled and run. `DocumentationTests` makes sure that both say the same.

import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite

/// An article in three versions of an application.
package enum Articles {
    package struct V1: Model, Equatable {
        package var id: Int
        package var title: String
        package var stars: String

        package static let schema = Schema(
            "article", Self.init,
            Field("id", \.id, .primaryKey), Field("title", \.title), Field("stars", \.stars))

        package init(id: Int, title: String, stars: String) { (self.id, self.title, self.stars) = (id, title, stars) }
    }

    package struct V2: Model, Equatable {
        package var id: Int
        package var headline: String
        package var stars: String
        package var language: String
        package var note: String?

        package static let schema = Schema(
            "article", Self.init,
            Field("id", \.id, .primaryKey),
            Field("headline", \.headline, .renamed(from: "title"), .indexed),
            Field("stars", \.stars),
            Field("language", \.language, .default("en")),
            Field("note", \.note)
        )

        package init(id: Int, headline: String, stars: String, language: String, note: String?) {
            (self.id, self.headline, self.stars, self.language, self.note) = (id, headline, stars, language, note)
        }
    }

    package struct V3: Model, Equatable {
        package var id: Int
        package var headline: String
        package var stars: Int
        package var language: String

        package static let schema = Schema(
            "article", Self.init,
            Field("id", \.id, .primaryKey),
            Field("headline", \.headline, .renamed(from: "title"), .indexed),
            Field("stars", \.stars),
            Field("language", \.language, .default("en"))
        )

        package init(id: Int, headline: String, stars: Int, language: String) {
            (self.id, self.headline, self.stars, self.language) = (id, headline, stars, language)
        }
    }

    package static let evolution = Evolution(
        version: 3,
        migrations: [
            Migration(to: 2, "articles without a title are drafts of nobody") { step in
                try step.forEachRow(of: "article") { row in
                    if row["title"] == .string("") { row.erase() }
                }
            },
            Migration(to: 3, "stars are numbers") { step in
                try step.changeType(of: "stars", in: "article", to: FieldType(.int64)) { value in
                    guard case .string(let text) = value else { return .integer(0) }
                    return .integer(Int64(text.count))
                }
            },
        ],
        models: [V3.self]
    )
}

package enum EvolutionExample {
    package static let drivers = DatabaseDrivers(.memory, .sqlite, .lmdb)

    /// Says what opening would do, and does it.
    package static func open(_ url: String) throws -> any Database {
        if let plan = try drivers.pendingMigration(url, evolution: Articles.evolution) { print(plan) }
        let database = try drivers.open(url, evolution: Articles.evolution) { progress in
            print("\(progress.step): \(progress.rows) of \(progress.total) rows of '\(progress.entity)'")
        }
        return database
    }

    /// Moves an application from one database to another.
    package static func move(from old: String, to new: String) throws {
        let source = try drivers.open(old)
        let target = try drivers.open(new)
        let report = try source.copy(to: target) { progress in
            print("\(progress.entity): \(progress.rows) of \(progress.total)")
        }
        print("\(report.rowsWritten) rows, \(report.bytesWritten >> 20) MB")
    }
}
