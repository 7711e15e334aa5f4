import DAOCore
import Foundation
import Testing

@Suite("P6 · Text predicates and typed conditions have the same tree")
struct TextPredicateTests {
    typealias P = Condition<Sample>

    private func check(_ text: P, _ typed: P, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(text.node == typed.node, sourceLocation: sourceLocation)
    }

    @Test func comparisonsMatchTheTypedForm() {
        check("age == 5", P { $0.age == 5 })
        check("age = 5", P { $0.age == 5 })
        check("age != 5", P { $0.age != 5 })
        check("age <> 5", P { $0.age != 5 })
        check("age < 5", P { $0.age < 5 })
        check("age <= 5", P { $0.age <= 5 })
        check("age =< 5", P { $0.age <= 5 })
        check("age > 5", P { $0.age > 5 })
        check("age >= 5", P { $0.age >= 5 })
        check("age => 5", P { $0.age >= 5 })
        check("age>5", P { $0.age > 5 })
        check("  age\n>\t5  ", P { $0.age > 5 })
        check("5 < age", P { $0.age > 5 })
        check("5 >= age", P { $0.age <= 5 })
        check("5 == age", P { $0.age == 5 })
        check("age == #like", P { $0.age == $0.like })
        check("#age < #like", P { $0.age < $0.like })
        check("name != name", P { $0.name != $0.name })
    }

    @Test func logicalOperatorsMatchTheTypedForm() {
        check("age > 1 AND age < 9 OR isRead == YES", P { ($0.age > 1 && $0.age < 9) || $0.isRead == true })
        check("age > 1 OR age < 9 AND isRead == YES", P { $0.age > 1 || ($0.age < 9 && $0.isRead == true) })
        check("(age > 1 OR age < 9) AND isRead == YES", P { ($0.age > 1 || $0.age < 9) && $0.isRead == true })
        check("age > 1 && age < 9 || isRead == true", P { ($0.age > 1 && $0.age < 9) || $0.isRead == true })
        check("age > 1 and age < 2 And age < 3 aNd age < 4", P { $0.age > 1 && $0.age < 2 && $0.age < 3 && $0.age < 4 })
        check("age > 1 AND (age < 2 AND age < 3)", P { $0.age > 1 && ($0.age < 2 && $0.age < 3) })
        check("(age > 1 AND age < 2) AND age < 3", P { $0.age > 1 && $0.age < 2 && $0.age < 3 })
        check("age > 1 OR age < 2 OR age < 3", P { $0.age > 1 || $0.age < 2 || $0.age < 3 })
        check("NOT age == 5", P { !($0.age == 5) })
        check("!age == 5", P { !($0.age == 5) })
        check("!(age == 5)", P { !($0.age == 5) })
        check("NOT NOT age == 5", P { !(!($0.age == 5)) })
        check("NOT age == 5 AND age == 6", P { !($0.age == 5) && $0.age == 6 })
        check("NOT (age == 5 AND age == 6)", P { !($0.age == 5 && $0.age == 6) })
        check("not(age == 5) or not(age == 6)", P { !($0.age == 5) || !($0.age == 6) })
        check("((((age == 5))))", P { $0.age == 5 })
        check("TRUEPREDICATE", .all)
        check("FALSEPREDICATE", .none)
        check("truepredicate", .all)
        check("TRUEPREDICATE AND age == 5", P.all && P { $0.age == 5 })
    }

    @Test func inAndBetweenMatchTheTypedForm() {
        check("age IN {1, 2, 3}", P { $0.age.in([1, 2, 3]) })
        check("age in {}", P { $0.age.in([]) })
        check("level IN {1, nil}", P { $0.level.in([1, nil]) })
        check(P("age IN %@", [1, 2]), P { $0.age.in([1, 2]) })
        check(P("age IN %@", [Int]()), P { $0.age.in([]) })
        check(P("level IN %@", [Int8?.some(1), nil]), P { $0.level.in([1, nil]) })
        check(P("age IN %@", [1, 2, 3][1...]), P { $0.age.in([2, 3]) })
        check(P("age IN %@", Set([7])), P { $0.age.in([7]) })
        check(P("age IN {%d, %@}", 1, 2), P { $0.age.in([1, 2]) })
        check(P("token IN %@", [UUID.zero]), P { $0.token.in([UUID.zero]) })
        check("age BETWEEN {1, 5}", P { $0.age.between(1, and: 5) })
        check(P("age BETWEEN %@", [1, 5]), P { $0.age.between(1, and: 5) })
        check(P("age BETWEEN {%@, %@}", 5, 1), P { $0.age.between(5, and: 1) })
        check("age BETWEEN {1, 5} AND isRead == YES", P { $0.age.between(1, and: 5) && $0.isRead == true })
        check("name IN {'a', \"b\"}", P { $0.name.in(["a", "b"]) })
    }

