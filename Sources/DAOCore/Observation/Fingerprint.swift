import Foundation

/// A 128-bit hash of a row. It detects a change of the row without a copy of it.
struct Fingerprint: Hashable, Sendable {
    private let halves: SIMD2<Int>

    /// Creates the fingerprint of the stored fields of a record and of its related records.
    init<Record: Model>(of record: Record) throws {
        let writer = FingerprintWriter()
        try Record.schema.encode(record, to: writer)
        halves = writer.finish()
    }

    /// Creates the fingerprint of the row of a record: its stored fields, and the keys of to-one relationships.
    init<Record: Model>(ofRow record: Record) throws {
        let writer = FingerprintWriter(includesRelated: false)
        try Record.schema.encode(record, to: writer)
        halves = writer.finish()
    }
}

/// Feeds every field, bit for bit, to two hashers with different initial states.
private final class FingerprintWriter: RowWriter {
    private var left = Hasher()
    private var right = Hasher()
    private let includesRelated: Bool

    init(includesRelated: Bool = true) {
        self.includesRelated = includesRelated
        super.init()
        right.combine(1)
    }

    func finish() -> SIMD2<Int> { SIMD2(left.finalize(), right.finalize()) }

    private func add(_ tag: UInt8, _ bits: UInt64) {
        left.combine(tag)
        left.combine(bits)
        right.combine(bits)
        right.combine(tag)
    }

    private func add(_ tag: UInt8, _ bytes: UnsafeRawBufferPointer) {
        add(tag, UInt64(bytes.count))
        left.combine(bytes: bytes)
        right.combine(bytes: bytes)
    }

    override func writeNull(at index: Int) throws { add(0, 0) }
    override func writeInt64(_ value: Int64, at index: Int) throws { add(1, UInt64(bitPattern: value)) }
    override func writeUInt64(_ value: UInt64, at index: Int) throws { add(2, value) }
    override func writeDouble(_ value: Double, at index: Int) throws { add(3, value.bitPattern) }
    override func writeString(_ value: String, at index: Int) throws {
        var value = value
        value.withUTF8 { add(4, UnsafeRawBufferPointer($0)) }
    }
    override func writeData(_ value: Data, at index: Int) throws { value.withUnsafeBytes { add(5, $0) } }
    override func writeUUID(_ value: UUID, at index: Int) throws { withUnsafeBytes(of: value.uuid) { add(6, $0) } }
    override func writeReference<Related: Model>(_ model: Related?, at index: Int) throws {
        guard includesRelated else { return try super.writeReference(model, at: index) }
        try writeRelated(model.map { [$0] } ?? [], at: index)
    }
    override func writeReference<Related: Model>(_ reference: Reference<Related>?, at index: Int) throws {
        try super.writeReference(reference, at: index)
        if let row = reference?.row { try writeRelated([row], at: index) }
    }
    override func writeRelated<Related: Model>(_ models: [Related]?, at index: Int) throws {
        guard includesRelated else { return }
        guard let models else { return try writeNull(at: index) }
        add(7, UInt64(models.count))
        for model in models { try Related.schema.encode(model, to: self) }
    }
}
