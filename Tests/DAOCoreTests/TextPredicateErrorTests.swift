import DAOCore
import DAOTestSupport
import Foundation
import Testing

@Suite("P6 · Errors in text state the position and what was expected")
struct TextPredicateErrorTests {
    typealias P = Condition<Sample>
    static let fields =
        "'sample' has no field '…'; it has: id, name, nick, age, level, big, score, ratio, price, isRead, flag, date, token, link, bytes, tags, like"

    private func problem(_ predicate: P) -> PredicateProblem? {
        guard case .invalid(let problem) = predicate.node else { return nil }
        return problem
    }

    private func check(_ predicate: P, _ position: Int, _ message: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(problem(predicate)?.message == message, sourceLocation: sourceLocation)
        #expect(problem(predicate)?.position == position, sourceLocation: sourceLocation)
    }

    @Test func syntaxErrorsAreReported() {
        check("", 0, "the predicate is empty; use TRUEPREDICATE to match every row")
        check("  \n ", 0, "the predicate is empty; use TRUEPREDICATE to match every row")
        check("age >", 5, "expected a field or a value after '>', but the text ends here")
        check("age > AND isRead == true", 6, "expected a field or a value after '>', not the keyword 'AND'")
        check("age > )", 6, "expected a field or a value after '>', not ')'")
        check("age", 3, "expected a comparison after 'age', such as ==, < or CONTAINS, but the text ends here")
        check("age 5", 4, "expected a comparison after 'age', such as ==, < or CONTAINS, not a number")
        check("age == 5 age == 6", 9, "expected AND, OR or the end, not 'age'")
        check("age == 5 AND", 12, "expected a field or a value, but the text ends here")
        check("AND age == 5", 0, "expected a field or a value, not the keyword 'AND'")
        check("NOT", 3, "expected a field or a value, but the text ends here")
        check("like == 5", 0, "expected a field or a value, not the keyword 'like'; write #like for the field of that name")
        check("(age == 5", 0, "the '(' has no closing ')'")
        check("isRead == true AND (age == 5", 19, "the '(' has no closing ')'")
        check("age == 5)", 8, "the ')' has no opening '('")
        check("()", 1, "expected a field or a value, not ')'")
        check("5 == 5", 0, "expected a field on one side of '=='")
        check("5 CONTAINS 'a'", 0, "expected a field before 'CONTAINS', not a number")
        check("age BETWEEN {1}", 4, "expected two values after 'BETWEEN', the smallest and the greatest, not 1")
        check("age IN 5", 7, "expected '{' or a placeholder for a list after 'IN', not a number")
        check("age IN {1, 2", 8 - 1, "the '{' has no closing '}'")
        check("age IN {1 2}", 10, "expected ',' or '}' in the list, not a number")
        check("age IN {1,}", 10, "expected a value in the list, not '}'")
        check("age IN {name}", 8, "expected a value in the list, not 'name'")
        check("name MATCHES 'a.*'", 5, "'MATCHES' needs regular expressions, which are not supported; use LIKE with * and ?")
        check("name CONTAINS nick", 14, "expected a string after 'CONTAINS', not 'nick'")
        check("name CONTAINS 5", 14, "expected a string after 'CONTAINS', not a number")
    }

