import DAOCore
import DAOTestSupport
import Foundation

/// V1 and V2: integers, floating-point and decimal numbers, durations.
enum ValuesNumbers {
    static var cases: [ConformanceCase] {
        let beyondDouble: Int64 = 9_007_199_254_740_993
        return [
            integers("V.int", \.int, \.int, [Int(beyondDouble), -Int(beyondDouble)]),
            integers("V.int8", \.int8, \.int8),
            integers("V.int16", \.int16, \.int16),
            integers("V.int32", \.int32, \.int32),
            integers("V.int64", \.int64, \.int64, [beyondDouble - 2, beyondDouble, -beyondDouble]),
            integers("V.uint", \.uint, \.uint, [UInt(Int.max), UInt(Int.max) + 1]),
            integers("V.uint8", \.uint8, \.uint8),
            integers("V.uint16", \.uint16, \.uint16),
            integers("V.uint32", \.uint32, \.uint32),
            integers("V.uint64", \.uint64, \.uint64, [UInt64(beyondDouble), UInt64(Int64.max), UInt64(Int64.max) + 1]),

            ConformanceCase("V.bool", "V1", title: "true and false keep their values and are found") { context in
                let database = try context.expectKept([true, false], in: \.bool, \.bool)
                let dao = try database.dao(OptionalScalars.self)
                try expectEqual(try dao.count { $0.bool == true }, 1)
                try expectEqual(try dao.count { $0.bool == false }, 1)
            },
            ConformanceCase("V.doubleExtremes", "V1", title: "the extreme doubles are kept bit for bit") { context in
                let values: [Double] = [
                    .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNormalMagnitude, -.leastNormalMagnitude,
                    .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude.nextDown, .pi, .ulpOfOne, 1, -1, 0,
                    1e15, 1e16, 1e22,
                    1e23, 123_456_789.123_456_79,
                ]
                try context.expectKept(values, in: \.double, \.double)
            },
            ConformanceCase("V.doubleNeighbours", "V1", title: "doubles that differ in one bit stay different") { context in
                let (tenth, one): (Double, Double) = (0.1, 1)
                let values: [Double] = [
                    tenth.nextDown, tenth, tenth.nextUp, 0.30000000000000004, 0.3, one.nextDown, one.nextUp,
                    9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_994,
                ]
                let database = try context.expectKept(values, in: \.double, \.double)
                let dao = try database.dao(OptionalScalars.self)
                for value in values { try expectEqual(try dao.count { $0.double == value }, 1, "rows equal to \(value)") }
            },
            ConformanceCase("V.infinities", "V1", title: "both infinities are kept and found") { context in
                try context.expectKept([.infinity, -.infinity], in: \.double, \.double)
                let database = try context.expectKept([.infinity, -.infinity], in: \.float, \.float)
                let dao = try database.dao(OptionalScalars.self)
                try expectEqual(try dao.count { $0.float == .infinity }, 1)
            },
            ConformanceCase("V.nan", "V1", title: "NaN stays NaN and is not nil") { context in
                let database = try context.expectKept([Double.nan], in: \.double, \.double)
                let dao = try database.dao(OptionalScalars.self)
                try expectEqual(try dao.count { $0.double == nil }, 1, "rows with nil")
                try expectEqual(try dao.count { $0.double == .nan }, 1, "rows with NaN")
            },
            ConformanceCase("V.nanForms", "V1", title: "every NaN is stored as the same NaN, without sign or payload") {
                context in
                let values: [Double] = [
                    -Double.nan, .signalingNaN, Double(nan: 12345, signaling: false), Double(bitPattern: 0xffff_ffff_ffff_ffff),
                    Double(bitPattern: 0x7ff0_0000_0000_0001),
                ]
                try context.expectKept(values, as: values.map { _ in .nan }, in: \.double, \.double)
            },
            ConformanceCase("V.negativeZero", "V2", title: "-0.0 is stored as 0.0") { context in
                let database = try context.expectKept([-0.0, 0.0], as: [0.0, 0.0], in: \.double, \.double)
                let dao = try database.dao(OptionalScalars.self)
                try expectEqual(try dao.count { $0.double == 0.0 }, 2, "rows equal to 0.0")
                try expectEqual(try dao.count { $0.double == -0.0 }, 2, "rows equal to -0.0")
            },
            ConformanceCase("V.negativeZeroFloat", "V2", title: "-0.0 as Float is stored as 0.0") { context in
                try context.expectKept([-0.0, 0.0], as: [0.0, 0.0], in: \.float, \.float)
            },
            ConformanceCase("V.negativeZeroDate", "V2", title: "a date at -0.0 seconds is stored at 0.0") { context in
                let zero = Date(timeIntervalSinceReferenceDate: 0)
                try context.expectKept([Date(timeIntervalSinceReferenceDate: -0.0)], as: [zero], in: \.date, \.date)
            },
            ConformanceCase("V.negativeZeroUpdated", "V2", title: "-0.0 written by a merge or an update is 0.0 too") { context in
                let dao = try context.dao(OptionalScalars.self)
                try dao.create(OptionalScalars(id: 1, double: 1))
                try dao.update(where: { $0.double == 1 }) { $0.double = -0.0 }
                try expectSame(try dao.read().map(\.double), [0.0])
                try dao.persist(OptionalScalars(id: 1, float: -0.0, double: -0.0))
                try expectSame(try dao.read().map(\.float), [0.0])
                try expectSame(try dao.read().map(\.double), [0.0])
            },
            ConformanceCase("V.randomDoubles", "V1", title: "a thousand random bit patterns of doubles are kept") { context in
                var random = SeededGenerator(seed: 1)
                let values = (0..<1000).map { _ in Double(bitPattern: random.next()) }
                let rows = values.enumerated().map { Scalars(id: $0, double: $1) }
                let expected = values.enumerated().map { Scalars(id: $0, double: $1.isNaN ? .nan : $1) }
                let dao = try context.dao(Scalars.self)
                try dao.create(rows)
                try expectSame(try dao.read(), expected)
            },
            ConformanceCase("V.float", "V1", title: "Float extremes and fractions are kept and found") { context in
                let values: [Float] = [
                    .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude,
                    -.leastNonzeroMagnitude, 0.1, Float(0.1).nextUp, 16_777_216, .pi, -1,
                ]
                let database = try context.expectKept(values, in: \.float, \.float)
                let dao = try database.dao(OptionalScalars.self)
                try expectEqual(try dao.count { $0.float == 0.1 }, 1, "rows equal to 0.1")
            },
            ConformanceCase("V.floatNaN", "V1", title: "Float NaN stays NaN") { context in
                try context.expectKept([Float.nan, -Float.nan], as: [.nan, .nan], in: \.float, \.float)
            },
            ConformanceCase("V.decimal", "V1", title: "decimals of 38 digits are kept to the last digit") { context in
                let texts = [
                    "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
                    "12345678901234567890123456789012345678", "0.00000000000000000000000000000000000001",
                    "1234567890123456789.0123456789012345678", "0.1", "-0.1", "0", "1", "10", "1e30", "1e-30", "3.14", "100",
                    "0.30",
                ]
                let values = try texts.map { try require(Decimal(string: $0), "a decimal of \($0)") }
                let database = try context.expectKept(values, in: \.decimal, \.decimal)
                let dao = try database.dao(OptionalScalars.self)
                for value in values { try expectEqual(try dao.count { $0.decimal == value }, 1, "rows equal to \(value)") }
            },
            ConformanceCase("V.decimalNaN", "V1", title: "the decimal NaN stays NaN, and differs from nil and 0") { context in
                let dao = try context.dao(OptionalScalars.self)
                try dao.create([
                    OptionalScalars(id: 1, decimal: .nan), OptionalScalars(id: 2, decimal: 0), OptionalScalars(id: 3),
                ])
                let values = try dao.read().map(\.decimal)
                try expectEqual(values.count, 3, "rows")
                try expect(values[0]?.isNaN == true, "NaN, not \(String(describing: values[0]))")
                try expect(values[1] == Decimal(0) && values[2] == nil, "0 and nil, not \(values[1...])")
            },
            ConformanceCase("V.decimalTrailingZeros", "V1", title: "1.10 and 1.1 are the same decimal, found by either") {
                context in
                let dao = try context.dao(OptionalScalars.self)
                let long = try require(Decimal(string: "1.10"), "a decimal")
                let short = try require(Decimal(string: "1.1"), "a decimal")
                try dao.create([OptionalScalars(id: 1, decimal: long), OptionalScalars(id: 2, decimal: short)])
                try expectEqual(try dao.count { $0.decimal == short }, 2)
                try expectEqual(try dao.count { $0.decimal == long }, 2)
                try expect(try dao.read().allSatisfy { $0.decimal == short }, "both to read back equal")
            },
            ConformanceCase(
                "V.decimalPlaces", "V1", "P3", title: "decimals with any number of digits and zeros before and behind the point"
            ) { context in
                var values: [Decimal] = []
                for places in -30...30 {
                    for digits: UInt64 in [1, 12_345, 10_001, 123_456_789_012] {
                        let sign: FloatingPointSign = places % 2 == 0 ? .plus : .minus
                        values.append(Decimal(sign: sign, exponent: places, significand: Decimal(digits)))
                    }
                }
                let dao = try context.dao(OptionalScalars.self)
                try dao.create(values.enumerated().map { OptionalScalars(id: $0, decimal: $1) })
                for (value, row) in zip(values, try dao.read()) {
                    try expect(row.decimal == value, "\(value), got \(row.decimal.map { "\($0)" } ?? "nil")")
                }
                for (id, value) in values.enumerated() {
                    try expectEqual(try dao.read(\.id) { $0.decimal == value }, [id], "the row that equals \(value)")
                }
                try expectEqual(
                    try dao.read(orderedBy: .ascending(\.decimal)).map(\.id), values.indices.sorted { values[$0] < values[$1] },
                    "the order of the values")
            },
            ConformanceCase("V.decimalExponents", "V1", title: "decimals of extreme exponents are kept") { context in
                let values: [Decimal] = [
                    .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
                    Decimal(sign: .plus, exponent: 100, significand: 7), Decimal(sign: .minus, exponent: -100, significand: 7),
                ]
                let rows = values.enumerated().map { Scalars(id: $0, decimal: $1) }
                let dao = try context.dao(Scalars.self)
                try dao.create(rows)
                for (row, stored) in zip(rows, try dao.read()) {
                    try expect(row.decimal == stored.decimal, "\(row.decimal), got \(stored.decimal)")
                }
            },
            ConformanceCase("V.duration", "V1", title: "durations keep every attosecond over their whole range") { context in
                let database = try context.expectKept(Duration.hard, in: \.duration, \.duration)
                let dao = try database.dao(OptionalScalars.self)
                for value in Duration.hard {
                    try expectEqual(try dao.count { $0.duration == value }, 1, "rows equal to \(Dump.text(of: value))")
                }
                let text = Condition<OptionalScalars>("duration > %@ AND duration < 1.5", Duration.seconds(-9))
                try expectEqual(try dao.count(Query(where: text)), 3, "rows by text")
            },
        ]
    }

