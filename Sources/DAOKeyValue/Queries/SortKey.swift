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
    @inline(__always) func append(_ bytes: UnsafeRawBufferPointer) {
        extend(bytes.count) { $0.append(raw: bytes) }
    }

    /// Appends the bytes that a closure builds.
    ///
    /// - Parameters:
    ///   - count: The maximum number of bytes that the closure appends.
    ///   - body: Builds the bytes.
    @inline(__always) func extend(_ count: Int, _ body: (inout KeyBuilder) throws -> Void) rethrows {
        if self.count + count > buffer.count { grow(to: self.count + count) }
        var builder = KeyBuilder(UnsafeMutableRawBufferPointer(rebasing: buffer[self.count...]))
        try body(&builder)
        self.count += builder.count
    }

    @inline(never) private func grow(to count: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, buffer.count * 2), alignment: 8)
        larger.copyMemory(from: bytes)
        buffer.deallocate()
        buffer = larger
    }
}

/// A part of the sort keys of rows: one term of the order. The order of sort keys is the order of the rows; rows with equal
/// sort keys are ordered by their primary keys.
struct SortKeyPart {
    private enum Subject {
        case field(Int, KeyForm)
        case folded(Int, TextOptions)
        case condition(RowFilter)
    }

    private let subject: Subject
    private let isAscending: Bool
    /// What the part of a row without a value has.
    private let null: UInt8

    /// Creates a part; nil for the primary key, which is compared as it is.
    init?(_ term: SortTerm, of table: Table) {
        switch term.subject {
        case .field(let field):
            guard field != table.keyField, let form = KeyForm(table.description.fields[field].type.kind) else { return nil }
            subject = .field(field, form)
        case .folded(let field, let options): subject = .folded(field, options)
        case .condition(let filter, _): subject = .condition(RowFilter(filter, table))
        }
        isAscending = term.isAscending
        null = term.nilsFirst ? 0 : 0xFF
    }

    /// Appends the part of a row.
    ///
    /// - Parameters:
    ///   - reader: A reader on the row.
    ///   - arena: The destination of the bytes.
    /// - Throws: `.corruptedValue`, with bytes appended.
    func append(of reader: RecordReader, to arena: ByteArena) throws {
        switch subject {
        case .field(let field, let form): try append(field, form, of: reader, to: arena)
        case .folded(let field, let options):
            guard case .string(let text) = try reader.readValue(at: field) else {
                return arena.extend(1) { $0.append(byte: null) }
            }
            _ = append(.string(text.folded(options)), as: .bytes, to: arena)
        case .condition(let filter):
            let matches = try filter.matches(reader)
            arena.extend(1) { $0.append(byte: matches == isAscending ? 1 : 0) }
        }
    }

    private func append(_ field: Int, _ form: KeyForm, of reader: RecordReader, to arena: ByteArena) throws {
        let span = reader.span(at: field)
        var isSound = true
        if let word = span.orderedWord(form) {
            arena.extend(9) { builder in
                builder.append(byte: isAscending ? 1 : ~1)
                builder.append(unsigned: isAscending ? word : ~word)
            }
        } else if span.isPresent {
            // Twice the number of bytes if every byte is escaped, and room for a flag, a terminator, or a number.
            arena.extend(span.count * 2 + 32) { builder in
                builder.append(byte: 1)
                isSound = builder.append(span, as: form, limit: .max) != nil
                if !isAscending { builder.invert(from: 0) }
            }
        } else if span.isNull {
            arena.extend(1) { $0.append(byte: null) }
        } else {
            isSound = append(try reader.readValue(at: field), as: form, to: arena)
        }
        guard isSound else { throw reader.damaged(span, at: field) }
    }

    /// Appends a value. Returns false when it is not a value of the form.
    private func append(_ value: Value, as form: KeyForm, to arena: ByteArena) -> Bool {
        var isSound = true
        arena.extend(value.largestSize + 32) { builder in
            if value.isNull { return builder.append(byte: null) }
            builder.append(byte: 1)
            isSound = builder.append(value, as: form, limit: .max) != nil
            if !isAscending { builder.invert(from: 0) }
        }
        return isSound
    }
}

extension RecordView.Span {
    /// A number whose order is that of the values; nil for other forms, without a value, and when it is not of the form.
    @inline(__always) fileprivate func orderedWord(_ form: KeyForm) -> UInt64? {
        switch form {
        case .signed: signed.map(KeyBuilder.ordered)
        case .unsigned: unsigned
        case .floating: floating.map(KeyBuilder.ordered)
        case .decimal, .bytes, .uuid: nil
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
