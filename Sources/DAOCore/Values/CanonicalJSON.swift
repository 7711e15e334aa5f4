/// JSON of which equal values have one text: without spaces, object keys in the order of their UTF-8 bytes and once each,
/// strings with the fewest escapes, and numbers by value (contract V4).
package enum CanonicalJSON {

    /// Returns the canonical text of JSON; nil when the text is not JSON, or nests too deeply to be read.
    ///
    /// Of two members of an object with one key, the first one counts, as for Foundation's decoder.
    package static func text(_ json: String) -> String? {
        json.withBytes { bytes in
            if isPlainArray(bytes) { return json }
            var rewriting = Rewriting(bytes)
            guard rewriting.run() else { return nil }
            return rewriting.result.withUnsafeBytes { $0.order(against: bytes) == 0 }
                ? json : String(decoding: rewriting.result, as: UTF8.self)
        }
    }

    /// Whether the text is the canonical JSON of an array of plain strings or whole numbers, which applications store most.
    static func isPlainArray(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 2, bytes[0] == UInt8(ascii: "["), bytes[bytes.count - 1] == UInt8(ascii: "]") else { return false }
        let end = bytes.count - 1
        var position = 1
        if position == end { return true }
        while true {
            guard position < end else { return false }
            if bytes[position] == UInt8(ascii: "\"") {
                position += 1
                while position < end, bytes[position].isPlainInJSON { position += 1 }
                guard position < end, bytes[position] == UInt8(ascii: "\"") else { return false }
                position += 1
            } else {
                if bytes[position] == UInt8(ascii: "-") { position += 1 }
                let first = position
                while position < end, bytes[position].isDigit { position += 1 }
                // A zero stands alone, and has no sign. Longer numbers have another form.
                guard (1...40).contains(position - first),
                    bytes[first] != UInt8(ascii: "0") || position == first + 1 && bytes[first - 1] != UInt8(ascii: "-")
                else { return false }
            }
            if position == end { return true }
            guard bytes[position] == UInt8(ascii: ",") else { return false }
            position += 1
        }
    }

    /// Returns the canonical text of a finite number.
    static func number(_ number: Double) -> String {
        if let whole = Int64(exactly: number), whole.magnitude < 1 << 53 { return String(whole) }
        let text = number.description
        return text.utf8.contains(UInt8(ascii: "e"))
            ? self.number(text) ?? text : text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Returns the canonical text of a JSON number; nil when the text is none, or has an exponent beyond those of numbers.
    static func number(_ text: String) -> String? {
        var result: [UInt8] = []
        return text.withBytes { append(number: $0, to: &result) } ? String(decoding: result, as: UTF8.self) : nil
    }

    /// Appends the canonical form of a number.
    ///
    /// - Returns: False when the bytes are not a JSON number, or have an exponent beyond those of numbers.
    fileprivate static func append(number bytes: UnsafeRawBufferPointer, to result: inout [UInt8]) -> Bool {
        var position = 0
        func digits() -> Range<Int> {
            let start = position
            while position < bytes.count, bytes[position].isDigit { position += 1 }
            return start..<position
        }
        func skip(_ character: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }
        let isNegative = skip("-")
        let whole = digits()
        guard !whole.isEmpty, bytes[whole.lowerBound] != UInt8(ascii: "0") || whole.count == 1 else { return false }
        var fraction = 0..<0
        if skip(".") {
            fraction = digits()
            if fraction.isEmpty { return false }
        }
        var exponent = 0
        if skip("e") || skip("E") {
            let isBelow = skip("-")
            if !isBelow { _ = skip("+") }
            let power = digits()
            // No number of any type has a greater exponent, nor a text that is as long.
            guard !power.isEmpty, let value = Int(String(decoding: bytes[power], as: UTF8.self)), value < 1_000_000_000 else {
                return false
            }
            exponent = isBelow ? -value : value
        }
        guard position == bytes.count else { return false }
        // The number is 0.ddd with the point moved.
        var figures = Array(bytes[whole]) + bytes[fraction]
        var point = whole.count + exponent
        let zeros = figures.prefix { $0 == UInt8(ascii: "0") }.count
        figures.removeFirst(zeros)
        point -= zeros
        while figures.last == UInt8(ascii: "0") { figures.removeLast() }
        guard !figures.isEmpty else {
            result.append(UInt8(ascii: "0"))
            return true
        }
        if isNegative { result.append(UInt8(ascii: "-")) }
        let zero = UInt8(ascii: "0")
        if point >= figures.count, point <= 40 {
            result += figures
            result += repeatElement(zero, count: point - figures.count)
        } else if point > 0, point < figures.count {
            result += figures[..<point]
            result.append(UInt8(ascii: "."))
            result += figures[point...]
        } else if (-3...0).contains(point) {
            result += "0.".utf8
            result += repeatElement(zero, count: -point)
            result += figures
        } else {
            result.append(figures[0])
            if figures.count > 1 {
                result.append(UInt8(ascii: "."))
                result += figures[1...]
            }
            let power = point - 1
            result += (power < 0 ? "e-" : "e+").utf8
            if power.magnitude < 10 { result.append(zero) }
            result += String(power.magnitude).utf8
        }
        return true
    }

    /// Appends a string with its quotes and the escapes that it needs.
    static func append(_ text: String, to result: inout [UInt8]) {
        result.append(UInt8(ascii: "\""))
        append(inside: text, to: &result)
        result.append(UInt8(ascii: "\""))
    }

    /// Appends a part of a string with the escapes that it needs.
    static func append(inside text: String, to result: inout [UInt8]) {
        text.withBytes { bytes in
            if bytes.allSatisfy(\.isPlainInJSON) {
                result.append(contentsOf: bytes)
            } else {
                for byte in bytes { append(byte, to: &result) }
            }
        }
    }

    /// Appends a byte of a string.
    fileprivate static func append(_ byte: UInt8, to result: inout [UInt8]) {
        if byte.isPlainInJSON { return result.append(byte) }
        result.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): result.append(byte)
        case 0x08: result.append(UInt8(ascii: "b"))
        case 0x09: result.append(UInt8(ascii: "t"))
        case 0x0A: result.append(UInt8(ascii: "n"))
        case 0x0C: result.append(UInt8(ascii: "f"))
        case 0x0D: result.append(UInt8(ascii: "r"))
        default:
            let digits = Array("0123456789abcdef".utf8)
            result += "u00".utf8
            result += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
}

extension UInt8 {
    /// Whether the byte stands for itself in a JSON string.
    @inline(__always) var isPlainInJSON: Bool { self >= 0x20 && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\") }

    @inline(__always) fileprivate var isDigit: Bool { self >= 0x30 && self <= 0x39 }
}

/// Reads JSON and writes its canonical text. It does not recurse, so no text can overflow the stack.
private struct Rewriting {
    private struct Level {
        let isObject: Bool
        /// Where the members begin.
        let start: Int
        /// The members of an object: where the key ends, and where the member does.
        var members: [(start: Int, keyEnd: Int, end: Int)] = []
        /// Whether the keys ascend.
        var isInOrder = true
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var levels: [Level] = []
    private(set) var result: [UInt8] = []

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        result.reserveCapacity(bytes.count)
    }

    mutating func run() -> Bool {
        while true {
            // A value begins here.
            skipSpaces()
            guard position < bytes.count else { return false }
            switch bytes[position] {
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                let isObject = bytes[position] == UInt8(ascii: "{")
                guard levels.count < NestedJSON.maximumDepth else { return false }
                result.append(bytes[position])
                position += 1
                levels.append(Level(isObject: isObject, start: result.count))
                skipSpaces()
                if skip(isObject ? "}" : "]") {
                    close()
                } else {
                    if isObject, !key() { return false }
                    continue
                }
            case UInt8(ascii: "\""): if !string() { return false }
            case UInt8(ascii: "t"): if !word("true") { return false }
            case UInt8(ascii: "f"): if !word("false") { return false }
            case UInt8(ascii: "n"): if !word("null") { return false }
            default: if !number() { return false }
            }
            // A value has ended.
            while true {
                skipSpaces()
                guard let level = levels.last else { return position == bytes.count }
                if level.isObject { levels[levels.count - 1].members[level.members.count - 1].end = result.count }
                if skip(",") {
                    result.append(UInt8(ascii: ","))
                    if level.isObject {
                        skipSpaces()
                        if !key() { return false }
                    }
                    break
                }
                guard skip(level.isObject ? "}" : "]") else { return false }
                close()
            }
        }
    }

    private mutating func skipSpaces() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func word(_ word: StaticString) -> Bool {
        for offset in 0..<word.utf8CodeUnitCount {
            guard position < bytes.count, bytes[position] == word.utf8Start[offset] else { return false }
            result.append(bytes[position])
            position += 1
        }
        return true
    }

    private mutating func number() -> Bool {
        let start = position
        while position < bytes.count, bytes[position].isDigit || "+-.eE".utf8.contains(bytes[position]) { position += 1 }
        return CanonicalJSON.append(number: UnsafeRawBufferPointer(rebasing: bytes[start..<position]), to: &result)
    }

    private mutating func key() -> Bool {
        let start = result.count
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\""), string() else { return false }
        let end = result.count
        let last = levels.count - 1
        if let before = levels[last].members.last,
            !unescaped(before.start..<before.keyEnd).lexicographicallyPrecedes(unescaped(start..<end))
        {
            levels[last].isInOrder = false
        }
        levels[last].members.append((start, end, end))
        skipSpaces()
        guard skip(":") else { return false }
        result.append(UInt8(ascii: ":"))
        return true
    }

    private mutating func string() -> Bool {
        position += 1
        result.append(UInt8(ascii: "\""))
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                result.append(byte)
                return true
            case UInt8(ascii: "\\"): if !escape() { return false }
            case ..<0x20: return false
            default: result.append(byte)
            }
        }
        return false
    }

    private mutating func escape() -> Bool {
        guard position < bytes.count else { return false }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): CanonicalJSON.append(byte, to: &result)
        case UInt8(ascii: "b"): CanonicalJSON.append(0x08, to: &result)
        case UInt8(ascii: "f"): CanonicalJSON.append(0x0C, to: &result)
        case UInt8(ascii: "n"): CanonicalJSON.append(0x0A, to: &result)
        case UInt8(ascii: "r"): CanonicalJSON.append(0x0D, to: &result)
        case UInt8(ascii: "t"): CanonicalJSON.append(0x09, to: &result)
        case UInt8(ascii: "u"):
            guard var code = unit() else { return false }
            if (0xD800..<0xDC00).contains(code) {
                guard skip("\\"), skip("u"), let low = unit(), (0xDC00..<0xE000).contains(low) else { return false }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { return false }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { CanonicalJSON.append(byte, to: &result) }
        default: return false
        }
        return true
    }

    /// The four hexadecimal digits of an escape.
    private mutating func unit() -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var code: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): code = code << 4 | UInt32(byte - 0x30)
            case UInt8(ascii: "a")...UInt8(ascii: "f"): code = code << 4 | UInt32(byte - 0x61 + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): code = code << 4 | UInt32(byte - 0x41 + 10)
            default: return nil
            }
        }
        position += 4
        return code
    }

    /// Ends the innermost array or object. The members of an object are put in order.
    private mutating func close() {
        let level = levels.removeLast()
        if !level.isInOrder {
            let order = level.members.enumerated().map { (number: $0, key: unescaped($1.start..<$1.keyEnd)) }.sorted {
                $0.key == $1.key ? $0.number < $1.number : $0.key.lexicographicallyPrecedes($1.key)
            }
            var members: [UInt8] = []
            members.reserveCapacity(result.count - level.start)
            for (place, (number, key)) in order.enumerated() where place == 0 || order[place - 1].key != key {
                if place > 0 { members.append(UInt8(ascii: ",")) }
                members += result[level.members[number].start..<level.members[number].end]
            }
            result.replaceSubrange(level.start..., with: members)
        }
        result.append(level.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }

    /// The bytes of a canonical string, by which keys are ordered.
    private func unescaped(_ string: Range<Int>) -> [UInt8] {
        let inner = result[(string.lowerBound + 1)..<(string.upperBound - 1)]
        guard inner.contains(UInt8(ascii: "\\")) else { return Array(inner) }
        var text: [UInt8] = []
        var index = inner.startIndex
        while index < inner.endIndex {
            var byte = inner[index]
            index += 1
            if byte == UInt8(ascii: "\\") {
                byte = inner[index]
                index += 1
                switch byte {
                case UInt8(ascii: "b"): byte = 0x08
                case UInt8(ascii: "t"): byte = 0x09
                case UInt8(ascii: "n"): byte = 0x0A
                case UInt8(ascii: "f"): byte = 0x0C
                case UInt8(ascii: "r"): byte = 0x0D
                case UInt8(ascii: "u"):
                    // Of control characters, with two digits that count.
                    byte = UInt8(String(decoding: inner[(index + 2)..<(index + 4)], as: UTF8.self), radix: 16) ?? 0
                    index += 4
                default: break
                }
            }
            text.append(byte)
        }
        return text
    }
}
