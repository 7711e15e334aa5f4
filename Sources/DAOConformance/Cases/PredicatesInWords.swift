import DAOCore
import Foundation

/// P6: a text predicate gives the rows of the typed form.
enum PredicatesInWords {
    static let cases: [ConformanceCase] =
        [
            equal("P.words.comparisons", comparisons), equal("P.words.logic", logic), equal("P.words.lists", lists),
            equal("P.words.texts", texts), equal("P.words.literals", literals), equal("P.words.placeholders", placeholders),
            described,
        ] + others

    /// The description of a condition is a text predicate, where the language has words for its values and none is left out.
    private static let described = ConformanceCase(
        "P.words.described", "P6", title: "the description of a condition is a text predicate that gives its rows"
    ) { context in
        let reference = try ReferenceRows(context, Probe.random(150, seed: 41))
        for pair in logic() + texts() + lists() {
            let words = pair.typed.description
            if words.contains("…") || words.contains(" bytes>") { continue }
            try expectEqual(try reference.ids(Condition(words)), try reference.ids(pair.typed), words)
            try expectEqual(Condition<Probe>(words).description, words)
        }
        let nested = Condition<Probe> { ($0.number < 5 || $0.id >= 9) && ($0.text == nil || $0.flag == true) }
        try expectEqual(
            nested.description, "(number < 5 OR id >= 9) AND (text == nil OR flag == true)", "the brackets of a description")
        let single = Condition<Probe>(.and([.or([Condition<Probe> { $0.id == 1 }.node]), Condition<Probe> { $0.id == 2 }.node]))
        try expectEqual(single.description, "id == 1 AND id == 2", "no brackets around one condition")
        var query = Query<Probe>(orderedBy: [.descending(\.number)])
        try expectEqual(query.description, "probe, ordered by number descending")
        query = Query(where: Condition { $0.id > 2 && $0.id < 9 }, orderedBy: [.ascending(\.number)], limit: 3, offset: 1)
        try expectEqual(query.description, "probe where id > 2 AND id < 9, ordered by number, limit 3, offset 1")
        let page = try context.dao(Probe.self).page(limit: 3)
        query = Query()
        query.after = page.next
        try expectEqual(query.description, "probe, after a page")
    }

    private typealias Pair = (words: Condition<Probe>, typed: Condition<Probe>)

    private static func pair(_ words: Condition<Probe>, _ typed: Condition<Probe>) -> Pair { (words, typed) }

    private static func pair(
        _ words: Condition<Probe>, _ typed: (FieldProxy<Probe>) -> some ConditionConvertible<Probe>
    ) -> Pair { (words, Condition(typed)) }

    /// A case that reads by both forms and compares the results with each other and with the evaluator.
    private static func equal(_ id: String, _ pairs: @escaping @Sendable () -> [Pair]) -> ConformanceCase {
        ConformanceCase(id, "P6", title: "text predicates give the rows of the typed form") { context in
            let reference = try ReferenceRows(context, Probe.random(150, seed: 41))
            for (index, pair) in pairs().enumerated() {
                try expectEqual(try reference.ids(pair.words), try reference.ids(pair.typed), "pair \(index), \(pair.typed.node)")
                try reference.checkReference(pair.words, "pair \(index), \(pair.typed.node)")
            }
        }
    }

    @Sendable private static func comparisons() -> [Pair] {
        [
            pair("number == 5") { $0.number == 5 }, pair("number = 5") { $0.number == 5 },
            pair("numberIndexed != 5") { $0.numberIndexed != 5 },
            pair("number <> 5") { $0.number != 5 }, pair("numberIndexed < -3") { $0.numberIndexed < -3 },
            pair("number <= 5") { $0.number <= 5 },
            pair("number =< 5") { $0.number <= 5 }, pair("numberIndexed > 0") { $0.numberIndexed > 0 },
            pair("real >= 1.5") { $0.real >= 1.5 },
            pair("realIndexed => 1.5") { $0.realIndexed >= 1.5 }, pair("5 < number") { $0.number > 5 },
            pair("number == other") { $0.number == $0.other },
            pair("numberIndexed < other") { $0.numberIndexed < $0.other }, pair("text != otherText") { $0.text != $0.otherText },
        ]
    }

