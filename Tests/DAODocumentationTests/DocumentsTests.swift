import DAOCore
import Foundation
import Testing

/// Every Swift block of the documents is, line for line, in a file that is compiled and tested. The exceptions
/// are manifests, which the package in `Tests/Consumers` tests.
@Suite struct DocumentsTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let documents = [
        "README.md", "Docs/CustomStorage.md", "Docs/Transport.md", "Docs/Relationships.md", "Docs/Observing.md",
        "Docs/DirectAccess.md", "Docs/Evolution.md", "Docs/Instruments.md", "Docs/Embedded.md",
        "Docs/EntityRows.md", "Docs/Performance.md", "Docs/GeneratedModels.md", "Docs/PostgreSQL.md", "Docs/Scaling.md",
        "Docs/GettingStarted.md", "Docs/Modelling.md", "Docs/Querying.md", "Docs/Testing.md", "Docs/ComingFrom.md",
        "Docs/Nodes.md", "Docs/DatesAndDecimals.md", "Docs/Encryption.md", "Docs/Apple.md", "Docs/Search.md", "Docs/Errors.md",
        "Docs/Transactions.md", "Docs/Cookbook.md", "Docs/DAOPattern.md", "Docs/Changes.md",
    ]

    /// The landing pages of the modules.
    static let landingPages = {
        let modules = try? FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Sources").path)
        return (modules ?? []).map { "Sources/\($0)/\($0).docc/\($0).md" }
            .filter { FileManager.default.fileExists(atPath: root.appendingPathComponent($0).path) }
    }()

    @Test(arguments: documents + landingPages) func codeIsCompiled(_ document: String) throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent(document), encoding: .utf8)
        let blocks = Self.swiftBlocks(in: text)
        #expect(!blocks.isEmpty || document.contains(".docc"), "\(document) has no Swift code")
        let sources = try ["DAOExamples", "DAODocumentationTests", "DAOConformanceTests", "DAOPostgresTests"].flatMap { name in
            let folder = Self.root.appendingPathComponent("Tests/\(name)")
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }.map {
                Self.lines(of: try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
            }
        }
        for block in blocks where !block.hasPrefix("// Package.swift") && !block.hasPrefix("// swift-tools-version") {
            let wanted = Self.lines(of: block)
            let isThere = sources.contains { source in
                source.count >= wanted.count
                    && source.indices.dropLast(wanted.count - 1).contains { Array(source[$0..<$0 + wanted.count]) == wanted }
            }
            #expect(isThere, "no compiled file contains this block of \(document):\n\(block)")
        }
    }

    /// Every test that Docs/TransportGuarantees.md names exists.
    @Test func transportGuaranteesNameExistingTests() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("Docs/TransportGuarantees.md"), encoding: .utf8)
        let sources = try ["DAOTransportTests", "DAONodesTests"].flatMap { name in
            let folder = Self.root.appendingPathComponent("Tests/\(name)")
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }.map {
                try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
            }
        }.joined()
        let names = text.split(separator: "\n").filter { $0.hasPrefix("|") }.compactMap { $0.split(separator: "|").last }
            .flatMap { $0.matches(of: /`(\w+)`/).map(\.output.1) }
        #expect(names.count > 80)
        for name in names {
            #expect(sources.contains("func \(name)("), "Docs/TransportGuarantees.md names \(name), which is not a test")
        }
    }

    /// Docs/Errors.md has each kind of error once, and no other.
    @Test func everyErrorIsInItsGuide() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("Docs/Errors.md"), encoding: .utf8)
        let named = text.split(separator: "\n").compactMap { $0.firstMatch(of: /^\| `(\w+)` \|/).map { String($0.output.1) } }
        #expect(named.sorted() == StorageError.Kind.allCases.map(\.rawValue).sorted())
    }

    /// Every file that CONTRIBUTING.md names exists, so that its walks stay true.
    @Test func contributingNamesExistingFiles() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("CONTRIBUTING.md"), encoding: .utf8)
        let files = ["Sources", "Tests", "Docs"].flatMap { folder in
            FileManager.default.enumerator(atPath: Self.root.appendingPathComponent(folder).path)?
                .compactMap { ($0 as? String).map { "/\(folder)/\($0)" } } ?? []
        }
        let names = text.matches(of: /`([\w+\/-]+\.(swift|md))`/).map { "/" + $0.output.1 }
        #expect(names.count > 30)
        for name in Set(names).subtracting(["/Type+Topic.swift"]) {
            #expect(files.contains { $0.hasSuffix(name) }, "CONTRIBUTING.md names \(name), which does not exist")
        }
    }

    @Test(
        arguments: documents + [
            "CONTRIBUTING.md", "Docs/Architecture.md", "Docs/CommandLine.md", "Docs/Contract.md", "Docs/TransportGuarantees.md",
            "Docs/README.md", "Docs/HowItIsFast.md", "Docs/ChoosingABackend.md", "Docs/AdoptedTables.md", "CHANGELOG.md",
        ])
    func linksResolve(_ document: String) throws {
        let file = Self.root.appendingPathComponent(document)
        let text = try String(contentsOf: file, encoding: .utf8)
        for match in text.matches(of: /\]\(([^)#]+)\)/) where !match.output.1.contains("://") {
            let target = file.deletingLastPathComponent().appendingPathComponent(String(match.output.1))
            #expect(
                FileManager.default.fileExists(atPath: target.path),
                "\(document) links to \(match.output.1), which does not exist")
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
