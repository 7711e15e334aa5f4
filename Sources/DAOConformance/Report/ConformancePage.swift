import DAOCore
import Foundation

extension ConformanceReport {
    /// Several reports as one HTML page, for a browser and for CI to keep: a row for each rule of the contract and a column
    /// for each report, the failures, the skips with their reasons, and the times. It needs no other file and no script.
    ///
    /// - Parameter reports: The reports, one per column.
    public static func html(_ reports: [ConformanceReport]) -> String { ConformancePage(reports).text }
}

/// Reports as a page.
private struct ConformancePage {
    private let reports: [ConformanceReport]
    /// The results of each report, by their rules.
    private let byRule: [[String: [ConformanceResult]]]

    init(_ reports: [ConformanceReport]) {
        self.reports = reports
        byRule = reports.map { report in
            var results: [String: [ConformanceResult]] = [:]
            for result in report.results { for rule in result.rules { results[rule, default: []].append(result) } }
            return results
        }
    }

    var text: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
        <title>\(verdict) · DAO conformance</title>
        <style>
        \(Self.style)
        </style>
        </head>
        <body>
        <h1>DAO conformance: <span class="\(failures == 0 ? "good" : "bad")">\(verdict)</span></h1>
        <p class="dim">Suite \(Conformance.version), \(Date().formatted(.iso8601))</p>
        \(summary)
        \(failed)
        <h2 id="rules">Rules</h2>
        <p class="dim">A rule opens to its cases. A cell has the number of cases that passed.</p>
        \(matrix)
        \(skipped)
        \(unproved)
        \(slowest)
        </body>
        </html>

