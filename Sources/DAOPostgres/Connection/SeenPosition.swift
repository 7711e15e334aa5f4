import DAOCore
import Foundation

/// The position in the server's log up to which this client has seen commits: its own, and those that its reads could see. A
/// standby that has replayed the log up to there shows nothing older.
final class SeenPosition: Sendable {
    /// How long a read waits for a standby, and how long the standbys are left alone afterwards.
    static let patience = Duration.milliseconds(50)
    static let pauseAfterDelay = Duration.seconds(1)
    /// How long the standbys are left alone when they could not be reached.
    static let pauseAfterLoss = Duration.seconds(5)

    /// The statement that asks for the position of what was visible before it, whether the server is a standby, and the length
    /// of a file of its log.
    static let query = """
        SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn()
        ELSE pg_catalog.pg_current_wal_insert_lsn() END, pg_catalog.pg_is_in_recovery(),
        pg_catalog.pg_size_bytes(pg_catalog.current_setting('wal_segment_size'))
        """

    private let state = Lock((position: UInt64(0), pause: ContinuousClock.now))

    /// The position, in bytes.
    var position: UInt64 { state.withLock { $0.position } }

    func note(_ position: UInt64) { state.withLock { $0.position = max($0.position, position) } }

    /// Whether all reads ask the primary now.
    var avoidsStandbys: Bool { state.withLock { .now < $0.pause } }

    func avoidStandbys(for pause: Duration) { state.withLock { $0.pause = max($0.pause, .now + pause) } }
}

extension StorageError {
    static func unreachableStandby(_ path: String) -> StorageError {
        StorageError(.unreachable, "no standby can be read now; read from the primary", path: path)
    }
}

// MARK: Connections

extension PostgresConnection {
    /// Whether this connection to a standby sees all that this client has seen. It waits for a short time.
    func hasCaughtUp() -> Bool {
        guard let seen = settings.seen, !seen.avoidsStandbys else { return false }
        do {
            try revive()
            let (wanted, deadline) = (seen.position, ContinuousClock.now + SeenPosition.patience)
            while position < wanted {
                _ = try exchange([])
                if position >= wanted { break }
                if .now > deadline {
                    seen.avoidStandbys(for: SeenPosition.pauseAfterDelay)
                    return false
                }
                usleep(2000)
            }
            return true
        } catch {
            seen.avoidStandbys(for: SeenPosition.pauseAfterLoss)
            return false
        }
    }

    /// A standby that is lost, or that has cancelled a read because its log changes the rows that were read, is not asked again
    /// at once.
    func shouldReadAgain(after error: any Error) -> Bool {
        guard settings.isOfStandby, let kind = (error as? StorageError)?.kind, kind == .unreachable || kind == .conflict else {
            return false
        }
        settings.seen?.avoidStandbys(for: kind == .conflict ? SeenPosition.pauseAfterDelay : SeenPosition.pauseAfterLoss)
        return true
    }

    /// A standby that has become the primary is not used as a standby any more.
    func canReadAgain() -> Bool { !settings.isOfStandby || !isOfPrimary }
}
