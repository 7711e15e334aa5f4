import DAOCore
import Foundation

/// What the options of `dao import` say about a file.
struct ImportOptions {
    /// The column with the key.
    var key: String?
    /// The fields of columns; empty for a column that is left out.
    var columns: [String: String] = [:]
    /// The types of columns of an entity that is made; those of their values for other columns.
    var types: [String: ValueKind] = [:]
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
        columns = try arguments.value(of: "columns").map { try Self.names($0, of: "columns", as: "Order ID=id,Note=") } ?? [:]
        types = try (arguments.value(of: "types").map { try Self.names($0, of: "types", as: "zip=string") } ?? [:]).mapValues {
            word in
            guard let kind = ValueKind(rawValue: word), !kind.isRelationship else {
                let kinds = ValueKind.allCases.filter { !$0.isRelationship }.map(\.rawValue).joined(separator: ", ")
                throw UsageError("--types has no type '\(word)'; use one of these: \(kinds)")
            }
            return kind
        }
        hasEmptyTexts = arguments.has("empty-text")
        form = TextForm(
            dateFormat: try arguments.value(of: "date-format").map { try DateFormat($0) },
            timeZone: try arguments.timeZone, hasDecimalComma: arguments.has("decimal-comma"))
        if let word = arguments.value(of: "thousands") {
            guard word.count == 1, let mark = word.first, !mark.isNumber,
                !"-+eE\(form.hasDecimalComma ? "," : ".")".contains(mark)
            else {
                throw UsageError(
                    "--thousands needs the character between thousands, as in ',', which is not that of the decimals; with "
                        + "--decimal-comma it can be '.'")
            }
            form.thousands = mark
        }
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

    /// Reads `a=b,"Price, net=price",c=`: a record of CSV with the names of columns, and what is said of each.
    private static func names(_ word: String, of option: String, as example: String) throws -> [String: String] {
        let wrong = UsageError(
            "--\(option) needs names as in '\(example)' : a column, and \(option == "types" ? "its type" : "the field that it goes to or nothing"); "
                + "a name with a comma stands in quotes with its word, as in '\"Price, net=\(option == "types" ? "decimal" : "price")\"'"
        )
        var reader = CSVReader(try ByteReader(Array(word.utf8), file: "--\(option)"))
        guard let records = try? [reader.record(), reader.record()], let cells = records[0], records[1] == nil else {
            throw wrong
        }
        var columns: [String: String] = [:]
        for cell in cells {
            guard let end = cell.text.lastIndex(of: "=") else { throw wrong }
            let name = String(cell.text[..<end])
            guard columns.updateValue(String(cell.text[cell.text.index(after: end)...]), forKey: name) == nil else {
                throw UsageError("--\(option) names '\(name)' twice")
            }
        }
        return columns
    }
}
