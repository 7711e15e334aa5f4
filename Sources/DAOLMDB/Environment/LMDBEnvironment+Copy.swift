import DAOCore
import DAOSystemLMDB
import Foundation

extension LMDBEnvironment {
    private static let bufferSize = 1 << 20

    /// Copies the newest snapshot into an empty file, without unused pages. A read transaction is running, so that the
    /// map does not move.
    ///
    /// LMDB writes into a pipe on another thread. The copy can therefore be followed, and ended.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - path: The path of the file, for errors.
    ///   - purpose: What the file is, for errors.
    ///   - onProgress: A closure that is called after each megabyte. An error that it throws ends the copy.
    func copy(
        into descriptor: CInt, at path: String, as purpose: String, _ onProgress: (BackupProgress) throws -> Void
    ) throws {
        func failure(_ code: CInt) -> StorageError { TemporaryFile.failure(code, path, as: purpose) }
        guard let (input, output) = makePipe() else { throw failure(errno) }
        let copying = CopyThread(handle, output)
        var written = 0
        do {
            defer { close(input) }
            let total = usedSize
            try withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 8) { buffer in
                var filled = 0
                var isAtEnd = false
                while !isAtEnd {
                    let count = read(input, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
                    if count < 0, errno == EINTR { continue }
                    guard count >= 0 else { throw failure(errno) }
                    filled += count
                    isAtEnd = count == 0
                    guard filled == buffer.count || isAtEnd else { continue }
                    guard write(UnsafeRawBufferPointer(rebasing: buffer[..<filled]), to: descriptor) else { throw failure(errno) }
                    written += filled
                    filled = 0
                    if !isAtEnd { try onProgress(BackupProgress(bytes: written, total: max(total, written))) }
                }
            }
        } catch {
            // LMDB finds the pipe closed, and ends.
            _ = copying.wait()
            throw error
        }
        let code = copying.wait()
        guard code == 0 else { throw errors.error(code, "copying the database") }
        try onProgress(BackupProgress(bytes: written, total: written))
    }

    private func makePipe() -> (input: CInt, output: CInt)? {
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Writes all of some bytes; false, with the number of an error, when that fails.
    private func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = Foundation.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if count < 0, errno == EINTR { continue }
            if count == 0 { errno = EIO }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}

/// A thread on which LMDB copies an environment into a pipe.
private final class CopyThread: @unchecked Sendable {
    // Sendable because the code is set before the semaphore is signalled, and read after it.
    private let end = DispatchSemaphore(value: 0)
    private var code: CInt = 0

    init(_ environment: OpaquePointer, _ output: CInt) {
        // The handle outlives the thread, since `wait` is called in every case.
        nonisolated(unsafe) let environment = environment
        let thread = Thread { [self] in
            // A pipe that was closed is an error, and not the end of the process. The threads of LMDB inherit this.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            code = mdb_env_copyfd2(environment, output, UInt32(MDB_CP_COMPACT))
            close(output)
            end.signal()
        }
        thread.start()
    }

    /// Waits for the end, which follows the end of the pipe.
    func wait() -> CInt {
        end.wait()
        return code
    }
}
