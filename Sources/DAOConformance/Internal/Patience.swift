import Foundation

/// Decides when a case hangs, also on a machine that other work keeps busy.
///
/// A case hangs when its time limit has passed and its process has either used as much of the processor for it, or uses none any
/// more: it loops, or it is blocked. A case that the machine lets work only slowly does neither. After ``most`` time limits each case
/// is given up.
struct Patience: Sendable {
    /// What the clocks say: the time, and the processor time of the process.
    struct Reading: Sendable {
        var time: Duration
        var processor: Duration

        /// Reads the clocks of the system.
        static var now: Reading {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            // A second has a million of these everywhere (XSI), and Swift sees the constant on no Linux.
            let processor = Duration.microseconds(Int64(clock()))
            return Reading(time: .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec)), processor: processor)
        }
    }

    /// How many time limits a case may take that goes on working.
    static let most = 4
    /// A process that uses less than ``leastWork`` in this time does nothing. Waiting threads that look for commits use less.
    private static let quietTime = Duration.seconds(5)
    private static let leastWork = Duration.milliseconds(10)

    private let limit: Duration
    private let begin: Reading
    private var last: Reading
    /// The beginning of the time in which work is looked for.
    private var window: Reading
    /// When the process last did something.
    private var active: Duration
    /// The processor time that is counted as the case's.
    private var used = Duration.zero

    /// - Parameters:
    ///   - limit: The time limit of the case.
    ///   - now: What the clocks say when it begins.
    init(_ limit: Duration, now: Reading = .now) {
        self.limit = limit
        (begin, last, window, active) = (now, now, now, now.time)
    }

    /// The seconds until the clocks are to be read again.
    var interval: Double { min(limit / .seconds(4), 1) }

    /// Returns whether the case hangs.
    ///
    /// - Parameters:
    ///   - cases: How many cases run in the process. They share its processor time.
    ///   - now: What the clocks say.
    mutating func isOver(cases: Int, now: Reading = .now) -> Bool {
        used += (now.processor - last.processor) / max(1, cases)
        last = now
        if now.processor - window.processor >= Self.leastWork {
            (window, active) = (now, now.time)
        } else if now.time - window.time >= Self.quietTime {
            window = now
        }
        let passed = now.time - begin.time
        guard passed >= limit else { return false }
        return used >= limit || now.time - active >= min(Self.quietTime, limit) || passed >= limit * Self.most
    }
}
