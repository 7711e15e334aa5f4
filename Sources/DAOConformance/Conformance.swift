import DAOCore

/// The contract as a suite: the same cases for every database.
///
/// One call runs all cases and returns a report:
///
/// ```swift
/// print(await Conformance.run(on: target))
/// ```
///
/// Three lines of Swift Testing run each case as a separate test:
///
/// ```swift
/// @Test(arguments: Conformance.cases(for: target))
/// func conforms(_ test: ConformanceTest) async throws { try await test.run() }
/// ```
public enum Conformance {
    /// The version of the suite. A new minor version adds cases; a new major version changes expectations.
    public static let version = "1.0"

    /// Every case, in the order of the contract.
    public static let all: [ConformanceCase] = Catalog.cases

    /// Returns the cases that apply to the declared capabilities of a target, each ready to run.
    ///
    /// This call opens the target once, to read its capabilities.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - chapters: The chapters; all by default.
    ///   - timeLimit: The time after which a case is reported as hung; ``ConformanceCase/timeLimit`` by default.
    ///   - filter: Selects cases; all by default.
    public static func cases(
        for target: ConformanceTarget, chapters: Set<ContractRule.Chapter> = Set(ContractRule.Chapter.allCases),
        timeLimit: Duration? = nil, where filter: (ConformanceCase) -> Bool = { _ in true }
    ) -> [ConformanceTest] {
        let capabilities = capabilities(of: target, within: timeLimit)
        let cases = chosen(chapters, filter).filter { $0.reasonToSkip(on: target, capabilities) == nil }
        let run = ConformanceTestRun.adding(cases.count, of: target.name)
        return cases.map {
            ConformanceTest(conformanceCase: $0, target: target, timeLimit: timeLimit ?? $0.timeLimit, testRun: run)
        }
    }

    /// Runs the cases on a target. A report always comes out: a case that hangs leaves its thread behind, and after
    /// ten such cases each of the others has two seconds.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - chapters: The chapters; all by default.
    ///   - timeLimit: The time after which a case is reported as hung; ``ConformanceCase/timeLimit`` by default.
    ///   - filter: Selects cases; all by default.
    ///   - onResult: Called with each result as soon as it is there, in no particular order.
    public static func run(
        on target: ConformanceTarget, chapters: Set<ContractRule.Chapter> = Set(ContractRule.Chapter.allCases),
        timeLimit: Duration? = nil, where filter: @Sendable (ConformanceCase) -> Bool = { _ in true },
        onResult: @escaping @Sendable (ConformanceResult) -> Void = { _ in }
    ) async -> ConformanceReport {
        await run(
            on: target, chapters: chapters, timeLimit: timeLimit, where: filter, onResult: onResult, onBegin: { _ in })
    }

    /// Runs the cases on a target, and tells when each begins.
    static func run(
        on target: ConformanceTarget, chapters: Set<ContractRule.Chapter>, timeLimit: Duration?,
        where filter: @Sendable (ConformanceCase) -> Bool, onResult: @escaping @Sendable (ConformanceResult) -> Void,
        onBegin: @escaping @Sendable (String) -> Void
    ) async -> ConformanceReport {
        let capabilities = await withTaskExecutorPreference(TaskThreads.shared) {
            Self.capabilities(of: target, within: timeLimit)
        }
        let hangs = Hangs()
        let results = await results(of: chosen(chapters, filter), onResult) { conformanceCase in
            if let reason = conformanceCase.reasonToSkip(on: target, capabilities) {
                return ConformanceResult(conformanceCase, skipped: reason)
            }
            return await CaseRunner.run(
                conformanceCase, on: target, timeLimit: timeLimit ?? conformanceCase.timeLimit, hangs: hangs
            ) { onBegin(conformanceCase.id) }
        }
        return ConformanceReport(target: target.name, engine: capabilities?.engine, results: results)
    }

    /// Runs cases side by side.
    ///
    /// - Returns: The results, in the order of the cases.
    static func results(
        of cases: [ConformanceCase], _ onResult: @escaping @Sendable (ConformanceResult) -> Void,
        _ run: @escaping @Sendable (ConformanceCase) async -> ConformanceResult
    ) async -> [ConformanceResult] {
        await withTaskGroup(of: (Int, ConformanceResult).self) { group in
            for (index, conformanceCase) in cases.enumerated() {
                group.addTask { (index, await run(conformanceCase)) }
            }
            var results: [(Int, ConformanceResult)] = []
            for await (index, result) in group {
                onResult(result)
                results.append((index, result))
            }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    static func chosen(
        _ chapters: Set<ContractRule.Chapter>, _ filter: (ConformanceCase) -> Bool
    ) -> [ConformanceCase] {
        all.filter { $0.chapter.map(chapters.contains) ?? true }.filter(filter)
    }

    /// Returns the capabilities that a target declares; nil when it cannot be opened, or not in time. Every case
    /// then reports that.
    static func capabilities(of target: ConformanceTarget, within timeLimit: Duration?) -> Capabilities? {
        let capabilities = Shared<Capabilities?>(nil)
        let opening = Background {
            let location = try ConformanceTarget.Location.make()
            defer { target.remove(location) }
            let database = try target.open(location)
            capabilities.change { $0 = database.capabilities }
            try database.close()
        }
        try? opening.wait(seconds: min(timeLimit ?? .seconds(10), .seconds(10)) / .seconds(1))
        return capabilities.value
    }
}

/// One case on one target, ready to run as a test.
public struct ConformanceTest: Sendable, Identifiable, CustomStringConvertible {
    /// The case.
    public let conformanceCase: ConformanceCase
    let target: ConformanceTarget
    let timeLimit: Duration
    var hangs = Hangs()
    /// What says how far the tests of the target are; nil for a single test.
    var testRun: ConformanceTestRun?

    /// The id of the case.
    public var id: String { conformanceCase.id }

    /// The id of the case, its rules and its title.
    public var description: String {
        "\(id) (\(conformanceCase.rules.joined(separator: ", "))) on \(target.name): \(conformanceCase.title)"
    }

    /// Runs the case on a fresh database.
    ///
    /// - Throws: A failure of the case, also when it did not end in time.
    public func run() async throws {
        let result = await CaseRunner.run(conformanceCase, on: target, timeLimit: timeLimit, hangs: hangs) { testRun?.begin(id) }
        testRun?.end(result)
        guard result.status != .passed else { return }
        throw FailedConformance(description: "\(description)\n  \(result.explanation)")
    }

    /// Runs the case on a fresh database, for a report.
    public func result() async -> ConformanceResult {
        await CaseRunner.run(conformanceCase, on: target, timeLimit: timeLimit, hangs: hangs)
    }
}

/// The error of ``ConformanceTest/run()``: the case, the expected and the actual value.
public struct FailedConformance: Error, CustomStringConvertible {
    /// The case, the expected and the actual value, and the location in the suite.
    public let description: String
}
