import Foundation

// The wire's own shapes: what the JSON files of the `iso-codes` package hold, field for field, with `alpha_2` read as `alpha2`.

/// A country as ISO 3166-1 has it.
struct CountryEntry: Decodable {
    let alpha2: String
    let alpha3: String
    let name: String
    let officialName: String?
    let flag: String
    let numeric: String
}

/// A subdivision of a country as ISO 3166-2 has it; the code begins with the country's.
struct SubdivisionEntry: Decodable {
    let code: String
    let name: String
    let type: String
    let parent: String?
}

/// A language as ISO 639-3 has it.
struct LanguageEntry: Decodable {
    let alpha3: String
    let alpha2: String?
    let name: String
    let scope: String
    let type: String
}

/// A currency as ISO 4217 has it.
struct CurrencyEntry: Decodable {
    let alpha3: String
    let name: String
    let numeric: String
}

/// One file: `{"3166-1": [ … ]}`, an envelope of one key around the list.
struct Envelope<Entry: Decodable>: Decodable {
    let key: String
    let entries: [Entry]

    init(from decoder: any Decoder) throws {
        let files = try decoder.singleValueContainer().decode([String: [Entry]].self)
        guard files.count == 1, let (key, entries) = files.first else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "expected one envelope key, found \(files.count)"))
        }
        self.key = key
        self.entries = entries
    }
}

/// Where the files are, and how to read one.
struct IsoCodes {
    let directory: URL

    /// Finds the package's files: where Debian puts them, then where brew does.
    init() throws {
        let candidates = ["/usr/share", "/opt/homebrew/share", "/usr/local/share"].map { "\($0)/iso-codes/json" }
        guard let found = candidates.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw DemoError("the data is not installed: run Scripts/setup.sh --demo (it installs the package iso-codes)")
        }
        directory = URL(fileURLWithPath: found)
    }

    func entries<Entry: Decodable>(_ name: String, as type: Entry.Type) throws -> [Entry] {
        let file = directory.appendingPathComponent("iso_\(name).json")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Envelope<Entry>.self, from: Data(contentsOf: file)).entries
    }
}

struct DemoError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