    @Test func invalidCharactersAreReported() {
        check("name == 'abc", 8, "the string has no closing '")
        check("name == \"abc'", 8, "the string has no closing \"")
        check("name == 'abc\\", 8, "the string has no closing '")
        check(#"name == 'a\qb'"#, 10, #"'\q' is not an escape; write a backslash in quotes twice"#)
        check(#"name == '\u12'"#, 9, "the escape is not a Unicode scalar of 4 hexadecimal digits")
        check(#"name == '\uD800'"#, 9, "the escape is not a Unicode scalar of 4 hexadecimal digits")
        check("age ≥ 5", 4, "'≥' has no meaning here; put text in quotes")
        check("age > 5;", 7, "';' has no meaning here; put text in quotes")
        check("age & 5", 4, "expected '&&', not a single '&'")
        check("age > 5 | age < 2", 8, "expected '||', not a single '|'")
        check("age > 5x", 7, "a name follows the number directly; put a space between them, or put both in quotes")
        check("age > 0x", 8, "expected hexadecimal digits after '0x'")
        check("age > 1e", 8, "expected the digits of an exponent after 'e'")
        check("age > 5.", 7, "'.' has no meaning here; put text in quotes")
        check("age > -", 6, "'-' has no meaning here; put text in quotes")
        check("age > #", 7, "expected the name of a field after '#'")
        check("name ==[x] 'a'", 7, "the options are [c], [d] or [cd], not [x]")
        check("name ==[c 'a'", 7, "the '[' has no closing ']'")
        check("age <[c] 5", 5, "'<' takes no options; use [c] and [d] with text operators, ==, != and IN")
        check("age BETWEEN[c] {1, 2}", 11, "'BETWEEN' takes no options; use [c] and [d] with text operators, ==, != and IN")
        check("name == '👨‍👩‍👧é' AND ?", 17, "'?' has no meaning here; put text in quotes")
        check("age > %", 6, "expected a placeholder such as %@, %d or %K after '%'")
        check("age > %%", 6, "'%%' is not a placeholder; write a percent sign once, in quotes")
        check("age > %1$@", 6, "expected a placeholder such as %@, %d or %K after '%'")
    }

    @Test func unknownNamesAndWrongTypesAreReported() {
        func unknown(_ name: String) -> String { Self.fields.replacingOccurrences(of: "…", with: name) }
        check("agee > 5", 0, unknown("agee"))
        check("age > agee", 6, unknown("agee"))
        check("name == Bob", 8, unknown("Bob"))
        check("a.b == 5", 0, unknown("a.b"))
        check("Age > 5", 0, unknown("Age"))
        check("age == 5 AND (wrong == 5)", 14, unknown("wrong"))
        check(P("%K == 5", "wrong"), 0, unknown("wrong"))
        check("SELF == 5", 0, "'SELF' is not supported; use a field of 'sample'")
        check("ANY name == 'a'", 4, "expected a list of related rows, or an array, after 'ANY'")
        check("tags CONTAINS 5", 14, "'tags' is string and cannot be compared with a value of type integer")
        check("tags CONTAINS[c] 'a'", 13, "'CONTAINS' takes no options; use [c] and [d] with text operators, ==, != and IN")
        check("'a' IN name", 0, "expected a field before 'IN', or an array after it, not a string and 'name'")
        check("ANY tags == name", 12, "'sample' has no field 'name'; it has: tags")
        check("age > $LIMIT", 6, "variables such as '$LIMIT' are not supported; bind a value with %@")
        check("age > 'five'", 6, "'age' is int64 and cannot be compared with a value of type string")
        check("'five' < age", 0, "'age' is int64 and cannot be compared with a value of type string")
        check("isRead == 2", 10, "'isRead' is bool and cannot be compared with a value of type integer")
        check("age == true", 7, "'age' is int64 and cannot be compared with a value of type bool")
        check("age IN {1, 'x'}", 11, "'age' is int64 and cannot be compared with a value of type string")
        check("token == 'x'", 9, "'token' is uuid? and cannot be compared with a value of type string")
        check(P("age IN %@", ["x"]), 7, "'age' is int64 and cannot be compared with a value of type string")
        check(P("date > %@", 5), 7, "'date' is date? and cannot be compared with a value of type integer")
        check("age == name", 7, "'age' is int64 and 'name' is string, which cannot be compared")
        check("tags < tags", 5, "'tags' is embedded and cannot be compared by less")
        check("tags > 'a'", 5, "'tags' is embedded and cannot be compared by greater")
        check("tags BETWEEN {'a', 'b'}", 5, "'tags' is embedded and cannot be compared by less")
        check("age CONTAINS '5'", 4, "'age' is int64, and contains requires a text field")
        check("age ==[c] 5", 4, "'age' is int64, and equals requires a text field")
        check("name ==[c] nick", 11, "options cannot compare two fields; remove the options, or compare with a value")
        #expect(problem("agee > 5")?.field == "agee")
        #expect(problem("age > 'five'")?.field == "age")
    }

    @Test func wrongArgumentsAreReported() {
        check("age > %@", 6, "'%@' has no value, because no argument is given; give an argument for each placeholder")
        check(
            P("age > %@ AND age < %d", 5), 19,
            "'%d' has no value, because only 1 argument is given; give an argument for each placeholder")
        check(
            P("age IN {%@, %@, %@}", 5, 6), 16,
            "'%@' has no value, because only 2 arguments are given; give an argument for each placeholder")
        check(P("age > 5", 5), 7, "the text has 0 placeholders for 1 argument")
        check(P("age > %@", 5, 6, 7), 8, "the text has 1 placeholder for 3 arguments")
        check(P("%K == 5", 5), 0, "%K requires the name of a field; bind a string")
        check(P("%K == 5", nil), 0, "%K requires the name of a field; bind a string")
        check(P("age == %@", [1, 2]), 7, "'age' is int64 and cannot be compared with a list; bind a single value, or use IN")
        check(P("age IN %@", 5), 7, "'IN' requires a list, and the argument of '%@' is a single value; bind an array")
        check(P("age BETWEEN %@", [1, 2, 3]), 4, "expected two values after 'BETWEEN', the smallest and the greatest, not 3")
        check(P("name CONTAINS %@", nil), 14, "expected a string after 'CONTAINS', not '%@'")
        check(P("name CONTAINS %@", ["a"]), 14, "expected a string after 'CONTAINS', not '%@'")
    }

    @Test func errorHasEntityFieldAndPosition() throws {
        let error = try storageError { try P("age > 'five'").node.filter(for: Sample.schema.description) }
        #expect(error.kind == .invalidPredicate)
        #expect(error.entity == "sample")
        #expect(error.field == "age")
        #expect(error.position == 6)
        #expect(!error.description.contains("five"))
    }

    @Test func deepNestingIsRefused() {
        let depth = 100_000
        check(P(String(repeating: "(", count: depth)), 300, "the predicate nests more than 300 levels deep; nest it less")
        check(P(String(repeating: "NOT ", count: depth)), 1200, "the predicate nests more than 300 levels deep; nest it less")
        check(
            P(String(repeating: "!(", count: depth) + "age == 5"), 300,
            "the predicate nests more than 300 levels deep; nest it less")
        let deep = String(repeating: "(", count: 300) + "age == 5" + String(repeating: ")", count: 300)
        #expect(P(deep).node == P("age == 5").node)
        let alternating =
            String(repeating: "(age == 5 OR age == 6 AND ", count: 300) + "age == 5" + String(repeating: ")", count: 300)
        #expect(throws: Never.self) { try P(alternating).node.filter(for: Sample.schema.description) }
        let groups = Array(repeating: "NOT (age == 5)", count: 1000).joined(separator: " AND ")
        #expect(problem(P(groups)) == nil)
    }

    @Test func generatedTextsNeverTrap() {
        var random = SeededGenerator(seed: 6)
        let seeds = [
            "age > 5 AND (name CONTAINS[cd] 'x' OR NOT nick == nil)", "age BETWEEN {1, 0x2F} || score IN {1.5, -2e3, nil}",
            "%K == %@ AND name LIKE \"a*\\u00e9\"",
            "price >= 0.1 && big != 18446744073709551615 OR isRead = YES", "#like < age AND 'a' == name",
        ].map { Array($0.unicodeScalars) }
        let pieces = Array("(){}[]<>=!&|%@K$#'\"\\,.-_0x1e9 \n\t\0éß\u{301}\u{200D}😀aAND".unicodeScalars)
        var parsed = 0
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
                if problem.position == nil || problem.position ?? 0 > string.count {
                    Issue.record("no position in \(string.debugDescription)")
                }
            } else {
                parsed += 1
            }
        }
        #expect(parsed > 100)
    }
}