    @Test func textOperatorsMatchTheTypedForm() {
        check("name BEGINSWITH 'a'", P { $0.name.hasPrefix("a") })
        check("name endswith 'a'", P { $0.name.hasSuffix("a") })
        check("name CONTAINS 'a'", P { $0.name.contains("a") })
        check("name LIKE 'a*?'", P { $0.name.matches("a*?") })
        check("name CONTAINS[c] 'a'", P { $0.name.contains("a", .caseInsensitive) })
        check("name CONTAINS[d]'a'", P { $0.name.contains("a", .diacriticInsensitive) })
        check("name CONTAINS [cd] 'a'", P { $0.name.contains("a", [.caseInsensitive, .diacriticInsensitive]) })
        check("name LIKE[DC] 'a'", P { $0.name.matches("a", [.caseInsensitive, .diacriticInsensitive]) })
        check("name ==[c] 'a'", P { $0.name.equals("a", .caseInsensitive) })
        check("'a' =[cd] name", P { $0.name.equals("a", [.caseInsensitive, .diacriticInsensitive]) })
        check("name !=[c] 'a'", P { !$0.name.equals("a", .caseInsensitive) })
        check("nick ==[c] nil", P { $0.nick == nil })
        check("link CONTAINS 'x'", P { $0.link.contains("x") })
        check(P("nick BEGINSWITH %@", "x"), P { $0.nick.hasPrefix("x") })
    }

