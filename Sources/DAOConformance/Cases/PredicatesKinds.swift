import DAOCore
import Foundation

/// P3 and P7: every kind of field under every comparison, checked against the reference evaluator.
enum PredicatesKinds {
    static let cases: [ConformanceCase] = integers + unsigned + others

    private static let integers: [ConformanceCase] = [
        kind("P.kind.int", \.int, [.min, -1, 0, 1, 2, 10, .max]), kind("P.kind.int8", \.int8, [.min, -1, 0, 1, .max]),
        kind("P.kind.int16", \.int16, [.min, -256, -1, 0, 255, .max]),
        kind("P.kind.int32", \.int32, [.min, -65_536, 0, 65_535, .max]),
        kind("P.kind.int64", \.int64, [.min, -(1 << 53) - 1, -1, 0, (1 << 53) + 1, .max]),
        kind("P.kind.level", \.level, [.low, .none, .high]),
    ]

    private static let unsigned: [ConformanceCase] = [
        kind("P.kind.uint", \.uint, [0, 1, 1 << 62, 1 << 63, .max]), kind("P.kind.uint8", \.uint8, [0, 1, 127, 128, .max]),
        kind("P.kind.uint16", \.uint16, [0, 255, 256, .max]), kind("P.kind.uint32", \.uint32, [0, 1 << 31, .max]),
        kind("P.kind.uint64", \.uint64, [0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max]),
    ]

    private static let others: [ConformanceCase] = [
        kind("P.kind.bool", \.bool, [false, true]),
        kind("P.kind.float", \.float, [-.infinity, -1.5, 0, 0.1, 16_777_216, .greatestFiniteMagnitude, .infinity, .nan]),
        kind("P.kind.double", \.double, [-.infinity, -1.5, 0, .leastNonzeroMagnitude, 0.1, 1e300, .infinity, .nan]),
        kind("P.kind.decimal", \.decimal, [-100, -Decimal(1) / 4, 0, Decimal(1) / 10, 2, 10, 100]),
        kind("P.kind.string", \.string, ["", "10", "9", "Z", "a", "a\0", "e\u{301}", "f", "é", "\u{FFFD}", "\u{10000}"]),
        kind("P.kind.mood", \.mood, [.calm, .busy, .other, .empty]),
        kind(
            "P.kind.url", \.url,
            ["https://a.example/", "https://a.example/?q=%20", "mailto:x"].compactMap { URL(string: $0) }),
        kind("P.kind.data", \.data, [Data(), Data([0]), Data([0, 0]), Data([1]), Data([0x7F]), Data([0x80]), Data([0xFF])]),
        kind("P.kind.uuid", \.uuid, [uuid(0, 0), uuid(0, 1), uuid(0x7F, 0), uuid(0x80, 0), uuid(0xFF, 0xFF)]),
        kind(
            "P.kind.date", \.date,
            [-1e15, -1, 0, 0.1, 1e15].map { Date(timeIntervalSinceReferenceDate: $0) } + [.distantPast, .distantFuture]),
        kind("P.kind.duration", \.duration, Duration.hard),
        ConformanceCase("P.numbersBeyond", "P6", "P3", title: "a number in words that would become zero or infinite is refused") {
            context in
            let dao = try context.dao(Scalars.self)
            try dao.create([Scalars(id: 1, double: .infinity), Scalars(id: 2), Scalars(id: 3, double: 1e308)])
            for text in ["1e400", "-1e400", "1e-400"] {
                for comparison in ["==", "!=", "<=", ">"] {
                    let error = try expectError(.invalidPredicate, text, entity: "scalars", field: "double") {
                        try dao.read(predicatedBy: Condition("double \(comparison) \(text)"))
                    }
                    try expectEqual(error.position, 8 + comparison.utf8.count, "the position of \(error)")
                }
            }
            try expectEqual(
                try dao.read(predicatedBy: "double > .5 AND double <= 1e308 AND double >= 0e400").map(\.id), [3], "others")
        },
        ConformanceCase("P.kind.embedded", "P7", "V4", title: "embedded values are equal or not, and have no order") { context in
            let reference = try ReferenceRows(
                context, [Fold(id: 1, tags: ["a", "b"]), Fold(id: 2, tags: []), Fold(id: 3, tags: ["b", "a"])])
            try reference.check([1]) { $0.tags == ["a", "b"] }
            try reference.check([2]) { $0.tags == [] }
            try reference.check([1, 3]) { $0.tags != [] }
            try reference.check([2, 3]) { $0.tags.in([[], ["b", "a"]]) }
            try expectError(.invalidPredicate, "tags < 'x'", entity: "fold", field: "tags") {
                try reference.ids(.field("tags", .less, "x"))
            }
        },
    ]

    private static func uuid(_ first: UInt8, _ last: UInt8) -> UUID {
        UUID(uuid: (first, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, last))
    }

    /// A case that compares a field with each of its values and with nil, under every operator.
    private static func kind<Stored: FieldValue>(
        _ id: String, _ path: any WritableKeyPath<OptionalScalars, Stored?> & Sendable, _ values: [Stored]
    ) -> ConformanceCase {
        ConformanceCase(
            id, "P3", "P7", title: "\(Stored.self) fields compare by value, and nil is separate, under every operator"
        ) { context in
            var rows: [OptionalScalars] = []
            for value in values + values + [nil, nil] as [Stored?] {
                var row = OptionalScalars(id: rows.count + 1)
                row[keyPath: path] = value
                rows.append(row)
            }
            let reference = try ReferenceRows(context, rows)
            let entity = OptionalScalars.schema.description
            let field = try require(OptionalScalars.schema.index(of: path), "the field to be stored")
            let name = entity.fields[field].name
            for (position, value) in values.enumerated() {
                // Expected without the evaluator: the value is in the two rows that store it.
                try reference.check(
                    .field(name, .equal, value), [position + 1, position + 1 + values.count], "\(name) == value \(position)")
                for comparison in Comparison.allCases {
                    try reference.checkReference(
                        .field(name, comparison, value), "\(name) \(comparison.rawValue) value \(position)")
                }
                try reference.checkReference(.field(name, in: [value, values[0], nil, value]), "\(name) in a list")
                try reference.checkReference(
                    Condition<OptionalScalars>.field(name, .greaterOrEqual, values[0])
                        && Condition<OptionalScalars>.field(name, .lessOrEqual, value), "\(name) between")
            }
            for isAscending in [true, false] {
                try reference.checkReference(Query(orderedBy: [.by(name, ascending: isAscending)]), "sorting by \(name)")
            }
        }
    }
}

/// A model with a list of texts in a field.
struct Fold: Numbered {
    var id: Int
    var tags: [String]

    static let schema = Schema("fold", Self.init, Field("id", \.id, .primaryKey), Field("tags", \.tags))
}
