import DAOCore
import Foundation

/// Bytes that grow at their end.
final class ByteArena {
    @exclusivity(unchecked) private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
    /// How many bytes there are.
    @exclusivity(unchecked) private(set) var count = 0

    deinit { buffer.deallocate() }

    /// The bytes; valid until the next change.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    /// Goes back to an earlier length.
    func truncate(to count: Int) { self.count = count }

    /// Moves bytes towards the beginning.
    func move(_ range: Range<Int>, to target: Int) {
        guard let base = buffer.baseAddress else { return }
        memmove(base + target, base + range.lowerBound, range.count)
    }

    /// Appends bytes.
    func append(_ bytes: UnsafeRawBufferPointer) {
        extend(bytes.count) { $0.append(raw: bytes) }
    }

    /// Appends what a body builds.
    ///
    /// - Parameters:
    ///   - count: How many bytes the body appends at most.
    ///   - body: Builds them.
    func extend(_ count: Int, _ body: (inout KeyBuilder) throws -> Void) rethrows {
        if self.count + count > buffer.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(self.count + count, buffer.count * 2), alignment: 8)
            larger.copyMemory(from: bytes)
            buffer.deallocate()
            buffer = larger
        }
        var builder = KeyBuilder(UnsafeMutableRawBufferPointer(rebasing: buffer[self.count...]))
        try body(&builder)
        self.count += builder.count
    }
}

extension Table {
    /// Appends the bytes by which a row is sorted: their order is the order of the rows.
    ///
    /// - Parameters:
    ///   - terms: The order.
    ///   - reader: Stands on the row.
    ///   - arena: Where the bytes go.
    func appendSortKey(_ terms: [SortTerm], of reader: RecordReader, to arena: ByteArena) throws {
        for term in terms {
            let start = arena.count
            let span = reader.span(at: term.field)
            guard let form = KeyForm(description.fields[term.field].type.kind) else { continue }
            var isSound = true
            if span.isPresent {
                // Twice as many bytes when every one is escaped, and room for a flag, an end, or a number.
                arena.extend(span.count * 2 + 32) { builder in
                    builder.append(byte: 1)
                    isSound = builder.append(span, as: form, limit: .max) != nil
                    if !term.isAscending { builder.invert(from: 0) }
                }
            } else if span.isNull {
                arena.extend(1) { $0.append(byte: term.isAscending ? 0 : 0xFF) }
            } else {
                let value = try reader.readValue(at: term.field)
                arena.extend(value.largestSize + 32) { builder in
                    builder.append(byte: value.isNull ? 0 : 1)
                    isSound = value.isNull || builder.append(value, as: form, limit: .max) != nil
                    if !term.isAscending { builder.invert(from: 0) }
                }
            }
            guard isSound else {
                arena.truncate(to: start)
                throw reader.damaged(span, at: term.field)
            }
        }
    }
}

extension KeyBuilder {
    /// Appends a stored value.
    ///
    /// - Parameters:
    ///   - span: Where it is; not null.
    ///   - form: How it is written.
    ///   - limit: How many escaped bytes at most.
    /// - Returns: Whether it was cut off; nil, perhaps with something appended, when it is not a value of the form.
    mutating func append(_ span: RecordView.Span, as form: KeyForm, limit: Int = KeyForm.limit) -> Bool? {
        switch form {
        case .signed:
            guard let value = span.signed else { return nil }
            append(signed: value)
        case .unsigned:
            guard let value = span.unsigned else { return nil }
            append(unsigned: value)
        case .floating:
            guard let value = span.floating else { return nil }
            append(floating: value)
        case .uuid:
            guard span.count == 16 else { return nil }
            append(raw: span.bytes)
        case .decimal: return append(decimal: span.bytes) ? false : nil
        case .bytes: return append(escaped: span.bytes, limit: limit)
        }
        return false
    }
}

extension Value {
    /// How many bytes the value has at most in a sort key, numbers aside.
    fileprivate var largestSize: Int {
        switch self {
        case .string(let text): text.utf8.count * 2
        case .data(let data): data.count * 2
        default: 0
        }
    }
}
