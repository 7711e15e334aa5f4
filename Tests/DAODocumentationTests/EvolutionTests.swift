import DAOCore
import Foundation
import Testing

@testable import DAOExamples

@Suite struct EvolutionTests {
    @Test(arguments: ["sqlite", "lmdb"]) func articlesGrow(_ scheme: String) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("growing-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let url = "\(scheme)://\(directory.path)/articles"
        do {
            let database = try EvolutionExample.drivers.open(url)
            try database.storage(for: Articles.V1.self).insert([
                Articles.V1(id: 1, title: "One", stars: "***"), Articles.V1(id: 2, title: "", stars: "*"),
                Articles.V1(id: 3, title: "Three", stars: ""),
            ])
            try database.close()
        }
        do {
            let database = try EvolutionExample.drivers.open(url)
            let second = try database.storage(for: Articles.V2.self)
            #expect(
                try second.read(key: .integer(3)) == Articles.V2(id: 3, headline: "Three", stars: "", language: "en", note: nil))
            try database.close()
        }
        // The first step requires files with titles.
        #expect(throws: StorageError.self) { try EvolutionExample.open(url) }
        do {
            let database = try EvolutionExample.drivers.open(url)
            try database.evolve(
                Evolution(
                    version: 1, migrations: [Migration(to: 1) { try $0.renameField("headline", of: "article", to: "title") }]))
            try database.close()
        }
        let database = try EvolutionExample.open(url)
        #expect(try database.schemaVersion == 3)
        let expected = [
            Articles.V3(id: 1, headline: "One", stars: 3, language: "en"),
            Articles.V3(id: 3, headline: "Three", stars: 0, language: "en"),
        ]
        #expect(try database.storage(for: Articles.V3.self).read(Query()) == expected)
        #expect(
            try database.storage(for: Articles.Headline.self).read(Query())
                == expected.map { Articles.Headline(id: $0.id, headline: $0.headline) })
        // The note, which the third version does not declare, is still there.
        #expect(try database.entities()[0].index(of: "note") != nil)
        try database.close()
        let copy = "\(scheme == "lmdb" ? "sqlite" : "lmdb")://\(directory.path)/copy"
        try EvolutionExample.move(from: url, to: copy)
        let other = try EvolutionExample.drivers.open(copy)
        #expect(try other.storage(for: Articles.V3.self).read(Query()) == expected)
        #expect(throws: StorageError.self) { try other.storage(for: Articles.V4.self) }
        try other.close()
        let smaller = try EvolutionExample.drivers.open(copy)
        let last = try smaller.storage(for: Articles.V4.self)
        #expect(try last.read(Query()) == expected.map { Articles.V4(id: $0.id, headline: $0.headline) })
        #expect(try smaller.entities()[0].fields.map(\.name) == ["id", "headline", "language"])
    }
}
