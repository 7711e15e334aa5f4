// The asynchronous form of every method of a storage.

extension Storage {
    /// Runs reads on a reader thread of the database, without blocking the thread of the calling task.
    ///
    /// ```swift
    /// let count = try await storage.reading { try $0.count(Query()) }
    /// ```
    ///
    /// A task that is cancelled before the closure begins throws `CancellationError`.
    ///
    /// - Parameter body: A closure that gets the storage, and can call every method that reads.
    /// - Throws: Any error of the closure, unchanged; `CancellationError`.
    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (any Storage<Record>) throws -> Result
    ) async throws -> Result {
        try await database.engineState.executor.read { try body(self) }
    }

    /// Runs writes on the writer thread of the database, without blocking the thread of the calling task.
    ///
    /// ```swift
    /// let record = try await storage.writing { try $0.create { $0.id = 1 } }
    /// ```
    ///
    /// A task that is cancelled before the closure begins throws `CancellationError` and changes nothing.
    ///
    /// - Parameter body: A closure that gets the storage, and can call every method.
    /// - Throws: Any error of the closure, unchanged; `CancellationError`.
    public func writing<Result: Sendable>(
        _ body: @escaping @Sendable (any Storage<Record>) throws -> Result
    ) async throws -> Result {
        try await database.engineState.executor.write { try body(self) }
    }
}
