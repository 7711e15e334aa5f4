import DAOCore
import Foundation
import Testing

@Suite("P6 · Bad text says what was expected, and where")
struct TextPredicateErrorTests {
    typealias P = Predicate<Sample>
    static let fields =
        "'sample' has no field '…'; it has: id, name, nick, age, level, big, score, ratio, price, isRead, flag, date, token, link, bytes, tags, like"

    private func problem(_ predicate: P) -> PredicateProblem? {
        guard case .invalid(let problem) = predicate.node else { return nil }
        return problem
    }

    private func check(_ rows: [(P, Int, String)], sourceLocation: SourceLocation = #_sourceLocation) {
        for (index, (predicate, position, message)) in rows.enumerated() {
            let problem = problem(predicate)
            #expect(problem?.message == message, "row \(index)", sourceLocation: sourceLocation)
            #expect(problem?.position == position, "row \(index): \(message)", sourceLocation: sourceLocation)
        }
    }

    @Test func structure() {
        check([
            ("", 0, "the predicate is empty: TRUEPREDICATE is every row"), ("  \n ", 0, "the predicate is empty: TRUEPREDICATE is every row"),
            ("age >", 5, "expected a field or a value after '>', but the text ends here"),
            ("age > AND isRead == true", 6, "expected a field or a value after '>', not the keyword 'AND'"),
            ("age > )", 6, "expected a field or a value after '>', not ')'"), ("age", 3, "expected a comparison after 'age', such as ==, < or CONTAINS, but the text ends here"),
            ("age 5", 4, "expected a comparison after 'age', such as ==, < or CONTAINS, not a number"),
            ("age == 5 age == 6", 9, "expected AND, OR or the end, not 'age'"), ("age == 5 AND", 12, "expected a field or a value, but the text ends here"),
            ("AND age == 5", 0, "expected a field or a value, not the keyword 'AND'"), ("NOT", 3, "expected a field or a value, but the text ends here"),
            ("like == 5", 0, "expected a field or a value, not the keyword 'like' (the field of that name is written #like)"),
            ("(age == 5", 0, "the '(' has no closing ')'"), ("isRead == true AND (age == 5", 19, "the '(' has no closing ')'"),
            ("age == 5)", 8, "the ')' closes nothing"), ("()", 1, "expected a field or a value, not ')'"),
            ("5 == 5", 0, "expected a field on one side of '=='"), ("5 CONTAINS 'a'", 0, "expected a field before 'CONTAINS', not a number"),
            ("age BETWEEN {1}", 4, "expected two values after 'BETWEEN', the least and the greatest, not 1"),
            ("age IN 5", 7, "expected '{' or a placeholder for a list after 'IN', not a number"), ("age IN {1, 2", 8 - 1, "the '{' has no closing '}'"),
            ("age IN {1 2}", 10, "expected ',' or '}' in the list, not a number"), ("age IN {1,}", 10, "expected a value in the list, not '}'"),
            ("age IN {name}", 8, "expected a value in the list, not 'name'"), ("name MATCHES 'a.*'", 5, "'MATCHES' is a regular expression to NSPredicate and is not supported: LIKE has * and ?"),
            ("name CONTAINS nick", 14, "expected a string after 'CONTAINS', not 'nick'"), ("name CONTAINS 5", 14, "expected a string after 'CONTAINS', not a number"),
        ])
    }

