import Foundation

extension PredicateParser {

    /// An operand of a comparison.
    enum Operand {
        case field(Int)
        case value(Literal)
    }

    /// A value in the text before the field of the comparison is known.
    struct Literal {
        enum Form {
            /// A number as written in the text.
            case number(String)
            case value(Value)
            /// An argument with a list.
            case list(Value, [Value])
        }
        let form: Form
        /// The offset of the literal, in Unicode scalars.
        let start: Int
    }

    /// Parses a field or a value.
    ///
    /// - Parameter place: The preceding text for the error, such as " after '>'".
    mutating func operand(_ place: String) throws(PredicateTextError) -> (operand: Operand, token: PredicateToken) {
        let token = token
        let operand: Operand
        switch token.kind {
        case .namePlaceholder:
            try checkVariable()
            guard case .string(let name) = try argument().value else {
                throw PredicateTextError("%K requires the name of a field; bind a string", at: token.start)
            }
            operand = .field(try field(name, at: token.start))
        case .name(let name):
            try checkVariable()
            operand = .field(try field(name, at: token.start))
        case .word(let word): operand = try wordOperand(word, token, place)
        case .variable(let name):
            throw PredicateTextError("variables such as '$\(name)' are not supported; bind a value with %@", at: token.start)
        default: operand = .value(try literal("a field or a value\(place)"))
        }
        try advance()
        return (operand, token)
    }

    /// Parses the value of the current token. The token remains current.
    ///
    /// - Parameter what: A description of the expected value, for the error.
    mutating func literal(_ what: String) throws(PredicateTextError) -> Literal {
        switch token.kind {
        case .number(let text): return Literal(form: .number(text), start: token.start)
        case .string(let text): return Literal(form: .value(.string(text)), start: token.start)
        case .valuePlaceholder:
            let operand = try argument()
            return Literal(form: operand.list.map { .list(operand.value, $0) } ?? .value(operand.value), start: token.start)
        case .word:
            guard let value = keywordValue(token.keyword) else { throw .expected(what, at: token) }
            return Literal(form: .value(value), start: token.start)
        default: throw .expected(what, at: token)
        }
    }

    private func keywordValue(_ keyword: String) -> Value? {
        switch keyword {
        case "TRUE", "YES": .bool(true)
        case "FALSE", "NO": .bool(false)
        case "NIL", "NULL": .null
        default: nil
        }
    }

    /// Words that are operators. They are names only when they are written with `#`.
    private static let operatorWords: Set<String> = [
        "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "TRUEPREDICATE",
        "FALSEPREDICATE",
    ]

    /// Returns whether a word in upper case is a keyword, which is a name only when it is written with `#`.
    func isReserved(_ keyword: String) -> Bool { Self.operatorWords.contains(keyword) || keywordValue(keyword) != nil }

    private mutating func wordOperand(
        _ word: String, _ token: PredicateToken, _ place: String
    ) throws(PredicateTextError) -> Operand {
        let keyword = token.keyword
        if let value = keywordValue(keyword) { return .value(Literal(form: .value(value), start: token.start)) }
        if Self.operatorWords.contains(keyword) {
            let hint = entity.index(of: word) == nil ? "" : "; write #\(word) for the field of that name"
            throw PredicateTextError("expected a field or a value\(place), not the keyword '\(word)'\(hint)", at: token.start)
        }
        if let index = entity.index(of: word) {
            try checkVariable()
            return .field(index)
        }
        switch keyword {
        case "ANY", "ALL", "SOME", "NONE", "SUBQUERY":
            throw PredicateTextError(
                "'\(word)' begins a condition on related rows or on an array, and is not supported here", at: token.start)
        case "SELF":
            throw PredicateTextError("'\(word)' is not supported; use a field of '\(entity.name)'", at: token.start)
        default:
            try checkVariable()
            return .field(try field(word, at: token.start))
        }
    }

    private func field(_ name: String, at start: Int) throws(PredicateTextError) -> Int {
        if let index = entity.index(of: name) { return index }
        let problem = PredicateProblem.unknownField(name, in: entity)
        throw PredicateTextError(problem.message, field: name, at: start)
    }
}

extension PredicateParser {
    /// Returns a literal in the type of the field that it is compared with.
    func value(_ literal: Literal, for field: Int) throws(PredicateTextError) -> Value {
        let description = entity.fields[field]
        switch literal.form {
        case .number(let text):
            guard let number = Self.number(text, description.type.kind) else {
                throw PredicateTextError(
                    "\(text) is closer to zero, or farther from it, than any number of a field", field: description.name,
                    at: literal.start)
            }
            return try typed(number, description, literal.start)
        case .value(let value): return try typed(value, description, literal.start)
        case .list(let value, _):
            guard description.type.kind == .embedded else {
                throw PredicateTextError(
                    "'\(description.name)' is \(description.type) and cannot be compared with a list; bind a single value, or use IN",
                    field: description.name,
                    at: literal.start)
            }
            return value
        }
    }

    /// Returns a value in the type of a field, as in a typed condition. A value between two values of the
    /// field remains unchanged. A text is a date where the field is one.
    func typed(_ value: Value, _ field: FieldDescription, _ start: Int) throws(PredicateTextError) -> Value {
        if field.type.kind == .date, case .string(let text) = value {
            guard let date = Date(isoText: text) else {
                throw PredicateTextError(
                    "'\(field.name)' is a date; write one such as '2024-05-31' or '2024-05-31T18:30:00Z'", field: field.name,
                    at: start)
            }
            return .date(date)
        }
        return try located(start) { try DAOCore.Literal.typed(value, field, entity: entity.name) }
    }

    /// Runs a check of typed conditions and adds the position to its error.
    func located<Result>(_ start: Int, _ check: () throws -> Result) throws(PredicateTextError) -> Result {
        do {
            return try check()
        } catch {
            let error = error as? StorageError
            throw PredicateTextError(error?.message ?? "it cannot be understood", field: error?.field, at: start)
        }
    }

    /// Returns a number as written: exactly, wherever 64 bits or the digits of a decimal suffice; nil for one that would become
    /// zero or infinite.
    private static func number(_ text: String, _ kind: ValueKind) -> Value? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : text[...]
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            if let value = UInt64(digits.dropFirst(2), radix: 16) { return whole(value, isNegative) ?? .double(-Double(value)) }
            return Double(text).flatMap { $0.isFinite ? .double($0) : nil }
        }
        let isWhole = digits.utf8.allSatisfy { (48...57).contains($0) }
        if isWhole, let value = UInt64(digits), let number = whole(value, isNegative) { return number }
        if isWhole || kind == .decimal, let decimal = Decimal(string: text) { return .decimal(decimal) }
        // The zero before a point can be left out here.
        let decimal = digits.hasPrefix(".") ? (isNegative ? "-0" : "0") + digits : text
        return Double(strictText: decimal).map { .double($0.normalized) }
    }

    private static func whole(_ magnitude: UInt64, _ isNegative: Bool) -> Value? {
        if !isNegative { return magnitude.fieldValue }
        return Int64("-\(magnitude)").map(Value.integer)
    }
}
