import DAOCore
import Foundation
import Testing

@testable import DAOConformance

/// The suite over plain arrays, with and without the optional features. Each write compares all rows, so the cases of thousands of
/// rows run on the databases alone.
@Suite struct SuiteTests {
    static let array = ConformanceTarget(name: "array") { try ArrayDatabase($0.name) }
    static let persistent = ConformanceTarget(name: "persistent array") { location in
        try ArrayDatabase(location.name, limits: .init(isPersistent: true))
    }
    static let hiddenLinks = ConformanceTarget(name: "array with hidden links") { location in
        try ArrayDatabase(location.name, limits: .init(hasReferencesInRows: false))
    }
    static let limited = ConformanceTarget(name: "limited array") { try LimitedDatabase($0.name) }
    /// Arrays are slow with a thousand rows, and all other tests run beside these.
    private static let patience = Duration.seconds(300)

    @Test(arguments: Conformance.cases(for: array, timeLimit: patience) { !$0.isHeavy })
    func conforms(_ test: ConformanceTest) async throws { try await test.run() }

    @Test(arguments: Conformance.cases(for: persistent, timeLimit: patience) { $0.requirements.contains(.persistence) })
    func conformsWithPersistence(_ test: ConformanceTest) async throws { try await test.run() }

    @Test(
        arguments: Conformance.cases(for: hiddenLinks, chapters: [.relationships, .evolution], timeLimit: patience) {
            !$0.isHeavy
        })
    func conformsWithHiddenLinks(_ test: ConformanceTest) async throws { try await test.run() }

    @Test(
        arguments: Conformance.cases(
            for: limited, chapters: [.values, .writes, .transactions, .evolution, .lifeCycle], timeLimit: patience
        ) { !$0.isHeavy })
    func conformsWithLimits(_ test: ConformanceTest) async throws { try await test.run() }
}

/// The list of cases, the runner and the report.
@Suite struct FrameTests {
    @Test func idsAreUnique() {
        let repeated = Dictionary(grouping: Conformance.all, by: \.id).filter { $1.count > 1 }.keys
        #expect(repeated.isEmpty, "repeated: \(repeated.sorted())")
    }

    @Test func idsNameAChapterAndWords() {
        for each in Conformance.all {
            #expect(each.chapter != nil, "\(each.id) does not begin with the letter of a chapter")
            #expect(each.id.dropFirst(2).allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") }, "\(each.id)")
        }
    }

