import DAOCore
import Foundation

/// P3: numbers compare by value across all numeric types.
enum PredicatesNumbers {
    static let cases: [ConformanceCase] = integers + reals + mixed

    private static let integers: [ConformanceCase] = [
        ConformanceCase(
            "P.integerAgainstFraction", "P3", "P7", title: "an integer is less or greater than 1.5, never equal"
        ) { context in
            let reference = try ReferenceRows(context, Probe.numbers([1, 2, nil, -2, -1]))
            for name in Probe.numbers {
                try reference.check(.field(name, .equal, 1.5), [], "\(name) == 1.5")
                try reference.check(.field(name, .notEqual, 1.5), [1, 2, 3, 4, 5], "\(name) != 1.5")
                try reference.check(.field(name, .less, 1.5), [1, 4, 5], "\(name) < 1.5")
                try reference.check(.field(name, .lessOrEqual, 1.5), [1, 4, 5], "\(name) <= 1.5")
                try reference.check(.field(name, .greater, 1.5), [2], "\(name) > 1.5")
                try reference.check(.field(name, .greaterOrEqual, -1.5), [1, 2, 5], "\(name) >= -1.5")
                try reference.check(.field(name, .less, -1.5), [4], "\(name) < -1.5")
                try reference.check(.field(name, in: [1.5, 2.0, nil]), [2, 3], "\(name) in 1.5, 2.0, nil")
            }
        },
        ConformanceCase("P.integerAgainstHuge", "P3", "P7", title: "Int.max is below 9.3e18 and Int.min above -9.3e18") {
            context in
            let reference = try ReferenceRows(context, Probe.numbers([.max, .min, 0, nil]))
            for name in Probe.numbers {
                try reference.check(.field(name, .less, 9.3e18), [1, 2, 3], "\(name) < 9.3e18")
                try reference.check(.field(name, .greaterOrEqual, 9.3e18), [], "\(name) >= 9.3e18")
                try reference.check(.field(name, .equal, 0x1p63), [], "\(name) == 2^63")
                try reference.check(.field(name, .less, 0x1p63), [1, 2, 3], "\(name) < 2^63")
                try reference.check(.field(name, .greater, -9.3e18), [1, 2, 3], "\(name) > -9.3e18")
                try reference.check(.field(name, .less, -9.3e18), [], "\(name) < -9.3e18")
                try reference.check(.field(name, .equal, -0x1p63), [2], "\(name) == -2^63")
                try reference.check(.field(name, .less, Double.infinity), [1, 2, 3], "\(name) < infinity")
                try reference.check(.field(name, .greater, -Double.infinity), [1, 2, 3], "\(name) > -infinity")
                try reference.check(.field(name, .less, Double.nan), [1, 2, 3], "\(name) < NaN")
                try reference.check(.field(name, .lessOrEqual, UInt64.max), [1, 2, 3], "\(name) <= UInt64.max")
                try reference.check(.field(name, .equal, UInt64.max), [], "\(name) == UInt64.max")
            }
        },
        ConformanceCase("P.numbersAreNotText", "P3", title: "numbers compare by value, not by digits") { context in
            let reference = try ReferenceRows(context, Probe.numbers([2, 9, 10, 20, 100, 200, -3, -20]))
            for name in Probe.numbers {
                try reference.check(.field(name, .less, 10), [1, 2, 7, 8], "\(name) < 10")
                try reference.check(.field(name, .less, 20), [1, 2, 3, 7, 8], "\(name) < 20")
                try reference.check(.field(name, .less, -3), [8], "\(name) < -3")
                try reference.check(.field(name, .greater, 9), [3, 4, 5, 6], "\(name) > 9")
                try reference.check(.field(name, .lessOrEqual, 100), [1, 2, 3, 4, 5, 7, 8], "\(name) <= 100")
            }
        },
        ConformanceCase("P.integerExtremes", "P3", title: "comparisons at Int.min and Int.max do not wrap round") { context in
            let reference = try ReferenceRows(context, Probe.numbers([.min, .min + 1, -1, 0, .max - 1, .max]))
            for name in Probe.numbers {
                try reference.check(.field(name, .less, Int.min), [], name)
                try reference.check(.field(name, .lessOrEqual, Int.min), [1], name)
                try reference.check(.field(name, .greater, Int.min), [2, 3, 4, 5, 6], name)
                try reference.check(.field(name, .greater, Int.max), [], name)
                try reference.check(.field(name, .greaterOrEqual, Int.max), [6], name)
                try reference.check(.field(name, .less, Int.max), [1, 2, 3, 4, 5], name)
                try reference.check(.field(name, .less, 0), [1, 2, 3], name)
            }
        },
        ConformanceCase("P.beyondDoublePrecision", "P3", title: "2^53 and 2^53 + 1 are two numbers, in both directions") {
            context in
            let reference = try ReferenceRows(context, Probe.numbers([1 << 53, (1 << 53) + 1, (1 << 53) + 2]))
            for name in Probe.numbers {
                try reference.check(.field(name, .equal, (1 << 53) + 1), [2], name)
                try reference.check(.field(name, .equal, 9_007_199_254_740_992.0), [1], name)
                try reference.check(.field(name, .greater, 9_007_199_254_740_992.0), [2, 3], name)
                try reference.check(.field(name, .less, 9_007_199_254_740_994.0), [1, 2], name)
                try reference.check(.field(name, in: [(1 << 53) + 1]), [2], name)
            }
        },
        ConformanceCase("P.unsigned", "P3", title: "unsigned numbers beyond Int64.max are found and ordered") { context in
            let values: [UInt64?] = [0, UInt64(Int64.max), UInt64(Int64.max) + 1, .max, nil]
            let reference = try ReferenceRows(context, values.enumerated().map { Probe(id: $0 + 1, big: $1) })
            try reference.check([4]) { $0.big == .max }
            try reference.check([3, 4]) { $0.big > UInt64(Int64.max) }
            try reference.check([1, 2]) { $0.big < UInt64(Int64.max) + 1 }
            try reference.check([2, 3]) { $0.big.between(5, and: .max - 1) }
            try reference.check([3, 5]) { $0.big.in([UInt64(Int64.max) + 1, nil]) }
            try reference.check(.field("big", .greater, -1), [1, 2, 3, 4], "> -1")
            try reference.check(.field("big", .equal, -1), [], "== -1")
            try reference.check(.field("big", .greaterOrEqual, 9.3e18), [4], ">= 9.3e18")
            try reference.check(.field("big", .less, 0x1p64), [1, 2, 3, 4], "< 2^64")
        },
        ConformanceCase("P.narrowAgainstWide", "P3", title: "an Int8 field compares with 1000 and -1000") { context in
            let values: [Int8?] = [.min, -1, 0, .max, nil]
            let reference = try ReferenceRows(context, values.enumerated().map { Probe(id: $0 + 1, small: $1) })
            try reference.check(.field("small", .less, 1000), [1, 2, 3, 4])
            try reference.check(.field("small", .greater, 1000), [])
            try reference.check(.field("small", .equal, 1000), [])
            try reference.check(.field("small", .notEqual, -1000), [1, 2, 3, 4, 5])
            try reference.check(.field("small", .greaterOrEqual, -1000), [1, 2, 3, 4])
            try reference.check(.field("small", in: [1000, 127, -1000]), [4])
        },
    ]

