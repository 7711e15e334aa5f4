import DAOCore

/// The contract as a suite: the same cases for every database.
///
/// One call runs them all and gives a report:
///
/// ```swift
/// print(await Conformance.run(on: target))
/// ```
///
/// Three lines of Swift Testing run each case as a test of its own:
///
/// ```swift
/// @Test(arguments: Conformance.cases(for: target))
/// func conforms(_ test: ConformanceTest) async throws { try await test.run() }
/// ```
public enum Conformance {
    /// The suite's version: a new minor one adds cases, a new major one changes what is expected.
    public static let version = "1.0"

    /// How long a case may take before it is reported as hung.
    public static let timeLimit: Duration = .seconds(300)

    /// Every case, in the contract's order.
    public static let all: [ConformanceCase] = Catalog.cases

    /// The cases that a target's declared capabilities ask for, each ready to run.
    ///
    /// The target is opened once, to read its capabilities.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - chapters: Which chapters; all by default.
    ///   - timeLimit: How long a case may take.
    ///   - filter: Which of their cases; all by default.
    public static func cases(
        for target: ConformanceTarget, chapters: Set<ContractRule.Chapter> = Set(ContractRule.Chapter.allCases),
        timeLimit: Duration = Conformance.timeLimit, where filter: (ConformanceCase) -> Bool = { _ in true }
    ) -> [ConformanceTest] {
        let capabilities = capabilities(of: target)
        return chosen(chapters, filter)
            .filter { $0.reasonToSkip(on: target, capabilities) == nil }
            .map { ConformanceTest(conformanceCase: $0, target: target, timeLimit: timeLimit) }
    }

    /// Runs the cases on a target.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - chapters: Which chapters; all by default.
    ///   - timeLimit: How long a case may take before it is reported as hung.
    ///   - filter: Which of their cases; all by default.
    ///   - onResult: Called with each result as it comes, in no particular order.
    public static func run(
        on target: ConformanceTarget, chapters: Set<ContractRule.Chapter> = Set(ContractRule.Chapter.allCases),
        timeLimit: Duration = Conformance.timeLimit, where filter: @Sendable (ConformanceCase) -> Bool = { _ in true },
        onResult: @escaping @Sendable (ConformanceResult) -> Void = { _ in }
    ) async -> ConformanceReport {
        let capabilities = capabilities(of: target)
        let cases = chosen(chapters, filter)
        let results = await withTaskGroup(of: (Int, ConformanceResult).self) { group in
            for (index, conformanceCase) in cases.enumerated() {
                if let reason = conformanceCase.reasonToSkip(on: target, capabilities) {
                    group.addTask { (index, ConformanceResult(conformanceCase, skipped: reason)) }
                } else {
                    let test = ConformanceTest(conformanceCase: conformanceCase, target: target, timeLimit: timeLimit)
                    group.addTask { (index, await test.result()) }
                }
            }
            var results: [(Int, ConformanceResult)] = []
            for await (index, result) in group {
                onResult(result)
                results.append((index, result))
            }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
        return ConformanceReport(target: target.name, engine: capabilities?.engine, results: results)
    }

    private static func chosen(
        _ chapters: Set<ContractRule.Chapter>, _ filter: (ConformanceCase) -> Bool
    ) -> [ConformanceCase] {
        all.filter { $0.chapter.map(chapters.contains) ?? true }.filter(filter)
    }

    /// What a target declares; nil when it cannot be opened, which every case will then say.
    private static func capabilities(of target: ConformanceTarget) -> Capabilities? {
        guard let location = try? ConformanceTarget.Location.make() else { return nil }
        defer { location.remove() }
        guard let database = try? target.open(location) else { return nil }
        defer { try? database.close() }
        return database.capabilities
    }
}

/// One case on one target, ready to run as a test.
public struct ConformanceTest: Sendable, Identifiable, CustomStringConvertible {
    /// The case.
    public let conformanceCase: ConformanceCase
    let target: ConformanceTarget
    let timeLimit: Duration

    /// The case's id.
    public var id: String { conformanceCase.id }

    /// The case's id, its rules and what it expects.
    public var description: String {
        "\(id) (\(conformanceCase.rules.joined(separator: ", "))) on \(target.name): \(conformanceCase.title)"
    }

    /// Runs the case on a fresh database.
    ///
    /// - Throws: What it found wrong, or that it did not end in time.
    public func run() async throws {
        let result = await result()
        guard result.status != .passed else { return }
        throw FailedConformance(description: "\(description)\n  \(result.explanation)")
    }

    /// Runs the case on a fresh database, for a report.
    public func result() async -> ConformanceResult {
        let start = ContinuousClock.now
        let ending = await CaseRunner.run(conformanceCase, on: target, timeLimit: timeLimit)
        return ConformanceResult(conformanceCase, ending, timeLimit: timeLimit, duration: ContinuousClock.now - start)
    }
}

/// Thrown by ``ConformanceTest/run()``: the case, what was expected, and what came.
public struct FailedConformance: Error, CustomStringConvertible {
    /// The case, what was expected, what came, and where in the suite.
    public let description: String
}
