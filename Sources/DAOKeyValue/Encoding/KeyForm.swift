import DAOCore

/// The encoding of values in keys. The order of the bytes is the order of the values.
///
/// # The format of keys
///
/// Every key of the store begins with the number of a ``Keyspace``. Keyspace 0 is the catalog. Every table
/// and every index has a separate keyspace; the links of a relationship have two, see ``LinkTable``.
///
/// - A row: the keyspace of its table, then its primary key.
/// - An index entry: the keyspace of the index, then for each of its fields `00` for nil or `01` and the value,
///   then the primary key of the row. Its value is a checksum, see ``EntryFormat``. For a descending field, nil
///   is `02`, and the bytes of a value after the `01` are flipped.
///
/// | form | bytes |
/// |---|---|
/// | ``signed`` | 8 bytes, big-endian, the sign bit flipped |
/// | ``unsigned`` | 8 bytes, big-endian |
/// | ``floating`` | 8 bytes, big-endian: the bits of the number, all flipped when it is negative, else the sign bit flipped; NaN is last |
/// | ``uuid`` | its 16 bytes |
/// | ``decimal`` | `01` negative, `02` zero, `03` positive, `04` NaN; then the decimal exponent in two bytes, big-endian, plus 0x4000; then the digits plus one, two in a byte, ended by a zero half; exponent and digits flipped when negative |
/// | ``bytes`` | text as UTF-8 and data: `00` is written `00 FF`, and `00 01` ends it |
///
/// A string as primary key is the last component and is not escaped.
///
/// A store accepts keys of up to 511 bytes, and a primary key can have 256 bytes. An index entry is therefore
/// truncated after ``limit`` escaped bytes, or fewer when the index has several fields, and terminated by `00 02`. A truncated entry orders after every
/// shorter value with the same prefix and before every greater value. Entries with the same truncated prefix
/// are distinguished by their rows.
enum KeyForm: UInt8, Sendable {
    /// Signed integers.
    case signed
    /// Unsigned integers, and Booleans as 0 and 1.
    case unsigned
    /// Floating-point numbers and dates.
    case floating
    /// Decimal numbers.
    case decimal
    /// Text and data.
    case bytes
    /// UUIDs.
    case uuid

    /// The maximum number of escaped bytes of a value in an index entry: 5 + 1 + 240 + 2 + 256 is within 511.
    static let limit = 240

    /// The maximum number of escaped bytes of each value in an index on several fields.
    ///
    /// - Parameters:
    ///   - forms: The forms of the fields.
    ///   - primaryKey: The form of the primary key.
    static func limit(of forms: [KeyForm], primaryKey: KeyForm) -> Int {
        let texts = forms.count { $0 == .bytes }
        let keyLength = primaryKey == .bytes ? Key.maximumLength : primaryKey.largestSize
        let rest = 511 - 5 - keyLength - forms.reduce(0) { $0 + 1 + $1.largestSize }
        return texts == 0 ? limit : min(limit, rest / texts)
    }

    /// The maximum number of bytes of a value, except for escaped bytes, and including their terminator.
    var largestSize: Int {
        switch self {
        case .signed, .unsigned, .floating: 8
        case .uuid: 16
        // The sign, the exponent, and 39 digits with a zero half.
        case .decimal: 1 + 2 + 20
        case .bytes: 2
        }
    }

    /// The form of a kind; nil for relationships.
    init?(_ kind: ValueKind) {
        switch kind {
        case .int8, .int16, .int32, .int64: self = .signed
        case .uint8, .uint16, .uint32, .uint64, .bool: self = .unsigned
        case .float, .double, .date: self = .floating
        case .decimal: self = .decimal
        case .string, .url, .embedded, .data: self = .bytes
        case .uuid: self = .uuid
        case .toOne, .toMany: return nil
        }
    }
}
