import DAOChildProcesses
import DAOCore
import Foundation

/// `fail <url> <call>`: commits once, then commits while a call of the operating system fails.
///
/// Another file takes the place of the engine's for the time of the commit. `/dev/null` takes every write and cannot
/// be synced; a file that is open for reading refuses writes.
enum FailingDisk {
    /// Answers with the outcome of the commit and of the calls after it. Then it closes and opens the database, and
    /// answers with the count before and after a commit.
    static func run(_ arguments: ArraySlice<String>) throws {
        guard let url = arguments.first, let path = URL(string: url)?.path else { throw ChildFailure("a URL is missing") }
        var ledger = try Commands.ledger(arguments)
        try ledger.increment()
        let isLog = url.hasPrefix("sqlite:")
        let restore =
            if arguments.last == "sync" {
                // LMDB writes its data through one descriptor and its meta pages through another.
                try replace(isLog ? path + "-wal" : path, by: "/dev/null") {
                    isLog || $0 & O_DSYNC == 0 && $0 & O_ACCMODE != O_RDONLY
                }
            } else {
                try replace(path, by: path) { $0 & O_DSYNC != 0 }
            }
        answer("commit: \(outcome { try ledger.increment() })")
        restore()
        answer("write: \(outcome { try ledger.increment() })")
        answer("read: \(outcome { _ = try ledger.count() })")
        _ = readLine()
        try ledger.database.close()
        ledger = try Commands.ledger(arguments)
        answer(try ledger.count())
        try ledger.increment()
        try ledger.database.close()
        answer(try Commands.ledger(arguments).count())
    }

    private static func outcome(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "done"
        } catch {
            return (error as? StorageError)?.kind.rawValue ?? "\(error)"
        }
    }

    /// Lets the descriptors of a file lead to another file, which is opened for reading unless it takes writes.
    ///
    /// - Parameter isWanted: Whether a descriptor with these flags is replaced.
    /// - Returns: A closure that undoes it.
    private static func replace(_ path: String, by other: String, where isWanted: (CInt) -> Bool) throws -> () -> Void {
        var wanted = stat()
        guard stat(path, &wanted) == 0 else { throw ChildFailure("there is no file at \(path)") }
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").compactMap { CInt($0) }.filter {
            var status = stat()
            return fstat($0, &status) == 0 && status.st_ino == wanted.st_ino && status.st_dev == wanted.st_dev
                && isWanted(fcntl($0, F_GETFL))
        }
        guard !descriptors.isEmpty else { throw ChildFailure("no descriptor of \(path) is open") }
        let replacement = open(other, other == path ? O_RDONLY : O_RDWR)
        let originals = descriptors.map { dup($0) }
        for descriptor in descriptors { dup2(replacement, descriptor) }
        return { for (descriptor, original) in zip(descriptors, originals) { dup2(original, descriptor) } }
    }
}