    @Sendable private static func logic() -> [Pair] {
        [
            pair("number > 1 AND number < 9 OR flag == YES") { ($0.number > 1 && $0.number < 9) || $0.flag },
            pair("number > 1 OR number < 9 AND flag == YES") { $0.number > 1 || ($0.number < 9 && $0.flag) },
            pair("(number > 1 OR number < -9) and flag == true") { ($0.number > 1 || $0.number < -9) && $0.flag },
            pair("NOT number == 5 && flag = false") { !($0.number == 5) && !$0.flag },
            pair("!(number > 0 || text == nil)") { !($0.number > 0 || $0.text == nil) },
            pair("TRUEPREDICATE", .all), pair("FALSEPREDICATE", .none),
            pair("not not numberIndexed > 0") { $0.numberIndexed > 0 },
        ]
    }

    @Sendable private static func lists() -> [Pair] {
        [
            pair("number IN {1, 2, 3, nil}") { $0.number.in([1, 2, 3, nil]) },
            pair("NOT numberIndexed IN {1, nil}") { !$0.numberIndexed.in([1, nil]) },
            pair("number IN {}") { $0.number.in([]) }, pair(Condition("id IN %@", [3, 1, 2])) { $0.id.in([1, 2, 3]) },
            pair(Condition("text in %@", ["a", "é"])) { $0.text.in(["a", "é"]) },
            pair("numberIndexed BETWEEN {-5, 5}") { $0.numberIndexed.between(-5, and: 5) },
            pair(Condition("number BETWEEN %@", [5, -5])) { $0.number.between(5, and: -5) },
            pair("NOT real BETWEEN {0, 1}") { !$0.real.between(0, and: 1) },
        ]
    }

    @Sendable private static func texts() -> [Pair] {
        [
            pair("text BEGINSWITH 'a'") { $0.text.hasPrefix("a") },
            pair("textIndexed ENDSWITH 'b'") { $0.textIndexed.hasSuffix("b") },
            pair("text CONTAINS '%'") { $0.text.contains("%") },
            pair("text CONTAINS[c] 'A'") { $0.text.contains("A", .caseInsensitive) },
            pair("text LIKE 'a*'") { $0.text.matches("a*") },
            pair("text LIKE[cd] 'E?'") { $0.text.matches("E?", [.caseInsensitive, .diacriticInsensitive]) },
            pair("text ==[c] 'ss'") { $0.text.equals("ss", .caseInsensitive) },
            pair("textIndexed !=[d] 'e'") { !$0.textIndexed.equals("e", .diacriticInsensitive) },
            pair("text == '\\'' OR text == \"\\\\\"") { $0.text == "'" || $0.text == "\\" },
        ]
    }

    @Sendable private static func literals() -> [Pair] {
        [
            pair("big == 18446744073709551615") { $0.big == .max }, pair("number == 0xF") { $0.number == 15 },
            pair("real == 1e300") { $0.real == 1e300 }, pair("real <= 250e-2") { $0.real <= 2.5 },
            pair("real > -1E+2 AND real < 1E+2") { $0.real > -100 && $0.real < 100 }, pair("amount == 5e-1") { $0.amount == 0.5 },
            pair("real < -1.5e0") { $0.real < -1.5 }, pair("amount == 12.25") { $0.amount == Decimal(1225) / 100 },
            pair("real < -.5 OR real >= .25") { $0.real < -0.5 || $0.real >= 0.25 },
            pair("text == nil") { $0.text == nil },
            pair("number != NULL") { $0.number != nil }, pair("flag == NO") { $0.flag == false },
            pair("number < 2.5") { $0.number < 3 },
            pair("number > 99999999999999999999", .none), pair("text == ''") { $0.text == "" },
        ]
    }

