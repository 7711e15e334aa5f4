import Foundation

/// What tells a file from all others on this machine, whatever paths lead to it: its device and its inode.
public struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    package let inode: UInt64

    /// Creates the identity of the file that has a status.
    public init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// Reads the identity of the file that a path leads to; nil when there is none, or it may not be known.
    public init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the identity of an open file; nil when the descriptor is not open.
    public init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The descriptors of this process that are open on any of some files, in no order.
    ///
    /// - Parameter directory: Where the system lists them. A sandbox can forbid to read it; then all numbers are tried.
    package static func descriptors(of files: Set<FileIdentity>, listedIn directory: String = "/dev/fd") -> [Int32] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: directory)
        let numbers = names?.compactMap(Int32.init) ?? Array(0..<getdtablesize())
        return numbers.filter { FileIdentity(descriptor: $0).map(files.contains) ?? false }
    }
}

extension FileIdentity: CustomStringConvertible {
    /// The device and the inode, for a registry of instances by text.
    public var description: String { "\(device):\(inode)" }
}
