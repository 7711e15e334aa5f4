import DAOTransport
import Foundation

/// How rows are in a file.
enum FileFormat: String, CaseIterable, Sendable { case jsonl, csv }

/// A row of a file, before its values are those of fields.
struct FileRow {
    /// A value.
    enum Value { case text(String, isQuoted: Bool), json(Json) }

    /// The line in which the row begins.
    var line: Int
    /// The names of the columns or members.
    var names: [String]
    /// Their values, and the lines in which these begin.
    var values: [(value: Value, line: Int)]
}

/// The rows of a file, read as they come: a row is in memory at a time.
struct RowFile {
    /// The file, as somebody has typed it.
    let name: String
    /// The names of the columns of a CSV file; nil for another one.
    private(set) var header: [String]?
    private var csv: CSVReader?
    private var json: JSONReader?
    /// The number of columns without a name at the end of the first line, as spreadsheets write them.
    private var unnamed = 0

    /// - Parameters:
    ///   - name: The file, as somebody has typed it; `-` for the standard input stream.
    ///   - format: The format.
    ///   - delimiter: What stands between two cells of a CSV file.
    init(_ name: String, _ format: FileFormat, delimiter: UInt8) throws {
        let handle = name == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: name)
        guard let handle else { throw ImportError(name, "there is no such file that can be read; check the path") }
        let bytes = try ByteReader(handle, file: name)
        self.name = name
        if format == .csv {
            csv = CSVReader(bytes, delimiter: delimiter)
            guard var names = try csv?.record()?.map(\.text) else { return }
            // Excel says the delimiter in a line of its own.
            if names[0].hasPrefix("sep="), names.count == 1 && names[0].utf8.count == 5 || names == ["sep=", ""] {
                if names.count == 1, delimiter == UInt8(ascii: ","), let mark = names[0].utf8.last { csv?.delimiter = mark }
                names = try csv?.record()?.map(\.text) ?? []
            }
            while names.count > 1, names.last == "" {
                names.removeLast()
                unnamed += 1
            }
            header = names
        } else {
            json = JSONReader(bytes)
        }
    }

    /// Returns the next row; nil at the end.
    ///
    /// - Throws: ``ImportError``.
    mutating func next() throws -> FileRow? {
        if let object = try json?.object() {
            let members = object.members.sorted { $0.key < $1.key }
            return FileRow(line: object.line, names: members.map(\.key), values: members.map { (.json($0.value), object.line) })
        }
        guard let header, var cells = try csv?.record() else { return nil }
        let line = cells.first?.line ?? 0
        if unnamed > 0, cells.count == header.count + unnamed {
            if let index = cells[header.count...].firstIndex(where: { !$0.text.isEmpty }) {
                throw ImportError(
                    name, line: cells[index].line, column: "column \(index + 1)",
                    "it has a value, and the column has no name; give it one in the first line")
            }
            cells.removeLast(unnamed)
        }
        guard cells.count == header.count else {
            throw ImportError(
                name, line: line, column: cells.count > header.count ? "column \(header.count + 1)" : nil,
                "it has \(counted(cells.count, "cell")); expected \(header.count), as in the first line\(Self.delimiterAdvice(header))"
            )
        }
        return FileRow(line: line, names: header, values: cells.map { (.text($0.text, isQuoted: $0.isQuoted), $0.line) })
    }

    /// What to do when cells are separated by something else, as the names of columns say; nothing when they do not.
    static func delimiterAdvice(_ names: [String]) -> String {
        let marks = ";\t|"
        guard let mark = marks.first(where: { mark in names.contains { $0.contains(mark) } }) else { return "" }
        return "; another delimiter is said with --delimiter \(mark == "\t" ? "tab" : "'\(mark)'")"
    }

    /// The place of a value in its line.
    func place(_ index: Int, of row: FileRow) -> String {
        header == nil ? "'\(row.names[index])'" : "column \(index + 1) ('\(row.names[index])')"
    }
}