    private static func integers<Integer: FixedWidthInteger & FieldValue>(
        _ id: String, _ field: any WritableKeyPath<Scalars, Integer> & Sendable,
        _ optional: any WritableKeyPath<OptionalScalars, Integer?> & Sendable, _ more: [Integer] = []
    ) -> ConformanceCase {
        ConformanceCase(id, "V1", title: "\(Integer.self) is kept to its extremes, and every value is found") { context in
            var values: [Integer] = [.min, .min + 1, 0, 1, 2, 10, 127, .max / 2, .max - 1, .max]
            if Integer.isSigned { values += [0 - 1, 0 - 2, 0 - 128] }
            var seen: Set<Integer> = []
            values = (values + more).filter { seen.insert($0).inserted }
            let database = try context.expectKept(values, in: field, optional)
            let (required, perhaps) = (try database.dao(Scalars.self), try database.dao(OptionalScalars.self))
            for value in values {
                let inRequired = Query(where: FieldExpression<Scalars, Integer>(field) == value)
                try expectEqual(try required.count(inRequired), 1, "rows whose field equals \(value)")
                let inOptional = Query(where: FieldExpression<OptionalScalars, Integer?>(optional) == value)
                try expectEqual(try perhaps.count(inOptional), 1, "rows whose optional field equals \(value)")
            }
        }
    }
}
