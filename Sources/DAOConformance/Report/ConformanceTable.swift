/// Several reports in one table: a row for each rule of the contract that a chosen case proves, a column for each target.
///
/// ```swift
/// print(ConformanceTable([memory, sqlite, lmdb]))
/// ```
///
/// A cell is the number of cases that passed. With failures it is `✗`, the number of failures and the number
/// of cases. It is `not run` where the report of another target has cases of the rule, and this one has none. The last list
/// has the rules without a case that ran.
public struct ConformanceTable: Sendable, CustomStringConvertible {
    /// The reports, one per column.
    public let reports: [ConformanceReport]

    /// Puts reports into one table.
    ///
    /// - Parameter reports: The reports, one per column.
    public init(_ reports: [ConformanceReport]) { self.reports = reports }

    /// The table, then the failures, the skips and the rules without a case that ran, of each target.
    public var description: String {
        var rows = [["", "DAO conformance suite \(Conformance.version)"] + reports.map(\.target)]
        var chapter: ContractRule.Chapter?
        let chosen = Set(reports.flatMap { $0.results.flatMap(\.rules) })
        for rule in ContractRule.all where chosen.contains(rule.id) {
            if rule.chapter != chapter {
                chapter = rule.chapter
                rows.append([])
                rows.append([rule.chapter.rawValue, rule.chapter.title])
            }
            rows.append([rule.id, rule.title] + reports.map { cell(rule, $0) })
        }
        rows.append([])
        rows.append(["", "cases passed"] + reports.map { "\($0.count(.passed))" })
        rows.append(["", "cases failed"] + reports.map { "\($0.failures.count)" })
        rows.append(["", "cases skipped"] + reports.map { "\($0.count(.skipped))" })
        return Self.aligned(rows) + details
    }

    private func cell(_ rule: ContractRule, _ report: ConformanceReport) -> String {
        let results = report.results.filter { $0.rules.contains(rule.id) }
        if results.isEmpty { return "not run" }
        let skipped = results.count { $0.status == .skipped }
        let failed = results.count(where: \.isFailure)
        let run = results.count - skipped
        if run == 0 { return "\(skipped) skipped" }
        return (failed == 0 ? "✓ \(run)" : "✗ \(failed) of \(run)") + (skipped == 0 ? "" : ", \(skipped) skipped")
    }

    private var details: String {
        var text = ""
        for report in reports where !report.failures.isEmpty {
            text += "\n\nFailed on \(report.target):"
            for result in report.failures {
                text += "\n  \(result.id) (\(result.rules.joined(separator: ", "))): \(result.title)\n    \(result.explanation)"
            }
        }
        for report in reports where !report.skips.isEmpty {
            text += "\n\nSkipped on \(report.target):"
            let reasons = Dictionary(grouping: report.skips) { $0.message ?? "" }
            for (reason, results) in reasons.sorted(by: { $0.key < $1.key }) {
                text += "\n  \(reason): \(results.map(\.id).joined(separator: ", "))"
            }
        }
        for report in reports where !report.unprovedRules.isEmpty {
            text += "\n\nRules without a case that ran on \(report.target):"
            for rule in report.unprovedRules { text += "\n  \(rule.id) \(rule.title): \(rule.reasons.joined(separator: "; "))" }
        }
        return text
    }

    private static func aligned(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0 }
        let lines = rows.map { row in
            var line = ""
            for (column, text) in row.enumerated() {
                line += text + String(repeating: " ", count: widths[column] - text.count + 2)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
        return lines.joined(separator: "\n")
    }
}
