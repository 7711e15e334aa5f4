import DAOCore
import Foundation

/// The keys of encrypted databases. They come from files and from the terminal, since the words of a command are in the list of
/// processes and in the history of a shell.
enum Keys {
    /// The formats of encrypted files.
    enum Format: String, CaseIterable { case authenticated, sqlcipher }

    /// The key that options give.
    ///
    /// - Parameters:
    ///   - prefix: What the names of the options begin with.
    ///   - isNew: Whether a text that is typed becomes a key, so that it is asked for twice.
    /// - Returns: Nil without such an option.
    static func encryption(_ arguments: Arguments, _ prefix: String = "", isNew: Bool = false) throws -> Encryption? {
        let name = prefix + "key-file"
        let file = arguments.value(of: name)
        guard !arguments.has(prefix + "ask-key") else {
            if file != nil { throw UsageError("--\(name) and --\(prefix)ask-key are two keys; give one of them") }
            let text = try ask(name, prefix.isEmpty ? "Passphrase: " : "Passphrase (\(prefix.dropLast())): ")
            if isNew, try ask(name, "The same again: ") != text {
                throw UsageError("the two texts are different; nothing was changed")
            }
            return try key(text, "the terminal")
        }
        return try file.map { try key(content(of: $0), "the file '\($0)'") }
    }

    /// A key in a format.
    static func encryption(_ encryption: Encryption, _ format: Format?) throws -> Encryption {
        guard let format else { return encryption }
        let secret = try encryption.secret(path: "")
        // A salt that came with the key is one for a plain header.
        if format == .sqlcipher, case .sqlCipher = encryption.format { return encryption }
        return .asking(format: format == .sqlcipher ? .sqlCipher() : .authenticated) { secret }
    }

    /// The format of a file that SQLCipher can read; nil for another file.
    ///
    /// - Parameter key: The key of the file, which has the salt where the header is plain.
    static func sqlCipherFormat(of file: String, _ key: Encryption) -> Encryption.Format? {
        guard let reserved = reservedBytes(of: file) else { return .sqlCipher() }
        return reserved == 80 ? key.format : nil
    }

    /// Whether a file is encrypted in the format of this library, which says so.
    static func isEncrypted(_ file: String) -> Bool { reservedBytes(of: file) == 64 }

    /// The number of bytes that each page keeps for a layer below SQLite; nil for a file without SQLite's header.
    private static func reservedBytes(of file: String) -> UInt8? {
        let header = (try? FileHandle(forReadingAtPath: file)?.read(upToCount: 21)) ?? Data()
        guard header.starts(with: Data("SQLite format 3\0".utf8)) else { return nil }
        return header.count == 21 ? header[20] : 0
    }

    private static func content(of file: String) throws -> String {
        guard let handle = FileHandle(forReadingAtPath: file), let data = try? handle.readToEnd() ?? Data() else {
            throw UsageError("there is no file '\(file)' that can be read; check the path of the key")
        }
        guard var text = String(data: data, encoding: .utf8) else {
            throw UsageError(
                "the file '\(file)' is no text of UTF-8; save a passphrase as UTF-8, and write a key of 32 bytes as x'…' with 64 "
                    + "hexadecimal digits")
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        // At a prompt nobody could type them.
        if text.contains(where: \.isNewline) { throw UsageError("the file '\(file)' has more than one line; a key is one line") }
        return text
    }

    /// The key of a text: a passphrase, or as SQLCipher writes it `x'…'` with the 64 hexadecimal digits of a key, or with 96, the
    /// last 32 of which are the salt of a file with a plain header.
    private static func key(_ text: String, _ place: String) throws -> Encryption {
        guard text.lowercased().hasPrefix("x'"), text.hasSuffix("'"), text.count > 3 else {
            if text.isEmpty { throw UsageError("\(place) gives an empty passphrase") }
            return .passphrase(text)
        }
        let digits = Array(text.dropFirst(2).dropLast())
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        guard [64, 96].contains(digits.count), bytes.count == digits.count / 2, digits.allSatisfy(\.isHexDigit) else {
            throw UsageError(
                "\(place) has no 64 hexadecimal digits in x'…', nor 96 with the salt of a plain header; check the key")
        }
        return .key(bytes.prefix(32), format: bytes.count == 48 ? .sqlCipher(salt: Array(bytes.suffix(16))) : .authenticated)
    }

    /// Reads a line from the terminal without showing it.
    private static func ask(_ option: String, _ prompt: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { throw UsageError("there is no terminal to ask for a key; use --\(option) FILE") }
        defer { close(terminal) }
        var shown = termios()
        guard tcgetattr(terminal, &shown) == 0 else {
            throw UsageError("there is no terminal to ask for a key; use --\(option) FILE")
        }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(terminal, TCSAFLUSH, &hidden)
        defer { tcsetattr(terminal, TCSAFLUSH, &shown) }
        func show(_ text: String) { _ = text.withCString { write(terminal, $0, strlen($0)) } }
        show(prompt)
        defer { show("\n") }
        var line: [UInt8] = []
        while true {
            // Ctrl-C cancels the task, and the terminal must show words again.
            try Task.checkCancellation()
            var ready = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 100) > 0 else { continue }
            var byte: UInt8 = 0
            guard read(terminal, &byte, 1) == 1 else { throw UsageError("the terminal gave no key") }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }
}

extension Arguments {
    /// The configuration of a word that is a URL, with the key of the options.
    func configuration(_ word: String) throws -> DatabaseConfiguration {
        var configuration = try Databases.configuration(of: self.word(word))
        if word == "TO" {
            let format: Keys.Format? = try choice(of: "to-format")
            configuration.encryption = try Keys.encryption(self, "to-", isNew: !isThere(configuration.file))
                .map { try Keys.encryption($0, format) }
            if format != nil, configuration.encryption == nil {
                throw UsageError("--to-format needs a key: add --to-key-file or --to-ask-key")
            }
        } else {
            configuration.encryption = try Keys.encryption(self)
        }
        return configuration
    }

    private func isThere(_ path: String?) -> Bool { path.map { FileManager.default.fileExists(atPath: $0) } ?? false }
}

extension [Command.Option] {
    /// The options that give the key of the database that a command opens.
    static let key = options("", "the database's")
    /// Those for the database that gets a copy.
    static let toKey = options("to-", "the copy's") + [.init(name: "to-format", value: "FORMAT", help: formats)]
    /// Those for a key that replaces another one.
    static let newKey = options("new-", "the new")

    /// The option for the format of a new file.
    static let keyFormat: [Command.Option] = [.init(name: "format", value: "FORMAT", help: formats)]

    private static let formats = "authenticated, or sqlcipher for a file that SQLCipher 4 reads too"

    private static func options(_ prefix: String, _ whose: String) -> [Command.Option] {
        [
            .init(
                name: prefix + "key-file", value: "FILE",
                help: "a file with \(whose) key: a passphrase, or x'…' with 64 hexadecimal digits"),
            .init(name: prefix + "ask-key", help: "asks for \(whose) passphrase on the terminal"),
        ]
    }
}
