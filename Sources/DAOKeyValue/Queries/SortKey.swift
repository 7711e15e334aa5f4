import DAOCore
import Foundation

/// A growing buffer of bytes.
final class ByteArena {
    @exclusivity(unchecked) private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
    /// The number of bytes.
    @exclusivity(unchecked) private(set) var count = 0

    deinit { buffer.deallocate() }

    /// The bytes; valid until the next change.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    /// Truncates the bytes to an earlier length.
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

    /// Appends the bytes that a closure builds.
    ///
    /// - Parameters:
    ///   - count: The maximum number of bytes that the closure appends.
    ///   - body: Builds the bytes.
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
    /// Appends the sort key of a row. The order of sort keys is the order of the rows.
    ///
    /// - Parameters:
    ///   - terms: The order.
    ///   - reader: A reader on the row.
    ///   - arena: The destination of the bytes.
    func appendSortKey(_ terms: [SortTerm], of reader: RecordReader, to arena: ByteArena) throws {
        for term in terms {
            let start = arena.count
            let span = reader.span(at: term.field)
            guard let form = KeyForm(description.fields[term.field].type.kind) else { continue }
            var isSound = true
            if span.isPresent {
                // Twice the number of bytes if every byte is escaped, and room for a flag, a terminator, or a
                // number.
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
    ///   - span: The stored value; not null.
    ///   - form: The encoding.
    ///   - limit: The maximum number of escaped bytes.
    /// - Returns: Whether it was truncated; nil, possibly with bytes appended, when it is not a value of the
    ///   form.
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
    /// The maximum number of bytes of the value in a sort key, except for numbers.
    fileprivate var largestSize: Int {
        switch self {
        case .string(let text): text.utf8.count * 2
        case .data(let data): data.count * 2
        default: 0
        }
    }
}
