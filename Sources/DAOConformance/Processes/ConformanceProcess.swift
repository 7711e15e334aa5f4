import DAOCore
import Foundation

/// Another process that has the database of a case open, for the rules about several processes.
///
/// The suite sends commands as lines and gets lines back. The cases and ``ConformanceProcesses/serve(_:)``
/// define their meaning. On platforms that can start processes, `ChildProcess` is an implementation.
public protocol ConformanceProcess: AnyObject, Sendable {
    /// Sends a line to the process.
    func say(_ line: String) throws

    /// Returns the next line from the process; nil when the process has ended.
    ///
    /// - Parameter seconds: The time after which waiting throws an error.
    func line(within seconds: Int) throws -> String?

    /// Kills the process at once, in the middle of its work, and waits until it has ended.
    func kill()
}

extension ConformanceTarget {
    /// Returns the same kind of database with a way to open it in another process.
    ///
    /// - Parameters:
    ///   - wait: How long the started process waits for another process's transaction: the `busyTimeout` that
    ///     it opens the database with.
    ///   - start: Starts a process that opens the database at a location and calls
    ///     ``ConformanceProcesses/serve(_:)``.
    public func withProcesses(
        waiting wait: Duration = .seconds(5), _ start: @escaping @Sendable (Location) throws -> any ConformanceProcess
    ) -> ConformanceTarget {
        var target = self
        target.startProcess = start
        target.processWait = wait
        return target
    }
}

/// The work of a process that serves the suite.
public enum ConformanceProcesses {
    /// Runs the commands of the suite, which are lines on standard input, until the input ends. Such a
    /// program needs only this call:
    ///
    /// ```swift
    /// try ConformanceProcesses.serve(try SQLiteDatabase(path: CommandLine.arguments[1]))
    /// ```
    ///
    /// - Parameter database: The database that the program's arguments name.
    public static func serve(_ database: any Database) throws {
        let ledger = try ProcessLedger(database)
        answer("open")
        while let line = readLine() {
            do {
                try ledger.run(line)
            } catch let error as StorageError {
                answer(error.kind.rawValue)
            }
        }
    }

    /// Writes a line at once, so that it arrives even when the process is killed a moment later.
    static func answer(_ line: String) {
        // When nobody reads the answers, there is nothing left to do.
        guard (try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))) != nil else { exit(0) }
    }
}
