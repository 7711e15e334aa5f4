import DAOCore
import Foundation

/// What the options of `dao import` say about a file.
struct ImportOptions {
    /// The column with the key.
    var key: String?
    /// The fields of columns; empty for a column that is left out.
    var columns: [String: String] = [:]
    /// Whether the rows are numbered, and the number is the key.
    var isNumbered = false
    /// Whether an empty cell of a text is an empty text, and not nil.
    var hasEmptyTexts = false
    var form = TextForm()
    var format = FileFormat.jsonl
    var delimiter = UInt8(ascii: ",")

    /// Whether the entity is made when it is missing.
    var makesEntity: Bool { key != nil || isNumbered }

    init(_ arguments: Arguments) throws {
        key = arguments.value(of: "key")
        isNumbered = arguments.has("number")
        if key != nil, isNumbered { throw UsageError("--key and --number say two keys; use one of them") }
        columns = try arguments.value(of: "columns").map(Self.columns) ?? [:]
        hasEmptyTexts = arguments.has("empty-text")
        form = TextForm(
            dateFormat: try arguments.value(of: "date-format").map { try DateFormat($0) },
            timeZone: try arguments.timeZone, hasDecimalComma: arguments.has("decimal-comma"))
        let file = arguments.word("FILE").lowercased()
        format = try arguments.choice(of: "format") ?? (file.hasSuffix(".csv") || file.hasSuffix(".tsv") ? .csv : .jsonl)
        delimiter = try arguments.value(of: "delimiter").map(Self.delimiter) ?? UInt8(ascii: file.hasSuffix(".tsv") ? "\t" : ",")
    }

    private static func delimiter(_ word: String) throws -> UInt8 {
        if word == "tab" || word == "\\t" { return UInt8(ascii: "\t") }
        guard word.utf8.count == 1, let byte = word.utf8.first, byte < 0x80, ![.quote, .lineFeed, .carriageReturn].contains(byte)
        else { throw UsageError("--delimiter needs one character, as in ';', or the word tab") }
        return byte
    }

    /// Reads `a=b,"Price, net=price",c=`: a record of CSV with the names of columns and of their fields.
    private static func columns(_ word: String) throws -> [String: String] {
        let wrong = UsageError(
            "--columns needs names as in 'Order ID=id,Note=' : a column, and the field that it goes to or nothing; a name with a comma "
                + "stands in quotes with its field, as in '\"Price, net=price\"'")
        var reader = CSVReader(try ByteReader(Array(word.utf8), file: "--columns"))
        guard let records = try? [reader.record(), reader.record()], let cells = records[0], records[1] == nil else {
            throw wrong
        }
        var columns: [String: String] = [:]
        for cell in cells {
            guard let end = cell.text.lastIndex(of: "=") else { throw wrong }
            let name = String(cell.text[..<end])
            guard columns.updateValue(String(cell.text[cell.text.index(after: end)...]), forKey: name) == nil else {
                throw UsageError("--columns names '\(name)' twice")
            }
        }
        return columns
    }
}
