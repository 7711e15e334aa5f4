import Foundation

/// The results of the suite on one target. It prints as a table of the contract's rules.
public struct ConformanceReport: Sendable, Codable {
    /// The version of the suite.
    public let suiteVersion: String
    /// The name of the target.
    public let target: String
    /// The name of the engine; nil when the target could not be opened.
    public let engine: String?
    /// The results of all cases, in the order of the suite.
    public let results: [ConformanceResult]
    /// The rules of which every chosen case was skipped: the report proves nothing about them.
    public let unprovedRules: [UnprovedRule]

    /// A rule of the contract without a case that ran.
    public struct UnprovedRule: Sendable, Codable, Hashable, Identifiable {
        /// The letter of the chapter and a number, such as `L8`.
        public let id: String
        /// The rule in a few words.
        public let title: String
        /// Why its cases were skipped, each reason once.
        public let reasons: [String]
    }

    init(target: String, engine: String?, results: [ConformanceResult]) {
        suiteVersion = Conformance.version
        self.target = target
        self.engine = engine
        self.results = results
        unprovedRules = ContractRule.all.compactMap { rule in
            let cases = results.filter { $0.rules.contains(rule.id) }
            if cases.isEmpty || cases.contains(where: { $0.status != .skipped }) { return nil }
            return UnprovedRule(id: rule.id, title: rule.title, reasons: Set(cases.compactMap(\.message)).sorted())
        }
    }

    /// Returns the number of cases with a status.
    ///
    /// - Parameter status: The status.
    public func count(_ status: ConformanceResult.Status) -> Int { results.count { $0.status == status } }

    /// The cases that failed, hung, or ended their process.
    public var failures: [ConformanceResult] { results.filter(\.isFailure) }

    /// The cases that were skipped, each with its reason.
    public var skips: [ConformanceResult] { results.filter { $0.status == .skipped } }

    /// Whether no case failed, hung, or ended its process.
    public var isConforming: Bool { failures.isEmpty }

    /// The report as a table of one column.
    public var table: ConformanceTable { ConformanceTable([self]) }

    /// The report as JSON, with sorted keys.
    public func json() throws -> String { try Self.json([self]) }

    /// Several reports as one JSON array.
    ///
    /// - Parameter reports: The reports.
    public static func json(_ reports: [ConformanceReport]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = reports.count == 1 ? try encoder.encode(reports[0]) : try encoder.encode(reports)
        return String(decoding: data, as: UTF8.self)
    }
}

extension ConformanceReport: CustomStringConvertible {
    /// The table of rules, then failures, skips and the rules without a case that ran.
    public var description: String { table.description }
}
