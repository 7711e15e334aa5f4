extension EntityDescription {
    /// Throws `.uniqueViolation` when another row has the values that a row has in a unique index. An entity store without indexes of
    /// its own calls it before it stores a row; a storage calls ``RowLayout/store(_:mayReplace:in:find:rows:put:)``.
    ///
    /// - Parameters:
    ///   - values: The values of the row, in the order of this description and in the form of ``ValueRowWriter``.
    ///   - key: The key of the row.
    ///   - rows: The stored rows with their keys, in any order. The row that is replaced may be among them.
    /// - Complexity: O(n) in the number of rows for each unique index.
    public func checkUnique(
        _ values: [Value], of key: Key, among rows: some Sequence<(key: Key, value: [Value])>
    ) throws {
        for index in uniqueIndexes {
            let (fields, filter) = (positions(of: index), index.filter(of: self))
            func isIn(_ values: [Value]) throws -> Bool {
                let reader = ValueRowReader(entity: self, values: values)
                return try filter?.matches { try reader.readValue(at: $0) } ?? true
            }
            if try fields.contains(where: { values[$0].isNull }) || !isIn(values) { continue }
            for other in rows where other.key != key {
                guard try fields.allSatisfy({ other.value[$0] == values[$0] }) && isIn(other.value) else { continue }
                throw StorageError.uniqueViolation(
                    name, field: index.fieldNames, key: UniqueID(key), conflictingKey: UniqueID(other.key))
            }
        }
    }
}
