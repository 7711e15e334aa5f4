import DAOCore
import DAOTransport
import Foundation

/// How rows are in a file.
enum FileFormat: String, CaseIterable, Sendable { case jsonl, csv }

extension Command {
    static let export = Command(
        name: "export", summary: "writes the rows of an entity without losing a bit, for import",
        parameters: [.url, .entity, .predicate], options: [.fileFormat],
        discussion: """
            Lists of related rows are not written. A date that ISO 8601 cannot give exactly is the number of seconds since 2001.
            In CSV an empty cell is nil, and an empty text stands in quotes.
            """
    ) { arguments in
        let format: FileFormat = try arguments.choice(of: "format") ?? .jsonl
        let predicate = arguments.optionalWord("PREDICATE").map { TextPredicate($0) }
        return try await Databases.reading(arguments) { database in
            let rows = try database.rows(of: arguments.word("ENTITY"))
            let progress = Progress()
            defer { progress.end() }
            let total = try rows.count(where: predicate)
            let fields = try rows.entity.fields.enumerated().filter { $1.type.kind != .toMany }
            if format == .csv { try Output.write(fields.map { CSV.cell($0.element.name) }.joined(separator: ","), isExact: true) }
            var count = 0
            try rows.forEach(RowQuery(where: predicate)) { row in
                switch format {
                case .jsonl:
                    let members = fields.map { "\(JSON.text($1.name)):\(row.values[$0].exactJSON($1))" }
                    try Output.write("{\(members.joined(separator: ","))}")
                case .csv: try Output.write(fields.map { row.values[$0].exactCell($1) }.joined(separator: ","), isExact: true)
                }
                count += 1
                if count % 1000 == 0 { progress.show(rows.name, count, of: total, "rows") }
            }
            return 0
        }
    }

    static let `import` = Command(
        name: "import", summary: "stores the rows of a file in an entity: all of them, or none",
        parameters: [
            .url, .entity,
            Parameter(name: "FILE", help: "the file that 'dao export' has written; - for the standard input stream"),
        ],
        options: [.fileFormat, .json],
        discussion: """
            A row with the key of a stored row changes the fields that the file names, and no other. The format is csv for a file
            of that name, otherwise jsonl. A row that another one of the file refers to stands before it.
            """
    ) { arguments in
        let file = arguments.word("FILE")
        let format: FileFormat = try arguments.choice(of: "format") ?? (file.lowercased().hasSuffix(".csv") ? .csv : .jsonl)
        let handle = file == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: file)
        guard let handle else { throw ImportError("there is no file '\(file)' that can be read; check the path") }
        return try await Databases.using(arguments, .writes) { database in
            let rows = try database.rows(of: arguments.word("ENTITY"))
            let progress = Progress()
            defer { progress.end() }
            var count = 0
            try database.transaction {
                var source = try RowSource(handle, format, rows.entity)
                while case let batch = try source.next(1000), !batch.isEmpty {
                    try Task.checkCancellation()
                    try rows.persist(batch)
                    count += batch.count
                    progress.show(rows.name, count, of: count, "rows")
                }
            }
            progress.end()
            try Output.write(arguments.has("json") ? JSON.object(["rows": "\(count)"]) : "\(counted(count, "row")) stored")
            return 0
        }
    }
}

extension Command.Option {
    fileprivate static let fileFormat = Command.Option(name: "format", value: "FORMAT", help: "jsonl (JSON Lines) or csv")
}

/// A file that cannot be imported.
struct ImportError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The rows of a file, read as they come.
private struct RowSource {
    private let entity: EntityDescription
    private let format: FileFormat
    private var bytes: ByteReader
    private var line = 0
    /// The fields of the columns of a CSV file.
    private var columns: [FieldDescription] = []

    init(_ handle: FileHandle, _ format: FileFormat, _ entity: EntityDescription) throws {
        (self.entity, self.format, bytes) = (entity, format, ByteReader(handle))
        guard format == .csv else { return }
        line = 1
        columns = try (bytes.record() ?? []).map { try field($0.text) }
    }

    /// Returns the next rows, at most a number; none at the end.
    mutating func next(_ count: Int) throws -> [[String: Value]] {
        var rows: [[String: Value]] = []
        while rows.count < count, let row = try next() { rows.append(row) }
        return rows
    }

    private mutating func next() throws -> [String: Value]? {
        switch format {
        case .csv:
            line += 1
            guard let cells = try bytes.record() else { return nil }
            guard cells.count == columns.count else {
                throw problem("has \(cells.count) cells, and the first line \(columns.count)")
            }
            return try row(
                zip(columns, cells).map { field, cell in
                    (field, cell.text.isEmpty && !cell.isQuoted ? .null : Value(cell.text, of: field))
                })
        case .jsonl:
            while let text = try bytes.line() {
                line += 1
                if text.allSatisfy(\.isWhitespace) { continue }
                guard case .object(let members) = try? Json(parsing: text) else { throw problem("is no JSON object") }
                return try row(
                    members.map { name, json in
                        let field = try field(name)
                        return (field, Value(json, of: field))
                    })
            }
            return nil
        }
    }

    private func row(_ values: [(FieldDescription, Value?)]) throws -> [String: Value] {
        try Dictionary(
            values.map { field, value in
                guard let value else { throw problem("has no \(field.type) in the field '\(field.name)'") }
                return (field.name, value)
            }, uniquingKeysWith: { $1 })
    }

    private func field(_ name: String) throws -> FieldDescription {
        guard let position = entity.index(of: name) else {
            throw problem("names '\(name)', and '\(entity.name)' has: \(entity.fields.map(\.name).joined(separator: ", "))")
        }
        return entity.fields[position]
    }

