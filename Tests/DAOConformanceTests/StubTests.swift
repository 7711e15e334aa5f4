import DAOCore
import DAOSQLite
import Foundation
import Testing

@testable import DAOConformance

/// The suite in the hands of somebody whose storage does not work yet: a report always comes out. `STUBS=all` in the
/// environment runs every case with every stub.
@Suite(.timeLimit(.minutes(60))) struct StubTests {
    @Test(arguments: StubAnswers.all) func everyCaseSurvivesEveryAnswer(_ answers: StubAnswers) async {
        let chosen = await Self.cases(for: answers)
        let report = await Conformance.run(on: StubDatabase.target(answers), timeLimit: .seconds(1)) { chosen.contains($0.id) }
        #expect(report.results.count == chosen.count)
        // Few cases read a cursor to its end.
        if answers != .endless { #expect(!report.failures.isEmpty) }
        if answers == .nothing { #expect(report.failures.count > chosen.count / 2) }
    }

    /// The cases that run with a stub: quick ones, each with a stub that stores nothing and with one of the others.
    private static func cases(for answers: StubAnswers) async -> Set<String> {
        if ProcessInfo.processInfo.environment["STUBS"] == "all" {
            return Set(Conformance.all.filter { !$0.isHeavy }.map(\.id))
        }
        let order = await MutantTests.order.value
        let quick = order.filter { $0.value < order.count * 3 / 4 }.keys
        guard let number = StubAnswers.all.firstIndex(of: answers), number > 0 else { return Set(quick) }
        return Set(quick.sorted().enumerated().filter { $0.offset % (StubAnswers.all.count - 1) == number - 1 }.map(\.element))
    }

    @Test(arguments: StubAnswers.Call.allCases) func casesThatHangAreReported(_ call: StubAnswers.Call) async {
        // Observations read no cursors.
        let chapter = call == .cursor ? ContractRule.Chapter.queries : .observation
        let report = await Conformance.run(
            on: StubDatabase.target(.blocks(call)), chapters: [chapter], timeLimit: .milliseconds(100))
        #expect(report.results.count == Conformance.all.count { $0.chapter == chapter })
        #expect(report.results.contains { $0.status == .hung && $0.message?.contains("did not end within 0.1 s") == true })
        #expect(report.results.map(\.seconds).reduce(0, +) < 60)
        // A blocked main thread would let every list of every other database hang.
        #expect(await Self.mainThreadAnswers())
        StubDatabase.unblock(call)
    }

    /// Returns whether the main thread runs a closure within half a minute.
    private static func mainThreadAnswers() async -> Bool {
        let hasRun = Shared(false)
        Task { @MainActor in hasRun.change { $0 = true } }
        let deadline = ContinuousClock.now + .seconds(30)
        while !hasRun.value, .now < deadline { try? await Task.sleep(for: .milliseconds(10)) }
        return hasRun.value
    }

    @Test func storesThatCannotTellATruncationDeclareIt() async throws {
        @Sendable func file(_ location: ConformanceTarget.Location) -> URL {
            location.directory.appendingPathComponent("test.db")
        }
        // It begins again without a damaged file, as a log does with an incomplete record.
        let target = ConformanceTarget(name: "log", file: file) { location in
            let url = "sqlite://\(file(location).path)"
            do {
                let database = try DatabaseDrivers(.sqlite).open(url)
                _ = try database.dao(Item.self).read()
                return StubDatabase(database, .right)
            } catch is StorageError {
                try FileManager.default.removeItem(at: file(location))
                return StubDatabase(try DatabaseDrivers(.sqlite).open(url), .right)
            }
        }
        let report = await Conformance.run(on: target) { $0.id.hasPrefix("L.truncated") }
        #expect(report.failures.isEmpty, "\(report)")
        #expect(report.results.filter { $0.status == .passed }.map(\.id) == ["L.truncatedToACommit"])
        #expect(report.skips.count == 5 && report.skips.allSatisfy { $0.message?.contains("lost its end") == true })
    }

    @Test func deafObserversCostAHundredSeconds() async {
        let report = await Conformance.run(
            on: FaultyDatabase.target(.observersHearNothing), chapters: [.observation], timeLimit: .milliseconds(100))
        #expect(report.results.contains { $0.status == .hung })
        let limits = Conformance.all.filter { $0.chapter == .observation }.map { $0.timeLimit / .seconds(1) }.sorted(by: >)
        // Two cases at a time. After ten cases that hung, a case has two seconds.
        let seconds = limits.prefix(10).reduce(0, +) + limits.dropFirst(10).map { min($0, 2) }.reduce(0, +)
        #expect(seconds / 2 <= 100)
    }
}
