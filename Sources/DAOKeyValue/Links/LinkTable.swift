import DAOCore

/// The catalog entry of a relationship's links.
struct StoredLinks: Codable, Sendable {
    /// The kind of the parents' keys.
    var keyKind: ValueKind
    /// The kind of the children's keys.
    var targetKeyKind: ValueKind
    /// The keyspace of the lists; that of the way back is the next one.
    var keyspace: UInt32

    /// An entry for a relationship.
    init(_ relation: RelationDescription, keyspace: UInt32) {
        keyKind = relation.keyKind
        targetKeyKind = relation.targetKeyKind
        self.keyspace = keyspace
    }

    /// What the links of a relationship are called: no entity's or field's name has a dot.
    static func name(of relation: RelationDescription) -> String {
        name(LinkName(entity: relation.entity, field: relation.field))
    }

    /// What links are called.
    static func name(_ name: LinkName) -> String { "\(name.entity).\(name.field)" }
}

/// Where the links of one relationship are in the store, and how they are written.
///
/// # The format of links
///
/// - A link: the keyspace, the parent's key, and the position in eight bytes, big-endian. Its value is a checksum of four bytes, little-endian,
///   and the child's key.
/// - The way back: the next keyspace, the child's key, the parent's key and the position. Its value is empty.
///
/// Keys are written as ``KeyForm`` says. A string that something follows has its length before it, two bytes, big-endian; only the parent's in
/// the way back has none, since it ends eight bytes before the end. Positions ascend in the order of the children and may have gaps.
///
/// A store takes keys of 511 bytes. A child's string key of more than ``longestWhole`` bytes stands in the way back as `FF FF` and the eight bytes
/// of its hash, big-endian: what is found that way is looked up in the links themselves.
final class LinkTable: Sendable {
    /// The longest string key of a child that stands whole in the way back: 4 + 2 + 241 + 256 + 8 is 511.
    static let longestWhole = 241
    /// How many bytes a position has.
    static let positionLength = 8

    /// The relationship's name.
    let name: String
    /// The keyspace of the lists.
    let keyspace: UInt32
    /// How keys of parents are written.
    let parentForm: KeyForm
    /// How keys of children are written.
    let childForm: KeyForm
    private let path: String?
    private let keyKind: ValueKind
    private let targetKeyKind: ValueKind

    /// The keyspace of the way back.
    var backKeyspace: UInt32 { keyspace &+ 1 }

    /// Makes a table of a catalog entry.
    ///
    /// - Throws: `.corrupted` when the entry makes no sense.
    init(_ stored: StoredLinks, name: String, path: String?) throws {
        guard let parentForm = KeyForm(stored.keyKind), let childForm = KeyForm(stored.targetKeyKind),
            parentForm.isOfKeys, childForm.isOfKeys
        else {
            throw StorageError(
                .corrupted, "the catalog entry of the links '\(name)' is damaged; restore the database from a backup", path: path)
        }
        self.name = name
        self.path = path
        self.parentForm = parentForm
        self.childForm = childForm
        keyspace = stored.keyspace
        keyKind = stored.keyKind
        targetKeyKind = stored.targetKeyKind
    }

    /// Makes sure that the links are between the kinds of keys that a relationship has.
    func check(_ relation: RelationDescription) throws {
        guard relation.keyKind != keyKind || relation.targetKeyKind != targetKeyKind else { return }
        throw StorageError(
            .schemaMismatch,
            "the stored links of '\(name)' lead from keys of type \(keyKind.rawValue) to keys of type \(targetKeyKind.rawValue), the declared ones "
                + "from \(relation.keyKind.rawValue) to \(relation.targetKeyKind.rawValue)",
            entity: relation.entity, field: relation.field, path: path)
    }

    /// The error for links whose bytes make no sense.
    var corrupted: StorageError {
        StorageError(.corrupted, "the stored links of '\(name)' are damaged; restore the database from a backup", path: path)
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
    /// Whether primary keys may have the form.
    fileprivate var isOfKeys: Bool { self != .floating && self != .decimal }

    /// How many bytes every key of the form has; nil for strings.
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
    /// Appends what all links of a parent begin with.
    ///
    /// - Throws: `.invalidKey`.
    @inline(__always) func append(listOf parent: Key, to builder: inout KeyBuilder) throws {
        builder.append(keyspace: keyspace)
        try append(parent, parentForm, to: &builder)
    }

    /// Appends what all ways back from a child begin with.
    ///
    /// - Returns: Whether other children's may begin with it too.
    /// - Throws: `.invalidKey`.
    @inline(__always) func append(wayBackFrom child: Key, to builder: inout KeyBuilder) throws -> Bool {
        builder.append(keyspace: backKeyspace)
        guard childForm == .bytes, case .string(let text) = child, text.utf8.count > Self.longestWhole else {
            try append(child, childForm, to: &builder)
            return false
        }
        guard text.utf8.count <= Key.maximumLength else { throw invalidKey(child, childForm) }
        var copy = text
        copy.withUTF8 { appendHash(of: UnsafeRawBufferPointer($0), to: &builder) }
        return true
    }

    /// Appends the whole way back of a stored link.
    ///
    /// - Parameters:
    ///   - child: The bytes of the child's key.
    ///   - parent: The bytes of the parent's key.
    ///   - position: The link's position.
    func append(wayBackFrom child: UnsafeRawBufferPointer, to parent: Parent, position: UInt64, to builder: inout KeyBuilder) {
        builder.append(keyspace: backKeyspace)
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

    /// The bytes of the parent's key in what ``append(listOf:to:)`` made, or in a link; nil when they are not there.
    func parent(in link: UnsafeRawBufferPointer) -> Parent? {
        let start = KeyParser.keyspaceLength
        if let length = parentForm.keyLength {
            return link.count < start + length
                ? nil : Parent(bytes: UnsafeRawBufferPointer(rebasing: link[start..<start + length]))
        }
        guard link.count >= start + 2 else { return nil }
        let length = Int(link[start]) << 8 | Int(link[start + 1])
        guard link.count >= start + 2 + length else { return nil }
        return Parent(bytes: UnsafeRawBufferPointer(rebasing: link[start + 2..<start + 2 + length]))
    }

    /// Appends the whole link that a way back leads to.
    ///
    /// - Parameters:
    ///   - wayBack: The whole way back.
    ///   - prefix: How many bytes of it are keyspace and child.
    /// - Returns: False, with nothing appended, when it makes no sense.
    func append(linkOf wayBack: UnsafeRawBufferPointer, prefix: Int, to builder: inout KeyBuilder) -> Bool {
        let length = wayBack.count - prefix - Self.positionLength
        guard length >= 0, parentForm.keyLength.map({ $0 == length }) ?? (length <= Key.maximumLength) else { return false }
        builder.append(keyspace: keyspace)
        if parentForm == .bytes { append(length: length, to: &builder) }
        builder.append(raw: wayBack.from(prefix))
        return true
    }
}

// MARK: Values

extension LinkTable {
    /// How many bytes the checksum has.
    static let checksumLength = 4

    /// The checksum of a link.
    ///
    /// - Parameters:
    ///   - child: The bytes of the child's key.
    ///   - list: The hash of what the list's keys begin with.
    ///   - position: The link's position.
    @inline(__always) static func checksum(_ child: UnsafeRawBufferPointer, list: UInt64, position: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: XXH64.hash(child, seed: list &+ position))
    }

    /// The bytes of the child's key in a link.
    ///
    /// - Parameters:
    ///   - value: The link's value.
    ///   - list: The hash of what the list's keys begin with; nil to verify nothing.
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
