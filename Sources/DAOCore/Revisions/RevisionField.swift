/// The field of a model that counts its writes.
struct RevisionField<Record: Model>: Sendable {
    /// The position of the field.
    let index: Int
    private let field: Field<Record, Revision>

    init(_ field: Field<Record, Revision>, at index: Int) {
        self.field = field
        self.index = index
    }

    /// Returns the revision of a record.
    func value(of record: Record) -> Revision { withUnsafePointer(to: record) { field.value(of: $0) } }

    /// Assigns a revision to a record.
    func set(_ revision: Revision, in record: inout Record) throws {
        if field.assign(revision, to: &record) { return }
        try Record.schema.set(.integer(revision.rawValue), at: index, in: &record)
    }

    /// Throws `.conflict` unless a record has the stored revision; otherwise counts it up.
    ///
    /// - Parameter stored: The stored revision; zero when the row is not stored.
    func count(_ record: inout Record, stored: Revision, key: Key) throws {
        guard value(of: record) == stored else { throw StorageError.conflict(Record.schema.description.name, UniqueID(key)) }
        try set(stored.next, in: &record)
    }
}
