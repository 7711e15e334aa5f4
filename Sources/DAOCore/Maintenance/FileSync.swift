import Foundation

/// Makes what was written to files durable.
///
/// On most systems `fsync` returns when the medium has the content. On Apple's it returns when the drive has it, in a cache that a
/// power cut empties; a call of its own (`F_FULLFSYNC`) waits for the medium. What each purpose needs is decided here, on every
/// system alike, and ``system`` alone performs it as the system does.
package struct FileSync: Sendable {
    /// What has to survive a power cut.
    package enum Purpose: Sendable, CaseIterable {
        /// A file that is about to replace another one: the name must not lead to content that never reached the medium.
        case replacement
        /// The names in a directory.
        case names
        /// The log of an engine after a full commit, which the engine has synced with a call that may leave it in the drive.
        case commit
    }

    /// A call of the operating system.
    package enum Call: Sendable, Equatable {
        case fsync
        /// Waits until the drive has emptied its cache.
        case fullFsync
    }

    /// Whether `fsync` leaves content in the cache of the drive.
    package let leavesDriveCache: Bool
    /// Performs a call on a descriptor; returns 0 or the error number.
    private let perform: @Sendable (Int32, Call) -> Int32

    /// Creates a way to sync files.
    ///
    /// - Parameters:
    ///   - leavesDriveCache: Whether `fsync` leaves content in the cache of the drive.
    ///   - perform: Performs a call on a descriptor; returns 0 or the error number.
    package init(leavesDriveCache: Bool, perform: @escaping @Sendable (Int32, Call) -> Int32) {
        (self.leavesDriveCache, self.perform) = (leavesDriveCache, perform)
    }

    /// How files are synced now: as the system does, except in tests. Databases remember it when they are opened.
    @TaskLocal package static var current = FileSync.system

    /// The call for a purpose; nil where the engine's own one is enough.
    package func call(for purpose: Purpose) -> Call? {
        switch purpose {
        case .replacement, .names: leavesDriveCache ? .fullFsync : .fsync
        case .commit: leavesDriveCache ? .fullFsync : nil
        }
    }

    /// Syncs an open file.
    ///
    /// - Returns: 0, or the error number.
    package func sync(_ descriptor: Int32, for purpose: Purpose) -> Int32 {
        guard let call = call(for: purpose) else { return 0 }
        let code = perform(descriptor, call)
        // Some volumes, such as those of a network, have only the other call.
        guard call == .fullFsync, [ENOTSUP, EOPNOTSUPP, ENOTTY, EINVAL].contains(code) else { return code }
        return perform(descriptor, .fsync)
    }

    /// What the operating system offers.
    package static var system: FileSync {
        #if canImport(Darwin)
            FileSync(leavesDriveCache: true) { descriptor, call in
                (call == .fullFsync ? fcntl(descriptor, F_FULLFSYNC) : fsync(descriptor)) == -1 ? errno : 0
            }
        #else
            FileSync(leavesDriveCache: false) { descriptor, _ in fsync(descriptor) == 0 ? 0 : errno }
        #endif
    }
}
