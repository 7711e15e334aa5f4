import DAOConformance
import DAOTestSupport
import Foundation

extension ChildProcess {
    /// How a process ended.
    enum Ending: Equatable {
        /// It exited, and had written these unread lines.
        case said([String])
        /// It was killed by SIGKILL.
        case killed
        /// It ended in another way.
        case other(Int32)
    }

    convenience init(_ arguments: String...) throws { try self.init(Process.built("dao-evolution-child"), arguments) }

    /// Waits until the process ends.
    func ending() throws -> Ending {
        var lines: [String] = []
        while let line = try line() { lines.append(line) }
        switch wait() {
        case 0: return .said(lines)
        case -SIGKILL: return .killed
        case let status: return .other(status)
        }
    }
}
