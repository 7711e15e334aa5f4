extension PredicateParser {

    /// Parses a comparison of the fields of a row, or a constant. Afterwards the current token is the token
    /// after it.
    mutating func comparison() throws(PredicateTextError) -> PredicateNode {
        if token.keyword == "TRUEPREDICATE" || token.keyword == "FALSEPREDICATE" {
            let isTrue = token.keyword == "TRUEPREDICATE"
            try advance()
            return .constant(isTrue)
        }
        let (left, leftToken) = try operand("")
        let sign = token
        if case .comparison(let comparison) = sign.kind { return try compared(left, leftToken, comparison, sign) }
        switch sign.keyword {
        case "CONTAINS": return try text(left, leftToken, .contains)
        case "BEGINSWITH": return try text(left, leftToken, .hasPrefix)
        case "ENDSWITH": return try text(left, leftToken, .hasSuffix)
        case "LIKE": return try text(left, leftToken, .matches)
        case "MATCHES":
            throw PredicateTextError(
                "'\(sign.source)' needs regular expressions, which are not supported; use LIKE with * and ?", at: sign.start)
        case "IN": return try contained(left, leftToken)
        case "BETWEEN": return try between(left, leftToken)
        default:
            throw .expected("a comparison after \(leftToken.name), such as ==, < or CONTAINS", at: sign)
        }
    }

    private func field(_ operand: Operand, _ operandToken: PredicateToken, _ name: String) throws(PredicateTextError) -> Int {
        guard case .field(let field) = operand else {
            throw PredicateTextError("expected a field before '\(name)', not \(operandToken.name)", at: operandToken.start)
        }
        return field
    }

    private mutating func compared(
        _ left: Operand, _ leftToken: PredicateToken, _ comparison: Comparison, _ sign: PredicateToken
    ) throws(PredicateTextError) -> PredicateNode {
        let isEquality = comparison == .equal || comparison == .notEqual
        let options = try options(allowedFor: isEquality ? sign.source : nil)
        if options == nil, case .field(let field) = left, let node = try acrossHop(field, comparison, sign) { return node }
        let (right, rightToken) = try operand(" after '\(sign.source)'")
        switch (left, right) {
        case (.field(let field), .value(let literal)):
            return try compared(field, comparison, literal, sign, options)
        case (.value(let literal), .field(let field)):
            return try compared(field, comparison.mirrored, literal, sign, options)
        case (.field(let left), .field(let right)):
            if options != nil {
                throw PredicateTextError(
                    "options cannot compare two fields; remove the options, or compare with a value", at: rightToken.start)
            }
            try located(rightToken.start) {
                try DAOCore.Literal.checkComparable(entity.fields[left], entity.fields[right], entity: entity.name)
            }
            try located(sign.start) { try DAOCore.Literal.checkOrder(comparison, entity.fields[left], entity: entity.name) }
            return .compareFields(left, comparison, right)
        default:
            throw PredicateTextError("expected a field on one side of '\(sign.source)'", at: leftToken.start)
        }
    }

    private func compared(
        _ field: Int, _ comparison: Comparison, _ literal: Literal, _ sign: PredicateToken, _ options: TextOptions?
    ) throws(PredicateTextError) -> PredicateNode {
        try located(sign.start) { try DAOCore.Literal.checkOrder(comparison, entity.fields[field], entity: entity.name) }
        if options != nil {
            try located(sign.start) { try DAOCore.Literal.checkText(.equals, entity.fields[field], entity: entity.name) }
        }
        let value = try value(literal, for: field)
        guard let options, case .string(let text) = value else { return .compare(field: field, comparison, value) }
        let node = PredicateNode.text(field: field, .equals, text, options)
        return comparison == .equal ? node : .not(node)
    }

    private mutating func text(
        _ left: Operand, _ leftToken: PredicateToken, _ match: TextMatch
    ) throws(PredicateTextError) -> PredicateNode {
        let sign = token
        let field = try field(left, leftToken, sign.source)
        if match == .contains, let element = elementType(of: field) {
            _ = try options(allowedFor: nil)
            let literal = try literal("a value after '\(sign.source)'")
            try advance()
            return try array(in: field, of: element, contains: literal)
        }
        try located(sign.start) { try DAOCore.Literal.checkText(match, entity.fields[field], entity: entity.name) }
        let options = try options(allowedFor: sign.source) ?? []
        let literal = try literal("a string after '\(sign.source)'")
        guard case .value(.string(let pattern)) = literal.form else {
            throw .expected("a string after '\(sign.source)'", at: token)
        }
        try advance()
        return .text(field: field, match, pattern, options)
    }

    private mutating func contained(_ left: Operand, _ leftToken: PredicateToken) throws(PredicateTextError) -> PredicateNode {
        let name = token.source
        if case .value(let literal) = left {
            _ = try options(allowedFor: nil)
            let (right, rightToken) = try operand(" after '\(name)'")
            guard case .field(let field) = right, let element = elementType(of: field) else {
                throw PredicateTextError(
                    "expected a field before '\(name)', or an array after it, not \(leftToken.name) and \(rightToken.name)",
                    at: leftToken.start)
            }
            return try array(in: field, of: element, contains: literal)
        }
        let field = try field(left, leftToken, name)
        let start = token.start
        let options = try options(allowedFor: name)
        if options != nil {
            try located(start) { try DAOCore.Literal.checkText(.equals, entity.fields[field], entity: entity.name) }
        }
        let values = try values(of: field, behind: name)
        guard let options else { return .isIn(field: field, values) }
        return .or(
            values.map { value in
                if case .string(let text) = value { return .text(field: field, .equals, text, options) }
                return .compare(field: field, .equal, value)
            })
    }

    private mutating func between(_ left: Operand, _ leftToken: PredicateToken) throws(PredicateTextError) -> PredicateNode {
        let sign = token
        let field = try field(left, leftToken, sign.source)
        try located(sign.start) { try DAOCore.Literal.checkOrder(.less, entity.fields[field], entity: entity.name) }
        let bounds = try list(of: field, behind: sign.source)
        guard bounds.count == 2 else {
            throw PredicateTextError(
                "expected two values after '\(sign.source)', the smallest and the greatest, not \(bounds.count)", at: sign.start)
        }
        return .and([.compare(field: field, .greaterOrEqual, bounds[0]), .compare(field: field, .lessOrEqual, bounds[1])])
    }

    /// Parses the values in braces, or of a placeholder, after the operator that is the current token.
    mutating func list(of field: Int, behind name: String) throws(PredicateTextError) -> [Value] {
        _ = try options(allowedFor: nil)
        return try values(of: field, behind: name)
    }

    /// Parses the values in braces, or of a placeholder, that begin with the current token.
    private mutating func values(of field: Int, behind name: String) throws(PredicateTextError) -> [Value] {
        if case .valuePlaceholder = token.kind {
            let start = token.start
            guard let values = try argument().list else {
                throw PredicateTextError(
                    "'\(name)' requires a list, and the argument of '\(token.source)' is a single value; bind an array", at: start
                )
            }
            try advance()
            var typedValues: [Value] = []
            typedValues.reserveCapacity(values.count)
            for value in values { typedValues.append(try typed(value, entity.fields[field], start)) }
            return typedValues
        }
        guard token.kind == .openingBrace else { throw .expected("'{' or a placeholder for a list after '\(name)'", at: token) }
        let brace = token.start
        try advance()
        var values: [Value] = []
        if token.kind == .closingBrace {
            try advance()
            return values
        }
        while true {
            values.append(try value(literal("a value in the list"), for: field))
            try advance()
            switch token.kind {
            case .comma: try advance()
            case .closingBrace:
                try advance()
                return values
            case .end: throw PredicateTextError("the '{' has no closing '}'", at: brace)
            default: throw .expected("',' or '}' in the list", at: token)
            }
        }
    }
}
