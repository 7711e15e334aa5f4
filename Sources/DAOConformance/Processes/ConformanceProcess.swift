import DAOCore
import Foundation

/// Another process that has the database of a case open, for the rules about several processes.
///
/// The suite says what to do in lines and gets lines back; what they mean is between the cases and
/// ``ConformanceProcesses/serve(_:)``. Where a process can be started, `ChildProcess` is one.
public protocol ConformanceProcess: AnyObject, Sendable {
    /// Sends a line to the process.
    func say(_ line: String) throws

    /// The next line from the process; nil when it has ended.
    ///
    /// - Parameter seconds: After how long waiting is an error.
    func line(within seconds: Int) throws -> String?

    /// Ends the process at once, in the middle of whatever it does, and waits until it is gone.
    func kill()
}

extension ConformanceTarget {
    /// The same kind of database, with a way to open one in another process.
    ///
    /// - Parameters:
    ///   - wait: How long a process waits for another's transaction, as it opens the database: its
    ///     `busyTimeout`.
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

/// What a process that serves the suite does.
public enum ConformanceProcesses {
    /// Does what the suite says in lines on standard input, until they end. It is all that such a program has
    /// to do:
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

    /// Writes a line at once: it has to have come when the process is ended a moment later.
    static func answer(_ line: String) {
        // Without anybody to answer to there is nothing more to do.
        guard (try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))) != nil else { exit(0) }
    }
}
