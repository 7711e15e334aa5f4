import DAOCore
import DAOSystemLMDB
import Foundation

// LMDB cannot make an open file smaller. The content is copied into another file, without unused pages, which then
// replaces the file. A killed process leaves one of the two.
extension LMDBEnvironment {
    /// Replaces the file by a copy without unused pages (contract L11).
    ///
    /// Readers run while the copy is written. Only while the file is replaced are they held back. While it waits for readers and
    /// other processes it holds nobody up: it looks again and again whether nothing is in its way.
    ///
    /// - Parameters:
    ///   - user: The user that asked for it.
    ///   - seconds: How long to wait for writers, for other processes that have the file open, and for readers.
    func compact(_ user: EnvironmentUser, within seconds: Double) throws -> CompactionReport {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while true {
            if let report = try compactAtOnce(user, deadline) { return report }
            usleep(UInt32.random(in: 5_000...20_000))
        }
    }

    /// How long readers and writers wait at most for a reader that began while the copy was written.
    private static let longestHold = 0.2

    /// Replaces the file, unless something is in the way that may end before the deadline.
    ///
    /// - Returns: Nil when it is to be tried again.
    private func compactAtOnce(_ user: EnvironmentUser, _ deadline: Date) throws -> CompactionReport? {
        let processes = try OtherProcesses(lock, errors)
        // Before anybody is held up, and before the copy is written.
        try processes.waitForEnd(deadline)
        guard try waitForQuiet(user, deadline) else { return nil }
        let file = try enterWriter(user, deadline)
        defer { leaveWriter() }
        try FileLock.acquire(file, deadline: deadline, errors: errors)
        defer { FileLock.release(file) }
        try checkFiles()
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { throw errors.error(errno, "looking at the file") }
        guard FileMeta.isLayoutKnown, status.st_nlink == 1 else {
            throw errors.error(
                .unsupported,
                status.st_nlink == 1
                    ? "LMDB files of this machine cannot be made smaller; copy the database into a new one"
                    : "the file has a second name, which would lead to the old content; remove that hard link first")
        }
        if processes.areThere { return nil }

        let copy = try TemporaryFile(beside: resolvedPath, reporting: errors.path, as: "compact-copy")
        try write(user, to: copy)
        // A database belongs to its owner, also after an administrator has compacted it.
        guard fchown(copy.descriptor, status.st_uid, status.st_gid) == 0 else { throw copy.failure() }
        try copy.sync(mode: status.st_mode)
        guard let identity = FileIdentity(descriptor: copy.descriptor) else { throw copy.failure() }

        guard processes.lockOut() else { return nil }
        defer { processes.letIn() }
        guard holdReaders(until: min(deadline, Date(timeIntervalSinceNow: Self.longestHold))) else {
            if Date() < deadline { return nil }
            throw StorageError.busy(errors.path)
        }
        defer {
            state.lock()
            letReadersGo()
            state.unlock()
        }
        try EnvironmentRegistry.shared.replaceFile(of: self, by: identity) {
            state.lock()
            defer { state.unlock() }
            try check(user)
            try replaceFile {
                try copy.replaceTarget()
                // LMDB gives the locks up with the old file.
                processes.forget()
            }
        }
        var newStatus = stat()
        guard fstat(copy.descriptor, &newStatus) == 0 else { throw copy.failure() }
        return CompactionReport(bytesBefore: Int(status.st_size), bytesAfter: Int(newStatus.st_size))
    }

    private func write(_ user: EnvironmentUser, to copy: TemporaryFile) throws {
        let reader = try takeReader(user)
        defer { leaveReader(reader) }
        try self.copy(into: copy.descriptor, at: errors.path, as: "compact-copy") { _ in }
        try FileMeta.renumber(copy.descriptor, pageSize: pageSize, to: reader.number, errors)
        // The copy is checked as a file is that is opened.
        let file = try DatabaseFile(path: copy.path, errors: errors)
        guard let meta = try file.checkMetas()?.max(by: { $0.transaction < $1.transaction }),
            meta.main.entries == Trees.count, meta.transaction == reader.number
        else { throw file.damaged("its copy is not a database") }
        try PageCheck.run(file, meta)
    }

    /// Waits until no transaction runs, and prevents new ones. ``letReadersGo()`` must follow.
    ///
    /// - Returns: False when one runs until the deadline; nobody is held back then.
    private func holdReaders(until deadline: Date) -> Bool {
        state.lock()
        defer { state.unlock() }
        holdsOnReaders += 1
        waitingForQuiet += 1
        defer { waitingForQuiet -= 1 }
        while readers.running.count > 0 {
            guard state.wait(until: deadline) || readers.running.count == 0 else {
                letReadersGo()
                return false
            }
        }
        return true
    }

    /// Waits until the transactions that run have ended, without holding others back for longer than a moment.
    ///
    /// - Returns: False when it is to be tried again.
    /// - Throws: `.busy` when one runs until the deadline.
    private func waitForQuiet(_ user: EnvironmentUser, _ deadline: Date) throws -> Bool {
        guard holdReaders(until: min(deadline, Date(timeIntervalSinceNow: 0.005))) else {
            if Date() < deadline { return false }
            throw StorageError.busy(errors.path)
        }
        state.lock()
        defer { state.unlock() }
        letReadersGo()
        try check(user)
        return true
    }
}

/// The other processes that have a file open. Each has locked the first byte of the lock file.
private final class OtherProcesses {
    private static let presence = 0..<1

    private let errors: LMDBErrors
    private let descriptor: CInt
    private var areLockedOut = false

    /// Finds LMDB's descriptor of the lock file. Closing another one would release the locks of this process.
    init(_ lock: String, _ errors: LMDBErrors) throws {
        guard let identity = FileIdentity(lock), let descriptor = FileIdentity.descriptors(of: [identity]).first else {
            throw errors.error(.busy, "it cannot be told whether other processes have the database open; try again later")
        }
        self.errors = errors
        self.descriptor = descriptor
    }

    /// Waits until no other process has the file open.
    func waitForEnd(_ deadline: Date) throws {
        try wait(deadline) { !areThere }
    }

    /// Whether another process has the file open.
    var areThere: Bool { ProcessLock.isHeldElsewhere(descriptor, in: Self.presence) != false }

    /// Prevents others from opening the file; false when another process has it open.
    func lockOut() -> Bool {
        areLockedOut = ProcessLock.acquire(descriptor, in: Self.presence, isShared: false)
        return areLockedOut
    }

    /// Lets others open the file again.
    func letIn() {
        if areLockedOut { _ = ProcessLock.acquire(descriptor, in: Self.presence, isShared: true) }
        forget()
    }

    /// Leaves the locks to LMDB.
    func forget() { areLockedOut = false }

    private func wait(_ deadline: Date, _ isFree: () -> Bool) throws {
        do {
            try FileLock.wait(until: deadline, errors, isFree)
        } catch {
            throw errors.error(
                .busy, "another process has the database open; close it there, or call compact when that process has ended")
        }
    }
}
