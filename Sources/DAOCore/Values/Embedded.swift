import Foundation

// A field contains Codable values and arrays of scalars as JSON with sorted keys. The tools of the engine can
// read it, and the bytes are the same on every backend.

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
    /// Encodes the value as JSON.
    public func write(to row: RowWriter, at index: Int) throws { try row.writeString(try EmbeddedJSON.encode(self), at: index) }
    /// The JSON of the value.
    public var fieldValue: Value { (try? EmbeddedJSON.encode(self)).map(Value.string) ?? .null }
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

/// The JSON encoding of embedded values.
enum EmbeddedJSON {

    static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func decode<Decoded: Decodable>(_ type: Decoded.Type, from json: String) throws -> Decoded {
        try decoder.decode(type, from: Data(json.utf8))
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
        return try ElementJSON.array(of: writer.elements)
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

    /// Returns an element as a value of a kind; null when it is nil or no value of this kind.
    func value(at index: Int, _ kind: ValueKind) -> Value {
        reader.isNull(at: index) ? .null : (try? reader.readValue(at: index, as: kind)) ?? .null
    }
}

private final class ElementWriter: RowWriter {
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
