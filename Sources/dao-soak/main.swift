import DAOConformance
import Foundation

// Property-based tests until they are stopped: `make soak MINUTES=20`.

do {
    // Another process of the same round is this program too.
    try ConformanceProcesses.serveIfAsked(SoakOptions.drivers)
    let options = try SoakOptions(Array(CommandLine.arguments.dropFirst()))
    exit(await Soak(options).run() ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("dao-soak: \(error)\n".utf8))
    exit(2)
}
