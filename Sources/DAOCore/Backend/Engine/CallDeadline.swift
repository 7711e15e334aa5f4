/// How long a call still waits for other processes: what it has waited before, in a queue or for another thread, counts.
public enum CallDeadline {
    /// When the running call was made; nil for one that has waited for nobody in this process.
    @TaskLocal static var made: ContinuousClock.Instant?

    /// Returns what is left of a timeout; zero when nothing is, with which a call tries once.
    ///
    /// A short wait before does not count, so that engines do not have to change their timeout with every call.
    ///
    /// - Parameter timeout: The timeout of the database.
    public static func remaining(of timeout: Duration) -> Duration {
        guard let made else { return timeout }
        let waited = ContinuousClock.now - made
        return waited * 10 < timeout ? timeout : max(timeout - waited, .zero)
    }
}
