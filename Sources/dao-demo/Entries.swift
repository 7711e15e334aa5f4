import Foundation

// The entries of the JSON files in the package `iso-codes`, field by field, with `alpha_2` read as `alpha2`.

/// A country of ISO 3166-1.
struct CountryEntry: Decodable {
    let alpha2: String
    let alpha3: String
    let name: String
    let officialName: String?
    let flag: String
    let numeric: String
}

/// A subdivision of a country, of ISO 3166-2. Its code begins with the code of the country.
struct SubdivisionEntry: Decodable {
    let code: String
    let name: String
    let type: String
    let parent: String?
}

/// A language of ISO 639-3.
struct LanguageEntry: Decodable {
    let alpha3: String
    let alpha2: String?
    let name: String
    let scope: String
    let type: String
}

/// A currency of ISO 4217.
struct CurrencyEntry: Decodable {
    let alpha3: String
    let name: String
    let numeric: String
}

/// A file: `{"3166-1": [ … ]}`, an envelope with one key around the list.
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

/// The location of the files, and a way to read them.
struct IsoCodes {
    let directory: URL

    /// Finds the files of the package, first where Debian installs them, then where brew does.
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

    /// The translations of the names of a standard, by language in ascending order. Some systems install none.
    func translations(_ name: String) throws -> [(language: String, texts: [String: String])] {
        let locales = directory.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("locale")
        let languages = (try? FileManager.default.contentsOfDirectory(atPath: locales.path)) ?? []
        return try languages.filter { $0 != "en" }.sorted().compactMap { language in
            let file = locales.appendingPathComponent("\(language)/LC_MESSAGES/iso_\(name).mo")
            guard let data = try? Data(contentsOf: file) else { return nil }
            return (language, try Self.texts(of: data, file.path))
        }
    }

    /// The translated texts in a file of gettext, by the English ones: a head, and for each text its length and its place.
    private static func texts(of data: Data, _ path: String) throws -> [String: String] {
        let damaged = DemoError("the translations in \(path) are damaged; install iso-codes again")
        let bytes = [UInt8](data)
        func number(_ offset: Int) throws -> Int {
            guard offset >= 0, offset + 4 <= bytes.count else { throw damaged }
            return (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
        }
        func text(_ entry: Int) throws -> String {
            let (length, place) = (try number(entry), try number(entry + 4))
            guard place + length <= bytes.count else { throw damaged }
            return String(decoding: bytes[place..<place + length], as: UTF8.self)
        }
        // Debian writes these files in the order of bytes of little-endian processors on all of them.
        guard try number(0) == 0x9504_12de else { throw damaged }
        let (count, originals, translated) = (try number(8), try number(12), try number(16))
        var texts: [String: String] = [:]
        for index in 0..<min(count, bytes.count / 16) {
            texts[try text(originals + 8 * index)] = try text(translated + 8 * index)
        }
        return texts.filter { !$0.key.isEmpty && !$0.value.isEmpty }
    }
}

struct DemoError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
