import DAOConformance
import DAOTestSupport
import Foundation

/// A child process with an open database. It gets commands and returns answers as lines.
public typealias Child = ChildProcess

/// A failure of a child process, not of a database.
public struct ChildFailure: Error, CustomStringConvertible {
    /// A description of the failure.
    public let description: String

    /// Creates a failure.
    public init(_ description: String) { self.description = description }
}

extension ChildProcess {
    /// Starts a child.
    ///
    /// - Parameter arguments: A command and its arguments; see `Commands`.
    public convenience init(_ arguments: String...) throws { try self.init(arguments) }

    /// Starts a child.
    public convenience init(_ arguments: [String]) throws { try self.init(Process.built("dao-child"), arguments) }

    /// Reads the next line of the child; throws when it differs from the expected line.
    public func expect(_ wanted: String) throws {
        let line = try line()
        guard line == wanted else { throw ChildFailure("the child sent '\(line ?? "nothing")' instead of '\(wanted)'") }
    }

    /// Reads lines up to one that begins with "done".
    ///
    /// - Parameter broken: Gets each line that begins with "broken", after the line before it.
    /// - Returns: The last line, and whether it is that one; the child may have ended before.
    public func linesUntilDone(_ broken: (String) -> Void) throws -> (last: String, isDone: Bool) {
        var last = ""
        while let line = try line(within: 120) {
            if line.hasPrefix("broken") { broken("\(last): \(line)") }
            last = line
            if line.hasPrefix("done") { return (last, true) }
        }
        return (last, false)
    }

    /// Sends a line and returns the answer.
    ///
    /// - Parameters:
    ///   - line: The line to send.
    ///   - seconds: The maximum time to wait. It is longer than any command takes.
    public func ask(_ line: String, within seconds: Int = 60) throws -> String {
        try say(line)
        guard let answer = try self.line(within: seconds) else { throw ChildFailure("the child ended at '\(line)'") }
        return answer
    }
}
