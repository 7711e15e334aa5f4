import Foundation

/// A clock that all processes of a machine share.
public enum Moment {
    /// The nanoseconds since a fixed moment.
    public static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