        """
    }

    private var failures: Int { reports.reduce(0) { $0 + $1.failures.count } }

    private var verdict: String {
        if failures > 0 { return failures == 1 ? "1 failure" : "\(failures) failures" }
        return reports.allSatisfy { $0.results.isEmpty } ? "nothing was run" : "no failure"
    }

    // MARK: Parts

    private var summary: String {
        table(
            ["Database", "Engine", "Passed", "Failed", "Skipped", "Time of all cases"],
            reports.map { report in
                [
                    escaped(report.target), escaped(report.engine ?? "cannot be opened"), "\(report.count(.passed))",
                    report.isConforming ? "0" : #"<span class="bad">\#(report.failures.count)</span>"#,
                    "\(report.count(.skipped))",
                    time(report.results.reduce(0) { $0 + $1.seconds }),
                ]
            }, numbersFrom: 2)
    }

    private var failed: String {
        guard failures > 0 else { return "" }
        return "<h2 id=\"failures\">Failures</h2>\n"
            + reports.flatMap { report in report.failures.map { article($0, of: report) } }.joined(separator: "\n")
    }

    private func article(_ result: ConformanceResult, of report: ConformanceReport) -> String {
        let rules = result.rules.map { id in "\(id) \(ContractRule.named(id)?.title ?? "")" }.joined(separator: "; ")
        var facts = [("Rule", escaped(rules)), ("Case", escaped(result.id)), ("Time", time(result.seconds))]
        if let location = result.location { facts.append(("Place", escaped(location))) }
        var parts = ["<pre>\(escaped(result.message ?? result.status.rawValue))</pre>"]
        if let expected = result.expected, let got = result.got {
            parts.append(
                "<div class=\"sides\"><div>Expected<pre>\(escaped(expected))</pre></div><div>Got<pre>\(escaped(got))</pre></div></div>"
            )
        }
        return """
            <article>
            <h3><span class="bad">\(result.status.rawValue)</span> on \(escaped(report.target)): \(escaped(result.title))</h3>
            <dl>\(facts.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" }.joined())</dl>
            \(parts.joined(separator: "\n"))
            <p>Alone: <code>--url \(escaped(report.target.shellQuoted)) --case \(escaped(result.id))</code></p>
            </article>
            """
    }

    private var matrix: String {
        var rows: [String] = []
        for chapter in ContractRule.Chapter.allCases {
            let rules = ContractRule.all.filter { rule in rule.chapter == chapter && byRule.contains { $0[rule.id] != nil } }
            if rules.isEmpty { continue }
            rows.append(
                "<tr class=\"chapter\"><th colspan=\"\(reports.count + 1)\">\(chapter.rawValue) · \(escaped(chapter.title))</th></tr>"
            )
            rows += rules.map(row)
        }
        let heads = reports.map { "<th>\(escaped($0.target))</th>" }.joined()
        return """
            <div class="wide"><table class="rules">
            <thead><tr><th>Rule</th>\(heads)</tr></thead>
            <tbody>
            \(rows.joined(separator: "\n"))
            </tbody>
            </table></div>
            """
    }

    private func row(_ rule: ContractRule) -> String {
        let cells = byRule.map { results in
            let results = results[rule.id] ?? []
            let failed = results.count { $0.isFailure }
            let skipped = results.count { $0.status == .skipped }
            let run = results.count - skipped
            if results.isEmpty { return "<td class=\"dim\">not run</td>" }
            if run == 0 { return "<td class=\"dim\">\(skipped) skipped</td>" }
            let text = failed == 0 ? "✓ \(run)" : "✗ \(failed) of \(run)"
            let also = skipped == 0 ? "" : " <span class=\"dim\">\(skipped) skipped</span>"
            return "<td class=\"\(failed == 0 ? "good" : "bad")\">\(text)\(also)</td>"
        }
        var cases: [String] = []
        for results in byRule {
            for result in results[rule.id] ?? [] where !cases.contains(result.id) { cases.append(result.id) }
        }
        let lines = cases.map { id in
            let results = byRule.map { $0[rule.id]?.first { $0.id == id } }
            let title = results.lazy.compactMap { $0 }.first?.title ?? ""
            return ["\(escaped(title))<br/><span class=\"dim\">\(escaped(id))</span>"]
                + results.map { result in
                    switch result?.status {
                    case nil: "–"
                    case .skipped: "<span class=\"dim\">skipped</span>"
                    case .passed: time(result?.seconds ?? 0)
                    case .failed, .hung, .ended:
                        "<span class=\"bad\">\(result?.status.rawValue ?? "") \(time(result?.seconds ?? 0))</span>"
                    }
                }
        }
        return """
            <tr><th><details><summary>\(rule.id) \(escaped(rule.title))</summary>
            \(table(["Case"] + reports.map { escaped($0.target) }, lines, numbersFrom: 1))
            </details></th>\(cells.joined())</tr>
            """
    }

    private var skipped: String {
        let groups = reports.flatMap { report in
            Dictionary(grouping: report.skips) { $0.message ?? "" }.sorted { $0.key < $1.key }.map { reason, results in
                [escaped(report.target), escaped(reason), escaped(results.map(\.id).joined(separator: ", "))]
            }
        }
        return groups.isEmpty ? "" : "<h2 id=\"skips\">Skipped</h2>\n" + table(["Database", "Reason", "Cases"], groups)
    }

    private var unproved: String {
        let lines = reports.flatMap { report in
            report.unprovedRules.map { rule in
                [escaped(report.target), escaped("\(rule.id) \(rule.title)"), escaped(rule.reasons.joined(separator: "; "))]
            }
        }
        return lines.isEmpty
            ? "" : "<h2 id=\"unproved\">Rules without a case that ran</h2>\n" + table(["Database", "Rule", "Reason"], lines)
    }

    private var slowest: String {
        let results = reports.flatMap { report in report.results.filter { $0.status != .skipped }.map { (report.target, $0) } }
        let lines = results.sorted { $0.1.seconds > $1.1.seconds }.prefix(20).map { target, result in
            [
                "\(escaped(result.title))<br/><span class=\"dim\">\(escaped(result.id))</span>", escaped(target),
                time(result.seconds),
            ]
        }
        return lines.isEmpty
            ? ""
            : "<h2 id=\"times\">The slowest cases</h2>\n"
                + table(["Case", "Database", "Time"], lines, numbersFrom: 2)
    }

    // MARK: Words

    /// A table of cells that are HTML.
    private func table(_ head: [String], _ rows: [[String]], numbersFrom first: Int = .max) -> String {
        let lines = rows.map { cells in
            "<tr>" + cells.enumerated().map { "<td\($0 >= first ? " class=\"number\"" : "")>\($1)</td>" }.joined() + "</tr>"
        }
        let heads = head.enumerated().map { "<th\($0 >= first ? " class=\"number\"" : "")>\($1)</th>" }.joined()
        return
            "<div class=\"wide\"><table><thead><tr>\(heads)</tr></thead><tbody>\n\(lines.joined(separator: "\n"))\n</tbody></table></div>"
    }

    private func time(_ seconds: Double) -> String {
        seconds >= 10 ? "\(Int(seconds.rounded())) s" : "\(Int((seconds * 1000).rounded())) ms"
    }

    /// Text as HTML shows it. A character that HTML and XML forbid becomes its picture.
    private func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\t": escaped.unicodeScalars.append(scalar)
            case ..<" ": escaped.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? "?")
            case "\u{7F}"..."\u{9F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FFFE}"..."\u{FFFF}":
                escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static let style = """
        :root {
          color-scheme: light dark;
          --ground: #fdfdfc; --panel: #f5f4f1; --line: #e2e0da; --text: #1e1d1a; --dim: #6b6962; --accent: #0c6670;
          --good: #1b6b3a; --bad: #a3261d; --bad-ground: #fdeeec;
          --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #171816; --panel: #1e1f1d; --line: #353632; --text: #e7e5df; --dim: #9f9d95; --accent: #6cc5cb;
            --good: #7fce9a; --bad: #ff9d92; --bad-ground: #351c19;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 76rem; color: var(--text); background: var(--ground);
          font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
        }
        h1 { font-size: 1.5rem; margin: 0; }
        h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem; }
        h3 { font-size: 1rem; margin: 0 0 .5rem; }
        pre, code { font-family: var(--mono); font-size: .92em; }
        pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--ground); border: 1px solid var(--line); border-radius: 5px; padding: .5rem .7rem; margin: .4rem 0; }
        code { overflow-wrap: anywhere; }
        .dim { color: var(--dim); } .good { color: var(--good); } .bad { color: var(--bad); }
        .wide { overflow-x: auto; }
        table { border-collapse: collapse; min-width: 100%; }
        th, td { text-align: left; vertical-align: top; padding: .28rem .7rem; border-bottom: 1px solid var(--line); font-weight: 400; }
        thead th { color: var(--dim); }
        .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
        .rules > tbody > tr > td { white-space: nowrap; }
        .rules > tbody > tr.chapter > th { background: var(--panel); font-weight: 600; padding-top: .7rem; }
        .rules > tbody > tr > td.bad { background: var(--bad-ground); }
        summary { cursor: pointer; }
        summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
        details .wide { margin: .4rem 0 .6rem; font-size: .93em; }
        article { background: var(--bad-ground); border-radius: 7px; padding: .9rem 1rem; margin: .7rem 0; }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .9rem; margin: 0 0 .5rem; }
        dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
        .sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: .7rem; }
        article p { margin: .5rem 0 0; }
        """
}
