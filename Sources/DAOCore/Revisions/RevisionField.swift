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

    /// Throws `.conflict` unless a record has the revision that it was read with, or the stored one; otherwise counts it up.
    ///
    /// - Parameters:
    ///   - given: The revision that the record was read with; zero when the row was not stored.
    ///   - left: The revision that an earlier write of the same call has left, which a later turn of it reads; nil when
    ///     there is none.
    ///   - stored: The stored revision, which is another one when the row was written since.
    func count(_ record: inout Record, given: Revision, left: Revision? = nil, stored: Revision, key: Key) throws {
        let revision = value(of: record)
        guard revision == given || revision == left || revision == stored else {
            throw StorageError.conflict(Record.schema.description.name, UniqueID(key))
        }
        try set(stored.next, in: &record)
    }

    /// Returns how often a row was written since it had a revision. A row that was erased goes on counting where it was.
    func writes(of key: Key, since revision: Revision, in storage: any Storage<Record>) throws -> Int64 {
        let stored = try storage.read(key: key).map(value) ?? Revision()
        return max(0, stored.rawValue &- revision.rawValue)
    }
}