    @Test func rulesExistInTheContract() {
        for each in Conformance.all {
            #expect(!each.rules.isEmpty, "\(each.id) proves no rule")
            for rule in each.rules { #expect(ContractRule.named(rule) != nil, "\(each.id) names the rule '\(rule)'") }
        }
        #expect(Set(ContractRule.all.map(\.id)).count == ContractRule.all.count)
    }

    @Test func titlesAreSentences() {
        for each in Conformance.all { #expect(!each.title.isEmpty && !each.title.hasSuffix("."), "\(each.id): \(each.title)") }
    }

    @Test func everyRuleHasACase() {
        let proved = Set(Conformance.all.flatMap(\.rules))
        for rule in ContractRule.all { #expect(proved.contains(rule.id), "\(rule.id) has no case") }
    }

    @Test func rulesMatchTheDocument() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Docs/Contract.md"), encoding: .utf8)
        let rules = text.split(separator: "\n").compactMap { $0.firstMatch(of: /^- ([A-Z][0-9]+)\b/)?.output.1 }
        #expect(rules.map(String.init).sorted() == ContractRule.all.map(\.id).sorted())
    }

    /// Every case that the table of pairs names exists.
    @Test func pairsMatchTheDocument() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Docs/RulePairs.md"), encoding: .utf8)
        let (ids, rules) = (Set(Conformance.all.map(\.id)), Set(ContractRule.all.map(\.id)))
        let named = text.matches(of: /`([A-Z]\.\w+)`/).map { String($0.output.1) }
        #expect(named.count > 15)
        for id in named { #expect(ids.contains(id), "Docs/RulePairs.md names \(id), which is no case") }
        for rule in text.matches(of: /\b([KVPQWRTCOLEN][0-9]{1,2})\b/).map({ String($0.output.1) }) {
            #expect(rules.contains(rule), "Docs/RulePairs.md names \(rule), which is no rule")
        }
    }

    /// Every case and rule that the guide for authors of storages names exists.
    @Test func theGuideNamesExistingCases() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Docs/CustomStorage.md"), encoding: .utf8)
        let ids = Set(Conformance.all.map(\.id))
        let named = text.matches(of: /`([A-Z]\.\w+)`/).map { String($0.output.1) }
        #expect(named.count > 25)
        for id in named { #expect(ids.contains(id), "Docs/CustomStorage.md names \(id), which is no case") }
        let table = text.components(separatedBy: "### What a driver honours").last?.components(separatedBy: "\n## ").first ?? ""
        for line in table.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map(String.init)
            let rules = Set(cells[2].matches(of: /[A-Z][0-9]+/).map { String($0.output) })
            #expect(!rules.isEmpty && rules.allSatisfy { ContractRule.named($0) != nil }, "\(line)")
            for match in cells[3].matches(of: /`([A-Z]\.\w+)`/) {
                let proved = Conformance.all.first { $0.id == String(match.output.1) }?.rules ?? []
                #expect(!rules.isDisjoint(with: proved), "\(match.output.1) proves \(proved), not \(rules)")
            }
        }
    }

    @Test func hangingCaseIsReported() async {
        let hanging = ConformanceCase("K.hanging", "K1", title: "a case that never ends") { _ in
            while true { Thread.sleep(forTimeInterval: 1) }
        }
        let result = await result(of: hanging, timeLimit: .milliseconds(200))
        #expect(result.status == .hung)
        #expect(result.message?.contains("did not end") == true)
    }

    @Test func hangingTaskIsReported() async {
        let hanging = ConformanceCase(concurrent: "K.hanging", "K1", title: "a task that never ends") { _ in
            while true { try? await Task.sleep(for: .seconds(1)) }
        }
        #expect(await result(of: hanging, timeLimit: .milliseconds(200)).status == .hung)
    }

    @Test func failuresContainExpectedAndActualValues() async throws {
        let failing = ConformanceCase("K.failing", "K1", title: "a case that fails") { _ in
            try expectEqual("e\u{301}", "\u{e9}", "the letter")
        }
        let result = await result(of: failing)
        #expect(result.status == .failed)
        #expect(result.expected == "\"\\u{e9}\"" && result.got == "\"e\\u{301}\"")
        #expect(result.location?.contains("SuiteTests.swift") == true)
        let test = ConformanceTest(conformanceCase: failing, target: SuiteTests.array, timeLimit: .seconds(5))
        await #expect(throws: FailedConformance.self) { try await test.run() }
    }

    @Test func unexpectedErrorsAreFailures() async {
        let throwing = ConformanceCase("K.throwing", "K1", title: "a case that throws") { _ in throw StorageError(.io, "no disk")
        }
        let result = await result(of: throwing)
        #expect(result.status == .failed && result.message?.contains("no disk") == true)
    }

    @Test func directoriesAreNewAndRemovedAfterTheCase() async {
        let seen = Shared<[URL]>([])
        let writing = ConformanceCase("K.writing", "K1", title: "a case that writes files") { context in
            let directory = context.location.directory
            try expectEqual(try FileManager.default.contentsOfDirectory(atPath: directory.path).count, 0)
            try Data("x".utf8).write(to: directory.appendingPathComponent("file"))
            seen.change { $0.append(directory) }
        }
        for _ in 0..<2 { #expect(await result(of: writing).status == .passed) }
        #expect(Set(seen.value).count == 2)
        for directory in seen.value { #expect(!FileManager.default.fileExists(atPath: directory.path)) }
    }

    @Test func everyCaseFailsWhenTheTargetCannotBeOpened() async {
        let broken = ConformanceTarget(name: "broken") { _ in throw StorageError(.io, "no disk") }
        let report = await Conformance.run(on: broken, chapters: [.keys])
        #expect(report.engine == nil)
        #expect(report.count(.passed) == 0 && report.failures.count == report.results.count - report.skips.count)
    }

    @Test func tableHasARowPerRuleAndAColumnPerTarget() async {
        let array = await Conformance.run(on: SuiteTests.array, chapters: [.keys]) { $0.id != "K.int" }
        let broken = await Conformance.run(on: FaultyDatabase.target(.refusesEmptyKeys), chapters: [.keys])
        let lines = ConformanceTable([array, broken]).description.split(separator: "\n").map(String.init)
        #expect(lines[0].contains("conformance suite \(Conformance.version)") && lines[0].contains("refusesEmptyKeys"))
        for rule in ContractRule.all where rule.chapter == .keys {
            #expect(lines.contains { $0.hasPrefix("\(rule.id) ") && $0.contains(rule.title) })
        }
        #expect(lines.contains { $0.hasPrefix("K3 ") && $0.contains("✓") && $0.contains("✗") })
        #expect(!lines.contains { $0.hasPrefix("R1 ") }, "a rule without a chosen case has no row")
        let writes = await Conformance.run(on: SuiteTests.array) { $0.id == "W.createMany" }
        let both = ConformanceTable([array, writes]).description.split(separator: "\n")
        #expect(both.contains { $0.hasPrefix("W1 ") && $0.contains("not run") && $0.contains("✓ 1") })
        #expect(lines.contains { $0.contains("K.emptyString (K3)") })
        #expect(lines.contains { $0.contains("its data does not outlive the last reference: K.afterReopening") })
    }

    /// A rule of which every case was skipped is not proved, and every form of the report says so.
    @Test func rulesWithoutACaseThatRanAreListed() async throws {
        let chosen: Set = ["L.fileMoved", "L.killed", "C.processesSeeCommits", "C.hardLink", "K.int"]
        let report = await Conformance.run(on: SuiteTests.array) { chosen.contains($0.id) }
        let rules = Dictionary(uniqueKeysWithValues: report.unprovedRules.map { ($0.id, $0.reasons) })
        #expect(Set(rules.keys) == ["L3", "T6", "L8", "C2", "C3"])
        #expect(rules["L8"] == ["the target does not give the location of its file"])
        #expect(rules["C2"] == ["it declares that only one process may use the database"])
        #expect(rules["L3"] == ["the target does not start other processes"])
        let table = report.description
        let list = try #require(table.range(of: "Rules without a case that ran on array:"))
        #expect(
            table[list.upperBound...].contains("L8 \(try #require(ContractRule.named("L8")).title): the target does not give"))
        let copy = try JSONDecoder().decode(ConformanceReport.self, from: Data(report.json().utf8))
        #expect(copy.unprovedRules == report.unprovedRules)
        #expect(ConformanceReport.html([report]).contains("Rules without a case that ran"))
        let proved = await Conformance.run(on: SuiteTests.array) { $0.id == "K.int" }
        #expect(proved.unprovedRules.isEmpty && !proved.description.contains("without a case that ran"))
    }

    /// A reason names what is missing, and not what could be.
    @Test func reasonsNameWhatIsMissing() throws {
        func reason(_ id: String, on target: ConformanceTarget, _ capabilities: Capabilities) throws -> String? {
            try #require(Conformance.all.first { $0.id == id }).reasonToSkip(on: target, capabilities)
        }
        let file = ConformanceTarget(name: "file", file: { $0.directory }) { try ArrayDatabase($0.name) }
        let shared = Capabilities(engine: "x", isPersistent: true, isMultiProcess: true)
        let alone = Capabilities(engine: "x", isPersistent: true)
        let starting = file.withProcesses { _ in throw StorageError(.io, "no process") }
        let started = "C.processesIncrement"
        #expect(try reason(started, on: starting, shared) == nil)
        #expect(try reason(started, on: starting, alone) == "it declares that only one process may use the database")
        #expect(try reason(started, on: file, shared) == "the target does not start other processes")
        // The database of one process is handed over to the other.
        for id in ["L.killed", "L.killedHolding", "L.outOfSpace"] {
            #expect(try reason(id, on: starting, alone) == nil, "\(id)")
            #expect(try reason(id, on: file, alone) == "the target does not start other processes", "\(id)")
        }
        // No other process takes part.
        for id in [
            "L.fileMoved", "L.fileRemoved", "L.fileReplaced", "L.detachedStays", "L.compactMoved", "O.movedWhileObserved",
        ] { #expect(try reason(id, on: file, alone) == nil, "\(id)") }
        let server = ConformanceTarget(name: "server") { try ArrayDatabase($0.name) }
        let network = try #require(Conformance.all.first { $0.requirements == [.network] }).id
        #expect(try reason(network, on: file, alone) == "the database is on no server")
        #expect(try reason(network, on: server, Capabilities(engine: "x")) == "the database is on no server")
        #expect(try reason(network, on: server, shared) == "the target does not disturb the connections to a server")
    }

    @Test func reportIsValidJSON() async throws {
        let report = await Conformance.run(on: SuiteTests.array, chapters: [.keys]) {
            $0.id.hasPrefix("K.int") || $0.id == "K.afterReopening"
        }
        let copy = try JSONDecoder().decode(ConformanceReport.self, from: Data(report.json().utf8))
        #expect(copy.results.map(\.id) == report.results.map(\.id))
        #expect(copy.suiteVersion == Conformance.version && copy.target == "array" && copy.engine == "array")
        #expect(copy.results.last?.status == .skipped && copy.results.last?.message != nil)
    }

    private func result(of conformanceCase: ConformanceCase, timeLimit: Duration = .seconds(5)) async -> ConformanceResult {
        await ConformanceTest(conformanceCase: conformanceCase, target: SuiteTests.array, timeLimit: timeLimit).result()
    }
}
