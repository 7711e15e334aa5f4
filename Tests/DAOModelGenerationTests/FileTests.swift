import Foundation
import Testing

@testable import DAOModelGeneration

/// Which files are written, and which are left alone.
@Suite(.timeLimit(.minutes(30))) struct FileTests {
    private static func note(_ more: String = "") -> String {
        "import DAOCore\nstruct Note: Plain {\n    let id: Int\n\(more)    var uniqueId: UniqueID { UniqueID(id) }\n}\n"
    }

    @Test func filesFollowTheirValuesUntilSomebodyEditsThem() throws {
        let target = Target()
        try target.write(Self.note(), to: "Note.swift")
        var outcome = try target.generate(checks: true)
        #expect(!outcome.isClean && outcome.lines.first == "Models/NoteModel.swift: missing")
        #expect(target.models.isEmpty)
        #expect(try target.generate().isClean)
        let first = try #require(target.read("Models/NoteModel.swift"))
        #expect(try target.generate().lines == ["1 model of App, all up to date"])
        #expect(try target.generate(checks: true).isClean)

        // The old file does not compile any more, which does not matter.
        try target.write(Self.note("    let text: String\n").replacing("id: Int", with: "id: String"), to: "Note.swift")
        outcome = try target.generate(checks: true)
        #expect(!outcome.isClean && outcome.lines.first == "Models/NoteModel.swift: stale")
        #expect(target.read("Models/NoteModel.swift") == first)
        #expect(try target.generate().lines == ["Models/NoteModel.swift: written again"])
        let second = try #require(target.read("Models/NoteModel.swift"))

        // A formatter changes no code.
        try target.write(second.replacing("    ", with: "  "), to: "Models/NoteModel.swift")
        #expect(try target.generate(checks: true).isClean)

        let edited = second.replacing("var text: String", with: "var text: String\n    var draft: String?")
        try target.write(edited, to: "Models/NoteModel.swift")
        for checks in [true, false] {
            outcome = try target.generate(checks: checks)
            #expect(!outcome.isClean)
            #expect(
                outcome.lines.count == 1 && outcome.lines[0].hasPrefix("Models/NoteModel.swift:1: error: the file was edited"))
        }
        #expect(target.read("Models/NoteModel.swift") == edited)
        let own = edited.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2).joined(separator: "\n")
        try target.write(own, to: "Models/NoteModel.swift")
        #expect(try target.generate().isClean)
        #expect(target.read("Models/NoteModel.swift") == own)

        try target.remove("Models/NoteModel.swift")
        try target.write(second, to: "Models/NoteModel.swift")
        try target.write("", to: "Note.swift")
        outcome = try target.generate(checks: true)
        #expect(!outcome.isClean && outcome.lines[0].hasPrefix("Models/NoteModel.swift: nothing to generate it from"))
        #expect(try target.generate().lines[0].hasPrefix("Models/NoteModel.swift: removed"))
        #expect(target.models.isEmpty)
    }

    @Test func oneTypeIsGeneratedAndAnUnknownOneIsNot() throws {
        let target = Target()
        try target.write(Self.note() + Self.note().replacing("Note", with: "Card"), to: "Note.swift")
        #expect(try target.generate(type: "Card").lines == ["Models/CardModel.swift: written"])
        #expect(throws: GenerationFailure.self) { try target.generate(type: "Nothing") }
    }

    /// The value and the file that Docs/GeneratedModels.md shows. Both are in DAOExamples, where they are compiled.
    @Test func theGuideShowsWhatIsGenerated() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let guide = try String(contentsOf: root.appendingPathComponent("Docs/GeneratedModels.md"), encoding: .utf8)
        let blocks = guide.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(blocks.count == 2)
        let target = Target()
        try target.write(blocks[0], to: "Album.swift")
        #expect(try target.generate().isClean)
        #expect(target.read("Models/AlbumModel.swift") == blocks[1])
    }
}
