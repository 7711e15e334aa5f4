import Foundation
import Testing

/// Every Swift block of the documents stands, line for line, in a file that is compiled and tested; but for the manifest in the README,
/// which the packages under `Tests/Consumers` stand for.
@Suite struct DocumentsTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let documents = ["README.md", "Docs/CustomStorage.md", "Docs/Transport.md", "Docs/Evolution.md"]

    @Test(arguments: documents) func codeIsCompiled(_ document: String) throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent(document), encoding: .utf8)
        let blocks = Self.swiftBlocks(in: text)
        #expect(!blocks.isEmpty, "\(document) has no Swift code")
        let sources = try ["Examples", "DocumentationTests", "DAOConformanceTests"].flatMap { name in
            let folder = Self.root.appendingPathComponent("Tests/\(name)")
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }.map {
                Self.lines(of: try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
            }
        }
        for block in blocks where !block.hasPrefix("// Package.swift") {
            let wanted = Self.lines(of: block)
            let isThere = sources.contains { source in
                source.count >= wanted.count
                    && source.indices.dropLast(wanted.count - 1).contains { Array(source[$0..<$0 + wanted.count]) == wanted }
            }
            #expect(isThere, "this block of \(document) is in no file that is compiled:\n\(block)")
        }
    }

    @Test(arguments: [
        "README.md", "Docs/CustomStorage.md", "Docs/Transport.md", "Docs/Evolution.md", "Docs/Architecture.md",
        "Docs/Contract.md",
    ])
    func linksLeadSomewhere(_ document: String) throws {
        let file = Self.root.appendingPathComponent(document)
        let text = try String(contentsOf: file, encoding: .utf8)
        for match in text.matches(of: /\]\(([^)#]+)\)/) where !match.output.1.contains("://") {
            let target = file.deletingLastPathComponent().appendingPathComponent(String(match.output.1))
            #expect(
                FileManager.default.fileExists(atPath: target.path), "\(document) links to \(match.output.1), which is not there")
        }
    }

    private static func swiftBlocks(in text: String) -> [String] {
        text.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
    }

    /// The lines without indentation, and without blank ones.
    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
