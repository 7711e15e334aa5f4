import DAOCore
import Foundation

/// A position in the log of a server, with the number of its history, which changes when a standby becomes the primary. Its text is
/// like `1-3000148`.
struct PostgresPosition: Sendable, CustomStringConvertible {
    /// The number of the history: PostgreSQL's timeline. A standby may know the number before the last change.
    let timeline: UInt32
    /// The position in bytes.
    let log: UInt64
    let isOfStandby: Bool

    init(timeline: UInt32, log: UInt64, isOfStandby: Bool) {
        (self.timeline, self.log, self.isOfStandby) = (timeline, log, isOfStandby)
    }

    /// Reads the text of a position.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let timeline = UInt32(parts[0]), timeline > 0, let log = UInt64(parts[1], radix: 16) else {
            return nil
        }
        self.init(timeline: timeline, log: log, isOfStandby: false)
    }

    var description: String { "\(timeline)-\(String(log, radix: 16))" }

    /// Whether it can be in the history of a primary. Of an earlier history it is: the server does not tell where that ended.
    func isIn(_ current: PostgresPosition) -> Bool {
        timeline < current.timeline || timeline == current.timeline && log <= current.log
    }
}

/// The position that all connections of an engine have to have before they read.
final class RequiredPosition: Sendable {
    private let log = Lock<UInt64>(0)

    var position: UInt64 { log.withLock { $0 } }

    func raise(to position: UInt64) { log.withLock { $0 = max($0, position) } }
}

extension StorageError {
    static func staleStandby(_ path: String) -> StorageError {
        StorageError(
            .busy, "the standby did not reach the seen position in time; try again, or read from the primary", path: path)
    }
}

extension PostgresConnection {
    /// Asks for the position of what was visible before it: of the log that is written, or on a standby of the log that is replayed.
    private static let positionQuery =
        SeenPosition.query + """
            , CASE WHEN pg_catalog.pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_catalog.pg_control_checkpoint())
            ELSE ('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8))::pg_catalog.bit(32)::int4
            END
            """

    /// Returns the position of the server.
    func currentPosition() throws -> PostgresPosition {
        guard let result = try run([.text(Self.positionQuery)], "the position", entity: "").first else {
            throw StorageError(.unreachable, "the server has told no position; try again", path: path)
        }
        return try position(result)
    }

    private func position(_ result: PostgresResult) throws -> PostgresPosition {
        guard let log = result.logPosition, let timeline = result.integer(0, 3) else {
            throw StorageError(.unreachable, "the server has not replayed its log yet; try again", path: path)
        }
        return PostgresPosition(timeline: UInt32(truncatingIfNeeded: timeline), log: log, isOfStandby: result.integer(0, 1) != 0)
    }

    /// Waits until the server has the position that all connections have to have. Any server may be behind a name.
    func reachRequiredPosition() throws {
        guard let wanted = settings.required?.position, wanted > reached else { return }
        let deadline = ContinuousClock.now + settings.busyTimeout
        while true {
            let current: PostgresPosition
            do {
                guard let result = try send([.text(Self.positionQuery)], 0).first else { return }
                current = try position(result)
            } catch let error as ServerError {
                throw error.failure(path: path)
            }
            if !current.isOfStandby || current.log >= wanted { break }
            if .now > deadline { throw StorageError.staleStandby(path) }
            usleep(5000)
        }
        reached = wanted
    }
}

extension PostgresResult {
    /// The position in the log that answers `SeenPosition.query`; nil where the server has none.
    ///
    /// The header of a page of 8,192 bytes, and the longer one of a file, is no record that a standby could replay.
    var logPosition: UInt64? {
        guard let bytes = bytes(0, 0), bytes.count == 8 else { return nil }
        let log = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        let segment = UInt64(clamping: integer(0, 2) ?? 0)
        if segment > 0, log % segment == 40 { return log - 40 }
        return log % 8192 == 24 ? log - 24 : log
    }
}