    @Sendable private static func placeholders() -> [Pair] {
        let missing: Int? = nil
        return [
            pair(Condition("number > %d AND flag == %@", 3, true)) { $0.number > 3 && $0.flag },
            pair(Condition("%K == %@", "number", 5)) { $0.number == 5 },
            pair(Condition("number == %@", missing)) { $0.number == nil }, pair(Condition("real > %f", 0.5)) { $0.real > 0.5 },
            pair(Condition("big >= %llu", UInt64.max)) { $0.big >= .max },
            pair(Condition("amount < %@", Decimal(5))) { $0.amount < 5 },
            pair(Condition("%K CONTAINS[c] %@", "text", "S")) { $0.text.contains("S", .caseInsensitive) },
            pair(Condition("number IN {%d, %d}", 4, 5)) { $0.number.in([4, 5]) },
        ]
    }

    private static let others: [ConformanceCase] = [
        ConformanceCase(
            "P.conditionsCompare", "P6",
            title: "conditions are equal when they say the same in the same order, however deep they differ"
        ) { _ in
            func nested(_ kind: Int, _ number: Int) -> Condition<Probe> {
                let leaf = PredicateNode.compare(field: 0, .less, .integer(Int64(number)))
                return switch kind {
                case 0: Condition(leaf)
                case 1: Condition(.not(leaf))
                case 2: Condition(.and([.constant(true), .not(.or([.constant(false), leaf]))]))
                default: Condition(.or([leaf, .not(.not(.and([leaf, .constant(true)])))]))
                }
            }
            func through(_ number: Int) -> [Condition<Topic>] {
                [
                    Condition { $0.posts.contains { $0.id == number } }, Condition { $0.posts.allSatisfy { $0.id == number } },
                    Condition { $0.owner.age == number },
                    Condition { $0.owner[Person.topics].contains { $0.title == "\(number)" } },
                ]
            }
            for (place, condition) in through(1).enumerated() {
                try expectEqual(through(1).map { $0 == condition }, (0..<4).map { $0 == place }, "equal to \(condition)")
                try expectEqual(
                    through(2).map { $0 == condition }, [false, false, false, false], "of another number: \(condition)")
            }
            for (kind, other) in (0..<4).flatMap({ kind in (0..<4).map { (kind, $0) } }) {
                for (number, otherNumber) in [(1, 1), (1, 2)] {
                    try expectEqual(
                        nested(kind, number) == nested(other, otherNumber), kind == other && number == otherNumber,
                        "whether \(nested(kind, number)) equals \(nested(other, otherNumber))")
                }
                if kind == other { try expectEqual(nested(kind, 1).hashValue, nested(kind, 1).hashValue, "the hash") }
            }
        },
        ConformanceCase(
            "P.words.bound", "P6", title: "arguments are never parsed: quotes, keywords and placeholders in them are text"
        ) { context in
            let reference = try ReferenceRows(context, Probe.texts(PredicatesTexts.hostile))
            for (index, text) in PredicatesTexts.hostile.enumerated() {
                for name in Probe.texts {
                    try reference.check(Condition("%K == %@", name, text), [index + 1], "\(name) == \(Dump.text(of: text))")
                    try reference.check(
                        Condition("%K IN %@ AND id > 0", name, [text]), [index + 1], "\(name) IN \(Dump.text(of: text))")
                }
            }
            try reference.check(Condition("text == %@", "' OR TRUEPREDICATE OR text == '"), [])
        },
        ConformanceCase("P.words.dates", "P6", title: "a date is written by the calendar, in UTC or with its zone") { context in
            let days = [nil, -0.5, 0, 0.25, 86_399, 86_400, 725_932_800, -62_000_000_000].map { seconds in
                seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
            }
            let rows = days.enumerated().map { OptionalScalars(id: $0, date: $1) }
            let reference = try ReferenceRows(context, rows)
            for (words, ids) in [
                ("date == '2001-01-01'", [2]), ("date = \"2001-01-01T00:00:00.25Z\"", [3]),
                ("date != '2001-01-01 00:00'", [0, 1, 3, 4, 5, 6, 7]),
                ("date > '2001-01-01T00:00:00Z'", [3, 4, 5, 6]), ("'2001-01-02' <= date", [5, 6]),
                ("date BETWEEN {'2001-01-01', '2001-01-01T23:59:59'}", [2, 3, 4]),
                ("date IN {'2001-01-02', nil}", [0, 5]), ("date == '2001-01-01T02:00:00+02:00'", [2]),
                ("date == '2000-12-31T17:00-07:00'", [2]), ("date == '2024-01-03'", [6]), ("date < '0037-01-01'", [7]),
                ("NOT date < '2024-02-29'", [0]), ("date == nil", [0]),
            ] { try reference.check(Condition(words), ids, words) }
            try reference.check(Condition("date >= %@", "2001-01-02"), [5, 6], "a bound text")
            for text in [
                "2001-02-29", "1900-02-29", "2001-13-01", "2001-00-01", "2001-01-00", "2001-1-1", "0000-01-01",
                "2001-01-01T24:00", "12:00",
                "2001-01-01T00:60", "2001-01-01T00:00:60Z", "2001-01-01Z", "2001-01-01T00:00:00+24:00", " 2001-01-01",
                "2001-01-01 ", "",
                "today", "٢٠٠١-٠١-٠١", "20010101", "2001-01-01T00:00:00,5Z",
            ] {
                let error = try expectError(.invalidPredicate, text, entity: "optionals", field: "date") {
                    try reference.ids(Condition("date > '\(text)'"))
                }
                try expectEqual(error.position, 7, "the position of \(error)")
                try expect(error.message.contains("'2024-05-31'"), "how a date is written, in '\(error.message)'")
            }
        },
        ConformanceCase("P.words.classic", "P6", title: "the classic operations take text predicates") { context in
            let dao = try context.dao(User.self)
            try dao.create(User.make(1000))
            try expectEqual(try dao.read(predicatedBy: "id > 6").map(\.id), Array(7...1000))
            try expectEqual(
                try dao.read(predicatedBy: "id > 990 AND age != 1005", orderedBy: "age", ascending: false).map(\.id),
                [1000, 999, 998, 997, 996, 994, 993, 992, 991])
            try expectEqual(try dao.count(predicatedBy: "name BEGINSWITH 'Name #99'"), 11)
            try expectEqual(try dao.erase(predicatedBy: "id < 6 OR id IN {8, 2000}"), 6)
            try expectEqual(try dao.count(), 994)
        },
        ConformanceCase(
            "P.words.mistakes", "P6", title: "invalid text is invalidPredicate with the position and what the parser expected"
        ) { context in
            let reference = try ReferenceRows(context, Probe.numbers([1]))
            let rows: [(condition: Condition<Probe>, position: Int, message: String)] = [
                ("number >", 8, "expected a field or a value after '>'"), ("numbre > 5", 0, "has no field 'numbre'"),
                ("number > 'x'", 9, "cannot be compared"),
                ("(number > 5", 0, "no closing ')'"), ("text == 'abc", 8, "no closing '"),
                ("number > 5 flag == true", 11, "expected AND, OR or the end"),
                (Condition("number > %@"), 9, "no argument"),
                (Condition("number > 5", 5), 10, "0 placeholders for 1 argument"), ("", 0, "empty"),
            ]
            let fields = ["numbre", "number"]
            for (index, (condition, position, message)) in rows.enumerated() {
                let field = (1...2).contains(index) ? fields[index - 1] : nil
                let error = try expectError(.invalidPredicate, message, entity: "probe", field: field) {
                    try reference.ids(condition)
                }
                try expectEqual(error.position, position, "the position of \(error)")
                try expect(error.message.contains(message), "'\(message)' in '\(error.message)'")
            }
        },
    ]
}
