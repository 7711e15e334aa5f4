/// Splits a text predicate into tokens.
///
/// The lexer works on Unicode scalars. In characters, a combining mark after a quote would hide the quote.
struct PredicateLexer {
    private let scalars: [Unicode.Scalar]
    private var position = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// Returns the next token. At the end of the text, every call returns `.end`.
    mutating func next() throws(PredicateTextError) -> PredicateToken {
        while let scalar = peek(), scalar.properties.isWhitespace { position += 1 }
        let start = position
        guard let scalar = peek() else { return PredicateToken(kind: .end, start: start, source: "") }
        let kind: PredicateToken.Kind
        if Self.isNameStart(scalar) {
            kind = .word(try keyPath())
        } else if scalar == "`" {
            kind = .name(try keyPath())
        } else if Self.isDigit(scalar) || ((scalar == "-" || scalar == ".") && startsNumber()) {
            kind = .number(try number())
        } else {
            position += 1
            kind = try sign(scalar, start)
        }
        return PredicateToken(kind: kind, start: start, source: text(from: start))
    }

    /// Returns the letters in square brackets directly after an operator, in lower case; nil when there are
    /// none.
    mutating func modifiers() throws(PredicateTextError) -> (letters: String, start: Int)? {
        var ahead = position
        while ahead < scalars.count, scalars[ahead].properties.isWhitespace { ahead += 1 }
        guard ahead < scalars.count, scalars[ahead] == "[" else { return nil }
        let start = ahead
        position = ahead + 1
        while let scalar = peek(), Self.isNameStart(scalar) { position += 1 }
        let letters = text(from: start + 1)
        guard peek() == "]" else { throw PredicateTextError("the '[' has no closing ']'", at: start) }
        position += 1
        return (letters.lowercased(), start)
    }

    // MARK: Parts

    private func peek(_ distance: Int = 0) -> Unicode.Scalar? {
        position + distance < scalars.count ? scalars[position + distance] : nil
    }

