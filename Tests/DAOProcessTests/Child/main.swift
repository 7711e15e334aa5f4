import DAOChildProcesses
import DAOCore
import Foundation

// A child process with an open database, for tests that need several processes:
// `dao-child <command> <url> …`. It answers in lines.
do {
    try Commands.run(CommandLine.arguments.dropFirst())
} catch {
    let kind = (error as? StorageError)?.kind.rawValue ?? "other"
    answer("error \(kind) \(error)".replacing("\n", with: " "))
    exit(1)
}
