import DAOCore
import DAOSystemLMDB
import Foundation

/// What LMDB runs on. It keeps the contract on some systems and in some versions only; elsewhere no file is opened.
struct LMDBHost: Sendable {
    enum System: Sendable, Equatable {
        /// Linux: its locks are released when a process is killed, and `fsync` waits for the medium.
        case linux
        case macOS
        /// iOS, iPadOS, tvOS, visionOS: every application is in a sandbox.
        case iOSFamily
    }

    /// The release of the library, such as 0.9.36.
    struct Version: Sendable, Comparable, CustomStringConvertible {
        let major: Int
        let minor: Int
        let patch: Int

        var description: String { "\(major).\(minor).\(patch)" }

        static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
        }
    }

    var system: System
    var isSandboxed = false
    var version: Version

    /// Releases from here on write another file format.
    static let firstOfNextFormat = Version(major: 0, minor: 10, patch: 0)
    /// The first release that is known to wait for the medium on Apple's systems. Older ones let a meta page overtake its data.
    static let firstDurableOnApple = Version(major: 0, minor: 9, patch: 36)

    /// This process and the library that it is linked with.
    static let current: LMDBHost = {
        var (major, minor, patch): (CInt, CInt, CInt) = (0, 0, 0)
        mdb_version(&major, &minor, &patch)
        let version = Version(major: Int(major), minor: Int(minor), patch: Int(patch))
        #if os(macOS)
            // The system sets it for a process in the App Sandbox.
            let isSandboxed = ProcessInfo.processInfo.environment["APP_SANDBOX_CONTAINER_ID"] != nil
            return LMDBHost(system: .macOS, isSandboxed: isSandboxed, version: version)
        #elseif canImport(Darwin)
            return LMDBHost(system: .iOSFamily, isSandboxed: true, version: version)
        #else
            return LMDBHost(system: .linux, version: version)
        #endif
    }()

    /// Why no file can be opened here (contract L1); nil where the contract is kept.
    func refusal(_ errors: LMDBErrors) -> StorageError? {
        if version >= Self.firstOfNextFormat {
            return errors.error(
                .unsupported,
                "LMDB \(version) has another file format than the releases 0.9, which this library reads and writes; link the newest "
                    + "of those. Nothing was changed")
        }
        if system == .linux { return nil }
        if system == .iOSFamily || isSandboxed {
            return errors.error(
                .unsupported,
                "LMDB locks with named semaphores, which a sandbox does not allow; use SQLite, "
                    + (system == .macOS ? "or a program outside of the App Sandbox" : "which every device has"))
        }
        if version < Self.firstDurableOnApple {
            return errors.error(
                .unsupported,
                "LMDB \(version) leaves commits in the cache of the drive on this system, and a power cut can damage the file; link "
                    + "LMDB \(Self.firstDurableOnApple) or a later 0.9. Nothing was changed")
        }
        return nil
    }

    /// Whether an error number of opening says that the system has no more semaphores: each process that was killed keeps two of them
    /// until the next start of the machine.
    func lacksSemaphores(_ code: CInt) -> Bool { system != .linux && code == ENOSPC }
}