    private static let reals: [ConformanceCase] = [
        ConformanceCase("P.notANumber", "P3", title: "NaN equals itself and is greater than every other number") { context in
            let reference = try ReferenceRows(context, Probe.reals([.nan, .infinity, 1, -.infinity, nil]))
            for name in Probe.reals {
                try reference.check(.field(name, .equal, Double.nan), [1], "\(name) == NaN")
                try reference.check(.field(name, .notEqual, Double.nan), [2, 3, 4, 5], "\(name) != NaN")
                try reference.check(.field(name, .greater, Double.infinity), [1], "\(name) > infinity")
                try reference.check(.field(name, .less, Double.nan), [2, 3, 4], "\(name) < NaN")
                try reference.check(.field(name, .lessOrEqual, Double.nan), [1, 2, 3, 4], "\(name) <= NaN")
                try reference.check(.field(name, .greaterOrEqual, Double.nan), [1], "\(name) >= NaN")
                try reference.check(.field(name, .greater, Double.nan), [], "\(name) > NaN")
                try reference.check(.field(name, .greater, 0), [1, 2, 3], "\(name) > 0")
                try reference.check(.field(name, in: [Double.nan, 1.0]), [1, 3], "\(name) in NaN, 1")
                try reference.check(.field(name, .equal, nil), [5], "\(name) == nil")
            }
        },
        ConformanceCase("P.infinities", "P3", title: "the infinities are the smallest and the greatest number") { context in
            let reference = try ReferenceRows(
                context, Probe.reals([.infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, nil]))
            for name in Probe.reals {
                try reference.check(.field(name, .equal, Double.infinity), [1], name)
                try reference.check(.field(name, .less, Double.infinity), [2, 3, 4], name)
                try reference.check(.field(name, .lessOrEqual, -Double.infinity), [2], name)
                try reference.check(.field(name, .less, -Double.infinity), [], name)
                try reference.check(.field(name, .greater, Double.greatestFiniteMagnitude), [1], name)
            }
        },
        ConformanceCase("P.zeroes", "P3", "V2", title: "-0.0 is 0.0 in every comparison, stored or as an operand") { context in
            let reference = try ReferenceRows(
                context, Probe.reals([0.0, -0.0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude]))
            for name in Probe.reals {
                try reference.check(.field(name, .equal, 0.0), [1, 2], name)
                try reference.check(.field(name, .equal, -0.0), [1, 2], name)
                try reference.check(.field(name, .less, 0.0), [4], name)
                try reference.check(.field(name, .less, -0.0), [4], name)
                try reference.check(.field(name, .greater, -0.0), [3], name)
                try reference.check(.field(name, in: [-0.0]), [1, 2], name)
            }
        },
        ConformanceCase("P.oneBitApart", "P3", title: "0.1 and its neighbours are three numbers") { context in
            let reference = try ReferenceRows(context, Probe.reals([0.1, 0.1.nextUp, 0.1.nextDown]))
            for name in Probe.reals {
                try reference.check(.field(name, .equal, 0.1), [1], name)
                try reference.check(.field(name, .greater, 0.1), [2], name)
                try reference.check(.field(name, .lessOrEqual, 0.1), [1, 3], name)
            }
        },
        ConformanceCase(
            "P.realAgainstInteger", "P3", title: "a Double field compares with integers that it cannot hold exactly"
        ) {
            context in
            let reference = try ReferenceRows(context, Probe.reals([5, 0x1p53, 0x1p53 + 2, 0x1p63, 0x1p64]))
            for name in Probe.reals {
                try reference.check(.field(name, .equal, 5), [1], name)
                try reference.check(.field(name, .equal, (1 << 53) + 1), [], name)
                try reference.check(.field(name, .less, (1 << 53) + 1), [1, 2], name)
                try reference.check(.field(name, .greater, (1 << 53) + 1), [3, 4, 5], name)
                try reference.check(.field(name, .greater, Int.max), [4, 5], name)
                try reference.check(.field(name, .equal, Int.max), [], name)
                try reference.check(.field(name, .greater, UInt64.max), [5], name)
            }
        },
        ConformanceCase("P.floats", "P3", title: "a Float 0.1 is found by 0.1, and differs from its neighbours") { context in
            let values: [Float?] = [0.1, Float(0.1).nextUp, .greatestFiniteMagnitude, .infinity, .nan, nil]
            let reference = try ReferenceRows(context, values.enumerated().map { OptionalScalars(id: $0 + 1, float: $1) })
            try reference.check([1]) { $0.float == 0.1 }
            try reference.check([2, 3, 4, 5]) { $0.float > 0.1 }
            try reference.check("float == 0.1", [1])
            try reference.check(.field("float", .less, 1e300), [1, 2, 3], "< 1e300")
            try reference.check(.field("float", .greater, 1e300), [4, 5], "> 1e300")
            try reference.check(.field("float", .equal, 1e300), [], "== 1e300")
            try reference.check(.field("float", .equal, Decimal(1) / 10), [], "== the decimal 0.1, which no Float equals")
        },
        ConformanceCase("P.decimals", "P3", title: "decimals compare by value to the last of 38 digits") { context in
            let texts = [
                "0.1", "2", "10", "-1", "-10", "12345678901234567890123456789012345678",
                "12345678901234567890123456789012345679", "1.50",
            ]
            let values = try texts.map { try require(Decimal(string: $0), "a decimal") }
            let reference = try ReferenceRows(
                context, values.enumerated().map { Probe(id: $0 + 1, amount: $1) } + [Probe(id: 9)])
            try reference.check([1, 4, 5, 8]) { $0.amount < 2 }
            try reference.check([2, 3, 6, 7]) { $0.amount >= 2 }
            try reference.check([6]) { $0.amount == values[5] }
            try reference.check([7]) { $0.amount > values[5] }
            try reference.check("amount == 0.1", [1])
            try reference.check("amount == 1.5", [8])
            try reference.check(.field("amount", .equal, 0.1), [1], "== the double 0.1")
            try reference.check(.field("amount", .less, 1e300), [1, 2, 3, 4, 5, 6, 7, 8], "< 1e300")
            try reference.check(.field("amount", .greater, -Double.infinity), [1, 2, 3, 4, 5, 6, 7, 8], "> -infinity")
            try reference.check(
                .field("amount", in: [Decimal(string: "1.500"), 10.0, nil]), [3, 8, 9], "in 1.500, 10.0, nil")
        },
    ]

