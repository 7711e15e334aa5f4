/// A text without what controls a terminal or reorders a line: control characters other than line feeds and tabs, line and paragraph
/// separators, and the marks of directions. Names and messages that come out of a file are shown so.
package func printable(_ text: String) -> String {
    if text.utf8.allSatisfy(isPlain) { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where isPrintable(scalar) { shown.append(scalar) }
    return String(shown)
}

/// Whether a scalar can be shown as it is.
package func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\n", "\t": true
    case "\u{061C}", "\u{200E}", "\u{200F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}": false
    default: scalar.properties.generalCategory != .control
    }
}

/// Whether a byte is that of a printable character in ASCII.
private func isPlain(_ byte: UInt8) -> Bool { 0x20..<0x7F ~= byte || byte == 0x0A || byte == 0x09 }
