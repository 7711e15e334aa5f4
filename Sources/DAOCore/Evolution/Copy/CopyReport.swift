/// The progress of a copy.
public struct CopyProgress: Sendable, Equatable {
    /// The entity that is being copied.
    public var entity: String
    /// The number of rows in the target.
    public var rows: Int
    /// The number of rows of the entity.
    public var total: Int

    /// Creates a progress.
    package init(entity: String, rows: Int, total: Int) { (self.entity, self.rows, self.total) = (entity, rows, total) }
}

/// The result of a copy.
public struct CopyReport: Sendable, Equatable {
    /// The number of rows of each entity. It is the same in source and target, which were compared.
    public internal(set) var rows: [String: Int] = [:]
    /// The number of written rows. After an interruption it is less than the number of rows.
    public internal(set) var rowsWritten = 0
    /// The approximate number of bytes of the written values.
    public internal(set) var bytesWritten = 0
}
