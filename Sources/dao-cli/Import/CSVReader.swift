/// Reads the records of a CSV file.
///
/// The format is that of RFC 4180. What it leaves open is as in Python's `csv` with `strict=True`, by the states of its reader: a quote
/// inside a cell that does not begin with one is text, lines end with LF, CR or both, and no character is left out or added. An empty
/// line is no record.
struct CSVReader {
    /// A cell of a record.
    struct Cell: Equatable {
        var text: String
        /// Whether it stands in quotes, which tells an empty text from none.
        var isQuoted: Bool
        /// The line in which it begins.
        var line: Int
    }

    /// Where in a cell the reader is.
    private enum State { case start, plain, quoted, closed }

    private var bytes: ByteReader
    /// What stands between two cells of the records that follow.
    var delimiter: UInt8
    private let limit: Int

    /// - Parameters:
    ///   - bytes: The file.
    ///   - delimiter: What stands between two cells. It is neither a quote nor the end of a line.
    ///   - limit: The maximum size of a record in bytes, so that a quote that is never closed does not read the whole file.
    init(_ bytes: ByteReader, delimiter: UInt8 = UInt8(ascii: ","), limit: Int = 1 << 28) {
        (self.bytes, self.delimiter, self.limit) = (bytes, delimiter, limit)
    }

    /// Returns the cells of the next record; nil at the end.
    ///
    /// - Throws: ``ImportError`` with the place of what is no CSV.
    mutating func record() throws -> [Cell]? {
        var cells: [Cell] = []
        var text: [UInt8] = []
        var (state, isQuoted, line, size) = (State.start, false, bytes.line, 0)
        while let byte = try bytes.next() {
            size += 1
            guard size <= limit else {
                throw problem(
                    cells, line, "the record has more than \(counted(limit, "byte")); expected the end of it, or of its quotes")
            }
            switch byte {
            case .quote where state == .start: (state, isQuoted) = (.quoted, true)
            case .quote where state == .quoted: state = .closed
            case .quote where state == .closed:
                // Two quotes inside quotes are one.
                text.append(byte)
                state = .quoted
            case _ where state == .quoted: text.append(byte)
            case .lineFeed, .carriageReturn:
                if byte == .carriageReturn { _ = try bytes.take(.lineFeed) }
                if cells.isEmpty, state == .start {
                    (line, size) = (bytes.line, 0)
                    continue
                }
                return try cells + [cell(text, isQuoted, line, cells)]
            case delimiter:
                cells.append(try cell(text, isQuoted, line, cells))
                text.removeAll(keepingCapacity: true)
                (state, isQuoted, line) = (.start, false, bytes.line)
            case _ where state == .closed:
                let wanted = delimiter == UInt8(ascii: "\t") ? "a tab" : "'\(Character(Unicode.Scalar(delimiter)))'"
                throw problem(
                    cells, line,
                    "there is text after the closing quote; expected \(wanted) or the end of the line, or two quotes for one")
            default:
                text.append(byte)
                state = .plain
            }
        }
        if state == .quoted {
            throw problem(cells, line, "its quotes are not closed; expected a quote before the end of the file")
        }
        if cells.isEmpty, state == .start { return nil }
        return try cells + [cell(text, isQuoted, line, cells)]
    }

    private func cell(_ text: [UInt8], _ isQuoted: Bool, _ line: Int, _ before: [Cell]) throws -> Cell {
        Cell(text: try bytes.text(text, line: line, "column \(before.count + 1)"), isQuoted: isQuoted, line: line)
    }

    private func problem(_ before: [Cell], _ line: Int, _ what: String) -> ImportError {
        ImportError(bytes.file, line: line, column: "column \(before.count + 1)", what)
    }
}
