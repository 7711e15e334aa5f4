import Foundation

/// The signal of a write beyond the file size limit of the process (`ulimit -f`).
package enum FileSizeSignal {
    /// Ignores the signal, which would end the process, so that the write fails with `.outOfSpace`. An application that handles
    /// the signal itself goes on to do so.
    package static func ignore() { _ = isIgnored }

    private static let isIgnored: Bool = {
        if let handler = signal(SIGXFSZ, SIG_IGN) { signal(SIGXFSZ, handler) }
        return true
    }()
}