    @Test func literalsHaveTheTypeOfTheirField() throws {
        let price = try decimal("0.1234567890123456789012345678901234567")
        check("age == -5", P { $0.age == -5 })
        check("age == 0x1F", P { $0.age == 31 })
        check("age == -0xF", P { $0.age == -15 })
        check("age == 9223372036854775807", P { $0.age == .max })
        check("age == -9223372036854775808", P { $0.age == .min })
        check("big == 18446744073709551615", P { $0.big == .max })
        check("big == 0xFFFFFFFFFFFFFFFF", P { $0.big == .max })
        check("score == 0x1FFFFFFFFFFFFFFFF", P { $0.score == 36_893_488_147_419_103_232 })
        check("score == 1.5", P { $0.score == 1.5 })
        check("score == .5", P { $0.score == 0.5 })
        check("score == -.5", P { $0.score == -0.5 })
        check("score == 1e3", P { $0.score == 1000 })
        check("score == 1.5E-3", P { $0.score == 0.0015 })
        check("score == 2e+2", P { $0.score == 200 })
        check("score == 7", P { $0.score == 7 })
        check("ratio == 0.1", P { $0.ratio == 0.1 })
        check("price == 0.1", P { $0.price == Decimal(string: "0.1") })
        check("price == 0.1234567890123456789012345678901234567", P { $0.price == price })
        check("isRead == true", P { $0.isRead == true })
        check("isRead == NO", P { $0.isRead == false })
        check("isRead == 1", P { $0.isRead == true })
        check("isRead == yes", P { $0.isRead == true })
        check("isRead == False", P { $0.isRead == false })
        check("nick == nil", P { $0.nick == nil })
        check("nick != NULL", P { $0.nick != nil })
        check("nil == nick", P { $0.nick == nil })
        check("token == '00000000-0000-0000-0000-000000000000'", P { $0.token == UUID.zero })
        #expect(
            P("age == 18446744073709551616").node == .compare(field: 3, .equal, .decimal(try decimal("18446744073709551616"))))
    }

    @Test func stringEscapesAreDecoded() {
        let rows: [(String, String)] = [
            (#"'plain'"#, "plain"), (#""double""#, "double"), (#"''"#, ""), (#"'say "x"'"#, "say \"x\""), (#""it's""#, "it's"),
            (#"'it\'s'"#, "it's"), (#""a\"b""#, "a\"b"), (#"'back\\slash'"#, "back\\slash"),
            (#"'a\nb\tc\rd\0e'"#, "a\nb\tc\rd\0e"),
            (#"'\u00e9'"#, "é"), (#"'\U0001F600'"#, "😀"), (#"'100%'"#, "100%"), (#"'%@ %d %K'"#, "%@ %d %K"),
            (#"'[cd] (x) {y} $z #w'"#, "[cd] (x) {y} $z #w"),
            ("'\u{301}x'", "\u{301}x"), ("'e\u{301}'", "e\u{301}"), ("'a\r\nb'", "a\r\nb"), ("'👨‍👩‍👧'", "👨‍👩‍👧"), ("'AND'", "AND"),
        ]
        for (source, expected) in rows {
            guard case .compare(_, .equal, .string(let text)) = P("name == \(source)" as String).node else {
                Issue.record("\(source) gave \(P("name == \(source)" as String).node)")
                continue
            }
            #expect(Array(text.utf8) == Array(expected.utf8), "\(source)")
        }
    }

    @Test(arguments: ["O'Brien", "\"", "100%", "%@", "%K", "a[b]c", "' OR TRUEPREDICATE OR '", "{1}", "\\", "*?", "\0", ""])
    func boundTextIsNotParsed(_ text: String) {
        #expect(P("name == %@", text).node == P { $0.name == text }.node)
        #expect(P("name CONTAINS %@ AND age > %d", text, 3).node == P { $0.name.contains(text) && $0.age > 3 }.node)
    }

    @Test func placeholdersTakeArgumentsInOrder() {
        let date = Date(timeIntervalSinceReferenceDate: 1)
        let missing: String? = nil
        check(P("isRead == %@ AND date > %@", false, date), P { $0.isRead == false && $0.date > date })
        check(
            P("age > %d AND age > %i AND age > %ld AND age > %lld", 1, 2, 3, 4),
            P { $0.age > 1 && $0.age > 2 && $0.age > 3 && $0.age > 4 })
        check(
            P("big > %u AND big > %lu AND big > %llu", 1, UInt8(2), UInt64.max), P { $0.big > 1 && $0.big > 2 && $0.big > .max })
        check(
            P("score > %f AND score > %lf AND score > %g", 1.5, 2.5, Float(3.5)),
            P { $0.score > 1.5 && $0.score > 2.5 && $0.score > 3.5 })
        check(P("%K == %@", "age", 5), P { $0.age == 5 })
        check(P("%K == %K", "age", "like"), P { $0.age == $0.like })
        check(P("%@ < %K", 5, "age"), P { $0.age > 5 })
        check(P("%K CONTAINS[c] %@", "name", "x"), P { $0.name.contains("x", .caseInsensitive) })
        check(P("nick == %@", nil), P { $0.nick == nil })
        check(P("nick == %@", missing), P { $0.nick == nil })
        check(P("tags == %@", ["a", "b"]), P { $0.tags == ["a", "b"] })
        check(P("link == %@", URL.here), P { $0.link == URL.here })
        check(P("bytes == %@", Data([1])), P { $0.bytes == Data([1]) })
        check(P("price == %@", Decimal(5)), P { $0.price == 5 })
    }

    @Test func textIsParsedWithoutASwiftType() {
        let entity = EntityDescription(
            name: "place",
            fields: [
                FieldDescription(name: "id", type: FieldType(.int64), isPrimaryKey: true),
                FieldDescription(name: "größe", type: FieldType(.double)),
            ])
        #expect(PredicateNode.parse("größe >= %@", [1.5], for: entity) == .compare(field: 1, .greaterOrEqual, .double(1.5)))
    }

    @Test func longChainsAreOneLevel() throws {
        let text = Array(repeating: "age == 1", count: 20_000).joined(separator: " OR ")
        guard case .or(let nodes) = P(text).node else { throw Unexpected(description: "not a chain") }
        #expect(nodes.count == 20_000)
        let typed = (0..<2_000).reduce(P.none) { chain, number in chain || P { $0.age == number } }
        #expect(try typed.node.filter(for: Sample.schema.description) != .none)
    }
}

extension UUID { static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
extension URL { static let here = URL(fileURLWithPath: "/here") }
