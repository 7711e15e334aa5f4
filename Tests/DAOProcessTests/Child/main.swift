import DAOChildProcesses
import DAOCore
import Foundation

// A process with a database open, for tests that need several: `dao-child <command> <url> …`. Answers are lines.
do {
    try Commands.run(CommandLine.arguments.dropFirst())
} catch {
    let kind = (error as? StorageError)?.kind.rawValue ?? "other"
    answer("error \(kind) \(error)".replacing("\n", with: " "))
    exit(1)
}
