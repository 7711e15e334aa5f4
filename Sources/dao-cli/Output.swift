import DAOCore
import DAORedaction
import DAOTransport
import Foundation

/// The standard output stream, with a buffer.
enum Output {
    /// The stream takes no more: its reader is gone, or its disk is full.
    struct Closed: Error {
        /// The error code of the operating system; nil when the reader is gone.
        let code: Int32?
    }

    private static let buffer = Lock(Data())

    /// Writes a line, ``printable(_:)``: what comes out of a database cannot control a terminal.
    ///
    /// - Parameters:
    ///   - text: The line.
    ///   - isExact: Whether no character may be missing, as in CSV. JSON escapes such characters itself.
    ///   - end: What follows the line.
    /// - Throws: ``Closed``; `CancellationError` after Ctrl-C.
    static func write(_ text: String, isExact: Bool = false, end: String = "\n") throws {
        try Task.checkCancellation()
        try add(isExact ? text : printable(text), end)
    }

    /// Writes what a command has done. The work cannot be taken back, so that the line comes after Ctrl-C too.
    static func report(_ text: String) throws { try add(printable(text), "\n") }

    private static func add(_ text: String, _ end: String) throws {
        let isFull = buffer.withLock { buffer in
            buffer.append(contentsOf: text.utf8)
            buffer.append(contentsOf: end.utf8)
            return buffer.count > 1 << 16
        }
        if isFull { try flush() }
    }

    /// Sends on what was written.
    static func flush() throws {
        try buffer.withLock { buffer in
            defer { buffer = Data() }
            let code = writeOut(buffer)
            if code != 0 { throw Closed(code: code == EPIPE ? nil : code) }
        }
    }
}

/// Writes bytes to the standard output stream.
///
/// - Returns: The error code of the operating system, or zero.
private func writeOut(_ bytes: Data) -> Int32 {
    bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = write(STDOUT_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return errno }
        }
        return 0
    }
}

/// How rows are written.
enum Format: String, CaseIterable, Sendable { case table, json, csv }

/// Writes rows to the standard output stream, as they come.
struct RowPrinter {
    private let fields: [(position: Int, description: FieldDescription)]
    private let format: Format
    private var count = 0
    /// The first rows of a table, which decide about the widths of its columns.
    private var first: [[String]] = []
    private var widths: [Int] = []

    /// Begins with the names of the fields.
    ///
    /// - Parameters:
    ///   - entity: The entity of the rows.
    ///   - names: The fields to write, in this order; empty for all that are in a row.
    init(_ entity: EntityDescription, _ names: [String], _ format: Format) throws {
        let chosen = names.isEmpty ? entity.fields.filter { $0.type.kind != .toMany }.map(\.name) : names
        fields = try chosen.map { name in
            guard let position = entity.index(of: name) else {
                let known = entity.fields.map(\.name).joined(separator: ", ")
                throw UsageError("'\(entity.name)' has no field '\(name)'; it has: \(known)")
            }
            return (position, entity.fields[position])
        }
        self.format = format
        if format == .csv { try Output.write(fields.map { CSV.cell($0.description.name) }.joined(separator: ","), isExact: true) }
    }

    mutating func add(_ row: EntityRow) throws {
        count += 1
        switch format {
        case .json: try Output.write((count == 1 ? "[\n" : ",\n") + row.json(fields), end: "")
        case .csv:
            try Output.write(
                fields.map { CSV.cell(row.values[$0.position].text($0.description.type.kind)) }.joined(separator: ","),
                isExact: true)
        case .table:
            let cells = fields.map { row.values[$0.position].cell($0.description.type.kind) }
            if widths.isEmpty { first.append(cells) } else { try write(cells) }
            if first.count == 1000 { try begin() }
        }
    }

    /// Writes what is left.
    mutating func end() throws {
        switch format {
        case .json: try Output.write(count == 0 ? "[]" : "\n]")
        case .csv: break
        case .table: if widths.isEmpty { try begin() }
        }
    }

    private mutating func begin() throws {
        widths = fields.indices.map { index in
            max(fields[index].description.name.count, first.map { $0[index].count }.max() ?? 0)
        }
        try write(fields.map(\.description.name))
        try Output.write(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  "))
        for cells in first { try write(cells) }
        first = []
    }

    private func write(_ cells: [String]) throws {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let description = fields[index].description
            let isNumber = (description.relation?.keyKind ?? description.type.kind).isNumeric
            let space = String(repeating: " ", count: max(0, widths[index] - cell.count))
            line += (index == 0 ? "" : "  ") + (isNumber ? space + cell : cell + space)
        }
        try Output.write(line.replacing(/\ +$/, with: ""))
    }
}

extension EntityRow {
    /// The row as a JSON object in one line.
    func json(_ fields: [(position: Int, description: FieldDescription)]) -> String {
        let members = fields.map { "\(JSON.text($0.description.name)): \(values[$0.position].json($0.description.type.kind))" }
        return "{\(members.joined(separator: ", "))}"
    }

