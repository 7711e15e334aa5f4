import Foundation

/// Reads one row from values in the primitive form of ``ValueRowWriter``, or in that of the fields: `.bool`, `.date`, `.decimal`.
///
/// A row with fewer values than the entity has fields is damaged: what it lacks is `.corruptedValue`.
public class ValueRowReader: RowReader {
    /// The fields of the row.
    public var values: [Value]
    /// The related models, by the positions of their fields.
    private let related: [Int: any Sendable]

    /// Creates a reader at a row without related models.
    public convenience init(entity: EntityDescription, values: [Value]) {
        self.init(entity: entity, values: values, related: [:])
    }

    /// Creates a reader at a row.
    init(entity: EntityDescription, values: [Value], related: [Int: any Sendable]) {
        self.values = values
        self.related = related
        super.init(ofValues: entity)
    }

    public override var currentKey: Key? { try? entity.key(of: values) }

    /// The value of a field; nil where the row has none.
    private func value(at index: Int) -> Value? { index < values.count ? values[index] : nil }

    public override func isNull(at index: Int) -> Bool { value(at: index)?.isNull ?? false }

    public override func readInt64(at index: Int) throws -> Int64 {
        switch value(at: index) {
        case .integer(let value): value
        case .bool(let value): value ? 1 : 0
        default: throw wrong(at: index)
        }
    }

    public override func readUInt64(at index: Int) throws -> UInt64 {
        switch value(at: index) {
        case .integer(let value) where value >= 0: return UInt64(value)
        case .unsigned(let value): return value
        default: throw wrong(at: index)
        }
    }

    public override func readDouble(at index: Int) throws -> Double {
        switch value(at: index) {
        case .double(let value): value
        case .date(let value): value.timeIntervalSinceReferenceDate
        default: throw wrong(at: index)
        }
    }

    public override func readString(at index: Int) throws -> String {
        switch value(at: index) {
        case .string(let value): value
        case .decimal(let value): value.storedText
        default: throw wrong(at: index)
        }
    }

    public override func readData(at index: Int) throws -> Data {
        if case .data(let value) = value(at: index) { value } else { throw wrong(at: index) }
    }

    public override func readUUID(at index: Int) throws -> UUID {
        if case .uuid(let value) = value(at: index) { value } else { throw wrong(at: index) }
    }

    public override func readRelated<Related: Model>(_ type: Related.Type, at index: Int) throws -> [Related]? {
        related[index] as? [Related]
    }

    public override func readReference<Related: Model>(_ type: Related.Type, at index: Int) throws -> Reference<Related>? {
        try related[index] as? Reference<Related> ?? super.readReference(type, at: index)
    }

    override func relatedKey(at index: Int) -> Value { value(at: index) ?? .null }

    private func wrong(at index: Int) -> StorageError {
        corruptedValue(at: index, value(at: index).map { "it is \($0.typeName)" } ?? "the row has no value of it")
    }
}