    private func text(from start: Int) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[start..<position])
        return String(view)
    }

    /// Whether a name needs no backticks.
    static func isWord(_ name: String) -> Bool {
        name.unicodeScalars.first.map(isNameStart) == true && name.unicodeScalars.allSatisfy(isNamePart)
    }

    private static func isNameStart(_ scalar: Unicode.Scalar) -> Bool { scalar == "_" || scalar.properties.isAlphabetic }
    private static func isNamePart(_ scalar: Unicode.Scalar) -> Bool { isNameStart(scalar) || isDigit(scalar) }
    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private func startsNumber() -> Bool {
        guard let next = peek(1) else { return false }
        return Self.isDigit(next) || (next == "." && peek() == "-" && peek(2).map(Self.isDigit) == true)
    }

    /// Returns the names of a key path, joined by dots. It begins at the current scalar. A name with spaces or signs is between backticks.
    private mutating func keyPath() throws(PredicateTextError) -> String {
        var path = try namePart()
        while peek() == ".", let next = peek(1), Self.isNameStart(next) || next == "`" {
            position += 1
            path += "." + (try namePart())
        }
        // `list.@count`
        if peek() == ".", peek(1) == "@", peek(2).map(Self.isNameStart) == true {
            position += 2
            path += ".@" + (try namePart())
        }
        return path
    }

    private mutating func namePart() throws(PredicateTextError) -> String {
        let start = position
        position += 1
        if scalars[start] == "`" {
            while let scalar = peek(), scalar != "`" { position += 1 }
            let name = text(from: start + 1)
            guard take("`") else { throw PredicateTextError("the name has no closing `", at: start) }
            guard !name.isEmpty, !name.contains(".") else {
                throw PredicateTextError("expected the name of one field between backticks", at: start)
            }
            return name
        }
        while let scalar = peek(), Self.isNamePart(scalar) { position += 1 }
        return text(from: start)
    }

    private mutating func number() throws(PredicateTextError) -> String {
        let start = position
        if peek() == "-" { position += 1 }
        if peek() == "0", let mark = peek(1), mark == "x" || mark == "X" {
            position += 2
            let digits = position
            while let scalar = peek(), scalar.properties.isASCIIHexDigit { position += 1 }
            if position == digits { throw PredicateTextError("expected hexadecimal digits after '0x'", at: position) }
        } else {
            skipDigits()
            if peek() == ".", let next = peek(1), Self.isDigit(next) {
                position += 1
                skipDigits()
            }
            if let mark = peek(), mark == "e" || mark == "E" {
                let sign = peek(1) == "-" || peek(1) == "+" ? 1 : 0
                guard let digit = peek(1 + sign), Self.isDigit(digit) else {
                    throw PredicateTextError("expected the digits of an exponent after '\(mark)'", at: position + 1)
                }
                position += 1 + sign
                skipDigits()
            }
        }
        if let next = peek(), Self.isNamePart(next) {
            throw PredicateTextError(
                "a name follows the number directly; put a space between them, or put both in quotes", at: position)
        }
        return text(from: start)
    }

    private mutating func skipDigits() { while let scalar = peek(), Self.isDigit(scalar) { position += 1 } }

    /// Returns the token of a sign that was already consumed.
    private mutating func sign(_ scalar: Unicode.Scalar, _ start: Int) throws(PredicateTextError) -> PredicateToken.Kind {
        switch scalar {
        case "(": return .openingParenthesis
        case ")": return .closingParenthesis
        case "{": return .openingBrace
        case "}": return .closingBrace
        case ",": return .comma
        case "'", "\"": return .string(try string(endingWith: scalar, start))
        case "%": return try placeholder(start)
        case "=":
            if take(">") { return .comparison(.greaterOrEqual) }
            if take("<") { return .comparison(.lessOrEqual) }
            _ = take("=")
            return .comparison(.equal)
        case "!": return take("=") ? .comparison(.notEqual) : .not
        case "<":
            if take(">") { return .comparison(.notEqual) }
            return .comparison(take("=") ? .lessOrEqual : .less)
        case ">": return .comparison(take("=") ? .greaterOrEqual : .greater)
        case "&":
            guard take("&") else { throw PredicateTextError("expected '&&', not a single '&'", at: start) }
            return .and
        case "|":
            guard take("|") else { throw PredicateTextError("expected '||', not a single '|'", at: start) }
            return .or
        case ".":
            // `SUBQUERY(…).@count`
            guard peek() == "@", peek(1).map(Self.isNameStart) == true else {
                throw PredicateTextError("'.' has no meaning here; put text in quotes", at: start)
            }
            position += 1
            return .word(".@" + (try keyPath()))
        case "$": return .variable(try nameBehindSign())
        case "#":
            let name = try nameBehindSign()
            guard !name.isEmpty else { throw PredicateTextError("expected the name of a field after '#'", at: position) }
            return .name(name)
        default: throw PredicateTextError("'\(scalar)' has no meaning here; put text in quotes", at: start)
        }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek() == scalar else { return false }
        position += 1
        return true
    }

    private mutating func nameBehindSign() throws(PredicateTextError) -> String {
        guard let scalar = peek(), Self.isNameStart(scalar) else { return "" }
        return try keyPath()
    }

    private mutating func placeholder(_ start: Int) throws(PredicateTextError) -> PredicateToken.Kind {
        if take("@") { return .valuePlaceholder("%@") }
        if take("K") { return .namePlaceholder }
        while let scalar = peek(), "hlqLjzt".unicodeScalars.contains(scalar) { position += 1 }
        if let scalar = peek(), "diuxXoOfFeEgGaAcCsS".unicodeScalars.contains(scalar) {
            position += 1
            return .valuePlaceholder(text(from: start))
        }
        if peek() == "%" {
            throw PredicateTextError("'%%' is not a placeholder; write a percent sign once, in quotes", at: start)
        }
        throw PredicateTextError("expected a placeholder such as %@, %d or %K after '%'", at: start)
    }

    private mutating func string(endingWith quote: Unicode.Scalar, _ start: Int) throws(PredicateTextError) -> String {
        var result = String.UnicodeScalarView()
        while let scalar = peek() {
            position += 1
            if scalar == quote { return String(result) }
            result.append(scalar == "\\" ? try escaped(start) : scalar)
        }
        throw PredicateTextError("the string has no closing \(quote)", at: start)
    }

    /// Returns the scalar of an escape sequence. Its backslash was already consumed.
    private mutating func escaped(_ start: Int) throws(PredicateTextError) -> Unicode.Scalar {
        let backslash = position - 1
        guard let scalar = peek() else { throw PredicateTextError("the string has no closing \(scalars[start])", at: start) }
        position += 1
        switch scalar {
        case "\\", "'", "\"": return scalar
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "0": return "\0"
        case "u": return try unicode(digits: 4, backslash)
        case "U": return try unicode(digits: 8, backslash)
        default:
            throw PredicateTextError(
                #"'\\#(scalar)' is not an escape; write a backslash in quotes twice"#, at: backslash)
        }
    }

    private mutating func unicode(digits count: Int, _ backslash: Int) throws(PredicateTextError) -> Unicode.Scalar {
        let start = position
        while position - start < count, let scalar = peek(), scalar.properties.isASCIIHexDigit { position += 1 }
        guard position - start == count, let code = UInt32(text(from: start), radix: 16), let scalar = Unicode.Scalar(code) else {
            throw PredicateTextError("the escape is not a Unicode scalar of \(count) hexadecimal digits", at: backslash)
        }
        return scalar
    }
}