    /// All that is in the row, as a JSON object in one line.
    var json: String {
        json(Array(entity.fields.enumerated().filter { $1.type.kind != .toMany }.map { (position: $0, description: $1) }))
    }
}

enum CSV {
    /// A cell, in quotes where RFC 4180 asks for them.
    static func cell(_ text: String) -> String {
        let isPlain = !text.utf8.contains { "\",\r\n".utf8.contains($0) } && text.utf8.first != 0x20 && text.utf8.last != 0x20
        return isPlain ? text : "\"\(text.escaping("\"", with: "\""))\""
    }
}

enum JSON {
    /// A text in quotes.
    static func text(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default: append(scalar, to: &quoted)
            }
        }
        return quoted + "\""
    }

    /// The JSON of an embedded value, with escapes for what controls a terminal; as a text when it is no JSON.
    static func embedded(_ json: String) -> String {
        // Another program can have stored anything. Without spaces between values, only texts have what needs an escape.
        guard let value = try? Json(parsing: json) else { return text(json) }
        var escaped = ""
        for scalar in value.serialized().unicodeScalars { append(scalar, to: &escaped) }
        return escaped
    }

    /// Appends a scalar of a text, escaped where it would control a terminal.
    private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
        if isPrintable(scalar), scalar != "\n", scalar != "\t" {
            text.unicodeScalars.append(scalar)
        } else {
            text += "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
        }
    }

    /// An object in one line.
    static func object(_ members: KeyValuePairs<String, String>) -> String {
        "{\(members.map { "\(text($0.key)): \($0.value)" }.joined(separator: ", "))}"
    }

    static func list(_ elements: [String]) -> String { "[\(elements.joined(separator: ", "))]" }
}

extension Value {
    /// The value as people read it; nothing for nil.
    func text(_ kind: ValueKind) -> String {
        switch self {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .double(let value): kind == .float ? "\(Float(value))" : "\(value)"
        case .decimal(let value): "\(value)"
        case .string(let value): value
        case .data(let value): value.base64EncodedString()
        case .uuid(let value): value.uuidString
        case .date(let value): value.text
        }
    }

    /// The value in a table: in one line, and shortened.
    func cell(_ kind: ValueKind, length: Int = 60) -> String {
        if isNull { return "–" }
        if case .data(let data) = self { return "\(data.count) bytes" }
        // A character can have any number of scalars.
        let start = String(text(kind).unicodeScalars.prefix(16 * length))
        let text = printable(String(start.prefix(length + 4).map { $0.isNewline || $0 == "\t" ? " " : $0 }))
        return text.count > length ? text.prefix(length - 1) + "…" : text
    }

    /// The value as a terminal can show it, in several lines where it has them.
    func lines(_ kind: ValueKind) -> String { isNull ? "–" : printable(text(kind)) }

    /// The value as JSON: numbers and Booleans as such, embedded values as the JSON that they are, all else as text.
    func json(_ kind: ValueKind) -> String {
        switch self {
        case .null: "null"
        case .bool, .integer, .unsigned: text(kind)
        case .double(let value): value.isFinite ? text(kind) : JSON.text(text(kind))
        case .string(let value) where kind == .embedded: JSON.embedded(value)
        default: JSON.text(text(kind))
        }
    }
}

extension Date {
    /// The date in UTC, by ISO 8601; the seconds since 2001 for one that has no such form.
    var text: String {
        let seconds = timeIntervalSinceReferenceDate
        guard abs(seconds) < 6e10 else { return "\(seconds)" }
        return formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: seconds != seconds.rounded()))
    }
}

/// A line about the progress of a command on the standard error stream, when somebody looks at it.
struct Progress: Sendable {
    private let isShown = isatty(STDERR_FILENO) == 1
    private let start = ContinuousClock.now

    /// Replaces the line.
    func show(_ what: String, _ done: Int, of total: Int, _ unit: String) {
        guard isShown else { return }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let rate = seconds > 0.5 ? ", \(Int(Double(done) / seconds)) \(unit)/s" : ""
        let filled = total > 0 ? min(20, done * 20 / total) : 20
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 20 - filled)
        FileHandle.standardError.write(Data("\r\u{1B}[K[\(bar)] \(what): \(done) of \(total) \(unit)\(rate)".utf8))
    }

    /// Removes the line.
    func end() {
        if isShown { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    }
}

/// A number of bytes as people read it.
func bytes(_ count: Int) -> String {
    var (amount, units) = (Double(count), ["bytes", "KB", "MB", "GB", "TB"][...])
    while amount >= 1000, units.count > 1 {
        amount /= 1000
        units.removeFirst()
    }
    return count < 1000 ? "\(count) bytes" : "\(String(format: "%.1f", amount)) \(units.first ?? "")"
}

/// A number with its noun.
func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    "\(count) \(count == 1 ? one : many ?? one + "s")"
}
