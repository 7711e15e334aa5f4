import DAOChildProcesses
import DAOCore
import Foundation

// A child process with an open database, for tests that need several processes:
// `dao-child <command> <url> …`. It answers in lines.
// It ends with the process that has started it: a reader whose test has crashed would go on for ever.
let parent = getppid()
Thread.detachNewThread {
    while getppid() == parent { sleep(1) }
    _exit(1)
}
do {
    try Commands.run(CommandLine.arguments.dropFirst())
} catch {
    let kind = (error as? StorageError)?.kind.rawValue ?? "other"
    answer("error \(kind) \(error)".replacing("\n", with: " "))
    exit(1)
}
