import Foundation

/// A checksum of rows in order. It is the same on every database with the same rows, so two copies can be
/// compared without holding them in memory.
struct RowChecksum: Equatable {
    private let entity: EntityDescription
    private let fields: [Int]
    /// The number of added rows.
    private(set) var rows = 0
    private var hash: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Creates the checksum of no rows of an entity.
    ///
    /// - Parameter links: The relationships whose links are part of it, since all databases have them in the rows.
    init(of entity: EntityDescription, with links: Set<String> = []) {
        self.entity = entity.withoutIndexes
        fields = entity.fields.indices.filter {
            !entity.fields[$0].type.kind.isRelationship || links.contains(entity.fields[$0].name)
        }
    }

    /// Adds a row.
    mutating func add(_ values: [Value]) {
        // Another program can have written the JSON in another form.
        let values = entity.canonical(values)
        rows += 1
        add(UInt64(fields.count))
        for field in fields { add(values[field]) }
    }

    private mutating func add(_ value: Value) {
        switch value {
        case .null: add(1)
        case .bool(let flag): add(flag ? 3 : 2)
        case .integer(let number): add(4, UInt64(bitPattern: number))
        case .unsigned(let number): add(5, number)
        case .double(let number): add(6, number.normalized.bitPattern)
        case .date(let date): add(7, date.timeIntervalSinceReferenceDate.normalized.bitPattern)
        case .decimal(let number):
            var text = number.storedText
            text.withUTF8 { add(8, UnsafeRawBufferPointer($0)) }
        case .string(var text): text.withUTF8 { add(9, UnsafeRawBufferPointer($0)) }
        case .data(let data): data.withUnsafeBytes { add(10, $0) }
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { add(11, $0) }
        }
    }

    private mutating func add(_ tag: UInt64, _ word: UInt64) {
        add(tag)
        add(word)
    }

    private mutating func add(_ tag: UInt64, _ bytes: UnsafeRawBufferPointer) {
        add(tag)
        add(UInt64(bytes.count))
        var position = 0
        while position + 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
            position += 8
        }
        var rest: UInt64 = 0
        while position < bytes.count {
            rest = rest << 8 | UInt64(bytes[position])
            position += 1
        }
        add(rest)
    }

    /// Mixes in a word by a full multiplication. Its halves are folded, so that every bit affects every other
    /// bit.
    private mutating func add(_ word: UInt64) {
        let product = (hash ^ word).multipliedFullWidth(by: 0x9FB2_1C65_1E98_DF25)
        hash = product.high ^ product.low &+ 0x632B_E59B_D9B4_E019
    }
}
