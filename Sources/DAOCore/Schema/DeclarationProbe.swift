import Foundation

/// Whether the fields of a schema are known to be in the order of the initializer's parameters, and to keep what they are
/// made with.
///
/// The compiler detects fields of different types in the wrong order. Two fields of one type can be swapped:
/// rows then read with their values exchanged. Where the properties of such fields do not follow each other in
/// memory as they do in the schema, the initializer can take them in either order, and a model with a different
/// value in each field tells which.
///
/// A list that was not read is nil (contract R6). A computed property that makes a list of it would be written back with that list.
final class DeclarationProbe: Sendable {
    private enum State: UInt8, AtomicRepresentable {
        /// Nothing is known yet.
        case unknown
        /// A probe could not be made. Every row is compared until one has a different value in each field.
        case needsRows
        /// The order is right.
        case verified
    }

    private let state: Atomic<State>
    /// The groups of fields of one type whose properties are in another order.
    private let groups: [[Int]]
    /// The lists whose properties may be computed.
    private let lists: [Int]

    /// - Parameters:
    ///   - fields: The fields.
    ///   - offsets: The offsets of their properties in the model; negative for one that is not stored.
    init(_ fields: [FieldDescription], offsets: [Int]) {
        let stored = fields.indices.filter { offsets[$0] >= 0 && !fields[$0].type.kind.isRelationship }
        groups = Dictionary(grouping: stored) { fields[$0].type }.values
            .filter { group in zip(group, group.dropFirst()).contains { offsets[$0] > offsets[$1] } }
            .sorted { $0[0] < $1[0] }
        lists = fields.indices.filter { offsets[$0] < 0 && fields[$0].type.kind == .toMany }
        state = Atomic(groups.isEmpty && lists.isEmpty ? .verified : .unknown)
    }

    /// Whether rows must be compared.
    var needsRows: Bool { state.load(ordering: .relaxed) == .needsRows }

    /// Checks the fields with a model of different values, once.
    ///
    /// - Throws: `.invalidSchema` that names two swapped fields, or a list that is not nil where it was not read.
    func run<Record: Model>(_ schema: Schema<Record>) throws {
        guard state.load(ordering: .acquiring) == .unknown else { return }
        let entity = schema.description
        var values = entity.fields.enumerated().map { Self.value(of: $1.type, number: $0 + 1) }
        // A type of the application can refuse the value. It gets nil where that is possible.
        var record = try? schema.decodeWithoutCheck(ProbeReader(entity: entity, values: values))
        while record == nil {
            guard let field = Self.refused(values, by: schema), !values[field].isNull else {
                return state.store(.needsRows, ordering: .releasing)
            }
            values[field] = .null
            record = try? schema.decodeWithoutCheck(ProbeReader(entity: entity, values: values))
        }
        guard let record else { return }
        try schema.checkOrder(with: record)
        try schema.checkLists(lists, of: record)
        let isWhole = groups.allSatisfy { group in Set(group.map { values[$0] }).count == group.count }
        state.store(isWhole ? .verified : .needsRows, ordering: .releasing)
    }

    /// Checks the fields with a row that was read, without its lists, or is to be written.
    func check<Record: Model>(_ record: Record, of schema: Schema<Record>, isRead: Bool) throws {
        try schema.checkOrder(with: record)
        if isRead { try schema.checkLists(lists, of: record) }
        let isWhole = groups.allSatisfy { group in Set(group.map { schema.value(at: $0, of: record) }).count == group.count }
        if isWhole, isRead || lists.isEmpty { state.store(.verified, ordering: .releasing) }
    }

    /// The field whose value cannot be decoded; nil when the error does not say.
    private static func refused<Record: Model>(_ values: [Value], by schema: Schema<Record>) -> Int? {
        do {
            _ = try schema.decodeWithoutCheck(ProbeReader(entity: schema.description, values: values))
            return nil
        } catch {
            guard let name = (error as? StorageError)?.field, let field = schema.description.index(of: name) else { return nil }
            return schema.description.fields[field].type.isOptional ? field : nil
        }
    }

    /// A value of a type, in the primitive form of a writer; each number has a different one, except Booleans.
    private static func value(of type: FieldType, number: Int) -> Value {
        switch type.kind {
        case .bool: .integer(Int64(number % 2))
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: .integer(Int64(number % 128))
        case .float, .double, .date: .double(Double(number))
        case .decimal, .string: .string(String(number))
        case .url: .string("file:///\(number)")
        case .embedded: .string("[]")
        case .data: .data(Data([UInt8(truncatingIfNeeded: number)]))
        case .uuid: .uuid(UUID(uuid: (UInt8(truncatingIfNeeded: number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        case .toOne, .toMany: .null
        }
    }
}

/// Reads a probe. The kind of the key of a Reference is known only to the related model.
private final class ProbeReader: ValueRowReader {
    override func readReference<Related: Model>(_ type: Related.Type, at index: Int) throws -> Reference<Related>? {
        let kind = Related.schema.keyKind
        return Key(DefaultRow.emptyValue(of: kind), of: kind).map { Reference(key: $0) }
    }
}
