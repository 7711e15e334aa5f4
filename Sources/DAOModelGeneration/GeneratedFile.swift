import Foundation

/// A generated file: two lines that say what it is, and the code.
struct GeneratedFile {
    /// The code without the two lines.
    var code: String
    var origin: String

    private static let advice =
        "// Generate again instead of editing. Delete these two lines to keep a version of your own: it is never overwritten."

    /// The whole text of the file.
    var text: String {
        "// Generated from \(origin) by 'swift package generate-models' (\(Self.checksum(of: code))).\n\(Self.advice)\n\n\(code)"
    }

    /// Who has written a file that is there.
    enum Author: Equatable {
        case generator(origin: String)
        /// Somebody has changed what was generated.
        case edited(origin: String)
        case person
    }

    /// Says who has written a text.
    static func author(of text: String) -> Author {
        let header = text.prefixMatch(
            of: /\s*\/\/ Generated from (.+) by 'swift package generate-models' \(([0-9a-f]{16})\)\.\s*\n(\/\/[^\n]*\n)?/)
        guard let header else { return .person }
        let origin = String(header.output.1)
        let isUnchanged = checksum(of: String(text[header.range.upperBound...])) == header.output.2
        return isUnchanged ? .generator(origin: origin) : .edited(origin: origin)
    }

    /// Whether two texts differ in white space at most: a formatter changes no code.
    static func isSame(_ left: String, _ right: String) -> Bool { compact(left) == compact(right) }

    private static func compact(_ text: String) -> [UInt8] { text.utf8.filter { !" \n\r\t".utf8.contains($0) } }

    /// The FNV-1a hash of the characters that are not white space.
    private static func checksum(of code: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in compact(code) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