    private static let mixed: [ConformanceCase] = [
        ConformanceCase(
            "P.tinyDecimals", "P3",
            title: "a decimal compares with a Double of more digits, and with one below the smallest decimal"
        ) { context in
            let texts = ["0", "1e-128", "1e-125", "1.2345678e-120", "-1e-125", "-2e-120"]
            let values = try texts.map { try require(Decimal(string: $0), "a decimal") }
            let reference = try ReferenceRows(context, values.enumerated().map { Probe(id: $0 + 1, amount: $1) })
            for (number, smaller) in [
                (1.2345678901234567e-120, [1, 2, 3, 4, 5, 6]), (1.2345670901234567e-120, [1, 2, 3, 5, 6]), (1e-200, [1, 5, 6]),
                (-1e-200, [5, 6]), (-1.2345678901234567e-120, [6]),
            ] {
                try reference.check(.field("amount", .less, number), smaller, "< \(number)")
                try reference.check(.field("amount", .lessOrEqual, number), smaller, "<= \(number)")
                try reference.check(.field("amount", .equal, number), [], "== \(number)")
                try reference.check(
                    .field("amount", .greater, number), (1...6).filter { !smaller.contains($0) }, "> \(number)")
            }
        },
        ConformanceCase(
            "P.manyDates", "P3", "P7", title: "a row is found by any of 700 dates, NaN and the infinities among them"
        ) { context in
            let dates = (0..<700).map { Date(timeIntervalSinceReferenceDate: Double($0) - 350.5) }
            let others = [Double.nan, .infinity, -.infinity, 0.1].map { Date(timeIntervalSinceReferenceDate: $0) }
            let rows = (dates.prefix(3) + others).enumerated().map { OptionalScalars(id: $0 + 1, date: $1) }
            let reference = try ReferenceRows(context, rows + [OptionalScalars(id: 8)])
            let isOther = FieldProxy<OptionalScalars>().id > 1
            func any(_ dates: [Date]) -> Condition<OptionalScalars> {
                Condition(.or(dates.map { (isOther && FieldProxy<OptionalScalars>().date == $0).node }))
            }
            try reference.check(any(dates + [others[0]]), [2, 3, 4])
            try reference.check(any(dates.reversed() + [others[1], others[2]]), [2, 3, 5, 6])
        },
        ConformanceCase(
            "P.fieldsOfDifferentNumbers", "P3", "P7",
            title: "an Int field compares with Double, UInt64, Int8 and Decimal fields"
        ) { context in
            let rows = [
                Probe(id: 1, number: 5, real: 5, small: 5, big: 5, amount: 5),
                Probe(id: 2, number: (1 << 53) + 1, real: 0x1p53, small: 0, big: 1 << 53, amount: Decimal((1 << 53) + 1)),
                Probe(id: 3, number: .max, real: 0x1p63, small: .max, big: .max, amount: Decimal(Int.max)),
                Probe(id: 4, number: -1, real: -0.5, small: -1, big: 0, amount: Decimal(-5) / 4),
                Probe(id: 5, number: 0, real: .nan, small: nil, big: nil, amount: nil), Probe(id: 6),
            ]
            let reference = try ReferenceRows(context, rows)
            try reference.check("number == real", [1, 6])
            try reference.check("number > real", [2])
            try reference.check("number < real", [3, 4, 5])
            try reference.check("number == big", [1, 6])
            try reference.check("number < big", [3, 4])
            try reference.check("number == amount", [1, 2, 3, 6])
            try reference.check("amount < real", [3, 4])
            try reference.check("small == number", [1, 4, 6])
        },
        ConformanceCase(
            "P.datesToTheLastBit", "P3",
            title: "dates that differ in one bit are two dates; the distant dates are the smallest and the greatest"
        ) {
            context in
            let base = Date(timeIntervalSinceReferenceDate: 700_000_000.1)
            let next = Date(timeIntervalSinceReferenceDate: base.timeIntervalSinceReferenceDate.nextUp)
            let values: [Date?] = [base, next, .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: -0.0), nil]
            let reference = try ReferenceRows(context, values.enumerated().map { OptionalScalars(id: $0 + 1, date: $1) })
            try reference.check([1]) { $0.date == base }
            try reference.check([2, 4]) { $0.date > base }
            try reference.check([1, 3, 5]) { $0.date < next }
            try reference.check([5]) { $0.date == Date(timeIntervalSinceReferenceDate: 0) }
            try reference.check([3]) { $0.date <= .distantPast }
        },
    ]
}
