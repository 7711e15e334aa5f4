import DAOCore
import Foundation

/// Says on standard error how far a run is: on a terminal in a line that rewrites itself, otherwise in a line from time to time.
package final class ProgressLine: Sendable {
    /// How far the run is; nil when there is nothing to say.
    private let describe: @Sendable () -> String?
    private let write: @Sendable (String) -> Void
    private let isTerminal: Bool
    private let interval: Double
    private let state = Lock(State())

    private struct State {
        var isOver = false
        var hasLine = false
        var last: String?
    }

    /// Begins to say how far a run is, until ``end()``.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether the line rewrites itself.
    ///   - seconds: The time between two lines; nil for half a second on a terminal and 10 seconds elsewhere.
    ///   - write: Writes a text at once.
    ///   - describe: How far the run is, in one line; nil when there is nothing to say. It is called on another thread.
    package init(
        isTerminal: Bool = isatty(STDERR_FILENO) == 1, every seconds: Double? = nil,
        write: @escaping @Sendable (String) -> Void = { FileHandle.standardError.write(Data($0.utf8)) },
        _ describe: @escaping @Sendable () -> String?
    ) {
        self.describe = describe
        self.write = write
        self.isTerminal = isTerminal
        interval = seconds ?? (isTerminal ? 0.5 : 10)
        Thread.detachNewThread { [weak self, interval] in
            repeat { Thread.sleep(forTimeInterval: interval) } while self?.tick() == true
        }
    }

    /// Writes a line at once, above the line that rewrites itself.
    package func say(_ line: String) {
        state.withLock { state in
            clear(&state)
            write(line + "\n")
        }
    }

    /// Writes what is already in lines, as ``say(_:)`` does.
    package func pass(_ text: String) {
        if !text.isEmpty { say(text.hasSuffix("\n") ? String(text.dropLast()) : text) }
    }

    /// Ends the run, and removes the line that rewrites itself.
    package func end() {
        state.withLock { state in
            clear(&state)
            state.isOver = true
        }
    }

    /// Says how far the run is.
    ///
    /// - Returns: False when the run is over.
    private func tick() -> Bool {
        let text = describe()
        return state.withLock { state in
            if state.isOver { return false }
            guard let text, text != state.last else { return true }
            state.last = text
            if isTerminal {
                write("\r\u{1B}[K" + text.prefix(Self.columns - 1))
                state.hasLine = true
            } else {
                write(text + "\n")
            }
            return true
        }
    }

    private func clear(_ state: inout State) {
        guard state.hasLine else { return }
        write("\r\u{1B}[K")
        (state.hasLine, state.last) = (false, nil)
    }

    /// The width of the terminal.
    private static var columns: Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 20 ? Int(size.ws_col) : 80
    }
}
