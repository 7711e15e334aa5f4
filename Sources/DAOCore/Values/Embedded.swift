import Foundation

// A field contains Codable values and arrays of scalars as canonical JSON. The tools of the engine can read it, and equal
// values have the same bytes on every backend.

extension FieldValue where Self: Codable {
    /// `embedded`.
    public static var fieldType: FieldType { FieldType(.embedded) }
    /// Decodes the value from its JSON.
    public static func read(from row: RowReader, at index: Int) throws -> Self {
        let json = try row.readString(at: index)
        do {
            return try EmbeddedJSON.decode(Self.self, from: json)
        } catch {
            throw row.corruptedValue(at: index, "JSON that does not decode as \(String(describing: Self.self))")
        }
    }
    /// Encodes the value as canonical JSON.
    public func write(to row: RowWriter, at index: Int) throws {
        try row.writeString(try CanonicalEncoder.json(of: self), at: index)
    }
    /// The canonical JSON of the value. A value that cannot be encoded is the empty text, which is not JSON, so that no row has it.
    public var fieldValue: Value { .string((try? CanonicalEncoder.json(of: self)) ?? "") }
}

extension FieldValue where Self: RawRepresentable & Codable, RawValue: FieldValue {
    /// The type of the raw value.
    public static var fieldType: FieldType { RawValue.fieldType }
    /// Reads the raw value and converts it.
    public static func read(from row: RowReader, at index: Int) throws -> Self {
        guard let value = Self(rawValue: try RawValue.read(from: row, at: index)) else {
            throw row.corruptedValue(at: index, "a raw value that \(String(describing: Self.self)) does not know")
        }
        return value
    }
    /// Writes the raw value.
    public func write(to row: RowWriter, at index: Int) throws { try rawValue.write(to: row, at: index) }
    /// The raw value as a value.
    public var fieldValue: Value { rawValue.fieldValue }
}

/// The decoding of embedded values; ``CanonicalEncoder`` encodes them.
enum EmbeddedJSON {

    static func decode<Decoded: Decodable>(_ type: Decoded.Type, from json: String) throws -> Decoded {
        try decoder.decode(type, from: json.withBytes(NestedJSON.data))
    }

    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return decoder
    }
}

/// Arrays of scalars as JSON arrays. The encoding of an element is the same as that of a field with its
/// value.
enum EmbeddedArray {

    static func json<Element: FieldValue>(of array: [Element]) throws -> String {
        let writer = ElementWriter()
        for element in array { try element.write(to: writer, at: 0) }
        return ElementJSON.array(of: writer.elements)
    }

    static func read<Element: FieldValue>(from row: RowReader, at index: Int) throws -> [Element] {
        let json = try row.readString(at: index)
        let reader: ElementReader
        do {
            reader = ElementReader(
                row: row, field: index, elements: try ElementJSON.elements(of: json))
        } catch {
            throw row.corruptedValue(at: index, "text that is not a JSON array of scalars")
        }
        return try reader.elements.indices.map { try Element.read(from: reader, at: $0) }
    }
}

/// The elements of an embedded array as values, for conditions.
struct EmbeddedElements {
    private let reader: ElementReader
    /// Errors of the reader name no field: conditions do not report them.
    private static let entity = EntityDescription(name: "", fields: [])

    /// Parses the text of an array.
    ///
    /// - Throws: An error when the text is not the JSON of an array of scalars.
    init(json: String) throws {
        reader = ElementReader(row: RowReader(entity: Self.entity), field: 0, elements: try ElementJSON.elements(of: json))
    }

    /// The number of elements.
    var count: Int { reader.elements.count }

    /// Returns an element as a value of a kind, as a field of the kind reads it; nil when it is nil.
    ///
    /// - Throws: `.corruptedValue` when it is no value of the kind.
    func checkedValue(at index: Int, _ kind: ValueKind) throws -> Value? {
        if reader.isNull(at: index) { return nil }
        let value = try reader.readValue(at: index, as: kind)
        switch (kind, value) {
        case (.bool, _): return .bool(try Bool.read(from: reader, at: index))
        case (.url, .string(let text)) where URL(string: text) == nil:
            throw reader.corruptedValue(at: index, "text that is not a URL")
        case (.float, .double(let number)):
            let nearest = Double(Float(number))
            if nearest.isInfinite, number.isFinite { throw reader.corruptedValue(at: index, "a number out of range") }
            return .double(nearest)
        default: return value
        }
    }

    /// Returns an element as a value of a kind; null when it is nil or no value of this kind.
    func value(at index: Int, _ kind: ValueKind) -> Value {
        reader.isNull(at: index) ? .null : (try? reader.readValue(at: index, as: kind)) ?? .null
    }
}

final class ElementWriter: RowWriter {
    var elements: [ElementJSON] = []
    override func writeNull(at index: Int) throws { elements.append(.null) }
    override func writeInt64(_ value: Int64, at index: Int) throws { elements.append(.integer(value)) }
    override func writeUInt64(_ value: UInt64, at index: Int) throws { elements.append(.unsigned(value)) }
    override func writeDouble(_ value: Double, at index: Int) throws { elements.append(.double(value)) }
    override func writeString(_ value: String, at index: Int) throws { elements.append(.string(value)) }
    override func writeData(_ value: Data, at index: Int) throws { elements.append(.string(value.base64EncodedString())) }
    override func writeUUID(_ value: UUID, at index: Int) throws { elements.append(.string(value.uuidString)) }
}

/// Reads the elements of an embedded array. Errors name the field that contains the array.
private final class ElementReader: RowReader {
    let row: RowReader
    let field: Int
    let elements: [ElementJSON]

    init(row: RowReader, field: Int, elements: [ElementJSON]) {
        self.row = row
        self.field = field
        self.elements = elements
        super.init(entity: row.entity)
    }

    override var currentKey: Key? { row.currentKey }
    override func corruptedValue(at index: Int, _ reason: String) -> StorageError {
        row.corruptedValue(at: field, "element \(index) of the array: \(reason)")
    }
    override func isNull(at index: Int) -> Bool { if case .null = elements[index] { true } else { false } }

    override func readInt64(at index: Int) throws -> Int64 {
        switch elements[index] {
        case .integer(let value): return value
        default: throw wrong(at: index)
        }
    }

    override func readUInt64(at index: Int) throws -> UInt64 {
        switch elements[index] {
        case .integer(let value) where value >= 0: return UInt64(value)
        case .unsigned(let value): return value
        default: throw wrong(at: index)
        }
    }

    override func readDouble(at index: Int) throws -> Double {
        switch elements[index] {
        case .integer(let value): return Double(value)
        case .unsigned(let value): return Double(value)
        case .double(let value): return value
        case .string("NaN"): return .nan
        case .string("Infinity"): return .infinity
        case .string("-Infinity"): return -.infinity
        default: throw wrong(at: index)
        }
    }

    override func readString(at index: Int) throws -> String {
        guard case .string(let value) = elements[index] else { throw wrong(at: index) }
        return value
    }

    override func readData(at index: Int) throws -> Data {
        guard case .string(let value) = elements[index], let data = Data(base64Encoded: value) else { throw wrong(at: index) }
        return data
    }

    override func readUUID(at index: Int) throws -> UUID {
        guard case .string(let value) = elements[index], let uuid = UUID(uuidString: value) else { throw wrong(at: index) }
        return uuid
    }

    private func wrong(at index: Int) -> StorageError {
        corruptedValue(at: index, "a JSON value of another type")
    }
}
