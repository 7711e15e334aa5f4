import DAOCore
import Foundation

/// Encodes rows into a buffer that is reused for every row; see ``RecordFormat``.
///
/// It belongs to one call on one thread, and its methods call no application code. The run-time check for
/// exclusive access is therefore disabled.
final class RecordWriter: RowWriter {
    /// The position of a slot's value relative to the beginning of the buffer; a negative position means
    /// null.
    private struct Place {
        static let null = Place(start: -1, end: -1)
        var start: Int
        var end: Int
    }

    @exclusivity(unchecked) private var table: Table
    private let isChecked: Bool
    /// The record: room for a narrow header, then the values in the order of writing.
    @exclusivity(unchecked) private var buffer: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity = 512
    /// The end of the written values.
    @exclusivity(unchecked) private var end = 0
    @exclusivity(unchecked) private var places: UnsafeMutablePointer<Place>
    @exclusivity(unchecked) private var slotCount: Int
    @exclusivity(unchecked) private var lastSlot = -1
    /// Whether the values were written in the order of their slots.
    @exclusivity(unchecked) private var isInOrder = true

    /// The bytes that are always free after the end: for writing a whole word when fewer bytes are used, and
    /// for the checksum.
    private static let spare = 16

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - table: The table whose rows are written.
    ///   - isChecked: Whether records get a checksum.
    init(table: Table, isChecked: Bool) {
        self.table = table
        self.isChecked = isChecked
        buffer = .allocate(byteCount: capacity, alignment: 8)
        slotCount = table.slotCount
        places = .allocate(capacity: slotCount)
        places.initialize(repeating: .null, count: slotCount)
        super.init()
    }

    deinit {
        buffer.deallocate()
        places.deallocate()
    }

    private var valuesStart: Int { RecordFormat.headerLength &+ slotCount &* 2 }

    /// Begins a row.
    func begin(_ table: Table) {
        if self.table !== table { self.table = table }
        if slotCount != table.slotCount {
            places.deallocate()
            slotCount = table.slotCount
            places = .allocate(capacity: slotCount)
        }
        places.initialize(repeating: .null, count: slotCount)
        end = valuesStart
        lastSlot = -1
        isInOrder = true
        if end &+ Self.spare > capacity { grow() }
    }

    override func writeNull(at index: Int) throws { try place(0, at: index, isNull: true) { _ in } }

    override func writeRelated<Related: Model>(_ models: [Related]?, at index: Int) throws { try writeNull(at: index) }

    override func writeInt64(_ value: Int64, at index: Int) throws {
        let magnitude = UInt64(bitPattern: value ^ (value &>> 63))
        let count = value == 0 ? 0 : (72 &- magnitude.leadingZeroBitCount) &>> 3
        try place(count, at: index) { $0.storeBytes(of: value.littleEndian, as: Int64.self) }
    }

    override func writeUInt64(_ value: UInt64, at index: Int) throws {
        try place((71 &- value.leadingZeroBitCount) &>> 3, at: index) { $0.storeBytes(of: value.littleEndian, as: UInt64.self) }
    }

    override func writeDouble(_ value: Double, at index: Int) throws {
        try place(8, at: index) { $0.storeBytes(of: value.bitPattern.littleEndian, as: UInt64.self) }
    }

    override func writeString(_ value: String, at index: Int) throws {
        try value.withBytes { try store($0, at: index) }
    }

    override func writeData(_ value: Data, at index: Int) throws { try value.withUnsafeBytes { try store($0, at: index) } }

    override func writeUUID(_ value: UUID, at index: Int) throws {
        try withUnsafeBytes(of: value.uuid) { try store($0, at: index) }
    }

    /// Writes the stored value of a field.
    func write(_ span: RecordView.Span, at index: Int) throws {
        if span.isPresent { try store(span.bytes, at: index) } else { try writeNull(at: index) }
    }

    /// The written bytes of a field of the current row; nil for null. Valid until the next write.
    func bytes(at index: Int) -> UnsafeRawBufferPointer? {
        let slot = table.slot(of: index)
        guard slot < slotCount, places[slot].start >= 0 else { return nil }
        return UnsafeRawBufferPointer(start: buffer + places[slot].start, count: places[slot].end - places[slot].start)
    }

    /// Whether a field of the current row has the same value as that of another writer.
    func hasSameValue(as other: RecordWriter, at index: Int) -> Bool {
        switch (bytes(at: index), other.bytes(at: index)) {
        case (nil, nil): true
        case (let mine?, let others?): mine.order(against: others) == 0
        default: false
        }
    }

