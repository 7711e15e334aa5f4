extension Database {
    /// Copies everything into another database of any kind: entities, indexes, rows, links and the version
    /// (contract E5).
    ///
    /// The source is read from one snapshot. Rows are written in batches, one transaction for each batch.
    /// Finally both sides are compared by checksum. After an interruption, including the end of the process,
    /// a new call continues the copy. When the copy is complete, a new call does nothing.
    ///
    /// ```swift
    /// let old = try drivers.open("sqlite:///var/lib/app.db")
    /// let new = try drivers.open("lmdb:///var/lib/app.mdb")
    /// try old.copy(to: new) { print($0.entity, $0.rows, "of", $0.total) }
    /// ```
    ///
    /// - Parameters:
    ///   - target: The target database. It can have other entities. No other writer may change the copied
    ///     entities during the copy.
    ///   - onProgress: A closure that is called after each batch, on this thread.
    /// - Returns: The result of the copy.
    /// - Throws: `.duplicateKey` when the target has other rows in an entity of the same name, with a key in
    ///   that entity; `.schemaMismatch` when the target has a different entity of the same name, a different
    ///   version, or an unfinished copy of another database, and when the source is the file of another program, whose tables are no
    ///   entities; `.corrupted` when the comparison fails;
    ///   `.unsupported` and `.readOnly`.
    @discardableResult public func copy(
        to target: any Database, onProgress: (CopyProgress) -> Void = { _ in }
    ) throws -> CopyReport {
        try copy(to: target, isCancelled: { false }, onProgress)
    }

    /// Copies everything into another database, with a given batch size; see ``copy(to:onProgress:)``.
    ///
    /// - Parameters:
    ///   - target: The target database.
    ///   - rowLimit: The maximum number of rows of a batch.
    ///   - onProgress: A closure that is called after each batch. An error that it throws interrupts the
    ///     copy.
    @discardableResult package func copy(
        to target: any Database, rowLimit: Int, onProgress: (CopyProgress) throws -> Void
    ) throws -> CopyReport {
        try copy(to: target, rowLimit: rowLimit, isCancelled: { false }, onProgress)
    }

    /// Copies the entities of a store into this database, as ``copy(to:onProgress:)`` does those of a database.
    ///
    /// - Parameters:
    ///   - source: The store, in one snapshot.
    ///   - name: The name of the source, by which an interrupted call is continued.
    ///   - onProgress: A closure that is called after each batch. An error that it throws interrupts the copy.
    package func receive(
        from source: any EntityStore, named name: String, _ onProgress: (CopyProgress) throws -> Void
    ) throws -> CopyReport {
        var copy = DatabaseCopy(source: source, target: self, name: name, rowLimit: 10_000)
        return try copy.run({ false }, onProgress)
    }

    /// Copies everything into another database without blocking the thread of the calling task; see
    /// ``copy(to:onProgress:)``.
    ///
    /// When the task is cancelled, the copy stops after the current batch. A new call continues it.
    ///
    /// - Throws: The errors of ``copy(to:onProgress:)``; `CancellationError` when the task is cancelled.
    @discardableResult public func copy(
        to target: any Database, onProgress: @escaping @Sendable (CopyProgress) -> Void = { _ in }
    ) async throws -> CopyReport {
        try await engineState.executor.readCancellable { try self.copy(to: target, isCancelled: $0, onProgress) }
    }

    private func copy(
        to target: any Database, rowLimit: Int = 10_000, isCancelled: () -> Bool, _ onProgress: (CopyProgress) throws -> Void
    ) throws -> CopyReport {
        try reporting(.copy) {
            if let contents = try (self as? any ForeignTableHolder)?.foreignContents() {
                throw StorageError(
                    .schemaMismatch,
                    "another program has made the file, and its \(contents) are no entities that could be copied; move them by a mapping of "
                        + "its tables. Nothing was changed", path: configuration.path)
            }
            return try withEntityStore(.read) { source in
                var copy = DatabaseCopy(
                    source: source, target: target, name: configuration.place, rowLimit: rowLimit)
                return try copy.run(isCancelled, onProgress)
            }
        }
    }
}

/// A database whose file another program can have made.
package protocol ForeignTableHolder {
    /// Returns the number of rows and tables of a file that has rows and no entities; nil for any other.
    func foreignContents() throws -> String?
}