    @Test func characters() {
        check([
            ("name == 'abc", 8, "the string has no closing '"), ("name == \"abc'", 8, "the string has no closing \""), ("name == 'abc\\", 8, "the string has no closing '"),
            (#"name == 'a\qb'"#, 10, #"'\q' is not an escape: a backslash in quotes is written twice"#), (#"name == '\u12'"#, 9, "the escape is not a Unicode scalar of 4 hexadecimal digits"),
            (#"name == '\uD800'"#, 9, "the escape is not a Unicode scalar of 4 hexadecimal digits"), ("age ≥ 5", 4, "'≥' means nothing here: text belongs in quotes"),
            ("age > 5;", 7, "';' means nothing here: text belongs in quotes"), ("age & 5", 4, "expected '&&', not a single '&'"), ("age > 5 | age < 2", 8, "expected '||', not a single '|'"),
            ("age > 5x", 7, "a number goes over into a name: put a space between them, or quotes around both"), ("age > 0x", 8, "expected hexadecimal digits after '0x'"),
            ("age > 1e", 8, "expected the digits of an exponent after 'e'"), ("age > 5.", 7, "'.' means nothing here: text belongs in quotes"),
            ("age > -", 6, "'-' means nothing here: text belongs in quotes"), ("age > #", 7, "expected the name of a field after '#'"),
            ("name ==[x] 'a'", 7, "the options are [c], [d] or [cd], not [x]"), ("name ==[c 'a'", 7, "the '[' has no closing ']'"),
            ("age <[c] 5", 5, "'<' takes no options: [c] and [d] are for text operators, == and !="), ("age IN[c] {1}", 6, "'IN' takes no options: [c] and [d] are for text operators, == and !="),
            ("name == '👨‍👩‍👧é' AND ?", 17, "'?' means nothing here: text belongs in quotes"), ("age > %", 6, "expected a placeholder such as %@, %d or %K after '%'"),
            ("age > %%", 6, "a percent sign belongs in quotes, where it is written once"), ("age > %1$@", 6, "expected a placeholder such as %@, %d or %K after '%'"),
        ])
    }

    @Test func namesAndTypes() {
        func unknown(_ name: String) -> String { Self.fields.replacingOccurrences(of: "…", with: name) }
        check([
            ("agee > 5", 0, unknown("agee")), ("age > agee", 6, unknown("agee")), ("name == Bob", 8, unknown("Bob")), ("a.b == 5", 0, unknown("a.b")),
            ("Age > 5", 0, unknown("Age")), ("age == 5 AND (wrong == 5)", 14, unknown("wrong")), (P("%K == 5", "wrong"), 0, unknown("wrong")),
            ("SELF == 5", 0, "'SELF' is not supported: name a field of 'sample'"), ("ANY tags == 'a'", 0, "'ANY' reaches through a relationship, which text predicates do not do"),
            ("age > $LIMIT", 6, "variables such as '$LIMIT' are not supported: bind a value with %@"),
            ("age > 'five'", 6, "'age' is int64 and cannot be compared with a value of type string"), ("'five' < age", 0, "'age' is int64 and cannot be compared with a value of type string"),
            ("isRead == 2", 10, "'isRead' is bool and cannot be compared with a value of type integer"), ("age == true", 7, "'age' is int64 and cannot be compared with a value of type bool"),
            ("age IN {1, 'x'}", 11, "'age' is int64 and cannot be compared with a value of type string"), ("token == 'x'", 9, "'token' is uuid? and cannot be compared with a value of type string"),
            (P("age IN %@", ["x"]), 7, "'age' is int64 and cannot be compared with a value of type string"), (P("date > %@", 5), 7, "'date' is date? and cannot be compared with a value of type integer"),
            ("age == name", 7, "'age' is int64 and 'name' is string: they cannot be compared"), ("tags < tags", 5, "'tags' is embedded, which has no less"),
            ("tags > 'a'", 5, "'tags' is embedded, which has no greater"), ("tags BETWEEN {'a', 'b'}", 5, "'tags' is embedded, which has no less"),
            ("age CONTAINS '5'", 4, "'age' is int64: only text has contains"), ("age ==[c] 5", 4, "'age' is int64: only text has equals"),
            ("name ==[c] nick", 11, "options want a value to compare with, not a field"),
        ])
        #expect(problem("agee > 5")?.field == "agee")
        #expect(problem("age > 'five'")?.field == "age")
    }

    @Test func arguments() {
        check([
            ("age > %@", 6, "'%@' has no value: no argument is given"), (P("age > %@ AND age < %d", 5), 19, "'%d' has no value: only 1 argument is given"),
            (P("age IN {%@, %@, %@}", 5, 6), 16, "'%@' has no value: only 2 arguments are given"), (P("age > 5", 5), 7, "the text has 0 placeholders for 1 argument"),
            (P("age > %@", 5, 6, 7), 8, "the text has 1 placeholder for 3 arguments"), (P("%K == 5", 5), 0, "%K wants the name of a field, a string"),
            (P("%K == 5", nil), 0, "%K wants the name of a field, a string"), (P("age == %@", [1, 2]), 7, "'age' is int64 and is compared with one value, not a list"),
            (P("age IN %@", 5), 7, "'IN' wants a list, and the argument of '%@' is one value"), (P("age BETWEEN %@", [1, 2, 3]), 4, "expected two values after 'BETWEEN', the least and the greatest, not 3"),
            (P("name CONTAINS %@", nil), 14, "expected a string after 'CONTAINS', not '%@'"), (P("name CONTAINS %@", ["a"]), 14, "expected a string after 'CONTAINS', not '%@'"),
        ])
    }

    @Test func theErrorCarriesItAll() throws {
        let error = try storageError { try P("age > 'five'").node.filter(for: Sample.schema.description) }
        #expect(error.kind == .invalidPredicate)
        #expect(error.entity == "sample")
        #expect(error.field == "age")
        #expect(error.position == 6)
        #expect(!error.description.contains("five"))
    }

    @Test func nestingEndsBeforeTheStack() {
        let depth = 100_000
        check([
            (P(String(repeating: "(", count: depth)), 300, "the predicate nests more than 300 levels deep"),
            (P(String(repeating: "NOT ", count: depth)), 1200, "the predicate nests more than 300 levels deep"),
            (P(String(repeating: "!(", count: depth) + "age == 5"), 300, "the predicate nests more than 300 levels deep"),
        ])
        let deep = String(repeating: "(", count: 300) + "age == 5" + String(repeating: ")", count: 300)
        #expect(P(deep).node == P("age == 5").node)
        let alternating = String(repeating: "(age == 5 OR age == 6 AND ", count: 300) + "age == 5" + String(repeating: ")", count: 300)
        #expect(throws: Never.self) { try P(alternating).node.filter(for: Sample.schema.description) }
        let groups = Array(repeating: "NOT (age == 5)", count: 1000).joined(separator: " AND ")
        #expect(problem(P(groups)) == nil)
    }

    @Test func noTextTraps() {
        var random = SeededGenerator(seed: 6)
        let seeds = [
            "age > 5 AND (name CONTAINS[cd] 'x' OR NOT nick == nil)", "age BETWEEN {1, 0x2F} || score IN {1.5, -2e3, nil}", "%K == %@ AND name LIKE \"a*\\u00e9\"",
            "price >= 0.1 && big != 18446744073709551615 OR isRead = YES", "#like < age AND 'a' == name",
        ].map { Array($0.unicodeScalars) }
        let pieces = Array("(){}[]<>=!&|%@K$#'\"\\,.-_0x1e9 \n\t\0éß\u{301}\u{200D}😀aAND".unicodeScalars)
        var understood = 0
        for _ in 0..<100_000 {
            var scalars = seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let position = Int.random(in: 0...scalars.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: scalars.insert(pieces.randomElement(using: &random) ?? "(", at: position)
                case 1: if position < scalars.count { scalars.remove(at: position) }
                case 2: scalars = Array(scalars.prefix(position))
                default: scalars.insert(contentsOf: (seeds.randomElement(using: &random) ?? []).suffix(8), at: position)
                }
            }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            let string = String(text)
            if case .invalid(let problem) = P(string, "age", 5).node {
                if problem.position == nil || problem.position ?? 0 > string.count { Issue.record("no position in \(string.debugDescription)") }
            } else {
                understood += 1
            }
        }
        #expect(understood > 100)
    }
}
