import Foundation

extension EntityDescription {
    /// Writes a row of values, after checking each value against the type of its field.
    ///
    /// - Parameters:
    ///   - values: The values, one for each field, in the form of ``RowReader/readValue(at:)``.
    ///   - row: The writer of the row.
    /// - Throws: `.corruptedValue` with the field when a value does not have the type of its field.
    public func write(_ values: [Value], to row: RowWriter) throws {
        guard values.count == fields.count else {
            throw StorageError(
                .corruptedValue,
                "a row of '\(name)' has \(fields.count) fields, not \(values.count); give one value for each field", entity: name)
        }
        for index in fields.indices { try write(values[index], at: index, to: row) }
    }

    /// Writes one value of a row.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - index: The position of its field.
    ///   - row: The writer of the row.
    public func write(_ value: Value, at index: Int, to row: RowWriter) throws {
        let type = fields[index].rowForm.type
        func wrong() -> StorageError {
            StorageError(
                .corruptedValue,
                "a value for the field '\(fields[index].name)' is \(value.typeName), which \(type) cannot hold; give a value of that type",
                entity: name, field: fields[index].name)
        }
        switch (type.kind, value) {
        case (.toOne, .null), (.toMany, .null):
            // The row does not contain a list, or a to-one relationship whose target is unknown.
            break
        case (_, .null):
            guard type.isOptional else { throw wrong() }
            try row.writeNull(at: index)
        case (.bool, .bool(let flag)): try row.writeInt64(flag ? 1 : 0, at: index)
        case (.int8, .integer(let number)), (.int16, .integer(let number)), (.int32, .integer(let number)),
            (.int64, .integer(let number)):
            guard type.kind.integerRange?.contains(number) == true else { throw wrong() }
            try row.writeInt64(number, at: index)
        case (.uint8, .integer(let number)), (.uint16, .integer(let number)), (.uint32, .integer(let number)),
            (.uint64, .integer(let number)):
            guard type.kind.integerRange?.contains(number) == true else { throw wrong() }
            try row.writeUInt64(UInt64(number), at: index)
        case (.uint64, .unsigned(let number)): try row.writeUInt64(number, at: index)
        case (.double, .double(let number)): try row.writeDouble(number.normalized, at: index)
        case (.double, .integer(let number)):
            guard let number = Double(exactly: number) else { throw wrong() }
            try row.writeDouble(number, at: index)
        case (.float, .double(let number)):
            guard number.isNaN || Double(Float(number)) == number else { throw wrong() }
            try row.writeDouble(number.normalized, at: index)
        case (.decimal, .decimal(let number)): try row.writeString(number.storedText, at: index)
        case (.string, .string(let text)), (.url, .string(let text)), (.embedded, .string(let text)):
            try row.writeString(text, at: index)
        case (.data, .data(let data)): try row.writeData(data, at: index)
        case (.uuid, .uuid(let uuid)): try row.writeUUID(uuid, at: index)
        case (.date, .date(let date)): try row.writeDouble(date.timeIntervalSinceReferenceDate.normalized, at: index)
        default: throw wrong()
        }
    }

    /// Returns a value that a row is to get: an embedded one as canonical JSON (contract V4), with every digit, any other as it is.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - index: The position of its field.
    /// - Throws: `.corruptedValue` with the field when the text is not JSON of what the field contains.
    func canonical(_ value: Value, at index: Int) throws -> Value {
        guard fields[index].type.kind == .embedded, case .string(let json) = value else { return value }
        let content = fields[index].content ?? .value
        guard let text = content.stored(json) else {
            throw StorageError(
                .corruptedValue,
                "a value for the field '\(fields[index].name)' is text that is not \(content.elements == nil ? "JSON" : "the JSON of \(content)"); give it that JSON",
                entity: name, field: fields[index].name)
        }
        return .string(text)
    }

    /// Returns a stored value for a comparison: an embedded one as canonical JSON, which another program can have written in
    /// another form. A text that cannot be read stays as it is.
    package func canonicalOrSame(_ value: Value, at index: Int) -> Value {
        fields[index].type.kind == .embedded ? (fields[index].content ?? .value).canonicalOrSame(value) : value
    }

    /// Returns a stored row as a copy has it: its embedded values as canonical JSON, with every digit. A text that cannot be read
    /// stays as it is.
    func copied(_ values: [Value]) -> [Value] {
        var values = values
        for index in fields.indices {
            guard case .string(let json) = values[index], let text = fields[index].content?.stored(json) else { continue }
            values[index] = .string(text)
        }
        return values
    }

    /// Returns a stored row for a comparison, with its embedded values as canonical JSON. A text that cannot be read stays as it
    /// is.
    func canonical(_ values: [Value]) -> [Value] {
        var values = values
        for index in fields.indices where fields[index].content != nil {
            values[index] = canonicalOrSame(values[index], at: index)
        }
        return values
    }

    /// Returns the primary key of a row of values.
    ///
    /// - Throws: `.invalidKey` when the value cannot be a key of this entity.
    public func key(of values: [Value]) throws -> Key {
        switch values.indices.contains(keyIndex) ? values[keyIndex] : .null {
        case .integer(let number): return .integer(number)
        case .unsigned(let number): return .unsigned(number)
        case .uuid(let uuid): return .uuid(uuid)
        case .string(let text):
            guard text.utf8.count <= Key.maximumLength else { throw StorageError.keyTooLong(name, length: text.utf8.count) }
            return .string(text)
        default: throw StorageError(.invalidKey, "a row of '\(name)' has no key; give it one", entity: name)
        }
    }
}
