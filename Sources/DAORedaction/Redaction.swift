import Foundation

/// A URL without its secrets, for descriptions, errors and logs: `https://…@host/list?page=2&api_key=…`.
///
/// Hidden are the user and the password, and the value of every option whose name sounds like a secret, in any
/// case, spelling and percent encoding, and also in a URL that is the value of an option. What is doubtful is
/// hidden: too much rather than too little. A text that is no URL may be given too.
package func redacted(_ url: some StringProtocol) -> String {
    hidingSecrets(in: withSeparateMarks(String(url)))
}

/// A URL in which each mark of punctuation is a `Character`: a combining scalar that follows one is percent-encoded.
///
/// `=` and a combining accent are one `Character`, which is no `=`. Its option would not be seen, and its value be shown.
package func withSeparateMarks(_ url: String) -> String {
    if url.utf8.allSatisfy({ $0 < 0x80 }) { return url }
    var separate = ""
    for character in url {
        guard let mark = character.unicodeScalars.first, mark.isASCII, character.utf8.count > 1, !character.isNewline,
            !mark.properties.isAlphabetic
        else {
            separate.append(character)
            continue
        }
        separate.unicodeScalars.append(mark)
        for byte in character.utf8.dropFirst() { separate += "%" + String(byte, radix: 16, uppercase: true) }
    }
    return separate
}

private func hidingSecrets(in text: String) -> String {
    hidingUsers(in: text).split(separator: "&", omittingEmptySubsequences: false).map(hidingValue(of:)).joined(separator: "&")
}

/// A text in which every URL with `://` is ``redacted(_:)``.
package func redactedURLs(in text: String) -> String {
    text.replacing(/[A-Za-z][A-Za-z0-9+.\-]*:\/\/[^\s"<>]*/.matchingSemantics(.unicodeScalar)) { redacted($0.output) }
}

private let hidden = "…"

/// Parts of names that sound like a secret, in lower case and without punctuation.
private let secretParts = [
    "key", "pass", "pwd", "secret", "token", "auth", "sig", "cred", "session", "cookie", "jwt", "bearer",
]
private let secretNames: Set = ["code", "otp", "pin", "pw", "sid"]

private func isSecret(_ name: some StringProtocol) -> Bool {
    let folded = decoded(name).folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    let plain = folded.filter { $0.isLetter || $0.isNumber }
    return secretNames.contains(plain) || secretParts.contains { plain.contains($0) }
}

/// The text without percent encoding, however often it was encoded. What is no encoding stays.
private func decoded(_ text: some StringProtocol) -> String {
    func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
        bytes.append(byte)
        while bytes.count >= 3, bytes[bytes.count - 3] == 0x25, let high = digit(bytes[bytes.count - 2]),
            let low = digit(bytes[bytes.count - 1])
        {
            bytes.removeLast(3)
            bytes.append(high << 4 | low)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Hides what stands before the `@` of an authority: after `//`, or after the scheme of a URL without it.
private func hidingUsers(in text: String) -> String {
    var shown = ""
    var rest = Substring(text)
    while let start = rest.firstRange(of: "//")?.upperBound
        ?? (shown.isEmpty ? rest.firstIndex(of: ":").map(rest.index(after:)) : nil)
    {
        shown += rest[..<start]
        rest = rest[start...]
        guard let sign = signAfterUser(of: rest) else { continue }
        shown += hidden
        rest = rest[sign...]
    }
    return shown + rest
}

/// The place of the `@` that ends the user at the beginning of a text; nil when it begins with no user.
private func signAfterUser(of text: Substring) -> String.Index? {
    let text = text.drop { $0 == "/" }
    let authority = text.prefix { !"/?#&".contains($0) }
    func lastSign(in text: Substring) -> String.Index? { text.ranges(of: /@|%(?:25)*40/).last?.lowerBound }
    if let sign = lastSign(in: authority) { return sign }
    // A password with a slash that is not encoded: what follows the colon is no port.
    guard !authority.hasPrefix("["), let colon = authority.firstIndex(of: ":"),
        authority[colon...].dropFirst().contains(where: { !$0.isNumber })
    else { return nil }
    return lastSign(in: text)
}

/// Hides the value of an option, with everything up to the next `&`.
private func hidingValue(of option: Substring) -> String {
    var start = option.startIndex
    while let end = option[start...].firstIndex(where: { "?#;=/".contains($0) }) {
        let next = option.index(after: end)
        if option[end] == "=", isSecret(option[start..<end]) { return option[..<next] + hidden }
        // A value ends only where another name can begin.
        if option[end] != "=" {
            start = next
        } else {
            start = option[next...].firstIndex { "?#;/".contains($0) } ?? option.endIndex
        }
    }
    // What is hidden in the decoded text was encoded: an option in a value, or a sign that separates options.
    let plain = withSeparateMarks(decoded(option))
    guard plain != option, hidingSecrets(in: plain) != plain else { return String(option) }
    let shown = option.firstIndex(of: "=").map { option[...$0] } ?? ""
    let plainShown = withSeparateMarks(decoded(shown))
    return (hidingSecrets(in: plainShown) == plainShown ? shown : "") + hidden
}
