import DAOCore
import DAOTestSupport
import Foundation
import Testing

@testable import DAOConformance

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The page of reports, and the program that writes it.
@Suite(.timeLimit(.minutes(60))) struct PageTests {
    /// A page is well-formed, in one file, and has what failed, what was skipped, and all times.
    @Test func aPageHasRulesFailuresAndSkips() async throws {
        let array = await Conformance.run(on: SuiteTests.array, chapters: [.keys]) { $0.id != "K.int" }
        let broken = await Conformance.run(on: FaultyDatabase.target(.refusesEmptyKeys), chapters: [.keys])
        let page = try Page(ConformanceReport.html([array, broken]))
        let failures = broken.failures.count
        #expect(page.text.contains("DAO conformance: \(failures == 1 ? "1 failure" : "\(failures) failures")"))
        let failure = try #require(broken.failures.first { $0.id == "K.emptyString" })
        for text in [
            failure.title, try #require(failure.message), "on \(broken.target)",
            "--url '\(broken.target)' --case K.emptyString", "K3 \(try #require(ContractRule.named("K3")).title)",
            "its data does not outlive the last reference", "The slowest cases",
        ] { #expect(page.text.contains(text), "\(text)") }
        #expect(!page.text.contains("R1 "), "a chapter that was not run has no rows")
        for result in array.results { #expect(page.text.contains(result.id)) }
        for tag in ["script", "link", "img", "iframe"] { #expect(!page.tags.contains(tag)) }
        #expect(page.source.contains("prefers-color-scheme: dark") && !page.source.contains("http:"))
    }

    /// Whatever a database answers is text.
    @Test func textIsEscaped() async throws {
        let hard = "<script>alert(1)</script> & \"a\" 'b' ]]> \u{0}\u{1B}[31m\u{202E}\u{FFFF}\u{85}"
        let failing = ConformanceCase("K.int", "K1", title: "<i>a title</i>") { _ in
            throw ConformanceFailure(hard, expected: hard, got: "<b>", file: #fileID, line: #line)
        }
        let test = ConformanceTest(conformanceCase: failing, target: SuiteTests.array, timeLimit: .seconds(5))
        let report = ConformanceReport(target: "<a href='x'>", engine: "\"", results: [await test.result()])
        let page = try Page(ConformanceReport.html([report]))
        #expect(page.tags.isDisjoint(with: ["script", "i", "b", "a"]))
        #expect(page.text.contains("<script>alert(1)</script> & \"a\" 'b' ]]> ") && page.text.contains("<i>a title</i>"))
        #expect(page.text.contains("PageTests.swift:"))
        #expect(!page.text.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
    }

    @Test func nothingIsAPage() throws {
        #expect(try Page(ConformanceReport.html([])).text.contains("nothing was run"))
    }

    @Test func theProgramWritesFiles() async throws {
        let place = Place()
        let (html, json) = (place.path("report.html"), place.path("report.json"))
        let run = try await run("--url", "memory:", "--case", "K.int", "--html", html, "--json", json)
        #expect(
            run.status == 0 && run.output.contains("written to \(html)") && run.output.contains("written to \(json)"), "\(run)")
        #expect(try Page(String(contentsOfFile: html, encoding: .utf8)).text.contains("DAO conformance: no failure"))
        #expect(FileManager.default.fileExists(atPath: json))
        let listed = try await self.run("--url", "memory:", "--list", "--case", "R.many", "--case", "K.int", "--no-heavy")
        #expect(listed.output.contains("K.int (") && !listed.output.contains("R.many ("), "\(listed.output)")
        let help = try await self.run("--help")
        #expect(help.status == 0 && help.output.contains("--html PATH"))
        for (words, error) in [
            (["--html"], "--html needs a value"), (["--html", place.path("none/report.html")], "cannot be written"),
            (["--chapter", "Z"], "there is no chapter 'Z'"), (["--case", "none"], "no case was chosen"),
            (["--fast"], "there is no option '--fast'"), (["--url", "realm:"], "there is no driver for 'realm:'"),
            (["--url", "sqlite:app.db"], "every test needs a separate one"), (["--time-limit", "0"], "a number of seconds"),
        ] {
            let run = try await Process.running("dao-conformance", words)
            #expect(run.status == 2 && run.output.isEmpty && run.errors.hasPrefix("dao-conformance: "), "\(words): \(run)")
            #expect(run.errors.contains(error), "\(run.errors)")
        }
    }

    private func run(_ words: String...) async throws -> Process.Ended { try await Process.running("dao-conformance", words) }
}

extension Process {
    fileprivate static func running(_ program: String, _ words: [String]) async throws -> Ended {
        let process = Process()
        process.executableURL = built(program)
        process.arguments = words
        return try await process.runToEnd()
    }
}

/// What a browser has of a page. A page that is not well-formed is an error.
private final class Page: NSObject, XMLParserDelegate {
    let source: String
    private(set) var tags: Set<String> = []
    /// The text between the tags.
    private(set) var text = ""

    init(_ source: String) throws {
        self.source = source
        super.init()
        let parser = XMLParser(data: Data(source.utf8))
        parser.delegate = self
        guard parser.parse() else {
            throw StorageError(.io, "line \(parser.lineNumber): \(parser.parserError.map { "\($0)" } ?? "no XML")")
        }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) { tags.insert(name) }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
}