    private func problem(_ what: String) -> ImportError {
        ImportError("\(format == .csv ? "record" : "line") \(line) of the file \(what); nothing was stored")
    }
}

/// Reads a file in parts.
private struct ByteReader {
    private let handle: FileHandle
    private var buffer: [UInt8] = []
    private var position = 0

    init(_ handle: FileHandle) { self.handle = handle }

    private mutating func next() throws -> UInt8? {
        if position == buffer.count {
            buffer = try Array(handle.read(upToCount: 1 << 16) ?? Data())
            position = 0
            if buffer.isEmpty { return nil }
        }
        position += 1
        return buffer[position - 1]
    }

    /// Returns the next line; nil at the end.
    mutating func line() throws -> String? {
        var line: [UInt8] = []
        while let byte = try next() {
            if byte == UInt8(ascii: "\n") { return try text(line) }
            line.append(byte)
        }
        return line.isEmpty ? nil : try text(line)
    }

    /// Returns the cells of the next record of a CSV file; nil at the end.
    mutating func record() throws -> [(text: String, isQuoted: Bool)]? {
        var cells: [(text: String, isQuoted: Bool)] = []
        var cell: [UInt8] = []
        var (isQuoted, isInside, isEmpty) = (false, false, true)
        while let byte = try next() {
            isEmpty = false
            switch byte {
            case UInt8(ascii: "\"") where isInside: isInside = false
            case UInt8(ascii: "\""):
                // A second quote inside quotes is a quote.
                if isQuoted { cell.append(byte) }
                (isQuoted, isInside) = (true, true)
            case _ where isInside: cell.append(byte)
            case UInt8(ascii: ","):
                cells.append((try text(cell), isQuoted))
                (cell, isQuoted) = ([], false)
            case UInt8(ascii: "\n"): return cells + [(try text(cell), isQuoted)]
            case UInt8(ascii: "\r"): continue
            default: cell.append(byte)
            }
        }
        if isInside { throw ImportError("the file ends inside quotes; nothing was stored") }
        return isEmpty ? nil : cells + [(try text(cell), isQuoted)]
    }

    private func text(_ bytes: [UInt8]) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ImportError("the file is not UTF-8; nothing was stored")
        }
        return text
    }
}

extension FieldDescription {
    /// The kind of value in a row: a to-one relationship is the key of the related row.
    var storedKind: ValueKind { relation.flatMap { type.kind == .toOne ? $0.keyKind : nil } ?? type.kind }
}

extension Value {
    /// The value as JSON that ``init(_:of:)-(Json,_)`` reads back, bit for bit.
    fileprivate func exactJSON(_ field: FieldDescription) -> String {
        let kind = field.storedKind
        switch self {
        case .string(let text) where kind == .embedded: return Self.isPlainJSON(text) ? JSON.embedded(text) : JSON.text(text)
        case .date(let date) where Date(isoText: date.text) != date:
            return date.timeIntervalSinceReferenceDate.isFinite ? date.isoNumber : JSON.text(date.isoNumber)
        default: return json(kind)
        }
    }

    /// The value as a cell that ``init(_:of:)-(String,_)`` reads back, bit for bit.
    fileprivate func exactCell(_ field: FieldDescription) -> String {
        self == .string("") ? "\"\"" : CSV.cell(exactText(field))
    }

    /// The value as text that ``init(_:of:)-(String,_)`` reads back, bit for bit; nothing for nil.
    func exactText(_ field: FieldDescription) -> String {
        if case .date(let date) = self, Date(isoText: date.text) != date { return date.isoNumber }
        return text(field.storedKind)
    }

    /// Whether JSON is written again as it is, and is no text: a text stands for the JSON that it contains.
    private static func isPlainJSON(_ text: String) -> Bool {
        guard let json = try? Json(parsing: text), json.serialized() == text else { return false }
        if case .string = json { return false }
        return json != .null
    }

    /// Reads a value of a field; nil when the text is none.
    init?(_ text: String, of field: FieldDescription) {
        let value: Value? =
            switch field.storedKind {
            case .bool: text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
            case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64:
                Int64(text).map { .integer($0) } ?? UInt64(text).map { .unsigned($0) }
            case .float: Float(strictText: text).map { .double(Double($0)) }
            case .double: Double(strictText: text).map { .double($0) }
            case .decimal:
                (Decimal(strictText: text) ?? Json.Number(text: text)?.decimal).map { .decimal($0) }
            case .string: .string(text)
            case .url: URL(string: text).map { _ in .string(text) }
            case .embedded: (try? Json(parsing: text)).map { _ in .string(text) }
            case .data: Data(base64Encoded: text).map { .data($0) }
            case .uuid: UUID(uuidString: text).map { .uuid($0) }
            case .date:
                (Date(isoText: text) ?? Double(strictText: text).map(Date.init(timeIntervalSinceReferenceDate:))).map {
                    .date($0)
                }
            case .toOne, .toMany: nil
            }
        guard let value else { return nil }
        self = value
    }

    /// Reads a value of a field; nil when the JSON is none.
    fileprivate init?(_ json: Json, of field: FieldDescription) {
        let value: Value? =
            switch json {
            case .null: .null
            case .bool(let value) where field.storedKind == .bool: .bool(value)
            case .number(let number) where field.storedKind.isNumeric || field.storedKind == .date: Value(number.text, of: field)
            case .string(let text) where field.storedKind != .bool: Value(text, of: field)
            case .bool, .number, .array, .object: field.storedKind == .embedded ? .string(json.serialized()) : nil
            case .string: nil
            }
        guard let value else { return nil }
        self = value
    }
}

extension Date {
    /// The seconds since 2001.
    fileprivate var isoNumber: String { "\(timeIntervalSinceReferenceDate)" }
}
