/// How far a copy is.
public struct CopyProgress: Sendable, Equatable {
    /// The entity that is being copied.
    public var entity: String
    /// How many of its rows are in the target.
    public var rows: Int
    /// How many rows it has.
    public var total: Int
}

/// What a copy has done.
public struct CopyReport: Sendable, Equatable {
    /// How many rows each entity has, in the source as in the target, where they were compared.
    public internal(set) var rows: [String: Int] = [:]
    /// How many rows were written; fewer than there are after an interruption.
    public internal(set) var rowsWritten = 0
    /// How many bytes their values have, about.
    public internal(set) var bytesWritten = 0
}
