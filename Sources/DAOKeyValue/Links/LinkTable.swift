import DAOCore

/// The catalog entry of a relationship's links.
struct StoredLinks: Codable, Sendable {
    /// The kind of the parents' keys.
    var keyKind: ValueKind
    /// The kind of the children's keys.
    var targetKeyKind: ValueKind
    /// The keyspace of the lists. The keyspace of the inverse entries is the next keyspace.
    var keyspace: UInt32

    /// Creates an entry for a relationship.
    init(_ relation: RelationDescription, keyspace: UInt32) {
        keyKind = relation.keyKind
        targetKeyKind = relation.targetKeyKind
        self.keyspace = keyspace
    }

    /// The name of the links of a relationship. The names of entities and fields have no dots.
    static func name(of relation: RelationDescription) -> String {
        name(LinkName(entity: relation.entity, field: relation.field))
    }

    /// The name of links.
    static func name(_ name: LinkName) -> String { "\(name.entity).\(name.field)" }
}

/// The keyspaces and the format of the links of a relationship.
///
/// # The format of links
///
/// - A link: the keyspace, the parent's key, and the position in eight bytes, big-endian. Its value is a
///   checksum in four bytes, little-endian, and the child's key.
/// - The inverse entry: the next keyspace, the child's key, the parent's key and the position. Its value is
///   empty.
///
/// Keys are encoded as in ``KeyForm``. A string that is not the last component has its length before it, in
/// two bytes, big-endian. Only the parent's key in the inverse entry has no length, because it ends eight
/// bytes before the end. Positions ascend in the order of the children and can have gaps.
///
/// A store accepts keys of up to 511 bytes. In the inverse entry, a child's string key of more than
/// ``longestWhole`` bytes is replaced by `FF FF` and the eight bytes of its hash, big-endian. A match by hash
/// is verified in the links themselves.
final class LinkTable: Sendable {
    /// The longest string key of a child that is stored whole in the inverse entry: 5 + 2 + 240 + 256 + 8 is
    /// 511.
    static let longestWhole = 240
    /// The number of bytes of a position.
    static let positionLength = 8

    /// The relationship's name.
    let name: String
    /// The keyspace of the lists.
    let keyspace: Keyspace
    /// The encoding of the parents' keys.
    let parentForm: KeyForm
    /// The encoding of the children's keys.
    let childForm: KeyForm
    private let path: String?
    private let keyKind: ValueKind
    private let targetKeyKind: ValueKind

    /// The keyspace of the inverse entries.
    let backKeyspace: Keyspace

    /// Creates a table from a catalog entry.
    ///
    /// - Throws: `.corrupted` when the entry is invalid.
    init(_ stored: StoredLinks, name: String, path: String?) throws {
        guard let parentForm = KeyForm(stored.keyKind), let childForm = KeyForm(stored.targetKeyKind),
            parentForm.isOfKeys, childForm.isOfKeys
        else {
            throw StorageError.corrupted(path, "the catalog entry of the links '\(name)' is damaged")
        }
        self.name = name
        self.path = path
        self.parentForm = parentForm
        self.childForm = childForm
        keyspace = Keyspace(stored.keyspace)
        backKeyspace = Keyspace(stored.keyspace &+ 1)
        keyKind = stored.keyKind
        targetKeyKind = stored.targetKeyKind
    }

    /// Checks that the links have the kinds of keys of a relationship.
    func check(_ relation: RelationDescription) throws {
        guard relation.keyKind != keyKind || relation.targetKeyKind != targetKeyKind else { return }
        throw StorageError(
            .schemaMismatch,
            "the stored links of '\(name)' lead from keys of type \(keyKind.rawValue) to keys of type \(targetKeyKind.rawValue), the declared ones "
                + "from \(relation.keyKind.rawValue) to \(relation.targetKeyKind.rawValue)",
            entity: relation.entity, field: relation.field, path: path)
    }

    /// The error for links with invalid bytes.
    var corrupted: StorageError {
        .corrupted(path, "the stored links of '\(name)' are damaged")
    }

    /// The error for a key that no row can have.
    func invalidKey(_ key: Key, _ form: KeyForm) -> StorageError {
        if case .string(let text) = key, form == .bytes {
            return .keyTooLong(name, length: text.utf8.count)
        }
        return .keyOfAnotherType(name, UniqueID(key), expected: form == parentForm ? keyKind : targetKeyKind)
    }
}

extension KeyForm {
    /// Whether primary keys can have the form.
    fileprivate var isOfKeys: Bool { self != .floating && self != .decimal }

    /// The fixed number of bytes of keys of the form; nil for strings.
    var keyLength: Int? {
        switch self {
        case .signed, .unsigned, .floating: 8
        case .uuid: 16
        case .bytes, .decimal: nil
        }
    }
}

// MARK: Keys

extension LinkTable {
    /// Appends the common prefix of all links of a parent.
    ///
    /// - Throws: `.invalidKey`.
    @inline(__always) func append(listOf parent: Key, to builder: inout KeyBuilder) throws {
        builder.append(keyspace)
        try append(parent, parentForm, to: &builder)
    }

