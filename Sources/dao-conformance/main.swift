import DAOConformance
import Foundation

// The conformance suite from the command line; `swift package conformance` runs it.

do {
    // The other process of cases that need one is this program too.
    try ConformanceProcesses.serveIfAsked(Options.drivers)
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    let cases = options.cases
    var reports: [ConformanceReport] = []
    for target in options.targets {
        let isVerbose = options.isVerbose
        let report = await Conformance.run(
            on: target, chapters: options.chapters, timeLimit: options.timeLimit,
            where: { test in cases.isEmpty || cases.contains { test.id.hasPrefix($0) } },
            onResult: { result in
                if isVerbose {
                    print("\(result.status.rawValue)  \(target.name)  \(result.id)  \(Int(result.seconds * 1000)) ms")
                }
            })
        reports.append(report)
    }
    guard reports.contains(where: { !$0.results.isEmpty }) else { throw UsageError("no case was chosen") }
    print(ConformanceTable(reports))
    if let path = options.json {
        try Data(ConformanceReport.json(reports).utf8).write(to: URL(fileURLWithPath: path))
        print("\nwritten to \(path)")
    }
    exit(reports.allSatisfy(\.isConforming) ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("dao-conformance: \(error)\n".utf8))
    exit(2)
}
