import DAOCore

extension FileSync {
    /// Syncs as on a system whose `fsync` leaves content in the cache of the drive, and records the calls.
    ///
    /// - Parameter answer: What a call returns: 0 or an error number.
    package static func recording(_ answer: @escaping @Sendable (Call) -> Int32) -> (sync: FileSync, calls: RecordedSyncs) {
        let calls = RecordedSyncs()
        let sync = FileSync(leavesDriveCache: true) { _, call in
            calls.append(call)
            return answer(call)
        }
        return (sync, calls)
    }
}

/// The calls that were recorded, in their order.
package final class RecordedSyncs: Sendable {
    private let calls = Lock<[FileSync.Call]>([])

    package init() {}
    package var all: [FileSync.Call] { calls.withLock { $0 } }
    package func append(_ call: FileSync.Call) { calls.withLock { $0.append(call) } }
    package func forget() { calls.withLock { $0 = [] } }
}