    /// Appends the common prefix of all inverse entries of a child.
    ///
    /// - Returns: Whether inverse entries of other children can have the same prefix.
    /// - Throws: `.invalidKey`.
    @inline(__always) func append(inverseEntryOf child: Key, to builder: inout KeyBuilder) throws -> Bool {
        builder.append(backKeyspace)
        guard childForm == .bytes, case .string(let text) = child, text.utf8.count > Self.longestWhole else {
            try append(child, childForm, to: &builder)
            return false
        }
        guard text.utf8.count <= Key.maximumLength else { throw invalidKey(child, childForm) }
        var copy = text
        copy.withUTF8 { appendHash(of: UnsafeRawBufferPointer($0), to: &builder) }
        return true
    }

    /// Appends the whole inverse entry of a stored link.
    ///
    /// - Parameters:
    ///   - child: The bytes of the child's key.
    ///   - parent: The bytes of the parent's key.
    ///   - position: The link's position.
    func append(inverseEntryOf child: UnsafeRawBufferPointer, to parent: Parent, position: UInt64, to builder: inout KeyBuilder) {
        builder.append(backKeyspace)
        if childForm == .bytes {
            if child.count > Self.longestWhole {
                appendHash(of: child, to: &builder)
            } else {
                append(length: child.count, to: &builder)
            }
        }
        if childForm != .bytes || child.count <= Self.longestWhole { builder.append(raw: child) }
        builder.append(raw: parent.bytes)
        builder.append(unsigned: position)
    }

    /// The bytes of a parent's key.
    struct Parent {
        let bytes: UnsafeRawBufferPointer
    }

    private func appendHash(of child: UnsafeRawBufferPointer, to builder: inout KeyBuilder) {
        builder.append(byte: 0xFF)
        builder.append(byte: 0xFF)
        builder.append(unsigned: XXH64.hash(child))
    }

    @inline(__always) private func append(_ key: Key, _ form: KeyForm, to builder: inout KeyBuilder) throws {
        if form == .bytes, case .string(let text) = key { append(length: min(text.utf8.count, Key.maximumLength), to: &builder) }
        guard builder.append(key: key, as: form) else { throw invalidKey(key, form) }
    }

    private func append(length: Int, to builder: inout KeyBuilder) {
        builder.append(byte: UInt8(truncatingIfNeeded: length >> 8))
        builder.append(byte: UInt8(truncatingIfNeeded: length))
    }

    /// The bytes of the parent's key in the result of ``append(listOf:to:)``, or in a link; nil when they are
    /// missing.
    func parent(in link: UnsafeRawBufferPointer) -> Parent? {
        let start = keyspace.length
        if let length = parentForm.keyLength {
            return link.count < start + length
                ? nil : Parent(bytes: UnsafeRawBufferPointer(rebasing: link[start..<start + length]))
        }
        guard link.count >= start + 2 else { return nil }
        let length = Int(link[start]) << 8 | Int(link[start + 1])
        guard link.count >= start + 2 + length else { return nil }
        return Parent(bytes: UnsafeRawBufferPointer(rebasing: link[start + 2..<start + 2 + length]))
    }

    /// Appends the whole link of an inverse entry.
    ///
    /// - Parameters:
    ///   - inverseEntry: The whole inverse entry.
    ///   - prefix: The number of bytes of keyspace and child in it.
    /// - Returns: False, with nothing appended, when it is invalid.
    func append(linkOf inverseEntry: UnsafeRawBufferPointer, prefix: Int, to builder: inout KeyBuilder) -> Bool {
        let length = inverseEntry.count - prefix - Self.positionLength
        guard length >= 0, parentForm.keyLength.map({ $0 == length }) ?? (length <= Key.maximumLength) else { return false }
        builder.append(keyspace)
        if parentForm == .bytes { append(length: length, to: &builder) }
        builder.append(raw: inverseEntry.from(prefix))
        return true
    }
}

// MARK: Values

extension LinkTable {
    /// The number of bytes of the checksum.
    static let checksumLength = 4

    /// The checksum of a link.
    ///
    /// - Parameters:
    ///   - child: The bytes of the child's key.
    ///   - list: The hash of the common prefix of the list's keys.
    ///   - position: The link's position.
    @inline(__always) static func checksum(_ child: UnsafeRawBufferPointer, list: UInt64, position: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: XXH64.hash(child, seed: list &+ position))
    }

    /// The bytes of the child's key in a link.
    ///
    /// - Parameters:
    ///   - value: The link's value.
    ///   - list: The hash of the common prefix of the list's keys; nil to skip verification.
    ///   - position: The link's position.
    /// - Throws: `.corrupted`.
    @inline(__always) func child(in value: UnsafeRawBufferPointer, list: UInt64?, position: UInt64) throws
        -> UnsafeRawBufferPointer
    {
        let child = value.from(Self.checksumLength)
        guard value.count >= Self.checksumLength,
            childForm.keyLength.map({ $0 == child.count }) ?? (child.count <= Key.maximumLength)
        else { throw corrupted }
        guard let list else { return child }
        let stored = UInt32(littleEndian: value.loadUnaligned(as: UInt32.self))
        guard stored == Self.checksum(child, list: list, position: position) else { throw corrupted }
        return child
    }
}
