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

    /// The report so far is printed and written, and names the case in which the run was interrupted.
    @Test(arguments: [SIGINT, SIGTERM]) func aSignalEndsTheRunWithTheReportSoFar(_ signal: Int32) async throws {
        let place = Place()
        let json = place.path("report.json")
        let process = try ChildProcess(
            Process.built("dao-misbehaving-conformance"),
            ["--url", "misbehaving:", "--verbose", "--json", json] + ["R.emptyKeys", "K.emptyString"].flatMap { ["--case", $0] })
        // The other case stops its process.
        while let line = try process.line(within: 60), !line.hasPrefix("passed  misbehaving:  K.emptyString") {}
        try await Task.sleep(for: .milliseconds(500))
        process.send(signal: signal)
        var output = ""
        while let line = try process.line(within: 60) { output += line + "\n" }
        #expect(process.wait() == 128 + signal)
        #expect(output.contains("the run was interrupted in the case: R.emptyKeys") && output.contains("cases passed"))
        let report = try JSONDecoder().decode(ConformanceReport.self, from: Data(contentsOf: URL(fileURLWithPath: json)))
        #expect(report.results.map(\.id).sorted() == ["K.emptyString", "R.emptyKeys"])
        #expect(report.count(.passed) == 1 && report.count(.skipped) == 1 && report.engine == "memory")
    }

    /// A killed run leaves what it has done.
    @Test func theProgramLeavesAReportOnDisk() async throws {
        let place = Place()
        let file = place.directory.appendingPathComponent(".build/conformance/misbehaving-.txt")
        try FileManager.default.createDirectory(
            at: place.directory.appendingPathComponent(".build"), withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = Process.built("dao-misbehaving-conformance")
        process.arguments = ["--url", "misbehaving:", "--case", "E.partReads", "--case", "K.emptyString"]
        process.currentDirectoryURL = place.directory
        #expect(try await process.runToEnd().errors.contains("the report so far is in "))
        let words = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: " ").prefix(2)
        }
        for line in [
            ["begun", "E.partReads"], ["begun", "K.emptyString"], ["ended", "E.partReads"], ["passed", "K.emptyString"],
        ] {
            #expect(words.contains { $0.map(String.init) == line }, "\(line) in \(words)")
        }
    }

    /// A database that one process at a time may use is killed, filled and moved too.
    @Test func theFileOfOneProcessIsKilledFilledAndMoved() async throws {
        let place = Place()
        let json = place.path("report.json")
        let chosen = [
            "L.killed", "L.killedHolding", "L.outOfSpace", "L.fileMoved", "L.fileRemoved", "L.fileReplaced", "L.detachedStays",
            "L.compactMoved", "O.movedWhileObserved",
        ]
        let run = try await Self.run(["--url", "jsonfile:", "--json", json] + chosen.flatMap { ["--case", $0] })
        let report = try JSONDecoder().decode(ConformanceReport.self, from: Data(contentsOf: URL(fileURLWithPath: json)))
        let passed = Set(report.results.filter { $0.status == .passed }.map(\.id))
        #expect(passed.isSuperset(of: chosen), "\(Set(chosen).subtracting(passed)): \(run.output)")
        #expect(run.status == 0)
    }

    @Test func testsLeaveAReportOnDisk() async throws {
        let name = "array of \(UUID().uuidString)"
        let target = ConformanceTarget(name: name) { try ArrayDatabase($0.name) }
        let file = ConformanceJournal.file(of: name)
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
