import Synchronization

extension Database {
    /// Copies everything into another database, of whatever kind: entities, indexes, rows, links and the version (contract E5).
    ///
    /// The source is read as one snapshot. Rows are written a batch at a time, each batch in a transaction, and in the end both sides are compared
    /// by checksum. A copy that was interrupted, be it by the end of the process, goes on where it was when it is called again; a finished one
    /// finds nothing to do.
    ///
    /// ```swift
    /// let old = try drivers.open("sqlite:///var/lib/app.db")
    /// let new = try drivers.open("lmdb:///var/lib/app.mdb")
    /// try old.copy(to: new) { print($0.entity, $0.rows, "of", $0.total) }
    /// ```
    ///
    /// - Parameters:
    ///   - target: Where to. It may have other entities; nobody else writes to those that are copied meanwhile.
    ///   - onProgress: Called after each batch, on this thread.
    /// - Returns: What was done.
    /// - Throws: `.duplicateKey` when the target has other rows in an entity of the same name, naming the first; `.schemaMismatch` when it has another
    ///   entity of that name, another version, or a part of the copy of another database; `.corrupted` when the copy turns out not to be one;
    ///   `.unsupported` and `.readOnly`.
    @discardableResult public func copy(
        to target: any Database, onProgress: (CopyProgress) -> Void = { _ in }
    ) throws -> CopyReport {
        try copy(to: target, isCancelled: { false }, onProgress)
    }

    /// Copies everything into another database, in batches of a size; see ``copy(to:onProgress:)``.
    ///
    /// - Parameters:
    ///   - target: Where to.
    ///   - rowLimit: How many rows a batch has at most.
    ///   - onProgress: Called after each batch; the copy is interrupted by what it throws.
    @discardableResult package func copy(
        to target: any Database, rowLimit: Int, onProgress: (CopyProgress) throws -> Void
    ) throws -> CopyReport {
        try copy(to: target, rowLimit: rowLimit, isCancelled: { false }, onProgress)
    }

    /// Copies everything into another database without blocking the calling task's thread; see ``copy(to:onProgress:)``.
    ///
    /// When the task is cancelled, the copy stops after the batch that is being written, and can be taken up again.
    ///
    /// - Throws: `CancellationError`.
    @discardableResult public func copy(
        to target: any Database, onProgress: @escaping @Sendable (CopyProgress) -> Void = { _ in }
    ) async throws -> CopyReport {
        let cancellation = CopyCancellation()
        return try await withTaskCancellationHandler {
            try await engineState.executor.read {
                try self.copy(
                    to: target, isCancelled: { cancellation.isSet.load(ordering: .acquiring) }, onProgress)
            }
        } onCancel: {
            cancellation.isSet.store(true, ordering: .releasing)
        }
    }

    private func copy(
        to target: any Database, rowLimit: Int = 10_000, isCancelled: () -> Bool, _ onProgress: (CopyProgress) throws -> Void
    ) throws -> CopyReport {
        try withEntityStore(.read) { source in
            var copy = DatabaseCopy(
                source: source, target: target, name: "\(configuration.scheme):\(configuration.path)", rowLimit: rowLimit)
            return try copy.run(isCancelled, onProgress)
        }
    }
}

/// Tells a copy that its task has been cancelled.
private final class CopyCancellation: Sendable {
    let isSet = Atomic(false)
}