    /// Writes a field of another writer's current row, in place of what was written before.
    func copy(_ index: Int, of other: RecordWriter) throws {
        if let bytes = other.bytes(at: index) { try store(bytes, at: index) } else { try writeNull(at: index) }
    }

    /// Ends the row.
    ///
    /// - Parameter key: The primary key as in the store's key, for the checksum.
    /// - Returns: The record; valid until the next row.
    /// - Throws: `.unsupported` when the values exceed 2 GiB.
    func finish(key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        if !isInOrder { sort() }
        let length = end - valuesStart
        guard length <= RecordFormat.wideLimit else {
            throw StorageError(
                .unsupported, "a row of '\(table.description.name)' has more than 2 GiB of values; store less in it",
                entity: table.description.name
            )
        }
        if length > RecordFormat.narrowLimit { widen() } else { writeNarrowOffsets() }
        let marker =
            length > RecordFormat.narrowLimit
            ? (isChecked ? RecordFormat.Marker.wideChecked : RecordFormat.Marker.wide)
            : (isChecked ? RecordFormat.Marker.narrowChecked : RecordFormat.Marker.narrow)
        let head = UInt32(marker) | UInt32(truncatingIfNeeded: slotCount) << 16
        buffer.storeBytes(of: head.littleEndian, as: UInt32.self)
        if isChecked {
            let hash = WyHash.hash(UnsafeRawBufferPointer(start: buffer, count: end), seed: RecordFormat.seed(key))
            buffer.storeBytes(of: hash.littleEndian, toByteOffset: end, as: UInt64.self)
            end += RecordFormat.checksumLength
        }
        return UnsafeRawBufferPointer(start: buffer, count: end)
    }

    private func writeNarrowOffsets() {
        let start = valuesStart
        var position = start
        for slot in 0..<slotCount {
            let place = places[slot]
            if place.start >= 0 { position = place.end }
            let mark = UInt16(truncatingIfNeeded: position &- start) | (place.start < 0 ? 1 << 15 : 0)
            buffer.storeBytes(of: mark.littleEndian, toByteOffset: RecordFormat.headerLength &+ slot &* 2, as: UInt16.self)
        }
    }

    /// Makes room for a wide offset table and writes it.
    private func widen() {
        let start = valuesStart
        let extra = slotCount * 2
        let count = end - start
        end += extra
        if end + Self.spare > capacity { grow() }
        memmove(buffer + start + extra, buffer + start, count)
        var position = start
        for slot in 0..<slotCount {
            let place = places[slot]
            if place.start >= 0 { position = place.end }
            let mark = UInt32(truncatingIfNeeded: position - start) | (place.start < 0 ? 1 << 31 : 0)
            buffer.storeBytes(of: mark.littleEndian, toByteOffset: RecordFormat.headerLength + slot * 4, as: UInt32.self)
        }
    }

    /// Sorts the values into the order of their slots.
    private func sort() {
        let sorted = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        var position = valuesStart
        for slot in 0..<slotCount where places[slot].start >= 0 {
            let count = places[slot].end - places[slot].start
            memcpy(sorted + position, buffer + places[slot].start, count)
            places[slot] = Place(start: position, end: position + count)
            position += count
        }
        buffer.deallocate()
        buffer = sorted
        end = position
    }

    private func store(_ bytes: UnsafeRawBufferPointer, at index: Int) throws {
        try place(bytes.count, at: index) { target in
            if let source = bytes.baseAddress { memcpy(target, source, bytes.count) }
        }
    }

    /// Makes room for the value of a field.
    ///
    /// - Parameter write: Receives the room, and a word after it that can be overwritten.
    @inline(__always) private func place(
        _ count: Int, at index: Int, isNull: Bool = false, _ write: (UnsafeMutableRawPointer) -> Void
    ) throws {
        let slot = table.slot(of: index)
        guard slot < slotCount else { throw foreignField }
        let start = end
        if slot <= lastSlot { isInOrder = false }
        lastSlot = slot
        end = start &+ count
        if end &+ Self.spare > capacity { grow() }
        places[slot] = isNull ? .null : Place(start: start, end: end)
        write(buffer + start)
    }

    private var foreignField: StorageError {
        StorageError(
            .invalidSchema,
            "a field value of '\(table.description.name)' writes to a field that is not its own; write to the given index only",
            entity: table.description.name)
    }

    /// Makes the buffer large enough for the end and the free bytes after it.
    @inline(never) private func grow() {
        let larger = max(end + Self.spare, capacity * 2)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
        grown.copyMemory(from: buffer, byteCount: capacity)
        buffer.deallocate()
        buffer = grown
        capacity = larger
    }
}
