import DAOCore
import Foundation

/// Encodes rows into one buffer that is used again for every row; see ``RecordFormat``.
///
/// It belongs to one call on one thread, and none of its methods calls back: the run-time check for overlapping changes is off.
final class RecordWriter: RowWriter {
    @exclusivity(unchecked) private var table: Table
    private let isChecked: Bool
    /// The record: room for a narrow header, then the values as they come.
    @exclusivity(unchecked) private var buffer: UnsafeMutableRawBufferPointer
    /// Where the values end that were written so far.
    @exclusivity(unchecked) private var end = 0
    /// For every slot where its value is, counted from the buffer's beginning; empty and negative for null.
    @exclusivity(unchecked) private var spans: [Range<Int>?]
    @exclusivity(unchecked) private var lastSlot = -1
    /// Whether the values came in the order of their slots.
    @exclusivity(unchecked) private var isInOrder = true

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - table: The table whose rows are written.
    ///   - isChecked: Whether records get a checksum.
    init(table: Table, isChecked: Bool) {
        self.table = table
        self.isChecked = isChecked
        buffer = .allocate(byteCount: 512, alignment: 8)
        spans = Array(repeating: nil, count: table.slotCount)
        super.init()
    }

    deinit { buffer.deallocate() }

    private var valuesStart: Int { RecordFormat.headerLength + spans.count * 2 }

    /// Begins a row.
    func begin(_ table: Table) {
        self.table = table
        if spans.count != table.slotCount {
            spans = Array(repeating: nil, count: table.slotCount)
        } else {
            for slot in spans.indices { spans[slot] = nil }
        }
        end = valuesStart
        lastSlot = -1
        isInOrder = true
        reserve(0)
    }

    override func writeNull(at index: Int) throws { _ = try place(0, at: index) }

    override func writeInt64(_ value: Int64, at index: Int) throws {
        let magnitude = UInt64(bitPattern: value ^ (value &>> 63))
        let count = value == 0 ? 0 : (72 &- magnitude.leadingZeroBitCount) &>> 3
        try store(UInt64(bitPattern: value), count, at: index)
    }

    override func writeUInt64(_ value: UInt64, at index: Int) throws {
        try store(value, (71 &- value.leadingZeroBitCount) &>> 3, at: index)
    }

    override func writeDouble(_ value: Double, at index: Int) throws { try store(value.bitPattern, 8, at: index) }

    override func writeString(_ value: String, at index: Int) throws {
        var value = value
        try value.withUTF8 { try store(UnsafeRawBufferPointer($0), at: index) }
    }

    override func writeData(_ value: Data, at index: Int) throws { try value.withUnsafeBytes { try store($0, at: index) } }

    override func writeUUID(_ value: UUID, at index: Int) throws {
        try withUnsafeBytes(of: value.uuid) { try store($0, at: index) }
    }

    /// The bytes written for a field of the row so far; nil for null. Valid until the next write.
    func bytes(at index: Int) -> UnsafeRawBufferPointer? {
        spans[table.slot(of: index)].map { UnsafeRawBufferPointer(rebasing: buffer[$0]) }
    }

    /// Ends the row.
    ///
    /// - Parameter key: The primary key as in the store's key, for the checksum.
    /// - Returns: The record; valid until the next row.
    /// - Throws: `.unsupported` when the values have more than 2 GiB.
    func finish(key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        if !isInOrder { sort() }
        let length = end - valuesStart
        guard length <= RecordFormat.wideLimit else {
            throw StorageError(
                .unsupported, "a row of '\(table.description.name)' has more than 2 GiB of values", entity: table.description.name
            )
        }
        let isWide = length > RecordFormat.narrowLimit
        if isWide { widen() }
        buffer[0] =
            isWide
            ? (isChecked ? RecordFormat.Marker.wideChecked : RecordFormat.Marker.wide)
            : (isChecked ? RecordFormat.Marker.narrowChecked : RecordFormat.Marker.narrow)
        buffer[1] = 0
        buffer.storeBytes(of: UInt16(truncatingIfNeeded: spans.count).littleEndian, toByteOffset: 2, as: UInt16.self)
        writeOffsets(isWide: isWide)
        if isChecked {
            let hash = XXH64.hash(UnsafeRawBufferPointer(rebasing: buffer[..<end]), seed: RecordFormat.seed(key))
            buffer.storeBytes(of: hash.littleEndian, toByteOffset: end, as: UInt64.self)
            end += RecordFormat.checksumLength
        }
        return UnsafeRawBufferPointer(rebasing: buffer[..<end])
    }

    private func writeOffsets(isWide: Bool) {
        var offset = RecordFormat.headerLength
        var position = 0
        for span in spans {
            if let span { position += span.count }
            if isWide {
                let mark = UInt32(truncatingIfNeeded: position) | (span == nil ? 1 << 31 : 0)
                buffer.storeBytes(of: mark.littleEndian, toByteOffset: offset, as: UInt32.self)
                offset += 4
            } else {
                let mark = UInt16(truncatingIfNeeded: position) | (span == nil ? 1 << 15 : 0)
                buffer.storeBytes(of: mark.littleEndian, toByteOffset: offset, as: UInt16.self)
                offset += 2
            }
        }
    }

    /// Makes room for a wide offset table.
    private func widen() {
        let extra = spans.count * 2
        reserve(extra)
        guard let base = buffer.baseAddress else { return }
        memmove(base + valuesStart + extra, base + valuesStart, end - valuesStart)
        end += extra
    }

    /// Puts the values into the order of their slots.
    private func sort() {
        let sorted = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer.count, alignment: 8)
        var position = valuesStart
        for (slot, span) in spans.enumerated() {
            guard let span else { continue }
            UnsafeMutableRawBufferPointer(rebasing: sorted[position..<position + span.count]).copyBytes(from: buffer[span])
            spans[slot] = position..<position + span.count
            position += span.count
        }
        buffer.deallocate()
        buffer = sorted
        end = position
    }

    @inline(__always) private func store(_ word: UInt64, _ count: Int, at index: Int) throws {
        let start = try place(count, at: index, isNull: false)
        // `place` keeps eight bytes free beyond the end.
        buffer.storeBytes(of: word.littleEndian, toByteOffset: start, as: UInt64.self)
    }

    private func store(_ bytes: UnsafeRawBufferPointer, at index: Int) throws {
        let start = try place(bytes.count, at: index, isNull: false)
        guard let source = bytes.baseAddress, let base = buffer.baseAddress else { return }
        memcpy(base + start, source, bytes.count)
    }

    /// Makes room for the value of a field.
    @inline(__always) private func place(_ count: Int, at index: Int, isNull: Bool = true) throws -> Int {
        let slot = table.slot(of: index)
        guard slot < spans.count else {
            throw StorageError(
                .invalidSchema, "a field value of '\(table.description.name)' writes to a field that is not its own",
                entity: table.description.name)
        }
        let start = end
        if slot <= lastSlot { isInOrder = false }
        lastSlot = slot
        spans[slot] = isNull ? nil : start..<start &+ count
        end = start &+ count
        if end &+ 64 > buffer.count { reserve(0) }
        return start
    }

    /// Makes sure that some bytes are free beyond the end, with room to spare for the checksum.
    private func reserve(_ count: Int) {
        let needed = end + count + 64
        guard needed > buffer.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(needed, buffer.count * 2), alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
        buffer.deallocate()
        buffer = larger
    }
}
