import DAOConformance
import Foundation

/// A process of its own that has a database open, told in lines what to do and answering in lines.
public typealias Child = ChildProcess

/// What went wrong with a child, not with a database.
public struct ChildFailure: Error, CustomStringConvertible {
    /// What.
    public let description: String

    /// Says what went wrong.
    public init(_ description: String) { self.description = description }
}

extension ChildProcess {
    /// Programs are built beside the tests.
    private static var program: URL {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let directory = (bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])).deletingLastPathComponent()
        return directory.appendingPathComponent("dao-child")
    }

    /// Starts a child.
    ///
    /// - Parameter arguments: A command and what it takes; see the program.
    public convenience init(_ arguments: String...) throws { try self.init(arguments) }

    /// Starts a child.
    public convenience init(_ arguments: [String]) throws { try self.init(Self.program, arguments) }

    /// The child's next line, which has to be there.
    public func expect(_ wanted: String) throws {
        let line = try line()
        guard line == wanted else { throw ChildFailure("the child said '\(line ?? "nothing")' instead of '\(wanted)'") }
    }

    /// Says one thing and returns the answer.
    ///
    /// - Parameters:
    ///   - line: What to say.
    ///   - seconds: How long to wait, after which waiting fails: longer than anything takes.
    public func ask(_ line: String, within seconds: Int = 60) throws -> String {
        try say(line)
        guard let answer = try self.line(within: seconds) else { throw ChildFailure("the child ended at '\(line)'") }
        return answer
    }
}
