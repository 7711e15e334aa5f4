import DAOConformance
import Foundation

// Property-based tests until they are stopped: `make soak MINUTES=20`.

do {
    if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--serve" {
        // Another process of the same round: it has the database open and does what the round says.
        try ConformanceProcesses.serve(try SoakOptions.openForProcess(CommandLine.arguments[2]))
        exit(0)
    }
    let options = try SoakOptions(Array(CommandLine.arguments.dropFirst()))
    exit(await Soak(options).run() ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("dao-soak: \(error)\n".utf8))
    exit(2)
}
