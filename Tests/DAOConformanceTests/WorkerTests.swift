import DAOTestSupport
import Foundation
import Testing

@testable import DAOConformance

/// The suite on a storage that ends its process, and what is said while it runs.
@Suite(.timeLimit(.minutes(20))) struct WorkerTests {
    @Test func aCaseThatEndsItsProcessIsALine() async throws {
        let place = Place()
        let json = place.path("report.json")
        let chosen = ["E.partReads", "K.onlyKey", "Q.textKeysByAnIndex", "R.emptyKeys", "K.emptyString"]
        let run = try await Self.run(
            ["--url", "misbehaving:", "--time-limit", "1", "--json", json, "--verbose"] + chosen.flatMap { ["--case", $0] })
        #expect(run.status == 1)
        let report = try JSONDecoder().decode(ConformanceReport.self, from: Data(contentsOf: URL(fileURLWithPath: json)))
        let results = Dictionary(report.results.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        #expect(report.engine == "memory" && report.results.count == chosen.count)
        let trapped = try #require(results["E.partReads"])
        #expect(trapped.status == .ended && trapped.message?.contains("Index out of range") == true, "\(trapped)")
        #expect(trapped.message?.contains("signal") == true)
        let left = try #require(results["Q.textKeysByAnIndex"])
        #expect(left.status == .ended && left.message?.contains("exit code 3") == true, "\(left)")
        #expect(results["R.emptyKeys"]?.status == .hung)
        for id in ["K.onlyKey", "K.emptyString"] { #expect(results[id]?.status == .passed, "\(id)") }
        // The table, and each result as it came.
        #expect(run.output.contains("cases failed") && run.output.contains("ended  misbehaving:  E.partReads"))
        #expect(run.errors.contains("prints what it likes"))
    }

    @Test func aDatabaseThatCannotBeOpenedGetsAReport() async throws {
        let run = try await Self.run(["--url", "unopened:", "--case", "K.int", "--case", "K.emptyString"])
        #expect(run.status == 1 && run.output.contains("could not begin: exit code 4"), "\(run)")
        // Each failure is told at once.
        #expect(run.errors.contains("failed  unopened:  K.emptyString"))
    }

    @Test func inThisProcessOnlyWhenAsked() async throws {
        let run = try await Self.run(["--url", "misbehaving:", "--case", "Q.textKeysByAnIndex", "--in-process"])
        #expect(run.status == 3 && !run.output.contains("cases failed"))
    }

    @Test func testsLeaveAReportOnDisk() async throws {
        let name = "array of \(UUID().uuidString)"
        let target = ConformanceTarget(name: name) { try ArrayDatabase($0.name) }
        let file = ConformanceTestRun.file(of: name)
        defer { try? FileManager.default.removeItem(at: file) }
        let tests = Conformance.cases(for: target, chapters: [.keys]) { ["K.int", "K.emptyString"].contains($0.id) }
        #expect(!FileManager.default.fileExists(atPath: file.path), "nothing is written before a test runs")
        let hanging = ConformanceCase("K.hanging", "K1", title: "a case that never ends") { context in
            let text = try String(contentsOf: file, encoding: .utf8)
            try expect(text.hasSuffix("begun   K.hanging\n"), "the case that runs, in: \(text)")
        }
        for test in tests { try await test.run() }
        try await ConformanceTest(
            conformanceCase: hanging, target: target, timeLimit: .seconds(5), testRun: ConformanceTestRun.adding(1, of: name)
        ).run()
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { $0.prefix { $0 != " " } }
        #expect(lines == ["begun", "passed", "begun", "passed", "begun", "passed"])
    }

    @Test func progressNamesTheSlowOne() {
        let progress = ConformanceProgress(of: "mine", total: 3)
        #expect(progress.line == nil)
        progress.begin("K.slow")
        progress.begin("K.quick")
        #expect(progress.line == "mine: 0 of 3 cases; K.slow")
        let quick = ConformanceCase("K.quick", "K1", title: "a case") { _ in }
        progress.end(ConformanceResult(quick, .hung, timeLimit: .seconds(1), duration: .seconds(1)))
        #expect(progress.line == "mine: 1 of 3 cases, 1 failed; K.slow")
    }

    @Test func aTerminalHasOneLine() throws {
        let (terminal, pipe) = (Shared(""), Shared(""))
        let step = Shared(0)
        func lines(_ text: Shared<String>, isTerminal: Bool) -> ProgressLine {
            ProgressLine(isTerminal: isTerminal, every: 0.01, write: { written in text.change { $0 += written } }) {
                "step \(step.value)"
            }
        }
        let (first, second) = (lines(terminal, isTerminal: true), lines(pipe, isTerminal: false))
        func wait(for text: String) -> Bool {
            for _ in 0..<1000 {
                if terminal.value.contains(text), pipe.value.contains(text) { return true }
                Thread.sleep(forTimeInterval: 0.01)
            }
            return false
        }
        #expect(wait(for: "step 0"))
        for line in [first, second] { line.say("failed  K.int") }
        step.change { $0 = 1 }
        #expect(wait(for: "step 1"))
        for line in [first, second] { line.end() }
        let (onTerminal, toPipe) = (terminal.value, pipe.value)
        step.change { $0 = 2 }
        Thread.sleep(forTimeInterval: 0.1)
        #expect(terminal.value == onTerminal && pipe.value == toPipe, "nothing is said after the end")
        #expect(toPipe == "step 0\nfailed  K.int\nstep 1\n")
        #expect(
            onTerminal.components(separatedBy: "\n").count == 2, "only what was said has a line: \(onTerminal.debugDescription)")
        #expect(onTerminal.hasSuffix("\r\u{1B}[K"))
    }

    private static func run(_ words: [String]) async throws -> Process.Ended {
        let process = Process()
        process.executableURL = Process.built("dao-misbehaving-conformance")
        process.arguments = words
        return try await process.runToEnd()
    }
}
